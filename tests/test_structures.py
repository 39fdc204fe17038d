"""Structures against plain definitions, brute force over trees and single changes, and models that are known."""

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lib.structures.bic
from lib.structures import information, tan, tan_from_codes
from lib.structures.bic import bic_from_codes, bic_search
from lib.structures.encoding import DiscreteCoding, discrete_codes
from lib.structures.graphs import chain, check_parents, naive, topological_order
from lib.structures.information import JointCounts, conditional_mutual_information

NAN = np.nan


def random_codes(rng, n_rows, sizes, missing=0.0):
    """Each variable follows two earlier ones in half of the rows; the class is never missing."""
    columns = [rng.integers(0, sizes[0], n_rows)]
    for v, size in enumerate(sizes[1:], 1):
        a, b = rng.integers(0, v, 2)
        noise = rng.integers(0, size, n_rows)
        columns.append(np.where(rng.random(n_rows) < 0.5, (columns[a] + columns[b]) % size, noise))
    codes = np.column_stack(columns)
    codes[:, 1:][rng.random((n_rows, len(sizes) - 1)) < missing] = -1
    return codes


@st.composite
def samples(draw, max_attributes=5):
    """Codes with the class first, some missing, and sizes."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=max_attributes + 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.3]))
    return random_codes(rng, draw(st.integers(1, 120)), sizes, missing), sizes


def frame(codes):
    """Codes of attributes as text, with None for missing."""
    return pd.DataFrame(
        {f"a{j}": [None if v < 0 else f"v{v}" for v in column] for j, column in enumerate(codes.T)}
    )


def links(parents):
    return {frozenset((p, v)) for v, family in enumerate(parents) for p in family}


def colliders(parents):
    """Variables with pairs of parents that are not linked: with the links, they tell equivalent structures apart."""
    pairs = (
        (v, pair) for v, family in enumerate(parents) for pair in itertools.combinations(family, 2)
    )
    return {(v, pair) for v, pair in pairs if frozenset(pair) not in links(parents)}


class TestGivenStructures:
    def test_naive(self):
        assert naive(3) == ((), (0,), (0,), (0,))
        assert naive(np.int64(0)) == ((),)

    def test_chain_links_the_first_attributes(self):
        assert chain(4, 3) == ((), (0,), (0, 1), (0, 2), (0,))
        assert chain(4, 0) == chain(4, 1) == naive(4)
        assert [len(links(chain(5, m))) for m in range(6)] == [5, 5, 6, 7, 8, 9]


class TestCheckParents:
    def test_any_sequences_become_ascending_tuples_of_int(self):
        expected = ((), (0,), (0, 1))
        for parents in (
            expected,
            [[], [0], [1, 0]],
            [np.array([], int), np.array([0]), np.array([1, 0])],
        ):
            checked = check_parents(parents, 3)
            assert checked == expected
            assert {type(p) for family in checked for p in family} == {int}

    def test_the_class_may_have_parents(self):
        assert check_parents([[1, 2], [], [1]]) == ((1, 2), (), (1,))


@given(samples())
@settings(max_examples=30)
def test_topological_order_puts_parents_first(sample):
    parents = bic_from_codes(*sample)
    order = topological_order(parents)
    assert sorted(order) == [*range(len(parents))]
    assert all(order.index(p) < order.index(v) for v, family in enumerate(parents) for p in family)


class TestCodes:
    def test_columns_of_every_kind(self):
        X = pd.DataFrame(
            {
                "flag": [True, False, True, True],
                "float": [3.0, NAN, 7.0, -2.0],
                "nullable": pd.array([3.0, None, 7.0, -2.0], dtype="Float64"),
                "integer": [9, 9, 8, 9],
                "object": ["b", None, "a", NAN],
                "declared": pd.Categorical(["r", None, "r", "g"], categories=["g", "b", "r"]),
                "empty": [NAN] * 4,
                "nothing": pd.Categorical([None] * 4),
            }
        )
        codes, sizes = discrete_codes(X, ["q", "p", "q", "p"])
        assert sizes.tolist() == [2, 2, 3, 3, 2, 2, 3, 2, 1]
        assert codes[:, :5].tolist() == [
            [1, 1, 1, 1, 1],
            [0, 0, -1, -1, 1],
            [1, 1, 2, 2, 0],
            [0, 1, 0, 0, 1],
        ]
        assert codes[:, 5:].tolist() == [
            [1, 2, -1, -1],
            [-1, -1, -1, -1],
            [0, 2, -1, -1],
            [-1, 0, -1, -1],
        ]

    def test_a_value_never_seen_is_missing(self):
        seen, later = (
            pd.DataFrame({"a": ["r", "g"], "b": [1.0, NAN]}),
            pd.DataFrame({"a": ["v", "g"], "b": [2.0, 1]}),
        )
        assert DiscreteCoding(seen)(later).tolist() == [[-1, -1], [0, 0]]


def plain_information(codes, i, j):
    """Sum of P(c, u, v) log (P(u, v | c) / P(u | c) P(v | c)), by loops over the rows where both are observed."""
    rows = [(row[0], row[i], row[j]) for row in codes.tolist() if row[i] >= 0 and row[j] >= 0]
    joint, n = Counter(rows), len(rows)
    of_c, of_i, of_j = (
        Counter(map(key, rows)) for key in (lambda r: r[0], lambda r: r[:2], lambda r: r[::2])
    )
    return sum(
        k / n * math.log(k * of_c[c] / (of_i[c, u] * of_j[c, v])) for (c, u, v), k in joint.items()
    )


@given(samples())
@settings(max_examples=60)
def test_information_is_its_definition(sample):
    codes, sizes = sample
    information = conditional_mutual_information(codes, sizes)
    for i, j in itertools.product(range(len(sizes) - 1), repeat=2):
        assert information[i, j] == pytest.approx(plain_information(codes, i + 1, j + 1), abs=1e-12)


def test_information_known_in_closed_form():
    """Given the class, the second bit equals the first, and the third is independent of both."""
    codes = np.array([(c, a, a ^ c, b) for c, a, b in itertools.product(range(2), repeat=3)] * 5)
    expected = math.log(2) * np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(conditional_mutual_information(codes, [2] * 4), expected, atol=1e-14)


def test_many_values_take_little_memory():
    """Tables of two identifiers would have 1.8e9 entries."""
    rng = np.random.default_rng(0)
    codes = np.column_stack(
        [rng.integers(0, 2, 30000), *(rng.permutation(30000) for _ in range(3))]
    )
    information = conditional_mutual_information(codes, [2, 30000, 30000, 30000])
    share = np.bincount(codes[:, 0]) / 30000
    np.testing.assert_allclose(information, share @ np.log(share * 30000))


def spanning_trees(n):
    """All sets of n - 1 links that connect n attributes."""
    for tree in itertools.combinations(itertools.combinations(range(n), 2), n - 1):
        reached = {0}
        for _ in range(n):
            reached |= {v for link in tree if reached & {*link} for v in link}
        if len(reached) == n:
            yield tree


def tree_of(parents):
    return [(family[1] - 1, v - 1) for v, family in enumerate(parents) if len(family) == 2]


def test_there_are_as_many_trees_as_cayley_says():
    assert [sum(1 for _ in spanning_trees(n)) for n in (2, 3, 4, 5)] == [1, 3, 16, 125]


class TestTan:
    @pytest.mark.parametrize("n", [2, 3, 4, 5])
    @given(
        seed=st.integers(0, 2**32 - 1), missing=st.sampled_from([0, 0.2]), size=st.integers(2, 4)
    )
    @settings(max_examples=8)
    def test_the_tree_is_the_best_of_all(self, n, seed, missing, size):
        codes = random_codes(np.random.default_rng(seed), 40, [size] * (n + 1), missing)
        weights = conditional_mutual_information(codes, [size] * (n + 1))
        best = max(sum(weights[i, j] for i, j in tree) for tree in spanning_trees(n))
        found = sum(weights[i, j] for i, j in tree_of(tan_from_codes(codes, [size] * (n + 1))))
        assert found == pytest.approx(best, abs=1e-10)

    @given(samples(max_attributes=8))
    @settings(max_examples=40)
    def test_a_tree_directed_from_the_first_attribute_below_the_class(self, sample):
        parents = tan_from_codes(*sample)
        assert parents == check_parents(parents, len(sample[1]))
        assert parents[:2] == ((), (0,))
        assert all(family[0] == 0 and len(family) == 2 for family in parents[2:])
        assert topological_order(parents)[:2] == (0, 1)

    @pytest.mark.parametrize("missing", [0, 0.2])
    @pytest.mark.parametrize("seed", range(5))
    def test_names_of_values_and_classes_and_order_of_rows_do_not_matter(
        self, seed, missing, monkeypatch
    ):
        rng = np.random.default_rng(seed)
        codes = random_codes(rng, 300, [3] * 8, missing)
        expected = tan_from_codes(codes, [3] * 8)
        monkeypatch.setattr(information, "MAX_STORED_SUMS", seed)
        assert tan_from_codes(codes, [3] * 8) == expected
        names = np.array(["z", "m", "a"])
        rows = rng.permutation(300)
        assert tan(frame(codes[:, 1:]).iloc[rows], names[codes[rows, 0]]) == expected
        floats = np.where(codes[:, 1:] < 0, NAN, 5.0 - codes[:, 1:])
        assert tan(floats, codes[:, 0] * -7) == expected

    def test_attributes_that_tell_nothing_hang_on_the_first(self):
        """All weights are zero, which is a tree as well; of ties the first pairs are taken."""
        X = pd.DataFrame(
            {"same": [1] * 4, "empty": [NAN] * 4, "a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
        )
        assert tan(X, [1, 1, 1, 1]) == ((), (0,), (0, 1), (0, 1), (0, 1))

    @pytest.mark.parametrize("learn", [tan_from_codes, bic_from_codes])
    @pytest.mark.parametrize("seed", range(8))
    def test_the_values_of_a_duplicate_do_not_matter(self, learn, seed):
        """Its information is the same but for rounding, which must not decide between the two."""
        rng = np.random.default_rng(seed)
        codes, sizes = random_codes(rng, 700, [4] * 5), [4] * 9
        renamed = np.array([rng.permutation(4)[column] for column in codes[:, 1:].T]).T
        plain, other = np.hstack([codes, codes[:, 1:]]), np.hstack([codes, renamed])
        assert learn(other, sizes) == learn(plain, sizes)


def plain_bic(codes, sizes, v, family):
    """Log likelihood of variable v given its parents by loops, less the penalty."""
    joint = Counter((row[v], *(row[p] for p in family)) for row in codes.tolist())
    of_family = Counter(tuple(row[p] for p in family) for row in codes.tolist())
    log_likelihood = sum(k * math.log(k / of_family[values[1:]]) for values, k in joint.items())
    n_parameters = (sizes[v] - 1) * math.prod(sizes[p] for p in family)
    return log_likelihood - n_parameters / 2 * math.log(len(codes))


def total_bic(codes, sizes, parents):
    return sum(plain_bic(codes, sizes, v, family) for v, family in enumerate(parents))


def observed(codes, variables):
    return codes[(codes[:, [*variables]] >= 0).all(axis=1)]


def fits(codes, sizes, v, family):
    return math.prod(sizes[u] for u in (v, *family)) <= len(observed(codes, (v, *family)))


def is_acyclic(parents):
    try:
        return bool(topological_order(parents))
    except ValueError:
        return False


def single_changes(parents, max_parents):
    """All structures one addition, deletion or reversal away."""
    for p, v in itertools.permutations(range(len(parents)), 2):
        families = [set(family) for family in parents]
        if p in families[v]:
            families[v] -= {p}
            yield tuple(tuple(sorted(family)) for family in families)
            families[p] |= {v}
        else:
            families[v] |= {p}
        if is_acyclic(families) and max(map(len, families)) <= max_parents:
            yield tuple(tuple(sorted(family)) for family in families)


def best_forest_bic(codes, sizes):
    """Score of the best of all structures in which no variable has two parents and no two are linked by two ways."""
    alone = [plain_bic(codes, sizes, v, ()) for v in range(len(sizes))]
    pairs = itertools.combinations(range(len(sizes)), 2)
    gains = {(p, v): max(0, plain_bic(codes, sizes, v, (p,)) - alone[v]) for p, v in pairs}
    return sum(alone) + max(
        sum(gains[link] for link in tree) for tree in spanning_trees(len(sizes))
    )


class TestBic:
    @given(samples(), st.data())
    @settings(max_examples=60)
    def test_the_gain_of_a_parent_is_a_difference_of_scores(self, sample, data):
        """Of both families in the rows where the larger one is observed."""
        codes, sizes = sample
        child, parent, *others = data.draw(st.permutations(range(len(sizes))))
        others = others[: data.draw(st.integers(0, len(others)))]
        found = lib.structures.bic.gain(JointCounts(codes, sizes), child, parent, frozenset(others))
        if not fits(codes, sizes, child, (parent, *others)):
            assert found == -np.inf
            return
        rows = observed(codes, (child, parent, *others))
        scores = [plain_bic(rows, sizes, child, family) for family in ((parent, *others), others)]
        assert found == pytest.approx(scores[0] - scores[1], abs=1e-9)

    @given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.integers(1, 3))
    @settings(max_examples=12)
    def test_no_single_change_and_no_tree_is_better(self, seed, size, max_parents):
        sizes = [size] * 5
        codes = random_codes(np.random.default_rng(seed), 150, sizes)
        found = bic_from_codes(codes, sizes, max_parents)
        score = total_bic(codes, sizes, found)
        forest = best_forest_bic(codes, sizes)
        assert (
            score == pytest.approx(forest, abs=1e-5) if max_parents == 1 else score >= forest - 1e-5
        )
        for parents in single_changes(found, max_parents):
            if all(fits(codes, sizes, v, family) for v, family in enumerate(parents)):
                assert total_bic(codes, sizes, parents) <= score + 1e-5

    @given(samples(max_attributes=6), st.integers(0, 4))
    @settings(max_examples=60)
    def test_any_data_give_a_structure_within_the_bounds(self, sample, max_parents):
        codes, sizes = sample
        parents = bic_from_codes(codes, sizes, max_parents)
        assert parents == check_parents(parents, len(sizes))
        assert max(map(len, parents)) <= max_parents
        assert all(fits(codes, sizes, v, family) for v, family in enumerate(parents) if family)

    @pytest.mark.parametrize("missing", [0, 0.2])
    @pytest.mark.parametrize("order", [(1, 0, 2, 3, 4, 5), (2, 3, 1, 5, 4, 0), (1, 3, 2, 4, 0, 5)])
    def test_a_known_structure_is_recovered_up_to_equivalence(self, order, missing):
        """In these orders of the variables; in some others the search ends in a local optimum with a link too many."""
        truth = ((), (0,), (), (1, 2), (3,), ())
        # P(1 | values of the parents)
        tables = [0.4, [0.2, 0.7], 0.5, [[0.1, 0.3], [0.4, 0.95]], [0.8, 0.3], 0.3]
        rng, columns = np.random.default_rng(0), []
        for family, table in zip(truth, tables, strict=True):
            probability = np.array(table)[tuple(columns[p] for p in family)]
            columns.append((rng.random(8000) < probability).astype(int))
        codes = np.column_stack(columns)[:, order]
        codes[:, 1:][rng.random((8000, 5)) < missing] = -1
        parents = dict(zip(order, bic_from_codes(codes, [2] * 6), strict=True))
        found = [sorted(order[p] for p in parents[v]) for v in range(6)]
        assert links(found) == links(truth)
        assert colliders(found) == colliders(truth)

    def test_two_trees_are_joined_where_their_link_is_strongest(self):
        """The chain 0 - 1 - 3 - 2. From no links, 1 and 3 soon have a parent, and 2 takes one: not 3, but 1."""
        flips = np.random.default_rng(0).random((4, 4000)) < np.array([[0.5], [0.1], [0.2], [0.05]])
        codes, sizes = np.logical_xor.accumulate(flips).astype(int)[[0, 1, 3, 2]].T, [2] * 4
        start = lib.structures.bic.Search(
            JointCounts(codes, sizes), 1, lib.structures.bic.gain, np.zeros((4, 4), bool)
        )
        found, poor = bic_from_codes(codes, sizes, 1), start.climb()
        assert [found, poor] == [((), (0,), (3,), (1,)), ((), (0,), (1,), (2,))]
        assert total_bic(codes, sizes, found) > total_bic(codes, sizes, poor) + 100

    def test_a_link_is_turned_round(self):
        """The strongest link 1 - 2 comes first and points from 1; with 0, that also acts on 1, 2 must be a parent."""
        rng = np.random.default_rng(0)
        y, b = rng.integers(0, 2, (2, 4000))
        a = (rng.random(4000) < np.array([[0.1, 0.7], [0.3, 0.95]])[y, b]).astype(int)
        assert bic_search(np.column_stack([a, b]), y) == ((), (0, 2), ())

    @pytest.mark.parametrize("missing", [0.05, 0.3])
    def test_missing_values_do_not_link_independent_variables(self, missing):
        """Scores of families in different rows, scaled to all, would give more than ten links at these settings."""
        rng = np.random.default_rng(0)
        codes = (rng.random((2000, 11)) < rng.uniform(0.05, 0.5, 11)).astype(int)
        codes[:, 1:][rng.random((2000, 10)) < missing] = -1
        assert len(links(bic_from_codes(codes, [2] * 11))) <= 1

    def test_ties_are_broken_by_the_order_of_variables(self):
        """A link may point either way: the lower variable is the parent."""
        assert bic_search(np.tile([[0], [1]], (20, 1)), np.tile(["p", "q"], 20)) == ((), (0,))

    def test_a_table_needs_as_many_rows_as_entries(self):
        values = np.tile(np.arange(10), 10)
        assert bic_search(values[:, None], values) == ((), (0,))
        assert bic_search(values[:90, None], values[:90]) == ((), ())

    def test_a_search_led_in_a_circle_ends(self, monkeypatch):
        """First 1 is a good parent of 0, then 2 too, then 1 no more, and then 2."""
        gains = {(0, 1, ()): 1, (0, 2, (1,)): 1, (0, 1, (2,)): -1, (0, 2, ()): -1}

        def made_up(_, child, parent, others):
            return gains.get((child, parent, tuple(others)), -9)

        monkeypatch.setattr(lib.structures.bic, "gain", made_up)
        assert bic_from_codes(np.zeros((4, 3), int), [2] * 3) == ((), (), ())
