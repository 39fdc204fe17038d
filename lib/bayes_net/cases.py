"""Rows of a table with a network, equal ones merged: likelihoods, gradients, expected counts."""

from functools import cached_property

import numpy as np
from scipy.special import softmax

from lib.base.estimators import TIE
from lib.base.validation import check_real
from lib.bayes_net.duplicates import merge_duplicates
from lib.bayes_net.factor_groups import find_cells, group_factors
from lib.bayes_net.likelihood import Objective, Rows, error_rates, log_joints, observed_counts
from lib.bayes_net.messages import LOWEST, find_messages
from lib.structures.information import MISSING, check_codes

LARGEST_GROUP = 2**15  # numbers in the table of joint values of a group of factors


class Layout:
    """Rows and the classes that come with them, arranged for inference in three ways.

    Each way is computed when it is first needed.

    Parameters
    ----------
    network : Network
    attributes : ndarray of int, shape (n_rows, n_attributes)
    pairs : tuple of two ndarrays of int
        Row and class of all that occur together.
    """

    parent = None  # the layout of which this one is a subset
    masks = None  # which rows of the parent's arrangements are in the subset, by their names

    def __init__(self, network, attributes, pairs):
        self.network = network
        self.attributes = attributes
        self.pairs = pairs

    @cached_property
    def by_class(self):
        """Rows for inference of the class."""
        classes = np.zeros(len(self.attributes), np.int32)
        return self._arrange("by_class", self.network.by_class, slice(None), classes)

    @cached_property
    def with_class(self):
        """Pairs for inference of all that is missing."""
        rows, classes = self.pairs
        return self._arrange(
            "with_class", self.network.with_class, rows, classes, leave_out_barren=False
        )

    @cached_property
    def of_class(self):
        """Pairs for their likelihood: missing variables that sum to one are left out."""
        rows, classes = self.pairs
        return self._arrange("of_class", self.network.with_class, rows, classes)

    def subset(self, rows, pairs):
        """Return the layout of some rows (n_rows,) and pairs (n_pairs,), both bool.

        It takes what it needs from this layout.
        """
        new_numbers = np.cumsum(rows) - 1
        numbers, classes = self.pairs
        subset_pairs = new_numbers[numbers[pairs]], classes[pairs]
        subset = Layout(self.network, self.attributes[rows], subset_pairs)
        subset.parent = self
        subset.masks = {"by_class": rows, "with_class": pairs, "of_class": pairs}
        return subset

    def _arrange(self, name, factors, rows, classes, leave_out_barren=True):
        if self.parent:
            arranged = getattr(self.parent, name)
            return arranged._replace(terms=arranged.terms[self.masks[name]])
        values = np.column_stack([classes, self.attributes[rows]]).astype(np.int32, copy=False)
        needed = np.full(values.shape, True)
        if leave_out_barren:
            needed = has_evidence(self.network, values)
        return arrange_rows(factors, values, needed)

    def __getstate__(self):
        return {name: vars(self)[name] for name in ("network", "attributes", "pairs")}

    def __setstate__(self, state):
        # writable, as counts in Cases are
        vars(self).update(state, attributes=np.require(state["attributes"], requirements="W"))


class Cases:
    """Rows of a table, equal ones merged, and how often each class comes with them.

    Parameters
    ----------
    network : Network
    attributes : ndarray of int, shape (n_rows, n_attributes)
        Different rows of values, -1 where missing.
    counts : ndarray of shape (n_rows, n_classes)
        How often, or with which weight, each class comes with each row: at least 0.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is none of its variable's, or a count is negative or not
        finite.

    Notes
    -----
    Methods that take tables as a flat vector `theta` (n_parameters,) raise ValueError unless its
    rows sum to 1.
    """

    def __init__(self, network, attributes, counts):
        attributes = check_codes("attributes", attributes, network.sizes[1:], MISSING)
        attributes = np.ascontiguousarray(attributes, dtype=np.int32)
        counts = _check_counts(counts, (len(attributes), int(network.sizes[0])))
        self._set(Layout(network, attributes, np.nonzero(counts)), counts)

    def _set(self, layout, counts):
        self.layout = layout
        # what comes to a worker may be read-only, for which all loops would be compiled again
        self.counts = np.require(counts, float, ["C", "W"])
        self.network = layout.network
        self.attributes = layout.attributes
        return self

    @classmethod
    def from_rows(cls, network, codes):
        """Merge `codes` (n_samples, n_variables), -1 where missing, with the class in column 0."""
        codes = check_codes("codes", codes, network.sizes, MISSING)
        check_codes("classes, in column 0 of codes,", codes[:, :1], network.sizes[:1], 0)
        attributes, index = merge_duplicates(codes[:, 1:], network.sizes[1:])
        counts = count_cases(index, codes[:, 0], (len(attributes), network.sizes[0]))
        return cls(network, attributes, counts)

    def weighted(self, counts):
        """Return the same rows with other counts (n_rows, n_classes).

        ValueError unless they are 0 where those of these cases are 0.
        """
        counts = _check_counts(counts, self.counts.shape)
        occurs = np.zeros(self.counts.shape, dtype=bool)
        occurs[self.layout.pairs] = True
        if counts[~occurs].any():
            row, label = np.argwhere((counts > 0) & ~occurs)[0]
            detail = f"got {counts[row, label]} in row {row}, class {label}"
            raise ValueError(f"counts must be 0 where those of these cases were 0; {detail}")
        return Cases.__new__(Cases)._set(self.layout, counts)

    def present(self):
        """Return the cases without rows that have no count, and which rows are left (n_rows,)."""
        keep = self.counts.any(axis=1)
        layout = self.layout.subset(keep, self.counts[self.layout.pairs] > 0)
        return Cases.__new__(Cases)._set(layout, self.counts[keep]), keep

    @property
    def size(self):
        """Number of rows before merging, or the sum of weights."""
        return float(self.counts.sum())

    def objective(self, conditional, smoothing=0.0):
        """Return the `Objective`: the mean ln P(c | e), or else ln P(c, e), with a log prior.

        Raises
        ------
        ValueError
            If `smoothing` is negative, or all counts are 0, where there is no mean.
        """
        smoothing = check_real("smoothing", smoothing, 0)
        self.check_size()
        if conditional:
            factors = self.network.by_class
            rows = self.layout.by_class
            counts = self.counts
        else:  # the likelihood of the class that is there takes no sum over the others
            factors = self.network.with_class
            rows = self.layout.of_class
            counts = self._pair_counts()
        return Objective(factors.parameters, rows, counts, bool(conditional), smoothing, self.size)

    def expectation(self):
        """Return the `Objective` whose value is the sum of ln P(c, e), for expected counts."""
        return Objective(
            self.network.with_class.parameters,
            self.layout.with_class,
            self._pair_counts(),
            conditional=False,
            smoothing=0.0,
            size=1.0,
        )

    def check_size(self):
        """Raise ValueError if all counts are 0, so that there is no mean over the rows."""
        if self.size == 0:
            raise ValueError("cases must have a count above 0; got none")

    def value_and_gradient(self, beta, conditional=True, smoothing=0.0):
        """Mean ln P(c | e) and its gradient with respect to the softmax parameters (Proposition 3).

        If not `conditional`, of ln P(c, e); in either case plus `smoothing` times the sum of all ln
        theta over size.
        """
        beta = self.network.check_parameters(beta)
        value, gradient, _ = self.objective(conditional, smoothing).evaluate(beta)
        return value, gradient

    def expected_counts(self, theta):
        """Sum of ln P(c, e), and how often each value is expected with its parents' values."""
        theta = self.network.check_probabilities(theta)
        value, _, expected = self.expectation().evaluate(_logs(theta))
        return value, expected

    def observed_counts(self):
        """How often each value and its parents' values are all observed, (n_parameters,)."""
        return observed_counts(self.network.by_class.parameters, self.layout.by_class, self.counts)

    def log_joints(self, theta):
        """Ln P(c, e) of each merged row and class, (n_rows, n_classes)."""
        theta = self.network.check_probabilities(theta)
        return log_joints(_logs(theta), self.network.by_class.parameters, self.layout.by_class)

    def posterior(self, theta):
        """P(c | e) of each merged row and class, (n_rows, n_classes)."""
        return softmax(self.log_joints(theta), axis=1)

    def error(self, theta):
        """Error rate of the classes predicted with `theta`, on these cases."""
        theta = self.network.check_probabilities(theta)
        return float(self.errors(_logs(theta)[None], self.counts[None])[0, 0])

    def errors(self, betas, counts):
        """Error rates of several parameters on several counts of the rows.

        Parameters
        ----------
        betas : ndarray of shape (n, n_parameters)
            Softmax parameters.
        counts : ndarray of shape (m, n_rows, n_classes)

        Returns
        -------
        ndarray of shape (n, m)
        """
        if np.ndim(counts) != 3 or np.shape(counts)[1:] != self.counts.shape:
            raise ValueError(
                f"watched counts must have shape (m, *{self.counts.shape}); got {np.shape(counts)}"
            )
        rows = self.layout.by_class
        has_count = np.any(counts, axis=(0, 2))
        return error_rates(
            self.network.log_softmax(betas),
            self.network.by_class.parameters,
            rows._replace(terms=rows.terms[has_count]),
            np.ascontiguousarray(counts[:, has_count], dtype=float),
            TIE,
        )

    def watched_errors(self, betas, watched, n_steps):
        """Error rates of an ascent's parameters, (n_steps, m); m is 0 if nothing is `watched`."""
        if watched is None:
            return np.empty((n_steps, 0))
        return self.errors(np.array(betas), watched)

    def _pair_counts(self):
        return self.counts[self.layout.pairs][:, None]

    def __setstate__(self, state):
        self._set(state["layout"], state["counts"])


def _check_counts(counts, shape):
    """Return `counts` as an array of this shape; ValueError if one is negative or not finite."""
    counts = np.asarray(counts)
    if counts.shape != shape or counts.dtype.kind not in "biuf":
        detail = f"got {counts.dtype} of {counts.shape}"
        raise ValueError(
            f"counts must have shape (n_rows, n_classes) = {shape} and be numbers; {detail}"
        )
    wrong = ~(np.isfinite(counts) & (counts >= 0))
    if wrong.any():
        row, label = np.argwhere(wrong)[0]
        raise ValueError(
            f"counts must be finite and at least 0; "
            f"got {counts[row, label]} in row {row}, class {label}"
        )
    return counts


def count_cases(index, classes, shape, weights=None):
    """How often each class comes with each row, (n_rows, n_classes).

    `index`, `classes` and perhaps `weights` (n_samples,) are row, class and weight of examples.
    """
    n_rows, n_classes = shape
    codes = index * n_classes + classes
    return np.bincount(codes, weights, n_rows * n_classes).reshape(shape).astype(float)


def arrange_rows(factors, values, needed):
    """Arrange rows as sums of terms: of groups of factors, and of messages for what is missing.

    Parameters
    ----------
    factors : Factors
    values : ndarray of int32, shape (n_rows, n_variables)
    needed : ndarray of bool, shape (n_rows, n_variables)
        A missing variable that is not needed is left out with its factor, as it sums to one.
    """
    cells, is_summed = find_cells(
        np.ascontiguousarray(values.T),
        np.ascontiguousarray(needed.T),
        factors.padded_scopes,
        factors.padded_strides,
        factors.offsets,
    )
    n_columns = factors.lookup.shape[1]
    max_values = min(len(values) // 8, LARGEST_GROUP // n_columns)
    joint_values, group_cells = group_factors(cells, factors.offsets, max_values)
    messages, ends = find_messages(factors, values, (values < 0) & needed, is_summed)
    # in one order of memory, or all loops would be compiled for two
    terms = np.ascontiguousarray(
        np.column_stack([joint_values, len(group_cells) + ends]), np.uint32
    )
    return Rows(terms, group_cells, messages)


def has_evidence(network, values):
    """Which variables are observed or have observed descendants; the class counts as observed.

    The others are barren nodes (Shachter, 1986).
    """
    evidence = values >= 0
    if evidence.all():
        return evidence
    for v in reversed(network.order):
        for p in network.parents[v]:
            evidence[:, p] |= evidence[:, v]
    return evidence


def _logs(theta):
    return np.log(np.maximum(theta, LOWEST))
