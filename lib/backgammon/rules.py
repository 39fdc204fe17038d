"""The rules of backgammon: where the men may stand after a throw of the dice.

A position is an array (2, 26) of int8: how many men of the one to move, then of the other, stand at
each place. Each row is as its owner sees it: 0 is off the board, 1 to 24 are the points, counted
from there, 25 is the bar. My point p is the other's 25 - p. After a move the rows change places.
"""

import numpy as np

from lib.compiled import assign, compiled
from lib.validation import check_integer

OFF, HOME, BAR, MEN = 0, 6, 25, 15
# positions after one to four steps with one die: there are fewer than 3,876 sets of steps
MOST = 3900
START = np.zeros((2, 26), np.int8)
START[:, [6, 8, 13, 24]] = 5, 3, 5, 2
START.setflags(write=False)


def successors(own, opponent, dice):
    """Every position that a throw can lead to, each once, before the rows change places.

    As many dice must be used as can be; where only one of two can be, the larger, if it can.
    Doubles are four steps.

    Parameters
    ----------
    own, opponent : array-like of shape (26,) of int
        Men of the one to move and of the other, each as its owner sees them.
    dice : pair of int, each from 1 to 6

    Returns
    -------
    ndarray of shape (n_positions, 2, 26), int8
        The present position alone where no step is possible.

    Raises
    ------
    ValueError
        If this is no position of two times 15 men, or the dice are others.

    References
    ----------
    Rules of the game as of Tesauro (1995), without the doubling cube.
    """
    position = check_position(np.stack([np.asarray(own), np.asarray(opponent)]))
    if np.shape(dice) != (2,):
        raise ValueError(f"dice must be two numbers from 1 to 6; got {dice!r}")
    first, second = (check_integer(f"dice[{i}]", die, 1, 6) for i, die in enumerate(dice))
    found, last = np.empty((MOST, 2, 26), np.int8), np.empty(MOST, np.int8)
    return found[: list_successors(position, first, second, found, last)].copy()


def check_position(position):
    """Return a position as int8 of shape (2, 26), or raise a ValueError that says which place is wrong."""
    position = np.asarray(position)
    if position.shape != (2, 26) or not np.issubdtype(position.dtype, np.integer):
        raise ValueError(
            f"position must be integers of shape (2, 26); got {position.dtype}, {position.shape}"
        )
    for name, men in zip(("own", "opponent"), position, strict=True):
        if men.min() < 0 or men.max() > MEN or men.sum() != MEN:
            raise ValueError(
                f"{name} must be {MEN} men in all, at least 0 at each place; got {men.tolist()}"
            )
    both = 1 + np.flatnonzero((position[0, 1:25] > 0) & (position[1, 24:0:-1] > 0))
    if len(both):
        raise ValueError(
            f"own[{both[0]}] and opponent[{25 - both[0]}] must not both be above 0: they are one point"
        )
    return np.ascontiguousarray(position, np.int8)


@compiled()
def list_successors(position, first, second, found, last):
    """Put the positions after a throw into `found`, and return how many there are.

    Parameters
    ----------
    found : (MOST, 2, 26) int8; last : (MOST,) int8
        Room for positions, and for the places from which further steps may begin.
    """
    double, large, small = first == second, max(first, second), min(first, second)
    words = found.reshape(-1, 52).view(np.int32)  # four places at once are copied and compared
    copy_position(position, found[0], 0)
    last[0], ends = BAR, [0, 1]  # part i is from ends[i] to ends[i + 1]
    for k in range(4):
        # both orders: large, small, small after large, large after small
        source = k if double else max(k - 1, 0)
        die = small if 0 < k < 3 else large
        ends.append(
            _steps(found, words, last, ends[source], ends[source + 1], die, ends[-1], double)
        )
    for start, stop in (
        ((4, 5), (3, 4), (2, 3), (1, 2)) if double else ((3, 5), (3, 5), (1, 2), (2, 3))
    ):
        if ends[stop] > ends[start]:
            return _distinct(words, ends[start], ends[stop], double)
    return 1


@compiled()
def copy_position(source, target, turned):
    """Copy a position, and change its rows if it is to be `turned`, 0 or 1."""
    for place in range(26):
        target[0, place], target[1, place] = source[turned, place], source[1 - turned, place]


@compiled()
def _steps(found, words, last, start, stop, die, end, falling):
    """Put behind `end` what a step with a die makes of each position; return where they end.

    Steps of doubles go from high places to low (`falling`), so that each set of steps is met once.
    """
    for i in range(start, stop):
        own, other = found[i]
        rear = OFF
        for place in range(BAR, OFF, -1):
            rear, target = max(rear, place if own[place] > 0 else OFF), place - die
            blocked = (
                own[place] == 0
                or (rear == BAR and place != BAR)
                or (target > OFF and other[25 - target] > 1)
            )
            if (
                place > last[i]
                or blocked
                or (target <= OFF and (rear > HOME or (target < OFF and place != rear)))
            ):
                continue
            target = max(target, OFF)
            assign(words[end], words[i])
            last[end] = place if falling else BAR
            found[end, 0, place] -= 1
            found[end, 0, target] += 1
            if target > OFF and other[25 - target] == 1:
                found[end, 1, 25 - target] = 0
                found[end, 1, BAR] += 1
            end += 1
    return end


@compiled()
def _distinct(words, start, stop, known):
    """Move the different ones of some positions to the front, all if that is `known`; return how many there are."""
    kept = 0
    for i in range(start, stop):
        assign(words[kept], words[i])
        j = kept if known else 0
        while not _same(words[j], words[kept]):
            j += 1
        kept += j == kept
    return kept


@compiled()
def _same(a, b):
    k = 0
    while k < len(a) and a[k] == b[k]:
        k += 1
    return k == len(a)
