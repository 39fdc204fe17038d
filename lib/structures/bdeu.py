"""Local search for the structure of highest BDeu score: Bayesian Dirichlet, equivalent, uniform."""

import numpy as np

from lib.structures.bic import Search
from lib.structures.dirichlet import DirichletCounts, complete_codes
from lib.structures.graphs import check_parents
from lib.validation import check_integer, check_real


def bdeu_search(X, start=None, equivalent_sample_size=10, max_parents=None):
    """Parents of each variable in a structure that no single change improves, by its posterior probability.

    From the structure `start`, the best addition, deletion or reversal of one arc is made as long
    as the marginal likelihood of the data rises. The tables' priors are worth
    `equivalent_sample_size` imaginary rows, spread evenly; with these, structures that state the
    same independences have the same score.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_variables)
        Discrete columns without missing values; floats must be whole numbers.
    start : sequence of sequences of int, optional
        Parents of each variable in the structure to begin with, such as that of a prior network; by
        default no arcs.
    equivalent_sample_size : float, above 0
        Imaginary rows.
    max_parents : int, at least 0, optional
        No variable gets a parent if it has as many; those of `start` stay. By default there is no
        bound.

    Returns
    -------
    parents : tuple of tuples of int
        Variable v is the one in column v.

    Raises
    ------
    ValueError
        If a parameter is out of range, `start` has a cycle or another number of variables, or `X`
        has no row, or missing values, fractions or infinity somewhere.

    Notes
    -----
    A constant column has one value and gets no arc, unless its category dtype declares more: this
    score links variables that never vary though they could, as tables with few rows in few of their
    cells are likely under small priors.

    Ties are broken as in `bic_search`: to 6 decimals, additions before deletions before reversals,
    then the lowest parent, then the lowest child.

    References
    ----------
    Heckerman, Geiger & Chickering (1995), sections 5 to 7. Their prior network also gives imaginary
    rows, and each arc in which a structure differs from it costs a factor; here it is the start of
    the search only.
    """
    codes, sizes = complete_codes(X)
    size = check_real("equivalent_sample_size", equivalent_sample_size, 0, open_low=True)
    most = len(sizes) if max_parents is None else check_integer("max_parents", max_parents, 0)
    links = np.zeros((len(sizes), len(sizes)), dtype=bool)
    for child, family in enumerate(() if start is None else check_parents(start, len(sizes))):
        links[list(family), child] = True

    def gain(counts, child, parent, others):
        return counts.bdeu(child, others | {parent}, size) - counts.bdeu(child, others, size)

    return Search(DirichletCounts(codes, sizes), most, gain, links).climb()
