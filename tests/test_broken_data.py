"""Damaged files of data sets: on disk their sha256 betrays them, and what the parser gets is read or refused."""

import dataclasses
import functools
import gzip
import importlib
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib import datasets
from lib.datasets import files, table
from lib.datasets.catalogue import catalogue

listing = importlib.import_module("lib.datasets.catalogue")
SHIPPED = [name for name, entry in catalogue().items() if entry.kind == "shipped"]
FEW = 20  # lines of a shipped file that are enough to reach every column
PIECES = st.sampled_from([b"", b"?", b",", b"\n", b"\x00", b"\xff", b"nan", b"1e999", b'"', b"-1", "é\u2028".encode()])


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder in place of data/, with neither mirror nor cache."""
    monkeypatch.setattr(files, "DATA", tmp_path)
    monkeypatch.delenv("UCI_MIRROR", raising=False)
    monkeypatch.setenv("UCI_CACHE", str(tmp_path / "cache"))
    return tmp_path


@functools.cache
def content(name):
    """The first lines of a shipped file."""
    return b"".join(files.shipped(catalogue()[name]).splitlines(keepends=True)[:FEW])


VOTES = content("vote")


@pytest.mark.parametrize("name", SHIPPED)
def test_one_altered_byte_is_noticed_and_told(folder, name):
    """In the first, the last and a middle byte of each file, compressed or not; and a file that is empty or cut off."""
    path = files.DATA / catalogue()[name].files[0]
    raw = (listing.DATA / path.name).read_bytes()
    altered = [raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :] for place in (0, len(raw) // 2, len(raw) - 1)]
    for damaged in (*altered, b"", raw[:500]):
        path.write_bytes(damaged)
        with pytest.raises(
            ValueError, match=f"{name}: data/{path.name} is damaged, .*git checkout -- data/{path.name}"
        ):
            datasets.load(name)


@given(name=st.sampled_from(SHIPPED), data=st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(name, data):
    with pytest.raises(ValueError):
        _load(name, data)


@given(name=st.sampled_from(SHIPPED), place=st.integers(0, 10**6), width=st.integers(0, 30), piece=PIECES)
def test_a_file_with_a_piece_exchanged_is_read_whole_or_refused(name, place, width, piece):
    """Its sha256 is right, so that nothing but the parser stands in the way."""
    whole = content(name)
    place %= len(whole)
    entry = dataclasses.replace(catalogue()[name], rows=FEW - 1)
    try:
        X, y = table.frame(table.rows(whole[:place] + piece + whole[place + width :], entry), entry)
    except ValueError:
        return
    assert len(X) == len(y)
    assert X.shape[1] == entry.attributes
    assert {str(dtype) for dtype in X.dtypes} <= {"float64", "category", "bool"}
    assert not np.isinf(X.select_dtypes("float64")).to_numpy().any()


def _load(name, data):
    """Load a set from these bytes, which the manifest is made to confirm."""
    entry = catalogue()[name]
    raw = gzip.compress(data, mtime=0) if entry.files[0].endswith(".gz") else data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "shipped", lambda _: files._unpacked(io.BytesIO(raw), entry.files[0]))
        return datasets.load(name)


@pytest.mark.parametrize("name", ["iris", "vote", "dna"])
def test_a_file_that_lacks_a_row_is_refused_although_its_sha256_is_right(name):
    lines = files.shipped(catalogue()[name]).splitlines(keepends=True)
    with pytest.raises(ValueError, match=f"{name}: its files have {len(lines) - 2} rows; expected {len(lines) - 1}"):
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
    raw = (listing.DATA / file).read_bytes()
    for name in ("manifest.csv", "schema.toml"):
        (tmp_path / name).write_bytes((listing.DATA / name).read_bytes())
    (tmp_path / file).write_bytes(damage(raw))
    monkeypatch.setattr(listing, "DATA", tmp_path)
    _forget()
    try:
        with pytest.raises(ValueError, match=f"data/{file} .*restore it with `git checkout -- data/{file}`"):
            table.frame(table.rows(VOTES, catalogue()["vote"]), catalogue()["vote"])
    finally:
        monkeypatch.undo()
        _forget()


def _forget():
    listing.catalogue.cache_clear()
    listing.schemas.cache_clear()
