"""Job shops, scheduled by repairs: tasks that overload a resource move to a later time, chosen by rule or by a value.

A job is a chain of tasks; a task needs some units of one resource for its whole duration. A
schedule is an array of start times (n_jobs, n_tasks). Repairs begin with the schedule in which all
jobs run from time 0, as if resources had no limit, and keep the order within jobs.

References
----------
Zweben, Daun & Deale (1994); Zhang & Dietterich (1995), in the small; Dietterich (1997), section
4.3.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lib.compiled import compiled
from lib.validation import check_choice, check_generator, check_integer, check_real

RULES = ("random", "successors", "growth")
VALUES = len(RULES)
N_FEATURES = 13
COST = 0.001  # of a repair
CAPACITY = 4  # of a resource
# units of time of all tasks together, as the use of resources is kept for each; and of a resource
LONGEST = 10**8
# Repairs for each task and job after which they are taken not to end. Where they did, in 480
# problems of 5 to 40 jobs and one to three resources, rules and learned values took up to 1.7.
# Moves by chance do not leapfrog for ever, but take more with more jobs: up to 0.25 times the
# number of jobs, in problems of up to 80.
PATIENCE, BY_CHANCE = 20, 5


class Problem(NamedTuple):
    """A job shop.

    Parameters
    ----------
    durations, resources, demands : ndarray of shape (n_jobs, n_tasks), int
        Time that each task takes, at least 1 and 10**8 in all; number of the resource that it
        needs; units of it, at least 1 and at most its capacity.
    capacities : ndarray of shape (n_resources,), int from 1 to 10**8
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
    return Problem(
        durations, resources, rng.integers(1, CAPACITY, shape), np.full(n_resources, CAPACITY)
    )


def check_problem(problem):
    """Return a problem with arrays of int64, or raise a ValueError that says which task cannot be done."""
    parts = tuple(problem) if np.iterable(problem) else ()
    if len(parts) != len(Problem._fields):
        raise ValueError(
            f"problem must have the parts {', '.join(Problem._fields)}; got {len(parts)} parts"
        )
    problem = Problem(
        *(_check_whole(name, part) for name, part in zip(Problem._fields, parts, strict=True))
    )
    shapes = {part.shape for part in problem[:3]}
    if len(shapes) > 1 or problem.durations.ndim != 2 or not problem.durations.size:
        raise ValueError(
            f"durations, resources and demands must have one shape (n_jobs, n_tasks); got {shapes}"
        )
    if (
        problem.capacities.ndim != 1
        or not problem.capacities.size
        or (problem.capacities < 1).any()
    ):
        raise ValueError(
            f"capacities must be integers of at least 1, one a resource; got {problem.capacities}"
        )
    _check_tasks("duration", problem.durations, 1)
    _check_tasks("resource", problem.resources, 0, len(problem.capacities) - 1)
    _check_tasks("demand", problem.demands, 1, problem.capacities[problem.resources])
    if problem.durations.sum() > LONGEST:
        raise ValueError(
            f"durations must add up to at most {LONGEST}; got {problem.durations.sum()}: use longer units"
        )
    return problem


def _check_whole(name, values):
    """Return whole numbers, which may be of a type for fractions, as int64, or raise ValueError naming another one."""
    try:
        values = np.asarray(values)
        numbers = (
            values
            if values.dtype.kind in "iu"
            else np.array(values.tolist(), dtype=float).reshape(values.shape)
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of integers: {error}") from None
    wrong = ~(np.abs(numbers) <= LONGEST)
    if numbers.dtype.kind == "f":
        wrong |= numbers != np.floor(numbers)
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        raise ValueError(
            f"{name} must hold integers of at most {LONGEST}; got {numbers[place]} at {place}"
        )
    return np.ascontiguousarray(numbers, dtype=np.int64)


def _check_tasks(name, values, low, high=None):
    """Raise a ValueError that names the first task whose number is out of range."""
    wrong = values < low if high is None else (values < low) | (values > high)
    if wrong.any():
        job, task = np.argwhere(wrong)[0]
        most = None if high is None else int(np.broadcast_to(high, values.shape)[job, task])
        check_integer(f"{name} of task {task} of job {job}", int(values[job, task]), low, most)


def check_values(values):
    """Return RepairValues with arrays of float64, or raise a ValueError that says what their shapes must be."""
    inputs, output = (np.asarray(weights) for weights in values)
    if {inputs.dtype.kind, output.dtype.kind} - set("iuf"):
        raise ValueError(
            f"chooser must have weights that are numbers; got {inputs.dtype} and {output.dtype}"
        )
    n_hidden = output.size - 1
    if output.ndim != 1 or n_hidden < 1 or inputs.shape != (N_FEATURES + 1, n_hidden):
        allowed = f"({N_FEATURES + 1}, n_hidden) and (n_hidden + 1,)"
        raise ValueError(
            f"chooser must have weights of shapes {allowed}; got {inputs.shape} and {output.shape}"
        )
    if not (np.isfinite(inputs).all() and np.isfinite(output).all()):
        raise ValueError(
            "chooser must have finite weights; got some that are infinite or no numbers"
        )
    return RepairValues(
        *(np.ascontiguousarray(weights, dtype=float) for weights in (inputs, output))
    )


def lower_bound(problem):
    """Return a length that no schedule undercuts: the longest job, or the work of the busiest resource."""
    return _lower_bound(check_problem(problem))


def _lower_bound(problem):
    work = np.bincount(problem.resources.ravel(), (problem.durations * problem.demands).ravel())
    return int(
        max(
            problem.durations.sum(axis=1).max(),
            np.ceil(work / problem.capacities[: len(work)]).max(),
        )
    )


def unlimited(durations):
    """Start times (..., n_tasks) where resources have no limit."""
    return np.cumsum(durations, axis=-1) - durations


def repair(problem, chooser="random", noise=0.0, seed=0):
    """Repair a schedule until no resource is overloaded.

    Each repair looks for the first overload. Of the tasks that use the resource then, one moves to
    the first end of another of them, and pushes the later tasks of its job as far as is needed.

    Repairs need not end where nothing is left to chance: by "growth", above all, tasks of some
    problems with many jobs leapfrog for ever. Some noise ends that.

    Parameters
    ----------
    problem : Problem
    chooser : "random", "successors", "growth" or RepairValues
        Which task moves: any; the one with fewest tasks after it in its job; the one whose move
        leaves the shortest schedule; or the one whose schedule has the largest value. Ties go to
        the first job.
    noise : float from 0 to 1
        Probability that any of them moves instead.
    seed : int, at least 0

    Returns
    -------
    starts : ndarray of shape (n_jobs, n_tasks), int
    n_repairs : int

    Raises
    ------
    ValueError
        If a task cannot be done, which is named, or another argument is out of range.
    RuntimeError
        If there still is an overload after 20 n_jobs^2 n_tasks repairs, or 5 n_jobs^3 n_tasks where
        moves are random or there is noise. Where repairs end, they have never been more than a
        tenth of that.
    """
    learned = isinstance(chooser, RepairValues)
    if not learned and not isinstance(chooser, str):
        raise ValueError(
            f"chooser must be one of {', '.join(map(repr, RULES))}, or RepairValues; got {chooser!r}"
        )
    rule = VALUES if learned else RULES.index(check_choice("chooser", chooser, RULES))
    values = (
        check_values(chooser)
        if learned
        else RepairValues(np.zeros((N_FEATURES + 1, 1)), np.zeros(2))
    )
    noise, rng = (
        check_real("noise", noise, 0, 1),
        np.random.default_rng(check_integer("seed", seed, 0)),
    )
    problem = check_problem(problem)
    first = unlimited(problem.durations)
    starts, n_repairs, ended = _repair(
        problem, _lower_bound(problem), first, rule, values, noise, 0.0, 0.0, rng
    )
    if not ended:
        name = "learned values" if learned else repr(chooser)
        raise RuntimeError(
            f"repairs by {name} have not ended after {n_repairs}, as tasks may leapfrog for ever; "
            "give noise, such as 0.2, or another chooser"
        )
    return starts, n_repairs


def learn_values(
    problems, n_episodes, n_hidden=20, step=0.02, trace_decay=0.7, exploration=(0.5, 0.05), seed=0
):
    """Learn by TD(lambda) what schedules are worth: less 0.001 a repair, and less the final length over its bound.

    Parameters
    ----------
    problems : sequence of Problem, all of one shape
        An episode repairs one of them, drawn at random; it is cut after 20 n_jobs^2 n_tasks
        repairs.
    n_episodes : int, at least 1
    n_hidden : int, at least 1
    step : float, above 0
    trace_decay : float from 0 to 1
    exploration : pair of float from 0 to 1
        Probability of a random repair in the first episode and in the last; in between it falls by
        equal factors.
    seed : int, at least 0

    Returns
    -------
    RepairValues
        A ConvergenceWarning tells where the weights have diverged, and are no numbers.
    """
    problems = [check_problem(problem) for problem in problems] if np.iterable(problems) else []
    if len({problem.durations.shape for problem in problems}) != 1:
        raise ValueError("problems must be at least one, all of one shape")
    if np.shape(exploration) != (2,):
        raise ValueError(f"exploration must be two numbers from 0 to 1; got {exploration!r}")
    ends = (max(check_real("exploration", share, 0, 1), 1e-9) for share in exploration)
    rates = np.geomspace(*ends, check_integer("n_episodes", n_episodes, 1))
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    inputs = rng.normal(
        0, N_FEATURES**-0.5, (N_FEATURES + 1, check_integer("n_hidden", n_hidden, 1))
    )
    values = RepairValues(inputs, np.zeros(n_hidden + 1))
    step, trace_decay = (
        check_real("step", step, 0, open_low=True),
        check_real("trace_decay", trace_decay, 0, 1),
    )
    known = [(problem, _lower_bound(problem), unlimited(problem.durations)) for problem in problems]
    for rate in rates:
        _repair(*known[rng.integers(len(known))], VALUES, values, rate, step, trace_decay, rng)
    if not (np.isfinite(values.inputs).all() and np.isfinite(values.output).all()):
        warnings.warn(
            "learn_values has diverged; a smaller step may help", ConvergenceWarning, stacklevel=2
        )
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
        row, limit = (
            use[resources[job, task]],
            capacities[resources[job, task]] - demands[job, task],
        )
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
    slack = [
        (length - starts[job, -1] - problem.durations[job, -1]) / bound
        for job in range(len(starts))
    ]
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
    # idle before; idle after
    x[5], x[6] = 1 - x[5] / max(time * sum(capacities), 1), sum(slack) / len(slack)
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
    return _output(
        values, _features(problem, bound, starts, use, time), np.ones(values.output.shape[0])
    )


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
    """Repair a schedule, and say whether that has ended; where the step is above 0, the values learn from it."""
    hidden, n_repairs = np.ones(len(values.output)), 0
    by_chance = step == 0 and (rule == 0 or noise > 0)
    most = (BY_CHANCE * len(starts) if by_chance else PATIENCE) * starts.size * len(starts)
    traces = RepairValues(np.zeros_like(values.inputs), np.zeros_like(values.output))
    use, time, resource = _overload(problem, starts)
    while time >= 0 and n_repairs < most:
        after = _choose(problem, bound, starts, time, resource, rule, values, noise, rng)
        if step > 0:
            x = _features(problem, bound, starts, use, time)
            change = step * (
                _worth(problem, bound, after, values) - COST - _output(values, x, hidden)
            )
            _learn(values, traces, x, hidden, trace_decay, change)
        starts, n_repairs = after, n_repairs + 1
        use, time, resource = _overload(problem, starts)
    return starts, n_repairs, time < 0
