"""Faults around the book are told in words, and leave no half-written file and no process."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from conftest import CLAIMS, FIGURE, PARAMETERS, REPOSITORY, book, chapter, make_project

from lib.base.files import write_whole
from lib.book import cli
from lib.book.run import environment, execution, jobs
from lib.book.run.jobs import lock_of, locked
from lib.book.run.keys import is_fresh, read_execution_note
from lib.book.run.project import BookError, Project

FULL = OSError(errno.ENOSPC, "No space left on device")
PRINTS = "print('got here')"


def start(project, *arguments, python=sys.executable, **options):
    """Start the command in a process group of its own."""
    return subprocess.Popen(
        [python, "-P", "-m", "lib.book", "--root", project.root, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        **options,
    )


# The disk


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    def full_disk(file):
        os.truncate(file, os.fstat(file).st_size // 2)
        raise FULL

    write_whole(tmp_path / "a.json", "before")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a.json", "after")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.json": "before"}


def test_two_attempts_at_a_chapter_have_files_of_their_own(tmp_path):
    """Also two of one process, or of processes that have the same number one after the other."""
    with (
        execution._attempt(tmp_path / "curves.ipynb") as first,
        execution._attempt(tmp_path / "curves.ipynb") as second,
    ):
        assert first != second


@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()])
@pytest.mark.parametrize(("share", "content"), [(0.5, "earlier"), (1, "executed")])
def test_an_execution_that_is_cut_short_leaves_whole_notebooks(
    project, monkeypatch, tmp_path, share, error, content
):
    """The earlier notebook stays until the new one is whole."""
    notebook = nbformat.writes(chapter("'executed'"))

    def write_share(_, output, *__, **___):
        text = notebook[: int(share * len(notebook))]
        # papermill takes braces in a name for a format
        path = Path(output.replace("{{", "{").replace("}}", "}"))
        path.write_text(text, encoding="utf-8")
        raise error

    output = tmp_path / "a {b}.ipynb"
    output.write_text('{"cells": "earlier"}')
    monkeypatch.setattr(execution.papermill, "execute_notebook", write_share)
    with pytest.raises(type(error)):
        execution.execute(project, "cia/curves", {}, output)
    assert content in output.read_text()
    assert json.loads(output.read_text())
    assert list(tmp_path.glob("*.ipynb")) == [output]


GOOD = {"key": "k", "sha256": sha256(b"{}").hexdigest(), "seconds": 1.0, "commit": "c"}
WRONG_VALUES = [{**GOOD, name: value} for name in GOOD for value in (None, 3, ["k"])]
WITHOUT_A_FIELD = [{name: value for name, value in GOOD.items() if name != field} for field in GOOD]
BROKEN = [json.dumps(note) for note in (*WRONG_VALUES, *WITHOUT_A_FIELD)]


@pytest.mark.parametrize("text", ["", "[]", "3", '{"key": "k', "\x00", *BROKEN])
def test_a_record_that_is_none_makes_a_result_stale(tmp_path, text):
    (tmp_path / "a.ipynb").write_text("{}")
    (tmp_path / "a.json").write_text(json.dumps(GOOD))
    assert is_fresh(tmp_path / "a.ipynb", "k")
    (tmp_path / "a.json").write_text(text)
    assert not is_fresh(tmp_path / "a.ipynb", "k")
    assert read_execution_note(tmp_path / "a.ipynb") == {}


# Files that are not what they should be


def with_cell(source):
    notebook = chapter("1")
    notebook.cells[1].source = source
    return nbformat.writes(notebook).encode()


def with_cells(change):
    notebook = chapter("1")
    notebook.cells = change(notebook.cells)
    return nbformat.writes(notebook).encode()


# a file, its bytes (none: it is a folder), and what the command says of it
BAD = [
    ("tests/quick.yml", b"cia/curves: \xff", "cannot be read: 'utf-8' codec"),
    ("tests/quick.yml", b"cia/curves: {seed: 1, seed: 2}", "'seed' is set twice"),
    ("tests/quick.yml", b"cia/curves: 3", "cia/curves: expected lines `name: value`"),
    ("tests/quick.yml", None, "cannot be read: [Errno 21] Is a directory"),
    (
        "chapters/cia/curves.ipynb",
        with_cells(lambda cells: [cells[0], *cells[2:]]),
        "tagged 'parameters'; found 0",
    ),
    ("chapters/cia/curves.ipynb", with_cell("n: int = (3"), "parameters cell: not Python: "),
    (
        "chapters/cia/curves.ipynb",
        with_cell(PARAMETERS + "seed: int = 1"),
        "parameters cell: seed is set twice",
    ),
    (
        "chapters/cia/curves.ipynb",
        with_cell("n: int = 3  # [a..b]"),
        "[a..b] of n is no range of numbers",
    ),
    ("chapters/cia/curves.ipynb", b'{"cells": [3]}', "is not a notebook"),
    ("_toc.yml", b"[", "_toc.yml: "),
    ("_toc.yml", b"format: jb-book\nroot: 3", "_toc.yml: "),
    ("_toc.yml", b"format: jb-book\nroot: chapters/../README", "README, but chapters/ has no such"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_a_file_that_is_not_what_it_should_be_is_told(project, name, content, message):
    path = project.root / name
    path.unlink()
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    for arguments in (("run", "cia/curves"), ("build",)):
        result = book(project, *arguments, "--profile", "quick")
        assert result.exit_code == 1
        assert message in result.output
        assert "curves" in result.output or str(path) in result.output
    assert not (project.root / "_build").exists()


def test_a_folder_without_the_book_is_told(tmp_path):
    result = book(Project(tmp_path), "list")
    assert result.exit_code == 1
    assert "is no clone of the book: make one, or name it by --root" in result.output


# The environment


def test_what_the_system_refuses_is_told_with_a_remedy(project, monkeypatch, capsys):
    def full_disk(*_, **__):
        raise FULL

    monkeypatch.setattr(Path, "mkdir", full_disk)
    monkeypatch.setattr(sys, "argv", ["book", "--root", str(project.root), "run", "cia/curves"])
    with pytest.raises(SystemExit, match="1"):
        cli.main()
    assert re.match("Error: .*No space left.* with room for _build", capsys.readouterr().err)


def test_a_build_warns_of_another_environment_and_a_strict_one_is_refused(project, monkeypatch):
    def stop(*_):
        raise BookError("stopped before any chapter")

    monkeypatch.setattr(jobs, "run_all", stop)
    environment.require_locked(REPOSITORY / "requirements.lock")
    (project.root / "requirements.lock").write_text(
        f"# by uv\nnumpy=={version('numpy')} \\\n  --hash=0\n"
        "x==1 ; sys_platform == 'no'\nscipy==0.1\nno-such==2"
    )
    message = (
        f"`make -B env`:\n  scipy is {version('scipy')}, requirements.lock has ==0.1\n"
        "  no-such is not "
    )
    lenient = book(project, "build")
    strict = book(project, "build", "--strict")
    for result in (lenient, strict):
        assert result.exit_code == 1
        assert message in result.output
    assert "stopped before any chapter" in lenient.output
    assert "stopped before any chapter" not in strict.output


USE_SURROUNDINGS = """\
from pathlib import Path
Path("größe.txt").write_text("größe")
print(Path("größe.txt").read_text())
import socket
try:
    socket.create_connection(("127.0.0.1", 9))
except OSError as error:
    print(error)
"""
NO_NETWORK = """\
import socket
connect = socket.socket.connect
def refused(self, address):
    if self.family != socket.AF_UNIX:
        open({log!r}, "a").write(f"{{address}}")
        raise OSError(101, "Network is unreachable")
    return connect(self, address)
socket.socket.connect = refused
"""
# files of a reader, none of which may decide anything in a chapter
READERS_FILES = {
    "matplotlibrc": "lines.linewidth: 77",
    "startup.py": "print('startup')",
    "ipython/profile_default/ipython_config.py": "c.InteractiveShellApp.exec_lines = ['print(77)']",
    "path/numpy.py": "raise ImportError('the wrong numpy')",
    "lib/__init__.py": "raise ImportError('the wrong lib')",
}
SHOW_SETTINGS = """\
import matplotlib, sys
print(matplotlib.rcParams["lines.linewidth"], sys.flags.optimize, matplotlib.get_backend())
"""


@pytest.mark.slow
def test_a_book_is_built_without_home_fonts_network_and_utf8_and_without_the_readers_settings(
    project, tmp_path
):
    """One build in bad surroundings: nobody can make HOME and the folder of the font cache."""
    reader = tmp_path / "own"
    log = tmp_path / "network.log"
    python = tmp_path / "python"
    for name, text in READERS_FILES.items():
        (reader / name).parent.mkdir(parents=True, exist_ok=True)
        (reader / name).write_text(text)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", python], check=True)
    site = next(python.glob("lib/*/site-packages"))
    (site / "all.pth").write_text(f"{sysconfig.get_path('purelib')}\n{REPOSITORY}\n")
    (site / "sitecustomize.py").write_text(NO_NETWORK.format(log=str(log)))
    shutil.rmtree(project.root / "assets" / "fonts")
    nbformat.write(
        chapter(USE_SURROUNDINGS, SHOW_SETTINGS, CLAIMS, FIGURE), project.notebook("cia/curves")
    )
    variables = {
        "HOME": "/dev/null/home",
        "MPLCONFIGDIR": "/dev/null/fonts",
        "LC_ALL": "C",
        "LANG": "C",
        "MPLBACKEND": "svg",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
        "PYTHONPATH": str(reader / "path"),
        "PYTHONOPTIMIZE": "2",
        "PYTHONSTARTUP": str(reader / "startup.py"),
        "IPYTHONDIR": str(reader / "ipython"),
        "PATH": os.environ["PATH"],
        "MATPLOTLIBRC": str(reader / "matplotlibrc"),
    }
    process = start(
        project,
        "build",
        "--profile",
        "quick",
        python=python / "bin" / "python",
        cwd=reader,
        env=variables,
    )
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert log.read_text() == "('127.0.0.1', 9)"  # the chapter's own attempt and no other
    surroundings, settings = nbformat.read(project.executed("quick", "cia/curves"), 4).cells[3:5]
    assert surroundings.outputs[0].text == "größe\n[Errno 101] Network is unreachable\n"
    # the defaults of matplotlib and Python, and the backend of notebooks
    assert [output.text for output in settings.outputs] == ["1.5 0 inline\n"]
    html = project.build_folder("quick") / "html"
    page = (html / "chapters" / "cia" / "curves.html").read_text(encoding="utf-8")
    assert "größe" in page
    assert "-light.svg" in page


# Processes that end early


def processes_in(folder):
    """The processes whose working directory is a folder: of a book's, its kernels."""
    commands = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(entry / "cwd")) == folder:
                commands.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:  # it has ended, or is somebody else's
            continue
    return commands


def wait_for(condition, seconds=180):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


SLEEP = "import pathlib, time\npathlib.Path('asleep').touch()\ntime.sleep(300)"
EXPERIMENT = """
from lib.experiments import cia_learning_curves
cia_learning_curves(20, 2, n_models=2000, sizes=[300], learners=["em"], n_jobs=2)
"""


def n_blocks(project):
    return len(list(project.results.rglob("*.block")))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "build"])
def test_an_interruption_is_told_keeps_what_was_executed_and_leaves_no_process(
    write_chapter, tmp_path, monkeypatch, name
):
    """A run keeps its blocks; while a build runs, a second one says so and changes nothing."""
    monkeypatch.delenv("BOOK_RESULTS", raising=False)
    project = make_project(tmp_path / "bü ch")
    notebook = project.executed("quick", "cia/curves")
    if name == "run":
        write_chapter(project, "cia/curves", PRINTS, EXPERIMENT)
        arguments = ["run", "cia/curves", "-o", str(notebook)]
        under_way = partial(n_blocks, project)
    else:
        write_chapter(project, "cia/curves", PRINTS, SLEEP)
        arguments = ["build", "--profile", "quick"]
        under_way = (project.root / "asleep").exists
    process = start(project, *arguments)
    try:
        wait_for(lambda: under_way() or process.poll() is not None)
        if name == "build":
            assert "another command is writing into" in book(project, *arguments).output
        assert processes_in(project.root)
    finally:
        os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=40)
    assert process.returncode == 130, errors
    assert errors.strip().splitlines()[-1] == "interrupted"
    assert "Traceback" not in errors
    assert "got here" in notebook.read_text()
    assert not is_fresh(notebook, "")
    wait_for(lambda: not processes_in(project.root), seconds=10)
    assert (n_blocks(project) > 0) == (name == "run")
    assert not list(project.results.rglob("*.part"))


@pytest.mark.slow
def test_a_killed_kernel_fails_its_chapter_and_keeps_what_was_executed(write_chapter, tmp_path):
    project = make_project(tmp_path / "bü ch")
    write_chapter(
        project, "cia/curves", PRINTS, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    result = book(project, "build", "--profile", "quick")
    assert result.exit_code == 1
    assert "cia/curves: the kernel died" in result.output
    assert "Traceback" not in result.output
    assert "got here" in project.executed("quick", "cia/curves").read_text()
    assert "not up to date" in book(project, "claims", "--profile", "quick").output


@pytest.mark.slow
def test_kernels_and_workers_die_with_a_killed_build(write_chapter, tmp_path):
    """So none of them writes into the next one's results."""
    project = make_project(tmp_path / "bü ch")
    write_chapter(project, "cia/curves", EXPERIMENT)
    process = start(project, "build", "--profile", "quick", cwd=project.root)
    # the build, its server and tracker, a kernel, workers
    wait_for(lambda: len(processes_in(project.root)) > 4)
    process.kill()
    wait_for(lambda: not processes_in(project.root), seconds=10)
    process.communicate()


def test_two_runs_at_once_do_not_write_one_notebook(project, tmp_path):
    """Neither is given the notebook or the page of the other."""
    output = project.root / "_build" / "run" / "cia" / "curves.ipynb"
    with lock_of(project, output.resolve()):
        second = book(project, "run", "cia/curves", "-p", "n_models", "4")
        assert second.exit_code == 1
        assert f"another command is writing {output}; start again" in second.output
        assert not output.exists()
        elsewhere = book(project, "run", "cia/curves", "-o", tmp_path / "other.ipynb")
        assert elsewhere.exit_code == 0, elsewhere.output
    assert [path.name for path in tmp_path.glob("*.ipynb")] == ["other.ipynb"]


def test_a_folder_of_results_is_held_until_its_holder_ends(project):
    with locked(project.build_folder("quick")):
        result = book(project, "build", "--profile", "quick")
        assert result.exit_code == 1
        assert f"another command is writing into {project.build_folder('quick')}" in result.output
        assert not (project.build_folder("quick") / "executed").exists()
    attempt = project.build_folder("quick") / "curves.part-1.ipynb"
    attempt.touch()
    with locked(project.build_folder("quick")), locked(project.build_folder("paper")):
        assert not attempt.exists()
