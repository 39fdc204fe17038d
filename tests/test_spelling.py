"""Texts, contexts, WinSpell and Bayes: definitions by hand, dictionaries of weights, scipy."""

import csv
import gzip
import pickle
import unicodedata

import numpy as np
import pandas as pd
import pooch
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chi2_contingency
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from lib.base.files import DATA
from lib.datasets import NotAvailableError, texts
from lib.datasets.downloads import sha256
from lib.spelling import ContextBayes, InterpolatedBayes, WinSpell, contexts, join_words

BOOK = "It is past ten, I think; they\u2019re late. The bell passed unheard!"


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A list of one book, a cache and a page that has it within other words."""
    book = {
        "name": "tiny",
        "bytes": len(BOOK.encode()),
        "sha256": sha256(BOOK.encode()),
        "begins": "It is past",
    }
    (tmp_path / "data").mkdir()
    with open(tmp_path / "data" / "texts.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, [*book, "address"])
        writer.writeheader()
        writer.writerow(book | {"address": "https://example.org/tiny.txt"})
    page = tmp_path / "page"
    page.write_bytes(b"It is past midnight.\r\n" + BOOK.encode() + b"\r\nTHE END")
    monkeypatch.setattr(texts, "DATA", tmp_path / "data")
    monkeypatch.setenv("UCI_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TEXTS_MIRROR", raising=False)
    monkeypatch.setattr(pooch, "retrieve", lambda *_, **__: str(page))
    return tmp_path


def test_tokens_are_words_and_marks():
    tokens = "it is past ten , i think ; they're late . the bell passed unheard !"
    assert " ".join(texts.tokenize(BOOK)) == tokens
    assert texts.tokenize("_Emma_--'tis 1816") == ["emma", "--", "'", "tis", "1816"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_are_part_of_words_however_they_are_stored(form):
    """Of the last two, Turkish in lower case and Yoruba, no single character is the accent's."""
    text = unicodedata.normalize(form, "Cafés passed na\u00efve \u0130z o\u0323\u0301be\u0323.")
    words = ["cafés", "passed", "naïve", "i\u0307z", "\u1ecd\u0301b\u1eb9", "."]
    assert texts.tokenize(text) == words


def test_invisible_characters_and_acute_accents_split_no_word():
    for invisible in "\u00ad\u200b\u200c\u200d\u2060\ufeff":
        assert texts.tokenize(f"he pas{invisible}sed") == ["he", "passed"]
    assert texts.tokenize("don\u00b4t don\u2019t don't") == ["don't"] * 3


def test_a_book_is_cut_out_of_its_page_once(shelf, monkeypatch):
    with pytest.raises(NotAvailableError, match="not downloaded yet"):
        texts.read_texts(download=False)
    assert texts.read_texts() == {"tiny": BOOK}
    monkeypatch.setattr(pooch, "retrieve", None)  # the cache has it now
    assert texts.read_texts(download=False) == {"tiny": BOOK}
    (shelf / "cache" / "tiny.txt").write_text("damaged")
    with pytest.raises(NotAvailableError, match="not downloaded yet"):
        texts.read_texts(download=False)


def test_a_page_with_another_text_or_none_is_refused(shelf, monkeypatch):
    (shelf / "page").write_text("It is past bearing.")
    with pytest.raises(NotAvailableError, match="another text.*TEXTS_MIRROR"):
        texts.read_texts()

    def fail(*_, **__):
        raise ConnectionError("no network")

    monkeypatch.setattr(pooch, "retrieve", fail)
    with pytest.raises(
        NotAvailableError,
        match=r"download from https://example.org/tiny.txt failed \(ConnectionError",
    ):
        texts.read_texts()


def test_a_mirror_comes_first_and_is_checked(shelf, monkeypatch):
    monkeypatch.setenv("TEXTS_MIRROR", str(shelf / "mirror"))
    with pytest.raises(NotAvailableError, match="TEXTS_MIRROR must name a folder"):
        texts.read_texts()
    (shelf / "mirror").mkdir()
    copy = shelf / "mirror" / "tiny.txt.gz"
    copy.write_bytes(gzip.compress(BOOK.encode()))
    assert texts.read_texts(download=False) == {"tiny": BOOK}
    copy.write_bytes(gzip.compress(b"It is past belief."))
    with pytest.raises(
        NotAvailableError, match="tiny.txt.gz: the copy in TEXTS_MIRROR has not the sha256"
    ):
        texts.read_texts()


def test_the_books_of_the_manifest_are_safe_to_fetch():
    with open(DATA / "texts.csv", newline="", encoding="utf-8") as file:
        books = list(csv.DictReader(file))
    assert [book["name"] for book in books] == sorted({book["name"] for book in books})
    for book in books:
        assert book["address"].startswith("https://")
        assert book["address"].endswith(".txt")
        assert len(book["sha256"]) == 64
        assert int(book["bytes"]) > 100_000
        assert book["licence"].startswith("public domain")


def test_a_folder_of_ones_own(tmp_path):
    (tmp_path / "b.txt").write_text("\ufeffsecond", encoding="utf-8")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"first"))
    (tmp_path / "notes.md").write_text("no text")
    assert list(texts.read_texts(tmp_path).items()) == [("a", "first"), ("b", "second")]


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("latin.txt", "caf\u00e9".encode("latin-1"), r"latin.txt must be in UTF-8; byte 3 is 0xe9"),
        ("empty.txt", b" \n", "empty.txt must hold text; it is empty"),
        (
            "cut.txt.gz",
            gzip.compress(b"words", mtime=0)[:-9],
            "cut.txt.gz is not a complete gzip file",
        ),
        ("book.pdf", b"%PDF", r"files \*.txt"),
    ],
)
def test_bad_folders(tmp_path, name, contents, message):
    (tmp_path / name).write_bytes(contents)
    with pytest.raises(ValueError, match=message):
        texts.read_texts(tmp_path)
    with pytest.raises(ValueError, match="folder must be one that holds"):
        texts.read_texts(tmp_path / "none")


def test_features_of_a_sentence():
    columns = {}
    X = contexts(
        texts.tokenize("He walked, past the old church."),
        ["passed", "past"],
        window=2,
        columns=columns,
    )
    expected = ["he", "walked", "the", "old", ", _", "_ the", "walked , _", ", _ the", "_ the old"]
    assert (X.toarray() == 1).all()
    assert sorted(columns) == sorted(expected)
    new = contexts(["she", "passed", "the", "church"], ["passed", "past"], columns=columns)
    assert new.shape == (1, len(expected))
    assert {name for name, column in columns.items() if new[0, column]} == {"the", "_ the"}


def test_a_collocation_has_a_token_or_any_of_its_tags():
    columns = {}
    tags = {"the": ("DET",), "walk": ("NOUN", "VERB"), "bell": ("NOUN",)}
    contexts(["the", "walk", "past", "bell"], ["past"], columns=columns, tags=tags)
    expected = {"the", "walk", "bell", "walk _", "NOUN _", "VERB _", "_ bell", "_ NOUN"}
    expected |= {f"{a} {b} _" for a in ("the", "DET") for b in ("walk", "NOUN", "VERB")}
    expected |= {f"{a} _ {b}" for a in ("walk", "NOUN", "VERB") for b in ("bell", "NOUN")}
    # beside the last token is nothing
    assert set(columns) == expected | {"_ bell ", "_ NOUN "}


@pytest.fixture
def dictionary(tmp_path):
    """A folder with files as WordNet has them, of a few words."""
    lemmas = {"noun": "walk bell church man", "verb": "walk go stop", "adj": "large", "adv": "well"}
    irregular = {"noun": "geese goose", "verb": "went go\nstopping stop", "adj": "", "adv": ""}
    for part, words in lemmas.items():
        lines = "  1 the licence\n" + "".join(f"{word} x 1 2\n" for word in words.split())
        (tmp_path / f"index.{part}").write_text(lines)
        (tmp_path / f"{part}.exc").write_text(irregular[part])
    return tmp_path


def test_tags_are_those_of_lemmas_endings_and_lists(dictionary):
    words = "walk walks walked walking churches men geese went stopping larger well 1816 the , xyz"
    assert texts.read_tags(words.split(), dictionary) == {
        "walk": ("NOUN", "VERB"),
        "walks": ("PLURAL", "VERB-S"),
        "walked": ("VERB-ED",),
        "walking": ("VERB-ING",),
        "churches": ("PLURAL",),
        "men": ("PLURAL",),
        "geese": ("PLURAL",),
        "went": ("VERB-ED",),
        "stopping": ("VERB-ING",),
        "larger": ("ADJ",),
        "well": ("ADV",),
        "1816": ("NUMBER",),
        "the": ("DET",),
    }


def test_wordnet_that_is_absent_or_another(dictionary, monkeypatch):
    monkeypatch.setenv("WORDNET", str(dictionary))
    with pytest.raises(NotAvailableError, match="index.noun in .* is not that of WordNet 3.0"):
        texts.read_tags(["walk"])
    monkeypatch.setenv("WORDNET", str(dictionary / "none"))
    with pytest.raises(NotAvailableError, match="install Debian's wordnet-base"):
        texts.read_tags(["walk"])
    status, reason = texts.wordnet_status()
    assert status == "not available"
    assert "index.noun of WordNet is not in" in reason


def test_parts_of_a_word_are_joined():
    tokens = ["it", "may", "be", "that", "maybe", "it", "may", "be", "not", ",", "may"]
    joined = ["it", "may be", "that", "maybe", "it", "may be", "not", ",", "may"]
    assert join_words(tokens, ["maybe", "may be"]) == joined
    assert join_words(tokens, ["maybe"]) == tokens
    assert join_words(["a", "b", "c"], ["a b", "a b c", "b c"]) == ["a b c"]
    assert contexts(joined, ["maybe", "may be"]).shape[0] == 3


@given(st.lists(st.sampled_from(["a", "b", "c", ".", "x", "y"]), max_size=30), st.integers(0, 4))
def test_context_words_are_those_within_the_window(tokens, window):
    columns = {}
    places = [i for i, token in enumerate(tokens) if token in ("x", "y")]
    if not places:
        with pytest.raises(ValueError, match="none of x, y does"):
            contexts(tokens, ["x", "y"], window)
        return
    X = contexts(tokens, ["x", "y"], window, columns)
    assert X.shape[0] == len(places)
    for row, place in zip(X.toarray(), places, strict=True):
        # marks are no words; features with _ are patterns of words beside each other
        previous_words = [token for token in tokens[:place] if token != "."]
        next_words = [token for token in tokens[place + 1 :] if token != "."]
        first = max(len(previous_words) - window, 0)
        features = {name for name, column in columns.items() if "_" not in name and row[column]}
        assert features == set(previous_words[first:] + next_words[:window])


def cloud_by_hand(rows, positive, demotions, margin, n_passes, promotion=1.5, first=0.1, decay=0.9):
    """Weights of a cloud, last and averaged, by dictionaries of weights, an example at a time."""
    n = rows.shape[1]
    last = []
    averaged = []
    mistakes = []
    for demotion in demotions:
        weights = {}
        total = np.zeros(n)
        for _ in range(n_passes):
            mistakes_of_pass = 0
            for row, label in zip(rows, positive, strict=True):
                active = np.flatnonzero(row)
                if label:
                    # a weight begins where its feature first occurs with the word
                    for j in active:
                        weights.setdefault(j, first)
                # in the mean a weight that has not begun counts as it will begin
                total += [weights.get(j, first) for j in range(n)]
                z = sum(weights.get(j, 0) for j in active)
                mistake = (z > 1) != label
                mistakes_of_pass += mistake
                if mistake or abs(z - 1) < margin:
                    for j in active:
                        if j in weights:
                            weights[j] *= promotion if label else demotion
        mean = total / (n_passes * len(rows))
        last.append([weights.get(j, 0) for j in range(n)])
        averaged.append([mean[j] if j in weights else 0 for j in range(n)])
        mistakes.append(mistakes_of_pass)
    # members vote by decay ** mistakes in the last pass
    shares = decay ** np.array(mistakes, dtype=float)
    return [shares @ np.array(members) / shares.sum() for members in (last, averaged)]


@pytest.mark.parametrize("margin", [0.0, 0.5])
@pytest.mark.parametrize("average", [False, True])
def test_a_cloud_is_that_of_dictionaries(margin, average):
    rng = np.random.default_rng(3)
    rows = (rng.random((60, 12)) < 0.3).astype(np.uint8)
    y = np.where(rows[:, 0] | rows[:, 1] & rows[:, 2], "past", "passed")
    model = WinSpell(margin=margin, average=average, n_passes=3, shuffle=False)
    model.fit(sparse.csr_array(rows), y)
    for word, weights in zip(model.classes_, model.weights_, strict=True):
        expected = cloud_by_hand(rows, y == word, model.demotions, margin, 3)[average]
        np.testing.assert_allclose(weights, expected, rtol=1e-10)
    scores = rows @ model.weights_.T
    np.testing.assert_allclose(
        model.decision_function(rows), scores[:, 1] - scores[:, 0], rtol=1e-9, atol=1e-12
    )
    assert (model.predict(rows) == model.classes_[scores.argmax(axis=1)]).all()


def test_features_never_seen_with_a_word_have_no_weight_for_it():
    rows = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]])
    model = WinSpell().fit(rows, ["a", "b", "a", "b"])
    assert model.weights_[0, 1] == model.weights_[1, 0] == 0
    assert (model.predict(np.eye(3, dtype=int)[:2]) == ["a", "b"]).all()
    assert model.predict([[0, 0, 0]]) == ["a"]


@pytest.mark.parametrize("words", [["a", "b"], ["a", "b", "c"]])
def test_rounding_decides_between_no_words(words):
    model = WinSpell().fit(np.eye(len(words), 3, dtype=int), words)
    for sums in ([0.3, 0.1 + 0.2, 0.0], [0.1 + 0.2, 0.3, 0.0]):  # which differ by rounding only
        model.weights_ = np.array(sums[: len(words)])[:, None] * [1, 0, 0]
        assert model.predict([[1, 0, 0]]) == ["a"]


def test_three_words():
    rng = np.random.default_rng(0)
    y = rng.choice(["their", "there", "they're"], 300)
    # a feature for each word, which occurs in 90% of its contexts, and twenty of noise
    indicators = np.column_stack([y == word for word in np.unique(y)])
    informative = indicators & (rng.random((300, 3)) < 0.9)
    noise = rng.random((300, 20)) < 0.2
    rows = np.column_stack([informative, noise]).astype(np.uint8)
    training = rows[:200]
    test = rows[200:]
    for learner in (WinSpell(random_state=0), ContextBayes(0.1), InterpolatedBayes()):
        predictions = learner.fit(training, y[:200]).predict(test)
        assert (predictions == y[200:]).mean() > 0.85
        copy = clone(learner).fit(sparse.csc_array(training), y[:200])
        copy = pickle.loads(pickle.dumps(copy))
        assert (copy.predict(sparse.csr_matrix(test)) == predictions).all()


def test_bayes_by_hand():
    """P(feature | word) = (count + smoothing) / (count of the word + 2 smoothing)."""
    rows = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]])
    y = np.array(["a", "a", "b"])
    model = ContextBayes(0.5, model="present only").fit(rows, y)
    conditionals = (np.array([[2, 1], [0, 1]]) + 0.5) / np.array([[3], [2]])
    np.testing.assert_allclose(np.exp(model.log_conditionals_[:, :2]), conditionals)
    joint = np.array([2 / 3, 1 / 3]) * conditionals[:, 0]
    # the third was never seen
    np.testing.assert_allclose(model.predict_proba([[1, 0, 1, 0]])[0], joint / joint.sum())
    assert (model.log_conditionals_[:, 2:] == 0).all()


@pytest.mark.parametrize("smoothing", [1.0, 0.1])
@pytest.mark.parametrize(
    ("model", "peer"), [("bernoulli", BernoulliNB()), ("multinomial", MultinomialNB())]
)
def test_bayes_is_that_of_scikit_learn(model, peer, smoothing):
    rng = np.random.default_rng(4)
    y = rng.choice(["their", "there", "they're"], 150, p=[0.5, 0.4, 0.1])
    rows = (rng.random((150, 40)) < rng.random(40) / 3).astype(np.uint8)
    rows = rows[:, rows.any(axis=0)]
    peer = peer.set_params(alpha=smoothing).fit(rows, y)
    learner = ContextBayes(smoothing, model).fit(sparse.csr_array(rows), y)
    np.testing.assert_allclose(learner.predict_proba(rows), peer.predict_proba(rows), atol=1e-12)
    assert (learner.predict(rows) == peer.predict(rows)).all()


def test_features_that_are_not_there_speak_for_a_rare_word_unless_something_pays():
    """Features that came once with the common word are no reason for a rare one."""
    n_common, n_rare, n_features = 400, 4, 40
    rows = np.zeros((n_common + n_rare, n_features), int)
    rows[np.arange(n_features), np.arange(n_features)] = 1
    y = ["common"] * n_common + ["rare"] * n_rare
    X = np.ones((1, n_features), int)
    assert ContextBayes(model="present only").fit(rows, y).predict(X) == ["rare"]
    assert ContextBayes(model="multinomial").fit(rows, y).predict(X) == ["common"]


def test_interpolation_follows_the_chi_squared_test():
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1])
    probabilities = np.linspace(0.1, 0.6, 6) * np.where(y == "a", 1.5, 0.5)[:, None]
    rows = (rng.random((200, 6)) < probabilities).astype(np.uint8)
    model = InterpolatedBayes().fit(rows, y)
    for word, conditionals in zip(model.classes_, np.exp(model.log_conditionals_), strict=True):
        is_word = y == word
        for feature, conditional in zip(rows.T, conditionals, strict=True):
            table = pd.crosstab(feature, is_word)
            p = chi2_contingency(table, correction=False).pvalue
            # the less the test tells them apart, the nearer to the share in all contexts
            expected = (1 - p) * feature[is_word].mean() + p * feature.mean()
            assert conditional == pytest.approx(expected)


def test_a_feature_of_every_row_says_nothing_by_interpolation():
    model = InterpolatedBayes().fit([[1], [1], [1]], ["a", "b", "b"])
    np.testing.assert_allclose(model.log_conditionals_, 0, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (WinSpell(promotion=1.0), "promotion must be"),
        (WinSpell(demotions=()), "demotions must hold at least one"),
        (WinSpell(demotions=(0.5, 1.0)), "demotion must be"),
        (WinSpell(decay=0.0), "decay must be"),
        (WinSpell(n_passes=0), "n_passes must be"),
        (WinSpell(margin=-1.0), "margin must be"),
        (WinSpell(shuffle="no"), "shuffle must be"),
        (ContextBayes(0.0), "smoothing must be"),
        (ContextBayes(model="gaussian"), "model must be one of 'bernoulli'"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0, 1], [1, 0]], ["a", "b"])


@pytest.mark.parametrize("model", [WinSpell(random_state=0), ContextBayes(), InterpolatedBayes()])
def test_classes_and_features_of_any_type(model):
    X = np.eye(4, dtype=int)
    y = pd.array([7, 8, 7, 8], dtype="Int64")
    expected = model.fit(X, [7, 8, 7, 8]).predict(X)
    for rows in (
        X,
        X.astype(object),
        X.astype(bool),
        pd.DataFrame(X),
        X.tolist(),
        sparse.csc_array(X),
    ):
        predictions = model.fit(rows, y).predict(rows)
        assert predictions.dtype == int
        np.testing.assert_array_equal(predictions, expected)
    assert model.fit(X, y == 7).classes_.dtype == bool
    for labels in (["a", "b", None, "a"], pd.array([7, 8, None, 8], dtype="Int64")):
        with pytest.raises(ValueError, match="no class is given in row 2"):
            model.fit(X, labels)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(X, [0.5, 1.5, 2.5, 3.5])
    with pytest.raises(ValueError, match="X must hold only 0 and 1; got .*a.* at row 1, column 0"):
        model.fit(np.array([[0], ["a"]], dtype=object), ["a", "b"])


@pytest.mark.parametrize(
    ("tokens", "words", "message"),
    [
        (
            ["it", "may", "be", "maybe"],
            ["maybe", "may be"],
            "words must each be one token; got 'may be'",
        ),
        (["a", "past"], "past", "words must be a sequence of str; got one str, 'past'"),
        ("it is past", ["past"], "tokens must be a sequence of str; got one str, 'it is past'"),
        (["past", None], ["past"], "tokens must be a sequence of str; got None among them"),
        (["past"], ["past", 1], "words must be a sequence of str; got 1 among them"),
        (["past"], [], "words must hold at least one value"),
        ([], ["past"], "words must occur among the tokens; none of past does"),
    ],
)
def test_bad_tokens_and_words(tokens, words, message):
    with pytest.raises(ValueError, match=message):
        contexts(tokens, words)


def test_a_word_of_two_parts_is_one_token():
    columns = {}
    tokens = ["it", "may be", "so", ".", "maybe", "not"]
    rows = contexts(tokens, ["maybe", "may be"], columns=columns)
    features = {name for name, column in columns.items() if rows[0, column]}
    assert features >= {"it", "so", "it _", "_ so", "it _ so"}
    assert rows.shape[0] == 2


@pytest.mark.parametrize("model", [WinSpell(random_state=0), ContextBayes(), InterpolatedBayes()])
def test_bad_data(model):
    with pytest.raises(ValueError, match=r"X must hold only 0 and 1; got .*2.* at row 1, column 0"):
        model.fit([[0, 1], [2, 0]], ["a", "b"])
    with pytest.raises(ValueError, match="y must have two classes at least"):
        model.fit([[0, 1], [1, 0]], ["a", "a"])
    with pytest.raises(ValueError, match="window must be"):
        contexts(["x"], ["x"], window=-1)
