"""The final classifier of Grove & Roth, section 6: an average of thick Winnows on subsamples."""

import numpy as np
from sklearn.utils import check_random_state

from lib.base.estimators import TwoClasses, with_parameters
from lib.base.validation import check_integer, check_real
from lib.winnow.fast import pad_columns, train
from lib.winnow.online import WinnowBase, sums


@with_parameters
class WinnowEnsemble(TwoClasses, WinnowBase):
    """Average of the weights of Winnows, each trained on a random subsample.

    In each pass a member is presented its subsample in a new random order, so that the order of the
    rows does not matter. A Winnow's share of the average is its accuracy on its subsample above the best constant's.
    The paper gives no parameters; the defaults are choices (see the chapter cia/sensitivity).

    Parameters
    ----------
    n_members : int, at least 1
    subsample : float in (0, 1]
        Share of the sample that each member is trained on, drawn without replacement.
    promotion, demotion, threshold, initial_weight, margin, complement, average, n_passes, inclusive
        As in Winnow; margin None is 0.2 threshold.
    random_state : int, RandomState or None
        Draws the subsamples and the orders.

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
        """Learn a two-valued target.

        Parameters
        ----------
        X : (n_samples, n_attributes) of 0 and 1
        y : (n_samples,)

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
        """Set what is learned from the weights of the members."""
        self.member_weights_ = member_weights
        self.member_shares_ = self._shares(rows, positive, subsamples)
        self.weights_ = self.member_shares_ @ self.member_weights_
        n = rows.shape[1]
        present = self.weights_[:n]
        absent = self.weights_[n:]
        # sum of w+ x + w- (1 - x) = (w+ - w-) @ x + sum of w-
        coef = present - absent if self.complement else present
        self.coef_ = coef[None]
        self.intercept_ = np.array([absent.sum() - self.threshold_])

    def _train_members(self, padded, n, positive, subsample, rules, rng):
        """Weights (k, n_weights) of a Winnow for each of k rules after all passes over a subsample.

        They see the same orders.
        """
        n_weights = 2 * n if self.complement else n
        weights = np.full((len(rules), n_weights), float(self.initial_weight))
        weighted_changes = np.zeros((len(rules), n_weights if self.average else 0))
        n_presented = 0.0
        for _ in range(self.n_passes):
            order = rng.permutation(subsample)
            for member, rule in enumerate(rules):
                train(
                    padded,
                    n,
                    positive,
                    order,
                    1,  # pass
                    weights[member],
                    weighted_changes[member],
                    n_presented,
                    rule,
                )
            n_presented += len(subsample)
        if self.average:
            weights -= weighted_changes / n_presented
        return weights

    def _shares(self, rows, positive, subsamples):
        """Share of each member: its gain over the best constant on its subsample, normalised."""
        scores = sums(rows, self.member_weights_).T
        predicted = scores >= self.threshold_ if self.inclusive else scores > self.threshold_
        labels = positive[subsamples]
        accuracy = (np.take_along_axis(predicted, subsamples, axis=1) == labels).mean(axis=1)
        positive_rate = labels.mean(axis=1)
        constant_accuracy = np.maximum(positive_rate, 1 - positive_rate)
        gain = np.maximum(accuracy - constant_accuracy, 0)
        if not gain.any():
            return np.full(len(gain), 1 / len(gain))
        return gain / gain.sum()


def fit_together(ensembles, rows, positive):
    """Fit ensembles that differ in promotion, demotion, threshold and margin only.

    Each becomes what its own `fit` would make of it. Subsamples and orders, which are the same for
    all, are drawn once.

    Parameters
    ----------
    ensembles : list of WinnowEnsemble
    rows : (s, n) uint8 of 0 and 1
    positive : (s,) bool
        Whether the label is 1.
    """
    first = ensembles[0]
    rng = check_random_state(first.random_state)
    n = rows.shape[1]
    padded = pad_columns(rows)
    rules = [ensemble._update_rule(first._n_weights(rows)) for ensemble in ensembles]
    subsample_size = max(1, round(first.subsample * len(rows)))
    subsamples = [rng.permutation(len(rows))[:subsample_size] for _ in range(first.n_members)]
    # (members, ensembles, n_weights)
    member_weights = np.stack(
        [
            first._train_members(padded, n, positive, subsample, rules, rng)
            for subsample in subsamples
        ]
    )
    for i, ensemble in enumerate(ensembles):
        ensemble._combine(rows, positive, np.stack(subsamples), member_weights[:, i])
