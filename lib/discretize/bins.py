"""Bins of numbers, and the transformer that puts columns into them."""

from collections import namedtuple
from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from lib.discretize.columns import checked_frame, checked_target, column_kinds, continuous_values
from lib.estimators import MixedInput

NUMERIC = ("integer", "continuous")


class Bins(namedtuple("Bins", "lows highs dtype")):
    """Intervals (low, high] in order, that may leave gaps; a number in none of them is missing.

    The first includes its low end.

    Parameters
    ----------
    lows, highs : ndarray of float
    dtype : CategoricalDtype
        Ordered; the categories are the names of the bins.
    """

    @classmethod
    def between(cls, cuts):
        """Bins without gaps: k increasing cuts make k + 1."""
        return cls.from_pairs(list(pairwise([-np.inf, *cuts, np.inf])))

    @classmethod
    def from_pairs(cls, pairs):
        """Bins (low, high) that do not overlap."""
        lows, highs = np.asarray(pairs, dtype=float).reshape(-1, 2).T
        return cls(lows, highs, pd.CategoricalDtype(list(_labels(lows, highs)), ordered=True))

    def __call__(self, values):
        """Return the bins of numbers as an ordered Categorical of all bins, empty ones too."""
        i = np.searchsorted(self.highs, values, side="left")
        low = self.lows[np.minimum(i, len(self.lows) - 1)]
        inside = (i < len(self.lows)) & ((values > low) | ((i == 0) & (values == low)))
        return pd.Categorical.from_codes(np.where(inside, i, -1), dtype=self.dtype)


def _labels(lows, highs):
    """Names of bins; different ends have different texts, of at least 6 significant digits."""
    ends = np.unique([*lows, *highs]).tolist()
    rounded = ({end: f"{end:.{digits}g}" for end in ends} for digits in range(6, 18))
    texts = next(texts for texts in rounded if len(set(texts.values())) == len(texts))
    for low, high in zip(lows, highs, strict=True):
        if np.isneginf(low):
            yield "all" if np.isposinf(high) else f"≤ {texts[high]}"
        else:
            yield f"> {texts[low]}" if np.isposinf(high) else f"{texts[low]} – {texts[high]}"


class Discretizer(MixedInput, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replaces the columns in `bins_`, a dict of column -> Bins, by their bins and passes all others unchanged.

    Subclasses have a `fit` of their own or ``_cuts(values, y, n_classes)``, where to cut a numeric
    column of finite `values`, without the rows where it is missing, and classes `y` in 0 ..
    n_classes - 1.
    """

    def fit(self, X, y):
        """Find the cuts from the columns of `X` and the classes `y`.

        Raises
        ------
        ValueError
            If `X` has an infinite value, `y` lacks a class, or the lengths differ.
        """
        X = checked_frame(self, X, reset=True)
        classes, y = checked_target(X, y)
        self.cut_points_ = {}
        for position in np.flatnonzero(np.isin(column_kinds(X), NUMERIC)):
            values = continuous_values(X, [position])[:, 0]
            observed = ~np.isnan(values)
            self.cut_points_[X.columns[position]] = self._cuts(
                values[observed], y[observed], len(classes)
            )
        self.bins_ = {name: Bins.between(cuts) for name, cuts in self.cut_points_.items()}
        return self

    def transform(self, X):
        """Return a DataFrame with bins, as ordered categories, for the discretised columns.

        Missing values stay missing.

        Raises
        ------
        ValueError
            If the columns differ from those of fit, or one to discretise does not hold numbers.
        """
        X = checked_frame(self, X, reset=False)
        check_numeric(X, self.bins_)
        columns = dict(X.items())
        binned = {
            name: bins(columns[name].to_numpy(float, na_value=np.nan))
            for name, bins in self.bins_.items()
        }
        return pd.DataFrame(columns | binned, index=X.index, copy=False)


def check_numeric(X, names):
    """Raise ValueError if one of the columns `names` does not hold numbers."""
    for name, kind in zip(X.columns, column_kinds(X), strict=True):
        if name in names and kind not in NUMERIC:
            raise ValueError(
                f"column {name!r} must hold numbers to be put into bins; got dtype {X[name].dtype}"
            )
