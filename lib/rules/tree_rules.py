"""C4.5RULES: the branches of a tree, each made more general, and for each class the best set of them."""

import numpy as np
from scipy.special import ndtri

from lib.estimators import with_parameters
from lib.rules.conditions import Condition, Rule, RuleList, decided
from lib.rules.description_length import exception_bits, possible_conditions, rule_bits
from lib.trees import GainRatioTree
from lib.trees.pruning import added_errors
from lib.validation import check_real


@with_parameters
class TreeRules(RuleList):
    """C4.5RULES with a greedy search.

    Each leaf of a tree that is not pruned is a rule. The condition without which a rule's expected
    errors are fewest goes, as long as they are no more than before. For each class those rules are
    chosen, one in or out at a time, that with their exceptions have the shortest description. The
    class whose rules are wrong about the fewest other rows comes first. At last a rule goes without
    which fewer training rows are wrong.

    Parameters
    ----------
    confidence : float in (0, 0.5]
        Chance that the error rate of a rule is above the bound that counts; smaller makes rules
        more general.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    rules_ : list of Rule
        The first that covers a row decides. `print(learner)` shows them all.
    categories_ : dict of column -> Index
        The categories of the columns that have no numbers. Columns of an array, or without string
        names, are called "x0", "x1", ...
    default_ : int
        Number of the most frequent class among rows without a rule, that of all other rows.
    n_rules_ : int
    n_scanned_ : int
        Values looked at after the tree is grown: each pass over a rule's conditions counts them
        times the training rows, each pass over rules counts these times the rows.

    References
    ----------
    Quinlan (1993), "C4.5", chapter 5; Quinlan (1995), "MDL and categorical theories (continued)".
    """

    confidence: float = 0.25

    def _learn(self, table, y):
        check_real("confidence", self.confidence, 0, 0.5, open_low=True)
        tree = GainRatioTree(pruning=None).fit(table, y)
        rules = dict.fromkeys(self._generalised(rule, table.matrix, y) for rule in branches(tree))
        rules = [rule for rule in rules if rule.conditions]
        masks = np.array([rule.covers(table.matrix) for rule in rules]).reshape(len(rules), len(y))
        labels = np.array([rule.label for rule in rules], int)
        bits = rule_bits(
            np.array([len(rule.conditions) for rule in rules]), possible_conditions(table)
        )
        sets = {}
        for label in range(len(self.classes_)):
            own = np.flatnonzero(labels == label)
            sets[label] = own[self._chosen(masks[own], y == label, bits[own])].tolist()
        order, default = ordered(sets, masks, y)
        return [rules[i] for i in self._polished(order, masks, labels, default, y)], default

    def _generalised(self, rule, matrix, y):
        """The rule without the conditions that do not lower its expected errors."""
        conditions, z = list(rule.conditions), ndtri(1 - self.confidence)
        fails = np.array([~condition.holds(matrix) for condition in conditions]).reshape(
            len(conditions), len(y)
        )
        wrong = y != rule.label
        while conditions:
            self.n_scanned_ += fails.size
            count = fails.sum(axis=0)
            one = np.flatnonzero(count == 1)
            culprit = fails[:, one].argmax(axis=0)
            n = (count == 0).sum() + np.append(np.bincount(culprit, minlength=len(fails)), 0.0)
            errors = wrong[count == 0].sum() + np.append(
                np.bincount(culprit, wrong[one], len(fails)), 0
            )
            pairs = zip(n, errors, strict=True)
            rates = [
                (e + added_errors(m, e, self.confidence, z)) / m if m else 1.0 for m, e in pairs
            ]
            best = int(np.argmin(rates[:-1]))
            if rates[best] > rates[-1]:
                break
            del conditions[best]
            fails = np.delete(fails, best, axis=0)
        return Rule(tuple(sorted(conditions)), rule.label)

    def _chosen(self, masks, positive, bits):
        """Numbers of the rules (n, n_samples) of a class that with their exceptions have the shortest description."""
        inside, count, shortest = np.zeros(len(masks), bool), np.zeros(masks.shape[1]), np.inf
        rows = masks.astype(np.float32)
        while len(masks):
            self.n_scanned_ += masks.size
            free, single, sign = count == 0, count == 1, np.where(inside, -1, 1)
            right, wrong = (
                (side & ~free).sum()
                + sign * np.where(inside, rows @ (single & side), rows @ (free & side))
                for side in (positive, ~positive)
            )
            exceptions = exception_bits(right, wrong, positive.sum(), (~positive).sum(), share=0.5)
            lengths = exceptions + bits[inside].sum() + sign * bits
            best = lengths.argmin()
            if lengths[best] >= shortest:
                break
            shortest, count = lengths[best], count + sign[best] * masks[best]
            inside[best] = ~inside[best]
        return np.flatnonzero(inside)

    def _polished(self, order, masks, labels, default, y):
        """Numbers of the rules that are left, when the first without which fewer rows are wrong goes, repeatedly."""

        def wrong(kept):
            """How many rows the rules of these numbers, in this order, decide wrongly."""
            predicted = decided(masks[kept], labels[kept], np.full(len(y), default))
            return (predicted != y).sum()

        i, errors = 0, wrong(order)
        while i < len(order):
            fewer = order[:i] + order[i + 1 :]
            self.n_scanned_ += len(fewer) * len(y)
            if (fewest := wrong(fewer)) < errors:
                i, order, errors = 0, fewer, fewest
            else:
                i += 1
        return order


def branches(tree):
    """List the leaves of a fitted tree that had training rows, as rules."""
    conditions, rules = {0: ()}, []
    for node in range(tree.n_nodes_):
        attribute, cut = int(tree.attribute_[node]), float(tree.threshold_[node])
        if attribute < 0:
            rules.append(Rule(conditions[node], int(tree.distribution_[node].argmax())))
            continue
        categories = range(tree._columns.sizes[attribute])
        tests = [("=", float(v)) for v in categories] if categories else [("<=", cut), (">", cut)]
        for child, test in enumerate(tests, tree.child_[node]):
            conditions[child] = (*conditions[node], Condition(attribute, *test))
    return rules


def ordered(sets, masks, y):
    """Return the rules of all classes, those wrong about the fewest rows first, and the class of the other rows."""
    left, order, sets = np.ones(len(y), bool), [], dict(sets)
    while sets:
        covered = {label: left & masks[rules].any(axis=0) for label, rules in sets.items()}
        label = min(covered, key=lambda c: (covered[c] & (y != c)).sum())
        order += sets.pop(label)
        left = left & ~covered[label]
    frequency = np.bincount(y) / len(y) + np.bincount(y[left], minlength=y.max() + 1)
    return order, int(frequency.argmax())
