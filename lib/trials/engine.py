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

from lib.trials.notes import write_note
from lib.trials.processes import ForkserverContext, Process
from lib.trials.store import require_same_runtime, runtime_fingerprint

DEATHS = 3  # of workers that an experiment survives without finishing a block in between
TIMEOUT = 10  # seconds in which a scheduler must answer and have a worker
PATIENCE = 30  # times TIMEOUT for which a cluster may be without workers
FEWER = "perhaps for want of memory: try fewer at once"


class WorkersDiedError(RuntimeError):
    """Worker processes ended again and again before a block was finished."""


def run_blocks(run, blocks, n_jobs=1, engine="local", name="trials"):
    """Call ``run(block)`` for each block and yield (number, result) as they finish, in any order.

    All blocks run in worker processes, even if there is only one worker. Workers have lib and what
    they are sent, but nothing that was changed in this process, so that results are the same for
    any number of workers. (Blocks run in this process only where it may have no children.) The
    blocks of a worker that dies are run again by another one.

    Parameters
    ----------
    run : callable that can be pickled
    blocks : dict of int to block
        Each block is sent alone.
    n_jobs : int
        Number of processes, -1 for all cores. A cluster uses all its workers instead.
    engine : str
        "local", or the address of a Dask scheduler.
    name : str
        Name of the experiment, for its notes.

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
    if engine == "local":
        yield from _on_this_machine(run, blocks, n_jobs, name)
    else:
        yield from _on_cluster(run, blocks, engine)


def _on_this_machine(run, blocks, n_jobs, name):
    """Run blocks in processes of this machine, again and again while workers die."""
    # A daemon, such as a worker of somebody's multiprocessing.Pool, may have no children.
    if current_process().daemon:
        yield from ((number, run(block)) for number, block in blocks.items())
        return
    n_processes = min(effective_n_jobs(n_jobs), len(blocks))
    waiting = dict(blocks)
    deaths = 0  # since the last block that was finished
    while waiting:
        try:
            for number, result in _in_processes(run, dict(waiting), n_processes):
                deaths = 0
                del waiting[number]
                yield number, result
        except BrokenProcessPool as error:
            deaths += 1
            write_note("died", name, blocks=len(waiting))
            if deaths == DEATHS:
                raise WorkersDiedError(
                    f"worker processes died {DEATHS} times in a row, {FEWER}"
                ) from error


def _in_processes(run, blocks, n_processes):
    """Run blocks in the processes of the pool; stop them all when one fails or the caller stops."""
    pool = _pool(n_processes, os.getpid(), tuple(os.environ.items()))
    numbers = {}
    try:
        for number, block in blocks.items():
            call = wrap_non_picklable_objects(partial(run, block))
            numbers[pool.submit(call)] = number
        for future in as_completed(numbers):
            yield numbers[future], future.result()
    except BaseException:  # GeneratorExit, too: nobody wants the other results
        _pool.cache_clear()
        pool.shutdown(wait=False, cancel_futures=True)
        # Workers would finish blocks that nobody waits for.
        for worker in active_children():
            if type(worker) is Process:
                worker.kill()
        raise


@lru_cache(maxsize=1)
def _pool(n_processes, parent, environment):
    """Return a pool of workers, which the next experiment of this process uses again.

    That is, if the environment is the same.
    """
    modules = [name for name in sys.modules if name.partition(".")[0] == "lib"]
    return ProcessPoolExecutor(
        n_processes, ForkserverContext(modules), initializer=_drop_native_output
    )


def _drop_native_output():
    """Let only Python write to the standard output of this process.

    Compiled libraries leave notes there that no option of theirs silences, as HiGHS of scipy does,
    and they would stand between the lines of whoever has started the experiment.
    """
    try:
        python_output = os.dup(1)
    except OSError:  # there is no standard output
        return
    sys.stdout = os.fdopen(python_output, "w", buffering=1)
    with open(os.devnull, "w") as null_device:
        os.dup2(null_device.fileno(), 1)


# Closing the pool needs a whole Python, which it is not when its modules are torn down.
atexit.register(_pool.cache_clear)


def _on_cluster(run, blocks, address):
    """Run blocks on the workers of the Dask cluster whose scheduler has this address."""
    try:
        import dask.distributed
    except ImportError:
        raise ValueError(
            f"engine={address!r} needs dask.distributed, the optional part `scale` of this "
            "package: pip install 'when-the-model-is-wrong[scale]'"
        ) from None
    try:
        client = dask.distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except Exception as error:  # an address may be wrong in many ways
        raise ConnectionError(
            f"engine={address!r}: no Dask scheduler answers there ({error})"
        ) from error
    with client:
        _check_workers(client, address)
        numbers = {}
        for number, block in blocks.items():
            numbers[client.submit(run, block, pure=False)] = number
        ended = threading.Event()
        watchdog = threading.Thread(
            target=_cancel_without_workers, args=(client, list(numbers), ended), daemon=True
        )
        watchdog.start()
        try:
            for future in dask.distributed.as_completed(numbers, loop=client.loop):
                yield numbers[future], future.result()
        except dask.distributed.KilledWorker as error:
            raise WorkersDiedError(f"workers of {address} died again and again, {FEWER}") from error
        except dask.distributed.CancelledError as error:
            lost = f"its scheduler was lost, or it had no workers for {PATIENCE * TIMEOUT} seconds"
            raise ConnectionError(f"engine={address!r}: the cluster is gone: {lost}") from error
        finally:
            ended.set()


def _cancel_without_workers(client, futures, ended):
    """Cancel all blocks when a cluster stays without workers; Dask would wait for ever."""
    looks_in_vain = 0
    while not ended.wait(TIMEOUT) and client.status == "running":
        if client.scheduler_info()["workers"]:
            looks_in_vain = 0
        else:
            looks_in_vain += 1
        if looks_in_vain == PATIENCE:
            client.cancel(futures)
            return


def _check_workers(client, address):
    """Raise an error if there is no worker, or one that could compute other results."""
    try:
        client.wait_for_workers(1, timeout=TIMEOUT)
    except TimeoutError:
        raise ConnectionError(
            f"engine={address!r}: the Dask scheduler there has no workers"
        ) from None
    for worker, fingerprint in client.run(runtime_fingerprint, on_error="return").items():
        if isinstance(fingerprint, Exception):
            raise RuntimeError(
                f"the worker {worker} cannot import the code of this book: {fingerprint}"
            ) from fingerprint
        require_same_runtime(fingerprint, f"the worker {worker}")
