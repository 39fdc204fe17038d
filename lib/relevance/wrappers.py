"""Wrappers: a search for the set of attributes with the smallest loss, one attribute at a time."""

from typing import NamedTuple

import numpy as np

from lib.base.validation import check_choice


class Selection(NamedTuple):
    """Attributes that a search ends with.

    Attributes
    ----------
    support : ndarray of bool (n_attributes,)
        Which attributes are taken.
    loss : float
        Of that set.
    n_sets : int
        Different sets whose loss was asked for.
    """

    support: np.ndarray
    loss: float
    n_sets: int


def stepwise_selection(losses_of, n_attributes, start="none"):
    """Add or delete one attribute after the other, the best change first, while the loss falls.

    Parameters
    ----------
    losses_of : callable
        Takes sets of attributes, an ndarray of bool (n_sets, n_attributes), and returns the loss
        of each, such as the learner's mean error rate in a cross-validation. No set is asked for
        twice.
    n_attributes : int, at least 1
    start : "none" or "all"
        The set to start with.

    Returns
    -------
    selection : Selection
        No single attribute that is added or deleted lowers its loss. Of equally good changes the
        one that leaves fewer attributes is made, then the first.

    Raises
    ------
    ValueError
        If `start` is neither, a loss is NaN, or the number of losses is not that of the sets.

    References
    ----------
    John, Kohavi & Pfleger (1994), "Irrelevant features and the subset selection problem".
    Dietterich (1997), section 3.2.2.
    """
    check_choice("start", start, ("none", "all"))
    known_losses = {}

    def look_up(supports):
        new = [support for support in supports if support.tobytes() not in known_losses]
        if new:
            losses = np.asarray(losses_of(np.array(new)), dtype=float)
            if losses.shape != (len(new),) or np.isnan(losses).any():
                raise ValueError(f"losses_of must return {len(new)} numbers; got {losses}")
            for support, loss in zip(new, losses, strict=True):
                known_losses[support.tobytes()] = float(loss)
        return np.array([known_losses[support.tobytes()] for support in supports])

    support = np.full(n_attributes, start == "all")
    loss = look_up([support])[0]
    while True:
        candidates = support ^ np.eye(n_attributes, dtype=bool)
        # deletions come first, so that of equal losses the smaller set wins
        candidates = candidates[np.argsort(~support, kind="stable")]
        losses = look_up(candidates)
        if losses.min() >= loss:
            return Selection(support=support, loss=float(loss), n_sets=len(known_losses))
        support = candidates[losses.argmin()]
        loss = losses.min()
