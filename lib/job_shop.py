"""Job shops, scheduled by repairs: tasks that overload a resource move to a later time, chosen by rule or by a value.

A job is a chain of tasks; a task needs some units of one resource for its whole duration. A schedule is an array of
start times (n_jobs, n_tasks). Repairs begin with the schedule in which all jobs run from time 0, as if resources had no
limit, and keep the order within jobs.

References
----------
Zweben, Daun & Deale (1994); Zhang & Dietterich (1995), in the small; Dietterich (1997), section 4.3.
"""

from collections import namedtuple

import numpy as np

from lib.compiled import compiled
from lib.validation import check_choice, check_generator, check_integer, check_real

RULES = ("random", "successors", "growth")
VALUES = len(RULES)
N_FEATURES = 13
COST = 0.001  # of a repair

Problem = namedtuple("Problem", "durations resources demands capacities")
Problem.__doc__ = """A job shop.

Parameters
----------
durations, resources, demands : ndarray of shape (n_jobs, n_tasks), int
    Time that each task takes, number of the resource that it needs, units of it.
capacities : ndarray of shape (n_resources,), int
"""
RepairValues = namedtuple("RepairValues", "inputs output")
RepairValues.__doc__ = """A network of tanh units that values schedules: weights (14, n_hidden) and (n_hidden + 1,)."""


def random_problem(rng, n_jobs=5, n_tasks=6, n_resources=3, capacity=4, longest=7):
    """Draw a problem: durations from 1 to `longest`, any resource, demands from 1 to one less than the capacity.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_jobs, n_tasks, n_resources, longest : int, at least 1
    capacity : int, at least 2

    Returns
    -------
    Problem
    """
    check_generator("rng", rng)
    shape = check_integer("n_jobs", n_jobs, 1), check_integer("n_tasks", n_tasks, 1)
    durations = rng.integers(1, check_integer("longest", longest, 1) + 1, shape)
    resources = rng.integers(check_integer("n_resources", n_resources, 1), size=shape)
    demands = rng.integers(1, check_integer("capacity", capacity, 2), shape)
    return Problem(durations, resources, demands, np.full(n_resources, capacity))


def check_problem(problem):
    """Return a problem with arrays of int64, or raise a ValueError that says which task cannot be done."""
    problem = Problem(*(np.ascontiguousarray(part, dtype=np.int64) for part in problem))
    shapes = {part.shape for part in problem[:3]}
    if len(shapes) > 1 or problem.durations.ndim != 2:
        raise ValueError(f"durations, resources and demands must have one shape (n_jobs, n_tasks); got {shapes}")
    for job, task in np.ndindex(problem.durations.shape):
        duration, resource, demand = (int(part[job, task]) for part in problem[:3])
        name = f"task {task} of job {job}"
        check_integer(f"duration of {name}", duration, 1)
        check_integer(f"resource of {name}", resource, 0, len(problem.capacities) - 1)
        check_integer(f"demand of {name}", demand, 1, int(problem.capacities[resource]))
    return problem


def lower_bound(problem):
    """Return a length that no schedule undercuts: the longest job, or the work of the busiest resource."""
    work = np.bincount(problem.resources.ravel(), (problem.durations * problem.demands).ravel())
    return int(max(problem.durations.sum(axis=1).max(), np.ceil(work / problem.capacities[: len(work)]).max()))


def unlimited(durations):
    """Start times (..., n_tasks) where resources have no limit."""
    return np.cumsum(durations, axis=-1) - durations


def repair(problem, chooser="random", noise=0.0, seed=0):
    """Repair a schedule until no resource is overloaded.

    Each repair looks for the first overload. Of the tasks that use the resource then, one moves to the first end of
    another of them, and pushes the later tasks of its job as far as is needed.

    Parameters
    ----------
    problem : Problem
    chooser : "random", "successors", "growth" or RepairValues
        Which task moves: any; the one with fewest tasks after it in its job; the one whose move leaves the shortest
        schedule; or the one whose schedule has the largest value. Ties go to the first job.
    noise : float from 0 to 1
        Probability that any of them moves instead.
    seed : int, at least 0

    Returns
    -------
    starts : ndarray of shape (n_jobs, n_tasks), int
    n_repairs : int
    """
    learned = isinstance(chooser, RepairValues)
    rule = VALUES if learned else RULES.index(check_choice("chooser", chooser, RULES))
    values = chooser if learned else RepairValues(np.zeros((N_FEATURES + 1, 1)), np.zeros(2))
    noise, rng = check_real("noise", noise, 0, 1), np.random.default_rng(check_integer("seed", seed, 0))
    problem = check_problem(problem)
    return _repair(problem, lower_bound(problem), unlimited(problem.durations), rule, values, noise, rng)


def learn_values(problems, n_episodes, n_hidden=20, step=0.02, trace_decay=0.7, exploration=(0.5, 0.05), seed=0):
    """Learn by TD(lambda) what schedules are worth: less 0.001 a repair, and less the final length over its bound.

    Parameters
    ----------
    problems : sequence of Problem, all of one shape
        An episode repairs one of them, drawn at random.
    n_episodes : int, at least 1
    n_hidden : int, at least 1
    step : float, above 0
    trace_decay : float from 0 to 1
    exploration : pair of float from 0 to 1
        Probability of a random repair in the first episode and in the last; in between it falls by equal factors.
    seed : int, at least 0

    Returns
    -------
    RepairValues
    """
    problems = [check_problem(problem) for problem in problems]
    if len({problem.durations.shape for problem in problems}) != 1:
        raise ValueError("problems must be at least one, all of one shape")
    ends = (max(check_real("exploration", share, 0, 1), 1e-9) for share in exploration)
    rates = np.geomspace(*ends, check_integer("n_episodes", n_episodes, 1))
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    inputs = rng.normal(0, N_FEATURES**-0.5, (N_FEATURES + 1, check_integer("n_hidden", n_hidden, 1)))
    values = RepairValues(inputs, np.zeros(n_hidden + 1))
    step, trace_decay = check_real("step", step, 0, open_low=True), check_real("trace_decay", trace_decay, 0, 1)
    stacked = Problem(*(np.stack(parts) for parts in zip(*problems, strict=True)))
    bounds = np.array([lower_bound(problem) for problem in problems])
    _learn(stacked, bounds, unlimited(stacked.durations), rates, values, step, trace_decay, rng)
    return values


def serial_schedule(problem):
    """Build a schedule task by task: the one with most work left in its job, at the first time when it fits.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    ndarray of shape (n_jobs, n_tasks), int
    """
    durations, resources, demands, capacities = check_problem(problem)
    tails = np.cumsum(durations[:, ::-1], axis=1)[:, ::-1]
    use, starts = np.zeros((len(capacities), durations.sum()), np.int64), np.zeros_like(durations)
    for job, task in sorted(np.ndindex(durations.shape), key=lambda place: -tails[place]):
        start = starts[job, task - 1] + durations[job, task - 1] if task else 0
        row, limit = use[resources[job, task]], capacities[resources[job, task]] - demands[job, task]
        while (row[start : start + durations[job, task]] > limit).any():
            start += 1
        row[start : start + durations[job, task]] += demands[job, task]
        starts[job, task] = start
    return starts


@compiled()
def _overload(problem, starts):
    """Return the use of each resource by time, and the first time and resource of an overload, or -1 twice."""
    use = np.zeros((problem.capacities.shape[0], (starts + problem.durations)[:, -1].max()), np.int64)
    for job, task in np.ndindex(starts.shape):
        start, resource = starts[job, task], problem.resources[job, task]
        use[resource, start : start + problem.durations[job, task]] += problem.demands[job, task]
    for time in range(use.shape[1]):
        for resource in range(use.shape[0]):
            if use[resource, time] > problem.capacities[resource]:
                return use, time, resource
    return use, -1, -1


@compiled()
def _moves(problem, starts, time, resource):
    """Return the tasks that use a resource at a time, (k, 2), and the schedules in which each has moved."""
    tasks, ends = [], []
    for job, task in np.ndindex(starts.shape):
        end = starts[job, task] + problem.durations[job, task]
        if problem.resources[job, task] == resource and starts[job, task] <= time < end:
            tasks.append((job, task))
            ends.append(end)
    schedules = np.empty((len(tasks), *starts.shape), np.int64)
    for i, (job, task) in enumerate(tasks):
        schedules[i] = starts
        moved, ready = schedules[i, job], min([end for j, end in enumerate(ends) if j != i])
        for later in range(task, starts.shape[1]):
            moved[later] = max(moved[later], ready)
            ready = moved[later] + problem.durations[job, later]
    return tasks, schedules


@compiled()
def _features(problem, bound, starts, use, time):
    """What the network sees of a schedule whose first overload is at `time`, and a 1."""
    length, capacities = use.shape[1], problem.capacities
    excess = np.maximum(use - capacities.reshape(-1, 1), 0)
    slack = length - (starts + problem.durations)[:, -1]
    left = use[:, time:].sum(axis=1) / capacities
    x = np.ones(N_FEATURES + 1)
    x[0] = length / bound - 1
    x[1] = time / length
    x[2] = excess.sum() / use.sum()
    x[3] = excess.max() / capacities.max()
    x[4] = (excess.sum(axis=0) > 0).mean()
    x[5] = 1 - use[:, :time].sum() / max(time * capacities.sum(), 1)  # idle before
    x[6] = slack.mean() / bound
    x[7] = slack.std() / bound
    x[8] = left.max() / bound
    x[9] = left.mean() / bound
    x[10] = (time + left.max()) / bound - 1  # how long it will be at least
    x[11] = (starts >= time).mean()
    x[12] = use.max() / capacities.max()
    return x


@compiled()
def _worth(problem, bound, starts, values):
    """Return minus the excess length of a schedule without overload, the network's output for another."""
    use, time, _ = _overload(problem, starts)
    if time < 0:
        return 1 - use.shape[1] / bound
    hidden = np.tanh(_features(problem, bound, starts, use, time) @ values.inputs)
    return hidden @ values.output[:-1] + values.output[-1]


@compiled()
def _choose(problem, bound, starts, time, resource, rule, values, noise, rng):
    """Return the schedule after the repair that a rule or the values choose."""
    tasks, schedules = _moves(problem, starts, time, resource)
    scores = np.zeros(len(tasks))
    if rule == 0 or rng.random() < noise:
        return schedules[rng.integers(0, len(tasks))]
    for i in range(len(tasks)):
        if rule == VALUES:
            scores[i] = _worth(problem, bound, schedules[i], values)
        else:
            scores[i] = tasks[i][1] if rule == 1 else -(schedules[i] + problem.durations).max()
    return schedules[scores.argmax()]


@compiled()
def _repair(problem, bound, starts, rule, values, noise, rng):
    n_repairs = 0
    _, time, resource = _overload(problem, starts)
    while time >= 0:
        starts = _choose(problem, bound, starts, time, resource, rule, values, noise, rng)
        n_repairs += 1
        _, time, resource = _overload(problem, starts)
    return starts, n_repairs


@compiled()
def _learn(problems, bounds, firsts, rates, values, step, trace_decay, rng):
    inputs, output = values
    for rate in rates:
        i = rng.integers(0, bounds.shape[0])
        problem = Problem(problems[0][i], problems[1][i], problems[2][i], problems[3][i])
        starts, input_trace, output_trace = firsts[i], np.zeros_like(inputs), np.zeros_like(output)
        use, time, resource = _overload(problem, starts)
        while time >= 0:
            x = _features(problem, bounds[i], starts, use, time)
            hidden = np.tanh(x @ inputs)
            value = hidden @ output[:-1] + output[-1]
            input_trace = trace_decay * input_trace + x.reshape(-1, 1) * (1 - hidden**2) * output[:-1]
            output_trace = trace_decay * output_trace + np.append(hidden, 1.0)
            starts = _choose(problem, bounds[i], starts, time, resource, VALUES, values, rate, rng)
            error = _worth(problem, bounds[i], starts, values) - COST - value
            inputs += step * error * input_trace
            output += step * error * output_trace
            use, time, resource = _overload(problem, starts)
