"""Chow-Liu, K2, BDeu, a network from a file: sums over all trees, chain rules, known networks."""

import itertools
import math
import sys
import tracemalloc
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.base.files import DATA
from lib.bayes_net.bif import DiscreteNetwork
from lib.structures import bdeu_search, bic_search, chow_liu, k2, tan
from lib.structures.dirichlet import DirichletCounts
from lib.structures.information import JointCounts

ALARM = DATA / "alarm.bif.gz"


@pytest.fixture(scope="module")
def alarm():
    return DiscreteNetwork.read_bif(ALARM)


def sequential_log_probability(codes, sizes, child, parents, alpha):
    """Ln P of the child's column, row after row: (n_ijk + alpha) / (n_ij + r alpha) each time."""
    counts_by_parents = {}
    total = 0.0
    for row in codes:
        value = row[child]
        counts = counts_by_parents.setdefault(tuple(row[list(parents)]), np.zeros(sizes[child]))
        total += math.log((counts[value] + alpha) / (counts.sum() + sizes[child] * alpha))
        counts[value] += 1
    return total


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(0, 40))
def test_scores_are_chain_rules(seed, n_rows):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 4)
    codes = rng.integers(0, sizes, (n_rows, 4))
    counts = DirichletCounts(codes, sizes)
    for parents in ((), (1,), (3, 1, 2)):
        cells = math.prod(sizes[list(parents)]) * sizes[0]
        assert counts.k2(0, frozenset(parents)) == pytest.approx(
            sequential_log_probability(codes, sizes, 0, parents, 1.0), abs=1e-9
        )
        bdeu = sequential_log_probability(codes, sizes, 0, parents, 5 / cells)
        assert counts.bdeu(0, frozenset(parents), 5) == pytest.approx(bdeu, abs=1e-9)


def test_equivalent_structures_have_the_same_bdeu(alarm):
    counts = DirichletCounts(alarm.sample(200, np.random.default_rng(0)), alarm.network.sizes)
    for a, b in itertools.combinations((0, 4, 9, 30), 2):
        score_a_first = counts.bdeu(a, frozenset(), 3) + counts.bdeu(b, frozenset([a]), 3)
        score_b_first = counts.bdeu(b, frozenset(), 3) + counts.bdeu(a, frozenset([b]), 3)
        assert score_a_first == pytest.approx(score_b_first, rel=1e-12)


def tree_likelihood(codes, links):
    """Sum over links of the mutual information, from a table of each pair."""
    total = 0.0
    for a, b in links:
        joint = np.zeros((3, 3))
        np.add.at(joint, (codes[:, a], codes[:, b]), 1 / len(codes))
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        positive = joint > 0
        total += (joint[positive] * np.log(joint[positive] / product[positive])).sum()
    return total


def spanning_trees(n):
    """All sets of n - 1 links that connect n variables."""
    for tree in itertools.combinations(itertools.combinations(range(n), 2), n - 1):
        # merge the groups of linked variables
        groups = np.arange(n)
        for a, b in tree:
            groups[groups == groups[a]] = groups[b]
        if (groups == groups[0]).all():
            yield tree


def directed_links(parents):
    return [(p, v) for v, family in enumerate(parents) for p in family]


@pytest.mark.parametrize("seed", range(3))
def test_chow_liu_is_the_best_of_all_trees(seed):
    codes = np.random.default_rng(seed).integers(0, 3, (60, 5))
    codes[:, 3] = np.where(codes[:, 4] > 0, codes[:, 1], codes[:, 3])
    trees = list(spanning_trees(5))
    assert len(trees) == 5**3  # Cayley's formula
    ours = directed_links(chow_liu(codes))
    assert len(ours) == 4
    best = max(tree_likelihood(codes, tree) for tree in trees)
    assert tree_likelihood(codes, ours) == pytest.approx(best, rel=1e-12)


def test_tree_is_recovered_from_its_own_distribution():
    parents = ((), (0,), (0,), (1,), (1,), (2,))
    rng = np.random.default_rng(1)
    tables = [rng.dirichlet(np.full(3, 0.5), (3,) * len(family)) for family in parents]
    rows = DiscreteNetwork(parents, tables).sample(5000, rng)
    assert chow_liu(rows) == parents
    assert chow_liu(rows[:, :1]) == ((),)


def test_alarm_is_the_network_of_the_paper(alarm):
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert sha256(ALARM.read_bytes()).hexdigest() in readme
    assert len(alarm.parents) == 37
    assert sum(map(len, alarm.parents)) == 46
    rows = np.diff(alarm.network.starts) // alarm.network.sizes
    # free parameters, as Beinlich et al. count them
    assert (rows * (alarm.network.sizes - 1)).sum() == 509


def test_sample_and_its_probability(alarm):
    rows = alarm.sample(20_000, np.random.default_rng(0))
    log_probability = alarm.log_probability(rows)
    second_sample = alarm.log_probability(alarm.sample(20_000, np.random.default_rng(1)))
    # the standard error of each mean is the standard deviation / sqrt(20,000)
    assert abs(log_probability.mean() - second_sample.mean()) < 5 * log_probability.std() / 100
    # tables estimated from the sample are likelier, by half the number of parameters in all
    refit = alarm.fitted(alarm.parents, rows)
    loss = (log_probability - refit.log_probability(rows)).mean()
    assert -0.02 < loss < 0
    v = alarm.names.index("HYPOVOLEMIA")
    assert (rows[:, v] == 0).mean() == pytest.approx(0.2, abs=0.015)


def test_bdeu_search_ends_where_no_arc_helps(alarm):
    rows = alarm.sample(500, np.random.default_rng(2))[:, :12]
    structure = bdeu_search(rows, equivalent_sample_size=10)
    counts = DirichletCounts(rows, rows.max(axis=0).clip(1) + 1)
    for child, parents in enumerate(structure):
        family = frozenset(parents)
        score = counts.bdeu(child, family, 10)
        for parent in parents:
            assert counts.bdeu(child, family - {parent}, 10) <= score + 1e-6
    assert bdeu_search(rows, start=structure) == structure
    assert max(map(len, bdeu_search(rows, max_parents=1))) == 1


def greedy(counts, order, max_parents=4):
    """K2 as it is defined: parents of each variable, and the families whose scores it asks for.

    (The latter are for the benchmarks.)
    """
    parents = {}
    families = []

    def score(child, family):
        families.append((child, tuple(sorted(family))))
        # scores that differ by rounding only are ties, of which the first in the order is taken
        return round(counts.k2(child, frozenset(family)), 6)

    for position, child in enumerate(order):
        family = ()
        best = score(child, family)
        while len(family) < min(max_parents, position):
            candidates = [p for p in order[:position] if p not in family]
            scores = {p: score(child, (*family, p)) for p in candidates}
            likeliest = max(scores, key=scores.get)
            if scores[likeliest] <= best:
                break
            family = (*family, likeliest)
            best = scores[likeliest]
        parents[child] = tuple(sorted(family))
    return tuple(parents[v] for v in range(len(order))), families


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(0, 4))
def test_k2_is_greedy(seed, n_rows, max_parents):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 5)
    codes = rng.integers(0, sizes, (n_rows, 5))
    codes[:, 2] = np.where(rng.random(n_rows) < 0.8, codes[:, 0] + codes[:, 1], codes[:, 2])
    order = rng.permutation(5)
    sizes = codes.max(axis=0).clip(1) + 1
    frame = pd.DataFrame({v: pd.Categorical(codes[:, v], range(sizes[v])) for v in range(5)})
    expected, _ = greedy(DirichletCounts(codes, sizes), order.tolist(), max_parents)
    assert k2(frame, order, max_parents) == expected


def test_k2_needs_no_copy():
    """Of variable 0 and its copy 3, the first in the order becomes a parent of variable 2."""
    a, b = np.random.default_rng(0).integers(0, 2, (200, 2)).T
    rows = np.column_stack([a, b, a | b, a, np.zeros(200, dtype=int)])
    assert k2(rows, [4, 1, 0, 3, 2]) == ((), (), (0, 1), (0,), ())


def test_k2_needs_the_order(alarm):
    rows = alarm.sample(10_000, np.random.default_rng(3))
    order = alarm.network.order
    truth = set(directed_links(alarm.parents))
    in_order = set(directed_links(k2(rows, order)))
    in_reverse = set(directed_links(k2(rows, order[::-1])))
    # 43 of the 46 arcs
    assert len(truth & in_order) >= 43
    assert not truth & in_reverse
    assert all(len(family) == 0 for family in k2(rows[:50], order, max_parents=0))


@pytest.mark.parametrize(
    "constant", [np.zeros((5, 3), int), np.ones((5, 3), bool), np.full((5, 3), "a")]
)
def test_constant_columns_get_no_arc(constant):
    assert bdeu_search(constant) == k2(constant, [0, 1, 2]) == ((), (), ())
    assert bic_search(constant, [0, 1, 0, 1, 1]) == ((), (), (), ())
    bit = np.arange(40) % 2
    constant_column = [constant[0, 0]] * 40
    X = pd.DataFrame({"a": constant_column, "b": bit, "c": bit, "d": constant_column})
    assert bdeu_search(X) == ((), (), (1,), ())
    assert k2(X, range(4)) == ((), (), (1,), ())


def test_declared_values_count():
    """Two columns whose dtype says that they could have another value are scored with both."""
    X = pd.DataFrame({v: pd.Categorical(["a"] * 5, ["a", "b"]) for v in range(2)})
    counts = DirichletCounts(np.zeros((5, 2), int), [2, 2])
    gain = counts.bdeu(1, frozenset([0]), 10) - counts.bdeu(1, frozenset(), 10)
    assert bdeu_search(X) == (((), (0,)) if gain > 0 else ((), ()))


@pytest.mark.filterwarnings("ignore:column 'x.' counts as categories")
def test_identifiers_take_little_memory():
    """A table of three of them would have 2.7e10 entries."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(3000) for _ in range(3)])
    tracemalloc.start()
    pair = X[:, :2]
    assert k2(pair, [0, 1]) == ((), (0,))
    assert bdeu_search(pair) == ((), (0,))
    assert chow_liu(pair) == ((), (0,))
    assert len(k2(X, [2, 0, 1])) == 3
    assert len(tan(X, X[:, 0] % 2)) == 4
    assert bic_search(X, X[:, 0] % 2) == ((),) * 4
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 700e6


def test_k2_counts_large_tables_without_them(monkeypatch, alarm):
    rows = alarm.sample(300, np.random.default_rng(5))[:, :12]
    expected = k2(rows, range(12))
    monkeypatch.setattr(sys.modules["lib.structures.k2"], "DENSE", 0)
    assert k2(rows, range(12)) == expected


def test_many_parents_do_not_wrap_round():
    """Of 80 bits the first would be multiplied by 2 ** 79, which an integer does not hold."""
    codes = np.zeros((64, 80), int)
    codes[:, 0] = np.arange(64) % 2
    for counts in (JointCounts(codes, [2] * 80), DirichletCounts(codes, [2] * 80)):
        assert counts._counts(frozenset(range(80)), frozenset()).tolist() == [32, 32]


@pytest.mark.parametrize("size", [1e7, 1e12, 1e300])
def test_scores_of_extreme_priors(size):
    codes = np.random.default_rng(0).integers(0, 3, (50, 3))
    counts = DirichletCounts(codes, [3] * 3)
    for parents in ((), (1,), (1, 2)):
        cells = 3 ** (len(parents) + 1)
        exact = sequential_log_probability(codes, [3] * 3, 0, parents, size / cells)
        assert counts.bdeu(0, frozenset(parents), size) == pytest.approx(exact, abs=1e-10)
        assert np.isfinite(counts.bdeu(0, frozenset(parents), 1e-320))
    assert bdeu_search(codes, equivalent_sample_size=1e300) == ((), (), ())


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([0, 1], "variable 2 is there 0 times"),
        ([0, 1, 2, 1], "variable 1 is there 2 times"),
        ([0, 1, 2, 7], "each variable of order must be an integer from 0 to 2; got 7"),
    ],
)
def test_order_must_hold_all_variables(order, words):
    with pytest.raises(ValueError, match=words):
        k2(np.zeros((5, 3), dtype=int), order)


def test_bad_searches():
    rows = np.zeros((5, 2))
    with pytest.raises(ValueError, match="cycle"):
        bdeu_search(rows, start=((1,), (0,)))
    with pytest.raises(ValueError, match="equivalent_sample_size"):
        bdeu_search(rows, equivalent_sample_size=0)
    with pytest.raises(ValueError, match="row 0, column 1 is missing"):
        k2([[0, np.nan], [1, 1]], [0, 1])
