"""Job shops, scheduled by repairs: tasks that overload a resource move to a later time, chosen by rule or by a value.

A job is a chain of tasks; a task needs some units of one resource for its whole duration. A schedule is an array of
start times (n_jobs, n_tasks). Repairs begin with the schedule in which all jobs run from time 0, as if resources had no
limit, and keep the order within jobs.

References
----------
Zweben, Daun & Deale (1994); Zhang & Dietterich (1995), in the small; Dietterich (1997), section 4.3.
"""

from typing import NamedTuple

import numpy as np

from lib.compiled import compiled
from lib.validation import check_choice, check_generator, check_integer, check_real

RULES = ("random", "successors", "growth")
VALUES = len(RULES)
N_FEATURES = 13
COST = 0.001  # of a repair
CAPACITY = 4  # of a resource


class Problem(NamedTuple):
    """A job shop.

    Parameters
    ----------
    durations, resources, demands : ndarray of shape (n_jobs, n_tasks), int
        Time that each task takes, number of the resource that it needs, units of it.
    capacities : ndarray of shape (n_resources,), int
    """

    durations: np.ndarray
    resources: np.ndarray
    demands: np.ndarray
    capacities: np.ndarray


class RepairValues(NamedTuple):
    """A network of tanh units that values schedules: weights (14, n_hidden) and (n_hidden + 1,)."""

    inputs: np.ndarray
    output: np.ndarray


def random_problem(rng, n_jobs=5, n_tasks=6, n_resources=3):
    """Draw a problem: durations from 1 to 7, any resource, each of capacity 4, demands from 1 to 3.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_jobs, n_tasks, n_resources : int, at least 1

    Returns
    -------
    Problem
    """
    shape = check_integer("n_jobs", n_jobs, 1), check_integer("n_tasks", n_tasks, 1)
    durations = check_generator("rng", rng).integers(1, 8, shape)
    resources = rng.integers(check_integer("n_resources", n_resources, 1), size=shape)
    return Problem(durations, resources, rng.integers(1, CAPACITY, shape), np.full(n_resources, CAPACITY))


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
    return _repair(problem, lower_bound(problem), unlimited(problem.durations), rule, values, noise, 0.0, 0.0, rng)


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
    known = [(problem, lower_bound(problem), unlimited(problem.durations)) for problem in problems]
    for rate in rates:
        _repair(*known[rng.integers(len(known))], VALUES, values, rate, step, trace_decay, rng)
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
    length = max([starts[job, -1] + problem.durations[job, -1] for job in range(len(starts))])
    use = np.zeros((len(problem.capacities), length), np.int64)
    for job, task in np.ndindex(starts.shape):
        for time in range(starts[job, task], starts[job, task] + problem.durations[job, task]):
            use[problem.resources[job, task], time] += problem.demands[job, task]
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
    for i, (moved, first) in enumerate(tasks):
        ready = min([end for j, end in enumerate(ends) if j != i])
        for job, task in np.ndindex(starts.shape):
            pushed = job == moved and task >= first
            schedules[i, job, task] = max(starts[job, task], ready if pushed else 0)
            ready = schedules[i, job, task] + problem.durations[job, task] if pushed else ready
    return tasks, schedules


@compiled()
def _features(problem, bound, starts, use, time):
    """What the network sees of a schedule whose first overload is at `time`, and a 1."""
    length, capacities = use.shape[1], problem.capacities
    slack = [(length - starts[job, -1] - problem.durations[job, -1]) / bound for job in range(len(starts))]
    x, largest, left = np.zeros(N_FEATURES + 1), max(capacities), np.zeros(len(use))
    for t in range(length):
        worst = 0
        for resource in range(len(use)):
            now, over = use[resource, t], max(use[resource, t] - capacities[resource], 0)
            worst, x[2], x[3] = max(worst, over), x[2] + over, max(x[3], over / largest)
            left[resource] += now / capacities[resource] if t >= time else 0.0
            x[5] += now if t < time else 0
        x[4] += (worst > 0) / length
    x[0], x[1], x[2] = length / bound - 1, time / length, x[2] / sum(use.ravel())
    x[5], x[6] = 1 - x[5] / max(time * sum(capacities), 1), sum(slack) / len(slack)  # idle before; idle after
    x[7] = np.sqrt(sum([(one - x[6]) ** 2 for one in slack]) / len(slack))
    x[8], x[9] = max(left) / bound, sum(left) / len(left) / bound
    x[10] = time / bound + x[8] - 1  # how long it will be at least
    later = [start for start in starts.ravel() if start >= time]
    x[11], x[12], x[13] = len(later) / starts.size, max(use.ravel()) / largest, 1
    return x


@compiled()
def _output(values, x, hidden):
    """Put the hidden units into `hidden`, the last of which is 1, and return the network's output."""
    output = values.output[-1]
    for j in range(values.inputs.shape[1]):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * values.inputs[i, j]
        hidden[j] = np.tanh(total)
        output += hidden[j] * values.output[j]
    return output


@compiled()
def _worth(problem, bound, starts, values):
    """Return minus the excess length of a schedule without overload, the network's output for another."""
    use, time, _ = _overload(problem, starts)
    if time < 0:
        return 1 - use.shape[1] / bound
    return _output(values, _features(problem, bound, starts, use, time), np.ones(values.output.shape[0]))


@compiled()
def _choose(problem, bound, starts, time, resource, rule, values, noise, rng):
    """Return the schedule after the repair that a rule or the values choose."""
    tasks, schedules = _moves(problem, starts, time, resource)
    if rule == 0 or rng.random() < noise:
        return schedules[int(rng.random() * len(tasks))]
    scores = np.array([float(place) for _, place in tasks])  # the fewest after it
    for i in range(len(tasks) if rule != 1 else 0):
        ends = [schedules[i, job, -1] + problem.durations[job, -1] for job in range(len(starts))]
        scores[i] = _worth(problem, bound, schedules[i], values) if rule == VALUES else -max(ends)
    return schedules[scores.argmax()]


@compiled()
def _learn(values, traces, x, hidden, decay, change):
    """Let traces fade, add the gradient of the output to them, and change the weights along them."""
    for j in range(len(hidden)):
        slope = (1 - hidden[j] * hidden[j]) * values.output[j]
        traces.output[j] = decay * traces.output[j] + hidden[j]
        values.output[j] += change * traces.output[j]
        for i in range(len(x) if j < len(hidden) - 1 else 0):
            traces.inputs[i, j] = decay * traces.inputs[i, j] + x[i] * slope
            values.inputs[i, j] += change * traces.inputs[i, j]


@compiled()
def _repair(problem, bound, starts, rule, values, noise, step, trace_decay, rng):
    """Repair a schedule; where the step is above 0, the values learn from it."""
    hidden, n_repairs = np.ones(len(values.output)), 0
    traces = RepairValues(np.zeros_like(values.inputs), np.zeros_like(values.output))
    use, time, resource = _overload(problem, starts)
    while time >= 0:
        after = _choose(problem, bound, starts, time, resource, rule, values, noise, rng)
        if step > 0:
            x = _features(problem, bound, starts, use, time)
            change = step * (_worth(problem, bound, after, values) - COST - _output(values, x, hidden))
            _learn(values, traces, x, hidden, trace_decay, change)
        starts, n_repairs = after, n_repairs + 1
        use, time, resource = _overload(problem, starts)
    return starts, n_repairs
