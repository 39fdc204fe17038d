"""Cut points that separate the centres of the classes, one column at a time."""

import numpy as np

from lib.base.arrays import scale_by_power_of_two
from lib.discretize.bins import Discretizer

# Both stand for the eye of Atlas's authors
MAX_CUTS = 3
MIN_GAP = 0.1  # standard deviations


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
        values, exponent = scale_by_power_of_two(values)
        deviation = values.std(ddof=1) if len(values) > 1 else 0.0
        if deviation == 0:
            return np.empty(0)
        centres = np.sort([values[y == c].mean() for c in np.unique(y)])
        gaps = np.diff(centres) / deviation
        # A stable sort puts the lowest of equally wide gaps first
        widest = np.argsort(-gaps, kind="stable")[:MAX_CUTS]
        chosen = np.sort(widest[gaps[widest] >= MIN_GAP])
        midpoints = (centres[chosen] + centres[chosen + 1]) / 2
        return np.unique(np.ldexp(midpoints, exponent))
