"""Bins between given cut points."""

from collections.abc import Mapping

import numpy as np

from lib.base.validation import check_choice, check_numbers
from lib.discretize.bins import Bins, Discretizer, check_numeric
from lib.discretize.columns import checked_frame


class CutPoints(Discretizer):
    """Put columns into given bins; other columns pass unchanged.

    Parameters
    ----------
    cuts : dict of column -> list of numbers, or list of (low, high) pairs
        k increasing numbers c1 < ... < ck make the k + 1 bins (-inf, c1], (c1, c2], ..., (ck, inf).
        Pairs give the bins themselves, in increasing order and possibly with gaps between them
        (Atlas, Table 1, petal length: [0, 2], (2, 5], (5.5, 10]); a value in no bin becomes
        missing. The first bin of pairs includes its low end.

    Attributes
    ----------
    bins_ : dict of column -> Bins
        With `lows`, `highs` and `dtype`, the ordered categories, which name all bins, such as
        "≤ 5.5", "5.5 – 10" and "> 10".

    References
    ----------
    Atlas, section 4.1 and Table 1.
    """

    def __init__(self, cuts):
        self.cuts = cuts

    def fit(self, X, y=None):
        """Check that `X` has the named columns and that they hold numbers.

        Raises
        ------
        ValueError
            If a column is not in `X` or not numeric, cuts do not increase, or pairs overlap.
        """
        if not isinstance(self.cuts, Mapping):
            raise ValueError(
                f"cuts must be a dict of column -> list of cut points; got {self.cuts!r}"
            )
        X = checked_frame(self, X, reset=True)
        for name in self.cuts:
            check_choice("each column in cuts", name, X.columns)
        check_numeric(X, self.cuts)
        self.bins_ = {name: _bins(name, cuts) for name, cuts in self.cuts.items()}
        return self


def _bins(name, cuts):
    """Return the Bins of a column by its cut points or pairs (low, high), or raise ValueError."""
    try:
        ends = check_numbers("cuts", cuts)
    except ValueError:
        ends = np.array(np.nan)
    are_cut_points = ends.ndim == 1
    are_pairs = ends.ndim == 2 and ends.shape[1] == 2
    if np.isnan(ends).any() or not (are_cut_points or are_pairs):
        allowed = "a list of numbers or a list of (low, high) pairs"
        raise ValueError(f"cuts[{name!r}] must be {allowed}; got {cuts!r}")
    if are_pairs:
        lows, highs = ends.T
        if (lows >= highs).any() or (lows[1:] < highs[:-1]).any():
            allowed = "increasing pairs (low, high) without overlap"
            raise ValueError(f"cuts[{name!r}] must be {allowed}; got {cuts!r}")
        return Bins.from_pairs(ends)
    if np.isinf(ends).any() or (np.diff(ends) <= 0).any():
        raise ValueError(f"cuts[{name!r}] must be finite and strictly increasing; got {cuts!r}")
    return Bins.from_cuts(ends)
