"""Bins of numbers, and the transformer that puts columns into them."""

from collections import namedtuple
from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from lib.base.estimators import MixedInput
from lib.discretize.columns import checked_frame, checked_target, column_kinds, continuous_values

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
    def from_cuts(cls, cuts):
        """Bins without gaps: k increasing cuts make k + 1."""
        return cls.from_pairs(list(pairwise([-np.inf, *cuts, np.inf])))

    @classmethod
    def from_pairs(cls, pairs):
        """Bins (low, high) that do not overlap."""
        lows, highs = np.asarray(pairs, dtype=float).reshape(-1, 2).T
        dtype = pd.CategoricalDtype(_bin_names(lows, highs), ordered=True)
        return cls(lows, highs, dtype)

    def __call__(self, values):
        """Return the bins of numbers as an ordered Categorical of all bins, empty ones too."""
        # The first bin whose high end is not below the value; NaN comes after all bins
        candidates = np.searchsorted(self.highs, values, side="left")
        n_bins = len(self.lows)
        lows = self.lows[np.minimum(candidates, n_bins - 1)]
        is_above_low_end = (values > lows) | ((candidates == 0) & (values == lows))
        is_inside = (candidates < n_bins) & is_above_low_end
        return pd.Categorical.from_codes(np.where(is_inside, candidates, -1), dtype=self.dtype)


def _bin_names(lows, highs):
    """List names of bins, in which different ends have different texts."""
    texts = _end_texts(np.unique([*lows, *highs]).tolist())
    names = []
    for low, high in zip(lows, highs, strict=True):
        if np.isneginf(low) and np.isposinf(high):
            names.append("all")
        elif np.isneginf(low):
            names.append(f"≤ {texts[high]}")
        elif np.isposinf(high):
            names.append(f"> {texts[low]}")
        else:
            names.append(f"{texts[low]} – {texts[high]}")
    return names


def _end_texts(ends):
    """Dict of different floats -> texts, of 6 significant digits or of so many that they differ."""
    n_digits = 6
    texts = [f"{end:.{n_digits}g}" for end in ends]
    while len(set(texts)) < len(ends):  # ends at 17 digits, by which all floats differ
        n_digits += 1
        texts = [f"{end:.{n_digits}g}" for end in ends]
    return dict(zip(ends, texts, strict=True))


class Discretizer(MixedInput, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replaces the columns in `bins_` by their bins and passes all others unchanged.

    `bins_` is a dict of column -> Bins. Subclasses have a `fit` of their own or a method
    ``_cuts(values, y, n_classes)``, which returns where to cut a numeric column of finite `values`,
    without the rows where it is missing, given their classes `y` in 0 .. n_classes - 1.
    """

    def fit(self, X, y):
        """Find the cuts from the columns of `X` and the classes `y`.

        Raises
        ------
        ValueError
            If `X` has an infinite value, `y` lacks a label, or the lengths differ.
        """
        X = checked_frame(self, X, reset=True)
        classes, y = checked_target(X, y)
        self.cut_points_ = {}
        for position in np.flatnonzero(np.isin(column_kinds(X), NUMERIC)):
            name = X.columns[position]
            values = continuous_values(X, [position])[:, 0]
            is_observed = ~np.isnan(values)
            cuts = self._cuts(values[is_observed], y[is_observed], len(classes))
            self.cut_points_[name] = cuts
        self.bins_ = {name: Bins.from_cuts(cuts) for name, cuts in self.cut_points_.items()}
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
        for name, bins in self.bins_.items():
            columns[name] = bins(columns[name].to_numpy(float, na_value=np.nan))
        return pd.DataFrame(columns, index=X.index, copy=False)


def check_numeric(X, names):
    """Raise ValueError if one of the columns `names` does not hold numbers."""
    for name, kind in zip(X.columns, column_kinds(X), strict=True):
        if name in names and kind not in NUMERIC:
            raise ValueError(
                f"column {name!r} must hold numbers to be put into bins; got dtype {X[name].dtype}"
            )
