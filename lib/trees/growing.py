"""C4.5 grows a tree: the test with the best gain ratio at every node (Quinlan 1993, chapter 2).

Nothing here recurses, as a tree may be as deep as it has rows. What is compiled takes few functions
of numpy, and no array grows there: either costs seconds of compilation.
"""

import numpy as np

from lib.trees.cases_by_code import list_entries
from lib.trees.gain_ratio import MAX_SIDE, SIDE_SHARE, score_categories, score_thresholds
from lib.trees.node_cases import (
    FEW,
    NO_TEST,
    SMALL,
    divide,
    entry_kernel,
    kernel,
    weight_and_errors,
)


@entry_kernel
def build(data, growth, parameters, search, order, division, stack):
    """Grow the tree from its root.

    Parameters
    ----------
    data : Data
    growth : Growth
    parameters : TreeOptions
    search : SplitSearch
    order : CodeOrder
    division : Division
    stack : ndarray of int
        With room for the numbers of all nodes.

    Raises
    ------
    MemoryError
        If there is no room for so many nodes or cases.
    """
    stack[0] = 0
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        number = stack[n_waiting]
        node = growth.nodes[number]
        cases = growth.cases[node.first_case : node.end_case]
        chosen = choose(data, parameters, cases, growth.class_weights[number], search, order)
        node.attribute = NO_TEST
        if chosen >= 0:
            set_test(data, node, search.candidates[chosen])
            divide(data, growth, number, division)
            # divide has appended the children at the end of the nodes
            for child in range(node.child, growth.size[0].nodes):
                stack[n_waiting] = child
                n_waiting += 1


@entry_kernel
def list_tests(data, growth, parameters, search, order, nodes):
    """Write the best test of each attribute at the root to `nodes`; return how many there are.

    The tests are those that `search.candidates` holds then, with their gains, in the same order.

    Parameters
    ----------
    data : Data
    growth : Growth
        Of the root only.
    parameters : TreeOptions
        With `n_best` 1.
    search : SplitSearch
        With no candidates yet.
    order : CodeOrder
    nodes : ndarray of NODE (n_columns,)
    """
    root = growth.nodes[0]
    cases = growth.cases[root.first_case : root.end_case]
    choose(data, parameters, cases, growth.class_weights[0], search, order)
    n_tests = search.state[0].n_candidates
    for i in range(n_tests):
        set_test(data, nodes[i], search.candidates[i])
    return n_tests


@kernel
def choose(data, parameters, cases, class_weights, search, order):
    """Return which of the best tests a node gets; -1 for none."""
    total, errors = weight_and_errors(class_weights)
    if total < 2 * parameters.min_leaf - SMALL or errors < SMALL:
        return -1
    state = search.state[0]
    state.n_candidates = 0
    n_node_classes = number_classes(data, cases, class_weights, search)
    # list_entries overwrites these for each attribute: weights of the cases with a known value
    known_class_weights = search.class_weights[:n_node_classes]
    n_columns = len(data.codes)
    n_wanted = parameters.max_features
    for attribute in range(n_columns):
        # each set of `max_features` attributes is equally probable (Knuth's algorithm S)
        n_remaining = n_columns - attribute
        if n_wanted < n_remaining and draw(state, n_remaining) >= n_wanted:
            continue
        n_wanted -= 1
        column = data.attributes[attribute]
        n_entries = list_entries(
            data.codes[attribute],
            column.highest_code,
            data,
            cases,
            search.labels,
            known_class_weights,
            order,
        )
        entries = order.entries[:n_entries]
        if n_entries == 0 or entries[0].code == entries[n_entries - 1].code:
            continue
        if column.is_numeric:
            min_side = smallest_side(data, parameters, known_class_weights)
            score_thresholds(
                parameters,
                search,
                attribute,
                entries,
                known_class_weights,
                total,
                min_side,
                data.xlogx_table,
            )
        else:
            score_categories(
                parameters,
                search,
                attribute,
                entries,
                known_class_weights,
                total,
                data.xlogx_table,
            )
    candidates = search.candidates[: state.n_candidates]
    if parameters.n_best == 1:
        return best_ratio(data, candidates)
    return draw(state, len(candidates)) if len(candidates) > 0 else -1


@kernel
def number_classes(data, cases, class_weights, search):
    """Number the classes that a node has, so that no others cost time; returns how many it has."""
    n_node_classes = 0
    for c in range(data.n_classes):
        search.class_numbers[c] = n_node_classes
        if class_weights[c] > 0:
            search.class_weights[n_node_classes] = class_weights[c]
            n_node_classes += 1
    for i in range(len(cases)):
        search.labels[i] = search.class_numbers[data.y[cases[i].row]]
    return n_node_classes


@kernel
def smallest_side(data, parameters, known_class_weights):
    """Return the weight that a threshold leaves on each side, at least."""
    if parameters.n_best > 1 or not parameters.by_ratio:
        return parameters.min_leaf
    # as in the source of C4.5
    known_weight, _ = weight_and_errors(known_class_weights)
    side = min(SIDE_SHARE * known_weight / data.n_classes, MAX_SIDE)
    return max(parameters.min_leaf, side)


@kernel
def best_ratio(data, candidates):
    """Return the test with the best gain ratio of those whose gain is not below the mean.

    The gain ratio alone would prefer tests that divide very unevenly (Quinlan 1993, chapter 2).
    Attributes with very many categories do not count in the mean.
    """
    gain_sum = 0.0
    n_in_mean = 0
    for i in range(len(candidates)):
        if data.attributes[candidates[i].attribute].in_mean_gain:
            gain_sum += candidates[i].gain
            n_in_mean += 1
    if n_in_mean == 0:
        return -1
    min_gain = max(gain_sum / n_in_mean - FEW, 0.0)
    best = -1
    highest_ratio = 0.0
    for i in range(len(candidates)):
        candidate = candidates[i]
        if candidate.gain >= min_gain and candidate.ratio > highest_ratio + SMALL:
            best = i
            highest_ratio = candidate.ratio
    return best


@kernel
def draw(state, n):
    """Return a random integer below n (splitmix64; Steele, Lea & Flood 2014)."""
    state.random += np.uint64(0x9E3779B97F4A7C15)
    z = state.random
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    # its upper 53 bits as a fraction
    return int((z >> np.uint64(11)) * (n / 2.0**53))


@kernel
def middle(low, high):
    """Return the number midway between two, or the lower one if no number is between them."""
    span = high - low
    half = low + span / 2 if span < np.inf else low / 2 + high / 2
    return half if half < high else low


@kernel
def set_test(data, node, candidate):
    """Give a node a test.

    Its cut is that of all training values at the threshold, not of the node's cases only: so a case
    that comes here later, when a branch is raised, goes the way that the threshold says.
    """
    attribute = candidate.attribute
    node.attribute = attribute
    node.threshold = np.nan
    if not data.attributes[attribute].is_numeric:
        return
    first_value = data.attributes[attribute].first_value
    cut = candidate.cut
    next_code = candidate.next_code
    node.threshold = middle(data.values[first_value + cut], data.values[first_value + next_code])
    # bisection for the highest code that is not above the threshold
    while next_code - cut > 1:
        code = (cut + next_code) // 2
        if data.values[first_value + code] <= node.threshold:
            cut = code
        else:
            next_code = code
    node.cut = cut
