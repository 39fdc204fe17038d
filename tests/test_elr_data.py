"""Data of the experiments with ELR: rows as Table II counts them, splits, and codes that know training rows only."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lib import datasets as uci
from lib.discretize import EntropyDiscretizer
from lib.experiments import elr_data
from lib.experiments.elr_data import encode_split, load_tasks, paper_table
from lib.structures.encoding import DiscreteCoding
from lib.trials import Seeds

load_task = functools.cache(elr_data.load_task)
AT_HAND = set(uci.available().query("status == 'shipped'")["name"])
TABLE_II = paper_table("ii").set_index("dataset")
TABLE_V = paper_table("v").set_index("dataset")
# What the files have, where the paper has another number.
# UCI's tenth of breast is a number of rows
OTHER_ATTRIBUTES = {"breast": 9, "breast-cancer": 9, "soybean-large": 35}
# of the type 4 of glass and of four diseases there are no such rows
OTHER_CLASSES = {"glass": 6, "soybean-large": 15}


def shipped(table):
    return [name for name in table.index if elr_data.SOURCES.get(name, name) in AT_HAND]


def seed(number, *key):
    return np.random.SeedSequence(number, spawn_key=key)


def removed(data, rate):
    return Seeds(1).rng().random(data.X.shape) < rate


@pytest.fixture
def nothing_elsewhere(monkeypatch, tmp_path):
    """Neither a mirror nor a cache nor a connection."""

    def unreachable(entry, file):
        raise uci.NotAvailableError(file)

    monkeypatch.delenv("UCI_MIRROR", raising=False)
    monkeypatch.setenv("UCI_CACHE", str(tmp_path))
    monkeypatch.setattr(uci.downloads, "download", unreachable)


class TestTables:
    def test_at_least_the_shipped_sets_are_checked(self):
        assert len(shipped(TABLE_II)) >= 15

    @pytest.mark.parametrize("name", shipped(TABLE_II))
    def test_table_ii(self, name):
        row, found = TABLE_II.loc[name], load_task(name)
        assert found.data.X.shape[1] == OTHER_ATTRIBUTES.get(name, row["attributes"])
        assert len(np.unique(found.data.y)) == OTHER_CLASSES.get(name, row["classes"])
        assert not found.data.X.isna().any(axis=None)
        splits = found.splits(5, seed(0))
        if row["test"] == "CV-5":
            assert len(found.data.y) == row["train"]
            assert [len(test) for _, test in splits] == [row["train"] // 5] * 5
        else:
            assert [(len(train), len(test)) for train, test in splits] == [
                (row["train"], int(row["test"]))
            ]
            if found.split == "published":
                np.testing.assert_array_equal(
                    np.concatenate(splits[0]), np.arange(len(found.data.y))
                )

    @pytest.mark.parametrize("name", shipped(TABLE_V))
    def test_table_v(self, name):
        row, found = TABLE_V.loc[name], load_task(name, incomplete=True)
        assert found.data.X.shape[1] == OTHER_ATTRIBUTES.get(name, row["attributes"])
        assert found.data.X.isna().any(axis=None)
        train, test = found.splits(5, seed(0))[0]
        if np.isnan(row["test"]):
            assert len(found.data.y) == row["train"]
        else:
            assert (len(train), len(test)) == (row["train"], row["test"])

    def test_incomplete_rows_stay_or_go(self):
        everything, complete = (
            load_task("soybean-large", incomplete=True).data,
            load_task("soybean-large").data,
        )
        assert len(everything.y) == 683
        assert (complete.y == everything.y[~everything.X.isna().any(axis=1)]).all()

    def test_a_missing_vote_is_a_value(self):
        assert load_task("vote").data.X.iloc[:, 0].cat.categories[-1] == "missing"
        assert load_task("vote", incomplete=True).data.X.isna().any(axis=None)

    @pytest.mark.parametrize(("name", "incomplete"), [("breast", False), ("breast-cancer", True)])
    def test_breasts_values_are_numbers(self, name, incomplete):
        X = load_task(name, incomplete).data.X
        assert list(X.select_dtypes(float)) == list(X)
        assert X.isna().any(axis=None) == incomplete
        assert X.min(axis=None) == 1
        assert X.max(axis=None) == 10


class TestSplits:
    @pytest.mark.parametrize(
        ("name", "n_folds"), [("iris", 5), ("glass2", 5), ("glass2", 4), ("breast", 7)]
    )
    def test_folds(self, name, n_folds):
        found = load_task(name)
        n = len(found.data.y)
        splits = found.splits(n_folds, seed(0))
        assert [len(test) for _, test in splits] == [n // n_folds] * n_folds
        assert (
            len(np.unique(np.concatenate([test for _, test in splits]))) == n // n_folds * n_folds
        )
        for train, test in splits:
            assert sorted([*train, *test]) == list(range(n))

    @pytest.mark.parametrize(
        "name", ["iris", "shuttle-small", "waveform-21", "mofn-3-7-10", "satimage"]
    )
    def test_the_seed_decides(self, name):
        found = load_task(name)
        first, again, other, repeat = (
            np.concatenate(
                [
                    np.concatenate(pair)
                    for pair in found.splits(5, Seeds(entropy).sequence(name, repeat))
                ]
            )
            for entropy, repeat in ((3, 0), (3, 0), (4, 0), (3, 1))
        )
        assert (first == again).all()
        assert (first != other).any() == (first != repeat).any() == (len(found.repeats(2)) == 2)

    def test_first_and_last_rows(self):
        """Between the 100 of training and the 50 of test there are 13 that have no part."""
        found = replace(load_task("glass2"), sizes=(100, 50), split="published")
        [(train, test)] = found.splits(5, seed(0))
        assert (list(train), list(test)) == (list(range(100)), list(range(113, 163)))

    def test_random(self):
        [(train, test)] = load_task("shuttle-small").splits(5, seed(0))
        assert (len(train), len(test)) == (3866, 1934)
        assert not np.intersect1d(train, test).size
        for part in (train, test):
            assert (np.diff(part) > 0).all()

    def test_samples(self):
        [(train, test)] = load_task("mofn-3-7-10").splits(5, seed(1))
        assert (len(np.unique(train)), list(test)) == (300, list(range(1024)))
        [(train, test)] = load_task("waveform-21").splits(5, seed(1))
        assert sorted([*train, *test]) == list(range(5000))
        [(train, test)] = load_task("monks-1").splits(5, seed(1))
        assert (len(train), len(test)) == (124, 432)


class TestNames:
    def test_what_cannot_be_had_has_a_reason(self, nothing_elsewhere):
        found, reasons = load_tasks(
            "v", ["cleve", "breast-cancer", "monk1-corrupt", "soybean-large"]
        )
        assert [p.name for p in found] == ["breast-cancer", "soybean-large"]
        assert list(reasons) == ["cleve", "monk1-corrupt"]
        assert "neither shipped" in reasons["cleve"]
        assert reasons["monk1-corrupt"] == elr_data.UNAVAILABLE["monk1-corrupt"]

    def test_two_names_of_one_set(self):
        found, _ = load_tasks("ii", ["diabetes", "iris"])
        assert [p.name for p in found] == ["pima", "iris"]

    @pytest.mark.parametrize(
        ("name", "facts"),
        [
            ("iris", (4, 3, 150, "5 folds")),
            ("mofn-3-7-10", (10, 2, 1024, "300 at random, tested on all")),
            ("satimage", (36, 6, 6435, "4435 + 2000, file order")),
            ("waveform-21", (21, 3, 5000, "300 + 4700, random splits")),
        ],
    )
    def test_the_facts(self, name, facts):
        names = ("dataset", "attributes", "classes", "rows", "protocol")
        assert load_task(name).facts == dict(zip(names, (name, *facts), strict=True))


@pytest.mark.parametrize(
    ("table", "data_sets", "cells"),
    [
        ("ii", 25, 1),
        ("iii", 25, 6),
        ("iv", 25, 9),
        ("v", 20, 1),
        ("vi", 21, 6),
        ("vii", 25, 10),
        ("viii", 16, 4),
    ],
)
def test_every_printed_data_set_has_every_cell_once(table, data_sets, cells):
    frame = paper_table(table)
    keys = [name for name in ("dataset", "source", "structure", "learner") if name in frame]
    assert not frame.duplicated(keys).any()
    assert frame["dataset"].nunique() == data_sets
    assert (frame["dataset"].value_counts() == cells).all()
    if table in ("iii", "iv", "vii"):
        assert list(frame["dataset"].unique()) == list(TABLE_II.index)


class TestCodes:
    @pytest.fixture(params=["glass2", "corral", "vote"])
    def data(self, request):
        return load_task(request.param).data

    @pytest.fixture
    def rows(self, data):
        return np.split(np.random.default_rng(0).permutation(len(data.y)), [len(data.y) * 3 // 4])

    def test_are_those_of_the_discretised_columns(self, data, rows):
        train, test = rows
        codes, sizes = encode_split(data, train, test)
        cutter = EntropyDiscretizer().fit(data.X.iloc[train], data.y[train])
        tables = [cutter.transform(data.X.iloc[part]) for part in rows]
        coding = DiscreteCoding(tables[0])
        assert (codes[:, 1:] == np.concatenate([coding(table) for table in tables])).all()
        assert (np.unique(data.y)[codes[:, 0]] == data.y[np.concatenate(rows)]).all()
        assert list(sizes) == [len(np.unique(data.y)), *coding.sizes]

    def test_nothing_removed(self, data, rows):
        train, test = rows
        plain, sizes = encode_split(data, train, test)
        codes, sizes_too = encode_split(data, train, test, np.zeros(data.X.shape, bool))
        assert (codes == np.concatenate([plain, plain[len(train) :]])).all()
        assert (sizes == sizes_too).all()

    def test_removed_values_are_missing(self, data, rows):
        train, test = rows
        holes = removed(data, 0.3)
        codes, _ = encode_split(data, train, test, holes)
        first, masked, complete = np.split(codes[:, 1:], [len(train), len(train) + len(test)])
        assert (first[holes[train]] == -1).all()
        assert (first[~holes[train]] >= 0).all()
        assert (masked[holes[test]] == -1).all()
        assert (masked == np.where(holes[test], -1, complete)).all()
        assert (complete[holes[test]] >= 0).mean() > 0.9

    def test_removed_values_teach_nothing(self, data, rows):
        """Whatever was in a place that is removed, the codes of training rows and masked test rows are the same."""
        train, test = rows
        holes, rng = removed(data, 0.3), np.random.default_rng(2)
        shuffled = data.X.copy()
        for i, name in enumerate(shuffled):
            places = np.flatnonzero(holes[:, i])
            shuffled.loc[places, name] = shuffled[name].array.take(rng.permutation(places))
        found = [encode_split(d, train, test, holes)[0] for d in (data, replace(data, X=shuffled))]
        n = len(train) + len(test)
        assert (found[0][:n] == found[1][:n]).all()

    @pytest.mark.parametrize("rate", [0, 0.25])
    def test_test_rows_teach_nothing(self, data, rows, rate):
        """With the test rows' values and classes in another order, training rows have the same codes."""
        train, test = rows
        order = np.arange(len(data.y))
        order[test] = test[::-1]
        shuffled = replace(data, X=data.X.iloc[order].reset_index(drop=True), y=data.y[order])
        holes = removed(data, rate) if rate else None
        (codes, sizes), (again, sizes_too) = (
            encode_split(d, train, test, holes) for d in (data, shuffled)
        )
        assert (codes[: len(train)] == again[: len(train)]).all()
        assert (sizes == sizes_too).all()
        if holes is None:
            assert (codes[len(train) :] == again[len(train) :][::-1]).all()

    def test_an_unknown_value_is_missing(self):
        letters = pd.DataFrame({"letter": pd.Series(list("abababac"), dtype=str)})
        data = replace(load_task("iris").data, X=letters, y=np.array(list("01010101")))
        codes, sizes = encode_split(data, np.arange(6), np.array([6, 7]))
        assert list(codes[:, 1]) == [0, 1, 0, 1, 0, 1, 0, -1]
        assert list(sizes) == [2, 2]


@pytest.mark.parametrize(("name", "size"), elr_data.TRAINING_SIZES.items())
def test_training_rows_are_distinct_and_repeatable(name, size):
    rows = elr_data.training_rows(name, seed=3)
    assert len(set(rows)) == size
    np.testing.assert_array_equal(rows, elr_data.training_rows(name, seed=3))
    assert rows.tolist() != elr_data.training_rows(name, seed=4).tolist()
