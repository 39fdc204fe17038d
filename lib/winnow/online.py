"""Winnow2: multiplicative updates of positive weights, with margin, complement attributes and averaging."""

import math

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.arrays import check_boolean_matrix, check_sparse_boolean_matrix, row_batches
from lib.discretize.columns import checked_target
from lib.estimators import case_weights, with_parameters
from lib.validation import check_flag, check_integer, check_real, optional
from lib.winnow.kernel import pack, totals, train, train_active, train_parts

HEAVIEST = 1e250
PRODUCT = 256  # MiB of rows in float64 at a time
PRESENTATIONS = 2**18  # at least a pass, in one call of the compiled loop
LONGEST = 10**8  # presentations in a pass
SETTLED = "initial_weight", "complement", "average"  # parameters that partial_fit cannot change


class WinnowBase(ClassifierMixin, BaseEstimator):
    """Checks, thresholds and predictions that all Winnows share."""

    _accept_sparse = False

    def _check_parameters(self):
        check_real("promotion", self.promotion, 1, open_low=True)
        optional(check_real, "demotion", self.demotion, 0, 1, open_low=True, open_high=True)
        optional(check_real, "threshold", self.threshold, 0, open_low=True)
        check_real("initial_weight", self.initial_weight, 0, open_low=True)
        optional(check_real, "margin", self.margin, 0)
        check_integer("n_passes", self.n_passes, 1)
        for name in ("complement", "average", "inclusive", "shuffle"):
            check_flag(name, getattr(self, name, False))

    def _training_data(self, X, y):
        """Rows of 0 and 1, the classes, and the number of each row's class."""
        X = validate_data(
            self, X, dtype=None, ensure_min_samples=2, accept_sparse=self._accept_sparse
        )
        classes, target = checked_target(X, y)
        return self._attributes(X, self.complement), classes, target

    def _attributes(self, X, complement):
        if sparse.issparse(X) and complement:
            raise ValueError(
                "complement must be False for sparse X, as 1 - x is not sparse; or give X.toarray()"
            )
        return (
            check_sparse_boolean_matrix("X", X)
            if sparse.issparse(X)
            else check_boolean_matrix("X", X)
        )

    def _n_weights(self, rows):
        return rows.shape[1] * (2 if self.complement else 1)

    def _updates(self, n_weights):
        """Promotion, demotion, and the least Z that predicts 1, is no thin 1, and is a thin 0 or more."""
        demotion = 1 / self.promotion if self.demotion is None else self.demotion
        threshold = n_weights / 2 if self.threshold is None else float(self.threshold)
        margin = 0.2 * threshold if self.margin is None else float(self.margin)
        if max(self.initial_weight * n_weights, self.promotion * (threshold + margin)) > HEAVIEST:
            raise ValueError(
                f"weights would overflow: n_weights initial_weight and promotion (threshold + margin) must be at most "
                f"{HEAVIEST:g}; got initial_weight={self.initial_weight!r}, promotion={self.promotion!r}, "
                f"threshold={threshold!r}, margin={margin!r}"
            )
        self.threshold_ = threshold
        reached = threshold if self.inclusive else math.nextafter(threshold, math.inf)
        below = min(reached, math.nextafter(threshold - margin, math.inf))
        return (
            float(self.promotion),
            float(demotion),
            reached,
            max(reached, threshold + margin),
            below,
        )

    def decision_function(self, X):
        """Z - threshold, shape (n_samples,), for two classes; Z of each class, (n_samples, n_classes), for more."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, reset=False, accept_sparse=self._accept_sparse)
        complement = self.weights_.shape[-1] > self.n_features_in_
        z = sums(self._attributes(X, complement), self.weights_)
        return z if z.ndim == 2 else z - self.threshold_

    def predict(self, X):
        """The predicted class of each row, shape (n_samples,)."""
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return self.classes_[scores.argmax(axis=1)]
        return self.classes_[(scores >= 0 if self.inclusive else scores > 0).astype(int)]


@with_parameters
class Winnow(WinnowBase):
    """Winnow2, the mistake-driven learner of a linear threshold function with positive weights.

    It predicts 1 where Z, the sum of w_i x_i, reaches the threshold. After a mistake the weights of
    the active attributes (x_i = 1) are multiplied by `promotion` if the label is 1, by `demotion`
    if it is 0.

    Parameters
    ----------
    promotion : float, above 1
    demotion : float in (0, 1), or None for 1 / promotion
    threshold : float above 0, or None for half the number of weights
    initial_weight : float above 0
    margin : float, at least 0, or None for 0.2 threshold
        Also update, correct or not, where ``|Z - threshold| < margin``: "thick" Winnow.
    complement : bool
        Learn on the 2n attributes (x, 1 - x), which allows for negative weights.
    average : bool
        Predict with the mean, over all presentations, of the weights each was predicted with.
    n_passes : int, at least 1
        Passes of `fit` over the sample.
    inclusive : bool
        Predict 1 at Z >= threshold (Atlas), or only at Z > threshold (Littlestone, Grove & Roth).
    shuffle : bool
        Present the rows of each pass in a random order instead of the given one.
    random_state : int, RandomState or None
        Only for shuffle.

    Attributes
    ----------
    classes_ : ndarray
    weights_ : ndarray of shape (n_weights,), or (n_classes, n_weights) for more than two classes
        One against the rest; the largest Z wins. The first n of 2n weights belong to x, the others
        to 1 - x.
    threshold_ : float
    n_mistakes_ : int
        Wrong predictions during training, over all passes (and all classes).
    n_updates_ : int

    Notes
    -----
    `X` may be sparse, of any scipy format; time then follows the ones in it. With `complement` it
    may not, as 1 - x is not sparse.

    Weights neither underflow nor overflow, and Z is always finite. A demotion that would take a
    weight below the smallest normal number, 2.2e-308, leaves it as it is, so that later promotions
    can bring it back. Since only a Z of less than threshold + margin is promoted, no weight
    outgrows promotion (threshold + margin) or the initial weight, and `fit` refuses parameters with
    which these could.

    A row of weight 3 is presented three times in succession, one of weight 0 never, though its
    class remains. Of a weight that is no whole number the rest r makes one presentation more, the
    last one: its factor is promotion or demotion to the power of r, the shorter step of
    exponentiated gradient. It counts as r presentations in the average, and as one in `n_mistakes_`
    and `n_updates_`. If the sum of all weights is less than the number of rows that have any, they
    are multiplied until it is this number.

    References
    ----------
    Littlestone (1988), Winnow2; Grove & Roth (1997), section 6. Kivinen & Warmuth (1997),
    exponentiated gradient.
    """

    _accept_sparse = "csr"

    promotion: float = 2.0
    demotion: float | None = None
    threshold: float | None = None
    initial_weight: float = 1.0
    margin: float = 0.0
    complement: bool = False
    average: bool = False
    n_passes: int = 1
    inclusive: bool = True
    shuffle: bool = False
    random_state: int | np.random.RandomState | None = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.complement
        return tags

    def fit(self, X, y, sample_weight=None):
        """Learn from attributes `X` (n_samples, n_attributes) of 0 and 1 and the classes `y`, from the start.

        Parameters
        ----------
        X, y
        sample_weight : array of shape (n_samples,), optional
            How often each row is presented in a pass, at least 0; see the notes.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` holds other values, lengths differ, `y` lacks a
            class or has only one, a weight is negative, or none is above 0, or a pass would have
            more than 100,000,000 presentations.
        """
        self._check_parameters()
        rows, classes, target = self._training_data(X, y)
        weights = None if sample_weight is None else case_weights(sample_weight, rows)
        self._start(classes, self._n_weights(rows))
        self._learn(rows, target, self.n_passes, *presentations(weights, rows.shape[0]))
        return self

    def partial_fit(self, X, y, classes=None):
        """Go on learning from more examples, one pass over them.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array-like, required at the first call
            All classes that will occur.

        Raises
        ------
        ValueError
            As in `fit`; if `classes` is missing at the first call or differs later, or `y` has
            another class; or if `initial_weight`, `complement` or `average` are no longer those
            with which learning began.
        """
        first = not hasattr(self, "weights_")
        self._check_parameters()
        if first and classes is None:
            raise ValueError("classes must be given at the first call of partial_fit")
        for name in () if first else SETTLED:
            if getattr(self, name) != self._settled[name]:
                began = f"that with which learning began, {self._settled[name]!r}"
                raise ValueError(
                    f"{name} must stay {began}; got {getattr(self, name)!r} (fit begins anew)"
                )
        X = validate_data(self, X, dtype=None, reset=first, accept_sparse=self._accept_sparse)
        present, target = checked_target(X, y)
        rows = self._attributes(X, self.complement)
        if first:
            classes, _ = checked_target(classes, classes)
        elif classes is None or np.array_equal(np.unique(classes), self.classes_):
            classes = self.classes_
        else:
            raise ValueError(
                f"classes must be those of the first call, {self.classes_}; got {classes!r}"
            )
        numbers = {name: number for number, name in enumerate(classes)}
        places = np.array([numbers.get(name, -1) for name in present])[target]
        if (places < 0).any():
            raise ValueError(
                f"y holds {present[target[places.argmin()]]!r}, which is not one of classes: {classes}"
            )
        if first:
            self._start(classes, self._n_weights(rows))
        self._learn(rows, places, 1, *presentations(None, rows.shape[0]))
        return self

    def _start(self, classes, n_weights):
        if len(classes) < 2:
            raise ValueError(f"y must have at least two classes; got one class: {classes.tolist()}")
        self.classes_ = classes
        self._settled = {name: getattr(self, name) for name in SETTLED}
        n_concepts = 1 if len(self.classes_) == 2 else len(self.classes_)
        self._current = np.full((n_concepts, n_weights), float(self.initial_weight))
        self._weighted_changes = np.zeros((n_concepts, n_weights if self.average else 0))
        self._n_presented = self.n_mistakes_ = self.n_updates_ = 0
        self._rng = check_random_state(self.random_state)

    def _learn(self, rows, target, n_passes, examples, sizes):
        """Make passes over the presentations: of each its row in `examples`, and the part of one that it is."""
        rule, length = self._updates(self._n_weights(rows)), len(sizes)
        if (sizes < 1).any():
            step, data = train_parts, (*_active(self._sparse(rows)), sizes, examples)
            examples, length = np.arange(length), sizes.sum()
        else:
            step, data = (
                (train_active, _active(rows)) if sparse.issparse(rows) else (train, pack(rows))
            )
        first_positive = 1 if len(self.classes_) == 2 else 0
        labels = [target == positive for positive in range(first_positive, len(self.classes_))]
        together = max(1, PRESENTATIONS // len(examples))
        for first in range(0, n_passes, together):
            passes = times = min(together, n_passes - first)
            order = examples
            if self.shuffle:
                times, order = (
                    1,
                    np.concatenate([self._rng.permutation(examples) for _ in range(passes)]),
                )
            for label, weights, average in zip(
                labels, self._current, self._weighted_changes, strict=True
            ):
                counts = step(
                    *data, label, order, times, weights, average, self._n_presented, *rule
                )
                self.n_mistakes_ += int(counts[0])
                self.n_updates_ += int(counts[1])
            self._n_presented += passes * length
        averaged = self._weighted_changes.shape[1] > 0
        weights = (
            self._current - self._weighted_changes / self._n_presented
            if averaged
            else self._current.copy()
        )
        self.weights_ = weights[0] if len(weights) == 1 else weights

    def _sparse(self, rows):
        """All attributes that weights are of as a CSR matrix."""
        return sparse.csr_array(np.hstack([rows, 1 - rows]) if self.complement else rows)


def presentations(weights, n_rows):
    """Row of each presentation of a pass, and what part of one it is, in (0, 1]: a row of weight 2.5 has 1, 1 and 0.5.

    Weights (n_rows,) are not negative; None is 1 for each row.
    """
    if weights is None:
        return np.arange(n_rows), np.ones(n_rows)
    numbers = np.ceil(weights)
    if numbers.sum() > LONGEST:
        raise ValueError(
            f"sample_weight must have a sum of at most {LONGEST:,}; got {weights.sum():,.0f}"
        )
    numbers = numbers.astype(np.int64)
    examples = np.repeat(np.arange(n_rows), numbers)
    sizes = np.ones(len(examples))
    some = numbers > 0
    sizes[np.cumsum(numbers)[some] - 1] = (weights - numbers + 1)[some]
    return examples, sizes


def _active(rows):
    """The row pointers and columns of a CSR matrix as unsigned integers: they are never negative."""
    return tuple(numbers.view(f"u{numbers.itemsize}") for numbers in (rows.indptr, rows.indices))


def sums(rows, weights):
    """Z of each row (s, n) of 0 and 1, for weights (n,), or (2n,) with those of 1 - x, or each of many, (k, ...)."""
    if sparse.issparse(rows):
        z = totals(*_active(rows), np.atleast_2d(weights))
        return z if weights.ndim == 2 else z[:, 0]
    n = rows.shape[1]
    batches = row_batches(rows.shape[0], 8 * (n + len(np.atleast_2d(weights))), PRODUCT)
    z = np.concatenate([rows[batch] @ weights[..., :n].T for batch in batches])
    if weights.shape[-1] > n:
        z += np.concatenate([(rows[batch] == 0) @ weights[..., n:].T for batch in batches])
    return z
