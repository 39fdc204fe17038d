"""Data sets: files against the manifest, definitions against their rules, errors of bad files."""

import dataclasses
import functools
import gzip
import importlib
import io
import itertools
import os
import re
import shutil
import socket
import subprocess
from collections import Counter

import numpy as np
import pandas as pd
import pooch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib import datasets
from lib.datasets import downloads, packaged, synthetic, table
from lib.datasets.catalogue import Entry, schemas
from lib.datasets.catalogue import catalogue as entries

listing = importlib.import_module("lib.datasets.catalogue")
SHIPPED_NAMES = [name for name, entry in entries().items() if entry.kind == "shipped"]
UCI_NAMES = [name for name, entry in entries().items() if entry.kind == "uci"]
MIRROR = os.environ.get("UCI_MIRROR")
CONTENT = b"M,?,1.5,t,b\nF,2,?,f,a\nM,10,3,t,b\n"


@pytest.fixture(autouse=True)
def no_copies(monkeypatch, tmp_path):
    """Neither mirror nor cache of the user."""
    monkeypatch.delenv("UCI_MIRROR", raising=False)
    monkeypatch.setenv("UCI_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tiny(monkeypatch):
    """A data set of three rows in a file of no UCI."""
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Entry)), "")
    fields |= {
        "name": "tiny",
        "kind": "uci",
        "address": "https://127.0.0.1:1/x/",
        "files": ("tiny.data",),
        "sha256": (downloads.sha256(CONTENT),),
        "unconfirmed": (),
        "schema": "tiny",
        "rows": 3,
        "attributes": 4,
        "classes": 2,
        "missing": 2,
        "n_train": 2,
    }
    entry = Entry(**fields)
    schema = {"columns": "sex size weight:number ill:bool class:target"}
    monkeypatch.setitem(entries(), "tiny", entry)
    monkeypatch.setitem(schemas(), "tiny", schema)
    return entry


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A copy of data/ that may be damaged."""
    for name in ("iris.csv", "letter.csv.gz"):
        shutil.copy(downloads.DATA / name, tmp_path / name)
    monkeypatch.setattr(downloads, "DATA", tmp_path)
    return tmp_path


def serve(monkeypatch, content):
    """Answer downloads with `content`, or with an exception; returns the requested addresses."""
    requests = []

    def download(self, url, output_file, pooch, check_only=False):
        requests.append(url)
        if isinstance(content, bytes):
            output_file.write(content)
        else:
            output_file.write(b"half of")
            raise content

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", download)
    return requests


@pytest.fixture
def no_network(monkeypatch):
    """Refuse every connection and every name, and return the list of these requests."""
    requests = []

    def refuse(*arguments, **_):
        requests.append(arguments)
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return requests


def check_against_manifest(name):
    data = datasets.load(name)
    entry = entries()[name]
    assert data.X.shape == (entry.rows, entry.attributes)
    assert len(set(data.y)) == entry.classes
    assert data.X.isna().to_numpy().sum() == entry.missing
    assert data.y.shape == (entry.rows,)
    assert data.y.dtype.kind == "U"
    assert {str(dtype) for dtype in data.X.dtypes} <= {"float64", "category", "bool"}
    return data


# How many rows have each class.
CLASSES = {
    "breast": {"benign": 458, "malignant": 241},
    "vote": {"democrat": 267, "republican": 168},
    "soybean-small": {"D1": 10, "D2": 10, "D3": 10, "D4": 17},
    "glass": {"1": 70, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29},
    "glass2": {"float": 87, "non-float": 76},
    "iris": {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50},
    "pima": {"0": 500, "1": 268},
    "corral": {"0": 72, "1": 56},
    "mofn-3-7-10": {"0": 232, "1": 792},
    "monks-1": {"0": 216, "1": 216},
    "sonar": {"M": 111, "R": 97},
    "ionosphere": {"b": 126, "g": 225},
    "dna": {"ei": 767, "ie": 765, "n": 1654},
    "zoo": {"1": 41, "2": 20, "3": 5, "4": 13, "5": 4, "6": 8, "7": 10},
    "votes1": {"democrat": 267, "republican": 168},
}
# How many rows the published training set has, and of some of its classes.
TRAINING_ROWS = {
    "soybean-large": (307, {"brown-spot": 40, "phytophthora-rot": 40}),
    "satimage": (4435, {"1": 1072, "7": 1038}),
    "shuttle": (43500, {"1": 34108, "6": 6}),
}


@pytest.mark.parametrize("name", datasets.names())
def test_sets_are_what_the_manifest_says(name, monkeypatch, no_network):
    if name in UCI_NAMES:
        if not MIRROR:
            pytest.skip(
                "set UCI_MIRROR to a folder of UCI's files to check the sets that are not shipped"
            )
        monkeypatch.setenv("UCI_MIRROR", MIRROR)
    data = check_against_manifest(name)
    for column_name in data.X.select_dtypes("category"):
        column = data.X[column_name].cat
        assert not column.ordered
        values = column.categories.tolist()
        assert values == sorted(values, key=table.category_order)
    assert data.source in ("shipped", "packaged", "synthetic", "mirror")
    assert no_network == []
    assert Counter(data.y) == CLASSES.get(name, Counter(data.y))
    n_train, counts = TRAINING_ROWS.get(name, (data.n_train, {}))
    assert data.n_train == n_train
    assert counts.items() <= Counter(data.y[:n_train]).items()


def test_votes_without_the_fee_freeze_and_animals():
    vote = datasets.load("vote").X
    votes1 = datasets.load("votes1").X
    assert votes1.equals(vote[votes1.columns])
    assert set(vote.columns) - set(votes1.columns) == {"physician_fee_freeze"}
    zoo = datasets.load("zoo").X
    assert set(zoo["legs"]) == {0, 2, 4, 5, 6, 8}
    assert zoo["milk"].sum() == 41  # all mammals, and they alone


def test_iris_has_the_values_of_uci():
    rows = datasets.load("iris").X.to_numpy()
    np.testing.assert_array_equal(rows[34], [4.9, 3.1, 1.5, 0.1])
    np.testing.assert_array_equal(rows[37], [4.9, 3.1, 1.5, 0.1])
    assert rows.mean(axis=0) == pytest.approx([5.8433, 3.054, 3.7587, 1.1987], abs=1e-4)


def test_breast_declares_ten_values_and_misses_some_in_one_attribute():
    X = datasets.load("breast").X
    values = [str(v) for v in range(1, 11)]
    assert all(X[name].cat.categories.tolist() == values for name in X)
    n_missing = X.isna().sum()
    assert n_missing[n_missing > 0].to_dict() == {"bare_nuclei": 16}
    assert X.iloc[0].tolist() == list("511121311")


def test_small_soybean_has_14_constant_columns_and_its_rows_are_rows_of_the_large_one():
    """But for the roots of class D4, which have another value there."""
    small = datasets.load("soybean-small")
    large = datasets.load("soybean-large")
    assert (small.X.nunique() == 1).sum() == 14
    is_d4 = small.y == "D4"
    assert (small.X["roots"][is_d4] == "1").all()
    corrected_rows = small.X.astype(object)
    corrected_rows.loc[is_d4, "roots"] = "0"
    large_rows = set(map(tuple, large.X.astype(object).to_numpy()))
    assert set(map(tuple, corrected_rows.to_numpy())) <= large_rows


def test_complete_rows_keep_domains_and_count_the_training_rows():
    data = datasets.load("soybean-large")
    complete = data.complete_rows()
    assert (len(complete.X), len(complete.y), complete.n_train) == (562, 562, 266)
    assert not complete.X.isna().to_numpy().any()
    assert (complete.X.dtypes == data.X.dtypes).all()
    assert len(data.X) == 683
    assert complete.changes.endswith("rows with missing values left out")


def test_metadata_tells_where_a_set_is_from():
    data = datasets.load("breast")
    assert data.source == "shipped"
    assert data.licence == "CC BY 4.0"
    assert data.doi == "10.24432/C5HP4Z"
    assert data.address.startswith("https://archive.ics.uci.edu/")
    assert data.sha256 == (downloads.sha256((downloads.DATA / "breast.csv").read_bytes()),)
    assert datasets.load("diabetes").name == "pima"


def test_a_changed_answer_does_not_change_the_next():
    first = datasets.load("iris")
    first.X.iloc[:] = 0.0
    first.y[:] = "x"
    assert set(datasets.load("iris").y) == {"Iris-setosa", "Iris-versicolor", "Iris-virginica"}
    assert datasets.load("iris").X.to_numpy().min() > 0


@pytest.mark.parametrize("entry", entries().values(), ids=entries())
def test_the_manifest_is_complete(entry):
    has_files = entry.kind not in ("synthetic", "packaged", "derived", "excluded")
    assert len(entry.sha256) == (len(entry.files) if has_files else 0)
    assert set(entry.unconfirmed) <= set(entry.files)
    assert entry.title
    assert entry.citation
    assert entry.licence
    assert entry.rows > 0
    assert not entry.address or entry.address.startswith("https://archive.ics.uci.edu/")
    if entry.kind in ("shipped", "uci"):
        kinds = [kind for _, kind in entry.columns if kind != "drop"]
        assert kinds.count("target") == 1
        assert len(kinds) - 1 == entry.attributes


def test_corral_is_the_test_set_of_mlc():
    """The correlated bit is the target in three of the four rows of each of the 32 inputs."""
    X, y = synthetic.corral()
    target = (X.a0 & X.a1) | (X.b0 & X.b1)
    assert (target.astype(int).astype(str) == y).all()
    frame = X.assign(agrees=X.correlated == target)
    groups = frame.groupby(["a0", "a1", "b0", "b1", "irrelevant"])["agrees"]
    assert (groups.sum() == 3).all()
    assert groups.size().eq(4).sum() == 32


def test_mofn_follows_its_rule_on_every_input():
    X, y = synthetic.mofn_3_7_10()
    assert len(X.drop_duplicates()) == 2**10
    n_relevant = X.to_numpy()[:, 2:9].sum(axis=1)
    np.testing.assert_array_equal(n_relevant >= 3, y == "1")


def test_monks_follows_its_rule_on_every_input():
    X, y = synthetic.monks_1()
    expected = itertools.product("123", "123", "12", "123", "1234", "12")
    assert sorted(map(tuple, X.astype(object).to_numpy())) == sorted(expected)
    a = X.to_numpy()
    is_positive = (a[:, 0] == a[:, 1]) | (a[:, 4] == "1")
    np.testing.assert_array_equal(is_positive, y == "1")


def test_waveforms_have_the_means_and_covariances_of_their_definition():
    """Of u h + (1 - u) g + noise: mean (h + g) / 2, covariance I + (h - g)(h - g)' / 12."""
    X, y = synthetic.waveform_21(np.random.default_rng(0), 60_000)
    positions = np.arange(1, 22)
    wave_1, wave_2, wave_3 = (np.maximum(6 - abs(positions - peak), 0) for peak in (7, 15, 11))
    waves = {"0": (wave_1, wave_2), "1": (wave_1, wave_3), "2": (wave_2, wave_3)}
    for label, (h, g) in waves.items():
        rows = X.to_numpy()[y == label]
        covariance = np.eye(21) + np.outer(h - g, h - g) / 12
        standard_error = np.sqrt(np.diag(covariance) / len(rows))
        assert (abs(rows.mean(axis=0) - (h + g) / 2) < 4.5 * standard_error).all()
        np.testing.assert_allclose(np.cov(rows.T), covariance, atol=0.2)
    assert pd.Series(y).value_counts(normalize=True).to_numpy() == pytest.approx(1 / 3, abs=0.01)


def test_a_file_that_is_not_there_is_named(folder):
    (folder / "iris.csv").unlink()
    with pytest.raises(ValueError, match="iris: data/iris.csv is not there"):
        datasets.load("iris")
    row = datasets.available().set_index("name").loc["iris"]
    assert row["status"] == "not available"
    assert "git checkout" in row["reason"]


def test_columns_have_the_types_of_the_schema(tiny, monkeypatch):
    serve(monkeypatch, CONTENT)
    data = check_against_manifest("tiny")
    assert data.X.dtypes.astype(str).tolist() == ["category", "category", "float64", "bool"]
    assert data.X["size"].cat.categories.tolist() == ["2", "10"]
    assert data.X["ill"].tolist() == [True, False, True]
    assert data.y.tolist() == ["b", "a", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"M,1,1,t,b\nM,1\n", "tiny: row 2 has 2 fields; expected 5"),
        (b"M,1,1,?,b\n", "column ill must hold only"),
        (b"M,1,1,7,b\n", "column ill must hold only .* got {'7'}"),
        (b"M,1,one,t,b\n", "one"),
    ],
)
def test_rows_that_are_no_rows_are_refused(tiny, content, message):
    with pytest.raises(ValueError, match=message):
        table.frame(table.rows(content, tiny), tiny)


def test_a_set_is_downloaded_once(tiny, monkeypatch, tmp_path):
    requests = serve(monkeypatch, CONTENT)
    for _ in range(2):
        assert datasets.load("tiny").source == "cache"
    assert requests == [tiny.address + "tiny.data"]
    [copy] = (tmp_path / "cache").iterdir()
    copy.write_bytes(CONTENT[:10])  # damaged, it is replaced
    assert len(datasets.load("tiny").X) == 3
    assert copy.name == "tiny.data"
    assert copy.read_bytes() == CONTENT


@pytest.mark.parametrize("content", [CONTENT[:-5], b"", OSError(), KeyboardInterrupt()], ids=repr)
def test_a_download_that_fails_leaves_nothing(tiny, monkeypatch, tmp_path, content):
    serve(monkeypatch, content)
    with pytest.raises((datasets.NotAvailableError, KeyboardInterrupt)):
        datasets.load("tiny")
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize(
    ("content", "unconfirmed_files", "cause"),
    [
        (CONTENT + b"\n", (), "does not have the sha256 of the manifest"),
        (CONTENT + b"\n", ("tiny.data",), "never confirmed to be that of UCI's very bytes"),
        (OSError("404 Client Error"), (), r"the download failed \(OSError: 404 Client Error\)"),
    ],
    ids=["changed", "unconfirmed", "dead link"],
)
def test_a_failed_download_names_set_address_and_remedies(
    tiny, monkeypatch, content, unconfirmed_files, cause
):
    monkeypatch.setitem(entries(), "tiny", dataclasses.replace(tiny, unconfirmed=unconfirmed_files))
    serve(monkeypatch, content)
    with pytest.raises(datasets.NotAvailableError, match=cause) as error:
        datasets.load("tiny")
    message = str(error.value)
    assert "tiny: " in message
    assert tiny.address + "tiny.data" in message
    assert "try again with a connection" in message
    assert "UCI_MIRROR" in message


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_mirror_is_read_first(tiny, monkeypatch, tmp_path, is_compressed):
    if is_compressed:
        (tmp_path / "tiny.data.gz").write_bytes(gzip.compress(CONTENT))
    else:
        (tmp_path / "tiny.data").write_bytes(CONTENT)
    monkeypatch.setenv("UCI_MIRROR", str(tmp_path))
    requests = serve(monkeypatch, CONTENT)
    assert datasets.load("tiny").source == "mirror"
    assert requests == []
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("file", "content", "cause"),
    [
        ("tiny.data", CONTENT + b"x", "the copy in UCI_MIRROR has the sha256"),
        ("tiny.data", b"", "the copy in UCI_MIRROR has the sha256"),
        (
            "tiny.data.gz",
            gzip.compress(CONTENT, mtime=0)[:-9],
            "cannot be read .*not a complete gzip file",
        ),
    ],
    ids=["changed", "empty", "truncated"],
)
def test_a_mirror_with_a_wrong_copy_is_an_error(tiny, monkeypatch, tmp_path, file, content, cause):
    (tmp_path / file).write_bytes(content)
    monkeypatch.setenv("UCI_MIRROR", str(tmp_path))
    with pytest.raises(datasets.NotAvailableError, match=cause):
        datasets.load("tiny")
    assert datasets.available().set_index("name").loc["tiny", "status"] == "not available"


def test_a_mirror_must_be_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("UCI_MIRROR", str(tmp_path / "none"))
    message = "UCI_MIRROR names a folder that does not exist: '.*none'"
    with pytest.raises(datasets.NotAvailableError, match=message):
        datasets.load("chess")
    assert datasets.load("iris").source == "shipped"


def test_a_mirror_without_the_file_says_so(tiny, monkeypatch, tmp_path):
    monkeypatch.setenv("UCI_MIRROR", str(tmp_path))
    serve(monkeypatch, OSError("no route"))
    message = "UCI_MIRROR does not have it and the download failed"
    with pytest.raises(datasets.NotAvailableError, match=message):
        datasets.load("tiny")


def test_available_tells_status_and_reason_of_every_set(tiny, monkeypatch, tmp_path):
    requests = serve(monkeypatch, CONTENT)
    frame = datasets.available().set_index("name")
    assert frame.index.tolist() == list(entries())
    shipped_names = [*SHIPPED_NAMES, "glass2", "votes1", *synthetic.COMPLETE, "waveform-21"]
    shipped_names += packaged.LOADERS
    assert (frame.loc[shipped_names, "status"] == "shipped").all()
    absent_names = [*UCI_NAMES, "tiny", "water-treatment"]
    assert (frame.loc[absent_names, "status"] == "not available").all()
    remedy = "not downloaded yet: load('tiny') fetches tiny.data from http"
    assert frame.loc["tiny", "reason"].startswith(remedy)
    assert "not confirmed: allbp.test" in frame.loc["allbp", "reason"]
    assert (frame["reason"] != "").all()
    assert requests == []
    datasets.load("tiny")
    assert datasets.available().set_index("name").loc["tiny", "status"] == "cached"
    monkeypatch.setenv("UCI_MIRROR", str(tmp_path / "cache"))
    assert datasets.available().set_index("name").loc["tiny", "status"] == "mirrored"


# Damaged files: on disk their sha256 betrays them, and what the parser gets is read or refused

N_LINES = 20  # lines of a shipped file that are enough to reach every column
PIECES = st.sampled_from(
    [b"", b"?", b",", b"\n", b"\x00", b"\xff", b"nan", b"1e999", b'"', b"-1", "é\u2028".encode()]
)


@functools.cache
def content(name):
    """The first lines of a shipped file."""
    lines = downloads.read_shipped(entries()[name]).splitlines(keepends=True)
    return b"".join(lines[:N_LINES])


VOTES = content("vote")


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_one_altered_byte_is_noticed_and_told(monkeypatch, tmp_path, name):
    """In the first, middle or last byte, compressed or not; and a file that is empty or cut."""
    monkeypatch.setattr(downloads, "DATA", tmp_path)
    file = entries()[name].files[0]
    raw = (listing.DATA / file).read_bytes()
    damaged_files = [b"", raw[:500]]
    for position in (0, len(raw) // 2, len(raw) - 1):
        altered_file = bytearray(raw)
        altered_file[position] ^= 1
        damaged_files.append(bytes(altered_file))
    message = f"{name}: data/{file} is damaged, .*git checkout -- data/{file}"
    for contents in damaged_files:
        (tmp_path / file).write_bytes(contents)
        with pytest.raises(ValueError, match=message):
            datasets.load(name)


def git(folder, *words):
    """Let git do something in a folder, without the settings of this machine."""
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", "-C", str(folder), *author, *words]
    environment = {**os.environ, **settings}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True)


@pytest.fixture
def origin(tmp_path):
    """A repository of a data set, a chapter and a lock file, without a word on line ends."""
    folder = tmp_path / "origin"
    for name in ("data/iris.csv", "chapters/cia/model.ipynb", "requirements.lock"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(listing.DATA.parent / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "files")
    return folder


def test_a_clone_with_other_line_ends_has_the_committed_bytes(origin, tmp_path):
    """Also of files that text editors of Windows end otherwise."""
    shutil.copy(listing.DATA.parent / ".gitattributes", origin)
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "--message", "attributes")
    git(tmp_path, "clone", "--quiet", "--config", "core.autocrlf=true", "origin", "clone")
    for name in git(origin, "ls-files").stdout.split():
        assert (tmp_path / "clone" / name).read_bytes() == (origin / name).read_bytes()


def test_an_older_clone_with_other_line_ends_is_told_what_helps(monkeypatch, origin, tmp_path):
    """Its data are damaged, and as printed they are restored."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--config", "core.autocrlf=true", "origin", "clone")
    shutil.copy(listing.DATA.parent / ".gitattributes", clone)
    monkeypatch.setattr(downloads, "DATA", clone / "data")
    with pytest.raises(ValueError, match="delete it, then restore it with `git ") as error:
        datasets.load("iris")
    (clone / "data" / "iris.csv").unlink()
    git(clone, *re.search("`git (.*)`", str(error.value))[1].split())
    assert len(datasets.load("iris").y) == 150


@given(name=st.sampled_from(SHIPPED_NAMES), data=st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(name, data):
    with pytest.raises(ValueError):
        _load(name, data)


@given(
    name=st.sampled_from(SHIPPED_NAMES),
    place=st.integers(0, 10**6),
    width=st.integers(0, 30),
    piece=PIECES,
)
def test_a_file_with_a_piece_exchanged_is_read_whole_or_refused(name, place, width, piece):
    """Its sha256 is right, so that nothing but the parser stands in the way."""
    original = content(name)
    position = place % len(original)
    damaged_lines = original[:position] + piece + original[position + width :]
    entry = dataclasses.replace(entries()[name], rows=N_LINES - 1)
    try:
        X, y = table.frame(table.rows(damaged_lines, entry), entry)
    except ValueError:
        return
    assert len(X) == len(y)
    assert X.shape[1] == entry.attributes
    assert {str(dtype) for dtype in X.dtypes} <= {"float64", "category", "bool"}
    assert not np.isinf(X.select_dtypes("float64")).to_numpy().any()


def _load(name, data):
    """Load a set from these bytes, which the manifest is made to confirm."""
    file = entries()[name].files[0]
    raw = gzip.compress(data, mtime=0) if file.endswith(".gz") else data

    def read_shipped(entry):
        return downloads.unpack(io.BytesIO(raw), file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(downloads, "read_shipped", read_shipped)
        return datasets.load(name)


@pytest.mark.parametrize("name", ["iris", "vote", "satimage"])
def test_a_file_that_lacks_a_row_is_refused_although_its_sha256_is_right(name):
    lines = downloads.read_shipped(entries()[name]).splitlines(keepends=True)
    n_rows = len(lines) - 1  # after the head
    message = f"{name}: its files have {n_rows - 1} rows; expected {n_rows}"
    with pytest.raises(ValueError, match=message):
        _load(name, b"".join(lines[:-1]))


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("manifest.csv", lambda raw: raw.replace(b"name,", b"nome,", 1)),
        ("manifest.csv", lambda raw: raw[: raw.index(b"Glass Id")]),
        ("manifest.csv", lambda raw: b"\xff" + raw),
        ("manifest.csv", lambda raw: raw.replace(b"150", b"many")),
        ("schema.toml", lambda raw: raw[: len(raw) // 2 + 1]),
        ("schema.toml", lambda raw: b""),
    ],
)
def test_damaged_lists_of_the_data_sets_are_told(monkeypatch, tmp_path, file, damage):
    for name in ("manifest.csv", "schema.toml"):
        shutil.copy(listing.DATA / name, tmp_path / name)
    raw = (listing.DATA / file).read_bytes()
    (tmp_path / file).write_bytes(damage(raw))
    monkeypatch.setattr(listing, "DATA", tmp_path)
    _clear_caches()
    message = f"data/{file} .*restore it with `git checkout -- data/{file}`"
    try:
        with pytest.raises(ValueError, match=message):
            table.frame(table.rows(VOTES, entries()["vote"]), entries()["vote"])
    finally:
        monkeypatch.undo()
        _clear_caches()


def _clear_caches():
    listing.catalogue.cache_clear()
    listing.schemas.cache_clear()


def rows_of(X):
    """The rows of a table as tuples of text."""
    return [tuple(map(str, row)) for row in X.to_numpy(dtype=object)]


def test_sets_of_one_family_share_rows():
    """Window glass is part of glass; 30 of the 47 small soybeans are among the large ones."""
    for name, largest, n_shared in (
        ("glass2", "glass", 163),
        ("soybean-small", "soybean-large", 30),
    ):
        part = datasets.load(name).X
        whole = set(rows_of(datasets.load(largest).X[list(part)]))
        assert sum(row in whole for row in rows_of(part)) == n_shared
        assert datasets.family(name) == datasets.family(largest) == largest


def test_a_family_has_the_name_of_one_of_its_sets_or_of_their_patients():
    names = datasets.names()
    families = {datasets.family(name) for name in names}
    assert families - set(names) == {"thyroid"}
    assert datasets.family("diabetes") == "pima"
    with pytest.raises(ValueError, match="name must be one of"):
        datasets.family("glas")
