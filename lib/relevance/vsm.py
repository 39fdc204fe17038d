"""Lowe's variable-kernel similarity metric: near neighbours whose distance is learned."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.discretize.columns import checked_target
from lib.estimators import with_parameters
from lib.validation import check_integer, check_real

TINY = 1e-9  # squared distances of equal rows
# standardised; beyond it all neighbours are equally far, and the square of a number may overflow
FARTHEST = 1e100


@with_parameters
class VariableKernel(ClassifierMixin, BaseEstimator):
    """Votes of near neighbours, weighted by a Gaussian of a learned distance (VSM).

    The squared distance is sum_j w_j^2 (x_j - x_ij)^2; each of the R nearest neighbours votes with
    exp(-d^2 / (2 sigma^2)), where sigma is r times the mean distance of the nearest R / 2. The
    weights w and the radius r minimise the squared error of the class probabilities of left-out
    rows, by conjugate gradients: neighbours are found anew after each line search and stay the same
    during it. A search that gains too little is undone; the next one goes along the steepest
    descent, and where that gains too little as well it ends.

    Parameters
    ----------
    n_neighbours : int, at least 2
        R.
    n_searches : int, at least 0
        Line searches at most, those that are undone among them; 0 leaves all weights equal.
    tolerance : float, at least 0
        Part of the error by which a line search must lower it, else it is undone.

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
            or `y` lacks a class.
        """
        check_integer("n_neighbours", self.n_neighbours, 2)
        check_integer("n_searches", self.n_searches, 0)
        check_real("tolerance", self.tolerance, 0)
        X = validate_data(self, X, dtype=float, ensure_min_samples=2)
        self.classes_, target = checked_target(X, y)
        self._units = _units(X)
        self._scaler = StandardScaler().fit(X * self._units)
        self._rows, self._votes = (
            self._scaler.transform(X * self._units),
            np.eye(len(self.classes_))[target],
        )
        self._search(np.ones(X.shape[1] + 1))
        return self

    def predict_proba(self, X):
        """Votes of the neighbours of each row, (n_samples, n_classes), which sum to 1."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False)
        with np.errstate(over="ignore"):
            # which turns infinity into a number
            rows = self._scaler.transform(np.nan_to_num(X * self._units))
        rows = np.clip(rows, -FARTHEST, FARTHEST)
        squares, votes = self._neighbours(self.weights_, rows)
        return _probabilities(squares @ self.weights_**2, self.radius_, votes)[0]

    def predict(self, X):
        """The class with the most votes for each row, (n_samples,); of equal ones the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _search(self, start):
        """Conjugate gradients (Polak & Ribiere) from a point, the weights and the radius."""
        point, problem = start, (*self._neighbours(start[:-1]), self._votes)
        error, slope = error_and_slope(point, *problem)
        errors, direction, momentum = [error], -slope, 0
        for _ in range(self.n_searches):
            moved = _along(point, direction, problem)
            new_problem = (*self._neighbours(moved[:-1]), self._votes)
            error, new_slope = error_and_slope(moved, *new_problem)
            if errors[-1] - error > self.tolerance * errors[-1]:
                momentum = max(new_slope @ (new_slope - slope) / max(slope @ slope, TINY), 0)
                direction = momentum * direction - new_slope
                point, slope, problem = moved, new_slope, new_problem
                errors.append(error)
            elif momentum == 0:  # it was the steepest descent
                break
            else:
                direction, momentum = -slope, 0
        self.weights_, self.radius_ = point[:-1], abs(point[-1])
        self.errors_, self.n_searches_ = np.array(errors), len(errors) - 1

    def _neighbours(self, weights, rows=None):
        """Squared differences to the nearest training rows, nearest first, (n, R, n_attributes), and their votes."""
        others = len(self._rows) - (rows is None)
        search = NearestNeighbors(n_neighbors=min(self.n_neighbours, others)).fit(
            self._rows * weights
        )
        near = search.kneighbors(None if rows is None else rows * weights, return_distance=False)
        rows = self._rows if rows is None else rows
        return (rows[:, None, :] - self._rows[near]) ** 2, self._votes[near]


def _units(X):
    """Powers of two by which columns are multiplied where their squares could overflow or vanish, else 1."""
    largest = np.abs(X).max(axis=0)
    extreme = (largest > 1e100) | ((largest < 1e-100) & (largest > 0))
    exponents = np.frexp(largest)[1]
    return np.where(extreme, np.ldexp(1.0, np.clip(-exponents, -1022, 1022)), 1.0)


def _along(point, direction, problem):
    """The best point in a direction, no farther than the point is from 0."""
    farthest = np.linalg.norm(point) / max(np.linalg.norm(direction), TINY)
    error = lambda part: error_and_slope(point + part * farthest * direction, *problem)[0]  # noqa: E731
    return point + minimize_scalar(error, bounds=(0, 1), method="bounded").x * farthest * direction


def _probabilities(distances, radius, votes):
    """Votes of neighbours by their squared distances (n, R); the weight of each, the width over r, the nearer half."""
    near = distances[:, : max(distances.shape[1] // 2, 1)]
    width = np.sqrt(np.maximum(near, TINY)).mean(axis=1, keepdims=True)
    weights = softmax(-distances / (2 * max(radius**2, TINY) * width**2), axis=1)
    return np.einsum("nr,nrc->nc", weights, votes), weights, width, near


def error_and_slope(point, squares, votes, truth):
    """Mean squared error of the votes of fixed neighbours, and its gradient.

    Parameters
    ----------
    point : ndarray of shape (n_attributes + 1,)
        Weights, and the radius.
    squares : ndarray of shape (n, R, n_attributes)
        Squared differences to the neighbours.
    votes, truth : ndarrays of shape (n, R, n_classes) and (n, n_classes)

    Returns
    -------
    error : float
    slope : ndarray of shape (n_attributes + 1,)
    """
    weights, radius = point[:-1], point[-1]
    distances = squares @ weights**2
    p, shares, width, near = _probabilities(distances, radius, votes)
    of_votes = np.einsum("nc,nrc->nr", 2 * (p - truth) / len(p), votes)
    of_exponents = shares * (of_votes - (shares * of_votes).sum(axis=1, keepdims=True))
    spread = max(radius**2, TINY) * width**2
    of_distances = -of_exponents / (2 * spread)
    # times the relative growth of the width
    along = (of_exponents * distances / spread).sum(axis=1, keepdims=True)
    half = near.shape[1]
    of_distances[:, :half] += np.where(
        near > TINY, along / (width * 2 * half * np.sqrt(np.maximum(near, TINY))), 0
    )
    of_weights = 2 * weights * np.einsum("nr,nrj->j", of_distances, squares)
    return float(((p - truth) ** 2).sum(axis=1).mean()), np.append(of_weights, along.sum() / radius)
