"""The trial runner: seeded, in blocks, in parallel, with progress.

Results are the same wherever and with however many workers they are computed.
"""

import decimal
import math
import random
import threading
import warnings
from collections.abc import Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import cloudpickle
import numpy as np
import pandas as pd
import sklearn
from joblib import parallel_config
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from lib.base.validation import check_integer
from lib.trials.engine import run_blocks
from lib.trials.notes import write_note
from lib.trials.options import check_workers, current_options
from lib.trials.seeds import Seeds
from lib.trials.store import decode, encode, open_store, require_same_runtime, runtime_fingerprint

BLOCK_SECONDS = 2.0  # of work in a block, roughly
# One block at a time in a process: threads of a Dask worker would share the limit on threads.
_ONE_BLOCK = threading.RLock()


def run(
    trial, cases=((),), n_trials=None, seed=0, seconds=0.5, name=None, n_jobs=None, engine=None
):
    """Run ``trial(seeds, *case)`` for each case; return all rows, in the order of cases and trials.

    Trials are cut into blocks of about `BLOCK_SECONDS` of work, each of which computes in one
    thread. How they are cut depends on neither `n_jobs` nor `engine`, nor does anything else in the
    result. Where a folder for results is set (see `lib.trials.use`), each block is stored when it
    is finished, and blocks that are there are not run again.

    Parameters
    ----------
    trial : callable
        Gets `Seeds` and a case, and yields or returns rows as dicts, or returns a DataFrame, of
        numbers, truth values and text. It may be defined in a notebook: its code, and the values
        and functions of the notebook that it uses, are then part of the key under which blocks are
        stored. Its random numbers must come from the seeds. It runs in a process of its own, where
        nothing holds that a cell has changed in a module, in options of a package or in the
        environment. What it reads from files other than data/ is in no key: a cell reads it, and
        the trial uses the value.
    cases : iterable, at least one
        Tuples of arguments; what is no tuple is one argument.
    n_trials : int, optional
        Trials a case. Trial i has the seeds with key (i,), the same for all cases. Without it there
        is one trial a case, and all have the same seeds, with key (): the trial then derives its
        own, by the name of its data set.
    seed : int, at least 0
    seconds : float, or a sequence with one for each case
        Roughly how long a trial takes.
    name : str, optional
        Name of the experiment, for progress and notes; by default that of the function.
    n_jobs, engine : optional
        Instead of those set by `lib.trials.use`.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        Before any trial runs, if an argument is out of range.
    RuntimeError
        If a worker has other code, data or versions, or workers die again and again.
    TypeError
        If the trial cannot be sent to another process, or its rows hold anything but numbers, truth
        values and text.
    ConnectionError
        If no Dask scheduler that has workers answers.
    """
    seed = check_integer("seed", seed, 0)
    cases = [case if isinstance(case, tuple) else (case,) for case in cases]
    if not cases:
        raise ValueError("cases must hold at least one case; got none")
    if n_trials is None:
        keys = [()]
    else:
        keys = [(i,) for i in range(check_integer("n_trials", n_trials, 1))]
    calls = [(Seeds(seed, key), *case) for case in cases for key in keys]
    seconds = np.repeat(np.broadcast_to(seconds, len(cases)), len(keys))
    options = current_options()
    n_jobs = options.n_jobs if n_jobs is None else n_jobs
    engine = options.engine if engine is None else engine
    check_workers(n_jobs, engine)
    name = name or getattr(trial, "__name__", "trials").replace("_", " ")
    return _run(trial, calls, seconds, name, n_jobs, engine)


def _label(_, first=None, *rest):
    """The label of a case in the line of progress: its first argument, if that is or has a name."""
    label = getattr(first, "name", first)
    return label if isinstance(label, str) else ""


def _run(trial, calls, seconds, name, n_jobs, engine):
    """Frame of all calls, from blocks that are stored and blocks that run now.

    A block holds calls of one label only, so that progress can show it.
    """
    labels = [_label(*call) for call in calls]
    slices = cut(seconds, labels)
    blocks = {number: calls[piece] for number, piece in enumerate(slices)}
    block_labels = [labels[piece.start] for piece in slices]
    _require_sendable(trial)
    store = open_store(trial, blocks, name)
    frames = store.read() if store else {}
    to_verify = _choose_to_verify(blocks, frames, name)
    to_run = {}
    for number, block in blocks.items():
        if number not in frames or number in to_verify:
            to_run[number] = block
    results = run_blocks(partial(_run_block, trial), to_run, n_jobs, engine, name)
    n_done = len(blocks) - len(to_run)
    with closing(_with_progress(results, name, block_labels, n_done)) as results:
        for number, (contents, fingerprint) in results:
            require_same_runtime(fingerprint, f"{name}: a worker")
            frame = decode(contents)
            if number in to_verify:
                _require_equal(frame, frames[number], store.paths[number])
            elif store:
                store.write(number, contents)
            frames[number] = frame
    if to_verify:
        write_note("verified", name, blocks=len(to_verify), all=len(blocks))
    return pd.concat([frames[number] for number in blocks], ignore_index=True)


def _require_sendable(trial):
    """Raise TypeError that says what to do unless a trial can be sent to another process."""
    try:
        cloudpickle.dumps(trial)
    except Exception as error:  # of any kind, by whatever it uses
        raise TypeError(
            f"the trial cannot be sent to another process ({error}): make what keeps a state of "
            "its own, such as an open file or a function under functools.cache, inside of it"
        ) from error


def cut(seconds, groups):
    """Slices of consecutive cases; one ends when its work reaches BLOCK_SECONDS or a group ends."""
    slices = []
    start = 0
    work = 0.0
    for i, case_seconds in enumerate(seconds):
        work += case_seconds
        is_last = i + 1 == len(seconds)
        if is_last or work >= BLOCK_SECONDS or groups[i + 1] != groups[i]:
            slices.append(slice(start, i + 1))
            start = i + 1
            work = 0.0
    return slices


def _run_block(trial, cases):
    """Run the cases of a block, with one thread.

    Returns
    -------
    contents : bytes
        The frames of the cases.
    fingerprint : dict
        Of the code and the versions that computed them.
    """
    frames = []
    with (
        _ONE_BLOCK,
        parallel_config("sequential"),
        threadpool_limits(1),
        _restore_options(),
    ):
        for case in cases:
            _seed_global_generators(case[0])
            frames.append(_to_frame(trial(*case)))
    contents = encode(pd.concat(frames, ignore_index=True))
    return contents, runtime_fingerprint()


@contextmanager
def _restore_options():
    """Leave to the next block no option that a trial has changed, and no class that it was sent.

    cloudpickle keeps the classes that it has received; the next block would get the older class.
    Its two trackers are private, and there is no public way to clear them.
    """
    with np.errstate(), warnings.catch_warnings(), decimal.localcontext(), sklearn.config_context():
        try:
            yield
        finally:
            cloudpickle.cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID.clear()
            cloudpickle.cloudpickle._DYNAMIC_CLASS_TRACKER_BY_CLASS.clear()


def _seed_global_generators(seeds):
    """Seed Python's and numpy's global generators, for trials whose code draws from them.

    Trials should draw from their seeds; if they do not, results are still the same everywhere.
    """
    number = int(seeds.sequence("global generators").generate_state(1)[0])
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 - it is for code that uses this one


def _to_frame(rows):
    if isinstance(rows, Mapping):
        rows = [rows]
    return pd.DataFrame(rows)


def _choose_to_verify(blocks, frames, name):
    """Numbers of the stored blocks to run again: a share from the options, drawn at random."""
    verify = current_options().verify
    if not verify:
        return set()
    n_missing = len(blocks) - len(frames)
    if n_missing:
        raise RuntimeError(
            f"{name}: {n_missing} of {len(blocks)} blocks are not stored, or damaged; "
            "`book run` with the same values computes them"
        )
    seed, share = verify
    n_chosen = math.ceil(share * len(frames))
    return set(random.Random(seed).sample(sorted(frames), n_chosen))


def _require_equal(new, stored, path):
    try:
        pd.testing.assert_frame_equal(new, stored, check_exact=True)
    except AssertionError as error:
        raise RuntimeError(
            f"the stored block {path} is not what its trials give now: {error}"
        ) from None


def _with_progress(results, name, labels, n_done):
    """Yield results as they come; show a bar in a terminal, and a line in the options' file."""
    n_blocks = len(labels)
    file = current_options().progress
    with (
        closing(results),
        tqdm(total=n_blocks, initial=n_done, desc=name, disable=None, leave=False) as bar,
    ):
        for number, result in results:
            yield number, result
            n_done += 1
            bar.set_postfix_str(labels[number], refresh=False)
            bar.update()
            if file:
                words = [name, labels[number], f"{n_done}/{n_blocks}"]
                with suppress(OSError):
                    Path(file).write_text(" ".join(filter(None, words)), encoding="utf-8")
