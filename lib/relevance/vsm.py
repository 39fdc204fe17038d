"""Lowe's variable-kernel similarity metric: near neighbours whose distance is learned."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from lib.base.arrays import row_batches
from lib.base.estimators import with_parameters
from lib.base.validation import check_integer, check_real
from lib.discretize.columns import checked_numbers, checked_target

TINY = 1e-9  # squared distances of equal rows
# standardised values are taken to be at most this: beyond it all neighbours are equally far, and
# the square of a number may overflow
FARTHEST = 1e100
BATCH = 64  # MiB of squared differences to neighbours at a time


@with_parameters
class VariableKernel(ClassifierMixin, BaseEstimator):
    """Votes of near neighbours, weighted by a Gaussian of a learned distance (VSM).

    The squared distance is sum_j w_j^2 (x_j - x_ij)^2; each of the R nearest neighbours votes with
    exp(-d^2 / (2 sigma^2)), where sigma is r times the mean distance of the nearest R / 2. The
    weights w and the radius r minimise the squared error of the class probabilities of left-out
    rows, by conjugate gradients: neighbours are looked for again after each line search and stay
    the same during it. A search that gains too little is undone; the next one goes along the
    steepest descent, and where that gains too little as well it ends.

    Parameters
    ----------
    n_neighbours : int, at least 2
        R.
    n_searches : int, at least 0
        Line searches at most, those that are undone among them; 0 leaves all weights equal.
    tolerance : float, at least 0
        Share of the error by which a line search must lower it, else it is undone.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_attributes,)
        Of the standardised attributes; their sign does not matter.
    radius_ : float
    errors_ : ndarray of shape (n_searches_ + 1,)
        Mean squared error of the left-out rows' probabilities, before the first search and after
        each that is kept.
    n_searches_ : int
        Line searches that are kept.

    Notes
    -----
    From 16 attributes on, a search for neighbours compares all pairs of rows, so that `fit` takes
    time in proportion to the square of their number: some 25 seconds for 20,000 rows of 50
    attributes. Beside the standardised table, memory grows by a few numbers for each neighbour of
    a row.

    References
    ----------
    Lowe (1995), "Similarity metric learning for a variable-kernel classifier". Dietterich (1997),
    section 3.2.3, where the equations of the width and of the vote are lost in print.
    """

    n_neighbours: int = 10
    n_searches: int = 30
    tolerance: float = 1e-3

    def fit(self, X, y):
        """Learn weights and radius from numbers `X` (n_samples, n_attributes) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has a value that is missing, infinite or no number,
            or `y` lacks a label.
        """
        check_integer("n_neighbours", self.n_neighbours, 2)
        check_integer("n_searches", self.n_searches, 0)
        check_real("tolerance", self.tolerance, 0)
        X = checked_numbers(self, X, reset=True, min_samples=2)
        self.classes_, target = checked_target(X, y)
        self._units = _units(X)
        self._scaler = StandardScaler().fit(X * self._units)
        self._rows = self._scaler.transform(X * self._units)
        self._votes = np.eye(len(self.classes_))[target]
        self._search(start=np.ones(X.shape[1] + 1))
        return self

    def predict_proba(self, X):
        """Votes of the neighbours of each row, (n_samples, n_classes), which sum to 1."""
        X = checked_numbers(self, X, reset=False)
        with np.errstate(over="ignore"):
            in_range = np.nan_to_num(X * self._units)  # which turns infinity into a number
            rows = self._scaler.transform(in_range)
        rows = np.clip(rows, -FARTHEST, FARTHEST)
        nearest = self._nearest(self.weights_, rows)
        probabilities = []
        for batch in self._batches(len(rows)):
            distances = self._squares(rows[batch], nearest[batch]) @ self.weights_**2
            votes = self._votes[nearest[batch]]
            probabilities.append(_kernel_votes(distances, self.radius_, votes).probabilities)
        return np.concatenate(probabilities)

    def predict(self, X):
        """The class with the most votes for each row, (n_samples,); of equal ones the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _search(self, start):
        """Conjugate gradients (Polak & Ribiere) from a point: the weights, and the radius last."""
        point = start
        nearest = self._nearest(point[:-1])
        error, slope = self._error_and_slope(point, nearest)
        errors = [error]
        direction = -slope
        beta = 0
        for _ in range(self.n_searches):
            new_point = self._line_search(point, direction, nearest)
            new_nearest = self._nearest(new_point[:-1])
            error, new_slope = self._error_and_slope(new_point, new_nearest)
            if errors[-1] - error > self.tolerance * errors[-1]:
                # Polak & Ribiere's beta; where it is negative the search starts again
                beta = max(new_slope @ (new_slope - slope) / max(slope @ slope, TINY), 0)
                direction = beta * direction - new_slope
                point = new_point
                slope = new_slope
                nearest = new_nearest
                errors.append(error)
            elif beta == 0:  # it was the steepest descent
                break
            else:
                direction = -slope
                beta = 0
        self.weights_ = point[:-1]
        self.radius_ = abs(point[-1])
        self.errors_ = np.array(errors)
        self.n_searches_ = len(errors) - 1

    def _line_search(self, point, direction, nearest):
        """The best point in a direction, no farther from a point than that is from 0."""
        longest = np.linalg.norm(point) / max(np.linalg.norm(direction), TINY)
        step = longest * direction
        # sum_j (w_j + share s_j)^2 squares_j: the coefficients of 1, share and share^2
        weights = point[:-1]
        coefficients = np.stack([weights**2, 2 * weights * step[:-1], step[:-1] ** 2], axis=1)
        batches = self._batches(len(nearest))
        terms = [self._squares(self._rows[b], nearest[b]) @ coefficients for b in batches]

        def error(share):
            total = 0.0
            for batch, batch_terms in zip(batches, terms, strict=True):
                distances = batch_terms @ [1, share, share**2]
                votes = self._votes[nearest[batch]]
                p = _kernel_votes(distances, point[-1] + share * step[-1], votes).probabilities
                total += ((p - self._votes[batch]) ** 2).sum()
            return total / len(nearest)

        best = minimize_scalar(error, bounds=(0, 1), method="bounded").x
        return point + best * step

    def _error_and_slope(self, point, nearest):
        """`error_and_slope` of all training rows, batch by batch."""
        error = 0.0
        slope = np.zeros(len(point))
        for batch in self._batches(len(nearest)):
            squares = self._squares(self._rows[batch], nearest[batch])
            votes = self._votes[nearest[batch]]
            batch_error, batch_slope = error_and_slope(point, squares, votes, self._votes[batch])
            share = len(squares) / len(nearest)
            error += share * batch_error
            slope += share * batch_slope
        return error, slope

    def _nearest(self, weights, rows=None):
        """The training rows nearest to rows (n, n_attributes), (n, R), nearest first.

        By default to the training rows, none of which is its own neighbour.
        """
        n_others = len(self._rows) - (1 if rows is None else 0)
        search = NearestNeighbors(n_neighbors=min(self.n_neighbours, n_others))
        search.fit(self._rows * weights)
        return search.kneighbors(None if rows is None else rows * weights, return_distance=False)

    def _squares(self, rows, nearest):
        """Squared differences of rows to their neighbours, (n, R, n_attributes)."""
        return (rows[:, None, :] - self._rows[nearest]) ** 2

    def _batches(self, n_rows):
        """Slices of rows whose `_squares` and votes fit into `BATCH` each."""
        row_bytes = 8 * self.n_neighbours * max(self._rows.shape[1], self._votes.shape[1])
        return row_batches(n_rows, row_bytes, BATCH)


def _units(X):
    """What columns are multiplied by before their squares are taken, (n_attributes,).

    A power of two, which changes no digit, where squares could overflow or vanish: it brings the
    largest number to between 1/2 and 1. Else 1.
    """
    largest = np.abs(X).max(axis=0)
    is_extreme = (largest > 1e100) | ((largest < 1e-100) & (largest > 0))
    exponents = np.frexp(largest)[1]
    powers = np.ldexp(1.0, np.clip(-exponents, -1022, 1022))  # normal numbers
    return np.where(is_extreme, powers, 1.0)


class _KernelVotes(NamedTuple):
    """Votes of n rows' neighbours.

    Attributes
    ----------
    probabilities : ndarray of shape (n, n_classes)
    shares : ndarray of shape (n, R)
        The weight of each neighbour's vote; those of a row sum to 1.
    width : ndarray of shape (n, 1)
        Sigma over r: the mean distance of the nearer half of the neighbours.
    """

    probabilities: np.ndarray
    shares: np.ndarray
    width: np.ndarray


def _kernel_votes(distances, radius, votes):
    """Let the neighbours vote, each with a Gaussian of its squared distance, (n, R)."""
    nearer = distances[:, : _half(distances)]
    width = np.sqrt(np.maximum(nearer, TINY)).mean(axis=1, keepdims=True)
    shares = softmax(-distances / (2 * max(radius**2, TINY) * width**2), axis=1)
    probabilities = np.einsum("nr,nrc->nc", shares, votes)
    return _KernelVotes(probabilities, shares, width)


def _half(distances):
    """How many of the nearest neighbours decide the width of the kernel, at least one."""
    return max(distances.shape[1] // 2, 1)


def error_and_slope(point, squares, votes, truth):
    """Mean squared error of the votes of fixed neighbours, and its gradient.

    Parameters
    ----------
    point : ndarray of shape (n_attributes + 1,)
        Weights, and the radius.
    squares : ndarray of shape (n, R, n_attributes)
        Squared differences to the neighbours.
    votes, truth : ndarrays of shape (n, R, n_classes) and (n, n_classes)
        1 for the class of each neighbour, and of each row.

    Returns
    -------
    error : float
    slope : ndarray of shape (n_attributes + 1,)
    """
    weights = point[:-1]
    radius = point[-1]
    distances = squares @ weights**2
    p, shares, width = _kernel_votes(distances, radius, votes)
    error = float(((p - truth) ** 2).sum(axis=1).mean())
    # Backward through the votes: by the share of each neighbour, by the logarithm of its kernel
    # -d^2 / (2 sigma^2), and by its squared distance d^2 while the width stays.
    by_share = np.einsum("nc,nrc->nr", 2 * (p - truth) / len(p), votes)
    by_exponent = shares * (by_share - (shares * by_share).sum(axis=1, keepdims=True))
    variance = max(radius**2, TINY) * width**2  # sigma^2
    by_distance = -by_exponent / (2 * variance)
    # The nearer half moves the width, too. By the logarithm of the width, or of the radius, the
    # exponents grow by d^2 / sigma^2.
    by_log_width = (by_exponent * distances / variance).sum(axis=1, keepdims=True)
    half = _half(distances)
    nearer = distances[:, :half]
    by_distance[:, :half] += np.where(
        nearer > TINY,
        by_log_width / (width * 2 * half * np.sqrt(np.maximum(nearer, TINY))),
        0,
    )
    by_weight = 2 * weights * np.einsum("nr,nrj->j", by_distance, squares)
    by_radius = by_log_width.sum() / radius
    return error, np.append(by_weight, by_radius)
