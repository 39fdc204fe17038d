"""Expectation-Maximization for the CIA model (Grove & Roth, section 3), all restarts in one matrix product."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lib import arrays
from lib.cia import log_linear
from lib.estimators import with_parameters
from lib.latent_class.model import LatentClassClassifier
from lib.validation import check_choice, check_integer, check_real

_EDGE = 1e-10
_FEW = 4
_FINISH = 100
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
        Random starts; the run with the largest likelihood is kept, the first of those that `tolerance` makes equal.
    max_iterations : int, at least 1
        Iterations of one run at most; a ConvergenceWarning is given if the best run reaches it.
    tolerance : float, at least 0
        A run has converged when an iteration gains less than this in log likelihood per example; with 0 every
        run takes `max_iterations`, and there is no finish.
    dtype : {"float32", "float64"}
        Arithmetic of the search in samples of 10,000 values or more that have more examples than attributes; others
        take float64 in either case.
        Likelihoods are always summed in float64, and the best run is finished by up to 100 iterations in float64.
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
    Working arrays beside the sample, which stays uint8, and the parameters take 256 MiB at most. If the sample in
    `dtype` takes more, each step converts it in small batches: the same results but for rounding.

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
        starts = random_starts(self.n_restarts, self.n_hidden, rows.shape[1], check_random_state(self.random_state))
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

    So rounding does not decide among maxima of the same height. In a small sample, or one of fewer examples than
    attributes, it could also send a run to another one, and float64 costs little: there, `dtype` is not taken.
    """
    if rows.size < _SMALL or counts.sum() <= rows.shape[1]:
        dtype = "float64"
    *model, traces = maximize(rows, counts, weights, probabilities, max_iterations, tolerance, dtype)
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
    active, running, history, before = np.arange(len(weights)), (weights, probabilities), [], -np.inf
    for _ in range(max_iterations):
        *running, log_likelihoods = em_step(data, *running)
        history.append((active, log_likelihoods))
        if tolerance == 0:
            continue
        keep = log_likelihoods - before >= threshold
        before = log_likelihoods
        if not keep.all():
            weights[active], probabilities[active] = running
            active, before, running = active[keep], before[keep], [values[keep] for values in running]
            if not len(active):
                break
    weights[active], probabilities[active] = running
    traces = np.full((len(history), len(weights)), np.nan)
    for row, (runs, values) in zip(traces, history, strict=True):
        row[runs] = values
    return weights, np.clip(probabilities, 0, 1), [trace[~np.isnan(trace)] for trace in traces.T]


class EMData:
    """Rows (s, m), by column and by row, and counts (s,) as EM needs them, in batches that stay in the cache.

    They are kept if they fit into the limit with the posteriors of r runs with k hidden values, shape = (r, k); else
    they are made anew at each step.
    """

    def __init__(self, rows, counts, dtype, shape):
        self.rows, self.counts, self.dtype = rows, counts.astype(float), np.dtype(dtype)
        self.single = (counts == 1).all()
        (r, k), m, cache = shape, rows.shape[1], min(arrays.LIMIT, arrays.CACHE)
        row_bytes = self.dtype.itemsize * (2 * m + 2 + r * (k + 3)) + 8 * r
        self.parts = arrays.row_batches(len(rows), row_bytes, cache)
        self.whole = list(map(self._batch, self.parts)) if len(rows) * row_bytes <= arrays.LIMIT * 2**20 else None
        self.size = self.counts.sum()
        sums = sum(self.counts[part] @ rows[part] for part in arrays.row_batches(len(rows), 8 * m, cache))
        self.totals = np.append(self.size, sums)

    def __iter__(self):
        return iter(self.whole) if self.whole else map(self._batch, self.parts)

    def _batch(self, part):
        """Rows with a leading 1 as columns (m + 1, b), the same by row (for a view BLAS takes longer), and counts."""
        columns = np.ones((self.rows.shape[1] + 1, len(self.rows[part])), self.dtype)
        columns[1:] = self.rows[part].T
        return columns, np.ascontiguousarray(columns.T), self.counts[part]


def em_step(data, weights, probabilities, update=True):
    """One E and M step for r runs at once (section 3), or with no `update` the log likelihoods alone.

    Everything is relative to the first hidden value: the k - 1 log odds of the others are one matrix product,
    and so are their sums U and sums over x_j = 1; the first one's are what remains of the totals.

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
    r, k, m = probabilities.shape
    linear = np.empty((r, k, m + 1))
    linear[..., 1:], linear[..., 0] = log_linear(weights, probabilities, _EDGE)
    relative = np.subtract(linear[:, 1:], linear[:, :1]).astype(data.dtype).reshape(-1, m + 1)
    sums, log_likelihoods = np.zeros(linear.shape), linear[:, 0] @ data.totals
    others = sums[:, 1:]
    for columns, by_row, counts in data:
        posterior, log_sum = softmax_with_zero(_product(relative, columns).reshape(r, k - 1, -1))
        log_likelihoods += log_sum @ counts
        if update:
            if not data.single:
                posterior *= counts
            others += _product(posterior.reshape(len(relative), -1), by_row).reshape(others.shape)
    np.subtract(data.totals, others[:, 0] if k == 2 else others.sum(axis=1), out=sums[:, 0])
    mass = np.maximum(sums[..., 0], _EDGE)
    return mass / data.size, sums[..., 1:] / mass[..., None], log_likelihoods


def _product(a, b):
    """Matrix product a @ b; where `a` has few rows, of one after the other, which BLAS does faster."""
    return (a[:, None] @ b)[:, 0] if len(a) <= _FEW else a @ b


def softmax_with_zero(odds):
    """Softmax of (0, odds) over axis 1 without its first entry, and the log of its normaliser.

    Overwrites `odds` (r, k - 1, s). The largest entry is taken out only where its exponential could overflow.
    """
    largest, first = 0.0, 1.0
    if odds.max() > _SAFE_EXPONENT:
        largest = np.maximum(odds.max(axis=1), 0)
        odds -= largest[:, None]
        first = np.exp(-largest)
    posterior = np.exp(odds, out=odds)
    normaliser = (posterior[:, 0] if posterior.shape[1] == 1 else posterior.sum(axis=1)) + first
    posterior /= normaliser[:, None]
    return posterior, np.log(normaliser, out=normaliser) + largest
