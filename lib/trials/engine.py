"""Where blocks of trials run: processes of this machine, or the workers of a Dask cluster."""

import atexit
import os
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache, partial
from multiprocessing import active_children, current_process

from joblib import effective_n_jobs, wrap_non_picklable_objects

from lib.trials.notes import tell
from lib.trials.processes import Context, Process
from lib.trials.store import require_same, workplace

DEATHS = 3  # of workers that an experiment survives without finishing a block in between
TIMEOUT = 10  # seconds in which a scheduler must answer and have a worker
PATIENCE = 30  # times TIMEOUT for which a cluster may be without workers
FEWER = "perhaps for want of memory: try fewer at once"


class WorkersDiedError(RuntimeError):
    """Worker processes ended again and again before a block was finished."""


def run_blocks(run, blocks, n_jobs=1, engine="local", name="trials"):
    """Call ``run(block)`` for each block and yield (number, result) as they finish, in any order.

    All run in worker processes, also where there is one: they have lib and what they are sent, and
    nothing that was changed in this process, so that results are the same for any number of them.
    (Only where this process may have no children of its own they run here.) A worker that dies
    costs the blocks it was at, which are run again elsewhere.

    Parameters
    ----------
    run : callable that can be pickled
    blocks : dict of int to block
        Each is sent alone.
    n_jobs : int
        Processes, -1 for all cores; a cluster uses all its workers instead.
    engine : str
        "local", or the address of a Dask scheduler.
    name : str
        Of the experiment, in what is told.

    Raises
    ------
    WorkersDiedError
        If workers die `DEATHS` times in a row, or as often at one block as the scheduler allows.
    ConnectionError
        If no scheduler that has workers answers.
    RuntimeError
        If a worker of the cluster has other code, data or versions.
    """
    if not blocks:
        return
    local = engine == "local"
    yield from (
        _on_this_machine(run, blocks, n_jobs, name) if local else _on_cluster(run, blocks, engine)
    )


def _on_this_machine(run, blocks, n_jobs, name):
    # one of somebody's multiprocessing.Pool, which may have no children
    if current_process().daemon:
        yield from ((number, run(block)) for number, block in blocks.items())
        return
    n_processes = min(effective_n_jobs(n_jobs), len(blocks))
    waiting, deaths = dict(blocks), 0
    while waiting:
        try:
            for number, result in _in_processes(run, dict(waiting), n_processes):
                deaths = 0
                del waiting[number]
                yield number, result
        except BrokenProcessPool as error:
            deaths += 1
            tell("died", name, blocks=len(waiting))
            if deaths == DEATHS:
                raise WorkersDiedError(
                    f"worker processes died {DEATHS} times in a row, {FEWER}"
                ) from error


def _in_processes(run, blocks, n_processes):
    pool = _pool(n_processes, os.getpid(), tuple(os.environ.items()))
    try:
        calls = {
            number: wrap_non_picklable_objects(partial(run, block))
            for number, block in blocks.items()
        }
        futures = {pool.submit(call): number for number, call in calls.items()}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:  # also when nobody wants the rest
        _pool.cache_clear()
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            # of the pool, which would finish blocks that nobody waits for
            if type(worker) is Process:
                worker.kill()
        raise


@lru_cache(maxsize=1)
def _pool(n_processes, parent, environment):
    """Return the workers, which the next experiment of the same process and environment finds there."""
    return ProcessPoolExecutor(
        n_processes, Context(name for name in sys.modules if name.partition(".")[0] == "lib")
    )


atexit.register(_pool.cache_clear)  # while Python is still whole, which closing the pool needs


def _on_cluster(run, blocks, address):
    try:
        import dask.distributed
    except ImportError:
        need = "needs dask.distributed, the optional part `scale` of this package"
        raise ValueError(
            f"engine={address!r} {need}: pip install 'when-the-model-is-wrong[scale]'"
        ) from None
    try:
        client = dask.distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except Exception as error:  # an address may be wrong in many ways
        raise ConnectionError(
            f"engine={address!r}: no Dask scheduler answers there ({error})"
        ) from error
    with client:
        _check_workers(client, address)
        futures = {
            client.submit(run, block, pure=False): number for number, block in blocks.items()
        }
        ended = threading.Event()
        threading.Thread(
            target=_cancel_without_workers, args=(client, list(futures), ended), daemon=True
        ).start()
        try:
            for future in dask.distributed.as_completed(futures, loop=client.loop):
                yield futures[future], future.result()
        except dask.distributed.KilledWorker as error:
            raise WorkersDiedError(f"workers of {address} died again and again, {FEWER}") from error
        except dask.distributed.CancelledError as error:
            lost = f"its scheduler was lost, or it had no workers for {PATIENCE * TIMEOUT} seconds"
            raise ConnectionError(f"engine={address!r}: the cluster is gone: {lost}") from error
        finally:
            ended.set()


def _cancel_without_workers(client, futures, ended):
    """Cancel all blocks when a cluster stays without workers, for which Dask would wait for ever."""
    without = 0
    while not ended.wait(TIMEOUT) and client.status == "running":
        without = 0 if client.scheduler_info()["workers"] else without + 1
        if without == PATIENCE:
            client.cancel(futures)
            return


def _check_workers(client, address):
    """Raise an error if there is no worker, or if a worker's results could differ from those made here."""
    try:
        client.wait_for_workers(1, timeout=TIMEOUT)
    except TimeoutError:
        raise ConnectionError(
            f"engine={address!r}: the Dask scheduler there has no workers"
        ) from None
    for worker, there in client.run(workplace, on_error="return").items():
        if isinstance(there, Exception):
            raise RuntimeError(
                f"the worker {worker} cannot import the code of this book: {there}"
            ) from there
        require_same(there, f"the worker {worker}")
