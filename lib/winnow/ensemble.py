"""The final classifier of Grove & Roth, section 6: a weighted average of thick Winnows on subsamples."""

import numpy as np
from sklearn.utils import check_random_state

from lib.estimators import TwoClasses, with_parameters
from lib.validation import check_integer, check_real
from lib.winnow.kernel import pack, train
from lib.winnow.online import WinnowBase, sums


@with_parameters
class WinnowEnsemble(TwoClasses, WinnowBase):
    """Winnows trained on random subsamples; their weights are averaged by their accuracy above the constant.

    The paper gives no parameters; the defaults are choices (see the sensitivity chapter).

    Parameters
    ----------
    n_members : int, at least 1
    subsample : float in (0, 1]
        Part of the sample that each member is trained on, drawn without replacement.
    promotion, demotion, threshold, initial_weight, margin, complement, average, n_passes, inclusive
        As in Winnow; margin None is 0.2 threshold.
    random_state : int, RandomState or None

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        Average of the members' weights.
    member_weights_ : ndarray of shape (n_members, n_weights)
    member_shares_ : ndarray of shape (n_members,)
        Accuracy on the subsample less that of its best constant, normalised; equal if no member is
        better.
    coef_, intercept_ : ndarrays of shape (1, n) and (1,)
        The same rule in terms of the attributes.

    Notes
    -----
    `X` must be dense, as the complement attributes are. The rows stay uint8.

    References
    ----------
    Grove & Roth (1997), section 6.
    """

    n_members: int = 10
    subsample: float = 0.7
    promotion: float = 1.015
    demotion: float | None = None
    threshold: float | None = None
    initial_weight: float = 1.0
    margin: float | None = None
    complement: bool = True
    average: bool = True
    n_passes: int = 20
    inclusive: bool = False
    random_state: int | np.random.RandomState | None = None

    def fit(self, X, y):
        """Fit to attributes `X` (n_samples, n_attributes) of 0 and 1 and a two-valued target `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` holds other values, lengths differ, or `y` has not
            two classes.
        """
        self._check_parameters()
        check_integer("n_members", self.n_members, 1)
        check_real("subsample", self.subsample, 0, 1, open_low=True)
        rows, classes, target = self._training_data(X, y)
        self.classes_ = self._check_two(classes)
        fit_together([self], rows, target == 1)
        return self

    def _combine(self, rows, positive, subsamples, member_weights):
        """Set what is learned, given the weights of the members."""
        self.member_weights_ = member_weights
        self.member_shares_ = self._shares(rows, positive, subsamples)
        self.weights_ = self.member_shares_ @ self.member_weights_
        present, absent = np.split(self.weights_, [rows.shape[1]])
        self.coef_ = (present - absent if self.complement else present)[None]
        self.intercept_ = np.array([absent.sum() - self.threshold_])

    def _members(self, packed, n_weights, positive, part, rules, rng):
        """Weights (k, n_weights) of one Winnow for each of the rules after all passes over part of the packed rows."""
        weights = np.full((len(rules), n_weights), float(self.initial_weight))
        changes = np.zeros_like(weights if self.average else weights[:, :0])
        for step in range(0, self.n_passes * len(part), len(part)):
            order = rng.permutation(part)
            for rule, row, change in zip(rules, weights, changes, strict=True):
                train(*packed, positive, order, 1, row, change, step, *rule)
        return weights - changes / (self.n_passes * len(part)) if self.average else weights

    def _shares(self, rows, positive, subsamples):
        scores = sums(rows, self.member_weights_).T
        predicted = scores >= self.threshold_ if self.inclusive else scores > self.threshold_
        labels = positive[subsamples]
        accuracy = (np.take_along_axis(predicted, subsamples, axis=1) == labels).mean(axis=1)
        base = labels.mean(axis=1)
        gain = np.maximum(accuracy - np.maximum(base, 1 - base), 0)
        return gain / gain.sum() if gain.any() else np.full(len(gain), 1 / len(gain))


def fit_together(ensembles, rows, positive):
    """Fit ensembles that differ in promotion, demotion, threshold and margin alone to rows (s, n) of 0 and 1.

    The result is that of each one's `fit`; subsamples and orders, which are the same for all, are
    drawn once.
    """
    first, rng = ensembles[0], check_random_state(ensembles[0].random_state)
    packed, n_weights = pack(rows), first._n_weights(rows)
    rules = [ensemble._updates(n_weights) for ensemble in ensembles]
    part = max(1, round(first.subsample * len(rows)))
    subsamples = np.stack([rng.permutation(len(rows))[:part] for _ in range(first.n_members)])
    members = np.stack(
        [first._members(packed, n_weights, positive, part, rules, rng) for part in subsamples],
        axis=1,
    )
    for ensemble, weights in zip(ensembles, members, strict=True):
        ensemble._combine(rows, positive, subsamples, weights)
