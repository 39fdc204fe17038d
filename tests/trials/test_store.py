"""Finished blocks on disk: what is found again is what was written, under all that it depends on, and nothing else."""

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

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked import N_BLOCKS, N_TRIALS, count_as_a_notebook, drawn, run, same

from lib import sources, trials
from lib.trials import description, store
from lib.trials.store import decode, encode, environment


@pytest.fixture
def blocks(results, expected, ran):
    """Files of the blocks of a run, by their first trial."""
    same(run(), expected)
    assert ran() == list(range(N_TRIALS))
    found = {
        int(store.decode(path.read_bytes()[store.SHA256 :])["index"][0]): path
        for path in files(results)
    }
    assert sorted(found) == [0, 2, 4, 6, 8]
    return found


def files(results):
    return sorted(results.rglob("*.block"))


def forge(path, contents):
    """Make a block with any contents and the right sha256."""
    path.write_bytes(store._seal(path, contents) + contents)


def test_what_is_stored_is_found(blocks, expected, ran, told, monkeypatch, results):
    same(run(), expected)
    assert ran() == []
    [note] = told("found")
    assert (note["blocks"], note["all"]) == (N_BLOCKS, N_BLOCKS)
    same(run(engine="tcp://127.0.0.1:1"), expected)
    monkeypatch.delenv("BOOK_TRIALS")
    run()
    assert len(ran()) == N_TRIALS
    with trials.use(results=results):
        run()
    assert ran() == []


def test_without_a_folder_nothing_is_written(monkeypatch, results, expected, told):
    with trials.use(results=None):
        same(run(), expected)
    assert not results.exists()
    assert told("found", "not stored") == []


def run_in_own_group(**settings):
    """Run in a group of processes that can be killed together."""
    os.setsid()
    count_as_a_notebook()  # also in a process that is not forked
    run(**settings)


@pytest.mark.slow
# a fork's worker processes are its parent's
@pytest.mark.parametrize(("n_jobs", "how"), [(1, "fork"), (2, "spawn")])
def test_a_killed_run_goes_on(n_jobs, how, results, expected, ran, told):
    """Only the blocks under way when it was killed are lost: one a process, and one whose result was on its way."""
    settings = {"trial": partial(drawn, pause=0.1), "n_jobs": n_jobs}
    process = multiprocessing.get_context(how).Process(target=run_in_own_group, kwargs=settings)
    process.start()
    until = time.monotonic() + 120
    while len(files(results)) < 2 and process.is_alive() and time.monotonic() < until:
        time.sleep(0.002)
    process.kill()
    # its worker processes; not what removes their semaphores, which goes on
    os.killpg(process.pid, signal.SIGTERM)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    stored = {
        i for path in files(results) for i in decode(path.read_bytes()[store.SHA256 :])["index"]
    }
    begun = set(ran())
    assert 2 <= len(files(results)) < N_BLOCKS
    assert stored <= begun
    assert len({i // 2 for i in begun - stored}) <= 2 * n_jobs
    same(run(trial=settings["trial"]), expected)
    assert ran() == sorted(set(range(N_TRIALS)) - stored)
    [note] = told("found")
    assert (note["blocks"], note["all"]) == (len(stored) // 2, N_BLOCKS)


@pytest.mark.slow
def test_two_runs_at_once(results, expected, ran):
    context = multiprocessing.get_context("fork")
    settings = {"trial": partial(drawn, pause=0.01)}
    others = [context.Process(target=run, kwargs=settings) for _ in range(2)]
    for process in others:
        process.start()
    same(run(**settings), expected)
    for process in others:
        process.join()
    assert [process.exitcode for process in others] == [0, 0]
    assert N_TRIALS <= len(ran()) <= 3 * N_TRIALS
    assert len(files(results)) == N_BLOCKS
    same(run(**settings), expected)
    assert ran() == []
    assert not list(results.rglob("*.part"))


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def pickled(path):
    forge(path, bytes_of(np.array(["index"]), np.array([Bomb(path.parent / "bang")], dtype=object)))


def bytes_of(*arrays):
    buffer = io.BytesIO()
    np.savez(buffer, *arrays, allow_pickle=True)
    return buffer.getvalue()


def another_block(path):
    path.write_bytes(next(other for other in files(path.parents[1]) if other != path).read_bytes())


def flipped(path):
    contents = bytearray(path.read_bytes())
    contents[0] ^= 1
    path.write_bytes(contents)


DAMAGES = {
    "a byte short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "a byte long": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "empty": lambda path: path.write_bytes(b""),
    "another sha256": flipped,
    "another block": another_block,
    "pickled objects": pickled,
    "garbage with its sha256": lambda path: forge(path, b"garbage"),
    "no frame": lambda path: forge(path, bytes_of(np.array(["a", "b"]), np.zeros(2))),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_blocks_are_told_and_run_again(how, blocks, expected, ran, told):
    DAMAGES[how](blocks[4])
    told()
    same(run(), expected)
    assert ran() == [4, 5]
    assert [note["path"] for note in told("damaged")] == [str(blocks[4])]
    assert not list(blocks[4].parent.glob("bang"))
    same(run(), expected)
    assert ran() == []


def test_a_folder_in_the_place_of_a_block(blocks, expected, told):
    blocks[4].unlink()
    blocks[4].mkdir()
    same(run(), expected)
    assert len(told("not stored")) == 1


class TestOnlyTheSameIsFound:
    @pytest.mark.parametrize("key", store.environment([]))
    def test_code_data_versions_and_machine(self, key, blocks, ran, told, expected, monkeypatch):
        monkeypatch.setattr(
            store, "environment", lambda described: environment(described) | {key: "other"}
        )
        same(run(), expected)
        assert len(ran()) == N_TRIALS
        assert told("found", "damaged") == []

    @pytest.mark.parametrize(
        "other", [{"seed": 4}, {"case": (2.0,)}, {"trial": partial(drawn, scale=1)}]
    )
    def test_seed_and_settings(self, other, blocks, ran):
        run(**other)
        assert len(ran()) == N_TRIALS

    def test_more_trials_use_blocks_that_are_equal(self, blocks, ran, expected):
        more = run(13)
        assert ran() == [10, 11, 12]
        same(more[: len(expected)], expected)
        run(9)
        assert ran() == [8]

    @pytest.fixture
    def lib_of(self, monkeypatch):
        """Return a function that lets lib be other sources: edits of what it is, by module."""

        def change(**edits):
            changed = {
                f"lib.{name.replace('__', '.')}": text.encode() for name, text in edits.items()
            }
            monkeypatch.setattr(sources, "SOURCES", sources.SOURCES | changed)
            for function in (store.runtime_fingerprint, store._code_reached):
                function.cache_clear()

        yield change
        monkeypatch.undo()
        change()

    USES_TREES = {"code": "lib.trees.GainRatioTree"}  # noqa: RUF012

    @pytest.mark.parametrize(
        "name", ["trees", "trees__growing", "validation", "trials__runner", "trials__seeds"]
    )
    def test_code_that_trials_reach_counts(self, name, lib_of):
        before = environment(self.USES_TREES)
        source = sources.SOURCES[f"lib.{name.replace('__', '.')}"].decode()
        lib_of(**{name: source + "\n# words\n"})
        assert environment(self.USES_TREES) == before
        lib_of(**{name: source + "\nMORE = 1\n"})
        assert environment(self.USES_TREES) != before

    @pytest.mark.parametrize("name", ["job_shop", "figures__style", "book__site"])
    def test_other_code_does_not(self, name, lib_of):
        """But that workers have all the same lib is asked for."""
        before, all_before = environment(self.USES_TREES)["lib"], store.runtime_fingerprint()["lib"]
        lib_of(**{name: "MORE = 1\n"})
        assert environment(self.USES_TREES)["lib"] == before
        assert (store.runtime_fingerprint()["lib"] == all_before) == (name == "book__site")

    def test_code_that_is_imported_inside_a_trial_counts(self, lib_of, cells):
        cells(
            "def trial(seeds):\n    from lib.trees import growing\n    import lib\n    return lib"
        )
        described = description.describe(cells["trial"])
        before = environment(described)
        lib_of(trees__growing="MORE = 1\n")
        after = environment(described)
        lib_of(job_shop="MORE = 1\n")
        assert len({json.dumps(one) for one in (before, after, environment(described))}) == 3

    def test_each_package_counts(self, monkeypatch):
        here = store.runtime_fingerprint()
        for package in description.PACKAGES.values():
            monkeypatch.setattr(
                store, "version", lambda p, new=package: "0" if p == new else version(p)
            )
            assert store.runtime_fingerprint.__wrapped__() == here | {package: "0"}

    def test_settings_of_numba_count(self, monkeypatch):
        here = store.runtime_fingerprint()
        monkeypatch.setattr("numba.config.OPT", 0)
        there = store.runtime_fingerprint.__wrapped__()
        assert {name for name in here if here[name] != there[name]} == {"compiled with"}

    def test_data_count_and_results_of_the_book_do_not(self, monkeypatch, tmp_path):
        monkeypatch.setattr(store, "DATA", tmp_path)
        seen = [store._data_digests()]
        for name in ("manifest.csv", "paper/table.csv", "recorded/a.csv.gz", "benchmarks/a.json"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("a")
            seen.append(store._data_digests())
        assert [one != other for one, other in itertools.pairwise(seen)] == [
            True,
            True,
            False,
            False,
        ]

    def test_data_that_changed_after_they_were_read(self, results, told, monkeypatch):
        monkeypatch.setattr(store, "DATA_TIMES", {})
        run()
        assert "have changed since" in told("not stored")[0]["why"]
        assert not results.exists()

    def test_data_that_change_while_a_block_runs(self, results, told, monkeypatch):
        """Also if they are changed back before the next one."""
        answers = iter([store.DATA_TIMES, {}])
        monkeypatch.setattr(store, "_data_times", lambda: next(answers, store.DATA_TIMES))
        run()
        assert len(told("not stored")) == 1
        assert len(files(results)) == N_BLOCKS - 1

    def test_code_that_was_reloaded(self, results, monkeypatch):
        """Its trials would be of an older version, in processes that have read it before."""
        monkeypatch.setattr(sources, "RELOADED", {"lib.winnow.online"})
        with pytest.raises(RuntimeError, match=r"lib\.winnow\.online was reloaded"):
            run()
        assert not results.exists()


class TestWriting:
    @pytest.mark.parametrize("function", ["os.fsync", "pathlib.Path.replace", "pathlib.Path.mkdir"])
    def test_a_full_folder_is_told_once(self, function, results, expected, told, ran, monkeypatch):
        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(function, full)
            same(run(), expected)
        [note] = told("not stored")
        assert "No space left on device" in note["why"]
        assert [path for path in results.rglob("*") if path.is_file()] == []
        same(run(), expected)
        assert len(ran()) == 2 * N_TRIALS
        assert len(files(results)) == N_BLOCKS

    def test_an_interruption_leaves_no_part(self, results, ran, told, monkeypatch):
        def interrupted(part, path):
            if len(files(results)) == 2:
                raise KeyboardInterrupt
            os.replace(part, path)

        with monkeypatch.context() as patch:
            patch.setattr("pathlib.Path.replace", interrupted)
            with pytest.raises(KeyboardInterrupt):
                run()
        assert len(files(results)) == 2
        assert not list(results.rglob("*.part"))
        run()
        assert [note["blocks"] for note in told("found")] == [2]
        assert set(ran()) == set(range(N_TRIALS))


class TestVerify:
    def again(self, seed, share):
        with trials.use(verify=(seed, share)):
            return run()

    @pytest.mark.parametrize(("share", "n"), [(1.0, N_BLOCKS), (0.0, 0)])
    def test_all_or_none(self, share, n, blocks, expected, ran, told):
        before = {path: path.stat().st_mtime_ns for path in blocks.values()}
        same(self.again(7, share), expected)
        assert len(ran()) == 2 * n
        assert [note["blocks"] for note in told("verified")] == [n] * (n > 0)
        assert {path: path.stat().st_mtime_ns for path in blocks.values()} == before

    def test_the_seed_says_which(self, blocks, ran):
        drawn = []
        for seed in (0, 1, 2, 3, 3):
            self.again(seed, 0.5)
            drawn.append(tuple(ran()))
        assert drawn[3] == drawn[4]
        assert len(set(drawn)) > 2
        assert {len(one) for one in drawn} == {6}  # three blocks of five

    def test_a_block_made_wrong_is_found_out(self, blocks, expected):
        frame = decode(blocks[6].read_bytes()[store.SHA256 :])
        forge(blocks[6], encode(frame.assign(value=np.nextafter(frame["value"], 1))))
        assert not run().equals(expected)
        with pytest.raises(RuntimeError, match=f"{blocks[6].name} is not what its trials give now"):
            self.again(7, 1.0)

    def test_what_is_not_stored(self, blocks):
        blocks[6].unlink()
        with pytest.raises(
            RuntimeError, match="trials: 1 of 5 blocks are not stored, or damaged; `book run`"
        ):
            self.again(7, 0.0)
        assert not blocks[6].exists()


text = st.text(st.characters(exclude_categories=["Cs"])).filter(
    lambda word: not word.endswith("\0")
)
rows = st.lists(
    st.tuples(st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(), text), max_size=8
)


class TestFrames:
    @given(rows)
    def test_round_trip(self, made):
        columns = list(zip(*made, strict=True)) or [[]] * 4
        kinds = {"file": np.int64, "allow_pickle": np.float64, "truth": bool, "a.npy": "str"}
        frame = pd.DataFrame(
            {
                name: pd.Series(values, dtype=kind)
                for (name, kind), values in zip(kinds.items(), columns, strict=True)
            }
        )
        found = decode(encode(frame))
        same(found, frame)
        assert (
            found["allow_pickle"].to_numpy().tobytes() == frame["allow_pickle"].to_numpy().tobytes()
        )
        assert encode(found) == encode(frame)

    @pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float16"])
    def test_kinds_of_numbers(self, dtype):
        frame = pd.DataFrame({"a": np.array([0, 1, 100], dtype=dtype)})
        same(decode(encode(frame)), frame)
