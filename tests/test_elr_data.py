"""Data of the experiments with ELR: rows as in Table II, splits, codes of training rows only."""

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
SHIPPED_SETS = set(uci.available().query("status == 'shipped'")["name"])
TABLE_II = paper_table("ii").set_index("dataset")
TABLE_V = paper_table("v").set_index("dataset")
# What the files have, where the paper has another number.
# UCI's tenth of breast is a number of rows
N_ATTRIBUTES = {"breast": 9, "breast-cancer": 9, "soybean-large": 35}
# of the type 4 of glass and of four diseases there are no such rows
N_CLASSES = {"glass": 6, "soybean-large": 15}


def shipped_names(table):
    return [name for name in table.index if elr_data.SOURCES.get(name, name) in SHIPPED_SETS]


def seed(number):
    return np.random.SeedSequence(number)


def removal_mask(data, rate):
    return Seeds(1).rng().random(data.X.shape) < rate


@pytest.fixture
def no_downloads(monkeypatch, tmp_path):
    """Neither a mirror nor a cache nor a connection."""

    def unreachable(entry, file):
        raise uci.NotAvailableError(file)

    monkeypatch.delenv("UCI_MIRROR", raising=False)
    monkeypatch.setenv("UCI_CACHE", str(tmp_path))
    monkeypatch.setattr(uci.downloads, "download", unreachable)


class TestTables:
    def test_at_least_the_shipped_sets_are_checked(self):
        assert len(shipped_names(TABLE_II)) >= 15

    @pytest.mark.parametrize("name", shipped_names(TABLE_II))
    def test_table_ii(self, name):
        row = TABLE_II.loc[name]
        task = load_task(name)
        X, y = task.data.X, task.data.y
        assert X.shape[1] == N_ATTRIBUTES.get(name, row["attributes"])
        assert len(np.unique(y)) == N_CLASSES.get(name, row["classes"])
        assert not X.isna().any(axis=None)
        splits = task.splits(5, seed(0))
        if row["test"] == "CV-5":
            assert len(y) == row["train"]
            assert len(splits) == 5
            assert all(len(test) == row["train"] // 5 for _, test in splits)
        else:
            [(train, test)] = splits
            assert len(train) == row["train"]
            assert len(test) == int(row["test"])
            if task.split == "published":
                np.testing.assert_array_equal([*train, *test], np.arange(len(y)))

    @pytest.mark.parametrize("name", shipped_names(TABLE_V))
    def test_table_v(self, name):
        row = TABLE_V.loc[name]
        task = load_task(name, incomplete=True)
        X, y = task.data.X, task.data.y
        assert X.shape[1] == N_ATTRIBUTES.get(name, row["attributes"])
        assert X.isna().any(axis=None)
        train, test = task.splits(5, seed(0))[0]
        if np.isnan(row["test"]):
            assert len(y) == row["train"]
        else:
            assert len(train) == row["train"]
            assert len(test) == row["test"]

    def test_incomplete_rows_stay_or_go(self):
        data = load_task("soybean-large", incomplete=True).data
        assert len(data.y) == 683
        is_complete = data.X.notna().all(axis=1)
        complete = load_task("soybean-large").data
        assert (complete.y == data.y[is_complete]).all()

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
        """Of equal sizes: what is left over is in no test set."""
        task = load_task(name)
        n = len(task.data.y)
        size = n // n_folds
        splits = task.splits(n_folds, seed(0))
        assert [len(test) for _, test in splits] == [size] * n_folds
        test_rows = np.concatenate([test for _, test in splits])
        assert len(np.unique(test_rows)) == size * n_folds
        for train, test in splits:
            assert sorted([*train, *test]) == list(range(n))

    @pytest.mark.parametrize(
        "name", ["iris", "shuttle-small", "waveform-21", "mofn-3-7-10", "satimage"]
    )
    def test_the_seed_decides(self, name):
        """Published splits alone are the same whatever the seed and the repeat."""
        task = load_task(name)

        def rows(entropy, repeat):
            splits = task.splits(5, Seeds(entropy).sequence(name, repeat))
            return np.concatenate([[*train, *test] for train, test in splits])

        assert (rows(3, 0) == rows(3, 0)).all()
        is_random = len(task.repeats(2)) == 2
        assert (rows(3, 0) != rows(4, 0)).any() == is_random
        assert (rows(3, 0) != rows(3, 1)).any() == is_random

    def test_first_and_last_rows(self):
        """Between the 100 of training and the 50 of test there are 13 that are in neither."""
        task = replace(load_task("glass2"), sizes=(100, 50), split="published")
        [(train, test)] = task.splits(5, seed(0))
        assert list(train) == list(range(100))
        assert list(test) == list(range(113, 163))

    def test_random(self):
        [(train, test)] = load_task("shuttle-small").splits(5, seed(0))
        assert (len(train), len(test)) == (3866, 1934)
        assert not np.intersect1d(train, test).size
        for rows in (train, test):
            assert (np.diff(rows) > 0).all()

    def test_samples(self):
        [(train, test)] = load_task("mofn-3-7-10").splits(5, seed(1))
        assert len(np.unique(train)) == 300
        assert list(test) == list(range(1024))
        [(train, test)] = load_task("waveform-21").splits(5, seed(1))
        assert sorted([*train, *test]) == list(range(5000))
        [(train, test)] = load_task("monks-1").splits(5, seed(1))
        assert (len(train), len(test)) == (124, 432)


class TestNames:
    @pytest.mark.usefixtures("no_downloads")
    def test_what_cannot_be_had_has_a_reason(self):
        names = ["cleve", "breast-cancer", "monk1-corrupt", "soybean-large"]
        tasks, reasons = load_tasks("v", names)
        assert [task.name for task in tasks] == ["breast-cancer", "soybean-large"]
        assert list(reasons) == ["cleve", "monk1-corrupt"]
        assert "neither shipped" in reasons["cleve"]
        assert reasons["monk1-corrupt"] == elr_data.UNAVAILABLE["monk1-corrupt"]

    def test_two_names_of_one_set(self):
        tasks, _ = load_tasks("ii", ["diabetes", "iris"])
        assert [task.name for task in tasks] == ["pima", "iris"]

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
        """Training rows, three of four, and test rows."""
        n = len(data.y)
        return np.split(np.random.default_rng(0).permutation(n), [n * 3 // 4])

    def test_are_those_of_the_discretised_columns(self, data, rows):
        train, test = rows
        codes, sizes = encode_split(data, train, test)
        cutter = EntropyDiscretizer().fit(data.X.iloc[train], data.y[train])
        train_X = cutter.transform(data.X.iloc[train])
        test_X = cutter.transform(data.X.iloc[test])
        coding = DiscreteCoding(train_X)
        expected = np.concatenate([coding(train_X), coding(test_X)])
        assert (codes[:, 1:] == expected).all()
        classes = np.unique(data.y)
        assert (classes[codes[:, 0]] == data.y[np.concatenate(rows)]).all()
        assert list(sizes) == [len(classes), *coding.sizes]

    def test_nothing_removed(self, data, rows):
        train, test = rows
        """With a mask the test rows come twice, masked and complete."""
        plain_codes, plain_sizes = encode_split(data, train, test)
        no_removal = np.zeros(data.X.shape, bool)
        codes, sizes = encode_split(data, train, test, no_removal)
        assert (codes == np.concatenate([plain_codes, plain_codes[len(train) :]])).all()
        assert (sizes == plain_sizes).all()

    def test_removed_values_are_missing(self, data, rows):
        train, test = rows
        is_removed = removal_mask(data, 0.3)
        codes, _ = encode_split(data, train, test, is_removed)
        ends = [len(train), len(train) + len(test)]
        train_codes, masked_codes, complete_codes = np.split(codes[:, 1:], ends)
        assert (train_codes[is_removed[train]] == -1).all()
        assert (train_codes[~is_removed[train]] >= 0).all()
        assert (masked_codes[is_removed[test]] == -1).all()
        assert (masked_codes == np.where(is_removed[test], -1, complete_codes)).all()
        assert (complete_codes[is_removed[test]] >= 0).mean() > 0.9

    def test_removed_values_teach_nothing(self, data, rows):
        """Codes of training rows and masked test rows do not depend on them."""
        train, test = rows
        is_removed = removal_mask(data, 0.3)
        rng = np.random.default_rng(2)
        X = data.X.copy()
        for i, name in enumerate(X):
            removed_rows = np.flatnonzero(is_removed[:, i])
            X.loc[removed_rows, name] = X[name].array.take(rng.permutation(removed_rows))
        codes, _ = encode_split(data, train, test, is_removed)
        shuffled_codes, _ = encode_split(replace(data, X=X), train, test, is_removed)
        n = len(train) + len(test)
        assert (codes[:n] == shuffled_codes[:n]).all()

    @pytest.mark.parametrize("rate", [0, 0.25])
    def test_test_rows_teach_nothing(self, data, rows, rate):
        """Codes of training rows do not depend on the order of the test rows."""
        train, test = rows
        order = np.arange(len(data.y))
        order[test] = test[::-1]
        reversed_X = data.X.iloc[order].reset_index(drop=True)
        reversed_data = replace(data, X=reversed_X, y=data.y[order])
        is_removed = removal_mask(data, rate) if rate else None
        codes, sizes = encode_split(data, train, test, is_removed)
        reversed_codes, reversed_sizes = encode_split(reversed_data, train, test, is_removed)
        n = len(train)
        assert (codes[:n] == reversed_codes[:n]).all()
        assert (sizes == reversed_sizes).all()
        if is_removed is None:
            assert (codes[n:] == reversed_codes[n:][::-1]).all()

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
