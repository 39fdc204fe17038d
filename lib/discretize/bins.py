"""Bins of numbers, and the transformer that puts columns into them."""

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lib.discretize.columns import checked_frame, checked_target, column_kinds, continuous_values
from lib.estimators import MixedInput

NUMERIC = ("integer", "continuous")


@dataclasses.dataclass(frozen=True)
class Bins:
    """Intervals (low, high] in order, that may leave gaps; a number in none of them is missing.

    The first includes its low end.
    """

    lows: np.ndarray
    highs: np.ndarray
    dtype: pd.CategoricalDtype

    @classmethod
    def between(cls, cuts):
        """Bins without gaps: k increasing cuts make k + 1."""
        return cls.from_pairs(list(pairwise([-np.inf, *cuts, np.inf])))

    @classmethod
    def from_pairs(cls, pairs):
        """Bins (low, high) that do not overlap."""
        lows, highs = np.asarray(pairs, dtype=float).reshape(-1, 2).T
        return cls(lows, highs, pd.CategoricalDtype(_labels(lows, highs), ordered=True))

    def codes(self, values):
        """Return the number of the bin of each value, -1 for none."""
        i = np.searchsorted(self.highs, values, side="left")
        low = self.lows[np.minimum(i, len(self.lows) - 1)]
        inside = (i < len(self.lows)) & ((values > low) | ((i == 0) & (values == low)))
        return np.where(inside, i, -1)

    def __call__(self, values):
        """Return the bins of numbers as an ordered Categorical of all bins, empty ones too."""
        return pd.Categorical.from_codes(self.codes(values), dtype=self.dtype)


def _labels(lows, highs):
    texts = _texts(np.unique([*lows, *highs]))
    labels = []
    for low, high in zip(lows, highs, strict=True):
        if np.isneginf(low):
            labels.append("all" if np.isposinf(high) else f"≤ {texts[high]}")
        else:
            labels.append(f"> {texts[low]}" if np.isposinf(high) else f"{texts[low]} – {texts[high]}")
    return labels


def _texts(numbers):
    """Different numbers as different texts, of at least 6 significant digits."""
    for digits in range(6, 18):
        texts = {number: f"{number:.{digits}g}" for number in numbers.tolist()}
        if len(set(texts.values())) == len(texts):
            break
    return texts


class Discretizer(MixedInput, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replaces the columns in `bins_`, a dict of column -> Bins, by their bins and passes all others unchanged."""

    def transform(self, X):
        """Return a DataFrame with bins, as ordered categories, for the discretised columns.

        Missing values stay missing.

        Raises
        ------
        ValueError
            If the columns differ from those of fit, or one to discretise does not hold numbers.
        """
        check_is_fitted(self)
        X = checked_frame(self, X, reset=False)
        check_numeric(X, self.bins_)
        columns = {name: column if name not in self.bins_ else self._bin(name, column) for name, column in X.items()}
        return pd.DataFrame(columns, index=X.index, copy=False)

    def _bin(self, name, column):
        return self.bins_[name](column.to_numpy(dtype=float, na_value=np.nan))

    def _fit_numeric(self, X, y, cuts_of):
        """Cut each numeric column at cuts_of(values, y, n_classes), without the rows where it is missing."""
        X = checked_frame(self, X, reset=True)
        classes, y = checked_target(X, y)
        self.cut_points_ = {}
        for position in np.flatnonzero(np.isin(column_kinds(X), NUMERIC)):
            values = continuous_values(X, [position])[:, 0]
            observed = ~np.isnan(values)
            self.cut_points_[X.columns[position]] = cuts_of(values[observed], y[observed], len(classes))
        self.bins_ = {name: Bins.between(cuts) for name, cuts in self.cut_points_.items()}
        return self


def check_numeric(X, names):
    """Raise ValueError if one of the columns `names` does not hold numbers."""
    for name, kind in zip(X.columns, column_kinds(X), strict=True):
        if name in names and kind not in NUMERIC:
            raise ValueError(f"column {name!r} must hold numbers to be put into bins; got dtype {X[name].dtype}")
