import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.bayes_net import Cases, Network, satisfiability
from lib.bayes_net.satisfiability import (
    UNSATISFIABLE_BOUND,
    check_formula,
    proof_tables,
    random_formula,
    reduction,
    satisfying_assignment,
    unsatisfiable_formula,
    violation_score,
)

# the clauses of the proof's example, C1 = x1 or not x2 or x3 and C2 = not x1 or not x3 or x4
EXAMPLE = ((1, -2, 3), (-1, -3, 4))
NEAR_MISS = unsatisfiable_formula()[:-1]  # which only true values of all three variables satisfy
SEEDS = st.integers(0, 2**32 - 1)


def assignments(n):
    return list(itertools.product([False, True], repeat=n))


def satisfies(formula, assignment):
    return all(any(assignment[abs(v) - 1] == (v > 0) for v in clause) for clause in formula)


def joint(parents, tables):
    """P(all variables), one axis each."""
    whole = np.ones((2,) * len(parents))
    for v, (ps, table) in enumerate(zip(parents, tables, strict=True)):
        family = (*ps, v)
        shape = [2 if u in family else 1 for u in range(len(parents))]
        whole = whole * table.transpose(np.argsort(family)).reshape(shape)
    return whole


def held(row):
    """Index of the cells that agree with the observed values other than the label's."""
    return (slice(None), *(slice(None) if value < 0 else int(value) for value in row[1:]))


def conditional_likelihoods(made, tables):
    """P(label | observed values) of each row, by the definition."""
    whole = joint(made.parents, tables)
    sums = [whole[held(row)].reshape(2, -1).sum(axis=1) for row in made.codes]
    return np.array([one[row[0]] / one.sum() for one, row in zip(sums, made.codes, strict=True)])


def clamped_likelihoods(made, tables):
    """The same, each observed root's table replaced by its value: defined where the values have probability 0."""
    found = []
    for row in made.codes:
        clamped = [tables[0]]
        clamped += [table if value < 0 else np.eye(2)[value] for value, table in zip(row[1:], tables[1:], strict=True)]
        found.append(joint(made.parents, clamped)[row[0]].sum())
    return np.array(found)


def random_tables(made, rng):
    positive = [rng.beta(0.3, 0.3, (2,) * len(ps)) for ps in made.parents]
    return [np.stack([1 - p, p], axis=-1).clip(1e-6) for p in positive]


class TestFormulas:
    def test_subsets_of_the_8_clauses_are_satisfiable_unless_they_are_all(self):
        for chosen in itertools.product([False, True], repeat=8):
            formula = tuple(itertools.compress(unsatisfiable_formula(), chosen))
            if formula:
                found = satisfying_assignment(formula)
                assert (found is None) == all(chosen)
                assert found is None or satisfies(formula, found)

    @given(SEEDS, st.integers(3, 7), st.integers(1, 8))
    @settings(max_examples=50)
    def test_satisfying_assignment_is_that_of_plain_python(self, seed, n, clauses_a_variable):
        formula = random_formula(n, min(clauses_a_variable * n, 8 * math.comb(n, 3)), np.random.default_rng(seed))
        n = max(abs(v) for clause in formula for v in clause)
        exact = [a for a in assignments(n) if satisfies(formula, a)]
        found = satisfying_assignment(formula)
        assert found in exact if exact else found is None

    def test_of_20_variables(self):
        planted = tuple(bool(i % 3) for i in range(20))
        clauses = [(i, j, k) if planted[k - 1] else (i, j, -k) for i, j, k in itertools.combinations(range(1, 21), 3)]
        assert satisfies(clauses, satisfying_assignment(clauses))

    def test_a_near_miss_has_one_satisfying_assignment(self):
        assert [a for a in assignments(3) if satisfies(NEAR_MISS, a)] == [(True,) * 3]
        assert satisfying_assignment(NEAR_MISS) == (True,) * 3

    @pytest.mark.parametrize("satisfiable", [None, False, True])
    def test_random_formulas(self, satisfiable):
        rng = np.random.default_rng(0)
        drawn = [random_formula(5, 24, rng, satisfiable) for _ in range(20)]
        for formula in drawn:
            assert check_formula(formula) == formula
            assert len(set(formula)) == len(formula) == 24
            assert all(0 < abs(v) <= 5 for clause in formula for v in clause)
        found = {satisfying_assignment(formula) is not None for formula in drawn}
        assert found == ({False, True} if satisfiable is None else {satisfiable})

    def test_every_clause_is_drawn_alike(self):
        rng, draws = np.random.default_rng(0), 1000
        counts = pd.Series([c for _ in range(draws) for c in random_formula(4, 8, rng)]).value_counts()
        assert len(counts) == 32
        np.testing.assert_allclose(counts, draws / 4, atol=5 * np.sqrt(draws * 3 / 16))

    def test_depends_on_the_generator(self):
        one, again, other = (random_formula(6, 10, np.random.default_rng(seed)) for seed in (0, 0, 1))
        assert one == again != other

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda rng: random_formula(2, 1, rng), "n_variables must be an integer from 3 to 20; got 2"),
            (lambda rng: random_formula(3, 0, rng), "n_clauses must be an integer from 1 to 8; got 0"),
            (lambda rng: random_formula(4, 33, rng), "n_clauses must be an integer from 1 to 32; got 33"),
            (lambda rng: random_formula(9, 8, rng, False), "n_clauses=8 gave no formula with satisfiable=False"),
            (lambda rng: satisfying_assignment([(1, 2, 21)]), "the number of variables must .* got 21"),
            (lambda rng: check_formula(()), "formula must hold at least one clause; got none"),
            (lambda rng: check_formula([(1, 2, 3), (1, 2)]), r"clause 2 must hold .* got \(1, 2\)"),
            (lambda rng: satisfying_assignment([(1, 2, 0)]), r"clause 1 must hold .* got \(1, 2, 0\)"),
            (lambda rng: reduction([(1, -1, 2)]), r"clause 1 must hold .* got \(1, -1, 2\)"),
        ],
    )
    def test_errors(self, call, message, monkeypatch):
        monkeypatch.setattr(satisfiability, "MAX_DRAWS", 20)
        with pytest.raises(ValueError, match=message):
            call(np.random.default_rng(0))

    def test_arrays_will_do(self):
        assert check_formula(np.array(EXAMPLE)) == EXAMPLE


class TestReduction:
    def test_of_the_example(self):
        made = reduction(EXAMPLE)
        assert made.formula == EXAMPLE
        assert made.names == ("A", "X1", "X2", "X3", "X4", "C1", "C2")
        assert made.parents == ((5, 6), (), (), (), (), (1, 2, 3), (1, 3, 4))
        assert made.codes.dtype == np.int8
        assert made.codes.tolist() == [[0, 0, 1, 0, -1, -1, -1], [0, 1, -1, 1, 0, -1, -1], [1, *[-1] * 6]]

    def test_of_one_clause(self):
        made = reduction([(3, -1, 2)])
        assert made.names == ("A", "X1", "X2", "X3")
        assert made.parents == ((1, 2, 3), (), (), ())
        assert made.codes.tolist() == [[0, 1, 0, 0], [1, -1, -1, -1]]

    @given(SEEDS, st.integers(3, 8), st.integers(2, 8))
    @settings(max_examples=50)
    def test_is_that_of_figure_1(self, seed, n, k):
        made = reduction(random_formula(n, k, np.random.default_rng(seed)))
        n = max(abs(v) for clause in made.formula for v in clause)
        parents = {name: [made.names[p] for p in ps] for name, ps in zip(made.names, made.parents, strict=True)}
        d = {1: "C1", k: "A"}
        assert len(made.names) == len(set(made.names)) == n + 2 * k - 1
        assert all(list(ps) == sorted(ps) for ps in made.parents)
        for i in range(1, n + 1):
            assert parents.pop(f"X{i}") == []
        for j in range(1, k + 1):
            assert set(parents.pop(f"C{j}")) == {f"X{abs(v)}" for v in made.formula[j - 1]}
        for j in range(2, k + 1):
            assert set(parents.pop(d.get(j, f"D{j}"))) == {d.get(j - 1, f"D{j - 1}"), f"C{j}"}
        assert not parents

    @given(SEEDS, st.integers(3, 8), st.integers(1, 8))
    @settings(max_examples=50)
    def test_has_the_queries_of_table_1(self, seed, n, k):
        made = reduction(random_formula(n, k, np.random.default_rng(seed)))
        n = max(abs(v) for clause in made.formula for v in clause)
        assert made.codes.shape == (k + 1, len(made.names))
        assert made.codes[:, 0].tolist() == [0] * k + [1]
        assert (made.codes[-1, 1:] == -1).all()
        assert (made.codes[:, n + 1 :] == -1).all()
        for row, clause in zip(made.codes, made.formula, strict=False):
            observed = {int(v): bool(row[v]) for v in np.flatnonzero(row[1:] >= 0) + 1}
            assert observed == {abs(v): v < 0 for v in clause}  # the values that falsify the clause

    @given(SEEDS, st.integers(1, 6))
    @settings(max_examples=20)
    def test_is_acyclic(self, seed, k):
        made = reduction(random_formula(5, k, np.random.default_rng(seed)))
        left, known = set(range(len(made.parents))), set()
        while left:
            ready = {v for v in left if known.issuperset(made.parents[v])}
            assert ready
            known, left = known | ready, left - ready


class TestProofTables:
    def test_of_the_example(self):
        tables = proof_tables(reduction(EXAMPLE), (True, False, False, True))
        assert [table.tolist() for table in tables[1:5]] == [[0, 1], [1, 0], [1, 0], [0, 1]]
        assert tables[5][..., 1].ravel().tolist() == [1, 1, 0, 1, 1, 1, 1, 1]  # as printed in the proof
        assert tables[0][..., 1].ravel().tolist() == [0, 0, 0, 1]

    @pytest.mark.parametrize("k", [1, 2, 5])
    def test_are_deterministic_and_normalised(self, k):
        made = reduction(random_formula(5, k, np.random.default_rng(k)))
        assignment = satisfying_assignment(made.formula)
        tables = proof_tables(made, assignment)
        for ps, table in zip(made.parents, tables, strict=True):
            assert table.shape == (2,) * (len(ps) + 1)
            assert set(np.unique(table)) == {0, 1}
            assert (table.sum(axis=-1) == 1).all()

    @given(SEEDS, st.integers(3, 5), st.integers(1, 5))
    @settings(max_examples=30)
    def test_score_exactly_0_if_satisfied_and_not_above_0_otherwise(self, seed, n, k):
        rng = np.random.default_rng(seed)
        made = reduction(random_formula(n, k, rng))
        n = max(abs(v) for clause in made.formula for v in clause)
        for assignment in rng.permutation(assignments(n))[:3].tolist():
            likelihoods = clamped_likelihoods(made, proof_tables(made, assignment))
            assert (likelihoods[:-1] == 1).all()  # the falsifying rows, whatever the assignment
            assert likelihoods[-1] == satisfies(made.formula, assignment)

    def test_of_the_near_miss_score_exactly_0(self):
        made = reduction(NEAR_MISS)
        assert np.log(clamped_likelihoods(made, proof_tables(made, (True,) * 3))).sum() == 0

    @given(SEEDS, st.floats(0.01, 0.99), st.integers(1, 5))
    @settings(max_examples=20)
    def test_with_doubt_the_rows_have_their_likelihood_by_definition(self, seed, doubt, k):
        made = reduction(random_formula(4, k, np.random.default_rng(seed)))
        best = satisfying_assignment(made.formula)
        tables = proof_tables(made, best, doubt)
        exact = conditional_likelihoods(made, tables)
        np.testing.assert_allclose(exact, clamped_likelihoods(made, tables), rtol=1e-12)
        np.testing.assert_allclose(exact[:-1], 1, rtol=1e-12)
        wrong = [np.sum(np.array(a) != best) for a in assignments(len(best)) if satisfies(made.formula, a)]
        assert exact[-1] == pytest.approx(sum(doubt**w * (1 - doubt) ** (len(best) - w) for w in wrong))
        assert np.log(exact).sum() >= len(best) * np.log(1 - doubt) - 1e-12

    def test_without_doubt_the_falsifying_rows_have_probability_0(self):
        made = reduction(EXAMPLE)
        whole = joint(made.parents, proof_tables(made, satisfying_assignment(EXAMPLE)))
        assert [whole[held(row)].sum() for row in made.codes] == [0, 0, 1]


class TestBounds:
    @given(SEEDS)
    @settings(max_examples=100)
    def test_no_distribution_beats_that_of_an_unsatisfiable_formula(self, seed):
        """P(a, x) of any form, of which those of networks are some."""
        rng = np.random.default_rng(seed)
        n, k = [(3, 8), (4, 24), (5, 50)][seed % 3]
        formula = random_formula(n, k, rng, satisfiable=False)
        weights = rng.dirichlet(np.full(2**n, 10 ** rng.uniform(-1.5, 1))) + 1e-12
        positive = rng.beta(*rng.uniform(0.05, 2, 2), 2**n)
        x = np.array(assignments(n))
        held_rows = np.array([[all(a[abs(v) - 1] != (v > 0) for v in clause) for a in x] for clause in formula])
        negative = 1 - (held_rows @ (weights * positive)) / (held_rows @ weights)
        score = np.log(negative.clip(1e-300)).sum() + np.log(weights @ positive / weights.sum())
        assert score <= UNSATISFIABLE_BOUND + 1e-9
        assert negative.prod() <= weights @ (1 - positive) / weights.sum() + 1e-9

    @given(st.lists(st.integers(0, 30), min_size=3, max_size=3), st.lists(st.integers(0, 30), min_size=3, max_size=3))
    @settings(max_examples=200)
    def test_lemma(self, n, not_n):
        """P(N | G) P(N | H) <= P(N | G or H), from the masses of N and of not N in G only, in H only and in both."""
        g, h, both = np.add(n, not_n).tolist()
        if g + both and h + both:
            assert (n[0] + n[2]) * (n[1] + n[2]) * (g + h + both) <= sum(n) * (g + both) * (h + both)

    def test_networks_of_the_smallest_unsatisfiable_formula_keep_to_it(self):
        made, rng = reduction(unsatisfiable_formula()), np.random.default_rng(0)
        for _ in range(5):
            likelihoods = conditional_likelihoods(made, random_tables(made, rng))
            assert np.log(likelihoods).sum() < UNSATISFIABLE_BOUND

    def test_is_reached(self):
        made = reduction(unsatisfiable_formula())
        tables = proof_tables(made, (True, True, True), doubt=1e-9)
        clause = made.names.index(f"C{1 + made.formula.index((-1, -2, -3))}")
        tables[clause][1, 1, 1] = 0.5
        score = np.log(conditional_likelihoods(made, tables)).sum()
        assert score == pytest.approx(UNSATISFIABLE_BOUND, abs=1e-7)
        assert score < UNSATISFIABLE_BOUND == pytest.approx(-1.386294361)


class TestViolationScore:
    @given(SEEDS)
    @settings(max_examples=20)
    def test_is_reached_by_the_assignment(self, seed):
        rng = np.random.default_rng(seed)
        made = reduction(random_formula(3, 6, rng))
        assignment = rng.integers(0, 2, 3)
        violated = [j for j, clause in enumerate(made.formula, 1) if not satisfies([clause], assignment)]
        assert len(violated) <= 1  # distinct clauses over the same variables
        assert self.score(made, assignment, violated) == pytest.approx(violation_score(len(violated)), abs=1e-6)

    def test_of_several_clauses(self):
        made = reduction([(1, 2, 3), (1, 2, 4), (2, 3, 4), (-1, -3, 4)])
        assert self.score(made, (0, 0, 0, 0), [1, 2, 3]) == pytest.approx(violation_score(3), abs=1e-6)

    def test_by_hand(self):
        assert violation_score(0) == 0
        assert violation_score(1) == pytest.approx(UNSATISFIABLE_BOUND)
        assert violation_score(2) == pytest.approx(2 * math.log(2 / 3) + math.log(1 / 3))

    @staticmethod
    def score(made, assignment, violated):
        """With C_j true whatever the values for all but the first violated clause, true with 1 / (m + 1) for that."""
        tables = proof_tables(made, assignment, doubt=1e-9)
        for j in violated:
            values = tuple(int(v < 0) for v in sorted(made.formula[j - 1], key=abs))
            p = 1 / (len(violated) + 1) if j == violated[0] else 1
            tables[made.names.index(f"C{j}")][values] = 1 - p, p
        return np.log(conditional_likelihoods(made, tables)).sum()


class TestOfBayesNet:
    """The message passing of lib.bayes_net against the joint distribution."""

    @staticmethod
    def score(made, tables):
        network = Network(made.parents, [2] * len(made.parents))
        beta = np.log(network.normalised(network.flat(tables)))
        return len(made.codes) * Cases.from_rows(network, made.codes).conditional(beta)[0]

    @pytest.mark.parametrize("k", [1, 2, 5])
    def test_scores_by_definition(self, k):
        rng = np.random.default_rng(k)
        made = reduction(random_formula(4, k, rng))
        tables = random_tables(made, rng)
        assert self.score(made, tables) == pytest.approx(np.log(conditional_likelihoods(made, tables)).sum())

    @pytest.mark.parametrize("formula", [EXAMPLE, NEAR_MISS])
    def test_scores_0_with_the_tables_of_the_proof(self, formula):
        made = reduction(formula)
        assert self.score(made, proof_tables(made, satisfying_assignment(formula))) == pytest.approx(0, abs=1e-12)
