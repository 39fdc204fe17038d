"""Engines: the same results wherever trials run, whatever dies on the way, in one thread each."""

import gc
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import numpy as np
import pytest
from joblib import Parallel
from logged_trials import assert_same
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from lib import trials
from lib.base.files import LIB
from lib.trials import engine, runner, store
from lib.trials.engine import WorkersDiedError, run_blocks

PLACES = ("one process", "two processes", pytest.param("cluster", marks=pytest.mark.slow))
NOWHERE = "tcp://127.0.0.1:1"


def local_cluster(**settings):
    # slow to import, for the processes that import this module
    from dask.distributed import LocalCluster

    gc.collect()  # a client that is collected while a cluster starts waits for ever
    return LocalCluster(dashboard_address=":0", memory_limit=0, **settings)


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes, forked, as importing everything anew takes them many seconds."""
    import dask

    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "fork"}),
        local_cluster(n_workers=2, threads_per_worker=1, processes=True) as two_workers,
    ):
        yield two_workers


def arguments(request):
    """Where trials run, as arguments of an experiment."""
    if request.param == "cluster":
        return {"engine": request.getfixturevalue("cluster").scheduler_address}
    return {"n_jobs": 2 if request.param == "two processes" else 1}


place = pytest.fixture(params=PLACES)(arguments)
# where processes may die
processes = pytest.fixture(params=PLACES[1:])(arguments)
# not in processes of this machine, which an error would end
without_workers = pytest.fixture(params=PLACES[::2])(arguments)


SPEAKING = """
import os
from lib.trials.engine import run_blocks

def speak(block):
    os.write(1, b"a library\\n")
    print("a trial")
    return block

print(list(run_blocks(speak, {0: "block"})))
"""


def test_what_libraries_print_is_dropped_and_what_trials_print_is_not():
    command = [sys.executable, "-c", SPEAKING]
    process = subprocess.run(command, cwd=LIB.parent, capture_output=True, text=True)
    assert process.stdout == "a trial\n[(0, 'block')]\n", process.stderr


def run(trial, n_trials, **settings):
    return trials.run(trial, n_trials=n_trials, seed=5, **settings)


def random_number(seeds):
    return {"index": seeds.number, "value": seeds.rng().random()}


def random_number_or_death(seeds, folder):
    """Leave a mark that the trial was run; the third kills its worker the first time."""
    if seeds.number == 3 and not (folder / "3-0").exists():
        (folder / "3-0").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    n_runs = len(list(folder.glob(f"{seeds.number}-*")))
    (folder / f"{seeds.number}-{n_runs}").touch()
    return random_number(seeds)


def kill_worker(seeds):
    os.kill(os.getpid(), signal.SIGKILL)


def unlucky(seeds):
    if seeds.number == 5:
        raise ZeroDivisionError("out of luck")
    return random_number(seeds)


def process(seeds):
    time.sleep(0.1)
    return {"process": os.getpid()}


def most_threads():
    """Return how many threads the numerical library with the most of them may use."""
    return max(library["num_threads"] for library in threadpool_info())


def threads(seeds):
    """Threads at the start and a while later, and where nested parallel work would run."""
    np.ones((2, 2)) @ np.ones((2, 2))  # starts those of numpy
    threads_at_start = most_threads()
    time.sleep(0.02 * (seeds.number % 3))
    return {
        "at start": threads_at_start,
        "at end": most_threads(),
        "nested": type(Parallel()._backend).__name__,
    }


def allow(n_threads):
    """Let libraries use so many threads, as if they had been started so."""
    threadpool_limits(n_threads)
    OpenBLASController.clear_controlling_thread(force=True)


def sleepy(seconds):
    time.sleep(seconds)
    return seconds


class TestEverywhereTheSame:
    def test_trials_come_in_order_with_their_own_seeds(self, place):
        frame = run(random_number, 9, **place)
        assert frame["index"].tolist() == list(range(9))
        # what numpy documents for independent streams
        sequences = np.random.SeedSequence(5).spawn(9)
        assert frame["value"].tolist() == [np.random.default_rng(s).random() for s in sequences]
        assert_same(run(random_number, 2, seconds=7.0), frame[:2])

    def test_errors_of_a_trial_are_told_as_they_are(self, without_workers):
        with pytest.raises(ZeroDivisionError, match="out of luck"):
            run(unlucky, 8, **without_workers)

    def test_all_workers_are_used(self, processes):
        assert run(process, 12, seconds=2.0, **processes)["process"].nunique() == 2

    def test_results_come_as_they_are_ready(self, processes):
        blocks = {0: 1.0, 1: 0.0, 2: 0.05, 3: 0.0}
        results = list(run_blocks(sleepy, blocks, **processes))
        assert dict(results) == blocks
        assert results[0] != (0, 1.0)


class TestEngineArgument:
    @pytest.mark.slow
    @pytest.mark.parametrize("address", [NOWHERE, "tls://127.0.0.1:1"])
    def test_no_scheduler(self, address, monkeypatch):
        monkeypatch.setattr(engine, "TIMEOUT", 0.5)
        start = time.monotonic()
        with pytest.raises(
            ConnectionError, match=f"engine='{address}': no Dask scheduler answers there"
        ):
            run(random_number, 1, engine=address)
        assert time.monotonic() - start < 5

    @pytest.mark.slow
    def test_no_workers(self, monkeypatch):
        monkeypatch.setattr(engine, "TIMEOUT", 0.5)
        with (
            local_cluster(n_workers=0, threads_per_worker=1, processes=False) as empty,
            pytest.raises(ConnectionError, match="the Dask scheduler there has no workers"),
        ):
            run(random_number, 1, engine=empty.scheduler_address)

    def test_without_distributed(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "dask.distributed", None)
        with pytest.raises(
            ValueError, match=r"engine='tcp://127.0.0.1:1' needs .*: pip install '.*\[scale\]'"
        ):
            run(random_number, 1, engine=NOWHERE)

    @pytest.mark.slow
    def test_workers_with_other_code_or_versions(self, cluster, monkeypatch):
        fingerprint = store.runtime_fingerprint() | {"lib": "other", "numpy": "0"}
        monkeypatch.setattr(engine, "runtime_fingerprint", partial(dict, fingerprint))
        with pytest.raises(
            RuntimeError, match=r"the worker tcp://\S+ has another lib, numpy than this process"
        ):
            run(random_number, 1, engine=cluster.scheduler_address)

    @pytest.mark.slow
    def test_workers_without_the_code(self, cluster, monkeypatch):
        def import_error():
            raise ModuleNotFoundError("No module named 'lib'")

        monkeypatch.setattr(engine, "runtime_fingerprint", import_error)
        with pytest.raises(
            RuntimeError, match="cannot import the code of this book: No module named 'lib'"
        ):
            run(random_number, 1, engine=cluster.scheduler_address)

    @pytest.mark.slow
    def test_code_that_changes_while_it_runs(self, cluster, monkeypatch):
        # no look at the cluster before it begins
        for name in ("runtime_fingerprint", "require_same_runtime"):
            monkeypatch.setattr(engine, name, lambda *_: None)
        fingerprint = store.runtime_fingerprint() | {"lib": "other"}
        monkeypatch.setattr(store, "runtime_fingerprint", partial(dict, fingerprint))
        with pytest.raises(RuntimeError, match="a worker has another lib than this process"):
            run(random_number, 1, engine=cluster.scheduler_address)

    def test_an_error_between_two_blocks_leaves_no_engine_behind(
        self, without_workers, monkeypatch
    ):
        backend = type(Parallel()._backend)
        monkeypatch.setattr(runner, "decode", None)
        with pytest.raises(TypeError) as error:
            run(random_number, 4, seconds=2.0, **without_workers)
        assert type(Parallel()._backend) is backend
        assert error.tb


@pytest.mark.slow
class TestOneThread:
    """Libraries may use two threads before; a trial may use one."""

    def assert_one_thread(self, frame):
        assert (frame[["at start", "at end"]] == 1).all(axis=None)
        assert set(frame["nested"]) == {"SequentialBackend"}

    @pytest.fixture
    def two(self):
        allow(2)
        assert most_threads() == 2
        yield
        allow(1)

    def test_this_process(self, two):
        self.assert_one_thread(run(threads, 3))
        assert most_threads() == 2

    def test_two_processes(self):
        self.assert_one_thread(run(threads, 4, n_jobs=2, seconds=2.0))

    def test_cluster(self, cluster):
        from dask.distributed import Client

        with Client(cluster, set_as_default=False) as client:
            client.run(allow, 2)
        self.assert_one_thread(run(threads, 4, engine=cluster.scheduler_address, seconds=2.0))

    def test_a_worker_with_several_threads(self, two):
        with local_cluster(n_workers=1, threads_per_worker=3, processes=False) as several:
            self.assert_one_thread(run(threads, 9, engine=several.scheduler_address, seconds=2.0))


@pytest.mark.slow
class TestDeath:
    def test_one_worker(self, processes, tmp_path):
        """Only blocks that were under way are run again."""
        frame = run(partial(random_number_or_death, folder=tmp_path), 12, seconds=2.0, **processes)
        assert_same(frame, run(random_number, 12))
        runs = [path.name.split("-")[0] for path in tmp_path.iterdir()]
        assert set(runs) == {str(i) for i in range(12)}
        # two blocks of two trials were under way at most
        assert len(runs) <= 12 + 4

    @pytest.mark.parametrize("n_finished", [0, 1])
    def test_those_count_that_follow_each_other(self, n_finished, monkeypatch, caplog):
        """Where each death comes after a block that was finished, all are finished in the end."""

        def dying(_, blocks, n_processes):
            yield from list(blocks.items())[:n_finished]
            raise BrokenProcessPool

        monkeypatch.setattr(engine, "_in_processes", dying)
        blocks = dict(enumerate("abcdefg"))
        if n_finished:
            assert dict(run_blocks(None, blocks, n_jobs=2)) == blocks
        else:
            with pytest.raises(
                WorkersDiedError, match="died 3 times in a row, perhaps for want of memory"
            ):
                list(run_blocks(None, blocks, n_jobs=2))
        messages = [record.message for record in caplog.records]
        n_deaths = sum("worker process died" in message for message in messages)
        # one for each of the seven blocks, or the three in a row that are allowed
        assert n_deaths == (7 if n_finished else 3)

    def test_of_all_workers_of_a_cluster(self, cluster, monkeypatch):
        monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
        with pytest.raises(
            WorkersDiedError, match=f"{cluster.scheduler_address} died again and again"
        ):
            run(kill_worker, 2, engine=cluster.scheduler_address)
        assert_same(run(random_number, 2, engine=cluster.scheduler_address), run(random_number, 2))

    def test_of_the_scheduler(self):
        with local_cluster(n_workers=1, threads_per_worker=1, processes=False) as doomed:
            results = run_blocks(sleepy, {0: 0.0, 1: 0.5, 2: 0.5}, engine=doomed.scheduler_address)
            assert next(results) == (0, 0.0)
        with pytest.raises(
            ConnectionError, match=f"'{doomed.scheduler_address}': the cluster is gone"
        ):
            list(results)

    def test_of_all_workers_for_good(self, monkeypatch):
        """A cluster without workers would let its scheduler wait for ever."""
        monkeypatch.setattr(engine, "PATIENCE", 2)
        with local_cluster(n_workers=1, threads_per_worker=1, processes=False) as doomed:
            results = run_blocks(sleepy, {0: 0.0, 1: 30.0}, engine=doomed.scheduler_address)
            assert next(results) == (0, 0.0)
            monkeypatch.setattr(engine, "TIMEOUT", 0.3)
            doomed.scale(0)
            with pytest.raises(ConnectionError, match="no workers"):
                list(results)
