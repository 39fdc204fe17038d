"""Bins of numbers, and the transformer that puts columns into them."""

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lib.discretize.columns import checked_frame, column_kinds, continuous_values
from lib.estimators import MixedInput

NUMERIC = ("integer", "continuous")


@dataclasses.dataclass(frozen=True)
class Bins:
    """Intervals from `lows` to `highs`, in order, that may leave gaps; a number in none of them is missing.

    With closed="right" an interval is (low, high], and the first includes its low end; with closed="left" it is
    [low, high), and the last includes its high end.
    """

    lows: np.ndarray
    highs: np.ndarray
    closed: str
    dtype: pd.CategoricalDtype

    @classmethod
    def between(cls, cuts, closed):
        """Bins without gaps: k increasing cuts make k + 1."""
        return cls.from_pairs(list(pairwise([-np.inf, *cuts, np.inf])), closed)

    @classmethod
    def from_pairs(cls, pairs, closed):
        """Bins (low, high) that do not overlap."""
        lows, highs = np.asarray(pairs, dtype=float).reshape(-1, 2).T
        dtype = pd.CategoricalDtype(_labels(lows, highs, closed), ordered=True)
        return cls(lows, highs, closed, dtype)

    def codes(self, values):
        """Return the number of the bin of each value, -1 for none."""
        if self.closed == "right":
            i = np.searchsorted(self.highs, values, side="left")
            low, last = self.lows[np.minimum(i, len(self.lows) - 1)], len(self.lows)
            inside = (i < last) & ((values > low) | ((i == 0) & (values == low)))
        else:
            i = np.searchsorted(self.lows, values, side="right") - 1
            high = self.highs[i]
            inside = (i >= 0) & ((values < high) | ((i == len(self.highs) - 1) & (values == high)))
        return np.where(inside, i, -1)

    def __call__(self, values):
        """Return the bins of numbers as an ordered Categorical of all bins, empty ones too."""
        return pd.Categorical.from_codes(self.codes(values), dtype=self.dtype)


def _labels(lows, highs, closed):
    below, above = ("≤", ">") if closed == "right" else ("<", "≥")
    numbers = _written(np.unique([*lows, *highs]))
    labels = []
    for low, high in zip(lows, highs, strict=True):
        if np.isneginf(low) and np.isposinf(high):
            labels.append("all")
        elif np.isneginf(low):
            labels.append(f"{below} {numbers[high]}")
        else:
            labels.append(f"{above} {numbers[low]}" if np.isposinf(high) else f"{numbers[low]} – {numbers[high]}")
    return labels


def _written(numbers):
    """Different numbers as different texts, of at least 6 significant digits."""
    for digits in range(6, 17):
        texts = {number: f"{number:.{digits}g}" for number in numbers.tolist()}
        if len(set(texts.values())) == len(texts):
            return texts
    return {number: repr(number) for number in numbers.tolist()}


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

    def _fit_numeric(self, X, cuts_of):
        """Cut each numeric column at cuts_of(values), values without the missing ones and which rows they are of."""
        self.cut_points_ = {}
        for position in np.flatnonzero(np.isin(column_kinds(X), NUMERIC)):
            values = continuous_values(X, [position])[:, 0]
            observed = ~np.isnan(values)
            self.cut_points_[X.columns[position]] = cuts_of(values[observed], observed)
        self.bins_ = {name: Bins.between(cuts, "right") for name, cuts in self.cut_points_.items()}
        return self


def check_numeric(X, names):
    """Raise ValueError if one of the columns `names` does not hold numbers."""
    for name, kind in zip(X.columns, column_kinds(X), strict=True):
        if name in names and kind not in NUMERIC:
            raise ValueError(f"column {name!r} must hold numbers to be put into bins; got dtype {X[name].dtype}")
