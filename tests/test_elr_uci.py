"""ELR on data sets of UCI: errors by independent computation, what they depend on, and studies that are killed."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lib.bayes_net import BayesNetClassifier, choose_iterations
from lib.discretize import EntropyDiscretizer
from lib.experiments import elr_uci
from lib.experiments.elr_data import coded, problem, removed, repeat_seed
from lib.experiments.elr_uci import LEARNERS, N_FOLDS, STRUCTURES, elr_uci_study
from lib.trials.legacy import keyed_seed
from lib.trials.store import SHA256, decode

REPOSITORY = Path(__file__).resolve().parents[1]
KEYS = ["dataset", "repeat", "fold", "structure", "learner", "test"]
SMALL = {"datasets": ["iris", "corral"], "learners": ["ofe", "elr"], "stopping": 3, "seed": 4}
MASKED = {**SMALL, "structures": ["naive", "tan"], "missing_rate": 0.25}
same = partial(pd.testing.assert_frame_equal, check_exact=True)


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """No test writes into the repository."""
    monkeypatch.setenv("BOOK_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


@pytest.fixture(scope="module")
def small():
    return elr_uci_study(**SMALL)


@pytest.fixture(scope="module")
def masked():
    return elr_uci_study(**MASKED)


def part(frame, **labels):
    """The rows with these labels."""
    for name, value in labels.items():
        frame = frame[frame[name].isin(np.atleast_1d(value))]
    return frame.reset_index(drop=True)


def split(name, repeat, fold, seed, rate=0.0):
    """Discretised training rows, masked and complete test rows, with their classes."""
    one = problem(name)
    data, key = one.data, repeat_seed(name, repeat, seed)
    train, test = one.splits(N_FOLDS, keyed_seed(key, 0))[fold]
    X = data.X.astype({c: "category" for c in data.X.select_dtypes(bool)}) if rate else data.X
    seen = X.mask(removed(X.shape, rate, keyed_seed(key, 2))) if rate else X
    cutter = EntropyDiscretizer().fit(seen.iloc[train], data.y[train])
    tables = [cutter.transform(table) for table in (seen.iloc[train], seen.iloc[test], X.iloc[test])]
    return tables, data.y[train], data.y[test]


class TestErrors:
    @pytest.mark.parametrize("rate", [0.0, 0.25])
    @pytest.mark.parametrize("name", ["iris", "corral", "glass2"])
    def test_are_those_of_the_classifier(self, name, rate):
        """With tables learned without tuning."""
        learners = ["ofe", "elr_fixed", "em"]
        frame = elr_uci_study(name, learners=learners, missing_rate=rate, stopping=3, n_repeats=2, seed=6)
        for (repeat, fold, structure, learner), rows in part(frame, fold=3).groupby(KEYS[1:5]):
            (X, masked, complete), y, y_test = split(name, repeat, fold, 6, rate)
            settings = {"ofe": 0, "elr_fixed": 3, "em": LEARNERS["em"]["n_iterations"]}
            base = LEARNERS[learner]["learner"]
            model = BayesNetClassifier(structure, base, n_iterations=settings[learner]).fit(X, y)
            for row in rows.itertuples():
                predicted = model.predict({"masked": masked, "complete": complete}[row.test])
                assert row.n_wrong == (predicted != y_test).sum()
                assert row.n_test == len(y_test)
                assert row.n_iterations == model.n_iterations_
            assert list(rows["test"]) == (["masked", "complete"] if rate else ["complete"])

    @pytest.mark.parametrize(("name", "structure"), [("iris", "tan"), ("corral", "naive"), ("glass2", "bic")])
    def test_tuned_iterations(self, name, structure):
        """The structure is that of all training rows; tables are learned without the held-out fold."""
        one, key = problem(name), repeat_seed(name, 1, 6)
        train, test = one.splits(N_FOLDS, keyed_seed(key, 0))[2]
        codes, sizes = coded(one.data, train, test)
        columns = {
            i: pd.Categorical.from_codes(codes[:, i], categories=range(size)) for i, size in enumerate(sizes) if i > 0
        }
        X, y, X_test = pd.DataFrame(columns)[: len(train)], codes[: len(train), 0], pd.DataFrame(columns)[len(train) :]
        parents = BayesNetClassifier(structure, "ofe").fit(X, y).parents_
        inner = np.random.default_rng(keyed_seed(key, 1, 2)).permutation(len(train)) % N_FOLDS
        errors = np.full((N_FOLDS, 5), np.nan)
        for i, n in np.ndindex(errors.shape):
            model = BayesNetClassifier(parents, n_iterations=n).fit(X[inner != i], y[inner != i])
            if model.n_iterations_ == n:
                errors[i, n] = 1 - model.score(X[inner == i], y[inner == i])
        frame = elr_uci_study(name, structure, ["elr", "elr_forced"], stopping=4, n_repeats=2, seed=6)
        for learner, allow_zero in (("elr", True), ("elr_forced", False)):
            [row] = part(frame, repeat=1, fold=2, learner=learner).itertuples()
            n_iterations = choose_iterations(errors, allow_zero)[0]
            model = BayesNetClassifier(parents, n_iterations=n_iterations).fit(X, y)
            assert row.n_iterations == model.n_iterations_
            assert row.n_wrong == (model.predict(X_test) != codes[len(train) :, 0]).sum()

    def test_incomplete_rows(self):
        frame = elr_uci_study("breast-cancer", "naive", "ofe", incomplete=True, seed=1)
        one = problem("breast-cancer", incomplete=True)
        key = repeat_seed("breast-cancer", 0, 1)
        for row, (train, test) in zip(frame.itertuples(), one.splits(N_FOLDS, keyed_seed(key, 0)), strict=True):
            cutter = EntropyDiscretizer().fit(one.data.X.iloc[train], one.data.y[train])
            X, X_test = (cutter.transform(one.data.X.iloc[rows]) for rows in (train, test))
            model = BayesNetClassifier("naive", "ofe").fit(X, one.data.y[train])
            assert row.n_wrong == (model.predict(X_test) != one.data.y[test]).sum()
            assert row.n_test == 139

    def test_corral_is_learned_by_trees(self):
        """TAN can represent the concept; naive Bayes cannot (Table III)."""
        frame = elr_uci_study("corral", ["naive", "tan"], "elr_converged", seed=0)
        wrong = frame.groupby("structure")["n_wrong"].sum()
        assert wrong["tan"] == 0 < wrong["naive"]


class TestRows:
    def test_each_combination_once_in_the_order_asked_for(self, small, masked):
        for frame, tests in ((small, ["complete"]), (masked, ["masked", "complete"])):
            structures = list(dict.fromkeys(frame["structure"]))
            levels = [SMALL["datasets"], [0], range(5), structures, SMALL["learners"], tests]
            expected = pd.MultiIndex.from_product(levels, names=KEYS)
            assert list(frame[KEYS].itertuples(index=False, name=None)) == list(expected)
            assert list(frame.columns) == [*KEYS, "n_iterations", "n_wrong", "n_test"]
            assert frame["n_wrong"].between(0, frame["n_test"]).all()
        assert list(dict.fromkeys(small["structure"])) == list(STRUCTURES)

    def test_another_order(self, small):
        other = {"datasets": ["corral", "iris"], "structures": STRUCTURES[::-1], "learners": ["elr", "ofe"]}
        frame = elr_uci_study(**SMALL | other)
        assert list(frame.loc[0, ["dataset", "structure", "learner"]]) == ["corral", "bic", "elr"]
        same(frame.sort_values(KEYS, ignore_index=True), small.sort_values(KEYS, ignore_index=True))

    @pytest.mark.xdist_group("workers")
    def test_not_the_workers(self, small, masked, monkeypatch):
        same(elr_uci_study(**SMALL, n_jobs=2), small)
        monkeypatch.setattr(elr_uci, "LARGE", 0)
        same(elr_uci_study(**MASKED, n_jobs=2), masked)

    def test_not_how_it_is_cut_into_trials(self, small, masked, monkeypatch):
        monkeypatch.setattr(elr_uci, "LARGE", 0)
        same(elr_uci_study(**SMALL), small)
        same(elr_uci_study(**MASKED), masked)

    @pytest.mark.parametrize(
        ("more", "kept"),
        [
            ({"datasets": ["glass2", "iris", "corral"]}, {"dataset": ["iris", "corral"]}),
            ({"learners": ["ofe", "em", "elr", "elr_fixed", "apn"]}, {"learner": ["ofe", "elr"]}),
            ({"n_repeats": 3}, {"repeat": 0}),
            ({"structures": ["naive", "tan", "bic"]}, {"structure": ["naive", "tan"]}),
        ],
    )
    def test_what_is_added_changes_nothing_else(self, masked, more, kept):
        frame = elr_uci_study(**MASKED | more)
        assert len(frame) > len(masked)
        same(part(frame, **kept), masked)

    def test_repeats_and_seeds_are_different_shuffles(self, small):
        frames = [elr_uci_study(**SMALL | {"n_repeats": 2}), elr_uci_study(**SMALL | {"seed": 5})]
        others = [part(frames[0], repeat=1), frames[1]]
        for other in others:
            assert (other["n_wrong"] != small["n_wrong"]).any()

    def test_parts_of_the_test_rows(self, masked):
        for mask_test, test in (("yes", "masked"), ("no", "complete")):
            same(elr_uci_study(**MASKED, mask_test=mask_test), part(masked, test=test))

    def test_with_nothing_to_remove_all_test_rows_are_complete(self, small):
        same(elr_uci_study(**SMALL, mask_test="yes"), small)

    def test_a_published_split_is_taken_once(self, monkeypatch):
        published = replace(problem("glass2"), sizes=(100, 60), split="published")
        monkeypatch.setattr(elr_uci, "problems", lambda names, incomplete: ([published], {}))
        frame = elr_uci_study("glass2", "naive", "ofe", n_repeats=3)
        assert list(frame["repeat"]) == [0]
        frame = elr_uci_study("glass2", "naive", "ofe", n_repeats=3, missing_rate=0.25, mask_test="no")
        assert list(frame["repeat"]) == [0, 1, 2]
        assert frame["n_wrong"].nunique() > 1  # other values are removed

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"datasets": ["iriss"]}, "did you mean 'iris'"),
            ({"datasets": ["iris", "iris"]}, "each data set once"),
            ({"datasets": ["monk1-corrupt"], "incomplete": True}, "can be had"),
            ({"structures": ["tann"]}, "did you mean 'tan'"),
            ({"structures": []}, "structures"),
            ({"learners": ["ell"]}, "did you mean 'elr'"),
            ({"learners": []}, "learners"),
            ({"incomplete": "yes"}, "incomplete"),
            ({"missing_rate": 1.0}, "missing_rate"),
            ({"missing_rate": -0.1}, "missing_rate"),
            ({"missing_rate": 0.25, "mask_test": "maybe"}, "mask_test"),
            ({"n_repeats": 0}, "n_repeats"),
            ({"stopping": 0}, "stopping"),
            ({"stopping": 2.5}, "stopping"),
            ({"seed": -1}, "seed"),
            ({"n_jobs": 0}, "n_jobs"),
        ],
    )
    def test_bad_arguments(self, arguments, words, monkeypatch, results):
        monkeypatch.setattr(elr_uci, "run_cases", lambda *a, **k: pytest.fail("something was run"))
        with pytest.raises(ValueError, match=words):
            elr_uci_study(**{"datasets": ["iris"], **arguments})
        assert not results.exists()


LONG = {
    "datasets": ["iris", "corral", "glass2"],
    "structures": ["naive", "tan"],
    "missing_rate": 0.25,
    "stopping": 5,
    "n_repeats": 3,
}
N_TRIALS = 3 * 5 * 3
SCRIPT = (
    "import json, sys; from lib.experiments.elr_uci import elr_uci_study as study; study(**json.loads(sys.argv[1]))"
)


@pytest.fixture(scope="module")
def uninterrupted():
    return elr_uci_study(**LONG)


class TestStored:
    @pytest.fixture
    def calls(self, monkeypatch):
        """How many trials are run in this process."""
        seen, function = [], elr_uci.coded

        def counted(*arguments):
            seen.append(arguments)
            return function(*arguments)

        monkeypatch.setattr(elr_uci, "coded", counted)
        return seen

    def kill_half_way(self, results):
        """Kill a study and its workers as soon as it has finished some blocks; return when each was."""
        settings = json.dumps({**LONG, "n_jobs": 2})
        study = subprocess.Popen([sys.executable, "-c", SCRIPT, settings], cwd=REPOSITORY, start_new_session=True)
        until = time.monotonic() + 120
        try:
            while len(list(results.rglob("*.block"))) < 2 and study.poll() is None and time.monotonic() < until:
                time.sleep(0.002)
        finally:
            study.kill()
            until = time.monotonic() + 20
            while self.terminate_group(study.pid) and time.monotonic() < until:
                study.poll()
                time.sleep(0.01)
        assert study.wait() == -signal.SIGKILL
        return {path: path.stat().st_mtime_ns for path in results.rglob("*.block")}

    def terminate_group(self, group):
        """Whether there was any process left; joblib's own, which tidies up after workers, does not listen."""
        try:
            os.killpg(group, signal.SIGTERM)
        except ProcessLookupError:
            return False
        return True

    @pytest.mark.xdist_group("workers")
    def test_a_killed_study_goes_on(self, results, uninterrupted, calls):
        done = self.kill_half_way(results)
        frames = [decode(path.read_bytes()[SHA256:]) for path in done]
        n_done = sum(len(frame[["dataset", "repeat", "fold"]].drop_duplicates()) for frame in frames)
        assert 2 <= n_done < N_TRIALS
        same(elr_uci_study(**LONG), uninterrupted)
        assert len(calls) == N_TRIALS - n_done
        assert {path: path.stat().st_mtime_ns for path in done} == done
        same(elr_uci_study(**LONG), uninterrupted)
        assert len(calls) == N_TRIALS - n_done

    def test_trials_cut_differently_are_not_mixed_up(self, small, monkeypatch):
        for large in (0, elr_uci.LARGE, 0):
            monkeypatch.setattr(elr_uci, "LARGE", large)
            same(elr_uci_study(**SMALL), small)

    def test_more_sets_use_what_is_there(self, calls):
        elr_uci_study(**SMALL)
        calls.clear()
        elr_uci_study(**SMALL | {"datasets": ["glass2", "corral", "iris"]})
        assert len(calls) == 5

    @pytest.mark.parametrize(
        "other", [{"seed": 5}, {"stopping": 2}, {"learners": ["elr"]}, {"missing_rate": 0.1}, {"structures": ["tan"]}]
    )
    def test_other_settings_find_nothing(self, calls, other):
        settings = SMALL | {"datasets": ["corral"], "structures": ["naive"]}
        for changes in ({}, other):
            calls.clear()
            elr_uci_study(**settings | changes)
            assert len(calls) == 5

    def test_incomplete_rows_are_another_study(self, calls):
        for incomplete in (False, True):
            calls.clear()
            elr_uci_study("soybean-small", "naive", "ofe", incomplete=incomplete)
            assert len(calls) == 5
