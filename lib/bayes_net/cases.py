"""Rows of a table merged and prepared for a network: likelihoods, gradients, counts and posteriors."""

from functools import cached_property

import numpy as np
from scipy.special import softmax

from lib.bayes_net.likelihood import Rows, errors, evaluate, log_joints, objective, observed
from lib.bayes_net.messages import LOWEST, find_messages
from lib.bayes_net.packing import factor_cells, merged, packed
from lib.estimators import TIE
from lib.structures.information import MISSING, check_codes
from lib.validation import check_real

LARGEST_PACK = 2**15  # numbers in the table of joint values of factors that are looked up together


class Layout:
    """Rows and the classes that come with them, prepared for inference in up to three ways, each when first needed.

    Parameters
    ----------
    network : Network
    attributes : ndarray of int, shape (n_rows, n_attributes)
    pairs : tuple of two ndarrays of int
        Row and class of all that occur together.
    """

    whole = None  # the layout that this one is a part of

    def __init__(self, network, attributes, pairs):
        self.network, self.attributes, self.pairs = network, attributes, pairs

    @cached_property
    def by_class(self):
        """Rows for inference of the class."""
        return self._prepared(
            "by_class", self.network.by_class, slice(None), np.zeros(len(self.attributes), np.int32)
        )

    @cached_property
    def with_class(self):
        """Pairs for inference of all that is missing."""
        return self._prepared("with_class", self.network.with_class, *self.pairs, left_out=False)

    @cached_property
    def of_class(self):
        """Pairs for their likelihood: missing variables that sum to one are left out."""
        return self._prepared("of_class", self.network.with_class, *self.pairs)

    def subset(self, rows, pairs):
        """Return the layout of some rows (n_rows,) and pairs (n_pairs,), both bool, which are prepared with all."""
        numbers, classes = self.pairs
        part = Layout(
            self.network,
            self.attributes[rows],
            ((np.cumsum(rows) - 1)[numbers[pairs]], classes[pairs]),
        )
        part.whole, part.kept = self, {"by_class": rows, "with_class": pairs, "of_class": pairs}
        return part

    def _prepared(self, name, factors, rows, classes, left_out=True):
        if self.whole:
            of_whole = getattr(self.whole, name)
            return of_whole._replace(picks=of_whole.picks[self.kept[name]])
        values = np.column_stack([classes, self.attributes[rows]]).astype(np.int32, copy=False)
        return prepared(
            factors,
            values,
            _needed(self.network, values) if left_out else np.full(values.shape, True),
        )

    def __getstate__(self):
        return {name: vars(self)[name] for name in ("network", "attributes", "pairs")}

    def __setstate__(self, state):
        # as counts, in Cases
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
        counts = _checked_counts(counts, (len(attributes), int(network.sizes[0])))
        self._set(
            Layout(network, np.ascontiguousarray(attributes, dtype=np.int32), np.nonzero(counts)),
            counts,
        )

    def _set(self, layout, counts):
        # what comes to a worker may be read-only, for which all loops would be compiled again
        self.layout, self.counts = layout, np.require(counts, float, ["C", "W"])
        self.network, self.attributes = layout.network, layout.attributes
        return self

    @classmethod
    def from_rows(cls, network, codes):
        """Merge `codes` (n_samples, n_variables), -1 where missing, with the class in column 0."""
        codes = check_codes("codes", codes, network.sizes, MISSING)
        check_codes("classes, in column 0 of codes,", codes[:, :1], network.sizes[:1], 0)
        attributes, index = merged(codes[:, 1:], network.sizes[1:])
        return cls(
            network,
            attributes,
            class_counts(index, codes[:, 0], (len(attributes), network.sizes[0])),
        )

    def weighted(self, counts):
        """Return the same rows with other counts (n_rows, n_classes), 0 where they were 0; ValueError otherwise."""
        counts = _checked_counts(counts, self.counts.shape)
        known = np.zeros(self.counts.shape, dtype=bool)
        known[self.layout.pairs] = True
        if counts[~known].any():
            row, label = np.argwhere((counts > 0) & ~known)[0]
            found = f"got {counts[row, label]} in row {row}, class {label}"
            raise ValueError(f"counts must be 0 where those of these cases were 0; {found}")
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
        """What `evaluate` needs for the mean ln P(c | e), or else ln P(c, e), with a log prior.

        Raises
        ------
        ValueError
            If `smoothing` is negative, or all counts are 0, where there is no mean.
        """
        smoothing = check_real("smoothing", smoothing, 0)
        self.check_size()
        if conditional:
            factors, rows, counts = self.network.by_class, self.layout.by_class, self.counts
        else:  # the likelihood of the class that is there takes no sum over the others
            factors, rows, counts = (
                self.network.with_class,
                self.layout.of_class,
                self._pair_counts(),
            )
        return objective(factors.parameters, rows, counts, bool(conditional), smoothing, self.size)

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
        gradient = np.empty_like(beta)
        return evaluate(
            beta, self.objective(conditional, smoothing), np.empty_like(beta), gradient
        ), gradient

    def expected_counts(self, theta):
        """Sum of ln P(c, e), and how often each value comes with its parents' values, as expected given the rows."""
        theta = self.network.check_probabilities(theta)
        expected, parameters = (
            np.empty(self.network.n_parameters),
            self.network.with_class.parameters,
        )
        likelihood = objective(
            parameters, self.layout.with_class, self._pair_counts(), False, 0.0, 1.0
        )
        return evaluate(_logs(theta), likelihood, expected, np.empty_like(expected)), expected

    def observed_counts(self):
        """How often each value and its parents' values are all observed, (n_parameters,)."""
        return observed(self.network.by_class.parameters, self.layout.by_class, self.counts)

    def log_joints(self, theta):
        """Ln P(c, e) of each merged row and class, (n_rows, n_classes)."""
        theta = self.network.check_probabilities(theta)
        return log_joints(_logs(theta), self.network.by_class.parameters, self.layout.by_class)

    def posterior(self, theta):
        """P(c | e) of each merged row and class, (n_rows, n_classes)."""
        return softmax(self.log_joints(theta), axis=1)

    def error(self, theta):
        """What part of the rows is not of the class predicted."""
        theta = self.network.check_probabilities(theta)
        return float(self.errors(_logs(theta)[None], self.counts[None])[0, 0])

    def errors(self, betas, counts):
        """Errors of several softmax parameters (n, n_parameters) on several counts (m, n_rows, n_classes), (n, m)."""
        if np.ndim(counts) != 3 or np.shape(counts)[1:] != self.counts.shape:
            raise ValueError(
                f"watched counts must have shape (m, *{self.counts.shape}); got {np.shape(counts)}"
            )
        rows, some = self.layout.by_class, np.any(counts, axis=(0, 2))
        rows, counts = (
            rows._replace(picks=rows.picks[some]),
            np.ascontiguousarray(counts[:, some], dtype=float),
        )
        return errors(
            self.network.log_softmax(betas), self.network.by_class.parameters, rows, counts, TIE
        )

    def _pair_counts(self):
        return self.counts[self.layout.pairs][:, None]

    def __setstate__(self, state):
        self._set(state["layout"], state["counts"])


def _checked_counts(counts, shape):
    """Return `counts` as an array of this shape; ValueError names the first that is negative or not finite."""
    counts = np.asarray(counts)
    if counts.shape != shape or counts.dtype.kind not in "biuf":
        found = f"got {counts.dtype} of {counts.shape}"
        raise ValueError(
            f"counts must have shape (n_rows, n_classes) = {shape} and be numbers; {found}"
        )
    wrong = ~(np.isfinite(counts) & (counts >= 0))
    if wrong.any():
        row, label = np.argwhere(wrong)[0]
        raise ValueError(
            f"counts must be finite and at least 0; got {counts[row, label]} in row {row}, class {label}"
        )
    return counts


def class_counts(index, classes, shape, weights=None):
    """How often each class comes with each row, for `index`, `classes` and perhaps weights of every example."""
    return (
        np.bincount(index * shape[1] + classes, weights, shape[0] * shape[1])
        .reshape(shape)
        .astype(float)
    )


def prepared(factors, values, needed):
    """Rows for the compiled loops: which packs of factors each has, and which messages over what is missing.

    A missing variable that is not `needed` is left out with its factor, as it sums to one.
    """
    columns, rows_needed = np.ascontiguousarray(values.T), np.ascontiguousarray(needed.T)
    cells, live = factor_cells(columns, rows_needed, *factors.padded, factors.offsets)
    picks, packs = packed(
        cells, factors.offsets, min(len(values) // 8, LARGEST_PACK // factors.lookup.shape[1])
    )
    messages, ends = find_messages(factors, values, (values < 0) & needed, live)
    # in one order for all loops
    picks = np.ascontiguousarray(np.column_stack([picks, len(packs) + ends]), np.uint32)
    return Rows(picks, packs, messages)


def _needed(network, values):
    """Which variables are observed or have observed descendants, with the class as an observed one."""
    needed = values >= 0
    if needed.all():
        return needed
    for v in reversed(network.order):
        for p in network.parents[v]:
            needed[:, p] |= needed[:, v]
    return needed


def _logs(theta):
    return np.log(np.maximum(theta, LOWEST))
