"""Bayesian network classifiers of discrete attributes, learned generatively or by ELR."""

import warnings

import numpy as np
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lib.base.estimators import JointClassifier, case_weights, with_parameters
from lib.base.validation import check_choice, check_integer, check_real, optional
from lib.bayes_net.ascent import METHODS
from lib.bayes_net.cases import Cases, count_cases
from lib.bayes_net.duplicates import merge_duplicates
from lib.bayes_net.learners import (
    LEARNERS,
    choose_iterations,
    climb,
    fold_counts,
    observed_frequencies,
    tuning_errors,
)
from lib.bayes_net.network import Network
from lib.discretize.columns import checked_frame, checked_target
from lib.structures import bic_from_codes, naive, tan_from_codes
from lib.structures.encoding import DiscreteCoding

# Functions of codes, sizes and, if rows have them, weights.
STRUCTURES = {
    "naive": lambda codes, sizes, weights=None: naive(len(sizes) - 1),
    "tan": tan_from_codes,
    "bic": lambda codes, sizes, weights=None: bic_from_codes(codes, sizes, weights=weights),
}
# most iterations: of cross-tuning, as in Appendix B of the paper, and until convergence
TUNED_ITERATIONS = 20
MANY_ITERATIONS = 1000
SPREAD = 0.1  # standard deviation of random softmax parameters to start from


@with_parameters
class BayesNetClassifier(JointClassifier):
    """A Bayesian network over the class and discrete attributes, with missing values.

    Parameters
    ----------
    structure : "naive", "tan", "bic" or parents
        Naive Bayes; tree-augmented naive Bayes or a network of highest BIC, learned from the
        training data (`lib.structures`); or the parents of each variable, class first.
    learner : "ofe", "elr", "em" or "apn"
        Observed frequencies (of the rows where a variable and its parents are observed); ELR,
        ascent of the log conditional likelihood; EM, or APN's gradient ascent, of the log
        likelihood of what is observed.
    smoothing : float, at least 0
        Added to each count. For em and apn, weight of a log prior that has the same effect; elr
        only starts there. With 0, an entry that was never seen is out of reach of elr and apn.
    n_iterations : "cross-tune", int or None
        Number of iterations of elr, em and apn: chosen by held-out error in folds of the training
        data, given (less if they converge before), or as many as it takes to converge.
    method : "cg" or "lbfgs"
        Of elr and apn: climb by conjugate gradients with line search, as published, or by L-BFGS,
        which takes fewer evaluations.
    max_iterations : int, at least 1, optional
        Most iterations where `n_iterations` is "cross-tune" (by default 20, as in the paper) or
        None (by default 1000); not used where it is a number.
    n_folds : int, at least 2
        Folds of cross-tuning.
    start : "ofe" or "random"
        Of elr, em and apn: start from the observed frequencies, or from random tables (of softmax
        parameters with standard deviation 0.1), which variables that are never observed need.
    tolerance : float, above 0
        Converged where no entry of the gradient of the mean log (conditional) likelihood is larger;
        for em, where an iteration gains less.
    random_state : int, RandomState or None
        Of the folds and of a random start.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    parents_ : tuple of tuples of int
        Parents of each variable; variable 0 is the class, variable i the attribute in column i - 1.
    tables_ : list of ndarray
        P(v | parents) of each variable, of shape (size of each parent..., size of v).
    categories_ : list of Index
        Values of each attribute, in the order of the tables.
    n_iterations_ : int
        Iterations carried out.
    log_conditional_likelihood_, log_likelihood_ : float
        Sum of ln P(c | e), and of ln P(c, e), over the training rows.
    path_ : ndarray of shape (n_iterations_ + 1,)
        Mean of what was climbed after 0, 1, ... iterations; empty for ofe.
    chosen_ : ndarray of int, shape (number of folds,), or None
        Iterations with the smallest held-out error in each fold of cross-tuning. There are no more
        folds than examples, and none for a single example.
    held_out_errors_ : ndarray of shape (number of folds, at most max_iterations + 1), or None
        After 0, 1, ... iterations, as many as the longest ascent had; NaN where another had ended.

    Notes
    -----
    Columns are discrete: booleans, categories, strings, integers and whole numbers; continuous ones
    have to be discretised first. NaN and None are missing values. A value that was not seen in
    training counts as missing. Missing values are summed out exactly, by message passing.

    Classes whose log probabilities differ by less than 1e-9 are equally probable, and the first of
    them is predicted: so rounding errors, which are other ones on other machines, decide nothing.

    Weights are numbers of cases, for structure, tables and likelihoods: a row of weight 2 is as
    good as two rows, one of weight 0 as none, though its class remains. Only in cross-tuning they
    differ, where a row is in one fold with all its weight. Weights that sum to less than the number
    of rows with positive weight are rescaled to sum to that number.

    References
    ----------
    Greiner, Su, Shen & Zhou (2005); the gradient is their Proposition 3, cross-tuning their
    Appendix B.
    """

    structure: str | tuple = "naive"
    learner: str = "elr"
    smoothing: float = 1.0
    n_iterations: int | str | None = "cross-tune"
    method: str = "cg"
    max_iterations: int | None = None
    n_folds: int = 5
    start: str = "ofe"
    tolerance: float = 1e-6
    random_state: int | np.random.RandomState | None = None

    def fit(self, X, y, sample_weight=None):
        """Learn structure and tables.

        Parameters
        ----------
        X : table of shape (n_samples, n_attributes)
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            How many cases each row stands for, at least 0.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` is not discrete, `y` lacks a label, the structure is
            not a directed acyclic graph over the columns or too large for exact inference, a weight
            is negative, or none is above 0.

        Warns
        -----
        ConvergenceWarning
            If `n_iterations` is None and the ascent stopped before it reached `tolerance`: at
            `max_iterations`, as it must for separable data, whose optimum is at infinity, or
            because rounding errors hid what was left to gain.
        UserWarning
            If most values of a column occur once, as in one that identifies the rows.
        """
        self._check()
        X = checked_frame(self, X, reset=True)
        self.classes_, classes = checked_target(X, y)
        weights = None if sample_weight is None else case_weights(sample_weight, X)
        if weights is not None and not weights.all():
            has_weight = weights > 0
            X = X[has_weight]
            classes = classes[has_weight]
            weights = weights[has_weight]
        self._coding = DiscreteCoding(X)
        self.categories_ = self._coding.categories
        values = self._coding(X)
        sizes = np.append(len(self.classes_), self._coding.sizes)
        if isinstance(self.structure, str):
            codes = np.column_stack([classes, values])
            parents = STRUCTURES[self.structure](codes, sizes, weights)
        else:
            parents = self.structure
        self._network = Network(parents, sizes)
        self.parents_ = self._network.parents
        rows, index = merge_duplicates(values, sizes[1:])
        counts = count_cases(index, classes, (len(rows), sizes[0]), weights)
        cases = Cases(self._network, rows, counts)
        self.path_ = np.empty(0)
        self.chosen_ = None
        self.held_out_errors_ = None
        if self.learner == "ofe":
            self._set_tables(cases, observed_frequencies(cases, self.smoothing))
        else:
            self._climb(cases, index, classes, weights)
        return self

    def predict_joint_log_proba(self, X):
        """Ln P(c, e) of each class and what is observed in each row, (n_samples, n_classes)."""
        X = checked_frame(self, X, reset=False)
        rows, index = merge_duplicates(self._coding(X), self._coding.sizes)
        counts = np.ones((len(rows), len(self.classes_)))
        return Cases(self._network, rows, counts).log_joints(self._theta)[index]

    def _check(self):
        if isinstance(self.structure, str):
            check_choice("structure", self.structure, STRUCTURES)
        check_choice("learner", self.learner, LEARNERS)
        check_real("smoothing", self.smoothing, 0)
        if isinstance(self.n_iterations, str):
            check_choice("n_iterations", self.n_iterations, ["cross-tune"])
        elif self.n_iterations is not None:
            check_integer("n_iterations", self.n_iterations, 0)
        check_choice("method", self.method, METHODS)
        optional(check_integer, "max_iterations", self.max_iterations, 1)
        check_integer("n_folds", self.n_folds, 2)
        check_choice("start", self.start, ("ofe", "random"))
        check_real("tolerance", self.tolerance, 0, open_low=True)

    def _climb(self, cases, index, classes, weights):
        """Climb from the start, as often as cross-tuning chooses, if it is to."""
        rng = check_random_state(self.random_state)
        is_tuned = self.n_iterations == "cross-tune"
        # the folds are drawn before a random start
        if is_tuned:
            held_out = self._held_out_counts(index, classes, cases.counts.shape, rng, weights)
        if self.start == "random":
            first = self._network.softmax(SPREAD * rng.standard_normal(self._network.n_parameters))
        else:
            first = None
        options = {
            "smoothing": self.smoothing,
            "method": self.method,
            "tolerance": self.tolerance,
            "first": first,
        }
        if is_tuned:
            limit = self.max_iterations or TUNED_ITERATIONS
            self.held_out_errors_ = tuning_errors(cases, self.learner, held_out, limit, **options)
            n_iterations, self.chosen_ = choose_iterations(self.held_out_errors_)
        elif self.n_iterations is None:
            n_iterations = self.max_iterations or MANY_ITERATIONS
        else:
            n_iterations = self.n_iterations
        ascent = climb(cases, self.learner, n_iterations, **options)
        self.path_ = ascent.path
        self._set_tables(cases, self._network.softmax(ascent.beta))
        if self.n_iterations is None and not ascent.converged:
            advice = "raise max_iterations or tolerance, or give n_iterations"
            message = (
                f"{self.learner} did not converge in {self.n_iterations_} iterations: {advice}"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _set_tables(self, cases, theta):
        self._theta = theta
        self.tables_ = self._network.tables(theta.copy())
        self.n_iterations_ = max(0, len(self.path_) - 1)
        joints = cases.log_joints(theta)
        self.log_likelihood_ = float((cases.counts * joints).sum())
        posteriors = log_softmax(joints, axis=1)
        self.log_conditional_likelihood_ = float((cases.counts * posteriors).sum())

    def _held_out_counts(self, index, classes, shape, rng, weights):
        """Counts of each fold of a random partition; none where there is one example only."""
        n_folds = min(self.n_folds, len(index))
        if n_folds < 2:
            return np.empty((0, *shape))
        folds = rng.permutation(len(index)) % n_folds
        return fold_counts(index, classes, folds, (n_folds, *shape), weights)
