"""WinSpell: for each word of a confusion set a cloud of Winnows, each with its own demotion."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.base.arrays import check_boolean_matrix, check_sparse_boolean_matrix
from lib.base.estimators import TIE, SparseInput, most_probable, with_parameters
from lib.base.validation import at_least_one, check_flag, check_integer, check_real
from lib.discretize.columns import checked_target
from lib.winnow.online import Winnow, sums


@with_parameters
class WinSpell(SparseInput, ClassifierMixin, BaseEstimator):
    """Clouds of Winnows, one for each word: the word whose cloud has the largest sum is predicted.

    Each word has one Winnow for each demotion. A feature gets a weight in it when it is first seen
    with the word, and only then. The Winnows of a cloud are weighted by their mistakes m in the
    last pass, as decay^m.

    Parameters
    ----------
    promotion : float, above 1
    demotions : sequence of float in (0, 1), at least one
        One Winnow each.
    threshold, initial_weight : float, above 0
    margin : float, at least 0
        Also learn from a sum that is nearer to the threshold than this.
    average : bool
        Predict with the mean of the weights over all presentations; until a feature is first seen
        with the word, its weight counts in the mean as what it begins with.
    decay : float in (0, 1]
    n_passes : int, at least 1
        Passes over the rows.
    shuffle : bool
        Whether each pass presents the rows in a random order, the same for all Winnows, or in the
        given one. In rows that are sorted by word, the last word is learned last and wins too
        often.
    random_state : int, RandomState or None
        Draws the orders of the passes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_classes, n_attributes)
        Of the clouds, as sums over their members; 0 where a feature was never seen with the word.
    shares_ : ndarray of shape (n_classes, n_demotions)
        Of the members in their clouds.

    Notes
    -----
    `X` has 0 and 1 and is best sparse. As features are few in a row, the sum of a cloud is taken as
    it is, without squashing. The survey gives promotion, demotions and threshold; the other
    defaults are choices.

    References
    ----------
    Golding & Roth (1996), as the survey reports it, section 3.2.3.
    """

    promotion: float = 1.5
    demotions: tuple = (0.5, 0.6, 0.7, 0.8, 0.9)
    threshold: float = 1.0
    initial_weight: float = 0.1
    margin: float = 0.0
    average: bool = False
    decay: float = 0.9
    n_passes: int = 5
    shuffle: bool = True
    random_state: int | np.random.RandomState | None = None

    def fit(self, X, y):
        """Learn from features `X` (n_samples, n_attributes) of 0 and 1 and the words `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` holds other values, lengths differ, or `y` has only
            one class.
        """
        check_real("decay", self.decay, 0, 1, open_low=True)
        check_integer("n_passes", self.n_passes, 1)
        check_flag("shuffle", self.shuffle)
        at_least_one("demotions", self.demotions)
        rows, self.classes_, target = encoded_sample(self, X, y)
        orders = self._orders(rows.shape[0])
        weights = []
        shares = []
        for number in range(len(self.classes_)):
            cloud_weights, cloud_shares = self._train_cloud(rows, target == number, orders)
            weights.append(cloud_weights)
            shares.append(cloud_shares)
        self.weights_ = np.array(weights)
        self.shares_ = np.array(shares)
        return self

    def _orders(self, n_rows):
        """The rows in the order of their presentation, (n_rows,) for each pass."""
        if not self.shuffle:
            return [np.arange(n_rows)] * self.n_passes
        rng = check_random_state(self.random_state)
        return [rng.permutation(n_rows) for _ in range(self.n_passes)]

    def _train_cloud(self, rows, is_word, orders):
        """Weights (n_attributes,) of one word's cloud, and the shares of its members."""
        members = [self._winnow(demotion) for demotion in self.demotions]
        first_rows = rows[orders[0]]
        first_seen = _first_with_word(first_rows, is_word[orders[0]])
        # A feature that has no weight yet is as good as absent: in the first pass those before
        # their first row with the word, later those that never come with it.
        is_seen = _row_numbers(first_rows) >= first_seen[first_rows.indices]
        first_pass = _select_entries(first_rows, is_seen)
        has_weight = first_seen < rows.shape[0]
        later_rows = _select_entries(rows, has_weight[rows.indices])
        n_mistakes = np.zeros(len(members), dtype=int)
        for number, order in enumerate(orders):
            presented = first_pass if number == 0 else later_rows[order]
            for member in members:
                member.partial_fit(presented, is_word[order], [False, True])
            earlier_mistakes = n_mistakes
            n_mistakes = np.array([member.n_mistakes_ for member in members])
        last_mistakes = n_mistakes - earlier_mistakes
        shares = self.decay ** (last_mistakes - last_mistakes.min())
        shares /= shares.sum()
        weights = np.array([member.weights_ for member in members])
        return np.where(has_weight, shares @ weights, 0), shares

    def _winnow(self, demotion):
        """A member of a cloud, unfitted."""
        return Winnow(
            promotion=self.promotion,
            demotion=demotion,
            threshold=self.threshold,
            initial_weight=self.initial_weight,
            margin=self.margin,
            average=self.average,
            inclusive=False,
        )

    def decision_function(self, X):
        """The sum of each word's cloud, (n_samples, n_classes).

        Of two words it is that of the second minus that of the first, (n_samples,).
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, reset=False, accept_sparse="csr")
        cloud_sums = sums(boolean_rows(X), self.weights_)
        if cloud_sums.shape[1] == 2:
            return cloud_sums[:, 1] - cloud_sums[:, 0]
        return cloud_sums

    def predict(self, X):
        """The word that fits best, (n_samples,); of those that fit equally, the first.

        Sums that differ by rounding only are equal.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > TIE).astype(int)]
        return self.classes_[most_probable(scores)]


def encoded_sample(learner, X, y):
    """Return rows of 0 and 1 (CSR), the classes, and the number of each row's class.

    Raises
    ------
    ValueError
        If `X` holds other values, lengths differ, or there are not two classes at least.
    """
    X = validate_data(learner, X, dtype=None, accept_sparse="csr")
    classes, target = checked_target(X, y)
    if len(classes) < 2:
        raise ValueError(f"y must have two classes at least; got one class: {classes}")
    return boolean_rows(X), classes, target


def boolean_rows(X):
    """Return `X`, dense or sparse, as CSR of 0 and 1."""
    if not sparse.issparse(X):
        X = check_boolean_matrix("X", X)
    return check_sparse_boolean_matrix("X", sparse.csr_array(X))


def _row_numbers(rows):
    """The row of each stored entry of a CSR matrix."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def _first_with_word(rows, is_word):
    """The first row where each feature comes with the word, (n_attributes,); n_rows for none."""
    n_rows, n_features = rows.shape
    row_numbers = _row_numbers(rows)
    with_word = is_word[row_numbers]
    first_rows = np.full(n_features, n_rows)
    # backwards, as of several values for one feature the last stays
    first_rows[rows.indices[with_word][::-1]] = row_numbers[with_word][::-1]
    return first_rows


def _select_entries(rows, mask):
    """The rows with only those of their stored entries where a mask is True."""
    n_selected = np.concatenate([[0], np.cumsum(mask)])  # among the first entries
    indptr = n_selected[rows.indptr].astype(rows.indptr.dtype)
    return sparse.csr_array((rows.data[mask], rows.indices[mask], indptr), rows.shape)
