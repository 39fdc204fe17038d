"""C4.5 grows a tree: the test with the best gain ratio at every node, fractions of cases where a value is missing.

Nothing here recurses, as a tree may be as deep as it has rows. What is compiled takes few functions
of numpy, and no array grows there: either costs seconds of compilation.
"""

import numpy as np

from lib.trees.node_cases import FEW, NODES, SMALL, divide, errors_seen, inlined, kernel

LARGEST = 25.0  # cases that a threshold must leave on each side, at most
FEW_CODES = 256  # for each class, so that their weights stay in the cache


@kernel
def draw(state, n):
    """Return a random integer below n; `state` (1,) uint64 moves on (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int(((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (n / 9007199254740992.0))


@kernel
def xlogx(x, logs):
    """Return x log2 x, from the table if x is whole."""
    i = int(x)
    if i == x and i < logs.shape[0]:
        return logs[i]
    return x * np.log2(x) if x > 0 else 0.0


@inlined
def by_code(data, test, rows, weights, known, work):
    """List the cases of a node as (code, class, weight) by code, and add up the weights of the classes in `known`.

    Returns the length of the list. Where there are few codes, the cases of a code and class are one
    entry.
    """
    codes, classes, table, moved = data.codes[test], work.classes, work.table, work.moved
    k, most, low, high, n_known = (
        len(known),
        FEW_CODES * data.n_classes,
        0,
        data.highest[test],
        len(rows),
    )
    # else `known` is that of the node
    if not data.complete or (high + 1) * k > min(most, 2 * n_known):
        low, high, n_known = extent(codes, classes, rows, weights, known)
    if (high - low + 1) * k <= min(most, 2 * n_known):
        for i in range(len(rows)):
            code = codes[rows[i]]
            if code >= 0:
                table[(code - low) * k + classes[i]] += weights[i]
        return cells(table, low, high, k, moved)
    n = 0
    for i in range(len(rows)):
        code = np.int64(codes[rows[i]])
        if code >= 0:
            work.keys[n] = (code << 32) | i
            n += 1
    in_order(work.keys[:n], low, high - low, work.where, work.places)
    for j in range(n):
        i = work.keys[j] & 0xFFFFFFFF
        moved[j, 0], moved[j, 1], moved[j, 2] = work.keys[j] >> 32, classes[i], weights[i]
    return n


@kernel
def extent(codes, classes, rows, weights, known):
    """Return the lowest and the highest code of cases and how many have one; adds up the weights of their classes."""
    low, high, n = np.int64(2**31), np.int64(-1), 0
    known.fill(0.0)
    for i in range(len(rows)):
        code = np.int64(codes[rows[i]])
        if code >= 0:
            low, high, n = min(low, code), max(high, code), n + 1
            known[classes[i]] += weights[i]
    return low, high, n


@kernel
def cells(table, low, high, k, moved):
    """List the weights of each code and class, by code, and empty their table; returns the length of the list."""
    count = 0
    for cell in range((high - low + 1) * k):
        if table[cell] > 0:
            moved[count, 0], moved[count, 1], moved[count, 2] = (
                low + cell // k,
                cell % k,
                table[cell],
            )
            table[cell] = 0.0
            count += 1
    return count


@kernel
def in_order(keys, low, span, spare, places):
    """Order keys by their codes, low to low + span, and within a code as they are: digit by digit, counting."""
    bits, shift, left = 1, 32, span
    while 1 << bits <= min(span, 2 * len(keys) - 1):
        bits += 1
    mask = (1 << bits) - 1
    while left > 0:
        places[: mask + 2].fill(0)
        for i in range(len(keys)):
            spare[i] = keys[i]
            places[((keys[i] - (low << 32)) >> shift & mask) + 1] += 1
        for digit in range(mask):
            places[digit + 1] += places[digit]
        for i in range(len(keys)):
            digit = (spare[i] - (low << 32)) >> shift & mask
            keys[places[digit]] = spare[i]
            places[digit] += 1
        shift, left = shift + bits, left >> bits


@kernel
def consider(rule, best, test, gain, information, cut, after):
    """Score a test, which takes a place on the list of the best, or of the worst there, where the list is full.

    The last row of the list has the number of tests, and where the worst is once it is full.
    """
    end, n = len(best) - 1, int(best[-1, 0])
    ratio = gain if not rule.ratio else gain / information if information > SMALL else 0.0
    place = int(best[end, 1]) if n == end else n
    if rule.n_best > 1 and (ratio <= 0 or (n == end and ratio <= best[place, 0])):
        return
    best[place, 0], best[place, 1], best[place, 2], best[place, 3], best[place, 4] = (
        ratio,
        test,
        cut,
        after,
        gain,
    )
    best[end, 0] = min(n + 1, end)
    if rule.n_best > 1 and best[end, 0] == end:
        best[end, 1] = best[:end, 0].argmin()


@inlined
def categories(data, rule, test, count, known, total, work):
    """Score a branch for each category; there is no gain without two that are large."""
    moved, logs, n, of_classes, of_cells, of_branches, wide, i = (
        work.moved,
        data.logs,
        known.sum(),
        0.0,
        0.0,
        0.0,
        0,
        0,
    )
    inside = work.sums[1, : len(known)]
    while i < count:
        code, size = moved[i, 0], 0.0
        inside.fill(0.0)
        while i < count and moved[i, 0] == code:
            inside[int(moved[i, 1])] += moved[i, 2]
            size += moved[i, 2]
            i += 1
        wide += size >= rule.min_leaf - SMALL
        of_branches += xlogx(size, logs)
        for weight in inside:
            of_cells += xlogx(weight, logs)
    for weight in known:
        of_classes += xlogx(weight, logs)
    gain = xlogx(n, logs) - of_classes - of_branches + of_cells
    if wide > 1:
        information = (xlogx(total, logs) - of_branches - xlogx(total - n, logs)) / total
        consider(
            rule, work.best, test, gain / total if gain > SMALL else 0.0, information, -1.0, -1.0
        )


@kernel
def shift(side, of_side, c, weight, logs):
    """Add a weight to a class on one side, (weights, their x log2 x); returns the sum of these."""
    old = side[1, c]
    side[0, c] = max(side[0, c] + weight, 0.0)
    side[1, c] = xlogx(side[0, c], logs)
    return of_side - old + side[1, c]


@inlined
def threshold(data, rule, test, count, known, total, work):
    """Score the threshold of a number with the highest gain; with rule.n_best > 1, all of them."""
    n, k, left, logs, moved = known.sum(), known.shape[0], 0.0, data.logs, work.moved
    least = max(
        rule.min_leaf,
        min(0.1 * n / data.n_classes, LARGEST) if rule.n_best == 1 and rule.ratio else 0.0,
    )
    below, above, of_below, of_above = work.sums[1:3, :k], work.sums[3:5, :k], 0.0, 0.0
    work.sums[1:5].fill(0.0)
    for c in range(k):
        of_above = shift(above, of_above, c, known[c], logs)
    old, gain, information, n_cuts, at = xlogx(n, logs) - of_above, 0.0, 0.0, 0, 0
    of_all, unknown = xlogx(total, logs), xlogx(total - n, logs)
    for i in range(count - 1):
        c, weight = int(moved[i, 1]), moved[i, 2]
        of_below, of_above = (
            shift(below, of_below, c, weight, logs),
            shift(above, of_above, c, -weight, logs),
        )
        left += weight
        if moved[i + 1, 0] == moved[i, 0] or left < least - SMALL or n - left < least - SMALL:
            continue
        n_cuts += 1
        sides = xlogx(left, logs) + xlogx(n - left, logs)
        new = (old - sides + of_below + of_above) / total
        if rule.n_best > 1 and new * total > SMALL:
            information = (of_all - sides - unknown) / total
            consider(rule, work.best, test, new, information, moved[i, 0], moved[i + 1, 0])
        elif rule.n_best == 1 and new > gain + SMALL:
            gain, information, at = new, (of_all - sides - unknown) / total, i
    if n_cuts > 0 and rule.mdl:
        gain -= np.log2(n_cuts) / total
    if gain > SMALL:
        consider(rule, work.best, test, gain, information, moved[at, 0], moved[at + 1, 0])


@kernel
def choose(data, rule, rows, weights, counts, work):
    """Return which of the best tests a node gets; -1 for none."""
    (total, errors), k, p, left = errors_seen(counts), 0, data.codes.shape[0], rule.n_features
    if total < 2 * rule.min_leaf - SMALL or errors < SMALL:
        return -1
    for c in range(data.n_classes):
        work.local[c] = k
        if counts[c] > 0:
            work.sums[0, k] = counts[c]
            k += 1
    for i in range(len(rows)):
        work.classes[i] = work.local[data.y[rows[i]]]
    known = work.sums[0, :k]
    work.best[-1].fill(0.0)
    for test in range(p):
        if left < p - test and draw(work.state, p - test) >= left:
            continue
        left -= 1
        count = by_code(data, test, rows, weights, known, work)
        if count == 0 or work.moved[0, 0] == work.moved[count - 1, 0]:
            continue
        if data.numeric[test]:
            threshold(data, rule, test, count, known, total, work)
        else:
            categories(data, rule, test, count, known, total, work)
    best = work.best[: int(work.best[-1, 0])]
    return (
        highest_ratio(data, best)
        if rule.n_best == 1
        else draw(work.state, len(best))
        if len(best) > 0
        else -1
    )


@kernel
def highest_ratio(data, best):
    """Return the test with the best gain ratio of those whose gain is not below the mean."""
    total, n, chosen, highest = 0.0, 0, -1, 0.0
    for i in range(len(best)):
        if data.usual[int(best[i, 1])]:
            total += best[i, 4]
            n += 1
    for i in range(len(best) if n > 0 else 0):
        if best[i, 4] >= max(total / n - FEW, 0.0) and best[i, 0] > highest + SMALL:
            chosen, highest = i, best[i, 0]
    return chosen


@kernel
def middle(low, high):
    """Return the number midway between two, or the lower one where rounding would make it the higher one."""
    half = low + (high - low) / 2 if high - low < np.inf else low / 2 + high / 2
    return half if half < high else low


@kernel
def set_test(data, growth, node, best):
    """Give a node one of the best tests. Its cut is that of all codes at the threshold, not of its own cases only.

    So whoever comes here later, when branches are raised, goes the way that the threshold says.
    """
    test, cut, after = int(best[1]), int(best[2]), int(best[3])
    growth.test[node], growth.threshold[node] = test, np.nan
    if not data.numeric[test]:
        return
    start = data.starts[test]
    growth.threshold[node] = middle(data.values[start + cut], data.values[start + after])
    while after - cut > 1:
        code = (cut + after) // 2
        if data.values[start + code] <= growth.threshold[node]:
            cut = code
        else:
            after = code
    growth.cut[node] = cut


@kernel
def build(data, growth, rule, work):
    """Grow the tree."""
    waiting, best, n = work.nodes, work.best, 1
    while n > 0:
        n -= 1
        node = waiting[n]
        cases = slice(growth.first[node], growth.last[node])
        chosen = choose(
            data, rule, growth.rows[cases], growth.weights[cases], growth.counts[node], work
        )
        growth.test[node] = -1
        if chosen >= 0:
            set_test(data, growth, node, best[chosen])
            divide(data, growth, node, work)
            for child in range(growth.child[node], growth.used[NODES]):
                waiting[n] = child
                n += 1
