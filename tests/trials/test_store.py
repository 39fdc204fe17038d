"""Finished blocks on disk: what is found is what was written, under all that it depends on."""

import errno
import io
import itertools
import json
import multiprocessing
import os
import signal
import time
from functools import partial
from importlib.metadata import version

import cloudpickle
import logged_trials
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logged_trials import (
    N_BLOCKS,
    N_TRIALS,
    assert_same,
    run,
    two_normals,
)

from lib import trials
from lib.base import sources
from lib.trials import store
from lib.trials.source_key import PACKAGES, describe
from lib.trials.store import decode, encode, environment


@pytest.fixture
def blocks(results, expected, take_trials):
    """Files of the blocks of a run, by their first trial."""
    assert_same(run(), expected)
    assert take_trials() == list(range(N_TRIALS))
    paths = {int(block_frame(path)["index"][0]): path for path in files(results)}
    assert sorted(paths) == [0, 2, 4, 6, 8]
    return paths


def files(results):
    return sorted(results.rglob("*.block"))


def block_frame(path):
    """Return the frame that a file of a block holds behind its sha256."""
    return decode(path.read_bytes()[store.SHA256 :])


def forge(path, contents):
    """Make a block with any contents and the right sha256."""
    path.write_bytes(store._seal(path, contents) + contents)


def test_what_is_stored_is_found(blocks, expected, take_trials, take_notes, monkeypatch, results):
    assert_same(run(), expected)
    assert take_trials() == []
    [note] = take_notes("found")
    assert note["blocks"] == note["all"] == N_BLOCKS
    assert_same(run(engine="tcp://127.0.0.1:1"), expected)
    monkeypatch.delenv("BOOK_TRIALS")
    run()
    assert len(take_trials()) == N_TRIALS
    with trials.use(results=results):
        run()
    assert take_trials() == []


def test_without_a_folder_nothing_is_written(monkeypatch, results, expected, take_notes):
    with trials.use(results=None):
        assert_same(run(), expected)
    assert not results.exists()
    assert take_notes("found", "not stored") == []


def run_in_own_group(**settings):
    """Run in a group of processes that can be killed together."""
    os.setsid()
    cloudpickle.register_pickle_by_value(logged_trials)  # also in a process that is not forked
    run(**settings)


@pytest.mark.slow
# a fork's worker processes are its parent's
@pytest.mark.parametrize(("n_jobs", "start_method"), [(1, "fork"), (2, "spawn")])
def test_a_killed_run_goes_on(n_jobs, start_method, results, expected, take_trials, take_notes):
    """Only the blocks under way are lost: one a process, and one whose result was on its way."""
    settings = {"trial": partial(two_normals, pause=0.1), "n_jobs": n_jobs}
    process = multiprocessing.get_context(start_method).Process(
        target=run_in_own_group, kwargs=settings
    )
    process.start()
    deadline = time.monotonic() + 120
    while len(files(results)) < 2 and process.is_alive() and time.monotonic() < deadline:
        time.sleep(0.002)
    process.kill()
    # its worker processes; not what removes their semaphores, which goes on
    os.killpg(process.pid, signal.SIGTERM)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    stored_trials = set()
    for path in files(results):
        stored_trials.update(block_frame(path)["index"])
    logged_trials = set(take_trials())
    assert 2 <= len(files(results)) < N_BLOCKS
    assert stored_trials <= logged_trials
    # two trials make a block, and a process loses two blocks at most
    lost_blocks = {trial // 2 for trial in logged_trials - stored_trials}
    assert len(lost_blocks) <= 2 * n_jobs
    assert_same(run(trial=settings["trial"]), expected)
    assert take_trials() == sorted(set(range(N_TRIALS)) - stored_trials)
    [note] = take_notes("found")
    assert note["blocks"] == len(stored_trials) // 2
    assert note["all"] == N_BLOCKS


@pytest.mark.slow
def test_two_runs_at_once(results, expected, take_trials):
    context = multiprocessing.get_context("fork")
    settings = {"trial": partial(two_normals, pause=0.01)}
    processes = [context.Process(target=run, kwargs=settings) for _ in range(2)]
    for process in processes:
        process.start()
    assert_same(run(**settings), expected)
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert N_TRIALS <= len(take_trials()) <= 3 * N_TRIALS
    assert len(files(results)) == N_BLOCKS
    assert_same(run(**settings), expected)
    assert take_trials() == []
    assert not list(results.rglob("*.part"))


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def forge_pickle(path):
    """Write a block that would make the folder "bang" if anybody unpickled it."""
    bomb = np.array([Bomb(path.parent / "bang")], dtype=object)
    forge(path, npz_bytes(np.array(["index"]), bomb))


def npz_bytes(*arrays):
    buffer = io.BytesIO()
    np.savez(buffer, *arrays, allow_pickle=True)
    return buffer.getvalue()


def copy_another_block(path):
    neighbours = [block for block in files(path.parents[1]) if block != path]
    path.write_bytes(neighbours[0].read_bytes())


def flip_bit(path):
    contents = bytearray(path.read_bytes())
    contents[0] ^= 1
    path.write_bytes(contents)


DAMAGES = {
    "a byte short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "a byte long": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "empty": lambda path: path.write_bytes(b""),
    "another sha256": flip_bit,
    "another block": copy_another_block,
    "pickled objects": forge_pickle,
    "garbage with its sha256": lambda path: forge(path, b"garbage"),
    "no frame": lambda path: forge(path, npz_bytes(np.array(["a", "b"]), np.zeros(2))),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_blocks_are_told_and_run_again(damage, blocks, expected, take_trials, take_notes):
    DAMAGES[damage](blocks[4])
    take_notes()  # those of the first run
    assert_same(run(), expected)
    assert take_trials() == [4, 5]
    assert [note["path"] for note in take_notes("damaged")] == [str(blocks[4])]
    assert not list(blocks[4].parent.glob("bang"))
    assert_same(run(), expected)
    assert take_trials() == []


def test_a_folder_in_the_place_of_a_block(blocks, expected, take_notes):
    blocks[4].unlink()
    blocks[4].mkdir()
    assert_same(run(), expected)
    assert len(take_notes("not stored")) == 1


class TestOnlyTheSameIsFound:
    def test_other_code_is_another_folder(
        self, blocks, take_trials, take_notes, expected, monkeypatch
    ):
        monkeypatch.setattr(store, "environment", lambda m: environment(m) | {"lib": "other"})
        assert_same(run(), expected)
        assert len(take_trials()) == N_TRIALS
        assert take_notes("found", "damaged") == []

    def test_code_data_versions_and_machine(self, tmp_path, monkeypatch):
        folders = {store.BlockStore(tmp_path, np.log, {}, "").folder}
        keys = environment(frozenset())
        for key in keys:
            monkeypatch.setattr(
                store, "environment", lambda m, k=key: environment(m) | {k: "other"}
            )
            folders.add(store.BlockStore(tmp_path, np.log, {}, "").folder)
        assert len(folders) == 1 + len(keys)

    @pytest.mark.parametrize(
        "change", [{"seed": 4}, {"case": (2.0,)}, {"trial": partial(two_normals, scale=1)}]
    )
    def test_seed_and_settings(self, change, blocks, take_trials):
        run(**change)
        assert len(take_trials()) == N_TRIALS

    def test_more_trials_use_blocks_that_are_equal(self, blocks, take_trials, expected):
        more = run(13)
        assert take_trials() == [10, 11, 12]
        assert_same(more[: len(expected)], expected)
        run(9)
        assert take_trials() == [8]

    @pytest.fixture
    def edit_lib(self, monkeypatch):
        """Return a function that gives a module of lib another source, until the test ends."""

        def clear_caches():
            store.runtime_fingerprint.cache_clear()
            store._code_reached.cache_clear()

        def edit(module, source):
            monkeypatch.setattr(sources, "SOURCES", sources.SOURCES | {module: source.encode()})
            clear_caches()

        yield edit
        monkeypatch.undo()
        clear_caches()

    USES_TREES = frozenset({"lib.trees.tree"})

    @pytest.mark.parametrize(
        "name", ["trees", "trees.growing", "base.validation", "trials.runner", "trials.seeds"]
    )
    def test_code_that_trials_reach_counts(self, name, edit_lib):
        module = f"lib.{name}"
        original = environment(self.USES_TREES)
        source = sources.SOURCES[module].decode()
        edit_lib(module, source + "\n# words\n")
        assert environment(self.USES_TREES) == original
        edit_lib(module, source + "\nMORE = 1\n")
        assert environment(self.USES_TREES) != original

    @pytest.mark.parametrize("name", ["job_shop", "figures.style", "book.site"])
    def test_other_code_does_not(self, name, edit_lib):
        """But workers must all have the same lib, without its press (lib.book)."""
        code_of_trees = environment(self.USES_TREES)["lib"]
        code_of_workers = store.runtime_fingerprint()["lib"]
        edit_lib(f"lib.{name}", "MORE = 1\n")
        assert environment(self.USES_TREES)["lib"] == code_of_trees
        same_workers = store.runtime_fingerprint()["lib"] == code_of_workers
        assert same_workers == (name == "book.site")

    def test_code_that_is_imported_inside_a_trial_counts(self, edit_lib, cells):
        cells(
            "def trial(seeds):\n    from lib.trees import growing\n    import lib\n    return lib"
        )
        trial = describe(cells["trial"]).modules
        original = environment(trial)
        edit_lib("lib.trees.growing", "MORE = 1\n")
        edited_trees = environment(trial)
        # `import lib` reaches all of it
        edit_lib("lib.job_shop", "MORE = 1\n")
        edited_both = environment(trial)
        environments = {json.dumps(keys) for keys in (original, edited_trees, edited_both)}
        assert len(environments) == 3

    def test_each_package_counts(self, monkeypatch):
        fingerprint = store.runtime_fingerprint()
        for package in PACKAGES.values():

            def version_after_upgrade(name, upgraded=package):
                return "0" if name == upgraded else version(name)

            monkeypatch.setattr(store, "version", version_after_upgrade)
            # __wrapped__ is the function behind its cache
            assert store.runtime_fingerprint.__wrapped__() == fingerprint | {package: "0"}

    def test_settings_of_numba_count(self, monkeypatch):
        optimised = store.runtime_fingerprint()
        monkeypatch.setattr("numba.config.OPT", 0)
        unoptimised = store.runtime_fingerprint.__wrapped__()
        differences = {name for name in optimised if optimised[name] != unoptimised[name]}
        assert differences == {"compiled with"}

    def test_data_count_and_results_of_the_book_do_not(self, monkeypatch, tmp_path):
        monkeypatch.setattr(store, "DATA", tmp_path)
        counts = {
            "manifest.csv": True,
            "paper/table.csv": True,
            "README.md": False,
            "make.py": False,
            "recorded/a.csv.gz": False,
            "benchmarks/a.json": False,
            "registered/2026-01-31.yml": False,
        }
        digests = [store.data_digests()]
        for name in counts:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("a")
            digests.append(store.data_digests())
        changes = [old != new for old, new in itertools.pairwise(digests)]
        assert changes == list(counts.values())

    def test_data_that_changed_after_they_were_read(self, results, take_notes, monkeypatch):
        store.runtime_fingerprint()  # of this process, which is kept
        monkeypatch.setattr(store, "DATA_DIGESTS", {})
        run()
        assert "have changed since" in take_notes("not stored")[0]["why"]
        assert not results.exists()

    def test_data_that_change_while_a_block_runs(self, results, take_notes, monkeypatch):
        answers = iter([store.DATA_DIGESTS, {}])
        monkeypatch.setattr(store, "data_digests", lambda: next(answers, store.DATA_DIGESTS))
        run()
        assert len(take_notes("not stored")) == 1
        assert len(files(results)) == N_BLOCKS - 1


class TestWriting:
    @pytest.mark.parametrize("function", ["os.fsync", "pathlib.Path.replace", "pathlib.Path.mkdir"])
    def test_a_full_folder_is_told_once(
        self, function, results, expected, take_notes, take_trials, monkeypatch
    ):
        def no_space(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(function, no_space)
            assert_same(run(), expected)
        [note] = take_notes("not stored")
        assert "No space left on device" in note["why"]
        assert [path for path in results.rglob("*") if path.is_file()] == []
        assert_same(run(), expected)
        assert len(take_trials()) == 2 * N_TRIALS
        assert len(files(results)) == N_BLOCKS

    def test_an_interruption_leaves_no_part(self, results, take_trials, take_notes, monkeypatch):
        def replace_or_interrupt(temporary_path, path):
            if len(files(results)) == 2:
                raise KeyboardInterrupt
            os.replace(temporary_path, path)

        with monkeypatch.context() as patch:
            patch.setattr("pathlib.Path.replace", replace_or_interrupt)
            with pytest.raises(KeyboardInterrupt):
                run()
        assert len(files(results)) == 2
        assert not list(results.rglob("*.part"))
        run()
        assert [note["blocks"] for note in take_notes("found")] == [2]
        assert set(take_trials()) == set(range(N_TRIALS))


class TestVerify:
    def verify(self, seed, share):
        with trials.use(verify=(seed, share)):
            return run()

    @pytest.mark.parametrize(("share", "n"), [(1.0, N_BLOCKS), (0.0, 0)])
    def test_all_or_none(self, share, n, blocks, expected, take_trials, take_notes):
        write_times = {path: path.stat().st_mtime_ns for path in blocks.values()}
        assert_same(self.verify(7, share), expected)
        assert len(take_trials()) == 2 * n  # two trials a block
        # nothing is said where nothing was verified
        assert [note["blocks"] for note in take_notes("verified")] == ([n] if n else [])
        assert {path: path.stat().st_mtime_ns for path in blocks.values()} == write_times

    def test_the_seed_says_which(self, blocks, take_trials):
        choices = []
        for seed in (0, 1, 2, 3, 3):
            self.verify(seed, 0.5)
            choices.append(tuple(take_trials()))
        assert choices[3] == choices[4]
        assert len(set(choices)) > 2
        assert {len(choice) for choice in choices} == {6}  # three blocks of five

    def test_a_block_made_wrong_is_found_out(self, blocks, expected):
        frame = block_frame(blocks[6])
        wrong_frame = frame.assign(value=np.nextafter(frame["value"], 1))  # by the last bit
        forge(blocks[6], encode(wrong_frame))
        assert not run().equals(expected)
        with pytest.raises(RuntimeError, match=f"{blocks[6].name} is not what its trials give now"):
            self.verify(7, 1.0)

    def test_what_is_not_stored(self, blocks):
        blocks[6].unlink()
        with pytest.raises(
            RuntimeError, match="trials: 1 of 5 blocks are not stored, or damaged; `book run`"
        ):
            self.verify(7, 0.0)
        assert not blocks[6].exists()


# no surrogates, which UTF-8 has not, and no final NUL, which numpy cuts off
text = st.text(st.characters(exclude_categories=["Cs"])).filter(
    lambda word: not word.endswith("\0")
)
rows = st.lists(
    st.tuples(st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(), text), max_size=8
)


class TestFrames:
    @given(rows)
    def test_round_trip(self, table):
        # names that mean something to np.savez and in the archive that it writes
        kinds = {"file": np.int64, "allow_pickle": np.float64, "truth": bool, "a.npy": "str"}
        columns = list(zip(*table, strict=True)) or [[]] * 4
        series = {}
        for (name, kind), values in zip(kinds.items(), columns, strict=True):
            series[name] = pd.Series(values, dtype=kind)
        frame = pd.DataFrame(series)
        copy = decode(encode(frame))
        assert_same(copy, frame)
        # bit by bit, as NaN may have a payload
        number_bytes = frame["allow_pickle"].to_numpy().tobytes()
        assert copy["allow_pickle"].to_numpy().tobytes() == number_bytes
        assert encode(copy) == encode(frame)

    @pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float16"])
    def test_kinds_of_numbers(self, dtype):
        frame = pd.DataFrame({"a": np.array([0, 1, 100], dtype=dtype)})
        assert_same(decode(encode(frame)), frame)
