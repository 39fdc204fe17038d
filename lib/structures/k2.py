"""K2: greedy search for the parents of each variable among those before it in a given order."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from lib.base.compiled import compiled
from lib.base.validation import check_integer
from lib.structures.bic import DECIMALS
from lib.structures.dirichlet import complete_codes

# Entries of a round's table of counts; without a larger one, each candidate is counted by sorting
DENSE = 20_000_000


def k2(X, order, max_parents=4):
    """Parents of each variable by the algorithm K2 of Cooper and Herskovits.

    Each variable starts without parents. Of the variables before it in `order`, the one that raises
    the posterior probability of the structure most becomes a parent, as long as one raises it. All
    tables have uniform priors, and all structures have the same prior probability.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_variables)
        Discrete columns without missing values; floats must be whole numbers.
    order : sequence of int
        All variables, 0 .. n_variables - 1, each once; a parent comes before its children.
    max_parents : int, at least 0
        No variable gets more parents.

    Returns
    -------
    parents : tuple of tuples of int
        Variable v is the one in column v.

    Raises
    ------
    ValueError
        If `order` misses or repeats a variable, `max_parents` is out of range, or `X` has no row,
        or missing values, fractions or infinity somewhere.

    Notes
    -----
    Of parents that are equally good, to 6 decimals, the first one in `order` is taken. All
    candidates of a round are counted in one pass through the rows. A constant column gets no arc.

    References
    ----------
    Cooper & Herskovits (1992), section 3.1.1, the procedure K2, and equation 12.
    """
    codes, sizes = complete_codes(X)
    max_parents = check_integer("max_parents", max_parents, 0)
    order = check_order(order, len(sizes))
    # Candidate 0 is a constant: it adds nothing, so that its score is that of no more parents
    codes = np.insert(codes[:, order], 0, 0, axis=1)
    sizes = [1, *sizes[order]]
    log_factorials = gammaln(np.arange(1, len(codes) + max(sizes) + 1))
    candidates = Candidates.from_codes(codes, sizes)
    parents = [()] * len(order)
    for position, variable in enumerate(order, 1):
        child = Child(codes[:, position], sizes[position])
        chosen = _choose_parents(child, candidates.first(position), log_factorials, max_parents)
        parents[variable] = tuple(sorted(order[k - 1] for k in chosen))
    return tuple(parents)


class Child(NamedTuple):
    """The variable whose parents are sought."""

    codes: np.ndarray  # (n_samples,)
    size: int


class Candidates(NamedTuple):
    """Variables that may become parents, whose values all have a column in one table of counts."""

    columns: np.ndarray  # uint32, (n_samples, n_candidates): the column of each row's value
    starts: (
        np.ndarray
    )  # (n_candidates + 1,): candidate k has columns starts[k] .. starts[k + 1] - 1

    @classmethod
    def from_codes(cls, codes, sizes):
        """Give a column to each value of each variable."""
        starts = np.cumsum([0, *sizes])
        return cls((codes + starts[:-1]).astype(np.uint32), starts)

    def first(self, n):
        """Return the first `n` candidates."""
        return Candidates(self.columns[:, :n], self.starts[: n + 1])

    def join(self, parent_values, k):
        """Number the joint values of the parents and of candidate k, (n_samples,)."""
        size = self.starts[k + 1] - self.starts[k]
        return parent_values * size + self.columns[:, k] - self.starts[k]


def _choose_parents(child, candidates, log_factorials, max_parents):
    """List the candidates that become parents (the procedure K2)."""
    parent_values = np.zeros(len(child.codes), np.int64)  # number of the joint value in each row
    chosen = []
    while len(chosen) < max_parents:
        scores = _scores(parent_values, child, candidates, log_factorials).round(DECIMALS)
        scores[chosen] = -np.inf
        best = scores.argmax()
        if best == 0:
            break
        chosen.append(best)
        # Joint values that do not occur get no number
        _, parent_values = np.unique(candidates.join(parent_values, best), return_inverse=True)
    return chosen


def _scores(parent_values, child, candidates, log_factorials):
    """Return ln P(child | parents and one candidate more) for each candidate, by equation 12.

    With r values of the child, N_jk examples of value k where the parents have joint value j, and
    N_j the sum of these over k, it is the sum over j of

        ln (r - 1)! - ln (N_j + r - 1)! + sum over k of ln N_jk!

    Parameters
    ----------
    parent_values : ndarray of int, shape (n_samples,)
    child : Child
    candidates : Candidates
    log_factorials : ndarray
        ln n! at n.

    Returns
    -------
    scores : ndarray of shape (n_candidates,)
    """
    r = child.size
    n_columns = candidates.starts[-1]
    n_families = (parent_values.max() + 1) * r  # joint values of the parents and the child
    if n_families * n_columns > DENSE:
        return _scores_by_sorting(parent_values, child, candidates, log_factorials)
    # N_jk, where the candidate's value, a part of j, is the column
    counts = np.zeros((n_families, n_columns), np.int32)
    families = (parent_values * r + child.codes).astype(np.uint32)
    _count(families, candidates.columns, counts)
    parent_counts = counts.reshape(-1, r, n_columns).sum(axis=1)
    denominators = log_factorials[parent_counts + r - 1] - log_factorials[r - 1]
    column_scores = log_factorials[counts].sum(axis=0) - denominators.sum(axis=0)
    return np.add.reduceat(column_scores, candidates.starts[:-1])


def _scores_by_sorting(parent_values, child, candidates, log_factorials):
    """Return what `_scores` does, where a table would have many entries, most of them 0.

    Only joint values that occur are counted.
    """
    r = child.size
    scores = np.empty(candidates.columns.shape[1])
    for k in range(len(scores)):
        values = candidates.join(parent_values, k)
        _, values, parent_counts = np.unique(values, return_inverse=True, return_counts=True)
        _, counts = np.unique(values * r + child.codes, return_counts=True)
        denominators = log_factorials[parent_counts + r - 1] - log_factorials[r - 1]
        scores[k] = log_factorials[counts].sum() - denominators.sum()
    return scores


@compiled()
def _count(families, columns, counts):
    """Add the rows to `counts`, in one pass for all candidates."""
    for i in range(len(families)):
        for k in range(columns.shape[1]):
            counts[families[i], columns[i, k]] += 1


def check_order(order, n_variables):
    """Return an order as a list of ints.

    Raises
    ------
    ValueError
        If it misses a variable, repeats one, or has another; the message says which.
    """
    variables = []
    for variable in np.atleast_1d(order).tolist():
        variables.append(check_integer("each variable of order", variable, 0, n_variables - 1))
    for v in range(n_variables):
        n_times = variables.count(v)
        if n_times != 1:
            message = f"variable {v} is there {n_times} times"
            raise ValueError(f"order must have each variable once; {message}")
    return variables
