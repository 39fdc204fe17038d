"""K2: greedy search for the parents of each variable among those before it in a given order."""

import numpy as np
from scipy.special import gammaln

from lib.compiled import compiled
from lib.structures.bic import DECIMALS
from lib.structures.dirichlet import complete_codes
from lib.validation import check_integer

DENSE = 20_000_000  # entries of the table of counts of a round; larger ones are counted without it


def k2(X, order, max_parents=4):
    """Parents of each variable by the algorithm K2 of Cooper and Herskovits.

    Each variable starts without parents; of the variables before it in `order`, the one that raises
    the posterior probability of the structure most becomes a parent, as long as one raises it. All
    tables have uniform priors, all structures the same prior probability.

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
    codes, sizes = np.insert(codes[:, order], 0, 0, axis=1), [1, *sizes[order]]
    starts, logs = np.cumsum([0, *sizes]), gammaln(np.arange(1, len(codes) + max(sizes) + 1))
    places, parents = (codes + starts[:-1]).astype(np.uint32), [()] * len(order)
    for end, child in enumerate(order, 1):
        found = _best_parents(
            codes[:, end], sizes[end], places[:, :end], starts[: end + 1], logs, max_parents
        )
        parents[child] = tuple(sorted(order[p - 1] for p in found))
    return tuple(parents)


def _best_parents(child, size, places, starts, logs, max_parents):
    """Parents among candidates with values at places starts[k] .. starts[k + 1] - 1; the first one means: no more."""
    cells, found = np.zeros(len(child), np.int64), []  # number of the parents' values in each row
    while len(found) < max_parents:
        scores = _scores(cells, child, size, places, starts, logs).round(DECIMALS)
        scores[found] = -np.inf
        best = scores.argmax()
        if best == 0:
            break
        found.append(best)
        values = cells * (starts[best + 1] - starts[best]) + places[:, best] - starts[best]
        cells = np.unique(values, return_inverse=True)[1]  # without those that do not occur
    return found


def _scores(cells, child, size, places, starts, logs):
    """Ln P(child | parents and one candidate more), for each candidate, by equation 12; logs[n] is ln n!."""
    if (cells.max() + 1) * size * starts[-1] > DENSE:
        return _scores_of_many(cells, child, size, places, starts, logs)
    counts = np.zeros(((cells.max() + 1) * size, starts[-1]), np.int32)
    _count((cells * size + child).astype(np.uint32), places, counts)
    of_parents = counts.reshape(-1, size, starts[-1]).sum(axis=1)
    of_places = logs[counts].sum(axis=0) - (logs[of_parents + size - 1] - logs[size - 1]).sum(
        axis=0
    )
    return np.add.reduceat(of_places, starts[:-1])


def _scores_of_many(cells, child, size, places, starts, logs):
    """As `_scores`, for tables of so many entries that most are 0: only the others are counted."""
    scores = np.empty(places.shape[1])
    for k in range(len(scores)):
        values = cells * (starts[k + 1] - starts[k]) + places[:, k] - starts[k]
        _, values, of_parents = np.unique(values, return_inverse=True, return_counts=True)
        _, of_family = np.unique(values * size + child, return_counts=True)
        scores[k] = logs[of_family].sum() - (logs[of_parents + size - 1] - logs[size - 1]).sum()
    return scores


@compiled()
def _count(rows, places, counts):
    for i in range(len(rows)):
        for k in range(places.shape[1]):
            counts[rows[i], places[i, k]] += 1


def check_order(order, n_variables):
    """Return an order as a list of ints; ValueError names the variable that it misses, repeats or does not know."""
    order = [
        check_integer("each variable of order", v, 0, n_variables - 1)
        for v in np.atleast_1d(order).tolist()
    ]
    for v in range(n_variables):
        if order.count(v) != 1:
            raise ValueError(
                f"order must have each variable once; variable {v} is there {order.count(v)} times"
            )
    return order
