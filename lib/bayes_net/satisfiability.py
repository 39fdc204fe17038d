"""3-SAT as a search for the parameters of largest conditional likelihood (Greiner, Su, Shen & Zhou, Theorem 2).

A formula is a sequence of clauses, a clause three non-zero integers over different variables: +i stands for x_i and -i
for its negation (DIMACS).
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from lib.validation import check_integer

MAX_VARIABLES = 20
MAX_DRAWS = 10_000
UNSATISFIABLE_BOUND = -2 * math.log(2)  # no parameters have a larger score if the formula is unsatisfiable


class Reduction(NamedTuple):
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
    """Return `formula` as a tuple of tuples of int; ValueError if it is none."""
    clauses = tuple(tuple(map(int, clause)) for clause in formula)
    for number, clause in enumerate(clauses, start=1):
        if len(clause) != 3 or 0 in clause or len(set(map(abs, clause))) < 3:
            raise ValueError(f"clause {number} must hold +i or -i of three different variables i; got {clause}")
    if not clauses:
        raise ValueError("formula must hold at least one clause; got none")
    return clauses


def satisfying_assignment(formula):
    """Return the values of x_1 to x_n of one satisfying assignment, by enumeration, or None; n is at most 20."""
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
    check_integer("n_clauses", n_clauses, 1, 8 * len(triples))
    for _ in range(MAX_DRAWS):
        numbers = rng.choice(8 * len(triples), n_clauses, replace=False)
        formula = tuple(_signed(triples[i // 8], i % 8) for i in numbers.tolist())
        if satisfiable is None or (satisfying_assignment(formula) is not None) == satisfiable:
            return formula
    raise ValueError(f"n_clauses={n_clauses} gave no formula with satisfiable={satisfiable} in {MAX_DRAWS} draws")


def unsatisfiable_formula():
    """Return the smallest unsatisfiable formula: all 8 clauses over three variables; without the last, TTT does."""
    return tuple(_signed((1, 2, 3), signs) for signs in range(8))


def reduction(formula):
    """Return the `Reduction` of the proof of Theorem 2."""
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
    codes = np.full((k + 1, len(parents)), -1, dtype=np.int8)
    codes[:, 0] = [0] * k + [1]
    for row, clause in zip(codes, formula, strict=False):
        row[np.abs(clause)] = np.less(clause, 0)
    return Reduction(formula, tuple(parents), tuple(names), codes)


def proof_tables(reduction, assignment, doubt=0.0):
    """Return the tables of the proof's "if" direction: the clauses' disjunctions, conjunctions, and the assignment.

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
    roots = [np.where(value, 1 - doubt, doubt) for value in assignment]
    disjunctions = [np.ones((2, 2, 2)) for _ in reduction.formula]
    for table, clause in zip(disjunctions, reduction.formula, strict=True):
        table[tuple(int(literal < 0) for literal in sorted(clause, key=abs))] = 0
    conjunctions = [np.array([[0.0, 0.0], [0.0, 1.0]])] * (len(disjunctions) - 1)
    first, *others = [*conjunctions[:1], *disjunctions, *conjunctions[1:]]
    return [np.stack([1 - positive, positive], axis=-1) for positive in (first, *roots, *others)]


def violation_score(n_violated):
    """Return the score that an assignment which violates m clauses can be given.

    Its probability is brought near 1, and the probability of A given it to 1 / (m + 1) by the tables of those clauses:
    m ln m - (m + 1) ln(m + 1), which is 0 for m = 0 and `UNSATISFIABLE_BOUND` for m = 1.
    """
    m = check_integer("n_violated", n_violated, 0)
    return m * math.log(max(m, 1)) - (m + 1) * math.log(m + 1)


def _n_variables(formula):
    return max(abs(literal) for clause in formula for literal in clause)


def _bits(literals):
    return sum(1 << abs(literal) - 1 for literal in literals)


def _signed(variables, signs):
    return tuple(-v if signs >> i & 1 else v for i, v in enumerate(variables))
