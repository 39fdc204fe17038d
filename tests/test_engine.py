"""The trial runner: the same results wherever trials run, whatever dies on the way, in one thread each."""

import json
import logging
import os
import pickle
import signal
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel
from joblib.externals.loky.process_executor import BrokenProcessPool
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from lib import datasets
from lib.experiments import cia_curves, cia_learning_curves, cia_panels, uci, uci_confusions
from lib.trials import engine
from lib.trials import runner as trials
from lib.trials.engine import WorkersDiedError, run_blocks
from lib.trials.notes import KINDS, tell
from lib.trials.runner import cut, keyed_seed, run_cases, run_trials, trial_seeds
from lib.trials.store import ENVIRONMENT

pytestmark = pytest.mark.xdist_group("workers")
PLACES = ("one process", "two processes", "cluster")
NOWHERE = "tcp://127.0.0.1:1"
same = partial(pd.testing.assert_frame_equal, check_exact=True)


def local_cluster(**settings):
    from dask.distributed import LocalCluster  # slow to import, for the processes that import this module

    return LocalCluster(dashboard_address=":0", memory_limit=0, **settings)


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes, forked, as importing everything anew takes them many seconds."""
    import dask

    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "fork"}),
        local_cluster(n_workers=2, threads_per_worker=1, processes=True) as made,
    ):
        yield made


@pytest.fixture(params=PLACES[::2])
def without_workers(request):
    """Where trials run, but for worker processes of this machine, which an error would end."""
    if request.param == "cluster":
        return {"engine": request.getfixturevalue("cluster").scheduler_address}
    return {"n_jobs": 1}


@pytest.fixture(params=PLACES)
def place(request):
    """Where trials run, as arguments of an experiment."""
    if request.param == "cluster":
        return {"engine": request.getfixturevalue("cluster").scheduler_address}
    return {"n_jobs": 1 + PLACES.index(request.param)}


@pytest.fixture(params=PLACES[1:])
def processes(request):
    """Where trials run, in processes that may die."""
    if request.param == "cluster":
        return {"engine": request.getfixturevalue("cluster").scheduler_address}
    return {"n_jobs": 2}


def drawn(index, seed):
    return pd.DataFrame({"index": [index], "value": np.random.default_rng(seed).random(), "key": str(seed.spawn_key)})


def drawn_once(index, seed, folder):
    """Leave a mark that the trial was run; the third kills its worker the first time."""
    if index == 3 and not (folder / "3-0").exists():
        (folder / "3-0").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / f"{index}-{sum(1 for _ in folder.glob(f'{index}-*'))}").touch()
    return drawn(index, seed)


def killed(index, seed):
    os.kill(os.getpid(), signal.SIGKILL)


def unlucky(index, seed):
    if index == 5:
        raise ZeroDivisionError("out of luck")
    return drawn(index, seed)


def process(index, seed):
    time.sleep(0.1)
    return pd.DataFrame({"index": [index], "process": os.getpid()})


def threads(index, seed):
    """The most threads of a library, at the start and a while later, and where nested parallel work would run."""
    np.ones((2, 2)) @ np.ones((2, 2))
    before = max(found["num_threads"] for found in threadpool_info())
    time.sleep(0.02 * (index % 3))
    after = max(found["num_threads"] for found in threadpool_info())
    nested = Parallel()
    return pd.DataFrame({"before": [before], "after": after, "nested": nested._backend.__class__.__name__})


def allow(n_threads):
    """Let libraries use so many threads, as if they had been started so."""
    threadpool_limits(n_threads)
    OpenBLASController.clear_controlling_thread(force=True)


def sleepy(seconds):
    time.sleep(seconds)
    return seconds


PANELS = {"n_attributes": [3, 5, 14], "n_hidden": 2, "difficulty": 0.85, "sizes": (10, 40), "n_models": 3}
EXPERIMENTS = {
    "random models": partial(cia_panels, **PANELS, learners=("cov", "winnow", "em")),
    "data sets": partial(uci_confusions, ["iris", "soybean-small"], ["winnow", "naive_bayes"], 3),
}


@pytest.fixture(scope="module")
def expected():
    return {name: experiment(n_jobs=1) for name, experiment in EXPERIMENTS.items()}


class TestEverywhereTheSame:
    @pytest.mark.parametrize("name", EXPERIMENTS)
    def test_experiments(self, name, processes, expected):
        same(EXPERIMENTS[name](**processes), expected[name])

    def test_trials_come_in_order_with_their_own_seeds(self, place):
        frame = run_trials(drawn, 9, 5, **place)
        assert frame["index"].tolist() == list(range(9))
        assert frame["key"].tolist() == [f"({i},)" for i in range(9)]
        few = run_trials(drawn, 2, 5, seconds=7.0)
        same(few, frame[:2])
        assert frame["value"].tolist() == [np.random.default_rng(s).random() for s in trial_seeds(5, 9)]

    def test_errors_of_a_trial_are_told_as_they_are(self, without_workers):
        with pytest.raises(ZeroDivisionError, match="out of luck"):
            run_trials(unlucky, 8, **without_workers)

    def test_all_workers_are_used(self, processes):
        assert run_trials(process, 12, seconds=2.0, **processes)["process"].nunique() == 2

    def test_results_come_as_they_are_ready(self, processes):
        blocks = {0: 1.0, 1: 0.0, 2: 0.05, 3: 0.0}
        found = list(run_blocks(sleepy, blocks, **processes))
        assert dict(found) == blocks
        assert found[0] != (0, 1.0)


class TestEngineArgument:
    @pytest.mark.parametrize("wrong", ["loca", "", None, 3, "10.0.0.1:8786", "tcp://", "tcp:// 10.0.0.1"])
    def test_what_is_no_address_is_told_before_any_work(self, wrong, monkeypatch):
        monkeypatch.setattr(cia_curves, "sample_cia", None)
        monkeypatch.setattr(uci, "load_all", None)
        message = 'engine must be "local" or the address of a Dask scheduler, such as "tcp://10.0.0.1:8786"; got '
        for call in (partial(cia_learning_curves, 5, 2, n_jobs=1), uci_confusions, partial(run_trials, None, 1)):
            with pytest.raises(ValueError, match=message) as error:
                call(engine=wrong)
            assert str(error.value).endswith(f"got {wrong!r}")

    @pytest.mark.parametrize("address", [NOWHERE, "tcp://127.0.0.1", "tls://127.0.0.1:1", "ucx://127.0.0.1:1"])
    def test_no_scheduler(self, address, monkeypatch):
        monkeypatch.setattr(engine, "TIMEOUT", 0.5)
        start = time.monotonic()
        with pytest.raises(ConnectionError, match=f"engine='{address}': no Dask scheduler answers there"):
            run_trials(drawn, 1, engine=address)
        assert time.monotonic() - start < 5

    def test_no_workers(self, monkeypatch):
        monkeypatch.setattr(engine, "TIMEOUT", 0.5)
        with (
            local_cluster(n_workers=0, threads_per_worker=1, processes=False) as empty,
            pytest.raises(ConnectionError, match="the Dask scheduler there has no workers"),
        ):
            run_trials(drawn, 1, engine=empty.scheduler_address)

    def test_without_distributed(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "dask.distributed", None)
        with pytest.raises(ValueError, match=r"engine='tcp://127.0.0.1:1' needs .*: pip install '.*\[scale\]'"):
            run_trials(drawn, 1, engine=NOWHERE)

    def test_workers_with_other_code_or_versions(self, cluster, monkeypatch):
        monkeypatch.setattr(engine, "ENVIRONMENT", ENVIRONMENT | {"lib": "other", "numpy": "0"})
        with pytest.raises(RuntimeError, match=r"the worker tcp://\S+ has another lib, numpy than this machine"):
            run_trials(drawn, 1, engine=cluster.scheduler_address)

    def test_workers_without_the_code(self, cluster, monkeypatch):
        def lost():
            raise ModuleNotFoundError("No module named 'lib'")

        monkeypatch.setattr(engine, "_environment", lost)
        with pytest.raises(RuntimeError, match="cannot import the code of this book: No module named 'lib'"):
            run_trials(drawn, 1, engine=cluster.scheduler_address)

    def test_code_that_changes_while_it_runs(self, cluster, monkeypatch):
        monkeypatch.setattr(trials, "ENVIRONMENT", ENVIRONMENT | {"lib": "other"})
        with pytest.raises(RuntimeError, match="a worker has another lib than this process"):
            run_trials(drawn, 1, engine=cluster.scheduler_address)

    def test_an_error_between_two_blocks_leaves_no_engine_behind(self, without_workers, monkeypatch):
        before = type(Parallel()._backend)
        monkeypatch.setattr(trials, "decode", None)
        with pytest.raises(TypeError) as error:
            run_trials(drawn, 4, seconds=2.0, **without_workers)
        assert type(Parallel()._backend) is before
        assert error.tb


class TestOneThread:
    """Libraries may use two threads before; a trial may use one."""

    def alone(self, frame):
        assert (frame[["before", "after"]] == 1).all(axis=None)
        assert set(frame["nested"]) == {"SequentialBackend"}

    @pytest.fixture
    def two(self):
        allow(2)
        assert max(found["num_threads"] for found in threadpool_info()) == 2
        yield
        allow(1)

    def test_this_process(self, two):
        self.alone(run_trials(threads, 3))
        assert max(found["num_threads"] for found in threadpool_info()) == 2

    def test_two_processes(self):
        self.alone(run_trials(threads, 4, n_jobs=2, seconds=2.0))

    def test_cluster(self, cluster):
        from dask.distributed import Client

        with Client(cluster, set_as_default=False) as client:
            client.run(allow, 2)
        self.alone(run_trials(threads, 4, engine=cluster.scheduler_address, seconds=2.0))

    def test_a_worker_with_several_threads(self, two):
        with local_cluster(n_workers=1, threads_per_worker=3, processes=False) as several:
            self.alone(run_trials(threads, 9, engine=several.scheduler_address, seconds=2.0))


works = st.lists(st.tuples(st.floats(0, 5), st.sampled_from("ab")), min_size=1, max_size=40)


class TestBlocks:
    @given(works, st.floats(0.1, 10))
    def test_cuts(self, cases, target):
        """All cases in their order, one group a block, which ends as soon as its work or its group does."""
        seconds, groups = zip(*cases, strict=True)
        blocks = [range(len(cases))[part] for part in cut(seconds, groups, target)]
        assert [i for block in blocks for i in block] == list(range(len(cases)))
        for block in blocks:
            assert len({groups[i] for i in block}) == 1
            assert sum(seconds[i] for i in block[:-1]) < target or len(block) == 1
            end = block[-1] + 1
            assert sum(seconds[i] for i in block) >= target or end == len(cases) or groups[end] != groups[end - 1]

    @pytest.mark.parametrize("cases", [20, 21])
    def test_more_trials_leave_whole_blocks_as_they_are(self, cases):
        assert cut([0.3] * cases, [""] * cases)[:2] == cut([0.3] * 14, [""] * 14) == [slice(0, 7), slice(7, 14)]

    def test_a_block_carries_one_data_set_only(self, monkeypatch):
        sent = []

        def run(function, blocks, *_):
            sent.extend(blocks.values())
            return ((number, function(block)) for number, block in blocks.items())

        monkeypatch.setattr(trials, "run_blocks", run)
        EXPERIMENTS["data sets"]()
        assert len(sent) == 4
        for block in sent:
            [name] = {dataset.name for dataset, *_ in block}
            assert len(pickle.dumps(block)) < len(pickle.dumps(datasets.load(name))) + 10_000

    def test_progress(self, tmp_path, monkeypatch):
        shown = []

        def trial(index):
            shown.append((tmp_path / "progress").read_text(encoding="utf-8") if index else None)
            return pd.DataFrame({"index": [index]})

        monkeypatch.setenv("BOOK_PROGRESS", str(tmp_path / "progress"))
        words = ["iris", "wählen", "corral"]
        run_cases(trial, [(0,), (1,), (2,)], groups=words, description="ELR")
        assert shown == [None, "ELR iris 1/3", "ELR wählen 2/3"]
        assert (tmp_path / "progress").read_text(encoding="utf-8") == "ELR corral 3/3"
        run_trials(drawn, 3, seconds=1.0)
        assert (tmp_path / "progress").read_text(encoding="utf-8") == "2/2"


class TestSeeds:
    @given(st.integers(0, 2**64), st.integers(1, 20), st.integers(1, 20))
    def test_a_trial_s_seed_depends_on_its_number_only(self, seed, few, many):
        pairs = zip(trial_seeds(seed, few), trial_seeds(seed, many), strict=False)
        assert all(a.generate_state(2).tolist() == b.generate_state(2).tolist() for a, b in pairs)
        spawned = np.random.SeedSequence(seed).spawn(many)
        states = [tuple(s.generate_state(2)) for s in trial_seeds(seed, many)]
        assert states == [tuple(s.generate_state(2)) for s in spawned]
        assert len(set(states)) == many

    def test_keys_make_independent_seeds(self):
        seeds = [keyed_seed(s, *key) for s in trial_seeds(0, 2) for key in [(0,), (1,), (1, 10), (1, 20)]]
        assert len({tuple(s.generate_state(2)) for s in seeds}) == 8


class TestNotes:
    DETAILS = {"blocks": 3, "all": 7, "path": "a/b.block", "why": "no room"}

    @pytest.mark.parametrize("kind", KINDS)
    def test_logged(self, kind, caplog, monkeypatch):
        monkeypatch.delenv("BOOK_NOTES", raising=False)
        with caplog.at_level(logging.INFO, "lib.experiments"):
            tell(kind, "ELR", **self.DETAILS)
        [record] = caplog.records
        assert record.levelno == KINDS[kind][0]
        assert record.message.startswith("ELR: ")

    def test_lines_of_a_file(self, tmp_path, monkeypatch, caplog):
        monkeypatch.setenv("BOOK_NOTES", str(tmp_path / "notes"))
        tell("found", "wählen", blocks=3, all=7)
        tell("not stored", "ELR", why="no\nroom")
        first, second = map(json.loads, (tmp_path / "notes").read_text(encoding="utf-8").splitlines())
        assert first == {
            "kind": "found",
            "message": "wählen: 3 of 7 blocks found, not run again",
            "blocks": 3,
            "all": 7,
        }
        assert second["why"] == "no\nroom"
        assert not caplog.records


class TestDeath:
    def test_one_worker(self, processes, tmp_path):
        """Only blocks that were under way are run again."""
        frame = run_trials(partial(drawn_once, folder=tmp_path), 12, seconds=2.0, **processes)
        same(frame, run_trials(drawn, 12))
        runs = [path.name.split("-")[0] for path in tmp_path.iterdir()]
        assert set(runs) == {str(i) for i in range(12)}
        assert len(runs) <= 12 + 4

    @pytest.mark.parametrize("n_finished", [0, 1])
    def test_those_count_that_follow_each_other(self, n_finished, monkeypatch, caplog):
        """Where each death comes after a block that was finished, all are finished in the end."""

        class Dying:
            def __init__(self, *_, **__):
                pass

            def __call__(self, tasks):
                yield from ((number, block) for _, (number, _, block), _ in list(tasks)[:n_finished])
                raise BrokenProcessPool

        monkeypatch.setattr(engine, "Parallel", Dying)
        blocks = dict(enumerate("abcdefg"))
        if n_finished:
            assert dict(run_blocks(None, blocks)) == blocks
        else:
            with pytest.raises(WorkersDiedError, match="died 3 times in a row, perhaps for want of memory"):
                list(run_blocks(None, blocks))
        assert len([record for record in caplog.records if "worker process died" in record.message]) == (
            7 if n_finished else 3
        )

    def test_of_all_processes(self, monkeypatch):
        monkeypatch.setattr(engine, "DEATHS", 1)
        with pytest.raises(WorkersDiedError, match="died 1 times in a row"):
            run_trials(killed, 2, n_jobs=2, seconds=2.0)

    def test_of_all_workers_of_a_cluster(self, cluster, monkeypatch):
        monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
        with pytest.raises(WorkersDiedError, match=f"{cluster.scheduler_address} died again and again"):
            run_trials(killed, 2, engine=cluster.scheduler_address)
        same(run_trials(drawn, 2, engine=cluster.scheduler_address), run_trials(drawn, 2))

    def test_of_the_scheduler(self):
        with local_cluster(n_workers=1, threads_per_worker=1, processes=False) as doomed:
            found = run_blocks(sleepy, {0: 0.0, 1: 0.5, 2: 0.5}, engine=doomed.scheduler_address)
            assert next(found) == (0, 0.0)
        with pytest.raises(ConnectionError, match=f"'{doomed.scheduler_address}': the cluster is gone"):
            list(found)

    def test_of_all_workers_for_good(self, monkeypatch):
        """A cluster without workers would let its scheduler wait for ever."""
        monkeypatch.setattr(engine, "PATIENCE", 2)
        with local_cluster(n_workers=1, threads_per_worker=1, processes=False) as doomed:
            found = run_blocks(sleepy, {0: 0.0, 1: 30.0}, engine=doomed.scheduler_address)
            assert next(found) == (0, 0.0)
            monkeypatch.setattr(engine, "TIMEOUT", 0.3)
            doomed.scale(0)
            with pytest.raises(ConnectionError, match="no workers"):
                list(found)
