"""3-SAT as a search for the parameters of largest conditional likelihood (Greiner, Su, Shen & Zhou, Theorem 2).

A formula is a sequence of clauses, a clause three non-zero integers over different variables: +i stands for x_i and -i
for its negation (DIMACS).
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from lib.bayes_net import Cases, Network, ascend
from lib.trials.context import check_workers
from lib.trials.legacy import keyed_seed, run_trials
from lib.validation import check_choice, check_generator, check_integer, check_real

MAX_VARIABLES = 20
MAX_DRAWS = 10_000
METHODS = ("cg", "lbfgs")
# deviation of the softmax parameters at a random start: at 0.01 all starts end alike, and of easy formulas fewer starts
# decide at 0.3, 1 and 3 than at 0.1
SPREAD = 0.1

# no parameters have a larger sum of log conditional likelihoods if the formula is unsatisfiable: see `Reduction`
UNSATISFIABLE_BOUND = -2 * math.log(2)
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Reduction:
    """The network and the sample that a formula of n variables and K clauses becomes (Figure 1 and Table I).

    Each of the first K rows of `codes` holds the three values that falsify one clause, with label 0; the last has the
    label 1 and nothing else. If the formula is satisfiable, the sum of the log conditional likelihoods can be brought
    as near to 0 as one likes; if not, it is at most -2 ln 2, whatever the network.

    Attributes
    ----------
    formula : tuple of tuple of int
    parents : tuple of tuple of int
        Parents of each variable, ascending. Variable 0 is A, the class; then X_1 to X_n, C_1 to C_K, D_2 to D_{K-1}.
        D_1 is C_1 and D_K is A; so with a single clause A is C_1, and there is neither C nor D.
    names : tuple of str
    codes : ndarray of shape (K + 1, n_variables), int8
        -1 where a variable is not observed.

    Notes
    -----
    The paper's proof has a score of exactly 0 on the satisfiable side. No parameters with P(gamma_j) > 0 for the
    falsifying rows gamma_j attain it: P(+a) = 1 forbids P(-a | gamma_j) = 1. Those of the proof make P(gamma_j) = 0.
    They attain it if a condition on X_i replaces its table (as the limit of positive tables does); otherwise 0 is a
    supremum, and the other side needs a gap, which the proof does not give. This one is ours.

    For events N, G and H with P(G), P(H) > 0: P(N | G) P(N | H) <= P(N | G or H). Within G or H, with g = P(G),
    h = P(H), p = P(N | G) and q = P(N | H): if g >= q, then P(N) >= g p >= p q, and likewise if h >= p; otherwise
    P(not N) <= g (1 - p) + h (1 - q) <= q (1 - p) + p (1 - q) = 1 - p q - (1 - p)(1 - q). If no assignment satisfies
    the formula, every one has some gamma_j, so that the product of all P(-a | gamma_j) is at most P(-a), and the
    conditional likelihood of the sample at most P(-a) P(+a) <= 1/4. If some assignment violates one clause only, 1/4 is
    the least upper bound: bring that assignment's probability near 1, and let the clause's C be true with 1/2.
    """

    formula: tuple
    parents: tuple
    names: tuple
    codes: np.ndarray


def check_formula(formula):
    """Return `formula` as a tuple of tuples of int, or raise a ValueError that names the wrong clause."""
    clauses = list(formula)
    if not clauses:
        raise ValueError("formula must hold at least one clause; got none")
    return tuple(_checked_clause(number, clause) for number, clause in enumerate(clauses, start=1))


def satisfying_assignment(formula):
    """The values of x_1 to x_n of one satisfying assignment, by enumeration.

    Parameters
    ----------
    formula : sequence of clauses
        Over at most 20 variables.

    Returns
    -------
    tuple of bool, or None if no assignment satisfies the formula
    """
    formula = check_formula(formula)
    n = check_integer("the number of variables", _n_variables(formula), 3, MAX_VARIABLES)
    rows = np.arange(2**n)
    for clause in formula:
        rows = rows[(rows & _bits(clause)) != _bits(literal for literal in clause if literal < 0)]
    return tuple(bool(rows[0] >> i & 1) for i in range(n)) if len(rows) else None


def random_formula(n_variables, n_clauses, rng, satisfiable=None):
    """Draw a formula of distinct clauses, all equally likely.

    Parameters
    ----------
    n_variables : int, 3 to 20
    n_clauses : int, 1 to 8 times the number of triples of variables
    rng : numpy.random.Generator
    satisfiable : bool, optional
        Draw again until the formula is, or is not, satisfiable.

    Returns
    -------
    tuple of clauses
    """
    triples = list(combinations(range(1, check_integer("n_variables", n_variables, 3, MAX_VARIABLES) + 1), 3))
    # an assignment violates one clause of each triple, and each clause excludes an eighth of the assignments
    low, high = 8 if satisfiable is False else 1, (7 if satisfiable else 8) * len(triples)
    check_integer("n_clauses", n_clauses, low, high)
    check_generator("rng", rng)
    for _ in range(MAX_DRAWS):
        drawn = rng.choice(8 * len(triples), n_clauses, replace=False)
        formula = tuple(_signed(triples[i // 8], i % 8) for i in drawn.tolist())
        if satisfiable is None or (satisfying_assignment(formula) is not None) == satisfiable:
            return formula
    kind = "satisfiable" if satisfiable else "unsatisfiable"
    raise ValueError(
        f"no {kind} formula of {n_variables} variables and {n_clauses} clauses in {MAX_DRAWS} draws; "
        f"ask for {'fewer' if satisfiable else 'more'} clauses"
    )


def unsatisfiable_formula():
    """The smallest unsatisfiable formula: all 8 clauses over three variables."""
    return tuple(_signed((1, 2, 3), signs) for signs in range(8))


def near_miss_formula(assignment=(True, True, True)):
    """The smallest unsatisfiable formula less one clause, so that only `assignment` of three values satisfies it."""
    return tuple(clause for clause in unsatisfiable_formula() if _satisfies(assignment, clause))


def reduction(formula):
    """The network and the incomplete sample of the proof of Theorem 2.

    Returns
    -------
    Reduction
    """
    formula = check_formula(formula)
    n, k = _n_variables(formula), len(formula)
    clauses = [tuple(sorted(map(abs, clause))) for clause in formula]
    if k == 1:
        parents, names = clauses, ["A"]
    else:
        chain = [n + 1, *range(n + k + 1, n + 2 * k - 1)]
        links = [tuple(sorted((n + j, d))) for j, d in zip(range(2, k + 1), chain, strict=True)]
        parents = [links[-1], *clauses, *links[:-1]]
        names = ["A", *(f"C{j}" for j in range(1, k + 1)), *(f"D{j}" for j in range(2, k))]
    parents[1:1] = [()] * n
    names[1:1] = [f"X{i}" for i in range(1, n + 1)]
    return Reduction(formula, tuple(parents), tuple(names), _queries(formula, len(parents)))


def proof_tables(reduction, assignment, doubt=0.0):
    """The tables of the proof's "if" direction: the clauses' disjunctions, conjunctions, and the assignment.

    Parameters
    ----------
    reduction : Reduction
    assignment : sequence of bool
        A value for each of x_1 to x_n, satisfying or not.
    doubt : float, 0 to 1
        Probability of the other value of each x_i. At 0 the rows that falsify a satisfied clause have probability 0.
        If the assignment satisfies the formula, the sum of the log conditional likelihoods is at least n ln(1 - doubt).

    Returns
    -------
    list of ndarray, one a variable, of shape (2,) * n_parents + (2,)
        P(variable | parents).
    """
    doubt = check_real("doubt", doubt, 0, 1)
    n = _n_variables(reduction.formula)
    if len(assignment) != n:
        raise ValueError(f"assignment must hold {n} values, one a variable of the formula; got {len(assignment)}")
    positive = [np.where(value, 1 - doubt, doubt) for value in assignment]
    disjunctions = [_disjunction(clause) for clause in reduction.formula]
    conjunctions = [np.array([[0.0, 0.0], [0.0, 1.0]])] * (len(disjunctions) - 1)
    if not conjunctions:
        return [_table(p) for p in (*disjunctions, *positive)]
    return [_table(p) for p in (conjunctions[0], *positive, *disjunctions, *conjunctions[1:])]


def violation_score(n_violated):
    """The sum of log conditional likelihoods that an assignment which violates m clauses can be given.

    Its probability is brought near 1, and the probability of A given it to 1 / (m + 1) by the tables of those clauses.

    Returns
    -------
    float
        m ln m - (m + 1) ln(m + 1): 0 for m = 0, and `UNSATISFIABLE_BOUND` for m = 1.
    """
    m = check_integer("n_violated", n_violated, 0)
    return m * math.log(max(m, 1)) - (m + 1) * math.log(m + 1)


def satisfiability_experiment(
    formulas, n_starts=20, seed=0, n_jobs=1, method="cg", max_iterations=200, spread=SPREAD, engine="local"
):
    """Which starts of ELR find out that a formula is satisfiable.

    ELR climbs the conditional likelihood of each formula's network and sample from random softmax parameters.

    Parameters
    ----------
    formulas : sequence of formulas
    n_starts : int, at least 1
        A start's numbers depend on `seed`, its number and the formula's, not on how many there are.
    seed : int, at least 0
    n_jobs : int
    method : "cg" or "lbfgs"
        As of `lib.bayes_net.ascend`.
    max_iterations : int, at least 1
    spread : float, above 0
        Deviation of the softmax parameters at the start.
    engine : str
        As in `cia_learning_curves`.

    Returns
    -------
    DataFrame
        formula (number), n_variables, n_clauses, satisfiable (by enumeration), start, log_conditional_likelihood (the
        sum over the K + 1 rows), n_iterations, bound (-2 ln 2), decides (whether the sum is above the bound by more
        than rounding, which proves the formula satisfiable).
    """
    formulas = [check_formula(formula) for formula in formulas]
    if not formulas:
        raise ValueError("formulas must hold at least one formula; got none")
    check_integer("n_starts", n_starts, 1)
    check_workers(n_jobs, engine)
    check_choice("method", method, METHODS)
    check_integer("max_iterations", max_iterations, 1)
    check_real("spread", spread, 0, open_low=True)
    known = [(i, _n_variables(f), len(f), satisfying_assignment(f) is not None) for i, f in enumerate(formulas)]
    climb = _Climb(tuple(formulas), method, max_iterations, spread)
    climbs = run_trials(climb, n_starts, seed, n_jobs, engine, 0.5, "satisfiability")
    frame = pd.DataFrame(known, columns=["formula", "n_variables", "n_clauses", "satisfiable"]).merge(climbs)
    frame["bound"] = UNSATISFIABLE_BOUND
    frame["decides"] = frame["log_conditional_likelihood"] > UNSATISFIABLE_BOUND + ROUNDING
    return frame


@dataclass(frozen=True)
class _Climb:
    formulas: tuple
    method: str
    max_iterations: int
    spread: float

    def __call__(self, index, seed):
        rows = []
        for number, formula in enumerate(self.formulas):
            ascent = self._ascent(formula, np.random.default_rng(keyed_seed(seed, number)))
            rows.append((number, index, (len(formula) + 1) * ascent.path[-1], len(ascent.path) - 1))
        return pd.DataFrame(rows, columns=["formula", "start", "log_conditional_likelihood", "n_iterations"])

    def _ascent(self, formula, rng):
        made = reduction(formula)
        network = Network(made.parents, [2] * len(made.parents))
        start = self.spread * rng.standard_normal(network.n_parameters)
        return ascend(Cases.from_rows(network, made.codes), start, self.max_iterations, method=self.method)


def _checked_clause(number, clause):
    try:
        literals = tuple(check_integer("literal", literal, -np.inf) for literal in clause)
    except (TypeError, ValueError):
        raise ValueError(f"clause {number} must hold three integers; got {clause!r}") from None
    if len(literals) != 3:
        raise ValueError(f"clause {number} must hold three literals; got {clause!r}")
    if 0 in literals:
        raise ValueError(f"clause {number} must hold +i for x_i or -i for its negation, and no 0; got {clause!r}")
    if len(set(map(abs, literals))) < 3:
        raise ValueError(f"clause {number} must be over three different variables; got {clause!r}")
    return literals


def _n_variables(formula):
    return max(abs(literal) for clause in formula for literal in clause)


def _bits(literals):
    return sum(1 << abs(literal) - 1 for literal in literals)


def _signed(variables, signs):
    return tuple(-v if signs >> i & 1 else v for i, v in enumerate(variables))


def _satisfies(assignment, clause):
    return any(bool(assignment[abs(literal) - 1]) == (literal > 0) for literal in clause)


def _queries(formula, n_variables):
    codes = np.full((len(formula) + 1, n_variables), -1, dtype=np.int8)
    codes[:, 0] = [0] * len(formula) + [1]
    for row, clause in zip(codes, formula, strict=False):
        for literal in clause:
            row[abs(literal)] = literal < 0
    return codes


def _disjunction(clause):
    """P(true | values of the clause's variables, in ascending order), shape (2, 2, 2)."""
    table = np.ones((2, 2, 2))
    table[tuple(int(literal < 0) for literal in sorted(clause, key=abs))] = 0
    return table


def _table(positive):
    return np.stack([1 - positive, positive], axis=-1)
