"""The trial runner: seeded, in blocks, in parallel, with progress; the same results wherever they are computed."""

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

from lib import sources
from lib.trials.context import check_workers, current
from lib.trials.elsewhere import unchecked
from lib.trials.engine import run_blocks
from lib.trials.notes import tell
from lib.trials.reading import FOLDERS, collected
from lib.trials.seeds import Seeds
from lib.trials.store import decode, encode, open_store, require_same, workplace
from lib.validation import check_integer

BLOCK_SECONDS = 2.0  # of work in a block, roughly
# in a process: a Dask worker may have more threads, and the limit on theirs is shared
_ONE_BLOCK = threading.RLock()


def run(
    trial, cases=((),), n_trials=None, seed=0, seconds=0.5, name=None, n_jobs=None, engine=None
):
    """Run ``trial(seeds, *case)`` for each case and put the rows together, in the order of cases and trials.

    Trials are cut into blocks of about `BLOCK_SECONDS` of work, each of which computes in one
    thread. How they are cut depends on neither `n_jobs` nor `engine`, nor does anything else in the
    result. Where a folder for results is set (see `lib.trials.use`), each block is stored when it
    is finished, and blocks that are there are not run again.

    Parameters
    ----------
    trial : callable
        Gets `Seeds` and a case, and yields or returns rows as dicts, or returns a DataFrame:
        numbers, truth values and text. It may stand in a notebook: its code, the values and the
        functions of the notebook that it uses are then part of the key under which blocks are
        stored. Its random numbers must come from the seeds. It runs in a process of its own: what a
        cell has changed in a module, in settings of a package or in the environment is not so
        there. What it reads from files no key holds; then its blocks are not stored.
    cases : iterable, at least one
        Tuples of arguments; what is no tuple is one argument.
    n_trials : int, optional
        Trials a case. Trial i has the seeds with key (i,), the same for all cases. Without it there
        is one trial a case, and all have the same seeds, with key (): the trial then derives its
        own, by the name of its data set.
    seed : int, at least 0
    seconds : float, or a sequence with one for each case
        What a trial takes, roughly.
    name : str, optional
        Of the experiment, for progress and notes; by default that of the function.
    n_jobs, engine : optional
        Other than those set by `lib.trials.use`.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        Before any trial runs, if an argument is out of range.
    RuntimeError
        If a worker has other code, data or versions, or workers die again and again.
    """
    if sources.RELOADED:
        names = ", ".join(sorted(sources.RELOADED))
        raise RuntimeError(
            f"{names} was reloaded, and trials run in processes that have read it before; start Python again"
        )
    seed = check_integer("seed", seed, 0)
    cases = [case if isinstance(case, tuple) else (case,) for case in cases]
    if not cases:
        raise ValueError("cases must hold at least one case; got none")
    keys = (
        [()] if n_trials is None else [(i,) for i in range(check_integer("n_trials", n_trials, 1))]
    )
    calls = [(Seeds(seed, key), *case) for case in cases for key in keys]
    seconds = np.repeat(np.broadcast_to(seconds, len(cases)), len(keys))
    settings = current()
    n_jobs = settings.n_jobs if n_jobs is None else n_jobs
    engine = settings.engine if engine is None else engine
    check_workers(n_jobs, engine)
    name = name or getattr(trial, "__name__", "trials").replace("_", " ")
    return _run(trial, calls, seconds, [_word(*call) for call in calls], name, n_jobs, engine)


def _word(_, first=None, *rest):
    """The word for a case in the line of progress: its first argument, if that is text or has a name."""
    word = getattr(first, "name", first)
    return word if isinstance(word, str) else ""


def _run(trial, calls, seconds, words, name, n_jobs, engine):
    """Frame of all calls, from blocks that are stored and blocks that run now; a block holds calls of one word."""
    slices = cut(seconds, words)
    blocks = {number: calls[piece] for number, piece in enumerate(slices)}
    _require_sendable(trial)
    store = open_store(trial, blocks, name)
    frames = store.read() if store else {}
    again = _choose_again(blocks, frames, name)
    waiting = {
        number: block for number, block in blocks.items() if number not in frames or number in again
    }
    results = run_blocks(partial(_run_block, trial), waiting, n_jobs, engine, name)
    read_files = set()
    with closing(
        _shown(results, name, [words[piece.start] for piece in slices], len(blocks) - len(waiting))
    ) as shown:
        for number, (contents, where, read) in shown:
            require_same(where, f"{name}: a worker")
            for path in sorted(set(read) - read_files):
                tell("read", name, path=path)
            read_files |= set(read)
            frame = decode(contents)
            if number in again:
                _require_equal(frame, frames[number], store.paths[number])
            elif store and not read:
                store.write(number, contents)
            frames[number] = frame
    if again:
        tell("verified", name, blocks=len(again), all=len(blocks))
    return pd.concat([frames[number] for number in blocks], ignore_index=True)


def _require_sendable(trial):
    """Raise TypeError that says what to do unless a trial can be sent to another process."""
    try:
        cloudpickle.dumps(trial)
    except Exception as error:  # of any kind, by whatever it uses
        what = "what keeps a state of its own, such as an open file or a function under functools.cache"
        raise TypeError(
            f"the trial cannot be sent to another process ({error}): make {what}, inside of it"
        ) from error


def cut(seconds, groups):
    """Slices of consecutive cases, each the shortest whose work reaches BLOCK_SECONDS or whose group ends."""
    slices, start, work = [], 0, 0.0
    for i, own in enumerate(seconds):
        work += own
        if i + 1 == len(seconds) or work >= BLOCK_SECONDS or groups[i + 1] != groups[i]:
            slices.append(slice(start, i + 1))
            start, work = i + 1, 0.0
    return slices


def _run_block(trial, cases):
    """Frames of the cases, as bytes; the code and versions that made them; and the files read that no key holds."""
    frames, read = [], []
    with (
        _ONE_BLOCK,
        parallel_config("sequential"),
        threadpool_limits(1),
        _settings_restored(),
        collected(read.append, FOLDERS, only_here=True),
    ):
        for case in cases:
            _seed_global_generators(case[0])
            frames.append(_frame(trial(*case)))
    return encode(pd.concat(frames, ignore_index=True)), workplace(), unchecked(read)


@contextmanager
def _settings_restored():
    """Leave no setting that a trial has changed, nor a class that it was sent, to the next block of the process."""
    with np.errstate(), warnings.catch_warnings(), decimal.localcontext(), sklearn.config_context():
        try:
            yield
        finally:
            for tracker in ("_DYNAMIC_CLASS_TRACKER_BY_ID", "_DYNAMIC_CLASS_TRACKER_BY_CLASS"):
                # or a class that was sent before would be taken
                getattr(cloudpickle.cloudpickle, tracker).clear()


def _seed_global_generators(seeds):
    """Make those random numbers, too, the same in any process that are not drawn from the seeds, as they should be."""
    number = int(seeds.sequence("global generators").generate_state(1)[0])
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 - it is for code that uses this one


def _frame(rows):
    return pd.DataFrame([rows] if isinstance(rows, Mapping) else rows)


def _choose_again(blocks, frames, name):
    """Numbers of the stored blocks to be run again: the share that the context says, drawn at random."""
    verify = current().verify
    if not verify:
        return set()
    if len(frames) < len(blocks):
        missing = f"{len(blocks) - len(frames)} of {len(blocks)} blocks are not stored, or damaged"
        raise RuntimeError(f"{name}: {missing}; `book run` with the same values computes them")
    seed, share = verify
    return set(random.Random(seed).sample(sorted(frames), math.ceil(share * len(frames))))


def _require_equal(new, stored, path):
    try:
        pd.testing.assert_frame_equal(new, stored, check_exact=True)
    except AssertionError as error:
        raise RuntimeError(
            f"the stored block {path} is not what its trials give now: {error}"
        ) from None


def _shown(results, name, words, done):
    """Results as they come, with a bar in a terminal and a line in the file that the context names."""
    file = current().progress
    with (
        closing(results),
        tqdm(total=len(words), initial=done, desc=name, disable=None, leave=False) as bar,
    ):
        for so_far, (number, result) in enumerate(results, done + 1):
            yield number, result
            bar.set_postfix_str(words[number], refresh=False)
            bar.update()
            if file:
                with suppress(OSError):
                    line = [name, words[number], f"{so_far}/{len(words)}"]
                    Path(file).write_text(" ".join(filter(None, line)), encoding="utf-8")
