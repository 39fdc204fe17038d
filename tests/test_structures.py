"""Structures against definitions, brute force over trees and single changes, and known models."""

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
from lib.structures.graphs import arc_kinds, chain, check_parents, naive, topological_order
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
    columns = {}
    for j, column in enumerate(codes.T):
        columns[f"a{j}"] = [None if v < 0 else f"v{v}" for v in column]
    return pd.DataFrame(columns)


def links(parents):
    return {frozenset((p, v)) for v, family in enumerate(parents) for p in family}


def colliders(parents):
    """Variables with pairs of parents that are not linked.

    Structures are equivalent if they have the same links and colliders (Verma & Pearl 1990).
    """
    linked = links(parents)
    result = set()
    for v, family in enumerate(parents):
        for pair in itertools.combinations(family, 2):
            if frozenset(pair) not in linked:
                result.add((v, pair))
    return result


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
    for v, family in enumerate(parents):
        assert all(order.index(p) < order.index(v) for p in family)


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
        training = pd.DataFrame({"a": ["r", "g"], "b": [1.0, NAN]})
        test = pd.DataFrame({"a": ["v", "g"], "b": [2.0, 1]})
        assert DiscreteCoding(training)(test).tolist() == [[-1, -1], [0, 0]]


def plain_information(codes, i, j):
    """Sum of P(c, u, v) log (P(u, v | c) / P(u | c) P(v | c)), where u and v are both observed."""
    triples = [(row[0], row[i], row[j]) for row in codes.tolist() if row[i] >= 0 and row[j] >= 0]
    n = len(triples)
    n_c = Counter(c for c, _, _ in triples)
    n_cu = Counter((c, u) for c, u, _ in triples)
    n_cv = Counter((c, v) for c, _, v in triples)
    total = 0.0
    for (c, u, v), n_cuv in Counter(triples).items():
        total += n_cuv / n * math.log(n_cuv * n_c[c] / (n_cu[c, u] * n_cv[c, v]))
    return total


@given(samples())
@settings(max_examples=60)
def test_information_is_its_definition(sample):
    codes, sizes = sample
    information = conditional_mutual_information(codes, sizes)
    for i, j in itertools.product(range(len(sizes) - 1), repeat=2):
        assert information[i, j] == pytest.approx(plain_information(codes, i + 1, j + 1), abs=1e-12)


def test_information_known_in_closed_form():
    """Given the class, the second bit follows from the first, and the third is independent."""
    codes = np.array([(c, a, a ^ c, b) for c, a, b in itertools.product(range(2), repeat=3)] * 5)
    expected = math.log(2) * np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(conditional_mutual_information(codes, [2] * 4), expected, atol=1e-14)


def test_many_values_take_little_memory():
    """Tables of two identifiers would have 1.8e9 entries.

    Given a class with n_c examples, one identifier determines the other: log(n_c) nats.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 30000)
    identifiers = [rng.permutation(30000) for _ in range(3)]
    codes = np.column_stack([y, *identifiers])
    information = conditional_mutual_information(codes, [2, 30000, 30000, 30000])
    share = np.bincount(y) / 30000
    np.testing.assert_allclose(information, share @ np.log(share * 30000))


def spanning_trees(n):
    """All sets of n - 1 links that connect n attributes."""
    for tree in itertools.combinations(itertools.combinations(range(n), 2), n - 1):
        # from attribute 0, go along links until no attribute can be further than n steps
        component = {0}
        for _ in range(n):
            for link in tree:
                if component & {*link}:
                    component |= {*link}
        if len(component) == n:
            yield tree


def tree_of(parents):
    """Links between attributes, numbered from 0, where variable 0 is the class."""
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
        sizes = [size] * (n + 1)
        codes = random_codes(np.random.default_rng(seed), 40, sizes, missing)
        weights = conditional_mutual_information(codes, sizes)

        def weight_of(tree):
            return sum(weights[i, j] for i, j in tree)

        tree = tree_of(tan_from_codes(codes, sizes))
        best = max(map(weight_of, spanning_trees(n)))
        assert weight_of(tree) == pytest.approx(best, abs=1e-10)

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
        codes = random_codes(rng, 700, [4] * 5)
        attributes = codes[:, 1:]
        renamed = np.array([rng.permutation(4)[column] for column in attributes.T]).T
        with_copies = np.hstack([codes, attributes])
        with_renamed_copies = np.hstack([codes, renamed])
        sizes = [4] * 9
        assert learn(with_renamed_copies, sizes) == learn(with_copies, sizes)


def plain_bic(codes, sizes, v, family):
    """Log likelihood of variable v given its parents by loops, less the penalty."""
    joint = Counter((row[v], *(row[p] for p in family)) for row in codes.tolist())
    of_family = Counter(tuple(row[p] for p in family) for row in codes.tolist())
    log_likelihood = sum(k * math.log(k / of_family[values[1:]]) for values, k in joint.items())
    n_parameters = (sizes[v] - 1) * math.prod(sizes[p] for p in family)
    return log_likelihood - n_parameters / 2 * math.log(len(codes))


def total_bic(codes, sizes, parents):
    return sum(plain_bic(codes, sizes, v, family) for v, family in enumerate(parents))


def observed_rows(codes, variables):
    return codes[(codes[:, [*variables]] >= 0).all(axis=1)]


def table_fits(codes, sizes, v, family):
    """Whether the table of a family has no more entries than examples."""
    variables = (v, *family)
    return math.prod(sizes[u] for u in variables) <= len(observed_rows(codes, variables))


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
    """Score of the best of all forests: no variable has two parents, and no links form a loop."""
    n = len(sizes)
    empty_scores = [plain_bic(codes, sizes, v, ()) for v in range(n)]
    # a link that does not gain anything is left out of a tree
    gains = {}
    for p, v in itertools.combinations(range(n), 2):
        gains[p, v] = max(0, plain_bic(codes, sizes, v, (p,)) - empty_scores[v])
    best_gain = max(sum(gains[link] for link in tree) for tree in spanning_trees(n))
    return sum(empty_scores) + best_gain


class TestBic:
    @given(samples(), st.data())
    @settings(max_examples=60)
    def test_the_gain_of_a_parent_is_a_difference_of_scores(self, sample, data):
        """Of both families in the rows where the larger one is observed."""
        codes, sizes = sample
        child, parent, *variables = data.draw(st.permutations(range(len(sizes))))
        family = variables[: data.draw(st.integers(0, len(variables)))]
        larger_family = (parent, *family)
        gain = lib.structures.bic.gain(JointCounts(codes, sizes), child, parent, frozenset(family))
        if not table_fits(codes, sizes, child, larger_family):
            assert gain == -np.inf
            return
        rows = observed_rows(codes, (child, *larger_family))
        score = plain_bic(rows, sizes, child, family)
        larger_score = plain_bic(rows, sizes, child, larger_family)
        assert gain == pytest.approx(larger_score - score, abs=1e-9)

    @given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.integers(1, 3))
    @settings(max_examples=12)
    def test_no_single_change_and_no_tree_is_better(self, seed, size, max_parents):
        sizes = [size] * 5
        codes = random_codes(np.random.default_rng(seed), 150, sizes)
        structure = bic_from_codes(codes, sizes, max_parents)
        score = total_bic(codes, sizes, structure)
        forest_score = best_forest_bic(codes, sizes)
        assert score >= forest_score - 1e-5
        if max_parents == 1:
            assert score <= forest_score + 1e-5
        for parents in single_changes(structure, max_parents):
            if all(table_fits(codes, sizes, v, family) for v, family in enumerate(parents)):
                assert total_bic(codes, sizes, parents) <= score + 1e-5

    @given(samples(max_attributes=6), st.integers(0, 4))
    @settings(max_examples=60)
    def test_any_data_give_a_structure_within_the_bounds(self, sample, max_parents):
        codes, sizes = sample
        parents = bic_from_codes(codes, sizes, max_parents)
        assert parents == check_parents(parents, len(sizes))
        assert max(map(len, parents)) <= max_parents
        assert all(
            table_fits(codes, sizes, v, family) for v, family in enumerate(parents) if family
        )

    @pytest.mark.parametrize("missing", [0, 0.2])
    @pytest.mark.parametrize("order", [(1, 0, 2, 3, 4, 5), (2, 3, 1, 5, 4, 0), (1, 3, 2, 4, 0, 5)])
    def test_a_known_structure_is_recovered_up_to_equivalence(self, order, missing):
        """In these orders of the variables; in some others the search ends in a local maximum.

        That has a link too many.
        """
        truth = ((), (0,), (), (1, 2), (3,), ())
        # P(1 | values of the parents)
        tables = [0.4, [0.2, 0.7], 0.5, [[0.1, 0.3], [0.4, 0.95]], [0.8, 0.3], 0.3]
        rng = np.random.default_rng(0)
        columns = []
        for family, table in zip(truth, tables, strict=True):
            probability = np.array(table)[tuple(columns[p] for p in family)]
            columns.append((rng.random(8000) < probability).astype(int))
        codes = np.column_stack(columns)[:, order]
        codes[:, 1:][rng.random((8000, 5)) < missing] = -1
        # with the numbers that the variables have in the truth
        parents = dict(zip(order, bic_from_codes(codes, [2] * 6), strict=True))
        structure = [sorted(order[p] for p in parents[v]) for v in range(6)]
        assert links(structure) == links(truth)
        assert colliders(structure) == colliders(truth)

    def test_two_trees_are_joined_where_their_link_is_strongest(self):
        """The truth is the chain 0 - 1 - 3 - 2.

        From no links, 1 and 3 soon have a parent, and 2 takes one: not 3, but 1.
        """
        p_flip = np.array([[0.5], [0.1], [0.2], [0.05]])
        flips = np.random.default_rng(0).random((4, 4000)) < p_flip
        chain_of_bits = np.logical_xor.accumulate(flips).astype(int)
        codes = chain_of_bits[[0, 1, 3, 2]].T
        sizes = [2] * 4
        no_links = np.zeros((4, 4), bool)
        search = lib.structures.bic.Search(
            JointCounts(codes, sizes), 1, lib.structures.bic.gain, no_links
        )
        best = bic_from_codes(codes, sizes, 1)
        local_maximum = search.climb()
        assert best == ((), (0,), (3,), (1,))
        assert local_maximum == ((), (0,), (1,), (2,))
        assert total_bic(codes, sizes, best) > total_bic(codes, sizes, local_maximum) + 100

    def test_a_link_is_turned_round(self):
        """The strongest link 1 - 2 comes first and points from 1; as 0 acts on 1, it must turn."""
        rng = np.random.default_rng(0)
        y, b = rng.integers(0, 2, (2, 4000))
        probability = np.array([[0.1, 0.7], [0.3, 0.95]])[y, b]
        a = (rng.random(4000) < probability).astype(int)
        assert bic_search(np.column_stack([a, b]), y) == ((), (0, 2), ())

    @pytest.mark.parametrize("missing", [0.05, 0.3])
    def test_missing_values_do_not_link_independent_variables(self, missing):
        """Scores of families in different rows, scaled to all, would give more than ten links."""
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

        def inconsistent_gain(_, child, parent, family):
            return gains.get((child, parent, tuple(family)), -9)

        monkeypatch.setattr(lib.structures.bic, "gain", inconsistent_gain)
        assert bic_from_codes(np.zeros((4, 3), int), [2] * 3) == ((), (), ())


def test_arcs_of_two_structures_compared():
    true_parents = ((), (0,), (1,), (2,))
    found = ((), (0,), (3,), (), (2,))
    assert arc_kinds(found, true_parents) == {
        (0, 1): "right",
        (3, 2): "turned around",
        (2, 4): "invented",
        (1, 2): "missing",
    }
