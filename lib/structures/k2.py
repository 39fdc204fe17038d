"""K2: greedy search for the parents of each variable among those before it in a given order."""

import numpy as np

from lib.structures.dirichlet import DirichletCounts, attribute_codes
from lib.validation import check_integer


def k2(X, order, max_parents=4):
    """Parents of each variable by the algorithm K2 of Cooper and Herskovits.

    Each variable starts without parents; of the variables before it in `order`, the one that raises the posterior
    probability of the structure most becomes a parent, as long as one raises it. All tables have uniform priors, all
    structures the same prior probability.

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
        If `order` misses or repeats a variable, `max_parents` is out of range, or `X` has missing values, fractions or
        infinity somewhere.

    Notes
    -----
    Of parents that are equally good the first one in `order` is taken.

    References
    ----------
    Cooper & Herskovits (1992), section 3.1.1, the procedure K2, and equation 12.
    """
    codes, sizes = attribute_codes(X)
    max_parents = check_integer("max_parents", max_parents, 0)
    order = check_order(order, len(sizes))
    counts, parents = DirichletCounts(codes, sizes), [()] * len(sizes)
    for position, child in enumerate(order):
        parents[child] = _best_parents(counts, child, order[:position], max_parents)
    return tuple(parents)


def _best_parents(counts, child, before, max_parents):
    chosen, best = frozenset(), counts.k2(child, frozenset())
    while len(chosen) < min(max_parents, len(before)):
        scores = {p: counts.k2(child, chosen | {p}) for p in before if p not in chosen}
        added = max(scores, key=scores.get)
        if scores[added] <= best:
            break
        chosen, best = chosen | {added}, scores[added]
    return tuple(sorted(chosen))


def check_order(order, n_variables):
    """Return an order as a list of ints; ValueError names the variable that it misses, repeats or does not know."""
    order = np.asarray(order)
    if order.ndim != 1 or (len(order) and order.dtype.kind not in "iu"):
        raise ValueError(f"order must be a sequence of integers, one for each variable; got {order.tolist()!r}")
    order = order.tolist()
    for v in (*order, *range(n_variables)):
        if order.count(v) != 1 or not 0 <= v < n_variables:
            allowed = f"each variable from 0 to {n_variables - 1} once"
            raise ValueError(f"order must have {allowed}; variable {v} is there {order.count(v)} times")
    return order
