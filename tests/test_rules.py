"""Ripper and TreeRules: conditions by enumeration, bits by counting, neighbours, known rules."""

import pickle
import tracemalloc
from math import comb, log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from lib import datasets
from lib.rules import Condition, Ripper, Rule, TreeRules
from lib.rules.description_length import exception_bits, rule_bits, subset_bits
from lib.rules.ripper import AT_LEAST, AT_MOST, EQUAL, _Task, best_condition, gaining_conditions
from lib.rules.tree_rules import branches, covered_sums, rule_intervals
from lib.trees import GainRatioTree, Table
from lib.trees.pruning import added_errors


def gain(positive, covered):
    """FOIL's gain of a condition, which has to leave out an example and cover two of the class."""
    p = positive[covered].sum()
    n = covered.sum()
    if covered.all() or p < 2:
        return 0.0
    return p * (log2(p / n) - log2(positive.mean()))


@given(st.integers(0, 10**6), st.integers(4, 25))
@settings(max_examples=60, deadline=None)
def test_the_best_condition_by_enumeration(seed, n):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 4, (3, n)).astype(np.int32)
    positive = rng.random(n) < 0.5
    positive[:1] = True
    sizes = np.array([0, 4, 0])  # the second column holds categories, the others numbers
    _, best_gain = best_condition(codes, sizes, positive, np.arange(n))
    gains = [0.0]
    for x, size in zip(codes, sizes, strict=True):
        has_value = x >= 0
        for value in range(4):
            if size:
                gains.append(gain(positive, x == value))
            else:
                gains.append(gain(positive, has_value & (x <= value)))
                gains.append(gain(positive, has_value & (x >= value)))
    assert best_gain == pytest.approx(max(gains), abs=1e-9)


@given(st.integers(0, 10**6), st.integers(4, 25))
@settings(max_examples=60, deadline=None)
def test_all_gaining_conditions_by_enumeration(seed, n):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 4, (3, n)).astype(np.int32)
    positive = rng.random(n) < 0.5
    positive[:1] = True
    sizes = np.array([0, 4, 0])  # the second column holds categories, the others numbers
    rows = rng.permutation(n)[: n - 1]
    if not positive[rows].any():
        rows[0] = 0
    expected = {}
    for j, (column, size) in enumerate(zip(codes[:, rows], sizes, strict=True)):
        for value in np.unique(column[column >= 0]):
            if size:
                expected[j, EQUAL, value] = gain(positive[rows], column == value)
            else:
                at_most = (column >= 0) & (column <= value)
                expected[j, AT_MOST, value] = gain(positive[rows], at_most)
                expected[j, AT_LEAST, value] = gain(positive[rows], column >= value)
    conditions, gains = gaining_conditions(codes, sizes, positive, rows)
    names = [tuple(condition) for condition in conditions.tolist()]
    assert len(set(names)) == len(names)
    # what gains nothing but for rounding may be there or not
    assert {name for name, value in expected.items() if value > 1e-9} <= set(names)
    for name, value in zip(names, gains, strict=True):
        assert value == pytest.approx(expected[name], abs=1e-9)
    _, best_gain = best_condition(codes, sizes, positive, rows)
    assert gains.max(initial=0.0) == pytest.approx(best_gain, abs=1e-9)


def test_conditions_are_drawn_in_proportion_to_their_gains():
    # of the three conditions that gain 5 (1 - 0), 4 (1 - 0) and 2 (1 - 0), two are near the best
    columns = {"a": [1] * 5 + [0] * 5, "b": [1] * 4 + [0] * 6, "c": [1] * 2 + [0] * 8}
    table = Table(pd.DataFrame(columns).astype(str))
    positive = np.arange(10) < 5
    learner = Ripper(near_best=0.5)
    rows = np.arange(10)
    task = _Task(learner, table, rows, positive, np.random.RandomState(0))
    conditions, gains = gaining_conditions(task.codes, task.sizes, positive, rows)
    assert [
        (*condition, gain) for condition, gain in zip(conditions.tolist(), gains, strict=True)
    ] == [
        (0, EQUAL, 1, 5.0),
        (1, EQUAL, 1, 4.0),
        (2, EQUAL, 1, 2.0),
    ]
    drawn = [task._choose_condition(rows)[0][0] for _ in range(3000)]
    shares = np.bincount(drawn, minlength=3) / 3000
    assert shares[2] == 0
    assert shares[0] == pytest.approx(5 / 9, abs=0.04)


def test_drawn_conditions_depend_on_the_seed_alone():
    data = datasets.load("monks-1")
    texts = set()
    for seed in range(5):
        learner = Ripper(near_best=0.8, random_state=seed).fit(data.X, data.y)
        assert str(learner) == str(Ripper(near_best=0.8, random_state=seed).fit(data.X, data.y))
        texts.add(str(learner))
    assert len(texts) > 1


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_a_rule_grows_until_it_is_right(seed):
    rng = np.random.default_rng(seed)
    table = Table(pd.DataFrame({name: rng.permutation(30).astype(float) for name in "abc"}))
    rows = np.arange(30)
    positive = np.repeat(rng.random(10) < 0.4, 3)
    positive[:3] = True
    learner = Ripper()
    learner.n_scanned_ = 0
    task = _Task(learner, table, rows, positive, None)
    conditions = task.grow(rows, ())
    n_scanned = 0
    covered = rows
    for condition in conditions:
        n_scanned += 3 * len(covered)
        covered = covered[condition.holds(table.matrix[covered])]
    if not positive[covered].all():
        # no condition was left that covers two examples of the class, which took one more search
        n_scanned += 3 * len(covered)
        assert best_condition(task.codes, task.sizes, positive, covered)[1] == 0
    assert learner.n_scanned_ == n_scanned
    assert len(covered) >= 2
    assert task.grow(rows, conditions) == conditions


@pytest.mark.parametrize("k", [0, 1, 5, 10])
def test_bits_of_subsets_are_at_least_their_number(k):
    """To name one of C(10, k) subsets takes log2 C(10, k) bits; a fair coin for each takes 10."""
    assert subset_bits(10, k, k / 10) >= log2(comb(10, k)) - 1e-9
    assert subset_bits(10, k, 0.5) == pytest.approx(10)


def test_bits_by_hand():
    """Of 4 positive and 3 negative examples, log2(7 + 1) = 3 bits say how many are exceptions."""
    n_bits = 3
    assert exception_bits(4, 0, 4, 3, 0.5) == pytest.approx(n_bits)
    # one of 4 covered examples is wrong, where half of 2 errors is expected; one of 3 others is
    covered_bits = subset_bits(4, 1, 0.25)
    other_bits = subset_bits(3, 1, 1 / 3)
    assert exception_bits(3, 1, 4, 3, 0.5) == pytest.approx(n_bits + covered_bits + other_bits)
    # one of 3 covered; two of the 4 others, where three quarters of 3 errors are expected
    covered_bits = subset_bits(3, 1, 1 / 3)
    other_bits = subset_bits(4, 2, 0.75 * 3 / 4)
    assert exception_bits(2, 1, 4, 3, 0.25) == pytest.approx(n_bits + covered_bits + other_bits)
    # Cohen (1995) takes half of the bits of k and of the k conditions, as these are redundant
    assert rule_bits(1, 8) == pytest.approx(subset_bits(8, 1, 1 / 8) / 2)
    assert rule_bits(4, 8) == pytest.approx((2 + 2 * 1 + 8) / 2)


@pytest.mark.parametrize("metric", ["ratio", "laplace"])
def test_of_equally_good_prunings_the_shortest_is_best(metric, monkeypatch):
    """Both conditions are needed where a rule grows; either alone is right where it is pruned."""
    growing = [[1, 1]] * 4 + [[1, 0]] * 2 + [[0, 1]] * 3
    pruning = [[1, 1]] * 2 + [[0, 0]] * 2
    table = Table(pd.DataFrame(growing + pruning, columns=["a", "b"]).astype(str))
    positive = np.array([1] * 4 + [0] * 5 + [1] * 2 + [0] * 2, bool)
    learner = Ripper(metric=metric)
    learner.n_scanned_ = 0
    task = _Task(learner, table, np.arange(13), positive, None)
    monkeypatch.setattr(task, "_split_rows", lambda _: (np.arange(9), np.arange(9, 13)))
    grown = task.grow(np.arange(9), ())
    assert [(c.attribute, c.value) for c in grown] == [(0, 1), (1, 1)]
    rule = task.new_rule(np.ones(13, bool))
    assert rule.conditions == grown[:1]
    assert rule.covered.tolist() == [True] * 6 + [False] * 3 + [True] * 2 + [False] * 2


def formula(size, seed):
    X = pd.DataFrame(
        np.random.default_rng(seed).integers(0, 2, (size, 12)).astype(bool),
        columns=list("abcdefghijkl"),
    )
    return X, (X.a & X.b) | (X.b & X.c & X.d) | (X.d & X.e & X.f & X.g)


@pytest.mark.parametrize(
    "learner", [Ripper(random_state=0), Ripper(literal=True, random_state=0), TreeRules(n_starts=3)]
)
def test_a_formula_is_found(learner):
    X, y = formula(3000, 0)
    new, truth = formula(2000, 1)
    assert learner.fit(X, y).score(new, truth) > 0.99
    assert 3 <= learner.n_rules_ <= 15
    assert learner.n_scanned_ > 3000 * 12


@pytest.mark.parametrize("learner", [Ripper(random_state=0), TreeRules()])
@pytest.mark.parametrize("name", ["glass", "vote", "soybean-large"])
def test_the_first_rule_decides(learner, name):
    data = datasets.load(name)
    learner.fit(data.X, data.y)
    assert learner.n_rules_ == len(learner.rules_)
    matrix = Table(data.X).matrix
    for i in range(0, len(data.y), 7):
        labels = [rule.label for rule in learner.rules_ if rule.covers(matrix[i : i + 1])[0]]
        label = labels[0] if labels else learner.default_
        assert learner.predict(data.X.iloc[i : i + 1])[0] == learner.classes_[label]
    assert learner.score(data.X, data.y) > 0.6
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(learner)).predict(data.X), learner.predict(data.X)
    )
    probability = learner.predict_proba(data.X)
    np.testing.assert_array_equal(
        learner.classes_[probability.argmax(axis=1)], learner.predict(data.X)
    )


def test_a_missing_value_passes_no_test():
    matrix = np.array([[np.nan, 1.0], [2.0, 1.0]])
    for sign in ("=", "<=", ">=", ">"):
        assert not Condition(0, sign, 0.0).holds(matrix)[0]
    np.testing.assert_array_equal(
        Rule((Condition(0, ">", 1.0), Condition(1, "=", 1.0)), 0).covers(matrix), [False, True]
    )


def random_matrix(rng):
    """Whole numbers of three attributes, some of them missing."""
    matrix = rng.integers(0, 5, (60, 3)).astype(float)
    return np.where(rng.random(matrix.shape) < 0.1, np.nan, matrix)


def random_rule(rng):
    """A rule of up to five conditions of all kinds, many of which imply others."""
    conditions = []
    for _ in range(rng.integers(0, 6)):
        attribute = int(rng.integers(3))
        # the last attribute has categories
        operators = ["="] if attribute == 2 else ["<=", ">=", ">"]
        value = float(rng.integers(0, 5))
        conditions.append(Condition(attribute, str(rng.choice(operators)), value))
    return Rule(tuple(conditions), int(rng.integers(0, 3)))


@pytest.mark.parametrize("seed", range(200))
def test_simplified_rules_cover_the_same_rows(seed):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng)
    rule = random_rule(rng)
    simplified = rule.simplified()
    np.testing.assert_array_equal(simplified.covers(matrix), rule.covers(matrix))
    bounds = [(c.attribute, c.operator[0]) for c in simplified.conditions if c.attribute < 2]
    assert len(set(bounds)) == len(bounds)
    assert set(simplified.conditions) <= set(rule.conditions)
    assert str(rule) == str(simplified)


@pytest.mark.parametrize("sign", ["=", "<=", ">=", ">"])
def test_an_interval_has_the_values_that_pass(sign):
    condition = Condition(0, sign, 0.1)
    values = np.array([-1e308, 0.0, np.nextafter(0.1, 0), 0.1, np.nextafter(0.1, 1), 1e308])
    low, high = condition.interval
    np.testing.assert_array_equal(
        (values > low) & (values <= high), condition.holds(values[:, None])
    )


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_covered_rows_are_a_product_of_matrices(seed):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng)
    rules = [random_rule(rng) for _ in range(20)]
    rows = rng.permutation(60)[:40]
    marks = rng.integers(-1, 2, (40, 4)).astype(np.int8)
    masks = np.array([rule.covers(matrix[rows]) for rule in rules])
    intervals, ends = rule_intervals(rules)
    sums = covered_sums(intervals, ends, np.asfortranarray(matrix), rows, marks)
    np.testing.assert_array_equal(sums, masks.astype(int) @ marks)


def test_the_tightest_bound_of_each_side_is_said():
    conditions = (
        Condition(0, "<=", -0.36),
        Condition(1, "<=", 1.09),
        Condition(0, "<=", -0.91),
        Condition(0, ">=", -3.0),
        Condition(0, ">", -3.0),
    )
    rule = Rule(conditions, 0, "no")
    assert str(rule) == "x0 <= -0.91 and x1 <= 1.09 and x0 > -3 -> no"
    assert rule.conditions == conditions  # which descriptions count as they were learned


PEOPLE = pd.DataFrame(
    {
        "sex": pd.Categorical(["f", "m"] * 40, categories=["m", "f"]),
        "age": np.repeat([20.0, 23.5, 24.0, 40.25], 20),
        "new": [True, False, False, True] * 20,
    }
)
ADULT = np.where((PEOPLE["sex"] == "f") & (PEOPLE["age"] >= 24), "yes", "no")


@pytest.mark.parametrize(
    ("learner", "text"),
    [
        (Ripper(random_state=0), "sex = f and age >= 24 -> yes\notherwise -> no"),
        (
            TreeRules(),
            "sex = m -> no\nage <= 23.75 -> no\nsex = f and age > 23.75 -> yes\notherwise -> no",
        ),
    ],
)
def test_rules_as_text(learner, text):
    assert str(learner) == repr(learner)
    assert str(learner.fit(PEOPLE, ADULT)) == text
    assert repr(learner) != text
    assert [str(rule) for rule in learner.rules_] == text.split("\n")[:-1]
    assert str(learner.fit(Table(PEOPLE), ADULT)) == text
    assert str(pickle.loads(pickle.dumps(learner))) == text
    names = {name: list(values) for name, values in learner.categories_.items()}
    assert names == {"sex": ["m", "f"], "new": [False, True]}
    boolean_text = text.replace("yes", "True").replace("no", "False")
    assert str(learner.fit(PEOPLE, ADULT == "yes")) == boolean_text
    numbered = learner.fit(PEOPLE[["age"]].to_numpy(), PEOPLE["age"] > 23.5)
    assert str(numbered.rules_[0]).startswith("x0 ")
    assert str(learner.fit([[1.0], [2.0]], [0, 0])) == "otherwise -> 0"


def test_a_rule_by_hand_as_text():
    conditions = (Condition(0, "=", 1.0), Condition(1, ">=", 24.0))
    assert str(Rule(conditions, 1)) == "x0 = 1 and x1 >= 24 -> 1"
    assert str(Rule((), 0, "no")) == "always -> no"
    named = Rule((Condition(0, "=", 1.0, "sex", "f"), Condition(1, ">=", 24.0, "age")), 1, "yes")
    assert str(named) == "sex = f and age >= 24 -> yes"


def test_names_do_not_count_in_comparisons():
    learner = Ripper(random_state=0).fit(PEOPLE, ADULT)
    plain = Rule((Condition(0, "=", 1.0), Condition(1, ">=", 24.0)), 1)
    assert learner.rules_ == [plain]
    assert hash(learner.rules_[0]) == hash(plain)
    assert learner.rules_[0].covers(Table(PEOPLE).matrix).tolist() == (ADULT == "yes").tolist()


@pytest.mark.parametrize("seed", range(3))
def test_classes_in_order_of_their_frequency(seed):
    data = datasets.load("glass")
    learner = Ripper(random_state=seed).fit(data.X, data.y)
    counts = np.unique(data.y, return_counts=True)[1]
    of_rules = counts[[rule.label for rule in learner.rules_]]
    assert (np.diff(of_rules) >= 0).all()
    assert counts[learner.default_] == counts.max()


def test_branches_divide_the_rows():
    """Each row is in one branch, which predicts what the tree does."""
    data = datasets.load("vehicle")
    matrix = Table(data.X).matrix
    tree = GainRatioTree(pruning=None).fit(data.X, data.y)
    rules = branches(tree)
    masks = np.array([rule.covers(matrix) for rule in rules])
    np.testing.assert_array_equal(masks.sum(axis=0), 1)
    labels = np.array([rule.label for rule in rules])[masks.argmax(axis=0)]
    np.testing.assert_array_equal(tree.classes_[labels], tree.predict(data.X))


def expected_error_rate(rule, matrix, y):
    """C4.5's upper bound on the error rate, with its confidence of 0.25."""
    covered = rule.covers(matrix)
    n = covered.sum()
    n_wrong = (covered & (y != rule.label)).sum()
    return (n_wrong + added_errors(float(n), float(n_wrong), 0.25, norm.ppf(0.75))) / n


def test_generalised_rules_have_no_worse_neighbours():
    data = datasets.load("glass")
    matrix = Table(data.X).matrix
    y = np.unique(data.y, return_inverse=True)[1]
    learner = TreeRules().fit(data.X, data.y)
    for branch in branches(GainRatioTree(pruning=None).fit(data.X, data.y)):
        rule = learner._generalise(branch, matrix, y)
        error_rate = expected_error_rate(rule, matrix, y)
        assert error_rate <= expected_error_rate(branch, matrix, y) + 1e-12
        assert set(rule.conditions) <= set(branch.conditions)
        # a rule keeps one condition at least
        if len(rule.conditions) > 1:
            for i in range(len(rule.conditions)):
                shorter = Rule(rule.conditions[:i] + rule.conditions[i + 1 :], rule.label)
                assert expected_error_rate(shorter, matrix, y) > error_rate


def select_rules(seed, n_starts):
    """The rules of one class that searches select, and a function of the bits of any set."""
    rng = np.random.default_rng(seed)
    masks = rng.random((9, 80)) < 0.2
    positive = rng.random(80) < 0.4
    rule_lengths = rng.uniform(2, 8, 9)
    learner = TreeRules(n_starts=n_starts)
    learner.n_scanned_ = 0
    # rule i covers the rows whose attribute i is 1
    rules = [Rule((Condition(i, "=", 1.0),), 1) for i in range(9)]
    matrix = masks.T.astype(float)
    rng = np.random.RandomState(seed)
    selected = learner._select(rules, matrix, positive, rule_lengths, rng)
    n_positive = positive.sum()
    n_negative = (~positive).sum()

    def description_length(rules):
        covered = masks[rules].any(axis=0)
        n_right = (covered & positive).sum()
        n_wrong = (covered & ~positive).sum()
        exceptions = exception_bits(n_right, n_wrong, n_positive, n_negative, 0.5)
        return exceptions + rule_lengths[rules].sum()

    return np.isin(np.arange(9), selected), description_length


@pytest.mark.parametrize("n_starts", [1, 2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_no_rule_more_or_less_shortens_the_description(seed, n_starts):
    """The rules selected are a local minimum: bits of the exceptions plus bits of the rules."""
    selection, description_length = select_rules(seed, n_starts)
    for i in range(9):
        changed = selection.copy()
        changed[i] = not changed[i]
        assert description_length(changed) >= description_length(selection) - 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_searches_from_many_starts_find_the_shortest_description(seed):
    """The minimum over all 512 sets of nine rules."""
    selection, description_length = select_rules(seed, n_starts=60)
    every_set = (np.arange(2**9)[:, None] >> np.arange(9)) % 2 == 1
    shortest = min(map(description_length, every_set))
    assert description_length(selection) == pytest.approx(shortest)


@pytest.mark.parametrize("seed", range(20))
def test_rules_that_cost_errors_are_dropped_one_by_one(seed):
    """The first rule without which fewer rows are wrong, by the predictions of each shorter list."""
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng)
    rules = [random_rule(rng) for _ in range(12)]
    y = rng.integers(0, 3, len(matrix))

    def count_errors(rules):
        labels = np.full(len(y), 2)
        for rule in reversed(rules):
            labels[rule.covers(matrix)] = rule.label
        return (labels != y).sum()

    learner = TreeRules()
    learner.n_scanned_ = 0
    dropped = learner._drop_rules(rules, matrix, 2, y)
    expected = rules
    n_scanned = 0
    i = 0
    while i < len(expected):
        shorter = expected[:i] + expected[i + 1 :]
        n_scanned += len(shorter) * len(y)
        if count_errors(shorter) < count_errors(expected):
            expected = shorter
            i = 0
        else:
            i += 1
    assert dropped == expected
    assert learner.n_scanned_ == n_scanned


def test_memory_grows_as_the_rows():
    """Twice the rows give twice the rules: a table of rules and rows would be four times as large."""
    X, y = formula(6000, 0)
    y = (y ^ (np.random.default_rng(0).random(len(y)) < 0.2)).to_numpy()
    learner = TreeRules().fit(X[:100], y[:100])  # compiled
    peaks = []
    for size in (3000, 6000):
        table = Table(X[:size])
        tracemalloc.start()
        learner.fit(table, y[:size]).predict(table)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.5 * peaks[0]


@pytest.mark.parametrize("learner", [Ripper(random_state=0), TreeRules()])
def test_input_of_every_kind_gives_rules(learner):
    short = {
        "a range that overflows": [[-1.7e308]] * 5 + [[1.7e308]] * 5,
        "nothing": [[np.nan]] * 10,
        "one value": pd.DataFrame({"a": ["x"] * 10, "b": [True] * 10}),
        "identifiers": pd.DataFrame({"a": [f"i{i}" for i in range(10)]}),
    }
    for name, X in short.items():
        for y in ([0] * 5 + [1] * 5, [1] * 10, list(range(10))):
            labels = learner.fit(X, y).predict(X)
            assert len(str(learner).splitlines()) == learner.n_rules_ + 1
            if name == "a range that overflows" and len(set(y)) == 2:
                assert labels.tolist() == y


def test_a_table_of_other_columns_is_told():
    learner = Ripper(random_state=0).fit(Table(PEOPLE), ADULT)
    with pytest.raises(ValueError, match="X must have the columns of fit"):
        learner.predict(Table(PEOPLE[["age", "sex"]]))


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (Ripper(k=-1), "k must be an integer of at least 0; got -1"),
        (Ripper(stop="some"), "stop must be one of 'all', 'pruning'; got 'some'"),
        (
            Ripper(metric="ration"),
            "metric must be one of 'ratio', 'laplace'; got 'ration'; did you mean 'ratio'?",
        ),
        (Ripper(literal=1), "literal must be True or False; got 1"),
        (TreeRules(n_starts=0), "n_starts must be an integer of at least 1; got 0"),
        (Ripper(near_best=0), "near_best must be a finite number in (0, 1]; got 0"),
        (TreeRules(confidence=0.6), "confidence must be a finite number in (0, 0.5]; got 0.6"),
    ],
)
def test_errors_say_what_is_allowed(learner, words):
    with pytest.raises(ValueError) as error:
        learner.fit(np.eye(4), [0, 1, 0, 1])
    assert words in str(error.value)
