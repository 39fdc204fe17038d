"""The tests that a node may get, with their gain and gain ratio (Quinlan 1993, chapter 2).

Sums of x log2 x take the place of entropies. If n cases have the class weights n_c, their entropy I
is such that n I = n log2 n - sum_c n_c log2 n_c. From one threshold to the next only the terms of
one class change.
"""

from typing import NamedTuple

import numpy as np

from lib.trees.node_cases import SMALL, kernel

MAX_SIDE = 25.0  # cases that a threshold must leave on each side, at most
SIDE_SHARE = 0.1  # of the cases of an average class

# A test that a node may get
CANDIDATE = np.dtype(
    [
        ("ratio", np.float64),  # the gain ratio, or the gain if that is the criterion
        ("gain", np.float64),
        ("attribute", np.int64),
        ("cut", np.int64),  # the codes on both sides of a threshold
        ("next_code", np.int64),
    ]
)

STATE = np.dtype(
    [
        ("n_candidates", np.int64),
        ("worst", np.int64),  # of the candidates, once there is room for no more
        ("random", np.uint64),
    ]
)

# Of one class below or above a threshold
SIDE = np.dtype([("weight", np.float64), ("xlogx", np.float64)])


class TreeOptions(NamedTuple):
    """How a node's test is chosen and a tree pruned, see GainRatioTree."""

    min_leaf: float
    n_best: int
    mdl: bool
    by_ratio: bool  # else by gain
    max_features: int
    confidence: float  # of the bound of pruning, 1 without pruning
    z: float  # the normal quantile of 1 - confidence


class SplitSearch(NamedTuple):
    """Arrays in which the test of a node is searched."""

    candidates: np.ndarray  # of CANDIDATE, one for each attribute, or the `n_best` best
    state: np.ndarray  # of STATE (1,)
    class_numbers: np.ndarray  # of each class among those that the node has
    labels: np.ndarray  # the number of each case's class
    class_weights: np.ndarray  # by number, of the cases whose value is known
    branch_class_weights: np.ndarray
    low_side: np.ndarray  # of SIDE, by number
    high_side: np.ndarray


def new_search(n_rows, data, parameters, seed):
    """Return arrays in which tests for nodes of up to `n_rows` cases are searched."""
    k = data.n_classes
    state = np.zeros(1, STATE)
    state["random"] = seed
    n_candidates = parameters.n_best if parameters.n_best > 1 else len(data.codes)
    return SplitSearch(
        candidates=np.empty(n_candidates, CANDIDATE),
        state=state,
        class_numbers=np.empty(k, np.int64),
        labels=np.empty(n_rows, np.int64),
        class_weights=np.empty(k),
        branch_class_weights=np.empty(k),
        low_side=np.empty(k, SIDE),
        high_side=np.empty(k, SIDE),
    )


@kernel
def xlogx(x, table):
    """Return x log2 x, from the table if x is whole."""
    i = int(x)
    if i == x and i < len(table):
        return table[i]
    return x * np.log2(x) if x > 0 else 0.0


@kernel
def offer_candidate(parameters, search, attribute, gain, split_info, cut, next_code):
    """Put a test on the list of candidates.

    If the list is full, the test takes the place of the worst candidate, or has none if it is no
    better.
    """
    state = search.state[0]
    ratio = gain
    if parameters.by_ratio:
        ratio = gain / split_info if split_info > SMALL else 0.0
    is_full = state.n_candidates == len(search.candidates)
    place = state.worst if is_full else state.n_candidates
    is_beaten = is_full and ratio <= search.candidates[place].ratio
    if parameters.n_best > 1 and (ratio <= 0 or is_beaten):
        return
    candidate = search.candidates[place]
    candidate.ratio = ratio
    candidate.gain = gain
    candidate.attribute = attribute
    candidate.cut = cut
    candidate.next_code = next_code
    if not is_full:
        state.n_candidates += 1
    if parameters.n_best > 1 and state.n_candidates == len(search.candidates):
        state.worst = worst_candidate(search.candidates)


@kernel
def worst_candidate(candidates):
    """Return the first candidate with the lowest ratio."""
    worst = 0
    for i in range(1, len(candidates)):
        if candidates[i].ratio < candidates[worst].ratio:
            worst = i
    return worst


@kernel
def score_categories(parameters, search, attribute, entries, class_weights, total, xlogx_table):
    """Offer the test with a branch for each category, if two branches or more have enough cases.

    Parameters
    ----------
    parameters : TreeOptions
    search : SplitSearch
    attribute : int
    entries : ndarray of ENTRY
        The cases with a value, by code.
    class_weights : ndarray of float (n_node_classes,)
        Of the cases with a value.
    total : float
        Weight of all cases of the node.
    xlogx_table : ndarray of float
    """
    branch_class_weights = search.branch_class_weights[: len(class_weights)]
    branch_xlogx = 0.0
    branch_class_xlogx = 0.0
    n_large_branches = 0
    i = 0
    while i < len(entries):
        code = entries[i].code
        branch_weight = 0.0
        for c in range(len(class_weights)):
            branch_class_weights[c] = 0.0
        while i < len(entries) and entries[i].code == code:
            branch_class_weights[entries[i].label] += entries[i].weight
            branch_weight += entries[i].weight
            i += 1
        n_large_branches += branch_weight >= parameters.min_leaf - SMALL
        branch_xlogx += xlogx(branch_weight, xlogx_table)
        for weight in branch_class_weights:
            branch_class_xlogx += xlogx(weight, xlogx_table)

    known_weight = 0.0
    class_xlogx = 0.0
    for weight in class_weights:
        known_weight += weight
        class_xlogx += xlogx(weight, xlogx_table)
    gain = xlogx(known_weight, xlogx_table) - class_xlogx - branch_xlogx + branch_class_xlogx
    if n_large_branches >= 2:
        # cases without a value count as a branch of their own
        missing_xlogx = xlogx(total - known_weight, xlogx_table)
        split_info = (xlogx(total, xlogx_table) - branch_xlogx - missing_xlogx) / total
        gain = gain / total if gain > SMALL else 0.0
        no_code = np.int64(-1)  # of a type, while numba would compile anew for a literal number
        offer_candidate(parameters, search, attribute, gain, split_info, no_code, no_code)


@kernel
def add_weight(side, c, weight, xlogx_sum, xlogx_table):
    """Add a weight to a class on one side of a threshold; returns the side's sum of x log2 x."""
    old_xlogx = side[c].xlogx
    side[c].weight = max(side[c].weight + weight, 0.0)
    side[c].xlogx = xlogx(side[c].weight, xlogx_table)
    return xlogx_sum - old_xlogx + side[c].xlogx


@kernel
def score_thresholds(
    parameters, search, attribute, entries, class_weights, total, min_side, xlogx_table
):
    """Offer the threshold with the highest gain; every threshold, if the test is drawn among some.

    Parameters
    ----------
    parameters : TreeOptions
    search : SplitSearch
    attribute : int
    entries : ndarray of ENTRY
        The cases with a value, by code.
    class_weights : ndarray of float (n_node_classes,)
        Of the cases with a value.
    total : float
        Weight of all cases of the node.
    min_side : float
        Weight that a threshold leaves on each side, at least.
    xlogx_table : ndarray of float
    """
    # at first all cases are above the threshold
    low_side = search.low_side
    high_side = search.high_side
    known_weight = 0.0
    low_xlogx = 0.0
    high_xlogx = 0.0
    for c in range(len(class_weights)):
        known_weight += class_weights[c]
        low_side[c].weight = 0.0
        low_side[c].xlogx = 0.0
        high_side[c].weight = 0.0
        high_side[c].xlogx = 0.0
        high_xlogx = add_weight(high_side, c, class_weights[c], high_xlogx, xlogx_table)
    info_before = xlogx(known_weight, xlogx_table) - high_xlogx
    total_xlogx = xlogx(total, xlogx_table)
    missing_xlogx = xlogx(total - known_weight, xlogx_table)

    # then one entry after the other comes below it
    low_weight = 0.0
    n_thresholds = 0
    best_gain = 0.0
    best_split_info = 0.0
    best = 0
    for i in range(len(entries) - 1):
        c = entries[i].label
        weight = entries[i].weight
        low_xlogx = add_weight(low_side, c, weight, low_xlogx, xlogx_table)
        high_xlogx = add_weight(high_side, c, -weight, high_xlogx, xlogx_table)
        low_weight += weight
        high_weight = known_weight - low_weight
        if entries[i + 1].code == entries[i].code:
            continue
        if low_weight < min_side - SMALL or high_weight < min_side - SMALL:
            continue
        n_thresholds += 1
        side_xlogx = xlogx(low_weight, xlogx_table) + xlogx(high_weight, xlogx_table)
        gain = (info_before - side_xlogx + low_xlogx + high_xlogx) / total
        if parameters.n_best > 1:
            if gain * total > SMALL:
                split_info = (total_xlogx - side_xlogx - missing_xlogx) / total
                cut = entries[i].code
                next_code = entries[i + 1].code
                offer_candidate(parameters, search, attribute, gain, split_info, cut, next_code)
        elif gain > best_gain + SMALL:
            best_gain = gain
            best_split_info = (total_xlogx - side_xlogx - missing_xlogx) / total
            best = i

    # the MDL correction (Quinlan 1996): to say which threshold it is takes log2 n_thresholds bits
    if n_thresholds > 0 and parameters.mdl:
        best_gain -= np.log2(n_thresholds) / total
    if best_gain > SMALL:
        offer_candidate(
            parameters,
            search,
            attribute,
            best_gain,
            best_split_info,
            entries[best].code,
            entries[best + 1].code,
        )
