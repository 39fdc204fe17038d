"""Rows of a table merged and prepared for a network: likelihoods, gradients, counts and posteriors."""

from functools import cached_property

import numpy as np
from scipy.special import softmax

from lib.bayes_net.likelihood import Objective, Rows, errors, evaluate, log_joints, observed
from lib.bayes_net.network import LOWEST
from lib.bayes_net.packing import factor_cells, packed

MISSING = -1
LARGEST_PACK = 2**15  # numbers in the table of joint values of factors that are looked up together


class Cases:
    """Rows of a table, equal ones merged, and how often each class comes with them.

    Parameters
    ----------
    network : Network
    attributes : ndarray of int, shape (n_rows, n_attributes)
        Different rows of values, -1 where missing.
    counts : ndarray of shape (n_rows, n_classes)
        How often, or with which weight, each class comes with each row.

    Raises
    ------
    ValueError
        If a shape is wrong or a value is none of its variable's.
    """

    def __init__(self, network, attributes, counts):
        self.network = network
        self.attributes = np.ascontiguousarray(attributes, dtype=np.int32)
        self.counts = np.ascontiguousarray(counts, dtype=float)
        self._shared = {"pairs": np.nonzero(self.counts)}
        _check_codes("attributes", self.attributes, network.sizes[1:], MISSING)
        shape = len(self.attributes), int(network.sizes[0])
        if self.counts.shape != shape:
            raise ValueError(f"counts must have shape (n_rows, n_classes) = {shape}; got {self.counts.shape}")

    @classmethod
    def from_rows(cls, network, codes):
        """Merge `codes` (n_samples, n_variables), -1 where missing, with the class in column 0."""
        codes = np.asarray(codes)
        _check_codes("codes", codes, network.sizes, MISSING)
        _check_codes("classes, in column 0 of codes,", codes[:, :1], network.sizes[:1], 0)
        attributes, index = merged(codes[:, 1:], network.sizes[1:])
        return cls(network, attributes, class_counts(index, codes[:, 0], (len(attributes), network.sizes[0])))

    def weighted(self, counts):
        """Return the same rows with other counts (n_rows, n_classes), 0 where they were 0."""
        other = Cases(self.network, self.attributes, counts)
        other._shared = self._shared
        return other

    def present(self):
        """Return the cases without rows that have no count, and which rows are left (n_rows,)."""
        keep = self.counts.any(axis=1)
        other = Cases(self.network, self.attributes[keep], self.counts[keep])
        other._shared["given_class"] = _chosen(self.given_class, keep)
        rows, classes = self._shared["pairs"]
        found = self.counts[rows, classes] > 0
        other._shared["pairs"] = (np.cumsum(keep) - 1)[rows[found]], classes[found]
        for name in {"with_class", "of_class"} & set(self._shared):
            other._shared[name] = _chosen(self._shared[name], found)
        return other, keep

    @property
    def given_class(self):
        """Rows for inference of the class."""
        if "given_class" not in self._shared:
            values = np.column_stack([np.zeros(len(self.attributes), np.int32), self.attributes])
            self._shared["given_class"] = prepared(self.network.given_class, values, _needed(self.network, values))
        return self._shared["given_class"]

    @property
    def with_class(self):
        """Rows with each class that comes with them, for inference of what is missing; and their counts."""
        rows, classes = pairs = self._shared["pairs"]
        if "with_class" not in self._shared:
            values = np.column_stack([classes, self.attributes[rows]]).astype(np.int32)
            self._shared["with_class"] = prepared(self.network.with_class, values, np.ones(values.shape, dtype=bool))
        return self._shared["with_class"], self.counts[pairs][:, None]

    @property
    def of_class(self):
        """Rows with each class that comes with them, without missing variables that sum to one; and their counts."""
        rows, classes = pairs = self._shared["pairs"]
        if "of_class" not in self._shared:
            values = np.column_stack([classes, self.attributes[rows]]).astype(np.int32)
            self._shared["of_class"] = prepared(self.network.with_class, values, _needed(self.network, values))
        return self._shared["of_class"], self.counts[pairs][:, None]

    @cached_property
    def size(self):
        """Number of rows before merging, or the sum of weights."""
        return float(self.counts.sum())

    def objective(self, conditional, smoothing=0.0):
        """What `evaluate` needs for the mean ln P(c | e), or else ln P(c, e), with a log prior."""
        # the likelihood of the class that is there takes no sum over the others
        factors = self.network.given_class if conditional else self.network.with_class
        rows, counts = (self.given_class, self.counts) if conditional else self.of_class
        return Objective(_tree(factors, rows), rows, counts, bool(conditional), float(smoothing), self.size)

    def conditional(self, beta):
        """Mean ln P(c | e) and its gradient with respect to the softmax parameters (Proposition 3)."""
        self.network.check_parameters(beta)
        gradient = np.empty_like(beta)
        return evaluate(beta, self.objective(True), np.empty_like(beta), gradient), gradient

    def joint(self, beta, smoothing=0.0):
        """Mean ln P(c, e), plus `smoothing` times the sum of all ln theta over the size, and its gradient."""
        self.network.check_parameters(beta)
        gradient = np.empty_like(beta)
        return evaluate(beta, self.objective(False, smoothing), np.empty_like(beta), gradient), gradient

    def expected_counts(self, theta):
        """Sum of ln P(c, e), and how often each value comes with its parents' values, as expected given the rows."""
        expected = np.empty(self.network.n_parameters)
        rows, counts = self.with_class
        objective = Objective(_tree(self.network.with_class, rows), rows, counts, False, 0.0, 1.0)
        return evaluate(_logs(theta), objective, expected, np.empty_like(expected)), expected

    def observed_counts(self):
        """How often each value and its parents' values are all observed, (n_parameters,)."""
        return observed(self.network.given_class.no_tree, self.given_class, self.counts)

    def log_joints(self, theta):
        """Ln P(c, e) of each merged row and class, (n_rows, n_classes)."""
        rows = self.given_class
        return log_joints(_logs(theta), _tree(self.network.given_class, rows), rows, np.ones(len(self.counts), bool))

    def posterior(self, theta):
        """P(c | e) of each merged row and class, (n_rows, n_classes)."""
        return softmax(self.log_joints(theta), axis=1)

    def error(self, theta):
        """What part of the rows is not of the class predicted."""
        return float(self.errors(_logs(theta)[None], self.counts[None])[0, 0])

    def errors(self, betas, counts):
        """Errors of several softmax parameters (n, n_parameters) on several counts (m, n_rows, n_classes), (n, m)."""
        log_thetas = self.network.log_softmax(betas)
        counts = np.ascontiguousarray(counts, dtype=float)
        return errors(log_thetas, _tree(self.network.given_class, self.given_class), self.given_class, counts)

    def __getstate__(self):
        return self.__dict__ | {"_shared": {"pairs": self._shared["pairs"]}}

    def __setstate__(self, state):
        # what comes to a worker may be read-only, for which all loops would be compiled again
        arrays = {name: np.require(state[name], requirements="W") for name in ("attributes", "counts")}
        self.__dict__ |= state | arrays


def _tree(factors, rows):
    return factors.tree if rows.summed.any() else factors.no_tree


def _check_codes(name, codes, sizes, lowest):
    """Raise ValueError unless each column of `codes` is from `lowest` to its size less one."""
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.shape[1] != len(sizes) or codes.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers of shape (n, {len(sizes)}); got {codes.dtype} of {codes.shape}")
    wrong = (codes < lowest) | (codes >= sizes)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        allowed = f"from {lowest} to {sizes[column] - 1} in column {column}"
        raise ValueError(f"{name} must be {allowed}; got {codes[row, column]} in row {row}")


def _chosen(rows, keep):
    return Rows(*(array[keep] for array in rows[:-1]), rows.packs)


def merged(values, sizes):
    """Return the different rows of `values` (n, m), -1 where missing, and the number of each row among them."""
    if values.shape[1] == 0:
        return values[:1], np.zeros(len(values), dtype=np.intp)
    if np.log2(np.asarray(sizes, dtype=float) + 1).sum() < 62:
        steps = np.concatenate([np.cumprod(np.asarray(sizes[:0:-1], dtype=np.int64) + 1)[::-1], [1]])
        keys = (values.astype(np.int64) + 1) @ steps
    else:
        keys = np.ascontiguousarray(values, dtype=np.int32).view(f"V{4 * values.shape[1]}").ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return values[first], index


def class_counts(index, classes, shape):
    """How often each class comes with each row, for `index` and `classes` of every example."""
    return np.bincount(index * shape[1] + classes, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


def prepared(factors, values, needed):
    """Rows for the compiled loops: which cell each factor is looked up in, and which factors are to be summed.

    A missing variable that is not `needed` is left out with its factor, as it sums to one.
    """
    columns, rows_needed = np.ascontiguousarray(values.T), np.ascontiguousarray(needed.T)
    cells, live = factor_cells(columns, rows_needed, *factors.padded, factors.offsets)
    live = np.ascontiguousarray(live.T)
    picks, packs = packed(cells, factors.offsets, min(len(values) // 8, LARGEST_PACK // factors.lookup.shape[1]))
    return Rows(np.maximum(values, 0), (values < 0) & needed, live, live.any(axis=1), picks, packs)


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
