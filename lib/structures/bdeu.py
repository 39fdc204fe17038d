"""Local search for the structure of highest BDeu score: Bayesian Dirichlet, equivalent, uniform."""

import numpy as np

from lib.base.validation import check_integer, check_real
from lib.structures.bic import Search
from lib.structures.dirichlet import DirichletCounts, complete_codes
from lib.structures.graphs import check_parents


def bdeu_search(X, start=None, equivalent_sample_size=10, max_parents=None):
    """Parents of each variable in a structure whose BDeu score no change of one arc improves.

    From the structure `start`, the best addition, deletion or reversal of one arc is made as long
    as the marginal likelihood of the data rises, and with it the posterior probability of the
    structure, as all structures have the same prior probability. The tables' priors are worth
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
    A constant column has one value and gets no arc, unless its category dtype declares more values:
    this score links variables that never vary though they could, as tables with few rows in few of
    their cells are likely under small priors.

    Ties are broken as in `bic_search`: to 6 decimals, additions before deletions before reversals,
    then the lowest parent, then the lowest child.

    References
    ----------
    Heckerman, Geiger & Chickering (1995), sections 5 to 7. Their prior network also gives imaginary
    rows, and each arc in which a structure differs from it costs a factor; here it is the start of
    the search only.
    """
    codes, sizes = complete_codes(X)
    n_variables = len(sizes)
    prior_rows = check_real("equivalent_sample_size", equivalent_sample_size, 0, open_low=True)
    if max_parents is None:
        max_parents = n_variables
    max_parents = check_integer("max_parents", max_parents, 0)
    links = np.zeros((n_variables, n_variables), dtype=bool)
    if start is not None:
        for child, parents in enumerate(check_parents(start, n_variables)):
            links[list(parents), child] = True

    # The score is a sum over families (Heckerman, Geiger & Chickering 1995, section 5), so that a
    # change of one arc changes the terms of its ends only
    def gain(counts, child, parent, other_parents):
        score = counts.bdeu(child, other_parents, prior_rows)
        return counts.bdeu(child, other_parents | {parent}, prior_rows) - score

    return Search(DirichletCounts(codes, sizes), max_parents, gain, links).climb()
