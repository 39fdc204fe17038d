"""WinSpell: for each word of a confusion set a cloud of Winnows that differ in how they demote."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.arrays import check_boolean_matrix, check_sparse_boolean_matrix
from lib.discretize.columns import checked_target
from lib.estimators import TIE, most_probable, with_parameters
from lib.validation import at_least_one, check_integer, check_real
from lib.winnow.online import Winnow, sums


@with_parameters
class WinSpell(ClassifierMixin, BaseEstimator):
    """Clouds of Winnows: the word whose cloud sums up to most is predicted.

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
        Passes over the rows, in the order in which they are given.

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

    def fit(self, X, y):
        """Learn from features `X` (n_samples, n_attributes) of 0 and 1 and the words `y` (n_samples,).

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` holds other values, lengths differ, or `y` has only
            one class.
        """
        check_real("decay", self.decay, 0, 1, open_low=True)
        check_integer("n_passes", self.n_passes, 1)
        at_least_one("demotions", self.demotions)
        rows, self.classes_, target = training_rows(self, X, y)
        clouds = [self._cloud(rows, target == number) for number in range(len(self.classes_))]
        self.weights_, self.shares_ = map(np.array, zip(*clouds, strict=True))
        return self

    def _cloud(self, rows, positive):
        """Weights (n_attributes,) of one word's cloud, and the shares of its members."""
        # the row of each feature that is present
        place = np.repeat(np.arange(len(positive)), np.diff(rows.indptr))
        with_word = positive[place]
        first = np.full(rows.shape[1], len(positive))
        # the first of several values is written last
        first[rows.indices[with_word][::-1]] = place[with_word][::-1]
        # a feature that has no weight yet is as good as absent
        begun, seen = place >= first[rows.indices], first[rows.indices] < len(positive)
        passes = [_kept(rows, begun), *[_kept(rows, seen)] * (self.n_passes - 1)]
        members, mistakes = zip(
            *[self._member(passes, positive, demotion) for demotion in self.demotions], strict=True
        )
        shares = self.decay ** (np.array(mistakes) - min(mistakes))
        shares /= shares.sum()
        return np.where(first < len(positive), shares @ np.array(members), 0), shares

    def _member(self, passes, positive, demotion):
        """Weights of one Winnow after all passes, and its mistakes in the last."""
        winnow = Winnow(self.promotion, demotion, self.threshold, self.initial_weight, self.margin)
        winnow.set_params(average=self.average, inclusive=False)
        for rows in passes:
            before = getattr(winnow, "n_mistakes_", 0)
            winnow.partial_fit(rows, positive, [False, True])
        return winnow.weights_, winnow.n_mistakes_ - before

    def decision_function(self, X):
        """The sum of each word's cloud, (n_samples, n_classes); of two words that of the second less the first's."""
        check_is_fitted(self)
        rows = boolean_rows(validate_data(self, X, dtype=None, reset=False, accept_sparse="csr"))
        z = sums(rows, self.weights_)
        return z[:, 1] - z[:, 0] if z.shape[1] == 2 else z

    def predict(self, X):
        """The word that fits best, (n_samples,); of those that fit equally, but for rounding, the first."""
        scores = self.decision_function(X)
        return self.classes_[
            (scores > TIE).astype(int) if scores.ndim == 1 else most_probable(scores)
        ]


def training_rows(learner, X, y):
    """Rows (CSR) of 0 and 1, the classes, and the number of each row's class; ValueError unless there are two."""
    X = validate_data(learner, X, dtype=None, accept_sparse="csr")
    classes, target = checked_target(X, y)
    if len(classes) < 2:
        raise ValueError(f"y must have two classes at least; got one class: {classes}")
    return boolean_rows(X), classes, target


def boolean_rows(X):
    """`X` as CSR of 0 and 1, dense or sparse."""
    if not sparse.issparse(X):
        X = check_boolean_matrix("X", X)
    return check_sparse_boolean_matrix("X", sparse.csr_array(X))


def _kept(rows, mask):
    """The rows with only those of their present features that a mask keeps."""
    indptr = np.concatenate([[0], np.cumsum(mask)])[rows.indptr].astype(rows.indptr.dtype)
    return sparse.csr_array((rows.data[mask], rows.indices[mask], indptr), rows.shape)
