"""Mixture of experts: logistic regressions for parts of the input space, and gates between them.

Jordan & Jacobs (1994), "Hierarchical mixtures of experts and the EM algorithm", for two classes and
gates with two branches each.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lib.base.arrays import scale_by_power_of_two
from lib.base.estimators import TwoClasses, with_parameters
from lib.base.validation import check_choice, check_integer, check_real
from lib.discretize.columns import checked_numbers, checked_target

HALVINGS = 30  # of a step that does not climb; then a run ends
LEAST = 1e-300  # no row is held less probable
FARTHEST = 1e100  # standardised inputs are taken to be at most this


class _Data(NamedTuple):
    """What the likelihood depends on, but for the weights."""

    inputs: np.ndarray  # (n_samples, n_inputs), standardised, with a constant
    target: np.ndarray  # (n_samples,), 1 is the second class
    penalty: float


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
        Log likelihood minus the penalty at the start of each iteration.

    Notes
    -----
    An iteration of EM takes time in proportion to rows x nodes x (n_features + 1)^2, memory to
    rows x (nodes + n_features). Deep trees need many iterations as well: from five starts, two
    experts are fitted to 8,000 rows of 50 attributes in 5 seconds, eight experts to 2,000 in 20.
    Fewer starts or a larger tolerance shorten it.

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
            If a parameter is out of range, `X` has text or missing values, or there are not two
            classes.
        """
        depth = check_integer("depth", self.depth, 0, 8)
        check_real("penalty", self.penalty, 0, open_low=True)
        check_real("tolerance", self.tolerance, 0)
        check_integer("max_iterations", self.max_iterations, 1)
        solvers = {"em": newton_steps, "gradient": gradients}
        directions = solvers[check_choice("solver", self.solver, solvers)]
        X = checked_numbers(self, X, reset=True)
        classes, target = checked_target(X, y)
        self.classes_ = self._check_two(classes)
        self.mean_, self.scale_ = _means_and_deviations(X)
        data = _Data(self._inputs(X), target, self.penalty)
        n_restarts = check_integer("n_restarts", self.n_restarts, 1)
        n_nodes = 2 ** (depth + 1) - 1
        n_inputs = X.shape[1] + 1
        rng = check_random_state(self.random_state)
        starts = rng.normal(size=(n_restarts, n_nodes, n_inputs)) / np.sqrt(n_inputs)
        runs = [self._climb(data, start, directions) for start in starts]
        self.traces_ = [trace for _, trace in runs]
        self.weights_, best_trace = max(runs, key=lambda run: run[1][-1])
        if len(best_trace) == self.max_iterations > 1 and self.tolerance > 0:
            message = (
                f"no convergence in {self.max_iterations} iterations; "
                "raise max_iterations or tolerance"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def _inputs(self, X):
        """Standardised inputs and a constant, (n_samples, n_features + 1)."""
        with np.errstate(over="ignore"):
            standardised = (X - self.mean_) / self.scale_
        bounded = np.clip(standardised, -FARTHEST, FARTHEST)
        return np.column_stack([bounded, np.ones(len(X))])

    def _climb(self, data, weights, directions):
        """Weights where a run ends, and the trace of its objective.

        `directions` is `newton_steps` or `gradients`.
        """
        value, nodes, firsts = expected_ways(*data, weights)
        trace = [value]
        size = 1.0
        while len(trace) < self.max_iterations:
            step = directions(*data, weights, nodes, firsts)
            longest = 1.0 if self.solver == "em" else 2 * size
            for size in longest / 2.0 ** np.arange(HALVINGS):
                value, nodes, firsts = expected_ways(*data, weights + size * step)
                if value >= trace[-1]:
                    break
            else:  # no size is small enough
                break
            weights = weights + size * step
            trace.append(value)
            if trace[-1] - trace[-2] < self.tolerance * len(data.inputs):
                break
        return weights, np.array(trace)

    def gate_proba(self, X):
        """P(expert | x) of each row and expert, (n_samples, 2 ** depth)."""
        firsts, seconds = _branch_probabilities(self._scores(X))
        return _expert_probabilities(firsts, seconds).T

    def expert_proba(self, X):
        """P(second class | x, expert) of each row and expert, (n_samples, 2 ** depth)."""
        firsts, _ = _branch_probabilities(self._scores(X))
        n_gates = len(firsts) // 2
        return firsts[n_gates:].T

    def predict_proba(self, X):
        """P(class | x) of each row and class, (n_samples, 2)."""
        second = (self.gate_proba(X) * self.expert_proba(X)).sum(axis=1)
        second = np.minimum(second, 1)  # rounding may exceed it
        return np.column_stack([1 - second, second])

    def predict(self, X):
        """The more probable class of each row, (n_samples,); the first, if both are equally so."""
        is_second = self.predict_proba(X)[:, 1] > 0.5
        return self.classes_[is_second.astype(int)]

    def _scores(self, X):
        """Linear functions of the inputs, (n_nodes, n_samples)."""
        X = checked_numbers(self, X, reset=False)
        return self.weights_ @ self._inputs(X).T


def _means_and_deviations(X):
    """Means and standard deviations of columns, (n_features,) each, whatever their units.

    A column that is constant, but for rounding, has no deviation to divide by: it gets the size of
    its value, or 1 if that is larger.
    """
    X, exponents = scale_by_power_of_two(X)
    means = X.mean(axis=0)
    deviations = X.std(axis=0)
    is_constant = deviations <= 1e-12 * np.abs(means)
    means = np.ldexp(means, exponents)
    deviations = np.ldexp(deviations, exponents)
    is_constant |= deviations == 0  # of numbers so small that their deviation is no number
    return means, np.where(is_constant, np.maximum(np.abs(means), 1.0), deviations)


def expected_ways(inputs, target, penalty, weights):
    """E step: log likelihood minus the penalty, and P(a row passes a node | its class).

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
        P(row passes the node | its class): Jordan & Jacobs's posterior h of the nodes.
    firsts : ndarray of shape (n_nodes, n_samples)
        P(row takes the first branch there | its class), and for an expert `nodes` where the class
        is the second one.
    """
    branches = _branch_probabilities(weights @ inputs.T)
    n_gates = branches.shape[1] // 2
    second_class, first_class = branches[:, n_gates:]
    joint = _expert_probabilities(*branches) * np.where(target, second_class, first_class)
    likelihoods = np.maximum(joint.sum(axis=0), LEAST)
    nodes = np.empty_like(branches[0])
    firsts = np.empty_like(branches[0])
    nodes[n_gates:] = joint / likelihoods
    firsts[n_gates:] = nodes[n_gates:] * target
    # from the experts up: a row that passes a gate passes one of its two branches
    for gate in reversed(range(n_gates)):
        firsts[gate] = nodes[2 * gate + 1]
        nodes[gate] = firsts[gate] + nodes[2 * gate + 2]
    value = np.log(likelihoods).sum() - penalty / 2 * (weights**2).sum()
    return value, nodes, firsts


def _branch_probabilities(scores):
    """Sigma(score) and 1 - sigma(score), (2, *scores.shape), neither with a loss of digits."""
    smaller = np.exp(-np.abs(scores))
    smaller /= 1 + smaller
    return np.where([scores > 0, scores <= 0], 1 - smaller, smaller)


def _expert_probabilities(firsts, seconds):
    """P(expert | x), (n_experts, n_samples), from the probabilities of the branches of each gate.

    The branches of gate g lead to the nodes 2 g + 1 and 2 g + 2.
    """
    n_gates = len(firsts) // 2
    nodes = np.ones_like(firsts)
    for gate in range(n_gates):
        nodes[2 * gate + 1] = nodes[gate] * firsts[gate]
        nodes[2 * gate + 2] = nodes[gate] * seconds[gate]
    return nodes[n_gates:]


def gradients(inputs, target, penalty, weights, nodes, firsts):
    """Gradient by the weights of the log likelihood minus the penalty.

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
    probabilities = _branch_probabilities(weights @ inputs.T)[0]
    return (firsts - nodes * probabilities) @ inputs - penalty * weights


def newton_steps(inputs, target, penalty, weights, nodes, firsts):
    """Newton step of each node: iteratively reweighted least squares (IRLS), one iteration.

    Each node is a logistic regression on all rows, weighted by P(row passes the node | its class).

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
        What is to be added to the weights.

    Raises
    ------
    ValueError
        If a system of equations is singular, as columns depend on each other and the penalty is
        too small.
    """
    first, second = _branch_probabilities(weights @ inputs.T)
    slopes = (firsts - nodes * first) @ inputs - penalty * weights
    row_weights = nodes * first * second
    prior = penalty * np.eye(inputs.shape[1])
    steps = np.empty_like(weights)
    try:
        for node, row_weight in enumerate(row_weights):
            # minus the Hessian
            curvature = (inputs.T * row_weight) @ inputs + prior
            steps[node] = np.linalg.solve(curvature, slopes[node])
    except np.linalg.LinAlgError:
        raise ValueError(
            "penalty must be larger for columns that depend on each other; "
            f"got {penalty!r} (raise it, or give solver='gradient')"
        ) from None
    return steps
