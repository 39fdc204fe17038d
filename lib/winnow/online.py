"""Winnow2: multiplicative updates, with margin, complement attributes and averaging.

`winnow_step` is the algorithm, `present_examples` a run of it. The classes call the compiled loops
of `lib.winnow.fast`, which do the same, but for rounding.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.base.arrays import check_boolean_matrix, check_sparse_boolean_matrix, row_batches
from lib.base.estimators import case_weights, with_parameters
from lib.base.validation import check_flag, check_integer, check_real, optional
from lib.discretize.columns import checked_target
from lib.winnow.fast import LOWEST, active_sums, pad_columns, train, train_active

HEAVIEST = 1e250
PRODUCT = 256  # MiB of rows in float64 at a time
PRESENTATIONS = 2**18  # at least a pass, in one call of the compiled loop
LONGEST = 10**8  # presentations in a pass
FIXED_PARAMETERS = "initial_weight", "complement", "average"  # partial_fit cannot change them


class UpdateRule(NamedTuple):
    """What Winnow does with an example: alpha, beta, theta and tau of Grove & Roth, section 6.

    `inclusive` says whether Z = threshold predicts 1.
    """

    promotion: float
    demotion: float
    threshold: float
    margin: float
    inclusive: bool


def winnow_step(weights, x, label, rule, size=1.0):
    """Predict one example, then promote or demote the weights of its active attributes.

    Parameters
    ----------
    weights : (n,) float64, positive
    x : (n,) of 0 and 1
    label : bool
    rule : UpdateRule
    size : float in (0, 1]
        Power of the factor; less than 1 for a part of a presentation.

    Returns
    -------
    weights : (n,) float64
        Updated; the same array where nothing changes.
    mistaken, updating : bool

    References
    ----------
    Littlestone (1988), Winnow2; Grove & Roth (1997), section 6.
    """
    z = weights @ x
    predicted = z >= rule.threshold if rule.inclusive else z > rule.threshold
    mistaken = predicted != label
    # "thick" Winnow: also update where Z is within the margin of the threshold
    near_threshold = rule.threshold - rule.margin < z < rule.threshold + rule.margin
    if not (mistaken or near_threshold):
        return weights, mistaken, False
    factor = (rule.promotion if label else rule.demotion) ** size
    # a weight that a demotion would take below the smallest normal number stays
    floor = 0.0 if label else LOWEST / factor
    active = (x == 1) & (weights >= floor)
    return np.where(active, factor * weights, weights), mistaken, True


def present_examples(rows, labels, rule, weights, n_passes=1, sizes=None):
    """Run Winnow over examples in the given order.

    Parameters
    ----------
    rows : (s, n) of 0 and 1
        For negative weights, with the complement attributes: ``np.hstack([X, 1 - X])``.
    labels : (s,) bool
    rule : UpdateRule
    weights : (n,) float64
        Initial weights.
    n_passes : int
    sizes : (s,) float64 in (0, 1], optional
        What part of a presentation each example is.

    Returns
    -------
    last, mean : (n,) float64
        Weights after the last example, and the mean of those that each was predicted with.
    n_mistakes, n_updates : int
    """
    sizes = np.ones(len(rows)) if sizes is None else sizes
    total = np.zeros(len(weights))
    n_mistakes = 0
    n_updates = 0
    for _ in range(n_passes):
        for x, label, size in zip(rows, labels, sizes, strict=True):
            total += size * weights
            weights, mistaken, updating = winnow_step(weights, x, label, rule, size)
            n_mistakes += int(mistaken)
            n_updates += int(updating)
    return weights, total / (n_passes * np.sum(sizes)), n_mistakes, n_updates


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
        if sparse.issparse(X):
            return check_sparse_boolean_matrix("X", X)
        return check_boolean_matrix("X", X)

    def _n_weights(self, rows):
        return rows.shape[1] * (2 if self.complement else 1)

    def _update_rule(self, n_weights):
        """The rule, its defaults resolved for the number of weights."""
        demotion = 1 / self.promotion if self.demotion is None else self.demotion
        threshold = n_weights / 2 if self.threshold is None else float(self.threshold)
        margin = 0.2 * threshold if self.margin is None else float(self.margin)
        # bounds of the first Z and of a weight after a promotion (see the notes of Winnow)
        heaviest = max(self.initial_weight * n_weights, self.promotion * (threshold + margin))
        if heaviest > HEAVIEST:
            raise ValueError(
                "weights would overflow: n_weights initial_weight and promotion (threshold + "
                f"margin) must be at most {HEAVIEST:g}; got initial_weight="
                f"{self.initial_weight!r}, promotion={self.promotion!r}, "
                f"threshold={threshold!r}, margin={margin!r}"
            )
        self.threshold_ = threshold
        return UpdateRule(
            promotion=float(self.promotion),
            demotion=float(demotion),
            threshold=threshold,
            margin=margin,
            inclusive=bool(self.inclusive),
        )

    def decision_function(self, X):
        """Z - threshold for two classes, Z of each class for more.

        Parameters
        ----------
        X : (n_samples, n_attributes) of 0 and 1

        Returns
        -------
        (n_samples,), or (n_samples, n_classes) for more than two classes
        """
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
        Whether `fit` presents the rows of each pass in a random order, or in the given one. The
        weights follow the rows seen last: after rows that are sorted by class, Winnow predicts the
        last class almost everywhere. False where the order is what is studied: a bound of mistakes,
        a target that changes. `partial_fit` takes its rows as they come.
    random_state : int, RandomState or None
        Draws the orders of the passes.

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

    A row of weight 3 is presented three times in a pass, one of weight 0 never, though its class
    remains. A fractional remainder r of a weight adds a last presentation, whose factor is
    promotion or demotion to the power of r, a shorter step of exponentiated gradient. It counts as
    r presentations in the average, and as one in `n_mistakes_` and `n_updates_`. Weights that sum
    to less than the number of rows with positive weight are rescaled to sum to that number.

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
    shuffle: bool = True
    random_state: int | np.random.RandomState | None = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.complement
        return tags

    def fit(self, X, y, sample_weight=None):
        """Learn from examples, from the start.

        Parameters
        ----------
        X : (n_samples, n_attributes) of 0 and 1
        y : (n_samples,)
            Classes.
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
        examples, sizes = presentations(weights, rows.shape[0])
        rng = check_random_state(self.random_state) if self.shuffle else None
        self._learn(rows, target, self.n_passes, examples, sizes, rng)
        return self

    def partial_fit(self, X, y, classes=None):
        """Go on learning from more examples, one pass over them in the order in which they come.

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
        first_call = not hasattr(self, "weights_")
        self._check_parameters()
        if first_call and classes is None:
            raise ValueError("classes must be given at the first call of partial_fit")
        if not first_call:
            self._check_fixed_parameters()
        X = validate_data(self, X, dtype=None, reset=first_call, accept_sparse=self._accept_sparse)
        present_classes, target = checked_target(X, y)
        rows = self._attributes(X, self.complement)
        if first_call:
            classes, _ = checked_target(classes, classes)
        elif classes is None or np.array_equal(np.unique(classes), self.classes_):
            classes = self.classes_
        else:
            raise ValueError(
                f"classes must be those of the first call, {self.classes_}; got {classes!r}"
            )
        target = _renumber(target, present_classes, classes)
        if first_call:
            self._start(classes, self._n_weights(rows))
        examples, sizes = presentations(None, rows.shape[0])
        self._learn(rows, target, n_passes=1, examples=examples, sizes=sizes)
        return self

    def _check_fixed_parameters(self):
        for name in FIXED_PARAMETERS:
            if getattr(self, name) != self._initial_parameters[name]:
                raise ValueError(
                    f"{name} must stay that with which learning began, "
                    f"{self._initial_parameters[name]!r}; "
                    f"got {getattr(self, name)!r} (fit begins anew)"
                )

    def _start(self, classes, n_weights):
        if len(classes) < 2:
            raise ValueError(f"y must have at least two classes; got one class: {classes.tolist()}")
        self.classes_ = classes
        self._initial_parameters = {name: getattr(self, name) for name in FIXED_PARAMETERS}
        n_concepts = 1 if len(classes) == 2 else len(classes)
        self._current = np.full((n_concepts, n_weights), float(self.initial_weight))
        self._weighted_changes = np.zeros((n_concepts, n_weights if self.average else 0))
        self._n_presented = 0
        self.n_mistakes_ = 0
        self.n_updates_ = 0

    def _learn(self, rows, target, n_passes, examples, sizes, rng=None):
        """Make passes over presentations, which `presentations` describes, for each concept.

        `rng`, a RandomState, draws an order for each pass; without one the given order is kept.
        """
        rule = self._update_rule(self._n_weights(rows))
        is_fractional = bool((sizes < 1).any())
        if is_fractional:
            rows = self._active_attributes(rows)
        elif not sparse.issparse(rows):
            rows = pad_columns(rows)
        pass_size = sizes.sum() if is_fractional else len(sizes)
        # of two classes the second is the concept; of more, each against the rest
        positive_classes = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        chunk = max(1, PRESENTATIONS // len(examples))
        for first_pass in range(0, n_passes, chunk):
            n_chunk_passes = min(chunk, n_passes - first_pass)
            if rng is None:
                order = np.arange(len(examples))
                n_repeats = n_chunk_passes
            else:
                order = [rng.permutation(len(examples)) for _ in range(n_chunk_passes)]
                order = np.concatenate(order)
                n_repeats = 1
            for concept, positive in enumerate(positive_classes):
                self._train_concept(
                    concept,
                    rule,
                    rows,
                    labels=target == positive,
                    order=examples[order],
                    sizes=sizes[order],
                    n_passes=n_repeats,
                )
            self._n_presented += n_chunk_passes * pass_size
        weights = self._current.copy()
        if self._weighted_changes.shape[1] > 0:
            weights -= self._weighted_changes / self._n_presented
        self.weights_ = weights[0] if len(weights) == 1 else weights

    def _train_concept(self, concept, rule, rows, labels, order, sizes, n_passes):
        """Let the compiled loop of sparse or of dense rows change the weights of one concept."""
        weights = self._current[concept]
        weighted_changes = self._weighted_changes[concept]
        n_presented = float(self._n_presented)
        if sparse.issparse(rows):
            pointers, columns = _unsigned_indices(rows)
            n_mistakes, n_updates = train_active(
                pointers,
                columns,
                labels,
                order,
                sizes,
                n_passes,
                weights,
                weighted_changes,
                n_presented,
                rule,
            )
        else:
            n_mistakes, n_updates = train(
                rows,
                self.n_features_in_,
                labels,
                order,
                n_passes,
                weights,
                weighted_changes,
                n_presented,
                rule,
            )
        self.n_mistakes_ += int(n_mistakes)
        self.n_updates_ += int(n_updates)

    def _active_attributes(self, rows):
        """All attributes that weights belong to as a CSR matrix."""
        if sparse.issparse(rows):
            return rows
        return sparse.csr_array(np.hstack([rows, 1 - rows]) if self.complement else rows)


def _renumber(target, present_classes, classes):
    """Numbers among all classes of a target that is numbered among those present."""
    numbers = {name: number for number, name in enumerate(classes)}
    places = np.array([numbers.get(name, -1) for name in present_classes])[target]
    if (places < 0).any():
        unknown = present_classes[target[places.argmin()]]
        raise ValueError(f"y holds {unknown!r}, which is not one of classes: {classes}")
    return places


def presentations(weights, n_rows):
    """Row of each presentation of a pass, and what part of one it is, in (0, 1].

    A row of weight 2.5 has three presentations, of 1, 1 and 0.5.

    Parameters
    ----------
    weights : (n_rows,) float64, not negative, or None for 1 for each row
    n_rows : int

    Returns
    -------
    examples : (v,) int64
    sizes : (v,) float64

    Raises
    ------
    ValueError
        If there are more than 100,000,000.
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
    is_presented = numbers > 0
    last_presentations = np.cumsum(numbers)[is_presented] - 1
    sizes[last_presentations] = (weights - numbers + 1)[is_presented]
    return examples, sizes


def _unsigned_indices(rows):
    """Row pointers and columns of a CSR matrix as unsigned integers: they are never negative."""
    pointers = rows.indptr.view(f"u{rows.indptr.itemsize}")
    columns = rows.indices.view(f"u{rows.indices.itemsize}")
    return pointers, columns


def sums(rows, weights):
    """Z of each row.

    Parameters
    ----------
    rows : (s, n) of 0 and 1, dense or CSR
    weights : (n,), or (2n,) with those of 1 - x; or several of these, (k, n) or (k, 2n)
        Those of 1 - x for dense rows only.

    Returns
    -------
    (s,), or (s, k) for several
    """
    if sparse.issparse(rows):
        z = active_sums(*_unsigned_indices(rows), np.atleast_2d(weights))
        return z if weights.ndim == 2 else z[:, 0]
    n = rows.shape[1]
    row_bytes = 8 * (n + len(np.atleast_2d(weights)))
    batches = row_batches(rows.shape[0], row_bytes, PRODUCT)
    z = np.concatenate([rows[batch] @ weights[..., :n].T for batch in batches])
    if weights.shape[-1] > n:
        z += np.concatenate([(rows[batch] == 0) @ weights[..., n:].T for batch in batches])
    return z
