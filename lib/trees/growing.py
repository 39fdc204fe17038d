"""C4.5 grows a tree: the test with the best gain ratio at every node, fractions of cases where a value is missing.

Nothing here recurses, as a tree may be as deep as it has rows. Cases are pairs of row and weight. Those of a node lie
at the top of a stack, and give place to those of its children; at a leaf they move to the list of cases of all leaves,
where the cases of every node are neighbours.
"""

from collections import namedtuple

import numpy as np

from lib.compiled import compiled

SMALL = 1e-6  # differences below are none, as in Weka
FEW = 1e-3  # how far below the mean gain a test may lie
LARGEST = 25.0  # cases that a threshold must leave on each side, at most

Rule = namedtuple("Rule", "min_leaf n_best mdl ratio n_features")
Rule.__doc__ = """How a test is chosen, see GainRatioTree."""
Data = namedtuple("Data", "codes sizes y weights n_classes logs")
Data.__doc__ = """Codes (p, n), -1 for missing, number of categories (p,), 0 for numbers, classes, weights, x log2 x."""
Growth = namedtuple("Growth", "nodes counts shares rows weights used")
Growth.__doc__ = """Nodes (test, cut, next value, first child, first and last case, copied from), class counts, share of
the parent's known cases, and the cases of the leaves; `used` has the number of nodes and of cases."""
TEST, CUT, NEXT, CHILD, FIRST, LAST, MODEL = range(7)


@compiled()
def draw(state, n):
    """Return a random integer below n; `state` (1,) uint64 moves on (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int(((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (n / 9007199254740992.0))


@compiled()
def xlogx(x, logs):
    """Return x log2 x, from the table if x is whole."""
    i = int(x)
    if i == x and i < logs.shape[0]:
        return logs[i]
    return x * np.log2(x) if x > 0 else 0.0


@compiled()
def longer(array, length):
    """Return the array, with at least that many rows."""
    while array.shape[0] < length:
        array = np.concatenate((array, np.zeros_like(array)))
    return array


@compiled()
def branch(data, nodes, node, row):
    """Return the number of the child to which a row goes, or -1 where the value is missing."""
    test = nodes[node, TEST]
    code = data.codes[test, row]
    return np.int64(code if code < 0 or data.sizes[test] > 0 else code > nodes[node, CUT])


@compiled()
def moves(data, test, rows, weights, known, local, table, keys, moved):
    """List the weights of the cases of a node as (code, class, weight), by code; cases of one code may be summed.

    Returns the number of moves, and adds up the weights of the classes in `known`.
    """
    codes, n_known, k, size = data.codes[test], 0, known.shape[0], table.shape[0]
    n_codes = data.sizes[test] if data.sizes[test] > 0 else data.logs.shape[0]
    known[:] = 0.0
    low, high = n_codes, -1
    for i in range(rows.shape[0]):
        code = codes[rows[i]]
        if code >= 0:
            known[local[data.y[rows[i]]]] += weights[i]
            low, high = min(low, code), max(high, code)
            keys[n_known] = (np.int64(code) << 32) | i
            n_known += 1
    count = 0
    width = high - low + 1
    if 0 < width * k <= min(size, 2 * n_known):
        for j in range(n_known):
            i = keys[j] & 0xFFFFFFFF
            table[((keys[j] >> 32) - low) * k + local[data.y[rows[i]]]] += weights[i]
        for cell in range(width * k):
            if table[cell] > 0:
                moved[count, 0], moved[count, 1], moved[count, 2] = low + cell // k, cell % k, table[cell]
                table[cell] = 0.0
                count += 1
        return count
    keys[:n_known].sort()
    for j in range(n_known):
        i = keys[j] & 0xFFFFFFFF
        moved[j, 0], moved[j, 1], moved[j, 2] = keys[j] >> 32, local[data.y[rows[i]]], weights[i]
    return n_known


@compiled()
def keep_best(best, count, ratio, test, cut, after):
    """Keep a test in the list of the best, where it takes the place of the worst; returns the number of tests in it."""
    place = count
    if count == best.shape[0]:
        place = best[:, 0].argmin()
        if ratio <= best[place, 0]:
            return count
    best[place, 0], best[place, 1], best[place, 2], best[place, 3] = ratio, test, cut, after
    return min(count + 1, best.shape[0])


@compiled()
def categories(data, moved, count, known, total, rule):
    """Return gain and split information, in bits a case, of a branch for each category; gain -1 without two large."""
    n, of_classes, of_cells, of_branches, wide, i = known.sum(), 0.0, 0.0, 0.0, 0, 0
    for c in range(known.shape[0]):
        of_classes += xlogx(known[c], data.logs)
    inside = np.zeros(known.shape[0])
    while i < count:
        code, size = moved[i, 0], 0.0
        inside[:] = 0.0
        while i < count and moved[i, 0] == code:
            inside[int(moved[i, 1])] += moved[i, 2]
            size += moved[i, 2]
            i += 1
        wide += size >= rule.min_leaf - SMALL
        of_branches += xlogx(size, data.logs)
        for c in range(known.shape[0]):
            of_cells += xlogx(inside[c], data.logs)
    difference = xlogx(n, data.logs) - of_classes - of_branches + of_cells
    if wide < 2:
        return -1.0, 0.0
    return (difference if difference > SMALL else 0.0) / total, (
        xlogx(total, data.logs) - of_branches - xlogx(total - n, data.logs)
    ) / total


@compiled()
def threshold(data, test, moved, count, known, total, rule, best, n_tests):
    """Find the threshold of a number with the highest gain; with rule.n_best > 1 all of them enter the list `best`.

    Returns gain and split information, the codes on both sides of the cut, and the number of tests in the list.
    """
    n, left, logs = known.sum(), 0.0, data.logs
    least = rule.min_leaf
    if rule.n_best == 1 and rule.ratio:
        least = max(least, min(0.1 * n / data.n_classes, LARGEST))
    below, above, of_below, of_above = np.zeros(known.shape[0]), known.copy(), 0.0, 0.0
    for c in range(known.shape[0]):
        of_above += xlogx(known[c], logs)
    old, gain, of_sides, cut, after, n_cuts = xlogx(n, logs) - of_above, 0.0, 0.0, -1.0, -1.0, 0
    unknown = xlogx(total - n, logs)
    for i in range(count - 1):
        c, weight = int(moved[i, 1]), moved[i, 2]
        of_below -= xlogx(below[c], logs)
        of_above -= xlogx(above[c], logs)
        below[c] += weight
        above[c] = max(above[c] - weight, 0.0)
        of_below += xlogx(below[c], logs)
        of_above += xlogx(above[c], logs)
        left += weight
        if moved[i + 1, 0] == moved[i, 0] or left < least - SMALL or n - left < least - SMALL:
            continue
        n_cuts += 1
        sides = xlogx(left, logs) + xlogx(n - left, logs)
        new = (old - sides + of_below + of_above) / total
        if rule.n_best > 1 and new * total > SMALL:
            ratio = new / ((xlogx(total, logs) - sides - unknown) / total) if rule.ratio else new
            n_tests = keep_best(best, n_tests, ratio, test, moved[i, 0], moved[i + 1, 0])
        if new > gain + SMALL:
            gain, of_sides, cut, after = new, sides, moved[i, 0], moved[i + 1, 0]
    if n_cuts > 0 and rule.mdl:
        gain -= np.log2(n_cuts) / total
    return gain, (xlogx(total, logs) - of_sides - unknown) / total, cut, after, n_tests


@compiled()
def choose(data, rule, state, rows, weights, counts, work):
    """Return the test of a node and the codes on both sides of its cut; -1 for none."""
    local, table, keys, moved, gains, ratios, cuts, best = work
    total, k, p, n_tests = counts.sum(), 0, data.codes.shape[0], 0
    if total < 2 * rule.min_leaf - SMALL or counts.max() > total - SMALL:
        return -1, -1, -1
    for c in range(data.n_classes):
        local[c] = k
        k += counts[c] > 0
    known, mean, n_usual, left = np.zeros(k), 0.0, 0, rule.n_features
    many = 0.3 * data.y.shape[0]
    usual = not (data.sizes >= many).all()
    for test in range(p):
        gains[test], ratios[test] = -1.0, 0.0
        if left < p - test and draw(state, p - test) >= left:
            continue
        left -= 1
        count = moves(data, test, rows, weights, known, local, table, keys, moved)
        if data.sizes[test] > 0:
            gain, information = categories(data, moved, count, known, total, rule)
            if gain > 0 and rule.n_best > 1 and information > SMALL:
                ratio = gain / information if rule.ratio else gain
                n_tests = keep_best(best, n_tests, ratio, test, -1, -1)
        else:
            gain, information, cuts[test, 0], cuts[test, 1], n_tests = threshold(
                data, test, moved, count, known, total, rule, best, n_tests
            )
        if gain > SMALL or (gain >= 0 and data.sizes[test] > 0):
            gains[test] = ratios[test] = gain
            if rule.ratio:
                ratios[test] = gain / information if information * total > SMALL else 0.0
            if data.sizes[test] < many or not usual:
                mean += gain
                n_usual += 1
    if rule.n_best > 1:
        if n_tests == 0:
            return -1, -1, -1
        kept = best[draw(state, n_tests)]
        return int(kept[1]), int(kept[2]), int(kept[3])
    chosen, highest = -1, 0.0
    for test in range(p):
        if n_usual > 0 and gains[test] >= max(mean / n_usual - FEW, 0.0) and ratios[test] > highest + SMALL:
            chosen, highest = test, ratios[test]
    return (chosen, int(cuts[chosen, 0]), int(cuts[chosen, 1])) if chosen >= 0 else (-1, -1, -1)


@compiled()
def enclose(data, nodes, node):
    """Set the first and the last case of an inner node from those of its children."""
    if nodes[node, TEST] >= 0:
        size, child = data.sizes[nodes[node, TEST]], nodes[node, CHILD]
        last = child + (size if size > 0 else 2)
        nodes[node, FIRST], nodes[node, LAST] = nodes[child:last, FIRST].min(), nodes[child:last, LAST].max()


@compiled()
def build(data, rule, state, growth, root, rows, weights, template):
    """Grow the tree of some cases below the node `root`; or, with a template, give them to a copy of that subtree."""
    nodes, counts, shares, leaf_rows, leaf_weights, used = growth
    nodes, counts, shares = longer(nodes, used[0]), longer(counts, used[0]), longer(shares, used[0])
    p, n_classes, top, first = data.codes.shape[0], data.n_classes, rows.shape[0], used[0]
    rows, weights = rows.copy(), weights.copy()
    limit = max(int(data.sizes.max()), 256) * n_classes
    size = data.y.shape[0] if template < 0 else 0
    work = (
        np.zeros(n_classes, np.int64),
        np.zeros(limit if template < 0 else 0),
        np.zeros(size, np.int64),
        np.zeros((2 * size, 3)),
        np.zeros(p),
        np.zeros(p),
        np.zeros((p, 2)),
        np.zeros((rule.n_best, 4)),
    )
    todo = np.zeros((64, 3), np.int64)  # node, first case on the stack, template
    todo[0, 0], todo[0, 1], todo[0, 2] = root, 0, template
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, start, model = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2]
        count = counts[node]
        count[:] = 0.0
        for i in range(start, top):
            count[data.y[rows[i]]] += weights[i]
        nodes[node, FIRST], nodes[node, MODEL] = used[1], model
        if model >= 0:
            test, cut, after = nodes[model, TEST], nodes[model, CUT], nodes[model, NEXT]
        elif top > start:
            test, cut, after = choose(data, rule, state, rows[start:top], weights[start:top], count, work)
        else:
            test, cut, after = -1, -1, -1
        nodes[node, TEST], nodes[node, CUT], nodes[node, NEXT], nodes[node, CHILD] = test, cut, after, -1
        if test < 0:
            end = used[1] + top - start
            leaf_rows, leaf_weights = longer(leaf_rows, end), longer(leaf_weights, end)
            leaf_rows[used[1] : end], leaf_weights[used[1] : end] = rows[start:top], weights[start:top]
            nodes[node, LAST] = used[1] = end
            top = start
            continue
        child, k = used[0], data.sizes[test] if data.sizes[test] > 0 else 2
        used[0] += k
        nodes, counts, shares = longer(nodes, used[0]), longer(counts, used[0]), longer(shares, used[0])
        nodes[node, CHILD] = child
        old_rows, old_weights = rows[start:top].copy(), weights[start:top].copy()
        bags, lengths, n_missing = np.zeros(k), np.zeros(k + 1, np.int64), 0
        where = np.empty(top - start, np.int64)
        for i in range(top - start):
            v = where[i] = branch(data, nodes, node, old_rows[i])
            if v < 0:
                n_missing += 1
            else:
                bags[v] += old_weights[i]
                lengths[v + 1] += 1
        known = bags.sum()
        for v in range(k):
            shares[child + v] = bags[v] / known if known > 0 else 0.0
            lengths[v + 1] += lengths[v] + (n_missing if bags[v] > 0 else 0)
        top = start + lengths[k]
        rows, weights = longer(rows, top), longer(weights, top)
        place = lengths[:k] + start
        for i in range(old_rows.shape[0]):
            for v in range(k) if where[i] < 0 else range(where[i], where[i] + 1):
                if where[i] >= 0 or bags[v] > 0:
                    rows[place[v]] = old_rows[i]
                    weights[place[v]] = old_weights[i] * (shares[child + v] if where[i] < 0 else 1.0)
                    place[v] += 1
        todo = longer(todo, waiting + k)
        for v in range(k):
            todo[waiting, 0], todo[waiting, 1] = child + v, start + lengths[v]
            todo[waiting, 2] = nodes[model, CHILD] + v if model >= 0 else -1
            waiting += 1
    growth = Growth(nodes, counts, shares, leaf_rows, leaf_weights, used)
    for node in range(used[0] - 1, first - 1, -1):
        enclose(data, nodes, node)
    enclose(data, nodes, root)
    return growth
