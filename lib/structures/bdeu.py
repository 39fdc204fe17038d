"""Local search for the structure of highest BDeu score: Bayesian Dirichlet, equivalent, uniform."""

import numpy as np

from lib.structures.bic import _Search
from lib.structures.dirichlet import DirichletCounts, attribute_codes
from lib.structures.graphs import check_parents
from lib.validation import check_integer, check_real, optional


def bdeu_search(X, start=None, equivalent_sample_size=10, max_parents=None):
    """Parents of each variable in a structure that no single change improves, by its posterior probability.

    From the structure `start`, the best addition, deletion or reversal of one arc is made as long as the marginal
    likelihood of the data rises. The tables' priors are worth `equivalent_sample_size` imaginary rows, spread evenly;
    with these, structures that state the same independences have the same score.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_variables)
        Discrete columns without missing values; floats must be whole numbers.
    start : sequence of sequences of int, optional
        Parents of each variable in the structure to begin with, such as that of a prior network; by default no arcs.
    equivalent_sample_size : float, above 0
        Imaginary rows.
    max_parents : int, at least 0, optional
        No variable gets a parent if it has as many; those of `start` stay. By default there is no bound.

    Returns
    -------
    parents : tuple of tuples of int
        Variable v is the one in column v.

    Raises
    ------
    ValueError
        If a parameter is out of range, `start` has a cycle or another number of variables, or `X` has missing values,
        fractions or infinity somewhere.

    Notes
    -----
    Ties are broken as in `bic_search`: to 6 decimals, additions before deletions before reversals, then the lowest
    parent, then the lowest child.

    References
    ----------
    Heckerman, Geiger & Chickering (1995), sections 5 to 7. Their prior network also gives imaginary rows, and each arc
    in which a structure differs from it costs a factor; here it is the start of the search only.
    """
    return bdeu_from_codes(*attribute_codes(X), start, equivalent_sample_size, max_parents)


def bdeu_from_codes(codes, sizes, start=None, equivalent_sample_size=10, max_parents=None):
    """Like `bdeu_search`, from codes (n_samples, n_variables) and sizes (n_variables,)."""
    size = check_real("equivalent_sample_size", equivalent_sample_size, 0, open_low=True)
    max_parents = optional(check_integer, "max_parents", max_parents, 0)
    start = ((),) * len(sizes) if start is None else check_parents(start, len(sizes))
    search = _BDeuSearch(DirichletCounts(codes, sizes), len(sizes) if max_parents is None else max_parents, start, size)
    before = None
    while search.parents() != before:
        before = search.parents()
        search.step()
    return before


class _BDeuSearch(_Search):
    """The search of `bic_search` with another score and any start."""

    def __init__(self, counts, max_parents, start, equivalent_sample_size):
        self.equivalent_sample_size = equivalent_sample_size
        super().__init__(counts, max_parents)
        for child, family in enumerate(start):
            self.links[list(family), child] = True
        self._update(np.flatnonzero([len(family) > 0 for family in start]).tolist())

    def _update(self, children):
        for child in children:
            parents = frozenset(np.flatnonzero(self.links[:, child]).tolist())
            now = self._score(child, parents)
            self.additions[:, child] = self.deletions[:, child] = -np.inf
            for p in parents:
                self.deletions[p, child] = self._score(child, parents - {p}) - now
            if len(parents) < self.max_parents:
                for p in set(range(len(self.links))) - parents - {child}:
                    self.additions[p, child] = self._score(child, parents | {p}) - now

    def _score(self, child, parents):
        return self.counts.bdeu(child, parents, self.equivalent_sample_size)
