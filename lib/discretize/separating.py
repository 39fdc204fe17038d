"""Cut points that separate the centres of the classes, one column at a time."""

import numpy as np

from lib.discretize.bins import Discretizer
from lib.discretize.columns import checked_frame, checked_target
from lib.validation import check_choice, check_integer, check_real

CENTERS = {"mean": np.mean, "median": np.median}


class ClassSeparatingCuts(Discretizer):
    """Cut each numeric column half-way between the centres of classes that are neighbours there.

    This makes a rule of what Atlas did by eye. The centres of the classes are sorted; each gap between two of them is
    measured in standard deviations of the whole column; the cuts are the midpoints of the widest gaps. Missing values
    are ignored, and so is a class that has no value; other columns pass unchanged.

    Parameters
    ----------
    max_cuts : int, at least 1
        Keep that many of the widest gaps of each column; of equally wide ones the lowest.
    min_gap : float, at least 0
        Leave out gaps of fewer standard deviations than this, and those of width 0.
    center : "mean" or "median"
        Of the values of a class.

    Attributes
    ----------
    cut_points_ : dict of column -> ndarray
        Increasing; empty where no gap is wide enough.
    bins_ : dict of column -> Bins

    References
    ----------
    Atlas, section 4.1, "finding values that best separate the classes in a univariate sense", and section 4.3, "points
    that seperate the means of the classes reasonably" (Tables 1 and 8).
    """

    def __init__(self, max_cuts=3, min_gap=0.1, center="mean"):
        self.max_cuts = max_cuts
        self.min_gap = min_gap
        self.center = center

    def fit(self, X, y):
        """Find the cuts from the columns of `X` and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, `X` has an infinite value, `y` lacks a class, or the lengths differ.
        """
        check_integer("max_cuts", self.max_cuts, 1)
        check_real("min_gap", self.min_gap, 0)
        check_choice("center", self.center, CENTERS)
        X = checked_frame(self, X, reset=True)
        _, y = checked_target(X, y)
        return self._fit_numeric(X, lambda values, observed: self._cuts(values, y[observed]))

    def _cuts(self, values, y):
        centers = np.sort([CENTERS[self.center](values[y == c]) for c in np.unique(y)])
        deviation = values.std(ddof=1) if len(values) > 1 else 0.0
        if deviation == 0:
            return np.empty(0)
        gaps = np.diff(centers) / deviation
        widest = np.argsort(-gaps, kind="stable")[: self.max_cuts]
        kept = np.sort(widest[(gaps[widest] >= self.min_gap) & (gaps[widest] > 0)])
        return np.unique((centers[kept] + centers[kept + 1]) / 2)
