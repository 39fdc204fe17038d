"""One boolean column for each value of each attribute."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lib.discretize.columns import MISSING, Coding, check_kinds, checked_frame, column_kinds
from lib.estimators import MixedInput
from lib.validation import check_choice


class OneHot(MixedInput, TransformerMixin, BaseEstimator):
    """Boolean columns "attribute=value", one for each value of each attribute.

    The values are the declared categories of a category dtype, False and True of a bool column, and
    otherwise those seen in training, sorted. A value that is none of these has no column: it is
    False in all of its attribute's.

    Parameters
    ----------
    missing : "value" or "ignore"
        With "value", an attribute with missing values in training has a column
        "attribute=(missing)" too. Without this column a missing value is False in all of its
        attribute's.
    constant : "keep" or "drop"
        With "drop", attributes with a single value in training (missing counts as a value) have no
        columns, unless there is no other attribute.

    Attributes
    ----------
    categories_ : dict of attribute -> Index
        Of the attributes that have columns.

    References
    ----------
    Atlas, sections 3, 4.4 (attributes with a single value are dropped) and 4.5 (missing is a value
    of its own).
    """

    def __init__(self, missing="value", constant="keep"):
        self.missing = missing
        self.constant = constant

    def fit(self, X, y=None):
        """Learn the values of the columns of the DataFrame `X`.

        Raises
        ------
        ValueError
            If a parameter is not one of those allowed, a column is continuous, or two columns would
            have one name, as where the text "(missing)" is a value beside missing ones.
        """
        check_choice("missing", self.missing, ("value", "ignore"))
        check_choice("constant", self.constant, ("keep", "drop"))
        X = checked_frame(self, X, reset=True)
        self._kinds = column_kinds(X)
        if "continuous" in self._kinds:
            name = X.columns[self._kinds.index("continuous")]
            raise ValueError(
                f"column {name!r} is continuous: discretise it first, for example by EntropyDiscretizer"
            )
        codes = Coding(X, np.arange(X.shape[1]))(X)
        varies = (codes != codes[0]).any(axis=0)
        columns = np.flatnonzero(
            varies if self.constant == "drop" and varies.any() else np.ones_like(varies)
        )
        self._coding = Coding(X, columns)
        attributes, categories = X.columns[columns], self._coding.categories
        with_missing = (codes[:, columns] == MISSING).any(axis=0) & (self.missing == "value")
        values = [
            [*c, "(missing)"] if extra else c
            for c, extra in zip(categories, with_missing, strict=True)
        ]
        self._names = pd.Index(
            [f"{a}={v}" for a, vs in zip(attributes, values, strict=True) for v in vs], dtype=object
        )
        if not self._names.is_unique:
            twice = self._names[self._names.duplicated()][0]
            raise ValueError(
                f"two columns would have the name {twice!r}; give an attribute or a value another name"
            )
        # Numbers of columns: of each attribute the first, and that of missing values or else the
        # last, cut off.
        ends = np.cumsum([len(v) for v in values], dtype=np.intp)
        self._starts = np.append(0, ends[:-1])
        self._missing = np.where(with_missing, ends - 1, len(self._names))
        self.categories_ = dict(zip(attributes, categories, strict=True))
        return self

    def transform(self, X):
        """Return the DataFrame of boolean columns, (n_samples, n_columns)."""
        X = checked_frame(self, X, reset=False)
        check_kinds(X, self._kinds)
        codes, n_columns = self._coding(X), len(self._names)
        columns = np.where(
            codes >= 0, codes + self._starts, np.where(codes == MISSING, self._missing, n_columns)
        )
        indicators = np.zeros((len(X), n_columns + 1), dtype=bool)
        indicators[np.arange(len(X))[:, None], columns] = True
        return pd.DataFrame(indicators[:, :-1].copy(), columns=self._names, index=X.index)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns, such as "odor=almond"."""
        check_is_fitted(self)
        return self._names.to_numpy()
