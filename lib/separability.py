"""Whether a labelling of points can be realised by a linear threshold function."""

import numpy as np
from scipy.optimize import linprog

_INFEASIBLE = 2


def linear_separator(X, labels):
    """Find a linear rule that gives every row its label, by linear programming.

    Parameters
    ----------
    X : array-like of shape (s, n)
    labels : array-like of shape (s,), boolean

    Returns
    -------
    coef (n,), intercept : with ``X @ coef + intercept >= 1`` where the label is true and ``<= -1`` elsewhere
    None
        If there is none. A rule with a margin of 1 exists exactly if one with any positive margin does.
    """
    X = np.asarray(X, dtype=float)
    signs = np.where(np.asarray(labels, dtype=bool), 1.0, -1.0)
    constraints = -signs[:, None] * np.column_stack([X, np.ones(len(X))])
    zero = np.zeros(constraints.shape[1])
    result = linprog(zero, A_ub=constraints, b_ub=-np.ones(len(X)), bounds=(None, None), method="highs")
    if result.status not in (0, _INFEASIBLE):
        raise RuntimeError(f"linear programming found neither a separator nor that there is none: {result.message}")
    return (result.x[:-1], float(result.x[-1])) if result.status == 0 else None
