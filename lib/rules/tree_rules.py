"""C4.5RULES: a tree's branches, each made more general, and for each class the best set of them."""

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state

from lib.estimators import with_parameters
from lib.rules.conditions import Condition, Rule, RuleList, predict_by_rules
from lib.rules.description_length import exception_bits, possible_conditions, rule_bits
from lib.trees import GainRatioTree
from lib.trees.pruning import added_errors
from lib.validation import check_integer, check_real


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
        general_rules = [self._generalise(rule, table.matrix, y) for rule in branches(tree)]
        # several branches may become the same rule
        rules = [rule for rule in dict.fromkeys(general_rules) if rule.conditions]
        masks = np.array([rule.covers(table.matrix) for rule in rules]).reshape(len(rules), len(y))
        labels = np.array([rule.label for rule in rules], int)
        n_conditions = np.array([len(rule.conditions) for rule in rules])
        bits = rule_bits(n_conditions, possible_conditions(table))
        rule_sets = {}
        for label in range(len(self.classes_)):
            candidates = np.flatnonzero(labels == label)
            selected = self._select(masks[candidates], y == label, bits[candidates], rng)
            rule_sets[label] = candidates[selected].tolist()
        order, default = order_rule_sets(rule_sets, masks, y)
        order = self._drop_rules(order, masks, labels, default, y)
        return [rules[i] for i in order], default

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

    def _select(self, masks, positive, bits, rng):
        """Return which rules of a class have, with their exceptions, the shortest description.

        Parameters
        ----------
        masks : ndarray of bool (n_rules, n_samples)
            The rows that each rule covers.
        positive : ndarray of bool (n_samples,)
            The rows of the class.
        bits : ndarray of float (n_rules,)
        rng : RandomState

        Returns
        -------
        ndarray of int
        """
        n_rules = len(masks)
        starts = [np.zeros(n_rules, bool), np.ones(n_rules, bool)]
        starts += [rng.random_sample(n_rules) < 0.5 for _ in range(self.n_starts - 2)]
        searches = [self._search(masks, positive, bits, s) for s in starts[: self.n_starts]]
        _, best_set = min(searches, key=lambda search: search[0])
        return np.flatnonzero(best_set)

    def _search(self, masks, positive, bits, is_selected):
        """Shorten the description of a set of rules; return its bits, and which rules are in it.

        The search is greedy: as long as one change shortens it, the rule that shortens it most goes
        in or out.
        """
        is_selected = is_selected.copy()
        n_covering = masks[is_selected].sum(axis=0)
        shortest = np.inf
        rows = masks.astype(np.float32)
        while len(masks):
            self.n_scanned_ += masks.size
            right = covered_after_change(rows, positive, n_covering, is_selected)
            wrong = covered_after_change(rows, ~positive, n_covering, is_selected)
            exceptions = exception_bits(right, wrong, positive.sum(), (~positive).sum(), share=0.5)
            sign = np.where(is_selected, -1, 1)
            lengths = exceptions + bits[is_selected].sum() + sign * bits
            best = lengths.argmin()
            if lengths[best] >= shortest:
                break
            shortest = lengths[best]
            n_covering = n_covering + sign[best] * masks[best]
            is_selected[best] = ~is_selected[best]
        return shortest, is_selected

    def _drop_rules(self, order, masks, labels, default, y):
        """Drop the first rule without which fewer training rows are wrong, as long as there is one.

        Parameters
        ----------
        order : list of int
            Numbers of rules.
        masks : ndarray of bool (n_rules, n_samples)
        labels : ndarray of int (n_rules,)
        default : int
        y : ndarray of int (n_samples,)

        Returns
        -------
        list of int
        """
        default_labels = np.full(len(y), default)

        def count_errors(numbers):
            predicted = predict_by_rules(masks[numbers], labels[numbers], default_labels)
            return (predicted != y).sum()

        n_errors = count_errors(order)
        i = 0
        while i < len(order):
            shorter = order[:i] + order[i + 1 :]
            self.n_scanned_ += len(shorter) * len(y)
            errors_of_shorter = count_errors(shorter)
            if errors_of_shorter < n_errors:
                order = shorter
                n_errors = errors_of_shorter
                i = 0
            else:
                i += 1
        return order


def covered_after_change(masks, side, n_covering, is_selected):
    """Count the covered rows of a side when one rule, each in turn, has gone in or out.

    Parameters
    ----------
    masks : ndarray of float (n_rules, n_samples)
        1 for the rows that each rule covers.
    side : ndarray of bool (n_samples,)
        The rows that count.
    n_covering : ndarray (n_samples,)
        How many selected rules cover each row.
    is_selected : ndarray of bool (n_rules,)

    Returns
    -------
    ndarray of float (n_rules,)
    """
    n_covered = (side & (n_covering > 0)).sum()
    gained = masks @ (side & (n_covering == 0))
    lost = masks @ (side & (n_covering == 1))
    return n_covered + np.where(is_selected, -1, 1) * np.where(is_selected, lost, gained)


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


def order_rule_sets(rule_sets, masks, y):
    """Order the rules of all classes, those first that are wrong about the fewest rows.

    Parameters
    ----------
    rule_sets : dict of int -> list of int
        Numbers of the rules of each class.
    masks : ndarray of bool (n_rules, n_samples)
    y : ndarray of int (n_samples,)

    Returns
    -------
    order : list of int
        Numbers of rules.
    default : int
        The most frequent class among the rows that no rule covers; of equals, that of all rows.
    """
    rule_sets = dict(rule_sets)
    uncovered = np.ones(len(y), bool)
    order = []
    while rule_sets:
        covered = {}
        n_wrong = {}
        for label, rules in rule_sets.items():
            covered[label] = uncovered & masks[rules].any(axis=0)
            n_wrong[label] = (covered[label] & (y != label)).sum()
        label = min(n_wrong, key=n_wrong.get)
        order += rule_sets.pop(label)
        uncovered = uncovered & ~covered[label]
    # fractions below 1 decide between equal counts
    frequency = np.bincount(y) / len(y) + np.bincount(y[uncovered], minlength=y.max() + 1)
    return order, int(frequency.argmax())
