"""RIPPER: rules grown on two thirds of what is left, pruned on the last third, and revised by description length."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from lib.compiled import compiled
from lib.estimators import with_parameters
from lib.rules.conditions import Condition, Rule, RuleList
from lib.rules.description_length import exception_bits, possible_conditions, rule_bits
from lib.validation import check_choice, check_flag, check_integer

EQUAL, AT_MOST, AT_LEAST = 0, 1, 2
KINDS = ("=", "<=", ">=")
ALLOWED_BITS = 64
LEAST = 2  # positive rows that each condition leaves when a rule grows


@with_parameters
class Ripper(RuleList):
    """RIPPER by Cohen: a list of rules, those of the rarest class first.

    A class is told from those that are more frequent. A rule is grown on two thirds of the rows,
    then conditions go from its end as the other third says; rules are added until the description
    is 64 bits longer than the shortest so far. Rules without which it is shorter are deleted. Then
    each rule in turn competes with one grown anew and one grown on from it, and rules are added for
    rows that are left over, `k` times.

    Parameters
    ----------
    k : int, at least 0
        Rounds of optimisation.
    stop : "all" or "pruning"
        Rules end, too, with one that is wrong at least as often as right: on all rows that are left
        (as in Weka's JRip), or on the third for pruning.
    metric : "ratio" or "laplace"
        Pruning maximises (p - n) / (p + n), as printed, or (p + 1) / (p + n + 2); of equal ones,
        the shortest rule.
    literal : bool
        To the letter of Table 3, whatever `stop`: bits are compared with those of the last round;
        rules are deleted only after that stop; no other stop; the old rule is no candidate; nothing
        is added for rows that are left over.
    random_state : int, RandomState or None
        Divides rows for growing and pruning.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    rules_ : list of Rule
        The first that covers a row decides. `print(learner)` shows them all.
    categories_ : dict of column -> Index
        The categories of the columns that have no numbers. Columns of an array, or without string
        names, are called "x0", "x1", ...
    default_ : int
        Number of the most frequent class, that of all other rows.
    n_rules_ : int
    n_scanned_ : int
        Values looked at to grow rules.

    References
    ----------
    Cohen (1995), "Fast effective rule induction". Dietterich (1997), Table 3, which differs from
    its text.
    """

    k: int = 2
    stop: str = "all"
    metric: str = "ratio"
    literal: bool = False
    random_state: int | np.random.RandomState | None = None

    def _learn(self, table, y):
        check_integer("k", self.k, 0)
        check_choice("stop", self.stop, ("all", "pruning"))
        check_choice("metric", self.metric, ("ratio", "laplace"))
        check_flag("literal", self.literal)
        rng, rows, rules = check_random_state(self.random_state), np.arange(len(y)), []
        *labels, default = np.argsort(np.bincount(y), kind="stable").tolist()
        for label in labels:
            if len(rows):
                task = _Task(self, table, rows, y[rows] == label, rng)
                found = task.extend([])
                for _ in range(self.k):
                    found = task.optimise(found)
                    found = found if self.literal else task.extend(found)
                rules += [Rule(each.conditions, label) for each in found]
                rows = rows[~task.union(found)]
        return rules, default


class Candidate(NamedTuple):
    """A rule of one class: its conditions, the rows that it covers, whether it is too often wrong."""

    conditions: tuple
    covered: np.ndarray
    wrong: bool


class _Task:
    """One class against the more frequent ones."""

    def __init__(self, learner, table, rows, positive, rng):
        self.learner, self.positive, self.rng = learner, positive, rng
        self.codes, self.sizes = np.ascontiguousarray(table.codes[:, rows]), table.columns.sizes
        self.matrix, self.values = np.asfortranarray(table.matrix[rows]), table.values
        self.n_possible = possible_conditions(table)

    def union(self, rules):
        """Which rows are covered by any of the rules."""
        return np.any(
            [np.zeros(len(self.positive), bool), *(rule.covered for rule in rules)], axis=0
        )

    def bits(self, rules):
        """Description length of rules and their exceptions."""
        covered, positive, n = self.union(rules), self.positive.sum(), len(self.positive)
        right = (covered & self.positive).sum()
        exceptions = exception_bits(
            right, covered.sum() - right, positive, n - positive, positive / n
        )
        return exceptions + sum(rule_bits(len(rule.conditions), self.n_possible) for rule in rules)

    def extend(self, rules):
        """Add rules while rows of the class are left and the description allows (BUILDRULESET)."""
        literal, left, best = self.learner.literal, ~self.union(rules), self.bits(rules)
        while (left & self.positive).any():
            rule = self.new_rule(left)
            if not (rule.covered & left).any() or (rule.wrong and not literal):
                break
            bits = self.bits([*rules, rule])
            if bits > best + ALLOWED_BITS:
                return self.clean([*rules, rule] if literal else rules)
            rules, left = [*rules, rule], left & ~rule.covered
            best = bits if literal else min(best, bits)
        return rules if literal else self.clean(rules)

    def clean(self, rules):
        """Delete rules, the last ones first, without which the description is shorter."""
        for rule in reversed(rules):
            rules = min(rules, [other for other in rules if other is not rule], key=self.bits)
        return rules

    def optimise(self, rules):
        """Give each rule's place to the best of its kind, with the other rules as they are then (OPTIMIZERULESET)."""
        for i, rule in enumerate(rules):
            left = ~self.union(rules[:i] + rules[i + 1 :])
            candidates = [self.new_rule(left), self.new_rule(left, rule.conditions)]
            able = [each for each in candidates if each.conditions]
            able = (able or candidates) if self.learner.literal else [rule, *able]
            rules = min(([*rules[:i], each, *rules[i + 1 :]] for each in able), key=self.bits)
        return [rule for rule in rules if rule.conditions]

    def new_rule(self, left, start=()):
        """Grow and prune a rule on the rows that are left; it has no condition, and no row, if none is worth it."""
        growing, pruning = self._divided(left)
        conditions = self.grow(growing, start)
        if not conditions:
            return Candidate((), np.zeros(len(left), bool), True)
        covered = np.logical_and.accumulate(
            [condition.holds(self.matrix) for condition in conditions]
        )
        right = (covered & self.positive)[:, pruning].sum(axis=1)
        wrong = covered[:, pruning].sum(axis=1) - right
        laplace = self.learner.metric == "laplace"
        worth = (
            (right + 1) / (right + wrong + 2)
            if laplace
            else (right - wrong) / np.maximum(right + wrong, 1)
        )
        best = worth.argmax()
        rows = np.flatnonzero(left) if self.learner.stop == "all" else pruning
        asked = rows[covered[best, rows]]
        return Candidate(
            conditions[: best + 1],
            covered[best].copy(),
            2 * self.positive[asked].sum() <= len(asked),
        )

    def grow(self, rows, conditions):
        """Add conditions to those of a rule while one has a gain and the rule covers negative rows."""
        rows = rows[Rule(conditions, True).covers(self.matrix)[rows]]
        while 0 < self.positive[rows].sum() < len(rows):
            self.learner.n_scanned_ += len(rows) * len(self.codes)
            (j, kind, code), gain = best_condition(self.codes, self.sizes, self.positive, rows)
            if gain <= 0:
                break
            conditions = (*conditions, Condition(j, KINDS[kind], float(self.values[j][code])))
            rows = rows[conditions[-1].holds(self.matrix)[rows]]
        return conditions

    def _divided(self, left):
        """Rows to grow on, two thirds of each class, and to prune on."""
        parts = [
            self.rng.permutation(np.flatnonzero(left & (self.positive == c))) for c in (True, False)
        ]
        thirds = zip(*(np.split(part, [len(part) - len(part) // 3]) for part in parts), strict=True)
        return map(np.concatenate, thirds)


@compiled()
def best_condition(codes, sizes, positive, rows):
    """Return the condition that gains most, p (log2 p / (p + n) - log2 P / (P + N)), and how much (FOIL's gain).

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
    best, condition = 0.0, (0, 0, 0)
    n_positive, n_rows = positive[rows].sum(), len(rows)
    before = np.log2(n_positive / n_rows)
    for j in range(len(codes)):
        keys = np.sort(2 * codes[j][rows] + positive[rows])
        keys = keys[np.searchsorted(keys, 0) :]
        known, ones, i = len(keys), (keys % 2).sum(), 0
        passed = seen = 0
        while i < known:
            code, first, first_ones = keys[i] // 2, i, seen
            while i < known and keys[i] // 2 == code:
                seen += keys[i] % 2
                i += 1
            if sizes[j] > 0:
                trials = ((EQUAL, seen - first_ones, i - first), (EQUAL, 0, 0))
            else:
                trials = ((AT_MOST, seen, i), (AT_LEAST, ones - first_ones, known - first))
            for kind, p, passed in trials:
                if p >= LEAST and passed < n_rows and p * (np.log2(p / passed) - before) > best:
                    best, condition = p * (np.log2(p / passed) - before), (j, kind, code)
    return condition, best
