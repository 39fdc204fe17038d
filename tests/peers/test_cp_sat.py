"""CP-SAT's schedules keep every limit, and none of ours is shorter; the recorded ones are these."""

import numpy as np
import pytest

pytest.importorskip("ortools", reason="no ortools; `make peers` installs it")

from peers.cp_sat import large_problem, problems_of_network, solve

from lib.benchmarks import FOLDER, read_benchmarks
from lib.job_shop import random_problem, repair


def test_no_schedule_is_shorter():
    rng = np.random.default_rng(0)
    for _ in range(10):
        problem = random_problem(rng, n_jobs=3, n_tasks=2)
        starts, _, _, is_optimal = solve(problem)
        ends = starts + problem.durations
        assert is_optimal
        assert (starts >= 0).all()
        assert (starts[:, 1:] >= ends[:, :-1]).all()
        for time in range(ends.max()):
            is_active = (starts <= time) & (time < ends)
            use = np.bincount(problem.resources[is_active], problem.demands[is_active], 3)
            assert (use <= problem.capacities).all()
        tries = [repair(problem, "random", seed=k)[0] for k in range(200)]
        assert ends.max() <= min((tried + problem.durations).max() for tried in tries)


def test_the_recorded_lengths_are_found_again():
    rows, _ = read_benchmarks(FOLDER / "job_shop.json")
    recorded = rows[rows["chooser"] == "solver"].set_index(["run", "problem"])["length"]
    for number, problem in enumerate(problems_of_network(0)[:5]):
        starts, _, _, _ = solve(problem)
        assert (starts + problem.durations).max() == recorded[0, number]
    assert large_problem(0).durations.shape == (20, 6)
