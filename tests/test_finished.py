"""Finished trials on disk: what is found again is what was written, and nothing else is found."""

import multiprocessing
import os
import zipfile
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest

from lib.experiments import finished
from lib.experiments.finished import FinishedTrials
from lib.experiments.trials import run_trials

FRAME = pd.DataFrame(
    {
        "dataset": ["iris", "Ärger, 雪", ""],
        "n_wrong": [0, -3, 2**62],
        "error": [0.1 + 0.2, np.nan, np.inf],
        "converged": [True, False, True],
    }
)


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """No test writes into the repository."""
    monkeypatch.setenv("BOOK_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


@pytest.fixture
def environment(monkeypatch):
    """`finished.environment`, asked anew each time."""
    function = finished.environment.__wrapped__
    monkeypatch.setattr(finished, "environment", function)
    return function


@pytest.fixture
def trials():
    return FinishedTrials({"rate": 0.25, "learners": ["ofe", "elr"]})


@pytest.fixture
def file(trials, results):
    """The file of one trial, "one"."""
    trials.write("one", FRAME)
    [path] = results.rglob("*.trial")
    return path


def same(found, expected=FRAME):
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


class TestRoundTrip:
    def test_numbers_and_text(self, trials, file):
        same(trials.read("one"))

    def test_rows_in_another_order_come_back_in_that_order(self, trials):
        trials.write("one", FRAME[::-1])
        same(trials.read("one"), FRAME[::-1].reset_index(drop=True))

    def test_labels_of_any_kind(self, trials):
        labels = ["a", "A", "a ", "../a", "é/雪\\:*?", "", "x" * 5000]
        for i, label in enumerate(labels):
            trials.write(label, FRAME.assign(i=i))
        for i, label in enumerate(labels):
            same(trials.read(label), FRAME.assign(i=i))

    def test_the_last_one_counts(self, trials, results, file):
        trials.write("one", FRAME.assign(error=1.0))
        same(trials.read("one"), FRAME.assign(error=1.0))
        assert len(list(results.rglob("*.trial"))) == 1

    def test_not_there(self, trials):
        assert trials.read("one") is None

    def test_folder(self, results, tmp_path, trials, file, monkeypatch):
        assert file.is_relative_to(results)
        assert FinishedTrials({}, tmp_path / "given").folder.is_relative_to(tmp_path / "given")
        monkeypatch.delenv("BOOK_RESULTS")
        assert FinishedTrials({}).folder.parent == finished.FOLDER


def npy(path):
    with open(path, "wb") as file:
        np.save(file, np.arange(3))


def without_directory(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-30]),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(bytes(range(256)) * 8),
    "text": lambda path: path.write_text("dataset,n_wrong\niris,1\n"),
    "a zip file": lambda path: zipfile.ZipFile(path, "w").writestr("error.txt", "1"),
    "one array": npy,
    "a folder": without_directory,
    "gone": lambda path: path.unlink(),
}


class TestDamage:
    @pytest.mark.parametrize("how", [name for name in DAMAGES if name != "a folder"])
    def test_damaged_files_are_computed_again(self, trials, file, how):
        DAMAGES[how](file)
        assert trials.read("one") is None
        found = run_trials(lambda i, seed: FRAME, 1, labels=["one"], finished=trials)
        same(found)
        same(trials.read("one"))

    def test_a_folder_in_its_place(self, trials, file):
        DAMAGES["a folder"](file)
        assert trials.read("one") is None

    def test_any_byte_may_be_damaged(self, trials, file):
        content = file.read_bytes()
        for i in range(0, len(content), 3):
            changed = bytearray(content)
            changed[i] ^= 0xFF
            file.write_bytes(changed)
            assert trials.read("one") is None

    def test_any_length(self, trials, file):
        content = file.read_bytes()
        for length in range(0, len(content), 3):
            file.write_bytes(content[:length])
            assert trials.read("one") is None

    def test_pickles_are_refused(self, trials, file, tmp_path):
        class Bomb:
            def __reduce__(self):
                return os.mkdir, (str(tmp_path / "bang"),)

        for save in (np.savez, np.savez_compressed):
            with open(file, "wb") as opened:
                save(opened, error=np.array([Bomb()], dtype=object), allow_pickle=True)
            assert trials.read("one") is None
        np.array([Bomb()], dtype=object).dump(file)
        assert trials.read("one") is None
        assert not (tmp_path / "bang").exists()
        with pytest.raises(ValueError, match="allow_pickle"), np.load(file, allow_pickle=False):
            pass

    def test_objects_are_written_as_text(self, trials):
        trials.write("one", pd.DataFrame({"mixed": pd.Series(["a", 1], dtype=object)}))
        assert list(trials.read("one")["mixed"]) == ["a", "1"]


class TestOnlyTheSameIsFound:
    @pytest.mark.parametrize(
        "settings", [{}, {"rate": 0.25}, {"rate": 0.2, "learners": ["ofe", "elr"]}, {"rate": 0.25, "learners": ["elr"]}]
    )
    def test_other_settings(self, file, settings):
        assert FinishedTrials(settings).read("one") is None

    def test_the_order_of_settings_is_all_the_same(self, file):
        same(FinishedTrials({"learners": ["ofe", "elr"], "rate": 0.25}).read("one"))

    @pytest.mark.parametrize("position", range(len(finished.environment())))
    def test_other_code_packages_python_or_machine(self, trials, file, monkeypatch, position):
        other = list(finished.environment())
        other[position] += "x"
        monkeypatch.setattr(finished, "environment", lambda: other)
        assert FinishedTrials({"rate": 0.25, "learners": ["ofe", "elr"]}).read("one") is None

    def test_each_package_counts(self, environment, monkeypatch):
        seen = []
        for package in (None, *finished.PACKAGES):
            monkeypatch.setattr(finished, "version", lambda p, new=package: "0" if p == new else version(p))
            seen.append(tuple(environment()))
        assert len(set(seen)) == 1 + len(finished.PACKAGES)

    def test_source_code(self, environment, monkeypatch, tmp_path):
        """Any module counts, by its path and content, but for those that run no trials."""
        lib = tmp_path / "lib"
        (lib / "figures").mkdir(parents=True)
        (lib / "bayes_net").mkdir()
        monkeypatch.setattr(finished, "LIB", lib)

        def digest(path, text):
            (lib / path).write_text(text)
            return environment()[0]

        first = digest("bayes_net/em.py", "a = 1\n")
        assert digest("figures/style.py", "b = 1\n") == digest("claims.py", "c = 1\n") == first
        assert digest("bayes_net/em.py", "a = 2\n") != first
        assert digest("bayes_net/em.py", "a = 1\n") == first
        (lib / "bayes_net" / "em.py").rename(lib / "bayes_net" / "apn.py")
        assert digest("claims.py", "") != first


class TestWriting:
    @pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
    def test_an_interrupted_write_leaves_nothing(self, trials, results, monkeypatch, error):
        def interrupted(file, **arrays):
            file.write(b"PK half of it")
            raise error

        monkeypatch.setattr(finished.np, "savez_compressed", interrupted)
        with pytest.raises(type(error)):
            trials.write("one", FRAME)
        assert [path for path in results.rglob("*") if path.is_file()] == []
        assert trials.read("one") is None

    def test_an_interrupted_write_leaves_the_old_file(self, trials, file, monkeypatch):
        def interrupted(*names):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(finished.os, "replace", interrupted)
            with pytest.raises(KeyboardInterrupt):
                trials.write("one", FRAME.assign(error=1.0))
        same(trials.read("one"))
        assert list(file.parent.iterdir()) == [file]

    def test_two_processes_write_the_same_at_once(self, trials):
        """While they do, it is always one or the other that is read."""
        frames = [FRAME.assign(error=float(i), text="x" * 1000 * i) for i in (1, 2)]
        trials.write("one", frames[0])
        context = multiprocessing.get_context("fork")
        writers = [context.Process(target=write_often, args=(trials, frame)) for frame in frames]
        for writer in writers:
            writer.start()
        n_read = 0
        while n_read < 20 or any(writer.is_alive() for writer in writers):
            found = trials.read("one")
            same(found, frames[int(found.loc[0, "error"]) - 1])
            n_read += 1
        for writer in writers:
            writer.join()
        assert [writer.exitcode for writer in writers] == [0, 0]
        assert len(list(trials.folder.iterdir())) == 1


def write_often(trials, frame):
    for _ in range(100):
        trials.write("one", frame)


class TestRunTrials:
    def test_only_what_is_not_there_is_run(self, trials):
        run = []

        def trial(index, seed):
            run.append(index)
            return pd.DataFrame({"index": [index], "drawn": np.random.default_rng(seed).random()})

        labels = [f"trial {i}" for i in range(7)]
        plain = run_trials(trial, 7, seed=2, labels=labels)
        run.clear()
        trials.write(labels[4], plain[4:5])
        for expected in ([0, 1, 2, 3, 5, 6], []):
            same(run_trials(trial, 7, seed=2, labels=labels, finished=trials), plain)
            assert run == expected
            run.clear()

    def test_a_trial_that_fails_leaves_the_others(self, trials):
        def trial(index, seed):
            if index == 3:
                raise RuntimeError("out of luck")
            return FRAME

        with pytest.raises(RuntimeError, match="out of luck"):
            run_trials(trial, 5, block_size=1, labels=list("abcde"), finished=trials)
        assert [trials.read(label) is not None for label in "abcde"] == [True] * 3 + [False] * 2

    def test_progress(self, tmp_path, monkeypatch):
        shown = []

        def trial(index, seed):
            shown.append((tmp_path / "progress").read_text(encoding="utf-8") if index else None)
            return FRAME

        monkeypatch.setenv("BOOK_PROGRESS", str(tmp_path / "progress"))
        run_trials(trial, 3, block_size=1, description="ELR", labels=["iris 0", "wählen 1 2", "corral"])
        assert shown == [None, "ELR iris 1/3", "ELR wählen 2/3"]
        assert (tmp_path / "progress").read_text(encoding="utf-8") == "ELR corral 3/3"
        run_trials(lambda index, seed: FRAME, 3, block_size=2)
        assert (tmp_path / "progress").read_text(encoding="utf-8") == "2/2"
