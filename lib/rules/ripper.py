"""RIPPER: rules grown on two thirds of what is left, pruned on the last third, and revised by description length."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from lib.rules.bits import exception_bits, possible_conditions, rule_bits
from lib.rules.conditions import Condition, Rule, RuleList
from lib.rules.growing import grow, passes
from lib.validation import check_choice, check_flag, check_integer

KINDS = ("=", "<=", ">=")
ALLOWED_BITS = 64
NOTHING = np.zeros((0, 3), np.int64)


class Ripper(RuleList):
    """RIPPER by Cohen: a list of rules, those of the rarest class first.

    A class is told from those that are more frequent. A rule is grown on two thirds of the rows, then conditions go
    from its end as the other third says; rules are added until the description is 64 bits longer than the shortest so
    far. Rules without which it is shorter are deleted. Then each rule in turn competes with one grown anew and one
    grown on from it, and rules are added for rows that are left over, `k` times.

    Parameters
    ----------
    k : int, at least 0
        Rounds of optimisation.
    stop : "all" or "pruning"
        Rules end, too, with one that is wrong at least as often as right: on all rows that are left (as in Weka's
        JRip), or on the third for pruning.
    metric : "ratio" or "laplace"
        Pruning maximises (p - n) / (p + n), as printed, or (p + 1) / (p + n + 2); of equal ones, the shortest rule.
    literal : bool
        To the letter of Table 3, whatever `stop`: bits are compared with those of the last round; rules are deleted
        only after that stop; no other stop; the old rule is no candidate; nothing is added for rows that are left over.
    least : int, at least 1
        Positive rows that each condition leaves when a rule grows.
    random_state : int, RandomState or None
        Divides rows for growing and pruning.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    rules_ : list of Rule
        The first that covers a row decides.
    default_ : int
        Number of the most frequent class, that of all other rows.
    n_rules_, n_conditions_ : int
    n_scanned_ : int
        Values looked at to grow rules.

    References
    ----------
    Cohen (1995), "Fast effective rule induction". Dietterich (1997), Table 3, which differs from its text.
    """

    def __init__(self, k=2, stop="all", metric="ratio", literal=False, least=2, random_state=None):
        self.k = k
        self.stop = stop
        self.metric = metric
        self.literal = literal
        self.least = least
        self.random_state = random_state

    def _check_parameters(self):
        check_integer("k", self.k, 0)
        check_choice("stop", self.stop, ("all", "pruning"))
        check_choice("metric", self.metric, ("ratio", "laplace"))
        check_flag("literal", self.literal)
        check_integer("least", self.least, 1)

    def _learn(self, table, y):
        rng, rows, rules = check_random_state(self.random_state), np.arange(len(y)), []
        order = np.argsort(np.bincount(y), kind="stable")
        for label in order[:-1]:
            if not len(rows):
                break
            task = _Task(self, table, rows, y[rows] == label, rng)
            candidates = task.solve()
            self.n_scanned_ += task.n_scanned
            rules += [Rule(_conditions(c.codes, table.values), int(label)) for c in candidates]
            rows = rows[~task.union(candidates)]
        return rules, int(order[-1])


class Candidate(NamedTuple):
    """A rule of one class: its conditions as codes (n, 3), the rows that it covers, whether it is too often wrong."""

    codes: np.ndarray
    covered: np.ndarray
    wrong: bool


class _Task:
    """One class against the more frequent ones."""

    def __init__(self, learner, table, rows, positive, rng):
        self.learner, self.positive, self.rng, self.n_scanned = learner, positive, rng, 0
        self.codes, self.sizes = np.ascontiguousarray(table.codes[:, rows]), table.columns.sizes
        self.n_possible = possible_conditions(table)

    def solve(self):
        rules = self.extend([])
        for _ in range(self.learner.k):
            rules = self.optimise(rules)
            if not self.learner.literal:
                rules = self.extend(rules)
        return rules

    def union(self, rules):
        """Which rows are covered by any of the rules."""
        return np.any([rule.covered for rule in rules], axis=0) if rules else np.zeros(len(self.positive), bool)

    def bits(self, rules):
        """Description length of rules and their exceptions."""
        covered, positive = self.union(rules), self.positive
        n, wrong, missed = covered.sum(), (covered & ~positive).sum(), (positive & ~covered).sum()
        share = positive.mean()
        exceptions = exception_bits(n, len(positive) - n, wrong, missed, share)
        return exceptions + sum(rule_bits(len(rule.codes), self.n_possible) for rule in rules)

    def extend(self, rules):
        """Add rules while rows of the class are left and the description allows (BUILDRULESET)."""
        literal, left = self.learner.literal, ~self.union(rules)
        best = self.bits(rules)
        while (left & self.positive).any():
            rule = self.new_rule(left)
            if rule is None or not (rule.covered & left).any() or (rule.wrong and not literal):
                break
            bits = self.bits([*rules, rule])
            if bits > best + ALLOWED_BITS:
                return self.clean([*rules, rule] if literal else rules)
            rules, left = [*rules, rule], left & ~rule.covered
            best = bits if literal else min(best, bits)
        return rules if literal else self.clean(rules)

    def clean(self, rules):
        """Delete rules, the last ones first, without which the description is shorter."""
        bits = self.bits(rules)
        for i in reversed(range(len(rules))):
            fewer = rules[:i] + rules[i + 1 :]
            if self.bits(fewer) < bits:
                rules, bits = fewer, self.bits(fewer)
        return rules

    def optimise(self, rules):
        """Give each rule's place to the best of its kind, with the other rules as they are then (OPTIMIZERULESET)."""
        for rule in rules:
            i = next(i for i, other in enumerate(rules) if other is rule)
            others = rules[:i] + rules[i + 1 :]
            left = ~self.union(others)
            candidates = [self.new_rule(left), self.new_rule(left, rule.codes)]
            candidates = [c for c in candidates if c is not None] if self.learner.literal else [rule, *candidates]
            sets = [rules[:i] + [c] + rules[i + 1 :] for c in candidates if c is not None] or [others]
            rules = min(sets, key=self.bits)
        return rules

    def new_rule(self, left, start=NOTHING):
        """Grow and prune a rule on the rows that are left; None if no condition is worth it."""
        growing, pruning = self._divided(left)
        codes, n_scanned = grow(self.codes, self.sizes, self.positive, growing, start, self.learner.least)
        self.n_scanned += n_scanned
        if not len(codes):
            return None
        covered = np.logical_and.accumulate([passes(self.codes, test, pruning) for test in codes])
        right, wrong = (covered & self.positive[pruning]).sum(axis=1), (covered & ~self.positive[pruning]).sum(axis=1)
        laplace = self.learner.metric == "laplace"
        worth = (right + 1) / (right + wrong + 2) if laplace else (right - wrong) / np.maximum(right + wrong, 1)
        codes = codes[: worth.argmax() + 1]
        everywhere = np.arange(len(self.positive))
        covered = np.all([passes(self.codes, test, everywhere) for test in codes], axis=0)
        asked = covered & left if self.learner.stop == "all" else covered[pruning]
        right = (asked & (self.positive if self.learner.stop == "all" else self.positive[pruning])).sum()
        return Candidate(codes, covered, 2 * right <= asked.sum())

    def _divided(self, left):
        """Rows to grow on, two thirds of each class, and to prune on."""
        parts = [self.rng.permutation(np.flatnonzero(left & (self.positive == c))) for c in (True, False)]
        return [
            np.concatenate(rows) for rows in zip(*(np.split(p, [len(p) - len(p) // 3]) for p in parts), strict=True)
        ]


def _conditions(codes, values):
    """Conditions with values in place of codes."""
    return tuple(Condition(int(j), KINDS[kind], float(values[j][code])) for j, kind, code in codes)
