"""Running chapters: what is checked before, what is kept after, and that two runs are the same."""

import importlib
import io
import os
import shutil
import sys
import threading
from dataclasses import replace
from functools import partial
from importlib.metadata import entry_points, version
from pathlib import Path

import nbformat
import pytest
from conftest import CLAIMS, FIGURE, book
from jupyter_client.provisioning import KernelProvisionerFactory
from nbformat.v4 import new_code_cell

from lib.base import sources
from lib.book import command_environment
from lib.book.run import execution, jobs, kernels, keys, progress, remote_data
from lib.book.run.execution import execute
from lib.book.run.keys import fingerprint, is_fresh, modules_of, take_snapshot
from lib.book.run.project import BookError, read_cells
from lib.book.run.remote_data import find_missing_data
from lib.datasets.catalogue import catalogue
from lib.datasets.downloads import sha256

PRINTS = "value = 1\nprint('got here')"
RAISES = "raise RuntimeError('out of luck')"


def test_list_shows_every_parameter(project):
    output = book(project, "list").output
    assert "cia/curves" in output
    assert "noise: float = 0.5 [0<..<1]" in output
    assert "share of flipped labels" in output
    assert book(project, "list", "cia/curves").output == output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cia/curve",), "did you mean 'cia/curves'"),
        (("cia/curves", "-p", "n_model", "4"), "did you mean 'n_models'"),
        (("cia/curves", "-p", "n_models=4.5"), "n_models = 4.5: expected int in [2..2000]"),
        (("cia/curves", "-p", "learner", "tan"), "expected str in [em|cov|winnow]"),
        (("cia/curves", "-p", "sizes", "[1"), "sizes = '[1'"),
    ],
)
def test_a_wrong_command_runs_nothing(project, arguments, message):
    result = book(project, "run", *arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert not (project.root / "_build").exists()


def test_a_chapter_is_never_overwritten(project):
    original = project.notebook("cia/curves").read_bytes()
    result = book(project, "run", "cia/curves", "-o", project.notebook("cia/curves"))
    assert result.exit_code == 1
    assert "is a chapter of the book" in result.output
    assert project.notebook("cia/curves").read_bytes() == original


@pytest.mark.parametrize(
    "command", [["run", "cia/curves"], ["build"], ["verify"], ["record", "cia/curves"]]
)
def test_an_executed_notebook_saved_over_its_chapter_is_told(project, command):
    """Its values would be set in every run."""
    path = project.notebook("cia/curves")
    notebook = nbformat.read(path, as_version=4)
    injected = new_code_cell("n_models = 4", metadata={"tags": ["injected-parameters"]})
    notebook.cells.insert(2, injected)
    nbformat.write(notebook, path)
    contents = path.read_bytes()
    result = book(project, *command)
    assert result.exit_code == 1
    assert "cia/curves: a chapter has no cell tagged 'injected-parameters'" in result.output
    assert not list(project.root.rglob("_build/**/*.ipynb"))
    assert path.read_bytes() == contents


def test_a_notebook_that_was_saved_with_another_kernel_runs_with_ours(project, tmp_path):
    path = project.notebook("cia/curves")
    notebook = nbformat.read(path, as_version=4)
    kernelspec = dict(notebook.metadata.kernelspec)
    output = tmp_path / "out.ipynb"
    for other in ({"name": "conda-env-foo", "display_name": "foo", "language": "python"}, None):
        notebook.metadata = {"kernelspec": other} if other else {}
        nbformat.write(notebook, path)
        execute(project, "cia/curves", {}, output)
        assert nbformat.read(output, as_version=4).metadata.kernelspec == kernelspec


def test_a_file_is_overruled_by_an_option(project, tmp_path, monkeypatch):
    values_of_runs = []

    def execute(project, chapter, values, *_, **__):
        values_of_runs.append(values)

    monkeypatch.setattr(execution, "execute", execute)
    file = tmp_path / "values.yml"
    file.write_text("seed: 7\nnoise: 1e-3\n")
    (project.root / "tests" / "quick.yml").write_text("cia/curves: {n_models: 5, seed: 6}\n")
    options = ["-f", file, "-p", "seed", "8", "--profile", "quick"]
    book(project, "run", "cia/curves", *options)
    # n_models is the profile's, the seed that of the option, the noise the file's
    assert values_of_runs == [{"n_models": 5, "seed": 8, "noise": 0.001}]


def test_a_failing_cell_keeps_what_was_executed(project, write_chapter, tmp_path):
    write_chapter(project, "cia/curves", PRINTS, RAISES)
    output = tmp_path / "output.ipynb"
    with pytest.raises(BookError) as error:
        execute(project, "cia/curves", {}, output)
    for words in ("In [3]", RAISES, "RuntimeError: out of luck", str(output)):
        assert words in error.value.message
    assert "got here" in output.read_text()


def last_text(path):
    """Return what the last cell of an executed notebook printed."""
    return nbformat.read(path, as_version=4).cells[-1].outputs[0].text


class Terminal(io.StringIO):
    def isatty(self):
        return True


TRIALS = """\
import pathlib, time
from lib.trials.options import current_options
file = pathlib.Path(current_options().progress)
for i in range(1, 5):
    file.write_text(f"ELR wählen {i}/4", encoding="utf-8")
    time.sleep(0.2)
"""


def watching_threads():
    return [thread for thread in threading.enumerate() if "watch" in thread.name]


def test_a_terminal_shows_how_far_the_trials_are(project, write_chapter, tmp_path, monkeypatch):
    write_chapter(
        project, "cia/curves", TRIALS, "import time\ntime.sleep(0.5)", "print(file.exists())"
    )
    monkeypatch.setattr(progress, "POLL", 0.05)
    monkeypatch.setattr(sys, "stderr", Terminal())
    output = tmp_path / "out.ipynb"
    execute(project, "cia/curves", {}, output)
    shown = sys.stderr.getvalue()
    assert "experiment 1: ELR wählen, 2 of 4 blocks" in shown
    assert "experiment 2" not in shown
    # the file of the progress is gone when the next cell looks for it
    assert last_text(output) == "False\n"
    assert not watching_threads()


def test_a_failing_chapter_does_not_stop_the_others(project, write_chapter):
    (project.root / "_toc.yml").write_text(
        "format: jb-book\nroot: chapters/cia/curves\nchapters: [{file: chapters/bad}]\n"
    )
    write_chapter(project, "bad", RAISES)
    write_chapter(project, "cia/curves", "1 + 1")
    (project.build_folder("quick") / "html").mkdir(parents=True)
    result = book(project, "build", "--profile", "quick", "--jobs", "1")
    assert result.exit_code == 1
    assert "FAILED" in result.output
    assert "out of luck" in result.output
    assert project.executed("quick", "cia/curves").exists()
    assert not (project.build_folder("quick") / "html").exists()


def edit_notebook(project, write_chapter):
    write_chapter(project, "cia/curves", CLAIMS, FIGURE, "1 + 1")


def link(name, suffix=".py"):
    """Link a folder to one outside the book, and write into that."""

    def change(project, write_chapter):
        elsewhere = project.root.parent / "elsewhere"
        (elsewhere / "deep").mkdir(parents=True)
        (project.root / name).symlink_to(elsewhere)
        (elsewhere / "deep" / Path(name).name).with_suffix(suffix).write_text("NEW = 1\n")

    return change


def upgraded(name):
    """Return the version of a package, as if matplotlib were another."""
    return "0" if name == "matplotlib" else version(name)


def append(name, text="MORE = 1\n"):
    """Append a text to a file, or make the file."""

    def change(project, write_chapter):
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.read_text() + text if path.exists() else "NEW = 1\n")

    return change


def register_claim(project, write_chapter):
    (project.root / "chapters" / "registered.yml").write_text(
        'mean-is-positive: {"region": [1, null], "least": 9}\n'
    )


def edit_parameters(project, write_chapter):
    (project.root / "tests" / "quick.yml").write_text("cia/curves: {seed: 9}\n")


def edit_result(project, write_chapter):
    path = project.executed("quick", "cia/curves")
    path.write_text(path.read_text().replace("2", "3"))


CHANGES = {
    "notebook": edit_notebook,
    "parameters": edit_parameters,
    "data": append("data/numbers.csv"),
    "new data": append("data/deep/new.csv"),
    "linked data": link("data/linked", ".csv"),
    "its recorded rows": append("data/recorded/cia/curves.csv.gz"),
    "what decides its claim": register_claim,
    "the result itself": edit_result,
}


def replace_execution(monkeypatch, action=lambda: None, notes=()):
    """Let a run do something else and copy its notebook; return the list of runs, which grows."""
    runs = []

    def run(project, chapter, overrides, output, name, cores, notebook):
        runs.append(chapter)
        action()
        output.write_bytes(notebook)
        return list(notes)

    monkeypatch.setattr(jobs, "execute_stored", run)
    return runs


def update(project):
    job = jobs.job_of(project, "quick", "cia/curves")
    return jobs.bring_up_to_date(project, job, take_snapshot(project, "cia/curves", job.overrides))


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_any_ingredient_makes_a_result_stale(
    project, write_chapter, monkeypatch, change
):
    runs = replace_execution(monkeypatch)
    statuses = [update(project).status for _ in range(2)]
    CHANGES[change](project, write_chapter)
    with pytest.raises(BookError, match="not up to date: cia/curves"):
        jobs.require_fresh(project, "quick")
    statuses.append(update(project).status)
    assert statuses == ["executed", "reused", "executed"]
    assert len(runs) == 2
    jobs.require_fresh(project, "quick")


def test_comments_docstrings_and_stored_outputs_are_no_ingredients(project):
    register = project.root / "chapters" / "registered.yml"
    register.write_text('mean-is-positive: {"region": [0, null]}\n')
    key = fingerprint(project, "cia/curves", {})
    register.write_text(
        'another-claim: {}\nmean-is-positive: {"region": [0, null], "registered": "2026-01-30", '
        '"before": "all", "settings": {"positive": {}, "again": {"before": "none"}}}\n'
    )
    append("data/registered/2026-01-30.yml")(project, None)
    append("data/recorded/cia/model.csv.gz")(project, None)  # of another chapter
    notebook = nbformat.read(project.notebook("cia/curves"), as_version=4)
    notebook.cells[-1].outputs = [nbformat.v4.new_output("stream", text="stored")]
    nbformat.write(notebook, project.notebook("cia/curves"))
    assert fingerprint(project, "cia/curves", {}) == key


@pytest.mark.parametrize(("n_stale", "share"), [(1, 6), (2, 3), (4, 2)])
def test_runs_at_the_same_time_share_the_cores(project, monkeypatch, n_stale, share):
    """Three at a time: one run has all six cores, two have three each, four have two."""
    cores_of_runs = []

    def execute_stored(*_, cores, notebook):
        cores_of_runs.append(cores)
        return []

    monkeypatch.setattr(jobs, "cpu_count", lambda: 6)
    monkeypatch.setattr(jobs, "execute_stored", execute_stored)
    monkeypatch.setattr(jobs, "write_execution_note", lambda *_: None)
    job = jobs.job_of(project, "quick", "cia/curves")
    runs = {}
    for i in range(n_stale):
        runs[str(i)] = replace(job, name=str(i), notebook=project.root / f"{i}.ipynb")
    jobs.run_all(project, runs, n_parallel=3)
    assert cores_of_runs == [share] * n_stale


def test_a_run_takes_its_part_of_the_cores(project, write_chapter, tmp_path, monkeypatch):
    """And leaves the variable as it was, or a second build of the process would divide again."""
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    write_chapter(
        project,
        "cia/curves",
        "import joblib\nprint(joblib.cpu_count(), joblib.effective_n_jobs(-1))",
    )
    execute(project, "cia/curves", {}, tmp_path / "out.ipynb", cores=1)
    assert last_text(tmp_path / "out.ipynb") == "1 1\n"
    assert os.environ["LOKY_MAX_CPU_COUNT"] == "2"


# what a chapter reaches that imports Winnow, and what it does not
REACHED = [
    "winnow.online",
    "base.validation",
    "book.run.kernels",
    "book.run.variables",
    "trials.store",
]
NOT_REACHED = ["backgammon.rules", "figures.style", "book.cli", "book.run.jobs"]


@pytest.mark.parametrize("name", [*REACHED, *NOT_REACHED])
def test_the_key_has_the_code_that_a_chapter_reaches(project, write_chapter, monkeypatch, name):
    write_chapter(project, "cia/curves", "from lib.winnow import Winnow")
    key = fingerprint(project, "cia/curves", {})
    module = f"lib.{name}"
    source = sources.SOURCES[module]
    for text, changes in (b"\n# words\n", False), (b"\nMORE = 1\n", name in REACHED):
        monkeypatch.setattr(sources, "SOURCES", sources.SOURCES | {module: source + text})
        assert (fingerprint(project, "cia/curves", {}) != key) == changes


@pytest.mark.parametrize("source", ["import lib", "%time 1"])
def test_all_of_lib_counts_where_it_is_unknown_what_a_chapter_reaches(source):
    modules = modules_of([{"cell_type": "code", "source": source}])
    assert {"lib.backgammon.rules", "lib.figures.style", "lib.trees.growing"} <= modules
    assert not modules & {"lib.book.pages.site", "lib.book.cli"}


def test_a_package_that_is_changed_beside_the_lock_makes_a_result_stale(project, monkeypatch):
    key = fingerprint(project, "cia/curves", {})
    monkeypatch.setattr(keys, "version", upgraded)
    assert fingerprint(project, "cia/curves", {}) != key


def test_jupyter_finds_the_forked_kernels():
    """By the entry point in pyproject.toml: where it has another name, no chapter runs."""
    (entry_point,) = entry_points(
        group=KernelProvisionerFactory.GROUP_NAME, name=kernels.PROVISIONER
    )
    assert entry_point.load() is kernels.Provisioner


def test_libraries_that_kernels_start_with_are_there():
    for name in kernels.LIBRARIES:
        importlib.import_module(name)
    modules = {name for name in kernels.preloaded_modules() if name.startswith("lib")}
    assert set(sources.SOURCES) >= modules


class TestWhileItRuns:
    def test_the_notebook_of_the_key_is_what_runs(self, project, write_chapter, monkeypatch):
        """Not another text that its file has had for a time."""
        path = project.notebook("cia/curves")
        write_chapter(project, "cia/curves", "print('of the key')")
        job = jobs.job_of(project, "quick", "cia/curves")
        snapshot = take_snapshot(project, "cia/curves", job.overrides)
        notebook_of_key = path.read_bytes()
        write_chapter(project, "cia/curves", "print('of another')")
        execute_stored = jobs.execute_stored

        def run(*arguments, **settings):
            notes = execute_stored(*arguments, **settings)
            path.write_bytes(notebook_of_key)
            return notes

        monkeypatch.setattr(jobs, "execute_stored", run)
        assert jobs.bring_up_to_date(project, job, snapshot).status == "executed"
        assert last_text(job.notebook) == "of the key\n"
        jobs.require_fresh(project, "quick")

    def test_what_is_changed_and_stays_changed_is_not_used(self, project, monkeypatch):
        register_of_claims = '{"region": [0, null]}'
        changes = {
            "data/numbers.csv": "1\n",
            "chapters/registered.yml": f"mean-is-positive: {register_of_claims}\n",
            "data/recorded/cia/curves.csv.gz": "rows",
        }
        for name, text in changes.items():
            path = project.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_execution(monkeypatch, action=partial(path.write_text, text))
            job = update(project)
            assert job.status == "FAILED"
            assert "its sources changed while it ran" in job.message
            assert not is_fresh(job.notebook, take_snapshot(project, "cia/curves", {}).key)

    def test_packages_that_are_changed(self, project, monkeypatch):
        replace_execution(monkeypatch, lambda: monkeypatch.setattr(keys, "version", upgraded))
        assert update(project).status == "FAILED"

    def test_lib_that_is_edited(self, project, monkeypatch):
        replace_execution(monkeypatch)
        monkeypatch.setattr(sources, "read_sources", dict)
        assert "lib has changed while it ran" in update(project).message
        with pytest.raises(BookError, match="lib has changed since this command began"):
            jobs.require_fresh(project, "quick")

    def test_data_may_be_fetched_but_not_taken_away(self, project, monkeypatch):
        statuses = {}
        monkeypatch.setattr(remote_data, "remote_status", lambda *_: dict(statuses))

        statuses["cleve"] = ("not available", "")
        replace_execution(monkeypatch, lambda: statuses.update(cleve=("cached", "")))
        assert update(project).status == "executed"

        shutil.rmtree(project.root / "_build")
        statuses["cleve"] = ("cached", "")
        replace_execution(monkeypatch, lambda: statuses.update(cleve=("not available", "")))
        job = update(project)
        assert job.status == "FAILED"
        assert "what can be had of cleve changed while it ran" in job.message

    def test_recorded_rows_for_data_that_could_be_had_by_the_end(self, project, monkeypatch):
        """As where the download of one set failed and another run has it by now."""
        monkeypatch.setattr(
            remote_data,
            "remote_status",
            lambda *_: {"cleve": ("cached", ""), "crx": ("not available", "")},
        )
        for sets, status in (["crx"], "executed"), (["crx", "cleve"], "FAILED"):
            shutil.rmtree(project.root / "_build", ignore_errors=True)
            replace_execution(monkeypatch, notes=[{"kind": "absent", "sets": sets}])
            assert update(project).status == status


class TestSurroundings:
    def test_kernels_see_no_variable_that_could_decide_a_number(
        self, project, write_chapter, tmp_path, monkeypatch
    ):
        deciding_names = {
            "MY_SETTING",
            "NUMBA_OPT",
            "OMP_SCHEDULE",
            "SKLEARN_ASSUME_FINITE",
            "COLUMNS",
        }
        for name in deciding_names:
            monkeypatch.setenv(name, "1")
        write_chapter(project, "cia/curves", "import os\nprint(*os.environ)")
        execute(project, "cia/curves", {}, tmp_path / "out.ipynb")
        names = set(last_text(tmp_path / "out.ipynb").split())
        assert {"PATH", "PYTHONHASHSEED", "BOOK_TRIALS"} <= names
        assert not deciding_names & names

    def test_paths_in_variables_are_those_of_the_command(self, monkeypatch, tmp_path):
        """Kernels run in another folder."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("UCI_MIRROR", "uci")
        monkeypatch.setenv("TEXTS_MIRROR", "~/texts")
        environment = command_environment()
        assert environment["UCI_MIRROR"] == str(tmp_path / "uci")
        assert environment["TEXTS_MIRROR"] == os.path.expanduser("~/texts")

    def test_a_folder_of_texts_is_named_from_the_folder_of_the_book(
        self, project, write_chapter, monkeypatch, tmp_path
    ):
        write_chapter(project, "cia/curves", "read_texts(folder)")
        (project.root / "texts").mkdir()
        (project.root / "texts" / "own.txt").write_text("It is past ten.")
        monkeypatch.chdir(tmp_path)
        cells = read_cells(project.notebook("cia/curves"))
        statuses = remote_data.remote_data_status(project, cells, {"folder": "texts"})
        assert statuses["texts"][0] == "here"

    def test_kernels_of_another_lib_are_told(self, project, tmp_path, monkeypatch):
        """As where the folder in which the command is called has another one."""
        monkeypatch.setattr(kernels, "lib_signature", lambda: ("/elsewhere/lib", "0"))
        with pytest.raises(BookError, match=r"lib is another in its processes .* /elsewhere/lib"):
            execute(project, "cia/curves", {}, tmp_path / "out.ipynb")


def test_data_that_are_not_shipped_are_part_of_the_key(project, tmp_path, monkeypatch):
    """Those that the parameters name, by what can be had of them."""
    monkeypatch.delenv("UCI_MIRROR", raising=False)
    monkeypatch.setenv("UCI_CACHE", str(tmp_path))
    entry = replace(catalogue()["cleve"], sha256=(sha256(b"1,2\n"),))
    monkeypatch.setitem(catalogue(), "cleve", entry)

    def key(name):
        return fingerprint(project, "cia/curves", {"sets": [name]})

    key_of_iris = key("iris")
    without_data = key("cleve")
    (tmp_path / entry.files[0]).write_text("1,2\n")
    cached = key("cleve")
    assert cached != without_data
    # the first half is of all other ingredients
    assert cached.partition("-")[0] == without_data.partition("-")[0]
    monkeypatch.setenv("UCI_MIRROR", str(tmp_path))
    mirrored = key("cleve")
    (tmp_path / entry.files[0]).write_text("1,3\n")
    altered = key("cleve")
    assert len({without_data, cached, mirrored, altered}) == 4
    assert key("iris") == key_of_iris


def test_texts_are_part_of_the_key_of_a_chapter_that_reads_them(
    project, write_chapter, tmp_path, monkeypatch
):
    monkeypatch.setenv("UCI_CACHE", str(tmp_path))
    monkeypatch.delenv("TEXTS_MIRROR", raising=False)
    text_file = tmp_path / "own.txt"
    for code, changes in ("", False), ("read_texts(folder)", True):
        write_chapter(project, "cia/curves", code)
        text_file.unlink(missing_ok=True)
        keys = [fingerprint(project, "cia/curves", {"folder": str(tmp_path)})]
        for text in ("It is past ten.", "It is past bearing."):
            text_file.write_text(text)
            keys.append(fingerprint(project, "cia/curves", {"folder": str(tmp_path)}))
        assert len(set(keys)) == (3 if changes else 1)
    assert find_missing_data(project, "cia/curves") == ["texts"]


def test_sums_are_those_of_one_kind_of_processor_unless_another_is_named(monkeypatch):
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    assert command_environment().get("OPENBLAS_CORETYPE") in (None, "Haswell")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    assert command_environment()["OPENBLAS_CORETYPE"] == "Nehalem"
