"""Base of EM and COV: a CIA model fitted to rows (target, attributes), used as a classifier."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lib.base import arrays
from lib.base.arrays import check_boolean_matrix
from lib.base.estimators import TwoClasses
from lib.cia import CIAModel
from lib.discretize.columns import checked_target

MERGE_LIMIT = 16


class LatentClassClassifier(TwoClasses, ClassifierMixin, BaseEstimator):
    """Fit P(x0, x1, ..., xn) by a CIA model, then predict x0 from P(x0 | x1, ..., xn).

    Subclasses implement ``_fit_model(rows, counts)``, which returns weights (k,) and probabilities
    (k, n + 1), and may check their parameters. The rows stay uint8: `fit` holds one copy of them,
    and another while it checks them. Predictions work on 64 MiB at a time.
    """

    def fit(self, X, y):
        """Fit the model to attributes and a two-valued target.

        Parameters
        ----------
        X : (n_samples, n_attributes) of 0 and 1
        y : (n_samples,)

        Raises
        ------
        ValueError
            If `X` holds other values, lengths differ, there are fewer than two rows, or `y` has not
            two classes.
        """
        self._check_parameters()
        X = validate_data(self, X, dtype=None, ensure_min_samples=2)
        classes, target = checked_target(X, y)
        self.classes_ = self._check_two(classes)
        rows = np.column_stack([target.astype(np.uint8), check_boolean_matrix("X", X)])
        rows, counts = distinct_rows(rows)
        self.weights_, self.probabilities_ = self._fit_model(rows, counts)
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if len(self.weights_) == 2:
            coef, intercept = self._model().linear_rule()
            self.coef_, self.intercept_ = coef[None], np.array([intercept])
        self.log_likelihood_ = log_likelihood(self._model(), rows, counts)
        return self

    def _check_parameters(self):
        pass

    def _model(self):
        return CIAModel(self.weights_, self.probabilities_)

    def predict_proba(self, X):
        """P(class | x), shape (n_samples, 2), in the order of ``classes_``."""
        check_is_fitted(self)
        positive = self._model().target_posterior(validate_data(self, X, dtype=None, reset=False))
        return np.column_stack([1 - positive, positive])

    def decision_function(self, X):
        """P(x0 = 1 | x) - 1/2, shape (n_samples,): positive where the second class is likelier."""
        return self.predict_proba(X)[:, 1] - 0.5

    def predict(self, X):
        """The more likely class of each row, shape (n_samples,)."""
        return np.where(self.decision_function(X) > 0, self.classes_[1:], self.classes_[:1])


def distinct_rows(rows):
    """Distinct rows and their counts where attributes are few, else the rows and counts of 1."""
    m = rows.shape[1]
    if m > MERGE_LIMIT:
        return rows, np.ones(len(rows))
    codes = sum(rows[:, j].astype(np.uint16) << j for j in range(m))
    counts = np.bincount(codes, minlength=1)
    codes = np.flatnonzero(counts)
    return ((codes[:, None] >> np.arange(m)) & 1).astype(np.uint8), counts[codes].astype(float)


def log_likelihood(model, rows, counts):
    """Sum over rows of counts * log P(row) under a CIAModel."""
    row_bytes = 8 * (rows.shape[1] + 4 * len(model.weights))
    total = 0.0
    for batch in arrays.row_batches(len(rows), row_bytes, arrays.LIMIT):
        log_evidence = np.logaddexp.reduce(model.log_joint(rows[batch]), axis=1)
        total += counts[batch] @ log_evidence
    return float(total)
