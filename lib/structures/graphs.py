"""Fixed structures, naive Bayes and chains of attributes, and the checks of a structure."""

from graphlib import CycleError, TopologicalSorter

from lib.base.validation import check_integer


def naive(n_attributes):
    """Parents of naive Bayes, where the class is the only parent of every attribute."""
    return chain(n_attributes, 0)


def chain(n_attributes, n_linked):
    """Parents of naive Bayes in which the first `n_linked` attributes also form a chain.

    Parameters
    ----------
    n_attributes : int, at least 0
    n_linked : int from 0 to n_attributes
        m: there is a link from attribute i - 1 to i for i = 2 .. m. With 0 or 1 it is naive Bayes.

    Returns
    -------
    parents : tuple of tuples of int

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Greiner, Su, Shen & Zhou (2005), Appendix F: the structures P_m.
    """
    n = check_integer("n_attributes", n_attributes, 0)
    m = check_integer("n_linked", n_linked, 0, n)
    parents = [()]
    for i in range(1, n + 1):
        parents.append((0, i - 1) if 2 <= i <= m else (0,))
    return tuple(parents)


def check_parents(parents, n_variables=None):
    """Return a structure as a tuple of ascending tuples of ints.

    Parameters
    ----------
    parents : sequence of sequences of int
        `parents[v]` are the parents of variable v, in any order; variable 0 is the class.
    n_variables : int, optional
        How many variables the data have: one for the class and one for each attribute.

    Returns
    -------
    parents : tuple of tuples of int

    Raises
    ------
    ValueError
        If there is no variable or the wrong number of them, or a parent is unknown or repeated, or
        the links form a cycle, such as that of a variable that is its own parent.
    """
    try:
        families = [tuple(family) for family in parents]
    except TypeError:
        allowed = "a sequence of sequences of integers"
        raise ValueError(f"parents must be {allowed}; got {parents!r}") from None
    n = len(families) if n_variables is None else n_variables
    if len(families) != n or n == 0:
        allowed = f"a tuple for the class and for each attribute, {n} in all"
        raise ValueError(f"parents must hold {allowed}; got {parents!r}")
    for v, family in enumerate(families):
        name = f"each parent of variable {v}"
        families[v] = tuple(sorted(check_integer(name, parent, 0, n - 1) for parent in family))
        if len(set(family)) < len(family):
            raise ValueError(f"parents of variable {v} must not repeat; got {family}")
    topological_order(families)  # raises ValueError for a cycle
    return tuple(families)


def topological_order(parents):
    """Return all variables as a tuple, each after its parents.

    Raises
    ------
    ValueError
        If there is a cycle; the message names its variables.
    """
    try:
        return tuple(TopologicalSorter(dict(enumerate(parents))).static_order())
    except CycleError as error:
        cycle = " -> ".join(map(str, error.args[1]))
        raise ValueError(f"parents must not form a cycle; got {cycle}") from None


def arcs(parents):
    """All arcs of a structure: a set of (parent, child)."""
    return {(parent, child) for child, family in enumerate(parents) for parent in family}


def arc_kinds(parents, true_parents):
    """How each arc of a structure, or of the true one only, compares with those of the true one.

    Parameters
    ----------
    parents, true_parents : sequences of sequences of int

    Returns
    -------
    dict of (parent, child) to str
        "right", "turned around" or "invented"; "missing" for an arc of the true structure that the
        other has in neither direction.
    """
    found_arcs = arcs(parents)
    true_arcs = arcs(true_parents)
    kinds = {}
    for arc in found_arcs:
        if arc in true_arcs:
            kinds[arc] = "right"
        elif arc[::-1] in true_arcs:
            kinds[arc] = "turned around"
        else:
            kinds[arc] = "invented"
    for arc in true_arcs - found_arcs:
        if arc[::-1] not in found_arcs:
            kinds[arc] = "missing"
    return kinds
