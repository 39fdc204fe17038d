"""COV: a two-valued latent class from pairwise covariances (Grove & Roth, section 4)."""

import numpy as np
from scipy.sparse.linalg import eigsh

from lib import arrays
from lib.latent_class.base import LatentClassClassifier
from lib.latent_class.em import EMData, em_step

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
        size, pairs = counts.sum(), pair_counts(rows, counts)
        means = np.diag(pairs) / size
        covariance = pairs / size - np.outer(means, means)
        signs = vote_signs(covariance)
        self.scaled_deltas_ = signs * np.sqrt(squared_deltas(covariance))
        edge = 1 / (2 * size + 2)
        data = EMData(rows, counts, "float64", (_GRID, 2))
        coarse = np.arange(1, _GRID + 1) / (_GRID + 1)
        *_, first = em_step(data, *_candidates(means, self.scaled_deltas_, coarse, edge))
        fine = coarse[np.argmax(first)] + (2 * coarse - 1) * coarse[0]
        fine = np.clip(fine, coarse[0] / 10, 1 - coarse[0] / 10)
        *_, second = em_step(data, *_candidates(means, self.scaled_deltas_, fine, edge))
        self.search_ = np.column_stack([np.append(coarse, fine), np.append(first, second)])
        best = self.search_[np.argmax(self.search_[:, 1]), :1]
        weights, probabilities = _candidates(means, self.scaled_deltas_, best, edge)
        return weights[0], probabilities[0]


def pair_counts(rows, counts):
    """Examples in which x_i = x_j = 1, shape (m, m); exact, as float32 holds the integers up to 2^24."""
    dtype, m = np.dtype("float32" if counts.sum() <= 2**24 else "float64"), rows.shape[1]
    single, pairs = (counts == 1).all(), np.zeros((m, m))
    for batch in arrays.row_batches(len(rows), 2 * dtype.itemsize * m, arrays.LIMIT):
        columns = rows[batch].T.astype(dtype)
        pairs += (columns if single else columns * counts[batch].astype(dtype)) @ columns.T
    return pairs


def squared_deltas(covariance):
    """Estimates of a(1 - a) d_i^2, shape (m,), by the paper's weighted average over pairs j, k other than i.

    Zero where no pair of other attributes is correlated.
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


def _candidates(means, scaled_deltas, a, edge):
    """Weights (c, 2) and probabilities (c, 2, m) for each value of a = P(z = 1): p = mu + (1-a) d, q = mu - a d."""
    a = a[:, None]
    deltas = scaled_deltas / np.sqrt(a * (1 - a))
    probabilities = np.stack([means - a * deltas, means + (1 - a) * deltas], axis=1)
    return np.hstack([1 - a, a]), np.clip(probabilities, edge, 1 - edge)
