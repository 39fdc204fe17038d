"""C4.5RULES: a tree's branches, each made more general, and for each class the best set of them."""

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state

from lib.base.compiled import compiled
from lib.base.estimators import with_parameters
from lib.base.validation import check_integer, check_real
from lib.rules.conditions import Condition, Rule, RuleList
from lib.rules.description_length import exception_bits, possible_conditions, rule_bits
from lib.trees import GainRatioTree
from lib.trees.pruning import added_errors

# a condition as the kernel takes it: values above `low`, up to `high`, pass
INTERVAL = np.dtype([("attribute", np.int64), ("low", np.float64), ("high", np.float64)])


@with_parameters
class TreeRules(RuleList):
    """C4.5RULES with greedy searches.

    1. Each leaf of an unpruned tree becomes a rule.
    2. A rule loses the condition without which its expected error rate is lowest, as long as that
       rate does not rise.
    3. For each class the rules are selected that, with their exceptions, have the shortest
       description; one rule at a time goes in or out, from one or more starts.
    4. The class whose rules cover the fewest rows of other classes comes first.
    5. The first rule without which fewer training rows are wrong is deleted, repeatedly.

    Parameters
    ----------
    confidence : float in (0, 0.5]
        Chance that the error rate of a rule is above the bound that counts; smaller makes rules
        more general.
    n_starts : int, at least 1
        Searches for the rules of a class, of which the best counts: from no rule, from all rules,
        then from random halves of them. Quinlan's book has every set of few rules tried, and the
        search annealed where they are many.
    random_state : int, RandomState or None
        Of the random halves.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    rules_ : list of Rule
        The first that covers a row decides its class. `print(learner)` shows them all.
    categories_ : dict of column -> Index
        The categories of the columns that have no numbers. Columns of an array, or without string
        names, are called "x0", "x1", ...
    default_ : int
        Number of the most frequent class among rows without a rule, that of all other rows.
    n_rules_ : int
    n_scanned_ : int
        Values that were read after the tree was grown: each pass over a rule's conditions counts
        their number times that of the training rows, each pass over rules likewise.

    Notes
    -----
    Memory grows as the rows, but time as rows times branches of the tree, and as the square of the
    rows where noise makes the tree grow with them: each rule is compared with all rows. `Ripper`
    takes time nearly as the rows; else rules learned from some tens of thousands of rows, drawn at
    random, take seconds.

    References
    ----------
    Quinlan (1993), "C4.5", chapter 5; Quinlan (1995), "MDL and categorical theories (continued)".
    """

    confidence: float = 0.25
    n_starts: int = 1
    random_state: int | np.random.RandomState | None = None

    def _learn(self, table, y):
        check_real("confidence", self.confidence, 0, 0.5, open_low=True)
        check_integer("n_starts", self.n_starts, 1)
        rng = check_random_state(self.random_state)
        tree = GainRatioTree(pruning=None).fit(table, y)
        matrix = np.asfortranarray(table.matrix)  # conditions read columns
        general_rules = [self._generalise(rule, matrix, y) for rule in branches(tree)]
        # several branches may become the same rule
        rules = [rule for rule in dict.fromkeys(general_rules) if rule.conditions]
        n_possible = possible_conditions(table)
        rule_sets = {}
        for label in range(len(self.classes_)):
            candidates = [rule for rule in rules if rule.label == label]
            n_conditions = np.array([len(rule.conditions) for rule in candidates])
            bits = rule_bits(n_conditions, n_possible)
            selected = self._select(candidates, matrix, y == label, bits, rng)
            rule_sets[label] = [candidates[i] for i in selected]
        rules, default = order_rule_sets(rule_sets, matrix, y)
        return self._drop_rules(rules, matrix, default, y), default

    def _generalise(self, rule, matrix, y):
        """Return a rule without the conditions that do not lower its expected errors."""
        conditions = list(rule.conditions)
        z = ndtri(1 - self.confidence)
        fails = np.array([~condition.holds(matrix) for condition in conditions])
        fails = fails.reshape(len(conditions), len(y))
        is_wrong = y != rule.label
        while conditions:
            self.n_scanned_ += fails.size
            # without one condition, a rule also covers the rows that fail this one alone
            n_failed = fails.sum(axis=0)
            fail_one = np.flatnonzero(n_failed == 1)
            failed_condition = fails[:, fail_one].argmax(axis=0)
            n_more = np.bincount(failed_condition, minlength=len(fails))
            more_errors = np.bincount(failed_condition, is_wrong[fail_one], len(fails))
            n_covered = (n_failed == 0).sum()
            n_errors = is_wrong[n_failed == 0].sum()
            rates = [
                self._expected_rate(n, errors, z)
                for n, errors in zip(n_covered + n_more, n_errors + more_errors, strict=True)
            ]
            best = int(np.argmin(rates))
            if rates[best] > self._expected_rate(n_covered, n_errors, z):
                break
            del conditions[best]
            fails = np.delete(fails, best, axis=0)
        return Rule(tuple(sorted(conditions)), rule.label)

    def _expected_rate(self, n, errors, z):
        """Return the error rate that is expected of a rule which covers n rows."""
        if n == 0:
            return 1.0
        n = float(n)
        errors = float(errors)
        return (errors + added_errors(n, errors, self.confidence, z)) / n

    def _select(self, rules, matrix, positive, bits, rng):
        """Return which rules of a class have, with their exceptions, the shortest description.

        Parameters
        ----------
        rules : list of Rule
        matrix : ndarray of float (n_samples, n_attributes)
        positive : ndarray of bool (n_samples,)
            The rows of the class.
        bits : ndarray of float (n_rules,)
        rng : RandomState

        Returns
        -------
        ndarray of int
        """
        n_rules = len(rules)
        starts = [np.zeros(n_rules, bool), np.ones(n_rules, bool)]
        starts += [rng.random_sample(n_rules) < 0.5 for _ in range(self.n_starts - 2)]
        searches = [
            self._search(rules, matrix, positive, bits, start) for start in starts[: self.n_starts]
        ]
        _, best_set = min(searches, key=lambda search: search[0])
        return np.flatnonzero(best_set)

    def _search(self, rules, matrix, positive, bits, is_selected):
        """Shorten the description of a set of rules; return its bits, and which rules are in it.

        The search is greedy: as long as one change shortens it, the rule that shortens it most goes
        in or out.
        """
        is_selected = is_selected.copy()
        n_covering = np.zeros(len(matrix), int)
        for i in np.flatnonzero(is_selected):
            n_covering += rules[i].covers(matrix)
        intervals, ends = rule_intervals(rules)
        every_row = np.arange(len(matrix))
        marks = mark_rows(n_covering, positive)
        # how many rows of each mark each rule covers
        counts = covered_sums(intervals, ends, matrix, every_row, marks)
        shortest = np.inf
        while rules:
            self.n_scanned_ += len(rules) * len(matrix)
            # a rule that goes in gains rows that no rule covers; one that goes out loses its own
            sign = np.where(is_selected, -1, 1)
            changes = sign[:, None] * np.where(is_selected[:, None], counts[:, 2:], counts[:, :2])
            right = (positive & (n_covering > 0)).sum() + changes[:, 0]
            wrong = (~positive & (n_covering > 0)).sum() + changes[:, 1]
            exceptions = exception_bits(right, wrong, positive.sum(), (~positive).sum(), share=0.5)
            lengths = exceptions + bits[is_selected].sum() + sign * bits
            best = lengths.argmin()
            if lengths[best] >= shortest:
                break
            shortest = lengths[best]
            is_selected[best] = ~is_selected[best]
            rows = np.flatnonzero(rules[best].covers(matrix))
            n_covering[rows] += sign[best]
            mark_changes = mark_rows(n_covering[rows], positive[rows]) - marks[rows]
            marks[rows] += mark_changes
            is_changed = mark_changes.any(axis=1)
            counts += covered_sums(
                intervals, ends, matrix, rows[is_changed], mark_changes[is_changed]
            )
        return shortest, is_selected

    def _drop_rules(self, rules, matrix, default, y):
        """Drop the first rule without which fewer training rows are wrong, as long as there is one.

        Parameters
        ----------
        rules : list of Rule
        matrix : ndarray of float (n_samples, n_attributes)
        default : int
        y : ndarray of int (n_samples,)

        Returns
        -------
        list of Rule
        """
        labels = np.array([rule.label for rule in rules] + [default])
        kept = list(range(len(rules)))
        firsts, seconds = first_two_rules(rules, kept, matrix)
        while kept:
            # without the first rule that covers a row, the second decides
            n_more_wrong = (labels[seconds] != y).astype(int) - (labels[firsts] != y)
            change = np.bincount(firsts, n_more_wrong, len(labels))[kept]
            is_costly = np.append(change < 0, True)  # the last stands for no rule
            position = int(is_costly.argmax())
            n_tried = min(position + 1, len(kept))
            self.n_scanned_ += n_tried * (len(kept) - 1) * len(y)
            if position == len(kept):
                break
            dropped = kept.pop(position)
            rows = np.flatnonzero((firsts == dropped) | (seconds == dropped))
            firsts[rows], seconds[rows] = first_two_rules(rules, kept, matrix[rows])
        return [rules[i] for i in kept]


def first_two_rules(rules, kept, matrix):
    """Return the numbers of the first and the second rule that cover each row.

    Parameters
    ----------
    rules : list of Rule
    kept : list of int
        Numbers of the rules that count, in ascending order.
    matrix : ndarray of float (n_samples, n_attributes)

    Returns
    -------
    firsts, seconds : ndarrays of int (n_samples,)
        The number of all rules where there is none.
    """
    firsts = np.full(len(matrix), len(rules))
    seconds = firsts.copy()
    for i in reversed(kept):
        covered = rules[i].covers(matrix)
        seconds[covered] = firsts[covered]
        firsts[covered] = i
    return firsts, seconds


def mark_rows(n_covering, positive):
    """Mark the rows that no selected rule covers, or only one, those of the class and others.

    Parameters
    ----------
    n_covering : ndarray of int (n_samples,)
        How many selected rules cover each row.
    positive : ndarray of bool (n_samples,)
        The rows of the class.

    Returns
    -------
    ndarray of 0 and 1, int8, shape (n_samples, 4)
        No rule and of the class, no rule and not of it; one rule and of the class, and not of it.
    """
    is_bare = n_covering == 0
    is_single = n_covering == 1
    columns = [is_bare & positive, is_bare & ~positive, is_single & positive, is_single & ~positive]
    return np.column_stack(columns).astype(np.int8)


def rule_intervals(rules):
    """Return the conditions of all rules as `covered_sums` takes them.

    Parameters
    ----------
    rules : list of Rule

    Returns
    -------
    intervals : ndarray of INTERVAL (n_conditions,)
    ends : ndarray of int (n_rules,)
        The number of the condition after the last of each rule.
    """
    conditions = [condition for rule in rules for condition in rule.conditions]
    rows = [(condition.attribute, *condition.interval) for condition in conditions]
    return np.array(rows, INTERVAL), np.cumsum([len(rule.conditions) for rule in rules], dtype=int)


@compiled()
def covered_sums(intervals, ends, matrix, rows, marks):
    """Return the sums of the marks of the rows that each rule covers, (n_rules, n_marks).

    It is the product of the matrix of the rows that each rule covers, and of the marks; that
    matrix, of all rules and all rows, would not fit into memory for large tables.

    Parameters
    ----------
    intervals, ends
        As `rule_intervals` returns them.
    matrix : ndarray of float (n_samples, n_attributes)
    rows : ndarray of int (n_rows,)
    marks : ndarray of int8 (n_rows, n_marks)
    """
    sums = np.zeros((len(ends), marks.shape[1]), np.int64)
    passing = np.empty(len(rows), np.int64)  # numbers of rows, the first n_passing of which count
    begin = 0
    for i in range(len(ends)):
        passing[:] = np.arange(len(rows))
        n_passing = len(rows)
        for interval in intervals[begin : ends[i]]:
            n_before = n_passing
            n_passing = 0
            for j in passing[:n_before]:
                value = matrix[rows[j], interval.attribute]
                passing[n_passing] = j
                # no branch, which the processor could not foresee
                n_passing += (value > interval.low) & (value <= interval.high)
        for j in passing[:n_passing]:
            for k in range(marks.shape[1]):
                sums[i, k] += marks[j, k]
        begin = ends[i]
    return sums


def branches(tree):
    """Return the leaves of a fitted tree as rules, in the order of their numbers."""
    rules = []
    conditions = {0: ()}  # of each node
    for node in range(tree.n_nodes_):
        attribute = int(tree.attribute_[node])
        if attribute < 0:
            rules.append(Rule(conditions[node], int(tree.distribution_[node].argmax())))
            continue
        n_categories = tree._columns.sizes[attribute]
        if n_categories:
            tests = [Condition(attribute, "=", float(v)) for v in range(n_categories)]
        else:
            threshold = float(tree.threshold_[node])
            tests = [Condition(attribute, "<=", threshold), Condition(attribute, ">", threshold)]
        for child, test in enumerate(tests, tree.child_[node]):
            conditions[child] = (*conditions[node], test)
    return rules


def order_rule_sets(rule_sets, matrix, y):
    """Order the rules of all classes, those first that are wrong about the fewest rows.

    Parameters
    ----------
    rule_sets : dict of int -> list of Rule
        The rules of each class.
    matrix : ndarray of float (n_samples, n_attributes)
    y : ndarray of int (n_samples,)

    Returns
    -------
    rules : list of Rule
    default : int
        The most frequent class among the rows that no rule covers; of equals, that of all rows.
    """
    uncovered = {}  # by the rules of each class
    for label, rules in rule_sets.items():
        uncovered[label] = np.ones(len(y), bool)
        for rule in rules:
            uncovered[label] &= ~rule.covers(matrix)
    is_left = np.ones(len(y), bool)
    ordered = []
    while uncovered:
        n_wrong = {
            label: (is_left & ~mask & (y != label)).sum() for label, mask in uncovered.items()
        }
        label = min(n_wrong, key=n_wrong.get)
        ordered += rule_sets[label]
        is_left &= uncovered.pop(label)
    # fractions below 1 decide between equal counts
    frequency = np.bincount(y) / len(y) + np.bincount(y[is_left], minlength=y.max() + 1)
    return ordered, int(frequency.argmax())
