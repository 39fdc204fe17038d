"""Expectation-Maximization for the CIA model (Grove & Roth, section 3), all restarts in one matrix product."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lib import arrays
from lib.compiled import assign, compiled
from lib.estimators import with_parameters
from lib.latent_class.base import LatentClassClassifier
from lib.latent_class.bits import LANES, pack, product
from lib.validation import check_choice, check_integer, check_real

_EDGE = 1e-10
_FINISH = 100
_GROUP = 8  # normalisers of at most k exp(80) each, so that their product is a number
_SAFE_EXPONENT = 80.0
_SMALL = 10_000  # values of a sample


@with_parameters
class LatentClassEM(LatentClassClassifier):
    """CIA model of maximum likelihood, by EM from many random starts.

    Parameters
    ----------
    n_hidden : int, at least 2
        Values of the hidden variable.
    n_restarts : int, at least 1
        Random starts; the run with the largest likelihood is kept, the first of those that
        `tolerance` makes equal.
    max_iterations : int, at least 1
        Iterations of one run at most; a ConvergenceWarning is given if the best run reaches it.
    tolerance : float, at least 0
        A run has converged when an iteration gains less than this in log likelihood per example;
        with 0 every run takes `max_iterations`, and there is no finish.
    dtype : {"float32", "float64"}
        Arithmetic of the search in samples of 10,000 values or more that have more examples than
        attributes; others take float64 in either case. Likelihoods are always summed in float64,
        and the best run is finished by up to 100 iterations in float64.
    random_state : int, RandomState or None

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
    probabilities_ : ndarray of shape (k, n_attributes + 1)
        Column 0 is the target.
    log_likelihood_ : float
        Of the training sample, natural logarithm.
    traces_ : list of n_restarts ndarrays
        Log likelihood of the parameters at the start of each iteration of each run.
    n_iter_ : int
        Iterations of the best run, before its finish.
    coef_, intercept_ : ndarrays of shape (1, n_attributes) and (1,)
        The linear rule that follows from the fitted model (two hidden values only).

    Notes
    -----
    The sample, which stays uint8, is also kept as bits, by row and by column: a quarter of its
    size. Working arrays beside it and the parameters take about 20 MiB at most, as large samples
    are worked through in batches: the same results but for rounding. A run's numbers are the same
    whatever the other runs are.

    References
    ----------
    Grove & Roth (1997), sections 3 and 5; Dempster, Laird & Rubin (1977).
    """

    n_hidden: int = 2
    n_restarts: int = 20
    max_iterations: int = 1000
    tolerance: float = 1e-6
    dtype: str = "float32"
    random_state: int | np.random.RandomState | None = None

    def _check_parameters(self):
        check_integer("n_hidden", self.n_hidden, 2)
        check_search(self)
        check_choice("dtype", self.dtype, ("float32", "float64"))

    def _fit_model(self, rows, counts):
        starts = random_starts(
            self.n_restarts, self.n_hidden, rows.shape[1], check_random_state(self.random_state)
        )
        settings = self.max_iterations, self.tolerance, self.dtype
        weights, probabilities, self.traces_, best = search(rows, counts, *starts, *settings)
        self.n_iter_ = len(self.traces_[best])
        if self.n_iter_ >= self.max_iterations > 1 and self.tolerance > 0:
            message = f"EM did not converge in {self.max_iterations} iterations; raise max_iterations or tolerance"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        model = weights[[best]], probabilities[[best]]
        if self.tolerance:
            *model, _ = maximize(rows, counts, *model, _FINISH, self.tolerance / 100, "float64")
        return model[0][0], model[1][0]


def check_search(learner):
    """Check the parameters of a learner that `search` takes."""
    check_integer("n_restarts", learner.n_restarts, 1)
    check_integer("max_iterations", learner.max_iterations, 1)
    check_real("tolerance", learner.tolerance, 0)


def random_starts(n_restarts, n_hidden, m, rng):
    """Weights (r, k), equal, and probabilities (r, k, m), uniform on [1/4, 3/4]."""
    weights = np.full((n_restarts, n_hidden), 1 / n_hidden)
    return weights, rng.uniform(0.25, 0.75, (n_restarts, n_hidden, m))


def search(rows, counts, weights, probabilities, max_iterations, tolerance, dtype="float32"):
    """`maximize` from all starts, and which run is best: of those that `tolerance` makes equal, the first.

    So rounding does not decide among maxima of the same height. In a small sample, or one of fewer
    examples than attributes, it could also send a run to another one, and float64 costs little:
    there, `dtype` is not taken.
    """
    if rows.size < _SMALL or counts.sum() <= rows.shape[1]:
        dtype = "float64"
    *model, traces = maximize(
        rows, counts, weights, probabilities, max_iterations, tolerance, dtype
    )
    heights = np.array([trace[-1] for trace in traces])
    return *model, traces, int(np.argmax(heights >= heights.max() - tolerance * counts.sum()))


def maximize(rows, counts, weights, probabilities, max_iterations, tolerance, dtype):
    """Run EM from each start until it converges; runs that have are dropped from the product.

    Returns
    -------
    weights (r, k), probabilities (r, k, m), and a list of r log-likelihood traces.
    """
    weights, probabilities = weights.copy(), probabilities.copy()
    data, threshold = EMData(rows, counts, dtype, weights.shape), tolerance * counts.sum()
    active, running, history, before = (
        np.arange(len(weights)),
        (weights, probabilities),
        [],
        -np.inf,
    )
    for _ in range(max_iterations):
        *running, log_likelihoods = em_step(data, *running)
        history.append((active, log_likelihoods))
        if tolerance == 0:
            continue
        keep = log_likelihoods - before >= threshold
        before = log_likelihoods
        if not keep.all():
            weights[active], probabilities[active] = running
            active, before, running = (
                active[keep],
                before[keep],
                [values[keep] for values in running],
            )
            if not len(active):
                break
    weights[active], probabilities[active] = running
    traces = np.full((len(history), len(weights)), np.nan)
    for row, (runs, values) in zip(traces, history, strict=True):
        row[runs] = values
    return weights, np.clip(probabilities, 0, 1), [trace[~np.isnan(trace)] for trace in traces.T]


class EMData:
    """Rows (s, m) with a leading 1, packed by row and by column, and counts (s,), as EM needs them.

    They are in batches whose posteriors, of r runs with k hidden values, shape = (r, k), stay in
    the cache.
    """

    def __init__(self, rows, counts, dtype, shape):
        self.dtype, self.single = np.dtype(dtype), (counts == 1).all()
        self.parts, self.totals = [], np.zeros(rows.shape[1] + 1)
        n_values = -(-shape[0] // LANES) * LANES * (shape[1] - 1)
        row_bytes = n_values * self.dtype.itemsize + 2 * rows.shape[1]
        for batch in arrays.row_batches(len(rows), row_bytes, arrays.CACHE):
            part, weights = np.insert(rows[batch], 0, 1, axis=1), counts[batch].astype(float)
            self.totals += weights @ part
            self.parts.append((pack(part), pack(part.T), weights))


def em_step(data, weights, probabilities):
    """One E and M step for r runs at once (section 3).

    Everything is relative to the first hidden value: the k - 1 log odds of the others are one
    matrix product, and so are their sums U and sums over x_j = 1; the first one's are what remains
    of the totals.

    Parameters
    ----------
    data : EMData
    weights : (r, k)
    probabilities : (r, k, m)

    Returns
    -------
    weights, probabilities : updated
    log_likelihoods : (r,), of the parameters passed in
    """
    (r, k, _), group = probabilities.shape, _GROUP if data.single else 1
    relative, log_likelihoods = _log_odds(
        np.log(_terms(weights, probabilities)), data.totals, np.zeros(1, data.dtype)
    )
    sums = np.zeros(relative.shape)
    for rows, columns, counts in data.parts:
        posterior = product(rows, relative).reshape(-1, k - 1, len(counts), LANES)
        if posterior.max() > _SAFE_EXPONENT:
            excess = np.maximum(posterior.max(axis=1) - _SAFE_EXPONENT, 0)
            posterior -= excess[:, None]
            log_likelihoods += (counts @ excess).ravel()[:r]
        np.exp(posterior, out=posterior)
        logs = np.log(_normalise(posterior, group))
        log_likelihoods += (counts[: logs.shape[1]] @ logs).ravel()[:r]
        if not data.single:
            posterior *= counts[:, None]
        sums += product(columns, posterior.reshape(-1, len(counts), LANES))
    return *_parameters(sums, data.totals, r, k), log_likelihoods


@compiled(error_model="numpy")
def _terms(weights, probabilities):
    """What log odds are sums of (r, k, m + n + 1): P(1) / P(0) of each attribute, P(0) of four at a time, weights."""
    r, k, m = probabilities.shape
    n = -(-m // 4)
    terms, absent = np.empty((r, k, m + n + 1)), np.ones(4 * n)
    for i in range(r):
        for c in range(k):
            odds, four, values = terms[i, c, :m], terms[i, c, m:], probabilities[i, c]
            for j in range(m):
                present = min(max(values[j], _EDGE), 1 - _EDGE)
                absent[j] = 1 - present
                odds[j] = present / absent[j]
            for j in range(n):
                four[j] = absent[j] * absent[n + j] * absent[2 * n + j] * absent[3 * n + j]
            four[n] = max(weights[i, c], _EDGE)
    return terms


@compiled()
def _log_odds(logs, totals, nothing):
    """Log odds against the first hidden value as matrices for `product`, and log P(x, first value) of all rows."""
    (r, k, _), m = logs.shape, len(totals) - 1
    odds, joint = np.zeros((-(-r // LANES), k - 1, m + 1, LANES), nothing.dtype), np.zeros(r)
    for i in range(r):
        block, lane, first = i // LANES, i % LANES, logs[i, 0]
        constant = first[m:].sum()
        joint[i] = constant * totals[0]
        for j in range(m):
            joint[i] += first[j] * totals[j + 1]
        for c in range(1, k):
            odds[block, c - 1, 0, lane] = logs[i, c, m:].sum() - constant
            for j in range(m):
                odds[block, c - 1, j + 1, lane] = logs[i, c, j] - first[j]
    return odds.reshape(-1, m + 1, LANES), joint


@compiled(error_model="numpy")
def _normalise(odds, group):
    """Make posteriors of odds (b, k - 1, s, 8) in place; return products (b, s / group, 8) of their normalisers."""
    blocks, others, s, _ = odds.shape
    size, width = s * LANES, -(-s // group) * LANES
    odds, products, room = (
        odds.reshape(blocks, others, -1),
        np.ones((blocks, width)),
        np.empty(width, odds.dtype),
    )
    for b in range(blocks):
        for start in range(0, size, width):
            total, multiplied = room[: min(width, size - start)], products[b]
            total[:] = 1
            for c in range(others):
                values = odds[b, c][start : start + width]
                for i in range(len(total)):
                    total[i] += values[i]
            for i in range(len(total)):
                multiplied[i] *= total[i]
            for c in range(others):
                values = odds[b, c][start : start + width]
                for i in range(len(total)):
                    values[i] /= total[i]
    return products.reshape(blocks, -1, LANES)


@compiled(error_model="numpy")
def _parameters(sums, totals, r, k):
    """Weights (r, k) and probabilities (r, k, m) from sums (b (k - 1), m + 1, 8) of posteriors."""
    weights, probabilities = np.empty((r, k)), np.empty((r, k, len(totals) - 1))
    own = np.empty((k, len(totals)))
    for i in range(r):
        block, lane = i // LANES * (k - 1) - 1, i % LANES
        assign(own[0], totals)
        for c in range(1, k):
            for j in range(len(totals)):
                own[c, j] = sums[block + c, j, lane]
                own[0, j] -= own[c, j]
        for c in range(k):
            values, new, mass = own[c, 1:], probabilities[i, c], max(own[c, 0], _EDGE)
            weights[i, c] = mass / totals[0]
            for j in range(len(new)):
                new[j] = values[j] / mass
    return weights, probabilities
