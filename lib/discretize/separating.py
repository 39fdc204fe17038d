"""Cut points that separate the centres of the classes, one column at a time."""

import numpy as np

from lib.discretize.bins import Discretizer

MAX_CUTS, MIN_GAP = 3, 0.1


class ClassSeparatingCuts(Discretizer):
    """Cut each numeric column half-way between the centres of classes that are neighbours there.

    This makes a rule of what Atlas did by eye. The centres of the classes are sorted; each gap
    between two of them is measured in standard deviations of the whole column; the cuts are the
    midpoints of the three widest gaps (of equally wide ones the lowest), but of none narrower than
    a tenth of a deviation. Missing values are ignored, and so is a class that has no value; other
    columns pass unchanged.

    Attributes
    ----------
    cut_points_ : dict of column -> ndarray
        Increasing; empty where no gap is wide enough.
    bins_ : dict of column -> Bins

    References
    ----------
    Atlas, section 4.1, "finding values that best separate the classes in a univariate sense", and
    section 4.3, "points that seperate the means of the classes reasonably" (Tables 1 and 8).
    """

    def _cuts(self, values, y, n_classes):
        """Return the cut points, increasing."""
        # by a power of two nothing is rounded, nor overflows
        exponent = np.frexp(np.abs(values).max(initial=0))[1]
        values = np.ldexp(values, -exponent)
        centers = np.sort([values[y == c].mean() for c in np.unique(y)])
        deviation = values.std(ddof=1) if len(values) > 1 else 0.0
        if deviation == 0:
            return np.empty(0)
        gaps = np.diff(centers) / deviation
        widest = np.argsort(-gaps, kind="stable")[:MAX_CUTS]
        cuts = np.sort(widest[gaps[widest] >= MIN_GAP])
        return np.unique(np.ldexp((centers[cuts] + centers[cuts + 1]) / 2, exponent))
