"""RIPPER (Cohen 1995): a list of rules that are grown, pruned and optimised."""

from dataclasses import field
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from lib.base.compiled import compiled
from lib.base.estimators import with_parameters
from lib.base.validation import check_choice, check_flag, check_integer, check_real
from lib.rules.conditions import Condition, Rule, RuleList
from lib.rules.description_length import exception_bits, possible_conditions, rule_bits

# numbers of kinds of conditions, as kernels take them
KINDS = ("=", "<=", ">=")
EQUAL = 0
AT_MOST = 1
AT_LEAST = 2
ALLOWED_BITS = 64  # above the shortest description so far, from which on no rule is added
MIN_POSITIVE = 2  # rows of the class that each condition leaves when a rule grows


@with_parameters
class Ripper(RuleList):
    """RIPPER by Cohen: a list of rules, those of the rarest class first.

    Each class is separated from those that are more frequent:

    1. A rule grows on two thirds of the rows that no rule covers, by the condition with the highest
       gain of FOIL. Then it is pruned: conditions are deleted from its end so that it is best on
       the other third.
    2. Rules are added until the description of all is 64 bits longer than the shortest so far, and
       those are deleted without which it is shorter.
    3. `k` times, each rule in turn is compared with one grown anew (its replacement) and one grown
       on from it (its revision), and rules are added for rows that no rule covers then.

    Parameters
    ----------
    k : int, at least 0
        Rounds of optimisation.
    stop : "all" or "pruning"
        Adding also stops at the first rule that is wrong at least as often as right, which is
        discarded. Its errors are counted on all rows that no rule covers ("all", as in Weka's
        JRip), or on the third for pruning.
    metric : "ratio" or "laplace"
        Pruning maximises (p - n) / (p + n), as printed, or (p + 1) / (p + n + 2), where the rule
        covers p rows of the class and n others; of equals, the shortest rule is best.
    literal : bool
        Follow Table 3 of Dietterich to the letter, whatever `stop`: bits are compared with those of
        the last round; rules are deleted only after a stop by bits; there is no other stop; in
        optimisation the old rule does not compete, and no rules are added.
    near_best : float in (0, 1]
        A condition is drawn among those whose gain is at least this share of the highest, each with
        a probability in proportion to its gain; with 1, the first of the best is taken.
    random_state : int, RandomState or None
        Divides rows for growing and pruning, and draws conditions.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    rules_ : list of Rule
        The first that covers a row decides its class. `print(learner)` shows them all.
    categories_ : dict of column -> Index
        The categories of the columns that have no numbers. Columns of an array, or without string
        names, are called "x0", "x1", ...
    default_ : int
        Number of the most frequent class, that of all other rows.
    n_rules_ : int
    n_scanned_ : int
        Values that were read to grow rules.

    Notes
    -----
    Time grows about as n log² n with n rows (Cohen), once for each class but the most frequent one.

    References
    ----------
    Cohen (1995), "Fast effective rule induction". Dietterich (1997), Table 3, which differs from
    its text, and section 2.1.4 on Ali & Pazzani (1996), who drew the conditions of FOIL.
    """

    k: int = 2
    stop: str = "all"
    metric: str = "ratio"
    literal: bool = False
    near_best: float = field(default=1.0, kw_only=True)
    random_state: int | np.random.RandomState | None = None

    def _learn(self, table, y):
        check_integer("k", self.k, 0)
        check_choice("stop", self.stop, ("all", "pruning"))
        check_choice("metric", self.metric, ("ratio", "laplace"))
        check_flag("literal", self.literal)
        check_real("near_best", self.near_best, 0, 1, open_low=True)
        rng = check_random_state(self.random_state)
        rules = []
        rows = np.arange(len(y))
        # the rarest class first; the most frequent one needs no rules
        *labels, default = np.argsort(np.bincount(y), kind="stable").tolist()
        for label in labels:
            if len(rows) == 0:
                break
            task = _Task(self, table, rows, y[rows] == label, rng)
            candidates = task.extend([])
            for _ in range(self.k):
                candidates = task.optimise(candidates)
                if not self.literal:
                    candidates = task.extend(candidates)
            rules += [Rule(candidate.conditions, label) for candidate in candidates]
            rows = rows[~task.union(candidates)]
        return rules, default


class Candidate(NamedTuple):
    """A rule of one class, which may become part of the list."""

    conditions: tuple
    covered: np.ndarray  # which rows it covers
    is_rejected: bool  # half of the rows that it covers, or more, are of other classes


class _Task:
    """One class, the positive one, against the more frequent ones."""

    def __init__(self, learner, table, rows, positive, rng):
        self.learner = learner
        self.positive = positive
        self.rng = rng
        self.codes = np.ascontiguousarray(table.codes[:, rows])
        self.sizes = table.columns.sizes
        self.matrix = np.asfortranarray(table.matrix[rows])
        self.values = table.values
        self.n_possible = possible_conditions(table)

    def union(self, rules):
        """Return which rows are covered by any of the rules."""
        covered = np.zeros(len(self.positive), bool)
        for rule in rules:
            covered |= rule.covered
        return covered

    def bits(self, rules):
        """Return the description length of rules and their exceptions."""
        covered = self.union(rules)
        n_rows = len(self.positive)
        n_positive = self.positive.sum()
        right = (covered & self.positive).sum()
        wrong = covered.sum() - right
        exceptions = exception_bits(
            right, wrong, n_positive, n_rows - n_positive, share=n_positive / n_rows
        )
        return exceptions + sum(rule_bits(len(rule.conditions), self.n_possible) for rule in rules)

    def extend(self, rules):
        """Add rules while rows of the class are left and the description allows (BUILDRULESET)."""
        literal = self.learner.literal
        uncovered = ~self.union(rules)
        best_bits = self.bits(rules)
        while (uncovered & self.positive).any():
            rule = self.new_rule(uncovered)
            covers_nothing = not (rule.covered & uncovered).any()
            if covers_nothing or (rule.is_rejected and not literal):
                break
            bits = self.bits([*rules, rule])
            if bits > best_bits + ALLOWED_BITS:
                return self.clean([*rules, rule] if literal else rules)
            rules = [*rules, rule]
            uncovered = uncovered & ~rule.covered
            best_bits = bits if literal else min(best_bits, bits)
        return rules if literal else self.clean(rules)

    def clean(self, rules):
        """Delete rules, the last ones first, without which the description is shorter."""
        for rule in reversed(rules):
            shorter_list = [other for other in rules if other is not rule]
            if self.bits(shorter_list) < self.bits(rules):
                rules = shorter_list
        return rules

    def optimise(self, rules):
        """Replace each rule by the variant with the shortest description (OPTIMIZERULESET).

        Its replacement is grown anew, its revision is grown on from it, both on the rows that the
        other rules, as they are by then, do not cover.
        """
        for i, rule in enumerate(rules):
            uncovered = ~self.union(rules[:i] + rules[i + 1 :])
            replacement = self.new_rule(uncovered)
            revision = self.new_rule(uncovered, rule.conditions)
            variants = [variant for variant in (replacement, revision) if variant.conditions]
            if not self.learner.literal:
                variants = [rule, *variants]
            elif not variants:
                variants = [replacement, revision]
            lists = [[*rules[:i], variant, *rules[i + 1 :]] for variant in variants]
            rules = min(lists, key=self.bits)
        return [rule for rule in rules if rule.conditions]

    def new_rule(self, uncovered, conditions=()):
        """Grow a rule on from its conditions, and prune it, on rows that no rule covers.

        Returns
        -------
        Candidate
            Without conditions, and without rows, if no condition is worth it.
        """
        growing, pruning = self._split_rows(uncovered)
        conditions = self.grow(growing, conditions)
        if not conditions:
            return Candidate((), covered=np.zeros(len(uncovered), bool), is_rejected=True)
        # row i of `covered`: what the first i + 1 conditions cover
        holds = [condition.holds(self.matrix) for condition in conditions]
        covered = np.logical_and.accumulate(holds)
        right = (covered & self.positive)[:, pruning].sum(axis=1)
        wrong = covered[:, pruning].sum(axis=1) - right
        if self.learner.metric == "laplace":
            worth = (right + 1) / (right + wrong + 2)
        else:
            worth = (right - wrong) / np.maximum(right + wrong, 1)
        best = worth.argmax()  # conditions after this one are deleted
        rows = np.flatnonzero(uncovered) if self.learner.stop == "all" else pruning
        covered_rows = rows[covered[best, rows]]
        n_right = self.positive[covered_rows].sum()
        return Candidate(
            conditions[: best + 1],
            covered=covered[best].copy(),
            is_rejected=2 * n_right <= len(covered_rows),
        )

    def grow(self, rows, conditions):
        """Add conditions to a rule's while one has a gain and the rule covers negative rows."""
        rows = rows[Rule(conditions, True).covers(self.matrix)[rows]]
        while 0 < self.positive[rows].sum() < len(rows):
            self.learner.n_scanned_ += len(rows) * len(self.codes)
            (j, kind, code), gain = self._choose_condition(rows)
            if gain <= 0:
                break
            condition = Condition(j, KINDS[kind], float(self.values[j][code]))
            conditions = (*conditions, condition)
            rows = rows[condition.holds(self.matrix)[rows]]
        return conditions

    def _choose_condition(self, rows):
        """Return the best condition, or one drawn among those near it, and its gain."""
        if self.learner.near_best == 1:
            return best_condition(self.codes, self.sizes, self.positive, rows)
        conditions, gains = gaining_conditions(self.codes, self.sizes, self.positive, rows)
        if len(gains) == 0:
            return (0, 0, 0), 0.0
        is_near = gains >= self.learner.near_best * gains.max()
        weights = np.where(is_near, gains, 0)
        drawn = self.rng.choice(len(gains), p=weights / weights.sum())
        return conditions[drawn].tolist(), gains[drawn]

    def _split_rows(self, mask):
        """Return the rows to grow on, two thirds of each class at random, and those to prune on."""
        growing = []
        pruning = []
        for is_positive in (True, False):
            rows = self.rng.permutation(np.flatnonzero(mask & (self.positive == is_positive)))
            n_growing = len(rows) - len(rows) // 3
            growing.append(rows[:n_growing])
            pruning.append(rows[n_growing:])
        return np.concatenate(growing), np.concatenate(pruning)


@compiled()
def foil_gain(n_right, n_passed, n_rows, log_share):
    """Return FOIL's gain of a condition; 0 if it leaves too few rows of the class, or all rows.

    Parameters
    ----------
    n_right, n_passed : int
        Rows of the class that pass it, and all that pass.
    n_rows : int
        Rows that the rule covered without it.
    log_share : float
        Log2 of the share of the class among these.
    """
    if n_right < MIN_POSITIVE or n_passed == n_rows:
        return 0.0
    return n_right * (np.log2(n_right / n_passed) - log_share)


@compiled()
def best_condition(codes, sizes, positive, rows):
    """Return the condition with the highest gain, and that gain (FOIL's).

    It is p (log2 p / (p + n) - log2 P / (P + N)), where P positive and N negative rows are covered
    without the condition, p and n with it.

    Parameters
    ----------
    codes : ndarray of int32 (n_columns, n_samples)
        Ranks of numbers, numbers of categories; -1 where missing.
    sizes : ndarray of int (n_columns,)
        Number of categories, 0 for numbers.
    positive : ndarray of bool (n_samples,)
    rows : ndarray of int
        Rows to grow on, of which a condition leaves two positive ones at least.

    Returns
    -------
    condition : tuple of int
        Attribute, kind and code.
    gain : float
        0 where no condition gains.
    """
    best_gain = 0.0
    best = (0, 0, 0)
    n_rows = len(rows)
    log_share = np.log2(positive[rows].sum() / n_rows)
    for j in range(len(codes)):
        # code and class in one number, so that one sort brings rows in order of both
        keys = np.sort(2 * codes[j][rows] + positive[rows])
        keys = keys[np.searchsorted(keys, 0) :]  # missing values are below 0
        n_known = len(keys)
        n_positive = (keys % 2).sum()
        i = 0
        right = 0
        while i < n_known:
            code = keys[i] // 2
            smaller = i
            right_smaller = right
            while i < n_known and keys[i] // 2 == code:
                right += keys[i] % 2
                i += 1
            if sizes[j] > 0:
                gain = foil_gain(right - right_smaller, i - smaller, n_rows, log_share)
                if gain > best_gain:
                    best_gain = gain
                    best = (j, EQUAL, code)
                continue
            gain = foil_gain(right, i, n_rows, log_share)
            if gain > best_gain:
                best_gain = gain
                best = (j, AT_MOST, code)
            gain = foil_gain(n_positive - right_smaller, n_known - smaller, n_rows, log_share)
            if gain > best_gain:
                best_gain = gain
                best = (j, AT_LEAST, code)
    return best, best_gain


@compiled()
def gaining_conditions(codes, sizes, positive, rows):
    """Return all conditions with a gain (FOIL's), and their gains.

    Parameters
    ----------
    codes, sizes, positive, rows
        As in `best_condition`.

    Returns
    -------
    conditions : ndarray of int (n, 3)
        Attribute, kind and code of each, by attribute, then by code.
    gains : ndarray of float (n,)
        All above 0.
    """
    conditions = []
    gains = []
    n_rows = len(rows)
    log_share = np.log2(positive[rows].sum() / n_rows)
    for j in range(len(codes)):
        column = codes[j][rows]
        has_value = column >= 0
        n_values = column.max() + 1
        # of each code, the rows that have it and those of them that are of the class
        n_passed = np.bincount(column[has_value], minlength=n_values)
        n_right = np.bincount((column[has_value])[positive[rows][has_value]], minlength=n_values)
        passed = 0
        right = 0
        for code in np.flatnonzero(n_passed):
            if sizes[j] > 0:
                gain = foil_gain(n_right[code], n_passed[code], n_rows, log_share)
                if gain > 0:
                    conditions.append((j, EQUAL, code))
                    gains.append(gain)
                continue
            gain = foil_gain(n_right.sum() - right, n_passed.sum() - passed, n_rows, log_share)
            if gain > 0:
                conditions.append((j, AT_LEAST, code))
                gains.append(gain)
            passed += n_passed[code]
            right += n_right[code]
            gain = foil_gain(right, passed, n_rows, log_share)
            if gain > 0:
                conditions.append((j, AT_MOST, code))
                gains.append(gain)
    table = np.zeros((len(conditions), 3), np.int64)
    for i in range(len(conditions)):
        table[i] = conditions[i]
    return table, np.array(gains)
