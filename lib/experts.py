"""Mixture of experts: logistic regressions, each of which answers for a part of the rows, and gates that choose one."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.discretize.columns import checked_target
from lib.estimators import TwoClasses, with_parameters
from lib.validation import check_choice, check_integer, check_real

HALVINGS = 30  # of a step that does not climb; then a run ends
LEAST = 1e-300  # no row is held less probable
FARTHEST = 1e100  # standardised inputs are taken to be at most this


@with_parameters
class MixtureOfExperts(TwoClasses, ClassifierMixin, BaseEstimator):
    """Hierarchical mixture of experts for two classes, fitted by EM or along the gradient.

    Gates and experts are the nodes of a binary tree. A row starts at the root; each gate sends it
    to its first branch with probability sigma(v'x); the expert where it ends draws its class, the
    second one with probability sigma(w'x). Which way a row went is not seen. The softmax over two
    experts is such a gate.

    Parameters
    ----------
    depth : int, from 0 to 8
        Gates above each expert: there are ``2 ** depth`` experts; 0 is logistic regression.
    penalty : float, above 0
        Half of it times the sum of squares of all weights, constants among them, is taken from the
        log likelihood: weights have normal priors of variance 1 / penalty. Inputs are standardised
        first.
    n_restarts : int, at least 1
        Random starts; the run that ends highest is kept.
    solver : {"em", "gradient"}
        "em": an iteration is one weighted least squares problem for each gate and each expert,
        given the probabilities of the ways that each row may have gone: one step of Newton's method
        for each M step. "gradient": a step along the gradient, twice as long as the last one. In
        either case the step of all weights is halved until the likelihood rises.
    max_iterations : int, at least 1
        Of one run; a ConvergenceWarning is given if the best run reaches it.
    tolerance : float, at least 0
        A run ends when an iteration gains less than this in log likelihood a row.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    weights_ : ndarray of shape (2 ** (depth + 1) - 1, n_features + 1)
        Of gates, from the root down, and then of experts, for standardised inputs; the constant
        comes last.
    mean_, scale_ : ndarrays of shape (n_features,)
        By which inputs are standardised.
    traces_ : list of n_restarts ndarrays
        Log likelihood less the penalty at the start of each iteration.

    References
    ----------
    Jordan & Jacobs (1994); Dietterich (1997), section 5.4.1.
    """

    depth: int = 1
    penalty: float = 1.0
    n_restarts: int = 5
    solver: str = "em"
    max_iterations: int = 500
    tolerance: float = 1e-6
    random_state: int | np.random.RandomState | None = None

    def fit(self, X, y):
        """Fit to numbers `X` (n_samples, n_features) and two classes `y` (n_samples,).

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has missing values, or there are not two classes.
        """
        n_nodes = 2 ** (check_integer("depth", self.depth, 0, 8) + 1) - 1
        check_real("penalty", self.penalty, 0, open_low=True)
        check_real("tolerance", self.tolerance, 0)
        check_integer("max_iterations", self.max_iterations, 1)
        directions = {"em": newton_steps, "gradient": gradients}
        along = directions[check_choice("solver", self.solver, directions)]
        X = validate_data(self, X, dtype=float)
        classes, target = checked_target(X, y)
        self.classes_ = self._check_two(classes)
        self.mean_, self.scale_ = _means_and_deviations(X)
        data = self._inputs(X), target, self.penalty
        rng = check_random_state(self.random_state)
        starts = rng.normal(
            size=(check_integer("n_restarts", self.n_restarts, 1), n_nodes, X.shape[1] + 1)
        )
        runs = [self._climb(data, start / np.sqrt(X.shape[1] + 1), along) for start in starts]
        self.traces_ = [trace for _, trace in runs]
        self.weights_, best = max(runs, key=lambda run: run[1][-1])
        if len(best) == self.max_iterations > 1 and self.tolerance > 0:
            words = f"no convergence in {self.max_iterations} iterations; raise max_iterations or tolerance"
            warnings.warn(words, ConvergenceWarning, stacklevel=2)
        return self

    def _inputs(self, X):
        """Standardised inputs and a constant."""
        with np.errstate(over="ignore"):
            standardised = (X - self.mean_) / self.scale_
        return np.column_stack([np.clip(standardised, -FARTHEST, FARTHEST), np.ones(len(X))])

    def _climb(self, data, weights, directions):
        """Weights where a run ends, and its trace."""
        now, size = expected_ways(*data, weights), 1.0
        trace = [now[0]]
        while len(trace) < self.max_iterations:
            longest = 1.0 if self.solver == "em" else 2 * size
            ahead = directions(*data, weights, *now[1:])
            for size in longest / 2.0 ** np.arange(HALVINGS):
                now = expected_ways(*data, weights + size * ahead)
                if now[0] >= trace[-1]:
                    break
            else:
                break
            weights = weights + size * ahead
            trace.append(now[0])
            if trace[-1] - trace[-2] < self.tolerance * len(data[0]):
                break
        return weights, np.array(trace)

    def gate_proba(self, X):
        """P(expert | x) of each row and expert, (n_samples, 2 ** depth)."""
        return _reached(*_branches(self._scores(X))).T

    def expert_proba(self, X):
        """P(second class | x, expert) of each row and expert, (n_samples, 2 ** depth)."""
        firsts, _ = _branches(self._scores(X))
        return firsts[len(firsts) // 2 :].T

    def predict_proba(self, X):
        """P(class | x) of each row and class, (n_samples, 2)."""
        second = (self.gate_proba(X) * self.expert_proba(X)).sum(axis=1)
        second = np.minimum(second, 1)  # but for rounding, it is
        return np.column_stack([1 - second, second])

    def predict(self, X):
        """The more probable class of each row, (n_samples,); the first, if they are equally probable."""
        second = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[second.astype(int)]

    def _scores(self, X):
        check_is_fitted(self)
        return self.weights_ @ self._inputs(validate_data(self, X, reset=False, dtype=float)).T


def _means_and_deviations(X):
    """Of each column (n_features,); of one that is constant, but for rounding, 1 or what its value is above that."""
    exponents = np.frexp(np.abs(X).max(axis=0))[1]
    # no digit is changed, and no sum or square is too large or too small
    X = np.ldexp(X, -exponents)
    means, deviations = X.mean(axis=0), X.std(axis=0)
    constant = deviations <= 1e-12 * np.abs(means)
    means, deviations = np.ldexp(means, exponents), np.ldexp(deviations, exponents)
    constant |= deviations == 0  # of the smallest numbers there are
    return means, np.where(constant, np.maximum(np.abs(means), 1.0), deviations)


def expected_ways(inputs, target, penalty, weights):
    """E-step: log likelihood less the penalty, and the probabilities that each row passes each node.

    Parameters
    ----------
    inputs : ndarray of shape (n_samples, n_inputs)
        A constant among them.
    target : ndarray of 0 and 1, shape (n_samples,)
        1 is the second class.
    penalty : float
    weights : ndarray of shape (n_nodes, n_inputs)

    Returns
    -------
    value : float
    nodes : ndarray of shape (n_nodes, n_samples)
        P(row passes the node | its class).
    firsts : ndarray of shape (n_nodes, n_samples)
        P(row takes the first branch there | its class), and for an expert `nodes` where the class
        is the second one.
    """
    branches = _branches(weights @ inputs.T)
    nodes, firsts = np.empty_like(branches)
    first = len(nodes) // 2
    joint = _reached(*branches) * np.where(target, *branches[:, first:])
    of_rows = np.maximum(joint.sum(axis=0), LEAST)
    nodes[first:] = joint / of_rows
    firsts[first:] = nodes[first:] * target
    for gate in reversed(range(first)):
        firsts[gate] = nodes[2 * gate + 1]
        nodes[gate] = firsts[gate] + nodes[2 * gate + 2]
    return np.log(of_rows).sum() - penalty / 2 * (weights**2).sum(), nodes, firsts


def _branches(scores):
    """Sigma(score) and 1 - sigma(score), (2, *scores.shape), neither of them with a loss of digits."""
    less = np.exp(-np.abs(scores))
    less /= 1 + less
    return np.where([scores > 0, scores <= 0], 1 - less, less)


def _reached(firsts, seconds):
    """P(expert | x), (n_experts, n_samples); the branches of gate g are the nodes 2 g + 1 and 2 g + 2."""
    nodes = np.ones_like(firsts)
    for gate in range(len(nodes) // 2):
        nodes[2 * gate + 1] = nodes[gate] * firsts[gate]
        nodes[2 * gate + 2] = nodes[gate] * seconds[gate]
    return nodes[len(nodes) // 2 :]


def gradients(inputs, target, penalty, weights, nodes, firsts):
    """Of the log likelihood less the penalty, as `expected_ways` takes and returns them, by the weights.

    Parameters
    ----------
    inputs : ndarray of shape (n_samples, n_inputs)
    target : ndarray of 0 and 1, shape (n_samples,)
    penalty : float
    weights : ndarray of shape (n_nodes, n_inputs)
    nodes, firsts : ndarrays of shape (n_nodes, n_samples)

    Returns
    -------
    ndarray of shape (n_nodes, n_inputs)
    """
    return (firsts - nodes * _branches(weights @ inputs.T)[0]) @ inputs - penalty * weights


def newton_steps(inputs, target, penalty, weights, nodes, firsts):
    """The solution of each node's weighted least squares problem, less its weights; each row is in all in part.

    Parameters
    ----------
    inputs : ndarray of shape (n_samples, n_inputs)
    target : ndarray of 0 and 1, shape (n_samples,)
    penalty : float
    weights : ndarray of shape (n_nodes, n_inputs)
    nodes, firsts : ndarrays of shape (n_nodes, n_samples)
        As `expected_ways` returns them.

    Returns
    -------
    ndarray of shape (n_nodes, n_inputs)
    """
    branch, other = _branches(weights @ inputs.T)
    slopes = (firsts - nodes * branch) @ inputs - penalty * weights
    curvatures = ((nodes * branch * other)[:, None] * inputs.T) @ inputs + penalty * np.eye(
        inputs.shape[1]
    )
    try:
        return np.linalg.solve(curvatures, slopes[..., None])[..., 0]
    except np.linalg.LinAlgError:
        advice = "raise it, or give solver='gradient'"
        raise ValueError(
            f"penalty must be larger for columns that depend on each other; got {penalty!r} ({advice})"
        ) from None
