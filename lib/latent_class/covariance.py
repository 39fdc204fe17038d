"""COV: a two-valued latent class from pairwise covariances (Grove & Roth, section 4)."""

import numpy as np
from scipy.sparse.linalg import eigsh

from lib.base import arrays
from lib.latent_class.base import LatentClassClassifier
from lib.latent_class.fast import PackedSample, em_steps

_GRID = 41  # values of P(z = 1) that each round of the search tries
_VOTES = 100
_LANCZOS = 200  # attributes from which on all eigenvectors take much longer than the leading one


class LatentClassCovariance(LatentClassClassifier):
    """CIA model with two hidden values, estimated from the covariances of pairs of attributes.

    The covariance of X_i and X_j is a(1 - a) d_i d_j with a = P(z = 1) and d_i = p_i - q_i.
    Magnitudes of d come from a weighted average over pairs, signs from a vote over pairs, and `a`
    from a one-dimensional search for the largest likelihood.

    Attributes
    ----------
    weights_, probabilities_, log_likelihood_, coef_, intercept_
        As in LatentClassEM.
    scaled_deltas_ : ndarray of shape (n_attributes + 1,)
        Estimates of sqrt(a(1 - a)) d_i with signs; the target's is not negative.
    search_ : ndarray of shape (82, 2)
        Values of P(z = 1) tried, in two rounds of 41, and their log likelihoods.

    References
    ----------
    Grove & Roth (1997), section 4. The paper omits the voting; see `vote_signs`.
    """

    def _fit_model(self, rows, counts):
        size = counts.sum()
        pairs = pair_counts(rows, counts)
        means = np.diag(pairs) / size
        covariance = pairs / size - np.outer(means, means)
        signs = vote_signs(covariance)
        self.scaled_deltas_ = signs * np.sqrt(squared_deltas(covariance))

        # "simply search for the optimal value, using likelihood as the search criterion"
        edge = 1 / (2 * size + 2)
        sample = PackedSample(rows, counts, "float64", n_runs=_GRID, n_hidden=2)
        coarse = np.arange(1, _GRID + 1) / (_GRID + 1)
        coarse_heights = self._log_likelihoods(sample, means, coarse, edge)
        spacing = coarse[0]
        fine = coarse[np.argmax(coarse_heights)] + (2 * coarse - 1) * spacing
        fine = np.clip(fine, spacing / 10, 1 - spacing / 10)
        fine_heights = self._log_likelihoods(sample, means, fine, edge)
        self.search_ = np.column_stack(
            [np.append(coarse, fine), np.append(coarse_heights, fine_heights)]
        )
        best = self.search_[np.argmax(self.search_[:, 1]), :1]
        weights, probabilities = _candidate_models(means, self.scaled_deltas_, best, edge)
        return weights[0], probabilities[0]

    def _log_likelihoods(self, sample, means, alphas, edge):
        weights, probabilities = _candidate_models(means, self.scaled_deltas_, alphas, edge)
        _, _, log_likelihoods = em_steps(sample, weights, probabilities)
        return log_likelihoods


def pair_counts(rows, counts):
    """Examples in which x_i = x_j = 1, shape (m, m).

    They are exact, as float32 holds the integers up to 2^24.
    """
    dtype = np.dtype("float32" if counts.sum() <= 2**24 else "float64")
    m = rows.shape[1]
    all_single = (counts == 1).all()
    pairs = np.zeros((m, m))
    for batch in arrays.row_batches(len(rows), 2 * dtype.itemsize * m, arrays.LIMIT):
        columns = rows[batch].T.astype(dtype)
        weighted = columns if all_single else columns * counts[batch].astype(dtype)
        pairs += weighted @ columns.T
    return pairs


def squared_deltas(covariance):
    """Estimates of a(1 - a) d_i^2, shape (m,), by the equation of section 4.

    It is the paper's weighted average over pairs j, k other than i; zero where no pair of other
    attributes is correlated.
    """
    y = np.abs(covariance)
    np.fill_diagonal(y, 0)
    row_sums = y.sum(axis=1)
    numerator = row_sums**2 - (y**2).sum(axis=1)
    denominator = y.sum() - 2 * row_sums
    usable = denominator > 1e-12 * max(y.sum(), 1e-300)
    return np.divide(numerator, denominator, out=np.zeros_like(row_sums), where=usable)


def vote_signs(covariance):
    """Signs of d_i, +1 for the target (i = 0), by votes over all pairs.

    Under the model the sign of covariance (i, j) is sign_i sign_j, so attribute j votes
    covariance_ij sign_j for the sign of i. The signs start at those of the leading eigenvector
    (without the diagonal) and the attribute with the largest majority against its sign changes it,
    until none is outvoted: each change raises sum_ij sign_i sign_j covariance_ij, so this ends, if
    not after 100 changes.
    """
    y = covariance.copy()
    np.fill_diagonal(y, 0)
    signs = np.where(_leading_eigenvector(y) >= 0, 1.0, -1.0)
    for _ in range(_VOTES):
        votes = signs * (y @ signs)
        loser = int(np.argmin(votes))
        if votes[loser] >= 0:
            break
        signs[loser] *= -1
    return signs * signs[0]


def _leading_eigenvector(y):
    if len(y) <= _LANCZOS or not y.any():
        return np.linalg.eigh(y)[1][:, -1]
    return eigsh(y, k=1, which="LA", v0=np.ones(len(y)))[1][:, 0]


def _candidate_models(means, scaled_deltas, alphas, edge):
    """Weights (c, 2) and probabilities (c, 2, m) for each value of a = P(z = 1).

    From mu = a p + (1 - a) q and d = p - q: q = mu - a d, p = mu + (1 - a) d.
    """
    a = alphas[:, None]
    deltas = scaled_deltas / np.sqrt(a * (1 - a))
    q = means - a * deltas
    p = means + (1 - a) * deltas
    probabilities = np.stack([q, p], axis=1)
    return np.hstack([1 - a, a]), np.clip(probabilities, edge, 1 - edge)
