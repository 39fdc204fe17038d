"""The rules of backgammon: where the men may stand after a throw of the dice.

A position is an array (2, 26) of int8: how many men of the one to move, then of the other, stand at
each place. Each row is as its owner sees it: 0 is off the board, 1 to 24 are the points, counted
from there, 25 is the bar. My point p is the other's 25 - p. After a move the rows change places.
"""

import numpy as np

from lib.base.compiled import assign, compiled
from lib.base.validation import check_integer

OFF = 0
HOME = 6  # the points from 1 to this one
BAR = 25
MEN = 15
# after one to four steps with one die: there are fewer than 3,876 sets of steps
MAX_SUCCESSORS = 3900
START = np.zeros((2, 26), np.int8)
START[:, [6, 8, 13, 24]] = 5, 3, 5, 2
START.setflags(write=False)


def successors(own, opponent, dice):
    """List every position to which a throw can lead, each once, before the rows change places.

    As many dice must be used as can be; where only one of two can be, the larger, if it can.
    Doubles are four steps.

    Parameters
    ----------
    own, opponent : array-like of shape (26,) of int
        Men of the one to move and of the other, at each place as its owner sees it.
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
    positions = np.empty((MAX_SUCCESSORS, 2, 26), np.int8)
    last_places = np.empty(MAX_SUCCESSORS, np.int8)
    n = list_successors(position, first, second, positions, last_places)
    return positions[:n].copy()


def check_position(position):
    """Return a position as int8, or raise a ValueError that says which place is wrong."""
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
    shared_points = 1 + np.flatnonzero((position[0, 1:25] > 0) & (position[1, 24:0:-1] > 0))
    if len(shared_points):
        point = shared_points[0]
        raise ValueError(
            f"own[{point}] and opponent[{25 - point}] must not both be above 0: they are one point"
        )
    return np.ascontiguousarray(position, np.int8)


@compiled()
def list_successors(position, first, second, positions, last_places):
    """Put the positions after a throw into `positions`, and return how many there are.

    Parameters
    ----------
    position : ndarray of shape (2, 26), int8
    first, second : int
        The dice.
    positions : ndarray of shape (MAX_SUCCESSORS, 2, 26), int8
        Room for positions.
    last_places : ndarray of shape (MAX_SUCCESSORS,), int8
        Room for the highest places from which further steps may begin.
    """
    is_double = first == second
    large = max(first, second)
    small = min(first, second)
    words = positions.reshape(-1, 52).view(np.int32)  # four places at once are copied and compared
    copy_position(position, positions[0], 0)
    last_places[0] = BAR

    # Group i of positions goes from ends[i] to ends[i + 1]. Group 0 is the present position. Of a
    # double, group i is after i steps. Otherwise group 1 is after the larger die, 2 after the
    # smaller one, 3 and 4 after both, each from the group before with the other die.
    ends = [0, 1]
    sources = (0, 1, 2, 3) if is_double else (0, 0, 1, 2)
    dice = (large, small, small, large)
    for k in range(4):
        start = ends[sources[k]]
        stop = ends[sources[k] + 1]
        ends.append(
            _add_steps(positions, words, last_places, start, stop, dice[k], ends[-1], is_double)
        )

    # As many dice must be used as can be, and of single dice the larger one, if it can. Pairs are
    # the first of the groups and the one after them; all tuples have one length for numba.
    after_double = ((4, 5), (3, 4), (2, 3), (1, 2))
    after_others = ((3, 5), (1, 2), (2, 3), (2, 3))
    preferences = after_double if is_double else after_others
    for first_group, end_group in preferences:
        if ends[end_group] > ends[first_group]:
            # sets of equal steps are met once, while two orders may lead to one position
            return _drop_duplicates(words, ends[first_group], ends[end_group], is_double)
    return 1


@compiled()
def copy_position(source, target, swap):
    """Copy a position, and let its rows change places if `swap` is 1, not 0."""
    for place in range(26):
        target[0, place] = source[swap, place]
        target[1, place] = source[1 - swap, place]


@compiled()
def _add_steps(positions, words, last_places, start, stop, die, end, is_double):
    """Put behind `end` what a step with a die makes of some positions; return where these end.

    Steps of doubles go from high places to low, so that each set of steps is met once.
    """
    for i in range(start, stop):
        own, opponent = positions[i]
        rear = OFF  # the highest place with a man
        for place in range(BAR, OFF, -1):
            if own[place] == 0:
                continue
            rear = max(rear, place)
            target = place - die
            must_enter = rear == BAR and place != BAR
            is_blocked = target > OFF and opponent[25 - target] > 1
            # all men are home, and the die is exact or the man is the rearmost one
            may_bear_off = rear <= HOME and (target == OFF or place == rear)
            if place > last_places[i] or must_enter or is_blocked:
                continue
            if target <= OFF and not may_bear_off:
                continue

            target = max(target, OFF)
            assign(words[end], words[i])
            last_places[end] = place if is_double else BAR
            positions[end, 0, place] -= 1
            positions[end, 0, target] += 1
            if target > OFF and opponent[25 - target] == 1:  # a blot is hit
                positions[end, 1, 25 - target] = 0
                positions[end, 1, BAR] += 1
            end += 1
    return end


@compiled()
def _drop_duplicates(words, start, stop, are_distinct):
    """Move positions to the front, each once, and return how many there are.

    Nothing is compared if it is known that they `are_distinct`.
    """
    n_distinct = 0
    for i in range(start, stop):
        assign(words[n_distinct], words[i])
        j = n_distinct if are_distinct else 0
        while not _is_same(words[j], words[n_distinct]):
            j += 1
        if j == n_distinct:
            n_distinct += 1
    return n_distinct


@compiled()
def _is_same(a, b):
    k = 0
    while k < len(a) and a[k] == b[k]:
        k += 1
    return k == len(a)
