"""Newton's method for the conditional likelihood of complete rows, in the logs of the tables.

The likelihood is concave in them: it is that of a multinomial logistic regression.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from lib.base.compiled import compiled
from lib.bayes_net.likelihood import Rows, log_joints, weigh_scores

MAX_FEATURES = 1_000  # entries that move: the Hessian has their square
# of the mean's Hessian, which is singular where attributes are copies or classes can be separated
RIDGE = 1e-10
STEP_LENGTHS = 0.5 ** np.arange(30)


class Features(NamedTuple):
    """The multinomial logistic regression that has the same conditional likelihoods.

    Attributes
    ----------
    entries : ndarray of int, shape (n_features, n_classes - 1)
        Entries of the tables that move: the weights of the features, for all classes but the first.
    rows : Rows
        Without the terms of messages.
    indices : ndarray of int
        Features of each joint value of a group of factors, one joint value after the other.
    pointers : ndarray of int, shape (n_joint_values + 1,)
        Where the features of each joint value begin.
    """

    entries: np.ndarray
    rows: Rows
    indices: np.ndarray
    pointers: np.ndarray


def climb_newton(beta, cases, n_iterations, tolerance, history):
    """Climb by Newton's method; return parameters, number of iterations and if it has converged.

    The logs of tables are moved as the weights of a multinomial logistic regression, unnormalised:
    of each row of each table all entries but the most frequent, for all classes but the first.
    """
    network = cases.network
    features = find_features(cases)
    entries = features.entries
    if entries.size > MAX_FEATURES:
        raise ValueError(
            f"method='newton' moves at most {MAX_FEATURES:,} entries of tables; "
            f"got {entries.size:,} (use 'lbfgs')"
        )
    gradient = np.empty(entries.shape)
    hessian = np.empty((entries.size, entries.size))

    def differentiate_at(logs):
        return differentiate(logs, cases, features, gradient, hessian)

    logs = network.log_softmax(beta)
    value = differentiate_at(logs)
    n_done = 0
    history.values[0] = value / cases.size
    history.betas[:1] = logs  # if they are wanted
    is_steep = np.abs(gradient).max(initial=0.0) > tolerance * cases.size
    while is_steep and n_done < n_iterations:
        hessian[np.diag_indices(entries.size)] += RIDGE * cases.size
        newton_step = cho_solve(cho_factor(hessian, lower=True), gradient.ravel())
        direction = np.zeros_like(logs)
        direction[entries] = newton_step.reshape(entries.shape)
        # halve the step until the likelihood does not fall
        for length in STEP_LENGTHS:
            new_logs = logs + length * direction
            new_value = differentiate_at(new_logs)
            if new_value >= value:
                break
        else:
            break
        logs = new_logs
        value = new_value
        n_done += 1
        history.values[n_done] = value / cases.size
        if len(history.betas) > 0:
            history.betas[n_done] = _normalise(network, logs)
        is_steep = np.abs(gradient).max(initial=0.0) > tolerance * cases.size
    return _normalise(network, logs), n_done, not is_steep


def find_features(cases):
    """Return the `Features` of the cases; ValueError unless they are complete and of NB or TAN."""
    network = cases.network
    rows = cases.layout.by_class
    fits = all(family[:1] == (0,) and len(family) <= 2 for family in network.parents[1:])
    if (cases.attributes < 0).any() or not fits:
        needed = (
            "naive Bayes or TAN, where the class and at most one attribute "
            "are parents of each attribute"
        )
        detail = f"got the parents {network.parents} (use 'cg' or 'lbfgs')"
        raise ValueError(f"method='newton' needs complete rows and {needed}; {detail}")
    offsets = network.by_class.offsets
    lookup = network.by_class.lookup
    # the last cell is of factors that are left out
    counts = np.append(cases.observed_counts()[lookup].sum(axis=1), 0.0)
    moves = counts > 0
    for size, start, stop in zip(network.sizes[1:], offsets[1:-1], offsets[2:], strict=True):
        most_frequent = counts[start:stop].reshape(-1, size).argmax(axis=1)
        moves[np.arange(start, stop, size) + most_frequent] = False
    feature_numbers = np.cumsum(moves) - 1
    is_feature = moves[rows.group_cells]
    is_group = (rows.terms < len(rows.group_cells)).all(axis=0)
    return Features(
        entries=lookup[moves[:-1], 1:],
        rows=rows._replace(terms=np.compress(is_group, rows.terms, axis=1)),
        indices=feature_numbers[rows.group_cells[is_feature]],
        pointers=np.concatenate([[0], np.cumsum(is_feature.sum(axis=1))]),
    )


def _normalise(network, logs):
    """Logs of tables that give each class the same probability in each row.

    From the leaves to the class, the sum of each row goes to the parent's table.
    """
    logs = logs.copy()
    tables = network.tables(logs)  # views, which change `logs`
    for v in reversed(network.order):
        sums = np.logaddexp.reduce(tables[v], axis=-1)
        tables[v] -= sums[..., None]
        if v:
            parent_table = tables[network.parents[v][-1]]
            extra_axes = (1,) * (parent_table.ndim - sums.ndim)
            parent_table += sums.reshape(sums.shape[:1] + extra_axes + sums.shape[1:])
    return logs


def differentiate(logs, cases, features, gradient, hessian):
    """Return the sum of ln P(c | e) at the logs of tables, and set its derivatives by the features.

    `gradient` (n_features, n_classes - 1) gets the first derivatives, `hessian` (gradient.size,
    gradient.size) minus the second, as a lower triangle.
    """
    rows = features.rows
    scores = log_joints(logs, cases.network.by_class.parameters, rows)
    return differentiate_scores(
        scores, rows.terms, features.indices, features.pointers, cases.counts, gradient, hessian
    )


@compiled(error_model="numpy")
def differentiate_scores(scores, terms, indices, pointers, counts, gradient, hessian):
    """Do what `differentiate` says, from the scores ln P(c, e), which are changed."""
    n_free = gradient.shape[1]
    active = np.empty(gradient.shape[0], np.intp)  # the features of a row
    value = weigh_scores(scores, counts, True)
    gradient[:] = 0.0
    hessian[:] = 0.0
    for r in range(len(counts)):
        total = 0.0
        for c in range(counts.shape[1]):
            total += counts[r, c]
        total = max(total, 1e-300)  # a row without counts has no shares
        n_active = 0
        for i in range(terms.shape[1]):
            term = terms[r, i]
            for j in range(pointers[term], pointers[term + 1]):
                active[n_active] = indices[j]
                n_active += 1
        for c in range(n_free):
            # the count of cases times P(c | e); score is now the count less that
            share = counts[r, c + 1] - scores[r, c + 1]
            for i in range(n_active):
                gradient[active[i], c] += scores[r, c + 1]
            for d in range(n_free):
                other_share = counts[r, d + 1] - scores[r, d + 1]
                # minus the second derivatives of ln softmax: p_c (1[c = d] - p_d)
                weight = share * ((c == d) - other_share / total)
                for i in range(n_active):
                    hessian_row = hessian[active[i] * n_free + c]
                    for j in range(i + 1):
                        hessian_row[active[j] * n_free + d] += weight
    return value
