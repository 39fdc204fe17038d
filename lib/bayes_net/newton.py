"""Newton's method for the conditional likelihood of complete rows, where it is concave in the logs of the tables."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from lib.bayes_net.likelihood import log_joints, weigh
from lib.compiled import compiled

MOST = 1_000  # entries that move: the Hessian has their square
# of the mean's Hessian, which is singular where attributes are copies or classes can be separated
RIDGE = 1e-10
LENGTHS = 0.5 ** np.arange(30)  # of steps


def climb_newton(beta, cases, n_iterations, tolerance, path, trace):
    """Climb by Newton's method from `beta`, which is moved; return the number of iterations and if they converged.

    The logs of tables are moved as the weights of a multinomial logistic regression, unnormalised:
    of each row of each table all entries but the most frequent, for all classes but the first.
    """
    network, (moving, *features) = cases.network, _features(cases)
    if moving.size > MOST:
        raise ValueError(
            f"method='newton' moves at most {MOST:,} entries of tables; got {moving.size:,} (use 'lbfgs')"
        )
    gradient, hessian = np.empty(moving.shape), np.empty((moving.size, moving.size))
    given = network.by_class.parameters, *features, moving, cases.counts, gradient, hessian
    logs, i = network.log_softmax(beta), 0
    value = differentiate(logs, *given)
    path[0], trace[:1] = value / cases.size, logs
    while (
        steep := np.abs(gradient).max(initial=0.0) > tolerance * cases.size
    ) and i < n_iterations:
        hessian[np.diag_indices(moving.size)] += RIDGE * cases.size
        step = np.zeros_like(logs)
        step[moving] = cho_solve(cho_factor(hessian, lower=True), gradient.ravel()).reshape(
            moving.shape
        )
        tried = ((length, differentiate(logs + length * step, *given)) for length in LENGTHS)
        length, value = next(((length, new) for length, new in tried if new >= value), (0.0, value))
        if length == 0.0:
            break
        i, logs = i + 1, logs + length * step
        path[i] = value / cases.size
        if len(trace):
            trace[i] = _normalised(network, logs)
    beta[:] = _normalised(network, logs)
    return i, not steep


def _features(cases):
    """Entries that move (n_features, n_classes - 1); rows with packs; the packs' features; where each pack's begin."""
    network, rows = cases.network, cases.layout.by_class
    if (cases.attributes < 0).any() or any(
        ps[:1] != (0,) or len(ps) > 2 for ps in network.parents[1:]
    ):
        needed = "naive Bayes or TAN, where the class and at most one attribute are parents of each attribute"
        found = f"got the parents {network.parents} (use 'cg' or 'lbfgs')"
        raise ValueError(f"method='newton' needs complete rows and {needed}; {found}")
    offsets, lookup = network.by_class.offsets, network.by_class.lookup
    # in the last cell are factors left out
    counts = np.append(cases.observed_counts()[lookup].sum(axis=1), 0.0)
    moves = counts > 0
    for size, start, stop in zip(network.sizes[1:], offsets[1:-1], offsets[2:], strict=True):
        moves[
            np.arange(start, stop, size) + counts[start:stop].reshape(-1, size).argmax(axis=1)
        ] = False
    among = moves[rows.packs]
    # others are of messages
    picks = np.compress((rows.picks < len(rows.packs)).all(axis=0), rows.picks, axis=1)
    pointers = np.concatenate([[0], np.cumsum(among.sum(axis=1))])
    return (
        lookup[moves[:-1], 1:],
        rows._replace(picks=picks),
        (np.cumsum(moves) - 1)[rows.packs[among]],
        pointers,
    )


def _normalised(network, logs):
    """Logs of tables that give each class the same probability in each row; each sum goes to the parent's table."""
    logs = logs.copy()
    tables = network.tables(logs)
    for v in reversed(network.order):
        sums = np.logaddexp.reduce(tables[v], axis=-1)
        tables[v] -= sums[..., None]
        if v:
            parent = tables[network.parents[v][-1]]
            parent += sums.reshape(
                sums.shape[:1] + (1,) * (parent.ndim - sums.ndim) + sums.shape[1:]
            )
    return logs


@compiled(error_model="numpy")
def differentiate(logs, parameters, rows, indices, pointers, moving, counts, gradient, hessian):
    """Return the sum of ln P(c | e); set its derivatives by what is `moving`, and minus the second, a lower triangle.

    The features that pack p of `rows` has are `indices` from pointers[p] on.
    """
    n_free, active, scores = (
        moving.shape[1],
        np.empty(len(moving), np.intp),
        log_joints(logs, parameters, rows),
    )
    value = weigh(scores, counts, 0, len(counts), True)
    gradient[:], hessian[:] = 0.0, 0.0
    for r in range(len(counts)):
        n, total = 0, max(counts[r].sum(), 1e-300)  # no row has no share
        for p in rows.picks[r]:
            for i in range(pointers[p], pointers[p + 1]):
                active[n], n = indices[i], n + 1
        for c in range(n_free):
            share = counts[r, c + 1] - scores[r, c + 1]
            for i in range(n):
                gradient[active[i], c] += scores[r, c + 1]
            for e in range(n_free):
                weight = share * ((c == e) - (counts[r, e + 1] - scores[r, e + 1]) / total)
                for i in range(n):
                    row = hessian[active[i] * n_free + c]
                    for j in range(i + 1):
                        row[active[j] * n_free + e] += weight
    return value
