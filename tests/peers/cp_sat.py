"""OR-tools' constraint solver CP-SAT on the job shops of the chapter rl/job_shop.

    python -m tests.peers.cp_sat

solves the chapter's published test problems and larger ones, measures the CPU time of the chapter's
choosers beside it, and writes data/benchmarks/job_shop.json. It needs ortools (`make peers`).
"""

import json
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ortools.sat.python import cp_model

from lib.job_shop import learn_values, lower_bound, random_problem, repair, serial_schedule
from lib.trials import Seeds

RESULTS = Path(__file__).parents[2] / "data" / "benchmarks" / "job_shop.json"
# the published scale of the chapter
SEED = 3064
N_LEARN = 50
N_TEST = 60
N_SEEDS = 10
N_LARGE = 30
LARGE_JOBS = 20
# for a large problem: CPU seconds after which its best schedule is noted, and the limit of the clock
MOMENTS = (0.1, 1.0, 5.0)
CLOCK_LIMIT = 15.0


class Solutions(cp_model.CpSolverSolutionCallback):
    """Notes when the solver found which length, in CPU seconds since `began`."""

    def __init__(self, began):
        super().__init__()
        self.began = began
        self.found = []

    def on_solution_callback(self):
        seconds = time.process_time() - self.began
        self.found.append((seconds, int(self.objective_value)))


def solve(problem, clock_limit=CLOCK_LIMIT):
    """Solve a problem with one worker that begins with the schedule built task by task.

    Returns
    -------
    starts : ndarray of shape (n_jobs, n_tasks)
    found : list of (CPU seconds, length)
        Better and better schedules; the time includes making the model.
    seconds : float
        CPU time altogether.
    is_optimal : bool
        Whether the last one is proven to be the shortest.
    """
    began = time.process_time()
    first = serial_schedule(problem)
    longest = int((first + problem.durations).max())
    model = cp_model.CpModel()
    starts = {}
    tasks = {}
    for place in np.ndindex(first.shape):
        starts[place] = model.new_int_var(0, longest, "")
        model.add_hint(starts[place], int(first[place]))
        duration = int(problem.durations[place])
        tasks[place] = model.new_fixed_size_interval_var(starts[place], duration, "")
    for job, task in starts:
        if task > 0:
            end_before = starts[job, task - 1] + int(problem.durations[job, task - 1])
            model.add(starts[job, task] >= end_before)
    for resource, capacity in enumerate(problem.capacities):
        users = [place for place in tasks if problem.resources[place] == resource]
        demands = [int(problem.demands[place]) for place in users]
        model.add_cumulative([tasks[place] for place in users], demands, int(capacity))
    length = model.new_int_var(lower_bound(problem), longest, "")
    for place in starts:
        model.add(length >= starts[place] + int(problem.durations[place]))
    model.minimize(length)

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = clock_limit
    solutions = Solutions(began)
    status = solver.solve(model, solutions)
    seconds = time.process_time() - began
    values = np.array([solver.value(start) for start in starts.values()]).reshape(first.shape)
    return values, solutions.found, seconds, status == cp_model.OPTIMAL


def problems_of_network(run):
    """The test problems of a network of the chapter."""
    rng = Seeds(SEED, (run,)).rng("problems")
    return [random_problem(rng) for _ in range(N_LEARN + N_TEST)][N_LEARN:]


def large_problem(number):
    """A problem of the chapter's section on larger shops."""
    return random_problem(Seeds(SEED).rng("large", number), n_jobs=LARGE_JOBS)


def measure_test_problems():
    """Yield the optimum of each test problem, and the solver's time."""
    for run in range(N_SEEDS):
        for number, problem in enumerate(problems_of_network(run)):
            starts, _, seconds, is_optimal = solve(problem)
            yield {
                "jobs": len(starts),
                "run": run,
                "problem": number,
                "bound": lower_bound(problem),
                "chooser": "solver",
                "length": int((starts + problem.durations).max()),
                "optimal": is_optimal,
                "seconds": round(seconds, 5),
            }


def measure_large_problems():
    """Yield the best schedule of each large problem after some seconds."""
    for number in range(N_LARGE):
        problem = large_problem(number)
        _, found, seconds, is_optimal = solve(problem)
        for moment in MOMENTS:
            lengths = [length for when, length in found if when <= moment]
            built = int((serial_schedule(problem) + problem.durations).max())
            yield {
                "jobs": LARGE_JOBS,
                "run": -1,
                "problem": number,
                "bound": lower_bound(problem),
                "chooser": f"solver, {moment:g} s",
                "length": min([built, *lengths]),
                "optimal": is_optimal and seconds <= moment,
                "seconds": round(min(seconds, moment), 5),
            }


def measure_choosers(jobs, problems, n_repeats=5):
    """Yield the CPU time of one schedule by each chooser: the shortest of some repetitions."""
    rng = np.random.default_rng(0)
    learned = learn_values([random_problem(rng) for _ in range(N_LEARN)], 2000, seed=0)
    choosers = {"learned": learned, "growth": "growth", "successors": "successors"}
    choosers |= {"random": "random", "serial": None}
    for name, chooser in choosers.items():
        for number, problem in enumerate(problems):
            seconds = []
            for k in range(n_repeats):
                began = time.process_time()
                if chooser is None:
                    starts = serial_schedule(problem)
                else:
                    starts, _ = repair(problem, chooser, noise=0.01, seed=k)
                seconds.append(time.process_time() - began)
            yield {
                "jobs": jobs,
                "run": 0 if jobs == 5 else -1,
                "problem": number,
                "bound": lower_bound(problem),
                "chooser": name,
                "length": int((starts + problem.durations).max()),
                "optimal": False,
                "seconds": round(min(seconds), 7),
            }


def main():
    from tests.benchmarks.run import machine

    rows = [*measure_test_problems()]
    rows += measure_choosers(5, problems_of_network(0))
    rows += measure_choosers(LARGE_JOBS, [large_problem(number) for number in range(N_LARGE)])
    rows += measure_large_problems()
    details = machine() | {
        "ortools": version("ortools"),
        "command": "python -m tests.peers.cp_sat",
        "date": date.today().isoformat(),
    }
    lines = ",\n".join(json.dumps(row) for row in rows)
    text = f'{{"machine": {json.dumps(details)},\n"rows": [\n{lines}\n]}}\n'
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
