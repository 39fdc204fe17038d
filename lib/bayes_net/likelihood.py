"""Conditional and joint log likelihood of merged rows with their gradients, in compiled loops."""

from collections import namedtuple

import numpy as np

from lib.bayes_net.messages import LOWEST, collect, distribute, needed_messages
from lib.compiled import compiled

LOG_LOWEST = np.log(LOWEST)
# rows that are handled together, as calls and references to arrays cost more than a row
BLOCK = 256

# Rows have numbers (picks) of packs of factors, and, after these, of messages; the last is of
# nothing.
Rows = namedtuple("Rows", "picks packs messages")
Objective = namedtuple(
    "Objective", "parameters rows counts used work beliefs conditional smoothing size"
)


def objective(parameters, rows, counts, *settings):
    """What `evaluate` needs, with the messages that are used and room for them."""
    some = counts.any(axis=1)
    rows, counts = rows._replace(picks=rows.picks[some]), counts[some]
    used = needed_messages(rows.messages, rows.picks, len(rows.packs))
    shape = rows.messages.starts[-1], counts.shape[1]
    return Objective(parameters, rows, counts, used, np.empty(shape), np.zeros(shape), *settings)


@compiled(error_model="numpy")
def evaluate(beta, objective, expected, gradient):
    """Return the mean log likelihood at the softmax parameters `beta`.

    Rows count as often as `counts` (n_rows, n_classes) says. With `conditional` it is the mean of
    ln P(c | e), else of ln P(c, e), in either case plus `smoothing` times the sum of all ln theta,
    over `size`.

    `expected` is set to how often each value comes with its parents' values, as expected given the
    rows and their classes, plus `smoothing`; with `conditional`, less what is expected without
    knowing the classes; of missing variables only those that `rows` sums over. `gradient` is set to
    the derivatives of the mean.
    """
    log_theta, theta = np.empty_like(beta), np.empty_like(beta)
    _softmax(beta, objective.parameters.row_starts, log_theta, theta)
    expected[:] = objective.smoothing
    value = _expect(log_theta, objective, expected)
    if objective.smoothing > 0:
        value += objective.smoothing * log_theta.sum()
    _to_softmax(expected, theta, objective.parameters.row_starts, gradient)
    gradient /= objective.size
    return value / objective.size


@compiled(error_model="numpy")
def log_joints(log_theta, parameters, rows):
    """Ln P(c, e) of each row and class, (n_rows, n_classes)."""
    used = needed_messages(rows.messages, rows.picks, len(rows.packs))
    work = np.empty((rows.messages.starts[-1], parameters.lookup.shape[1]))
    return _scores(log_theta, parameters, rows, used, work)


@compiled(error_model="numpy")
def errors(log_thetas, parameters, rows, counts, tie):
    """Share of each of `counts` (m, n_rows, n_classes) that is not of the class predicted by each of `log_thetas`.

    Predicted is the first class whose log probability is as high as any, but for `tie`. The result
    is (n_thetas, m).
    """
    shares, used = (
        np.empty((len(log_thetas), len(counts))),
        needed_messages(rows.messages, rows.picks, len(rows.packs)),
    )
    work = np.empty((rows.messages.starts[-1], counts.shape[2]))
    for t in range(len(log_thetas)):
        scores = _scores(log_thetas[t], parameters, rows, used, work)
        for i in range(len(counts)):
            right = total = 0.0
            for r in range(scores.shape[0]):
                top, predicted = scores[r].max(), 0
                while scores[r, predicted] < top - tie:
                    predicted += 1
                total += counts[i, r].sum()
                right += counts[i, r, predicted]
            shares[t, i] = (total - right) / total  # NaN where nothing is counted
    return shares


@compiled(error_model="numpy")
def _scores(log_theta, parameters, rows, used, work):
    tables, scores = (
        _tables(log_theta, parameters, rows, used, work),
        np.empty((len(rows.picks), work.shape[1])),
    )
    _gather(tables, rows.picks, 0, len(scores), scores)
    return scores


@compiled(error_model="numpy")
def observed(parameters, rows, counts):
    """How often each value and its parents' values are all observed, (n_parameters,)."""
    cells, expected = (
        np.zeros((len(parameters.lookup) + 1, counts.shape[1])),
        np.zeros(parameters.row_starts[-1]),
    )
    together = np.zeros((len(rows.packs) + len(rows.messages.starts), counts.shape[1]))
    _scatter(together, rows.picks, 0, len(counts), counts)
    _scatter(cells, rows.packs, 0, len(rows.packs), together)
    _add_cells(cells, parameters, expected)
    return expected


@compiled(error_model="numpy")
def _expect(log_theta, objective, expected):
    """Return the sum of log likelihoods, and add the expectations to `expected`."""
    parameters, rows, counts, used = (
        objective.parameters,
        objective.rows,
        objective.counts,
        objective.used,
    )
    tables, n_packs = _tables(log_theta, parameters, rows, used, objective.work), len(rows.packs)
    changes, scores = np.zeros_like(tables), np.empty((BLOCK, counts.shape[1]))
    value, beliefs = 0.0, objective.beliefs
    for start in range(0, len(counts), BLOCK):
        stop = min(start + BLOCK, len(counts))
        _gather(tables, rows.picks, start, stop, scores)
        value += weigh(scores, counts, start, stop, objective.conditional)
        _scatter(changes, rows.picks, start, stop, scores)
    beliefs[: len(parameters.lookup) + 1] = 0.0
    distribute(rows.messages, used, objective.work, changes[n_packs:], beliefs)
    _scatter(beliefs, rows.packs, 0, n_packs, changes)
    _add_cells(beliefs, parameters, expected)
    return value


@compiled(error_model="numpy")
def weigh(scores, counts, start, stop, conditional):
    """Return the log likelihood of rows; put how much each class's expectations count in place of its score."""
    n_classes, value = scores.shape[1], 0.0
    product = 1.0  # of normalisers, as one logarithm takes longer than many products
    for r in range(start, stop):
        i = r - start
        total = 0.0
        for c in range(n_classes):
            total += counts[r, c]
        if total == 0.0 or not conditional:
            for c in range(n_classes):
                value += counts[r, c] * scores[i, c]
                scores[i, c] = counts[r, c]
            continue
        top = scores[i, 0]
        for c in range(1, n_classes):
            top = max(top, scores[i, c])
        normaliser = 0.0
        for c in range(n_classes):
            difference = scores[i, c] - top
            value += counts[r, c] * difference
            scores[i, c] = 1.0 if difference == 0.0 else np.exp(difference)
            normaliser += scores[i, c]
        share = total / normaliser
        for c in range(n_classes):
            scores[i, c] = counts[r, c] - share * scores[i, c]
        if total == 1.0 and product < 1e200:
            product *= normaliser
        else:
            value -= total * np.log(normaliser)
    return value - np.log(product)


@compiled(error_model="numpy")
def _add_cells(cells, parameters, expected):
    """Add to each parameter what its cells (n_cells, n_classes) or more hold."""
    for m in range(parameters.lookup.shape[0]):
        for c in range(parameters.lookup.shape[1]):
            expected[parameters.lookup[m, c]] += cells[m, c]


@compiled(error_model="numpy")
def _tables(log_theta, parameters, rows, used, work):
    """Sums of the log factors over packs of factors, then logs of messages, then 0; cells of factors in `work`."""
    n_cells, n_classes = parameters.lookup.shape
    n_packs, logs = len(rows.packs), np.zeros((n_cells + 1, n_classes))
    for m in range(n_cells):
        for c in range(n_classes):
            logs[m, c] = log_theta[parameters.lookup[m, c]]
            if len(used) > 0:
                work[m, c] = np.exp(logs[m, c])
    tables = np.zeros((n_packs + len(rows.messages.starts), n_classes))
    _gather(logs, rows.packs, 0, n_packs, tables)
    collect(rows.messages, used, work, tables[n_packs:])
    return tables


@compiled(error_model="numpy")
def _gather(tables, picks, start, stop, scores):
    """Sum the rows of `tables` that each row of `picks` from start to stop has, into the rows of `scores`."""
    n_classes = scores.shape[1]
    for r in range(start, stop):
        for c in range(0, n_classes - 1, 2):  # two at a time: sums in registers
            a = b = 0.0
            for g in range(picks.shape[1]):
                m = picks[r, g]
                a += tables[m, c]
                b += tables[m, c + 1]
            scores[r - start, c], scores[r - start, c + 1] = a, b
        if n_classes % 2 == 1:
            scores[r - start, -1] = 0.0
            for g in range(picks.shape[1]):
                scores[r - start, -1] += tables[picks[r, g], -1]


@compiled(error_model="numpy")
def _scatter(tables, picks, start, stop, weights):
    """Add the rows of `weights` to the rows of `tables` that the rows of `picks` have: `_gather` transposed."""
    if weights.shape[1] == 2:
        for r in range(start, stop):
            a, b = weights[r - start, 0], weights[r - start, 1]
            for g in range(picks.shape[1]):
                m = picks[r, g]
                tables[m, 0] += a
                tables[m, 1] += b
        return
    for r in range(start, stop):
        for g in range(picks.shape[1]):
            m = picks[r, g]
            for c in range(weights.shape[1]):
                tables[m, c] += weights[r - start, c]


@compiled(error_model="numpy")
def _softmax(beta, row_starts, log_theta, theta):
    for row in range(row_starts.shape[0] - 1):
        start, stop = row_starts[row], row_starts[row + 1]
        top = beta[start]
        for i in range(start, stop):
            top = max(top, beta[i])
        total = 0.0
        for i in range(start, stop):
            theta[i] = np.exp(beta[i] - top)
            total += theta[i]
        shift = top + np.log(total)
        for i in range(start, stop):
            theta[i] /= total
            log_theta[i] = max(beta[i] - shift, LOG_LOWEST)


@compiled(error_model="numpy")
def _to_softmax(expected, theta, row_starts, gradient):
    """Derivatives with respect to the softmax parameters: N(d, f) - theta N(f)."""
    for row in range(row_starts.shape[0] - 1):
        start, stop = row_starts[row], row_starts[row + 1]
        total = expected[start:stop].sum()
        for i in range(start, stop):
            gradient[i] = expected[i] - theta[i] * total
