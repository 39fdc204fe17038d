"""Job shops: schedules keep every limit; small problems enumerated, repairs by hand, learning."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib import job_shop
from lib.benchmarks import FOLDER, read_benchmarks
from lib.job_shop import (
    Problem,
    RepairValues,
    learn_values,
    lower_bound,
    random_problem,
    repair,
    serial_schedule,
)
from lib.trials import Seeds

RANDOM_VALUES = RepairValues(np.random.default_rng(0).normal(size=(14, 3)), np.ones(4))
CHOOSERS = [*job_shop.RULES, RANDOM_VALUES]


def check(problem, starts):
    """Length of a schedule, which is checked to keep the order of jobs and all limits."""
    ends = starts + problem.durations
    assert (starts[:, 0] >= 0).all()
    assert (starts[:, 1:] >= ends[:, :-1]).all()
    for time, resource in itertools.product(range(ends.max()), range(len(problem.capacities))):
        active = (starts <= time) & (time < ends) & (problem.resources == resource)
        assert problem.demands[active].sum() <= problem.capacities[resource]
    return ends.max()


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(1, 5),
    st.sampled_from(CHOOSERS),
    st.sampled_from([0, 0.5]),
)
def test_schedules_keep_every_limit(seed, n_jobs, n_tasks, chooser, noise):
    problem = random_problem(np.random.default_rng(seed), n_jobs, n_tasks, n_resources=2)
    starts, n_repairs = repair(problem, chooser, noise, seed)
    assert check(problem, starts) >= lower_bound(problem)
    assert check(problem, serial_schedule(problem)) >= lower_bound(problem)
    # built again in its own order, no schedule gets longer
    refilled = serial_schedule(problem, order=starts)
    assert check(problem, refilled) <= check(problem, starts)
    assert (refilled <= starts).all()
    # repairs begin with the schedule of unlimited resources, and only move tasks to later
    unlimited = job_shop.unlimited(problem.durations)
    _, overload_time, _ = job_shop._overload(problem, unlimited)
    assert (n_repairs == 0) == (overload_time < 0)
    assert (starts >= unlimited).all()
    np.testing.assert_array_equal(starts, repair(problem, chooser, noise, seed)[0])


def two_jobs():
    """Jobs of 2 and 4, and of 3 and 1, time units, all of which need the one resource."""
    ones = np.ones((2, 2), int)
    return Problem(np.array([[2, 4], [3, 1]]), 0 * ones, ones, np.array([1]))


def test_repairs_by_hand():
    """At time 0 both first tasks overlap: moving job 0 by 3 or job 1 by 2."""
    problem = two_jobs()
    _, schedules = job_shop._moves(problem, np.array([[0, 2], [0, 3]]), 0, 0)
    np.testing.assert_array_equal(schedules, [[[3, 5], [0, 3]], [[0, 2], [2, 5]]])
    starts, n_repairs = repair(problem, "growth")
    np.testing.assert_array_equal(starts, [[0, 6], [2, 5]])
    assert n_repairs == 3


def test_shortest_schedules_of_two_jobs_are_their_work():
    """One resource works 2 + 4 + 3 + 1 time units, one task after the other."""
    problem = two_jobs()
    starts, _ = repair(problem)
    assert lower_bound(problem) == 10
    assert check(problem, starts) == 10
    assert check(problem, serial_schedule(problem)) == 10


def reachable(problem, starts):
    """Lengths of all schedules that repairs can end with."""
    use, time, resource = job_shop._overload(problem, starts)
    if time < 0:
        return {use.shape[1]}
    lengths = set()
    _, schedules = job_shop._moves(problem, starts, time, resource)
    for schedule in schedules:
        lengths |= reachable(problem, schedule)
    return lengths


def test_random_repairs_reach_what_an_enumeration_finds():
    problem = random_problem(np.random.default_rng(3), n_jobs=3, n_tasks=2, n_resources=1)
    first = np.column_stack([np.zeros(3, int), problem.durations[:, 0]])
    lengths = {check(problem, repair(problem, seed=seed)[0]) for seed in range(300)}
    assert lengths == reachable(problem, first)
    assert len(lengths) > 1


def test_a_value_is_that_of_the_equations():
    """Zhang & Dietterich's features of a schedule; its value is a network with one hidden layer."""
    problem = random_problem(np.random.default_rng(1))
    starts = job_shop.unlimited(problem.durations)
    use, time, _ = job_shop._overload(problem, starts)
    x = job_shop._features(problem, 20, starts, use, time)
    assert x[[0, 1, 3, 12]] == pytest.approx(
        [use.shape[1] / 20 - 1, time / use.shape[1], (use.max() - 4) / 4, use.max() / 4]
    )
    overloaded = (use > 4).any(axis=0)
    assert x[4] == pytest.approx(overloaded.mean())
    assert x[13] == 1
    assert np.flatnonzero(overloaded)[0] == time
    value = np.tanh(x @ RANDOM_VALUES.inputs).sum() + 1
    assert job_shop._worth(problem, 20, starts, RANDOM_VALUES) == pytest.approx(value)


def numeric_gradient(function, schedule, weights):
    """Central differences in the weights, which are changed in place and restored."""
    gradient = np.zeros_like(weights)
    for place in np.ndindex(weights.shape):
        weight = weights[place]
        weights[place] = weight + 1e-5
        higher = function(schedule)
        weights[place] = weight - 1e-5
        lower = function(schedule)
        weights[place] = weight
        gradient[place] = (higher - lower) / 2e-5
    return gradient


def test_one_episode_is_td_lambda():
    """Weights move by step * error * trace; the gradient is that of central differences."""
    problem = random_problem(np.random.default_rng(5), 4, 4)
    step = 0.1
    decay = 0.6
    values = learn_values([problem], 1, 2, step, decay, (0.0, 0.0), seed=2)

    bound = lower_bound(problem)
    rng = np.random.default_rng(2)
    truth = RepairValues(rng.normal(0, 13**-0.5, (14, 2)), np.zeros(3))
    rng.integers(0, 1)  # the choice of the one problem

    def worth(schedule):
        return job_shop._worth(problem, bound, schedule, truth)

    starts = job_shop.unlimited(problem.durations)
    traces = [np.zeros((14, 2)), np.zeros(3)]
    n_repairs = 0
    _, time, resource = job_shop._overload(problem, starts)
    while time >= 0:
        value = worth(starts)
        for weights, trace in zip(truth, traces, strict=True):
            trace *= decay
            trace += numeric_gradient(worth, starts, weights)
        _, schedules = job_shop._moves(problem, starts, time, resource)
        next_values = [worth(schedule) for schedule in schedules]
        starts = schedules[int(np.argmax(next_values))]
        # each repair costs 0.001
        error = max(next_values) - 0.001 - value
        for weights, trace in zip(truth, traces, strict=True):
            weights += step * error * trace
        n_repairs += 1
        _, time, resource = job_shop._overload(problem, starts)
    assert n_repairs > 2
    np.testing.assert_allclose(values.inputs, truth.inputs, atol=1e-8)
    np.testing.assert_allclose(values.output, truth.output, atol=1e-8)


def test_learned_values_shorten_schedules():
    """Those of problems that were not learned from, on average, compared with random repairs."""
    problems = [random_problem(np.random.default_rng(i)) for i in range(40)]
    values = learn_values(problems[:20], 1000, seed=1)

    def mean_length(chooser):
        lengths = []
        for problem in problems[20:]:
            starts, _ = repair(problem, chooser)
            lengths.append((starts + problem.durations).max())
        return np.mean(lengths)

    assert mean_length(values) < mean_length("random")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            {"durations": np.array([[0, 4], [3, 1]])},
            "duration of task 0 of job 0 must be an integer of at least 1",
        ),
        (
            {"demands": np.array([[1, 1], [1, 2]])},
            "demand of task 1 of job 1 must be an integer from 1 to 1; got 2",
        ),
        (
            {"resources": np.array([[0, 0], [1, 0]])},
            "resource of task 0 of job 1 must be an integer from 0 to 0",
        ),
        ({"resources": np.array([0])}, "must have one shape"),
        (
            {"durations": np.array([[2, 1.7], [3, 1]])},
            r"durations must hold integers.*got 1.7 at \(0, 1\)",
        ),
        (
            {"durations": np.array([[2, np.nan], [3, 1]])},
            r"durations must hold integers.*got nan at \(0, 1\)",
        ),
        (
            {"durations": np.array([[2, 10**9], [3, 1]])},
            "durations must hold integers of at most 100000000",
        ),
        (
            {"durations": np.full((2, 2), 10**8)},
            "durations must add up to at most 100000000; got 400000000",
        ),
        ({"durations": [["long", 1], [1, 1]]}, "durations must be an array of integers"),
        (
            {
                "durations": np.ones((0, 2)),
                "resources": np.ones((0, 2)),
                "demands": np.ones((0, 2)),
            },
            "got .*0, 2",
        ),
        (
            {"demands": np.array([[1, -1], [1, 1]])},
            "demand of task 1 of job 0 must be an integer from 1 to 1; got -1",
        ),
        (
            {"capacities": np.array([1, 0])},
            r"capacities must be integers of at least 1, one a resource; got \[1 0\]",
        ),
        (
            {"capacities": np.array([[1]])},
            "capacities must be integers of at least 1, one a resource",
        ),
    ],
)
@pytest.mark.parametrize(
    "use", [repair, lower_bound, serial_schedule, lambda problem: learn_values([problem], 1)]
)
def test_impossible_problems_are_named(change, error, use):
    with pytest.raises(ValueError, match=error):
        use(two_jobs()._replace(**change))


def test_whole_numbers_may_be_of_a_type_for_fractions():
    floats = Problem(*(array / 1.0 for array in two_jobs()))
    np.testing.assert_array_equal(repair(floats, "growth")[0], repair(two_jobs(), "growth")[0])
    assert lower_bound(floats) == 10


@pytest.mark.parametrize("seed", [4, 23])
def test_repairs_that_leapfrog_are_told_with_the_remedy(seed):
    problem = random_problem(np.random.default_rng(seed), n_jobs=8, n_resources=1)
    with pytest.raises(
        RuntimeError, match="by 'growth' have not ended after 7680.*give noise, such as 0.2"
    ):
        repair(problem, "growth")
    for chooser, noise in (("growth", 0.2), ("random", 0), ("successors", 0)):
        starts, n_repairs = repair(problem, chooser, noise)
        check(problem, starts)
        assert n_repairs < 7680 / 10


@pytest.mark.parametrize(
    ("inputs", "output", "error"),
    [
        (
            np.ones((13, 3)),
            np.ones(4),
            r"shapes \(14, n_hidden\) and \(n_hidden \+ 1,\); got \(13, 3\) and \(4,\)",
        ),
        (np.ones((14, 3)), np.ones(5), r"got \(14, 3\) and \(5,\)"),
        (np.ones((14, 0)), np.ones(1), r"got \(14, 0\) and \(1,\)"),
        (np.ones((14, 1)), np.ones((2, 1)), r"got \(14, 1\) and \(2, 1\)"),
        (np.full((14, 1), np.nan), np.ones(2), "must have finite weights"),
    ],
)
def test_weights_of_another_shape_are_refused(inputs, output, error):
    with pytest.raises(ValueError, match=error):
        repair(two_jobs(), RepairValues(inputs, output))


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_warning_where_learning_diverges():
    with pytest.warns(UserWarning, match="learn_values has diverged; a smaller step may help"):
        learn_values([random_problem(np.random.default_rng(0))], 300, step=1e200)


def test_other_choosers_and_empty_lists_are_refused():
    with pytest.raises(ValueError, match="chooser must be one of.*did you mean 'growth'"):
        repair(two_jobs(), "grow")
    with pytest.raises(ValueError, match="problems must be at least one"):
        learn_values([], 1)
    with pytest.raises(ValueError, match="exploration must be two numbers from 0 to 1; got 0.5"):
        learn_values([two_jobs()], 1, exploration=0.5)
    with pytest.raises(
        ValueError, match="problem must have the parts durations, resources, demands, capacities"
    ):
        repair(two_jobs()[:3])


def test_the_recorded_optima_are_of_the_chapters_problems():
    # the published scale of rl/job_shop: 50 problems to learn from, then 60 for a test
    rows, _ = read_benchmarks(FOLDER / "job_shop.json")
    solved = rows[rows["chooser"] == "solver"].set_index(["run", "problem"])
    assert len(solved) == 600
    assert solved["optimal"].all()
    for run in range(10):
        rng = Seeds(3064, (run,)).rng("problems")
        problems = [random_problem(rng) for _ in range(110)][50:]
        for number, problem in enumerate(problems):
            row = solved.loc[run, number]
            assert row["bound"] == lower_bound(problem)
            built = check(problem, serial_schedule(problem))
            assert row["bound"] <= row["length"] <= built


@pytest.mark.parametrize("order", [np.zeros((2, 2)), np.zeros((2, 3)), [[1, 2], [2, 1]]])
def test_an_order_rises_within_each_job(order):
    with pytest.raises(ValueError, match="order must have shape"):
        serial_schedule(two_jobs(), order)
