"""Job shops, scheduled by repairs: tasks that overload a resource move to a later time.

A job is a chain of tasks; a task needs some units of one resource for its whole duration. A
schedule is an array of start times (n_jobs, n_tasks). Repairs begin with the critical path
schedule, in which all jobs run from time 0, as if resources had no limit, and keep the order within
jobs. A rule chooses which task moves, or the values of schedules that a network has learned.

References
----------
Zweben, Daun & Deale (1994); Zhang & Dietterich (1995), in the small; Dietterich (1997), section
4.3.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lib.base.compiled import compiled
from lib.base.validation import (
    check_choice,
    check_generator,
    check_integer,
    check_numbers,
    check_real,
)

RULES = ("random", "successors", "growth")
RANDOM, SUCCESSORS, GROWTH = range(len(RULES))
VALUES = len(RULES)  # the number of a further rule: choose by learned values
COST = 0.001  # of a repair
CAPACITY = 4  # of each resource of a random problem
LONGEST = 10**8  # sum of all durations, as the use of resources is kept for each unit of time

# Repairs per task and job after which a run is taken to be endless. In 480 problems (5 to 40 jobs,
# 1 to 3 resources) no run that ended needed more than 1.7.
MAX_REPAIRS = 20
# Random repairs always ended, but needed up to 0.25 n_jobs per task and job (up to 80 jobs): this
# limit is multiplied by the number of jobs.
MAX_RANDOM_REPAIRS = 5

# What the network reads of a schedule that has an overload; `_features` computes them.
FEATURES = (
    "excess_length",
    "first_overload",
    "overloaded_work",
    "worst_overload",
    "overloaded_time",
    "idle_before",
    "mean_slack",
    "slack_deviation",
    "most_work_left",
    "mean_work_left",
    "least_excess",
    "tasks_left",
    "peak_use",
)
N_FEATURES = len(FEATURES)


class Problem(NamedTuple):
    """A job shop.

    Parameters
    ----------
    durations, resources, demands : ndarray of shape (n_jobs, n_tasks), int
        Duration of each task, at least 1, with a sum of at most 10**8; number of the resource that
        it needs; units of it, from 1 to its capacity.
    capacities : ndarray of shape (n_resources,), int from 1 to 10**8
    """

    durations: np.ndarray
    resources: np.ndarray
    demands: np.ndarray
    capacities: np.ndarray


class RepairValues(NamedTuple):
    """A network of tanh units that values schedules: weights (14, n_hidden) and (n_hidden + 1,).

    The last row of the first, and the last of the others, are the thresholds.
    """

    inputs: np.ndarray
    output: np.ndarray


class _RepairParameters(NamedTuple):
    """How the next repair is chosen, and how the values learn from it."""

    rule: int  # index of RULES, or VALUES
    noise: float  # probability of a random repair
    step: float  # alpha; 0 where nothing is learned
    trace_decay: float  # lambda; there is no discount


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
    rng = check_generator("rng", rng)
    n_resources = check_integer("n_resources", n_resources, 1)
    return Problem(
        durations=rng.integers(1, 8, shape),
        resources=rng.integers(n_resources, size=shape),
        demands=rng.integers(1, CAPACITY, shape),
        capacities=np.full(n_resources, CAPACITY),
    )


def check_problem(problem):
    """Return a problem with arrays of int64, or raise a ValueError that says what is wrong.

    A task that cannot be done is named.
    """
    arrays = tuple(problem) if np.iterable(problem) else ()
    if len(arrays) != len(Problem._fields):
        names = ", ".join(Problem._fields)
        raise ValueError(f"problem must have the parts {names}; got {len(arrays)} parts")
    problem = Problem._make(map(_check_whole_numbers, Problem._fields, arrays))
    durations, resources, demands, capacities = problem

    shapes = {durations.shape, resources.shape, demands.shape}
    if len(shapes) > 1 or durations.ndim != 2 or not durations.size:
        raise ValueError(
            f"durations, resources and demands must have one shape (n_jobs, n_tasks); got {shapes}"
        )
    if capacities.ndim != 1 or not capacities.size or (capacities < 1).any():
        raise ValueError(
            f"capacities must be integers of at least 1, one a resource; got {capacities}"
        )
    _check_tasks("duration", durations, 1)
    _check_tasks("resource", resources, 0, len(capacities) - 1)
    _check_tasks("demand", demands, 1, capacities[resources])
    total = durations.sum()
    if total > LONGEST:
        raise ValueError(
            f"durations must add up to at most {LONGEST}; got {total}: use longer units"
        )
    return problem


def _check_whole_numbers(name, values):
    """Return whole numbers as int64, or raise a ValueError that names another one.

    They may be of a type for fractions.
    """
    numbers = check_numbers(name, values, "an array of integers", keep_integers=True)
    wrong = ~(np.abs(numbers) <= LONGEST)  # so that NaN is wrong, too
    if numbers.dtype.kind == "f":
        wrong |= numbers != np.floor(numbers)
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        raise ValueError(
            f"{name} must hold integers of at most {LONGEST}; got {numbers[place]} at {place}"
        )
    return np.ascontiguousarray(numbers, dtype=np.int64)


def _check_tasks(name, values, low, high=None):
    """Raise a ValueError that names the first task whose number is not from `low` to `high`."""
    wrong = values < low
    if high is not None:
        high = np.broadcast_to(high, values.shape)
        wrong |= values > high
    if wrong.any():
        job, task = np.argwhere(wrong)[0]
        limit = None if high is None else int(high[job, task])
        check_integer(f"{name} of task {task} of job {job}", int(values[job, task]), low, limit)


def check_weights(values):
    """Return RepairValues of float64, or raise a ValueError that says what their shapes must be."""
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
        inputs=np.ascontiguousarray(inputs, dtype=float),
        output=np.ascontiguousarray(output, dtype=float),
    )


def lower_bound(problem):
    """Return a length below which no schedule is: of the longest job, or the busiest resource."""
    return _lower_bound(check_problem(problem))


def _lower_bound(problem):
    longest_job = problem.durations.sum(axis=1).max()
    work = np.bincount(problem.resources.ravel(), (problem.durations * problem.demands).ravel())
    busiest_resource = np.ceil(work / problem.capacities[: len(work)]).max()
    return int(max(longest_job, busiest_resource))


def unlimited(durations):
    """Return the start times (..., n_tasks) of the critical path schedule: without any limits."""
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
        Which task moves: a random one; the one with fewest tasks after it in its job; the one whose
        move leaves the shortest schedule; or the one whose move leads to the schedule of the
        largest value. Ties go to the first job.
    noise : float from 0 to 1
        Probability that a random one moves instead.
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
        moves are random or there is noise. Repairs that end have never been more than a tenth of
        that.
    """
    is_learned = isinstance(chooser, RepairValues)
    if is_learned:
        rule = VALUES
        values = check_weights(chooser)
    elif isinstance(chooser, str):
        rule = RULES.index(check_choice("chooser", chooser, RULES))
        values = RepairValues(np.zeros((N_FEATURES + 1, 1)), np.zeros(2))  # which no rule reads
    else:
        names = ", ".join(map(repr, RULES))
        raise ValueError(f"chooser must be one of {names}, or RepairValues; got {chooser!r}")
    noise = check_real("noise", noise, 0, 1)
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    problem = check_problem(problem)

    parameters = _RepairParameters(rule=rule, noise=noise, step=0.0, trace_decay=0.0)
    starts, n_repairs, has_ended = _repair(
        problem, _lower_bound(problem), unlimited(problem.durations), values, parameters, rng
    )
    if not has_ended:
        name = "learned values" if is_learned else repr(chooser)
        raise RuntimeError(
            f"repairs by {name} have not ended after {n_repairs}, as tasks may leapfrog for ever; "
            "give noise, such as 0.2, or another chooser"
        )
    return starts, n_repairs


def learn_values(
    problems, n_episodes, n_hidden=20, step=0.02, trace_decay=0.7, exploration=(0.5, 0.05), seed=0
):
    """Learn the values of schedules by TD(lambda), from the repairs of some problems.

    The reward of a repair is -0.001; at the end of an episode it is 1 minus the length of the
    schedule, in units of the problem's lower bound.

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
        A ConvergenceWarning tells where the weights have diverged, and are not finite.
    """
    problems = [check_problem(problem) for problem in problems] if np.iterable(problems) else []
    if len({problem.durations.shape for problem in problems}) != 1:
        raise ValueError("problems must be at least one, all of one shape")
    if np.shape(exploration) != (2,):
        raise ValueError(f"exploration must be two numbers from 0 to 1; got {exploration!r}")
    # geomspace needs ends above 0
    first, last = (max(check_real("exploration", share, 0, 1), 1e-9) for share in exploration)
    n_episodes = check_integer("n_episodes", n_episodes, 1)
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    n_hidden = check_integer("n_hidden", n_hidden, 1)
    step = check_real("step", step, 0, open_low=True)
    trace_decay = check_real("trace_decay", trace_decay, 0, 1)

    inputs = rng.normal(0, N_FEATURES**-0.5, (N_FEATURES + 1, n_hidden))
    values = RepairValues(inputs=inputs, output=np.zeros(n_hidden + 1))
    bounds = [_lower_bound(problem) for problem in problems]
    for noise in np.geomspace(first, last, n_episodes):
        i = rng.integers(len(problems))
        starts = unlimited(problems[i].durations)
        parameters = _RepairParameters(rule=VALUES, noise=noise, step=step, trace_decay=trace_decay)
        _repair(problems[i], bounds[i], starts, values, parameters, rng)
    if not (np.isfinite(values.inputs).all() and np.isfinite(values.output).all()):
        warnings.warn(
            "learn_values has diverged; a smaller step may help", ConvergenceWarning, stacklevel=2
        )
    return values


def serial_schedule(problem, order=None):
    """Build a schedule task by task, each as early as it fits.

    Parameters
    ----------
    problem : Problem
    order : ndarray of shape (n_jobs, n_tasks), optional
        Tasks with smaller numbers come first; within a job the numbers rise. The starts of a
        schedule keep its order and fill its gaps. By default the task with the longest tail comes
        first: its own time and that of the tasks after it in its job.

    Returns
    -------
    ndarray of shape (n_jobs, n_tasks), int
    """
    durations, resources, demands, capacities = check_problem(problem)
    if order is None:
        order = -np.cumsum(durations[:, ::-1], axis=1)[:, ::-1]
    order = check_numbers("order", order, "an array of numbers")
    if order.shape != durations.shape or (np.diff(order, axis=1) <= 0).any():
        raise ValueError(f"order must have shape {durations.shape} and rise within each job")
    use = np.zeros((len(capacities), durations.sum()), np.int64)
    starts = np.zeros_like(durations)
    for job, task in sorted(np.ndindex(durations.shape), key=lambda place: order[place]):
        duration = durations[job, task]
        demand = demands[job, task]
        resource = resources[job, task]
        highest_use = capacities[resource] - demand
        # not before the task before it in its job has ended
        start = starts[job, task - 1] + durations[job, task - 1] if task > 0 else 0
        while (use[resource, start : start + duration] > highest_use).any():
            start += 1
        use[resource, start : start + duration] += demand
        starts[job, task] = start
    return starts


@compiled()
def _overload(problem, starts):
    """Find the first overload of a schedule.

    Returns
    -------
    use : ndarray of shape (n_resources, length), int
        Units of each resource that are in use at each time.
    time, resource : int
        Of the first overload; -1 if there is none.
    """
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
    """List the repairs of an overload: each task that uses the resource at that time may move.

    Returns
    -------
    tasks : list of (job, task)
    schedules : ndarray of shape (len(tasks), n_jobs, n_tasks), int
        In which that task has moved.
    """
    tasks = []
    ends = []
    for job, task in np.ndindex(starts.shape):
        end = starts[job, task] + problem.durations[job, task]
        if problem.resources[job, task] == resource and starts[job, task] <= time < end:
            tasks.append((job, task))
            ends.append(end)
    schedules = np.empty((len(tasks), *starts.shape), np.int64)
    for i, (moving_job, moving_task) in enumerate(tasks):
        # it moves to the first end of another task, and pushes the later ones of its job
        ready = min([end for j, end in enumerate(ends) if j != i])
        for job, task in np.ndindex(starts.shape):
            start = starts[job, task]
            if job == moving_job and task >= moving_task:
                start = max(start, ready)
                ready = start + problem.durations[job, task]
            schedules[i, job, task] = start
    return tasks, schedules


@compiled()
def _features(problem, bound, starts, use, time):
    """Return the FEATURES of a schedule whose first overload is at `time`, and a 1."""
    n_jobs = len(starts)
    n_resources, length = use.shape
    capacities = problem.capacities
    largest_capacity = capacities.max()

    overload_sum = 0.0  # units above capacity, added up over time
    worst_overload = 0.0  # the largest number of units above capacity, in largest capacities
    overloaded_time = 0.0  # share of the time at which some resource is overloaded
    use_before = 0.0  # units in use before the first overload, added up over time
    work_left = np.zeros(n_resources)  # from then on, in units of time at full capacity
    for t in range(length):
        is_overloaded = False
        for resource in range(n_resources):
            units = use[resource, t]
            overload = max(units - capacities[resource], 0)
            if overload > 0:
                is_overloaded = True
            overload_sum += overload
            worst_overload = max(worst_overload, overload / largest_capacity)
            if t < time:
                use_before += units
            else:
                work_left[resource] += units / capacities[resource]
        if is_overloaded:
            overloaded_time += 1 / length

    # how long before the end of the schedule each job ends, in units of the bound
    slack = np.empty(n_jobs)
    for job in range(n_jobs):
        slack[job] = (length - starts[job, -1] - problem.durations[job, -1]) / bound

    # by how much the schedule is longer than its bound, in units of the bound
    excess_length = length / bound - 1
    # when the first overload is, from 0 to 1
    first_overload = time / length
    # share of the use of resources that is above capacity
    overloaded_work = overload_sum / use.sum()
    # share of the capacity before the first overload that is not in use
    idle_before = 1 - use_before / max(time * capacities.sum(), 1)
    mean_slack = slack.mean()
    slack_deviation = np.sqrt(slack.var())
    # time that resources need for what is left from the first overload on, in units of the bound
    most_work_left = work_left.max() / bound
    mean_work_left = work_left.mean() / bound
    # by how much the final schedule will be longer than its bound, at least
    least_excess = time / bound + most_work_left - 1
    # share of tasks that start at the first overload or later
    tasks_left = (starts >= time).sum() / starts.size
    # the largest number of units of a resource in use, in largest capacities
    peak_use = use.max() / largest_capacity
    return np.array(
        [
            excess_length,
            first_overload,
            overloaded_work,
            worst_overload,
            overloaded_time,
            idle_before,
            mean_slack,
            slack_deviation,
            most_work_left,
            mean_work_left,
            least_excess,
            tasks_left,
            peak_use,
            1.0,  # the input of the thresholds
        ]
    )


@compiled()
def _output(values, x, hidden):
    """Put the hidden units into `hidden`, whose last is 1, and return the network's output."""
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
    """Value a schedule: by its final reward without overload, else by the network."""
    use, time, _ = _overload(problem, starts)
    if time < 0:
        length = use.shape[1]
        return 1 - length / bound
    x = _features(problem, bound, starts, use, time)
    return _output(values, x, np.ones(values.output.shape[0]))


@compiled()
def _choose(problem, bound, starts, time, resource, values, parameters, rng):
    """Return the schedule after the repair of an overload that a rule or the values choose."""
    tasks, schedules = _moves(problem, starts, time, resource)
    if parameters.rule == RANDOM or rng.random() < parameters.noise:
        return schedules[int(rng.random() * len(tasks))]
    scores = np.empty(len(tasks))
    for i in range(len(tasks)):
        if parameters.rule == SUCCESSORS:
            scores[i] = tasks[i][1]  # the later a task in its job, the fewer are after it
        elif parameters.rule == GROWTH:
            last_ends = schedules[i, :, -1] + problem.durations[:, -1]
            scores[i] = -last_ends.max()
        else:
            scores[i] = _worth(problem, bound, schedules[i], values)
    return schedules[scores.argmax()]


@compiled()
def _learn(values, traces, x, hidden, trace_decay, change):
    """Add the output's gradient to fading traces, and change the weights along them (Table 8)."""
    n_hidden = len(hidden) - 1
    for j in range(n_hidden):
        slope = (1 - hidden[j] * hidden[j]) * values.output[j]
        for i in range(len(x)):
            traces.inputs[i, j] = trace_decay * traces.inputs[i, j] + x[i] * slope
            values.inputs[i, j] += change * traces.inputs[i, j]
    for j in range(n_hidden + 1):
        traces.output[j] = trace_decay * traces.output[j] + hidden[j]
        values.output[j] += change * traces.output[j]


@compiled()
def _repair(problem, bound, starts, values, parameters, rng):
    """Repair a schedule; where the step is above 0, the values learn from it by TD(lambda).

    Returns
    -------
    starts : ndarray of shape (n_jobs, n_tasks), int
    n_repairs : int
    has_ended : bool
        Whether the schedule has no overload any more.
    """
    n_jobs = len(starts)
    max_repairs = MAX_REPAIRS * starts.size * n_jobs
    is_random = parameters.rule == RANDOM or parameters.noise > 0
    if is_random and parameters.step == 0:
        max_repairs = MAX_RANDOM_REPAIRS * n_jobs * starts.size * n_jobs
    hidden = np.ones(len(values.output))
    traces = RepairValues(np.zeros_like(values.inputs), np.zeros_like(values.output))
    n_repairs = 0
    use, time, resource = _overload(problem, starts)
    while time >= 0 and n_repairs < max_repairs:
        new_starts = _choose(problem, bound, starts, time, resource, values, parameters, rng)
        if parameters.step > 0:
            x = _features(problem, bound, starts, use, time)
            target = _worth(problem, bound, new_starts, values) - COST
            change = parameters.step * (target - _output(values, x, hidden))
            _learn(values, traces, x, hidden, parameters.trace_decay, change)
        starts = new_starts
        n_repairs += 1
        use, time, resource = _overload(problem, starts)
    return starts, n_repairs, time < 0
