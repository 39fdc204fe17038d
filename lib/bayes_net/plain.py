"""Exact inference and ELR's gradient as the equations have them: what the kernels compute fast.

A network is given by `parents`, a tuple of parents for each variable (the class is variable 0), and
`tables`, P(v | parents) of each variable, of shape (size of each parent..., size of v). An example
is a `row` with a code for each variable; -1 is missing.

`numpy.einsum` sums products of tables over what is missing. It takes 52 variables at most, and its
time may grow as 2 to the power of those that are missing in a row. `lib.bayes_net.likelihood` sends
messages along a junction tree instead, for all rows at once; tests compare the two.
"""

import numpy as np

MISSING = -1


def joint(parents, tables, row, scope):
    """P(scope, row): the product of all tables, summed over what is missing outside the scope.

    Parameters
    ----------
    parents : sequence of tuple of int
    tables : sequence of ndarray
    row : sequence of int
    scope : sequence of int
        Variables, of which those that the row has are not summed over, nor an axis of the result.

    Returns
    -------
    ndarray
        With an axis for each variable of the scope that is missing in the row.
    """
    factors = []
    for v, table in enumerate(tables):
        family = (*parents[v], v)
        factors += [table[_cell(row, family)], _missing(row, family)]
    return np.einsum(*factors, _missing(row, scope), optimize=True)


def posterior(parents, tables, row):
    """P(c | e) of each class, (n_classes,), where e is the row without its class."""
    class_joint = joint(parents, tables, (MISSING, *row[1:]), [0])
    return class_joint / class_joint.sum()


def family_posterior(parents, tables, row, v):
    """P(d, f | row) of each entry of v's table: its value d and its parents' values f."""
    family = (*parents[v], v)
    probabilities = np.zeros(tables[v].shape)
    family_joint = joint(parents, tables, row, family)
    probabilities[_cell(row, family)] = family_joint / family_joint.sum()
    return probabilities


def gradient(parents, tables, row):
    """Derivatives of ln P(c | e) by the softmax parameters of each table, a list of arrays.

    By Proposition 3 of Greiner, Su, Shen & Zhou (2005) that of the parameter of theta_{d|f} is
    [P(d, f | e, c) - P(d, f | e)] - theta_{d|f} [P(f | e, c) - P(f | e)].
    """
    evidence = (MISSING, *row[1:])
    slopes = []
    for v, theta in enumerate(tables):
        with_class = family_posterior(parents, tables, row, v)
        without_class = family_posterior(parents, tables, evidence, v)
        difference = with_class - without_class
        slopes.append(difference - theta * difference.sum(axis=-1, keepdims=True))
    return slopes


def _cell(row, family):
    """Index of the entries of a table that agree with a row."""
    return tuple(slice(None) if row[u] == MISSING else row[u] for u in family)


def _missing(row, variables):
    return [u for u in variables if row[u] == MISSING]
