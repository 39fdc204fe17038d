"""One boolean column for each value of each attribute."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lib.base.estimators import MixedInput
from lib.base.validation import check_choice
from lib.discretize.columns import MISSING, Coding, check_kinds, checked_frame, column_kinds


class OneHot(MixedInput, TransformerMixin, BaseEstimator):
    """Boolean columns "attribute=value", one for each value of each attribute.

    The values are the declared categories of a category dtype, False and True of a bool column, and
    otherwise those seen in training, sorted. A value that is none of these has no column: all
    columns of its attribute are False.

    Parameters
    ----------
    missing : "value" or "ignore"
        With "value", an attribute with missing values in training has a column
        "attribute=(missing)" too. Without this column all columns of the attribute are False where
        its value is missing.
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
            advice = "discretise it first, for example by EntropyDiscretizer"
            raise ValueError(f"column {name!r} is continuous: {advice}")
        positions = self._positions(X)
        attributes = X.columns[positions]
        self._coding = Coding(X, positions)
        has_missing = X[attributes].isna().any().to_numpy() & (self.missing == "value")
        self._name_columns(attributes, has_missing)
        self.categories_ = dict(zip(attributes, self._coding.categories, strict=True))
        return self

    def _positions(self, X):
        """Return the positions of the attributes that have columns."""
        positions = np.arange(X.shape[1])
        if self.constant == "keep":
            return positions
        varies = X.nunique(dropna=False).to_numpy() > 1
        return positions[varies] if varies.any() else positions

    def _name_columns(self, attributes, has_missing):
        """Set the names of the boolean columns, and where those of each attribute are.

        `_first_column` is the first column of each attribute, `_missing_column` that of its missing
        values; where there is none, it is the number of columns, a last one that `transform` drops.
        """
        names = []
        first_columns = []
        last_columns = []
        coded = zip(attributes, self._coding.categories, has_missing, strict=True)
        for attribute, categories, with_missing in coded:
            first_columns.append(len(names))
            names += [f"{attribute}={value}" for value in categories]
            if with_missing:
                names.append(f"{attribute}=(missing)")
            last_columns.append(len(names) - 1)
        self._names = pd.Index(names, dtype=object)
        if not self._names.is_unique:
            repeated = self._names[self._names.duplicated()][0]
            advice = "give an attribute or a value another name"
            raise ValueError(f"two columns would have the name {repeated!r}; {advice}")
        self._first_column = np.array(first_columns, dtype=np.intp)
        self._missing_column = np.where(has_missing, last_columns, len(names))

    def transform(self, X):
        """Return the DataFrame of boolean columns, (n_samples, n_columns)."""
        X = checked_frame(self, X, reset=False)
        check_kinds(X, self._kinds)
        codes = self._coding(X)
        n_columns = len(self._names)
        # Values without a column go to a last one, which is dropped
        columns = np.where(codes >= 0, codes + self._first_column, n_columns)
        columns = np.where(codes == MISSING, self._missing_column, columns)
        indicators = np.zeros((len(X), n_columns + 1), dtype=bool)
        rows = np.arange(len(X))[:, None]
        indicators[rows, columns] = True
        return pd.DataFrame(indicators[:, :-1].copy(), columns=self._names, index=X.index)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns, such as "odor=almond"."""
        check_is_fitted(self)
        return self._names.to_numpy()
