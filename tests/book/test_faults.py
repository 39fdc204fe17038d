"""What goes wrong around the book: each fault is told in words, leaves no half-written file and no process behind."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from functools import partial
from importlib.metadata import version
from pathlib import Path

import matplotlib
import nbformat
import pytest
from click.testing import CliRunner
from conftest import CLAIMS, FIGURE, PARAMETERS, REPOSITORY, chapter, make_project
from lib.book.first_cell import put_first_cell
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from nbformat.v4 import new_code_cell

import lib.book
from lib.book import build, environment, execution, sweep, sweep_page, verdicts
from lib.book import cli as command
from lib.book.alone import alone_in
from lib.book.cache import fingerprint, is_fresh, read_record, write_record
from lib.book.project import BookError, write_whole
from lib.figures.style import use_style
from lib.trials.store import SHA256, _sealed, decode

KEPT = "print('got here')"


def book(project, *arguments):
    return CliRunner().invoke(command.cli, ["--root", str(project.root), *map(str, arguments)])


def call_main(monkeypatch, capsys, *arguments):
    """Call the command as a shell does; returns its exit code and what it wrote as an error."""
    monkeypatch.setattr(sys, "argv", ["book", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        command.main()
    return ended.value.code, capsys.readouterr().err


def start(project, *arguments, **options):
    """Start the command in a process group of its own."""
    whole = [Path(sys.executable).with_name("book"), "--root", project.root, *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(whole, **pipes, encoding="utf-8", start_new_session=True, **options)


# The disk


def full_disk(path, text, **_):
    with open(path, "w") as file:
        file.write(text[: len(text) // 2])
    raise OSError(errno.ENOSPC, "No space left on device", str(path))


def record_of(folder, project):
    write_record(folder / "curves.ipynb", "key", 1.0)


def claims_of(folder, project):
    verdicts.write_claims(folder / "curves.ipynb")


def verdicts_of(folder, project):
    verdicts.record(project, [{"id": "a-claim", "verdict": "holds"}])


def chapter_of(folder, project):
    put_first_cell(project.notebook("cia/curves"), f"https://example.org/{time.monotonic_ns()}")


def table_of(folder, project):
    sweep_page.write_pages(folder, "cia/curves", [sweep.Run("seed=1", {"seed": 1}, {"seed": 1}, folder / "a.ipynb")])


def settings_of(folder, project):
    sweep._write_parameters(sweep.Run("seed=1", {"seed": 1}, {"seed": 1}, folder / "a.ipynb"))


@pytest.mark.parametrize("write", [record_of, claims_of, verdicts_of, chapter_of, table_of, settings_of])
def test_a_full_disk_leaves_the_file_as_it_was(project, write, monkeypatch):
    folder = project.root / "results"
    folder.mkdir()
    shutil.copy(project.notebook("cia/curves"), folder / "curves.ipynb")
    write(folder, project)
    before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write(folder, project)
    assert {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()} == before


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "é {x}.yml"
    for text in ("ü\n", "later\r\n"):
        write_whole(path, text)
        assert path.read_bytes() == text.encode()
    assert list(tmp_path.iterdir()) == [path]


def half(text):
    return text[: len(text) // 2]


@pytest.mark.parametrize(
    ("written", "raised", "kept"),
    [
        (half, OSError(errno.ENOSPC, "No space left on device"), "earlier"),
        (half, KeyboardInterrupt(), "earlier"),
        (str, KeyboardInterrupt(), "executed"),
        (str, OSError(errno.ENOSPC, "No space left on device"), "executed"),
    ],
)
def test_an_execution_that_is_cut_short_leaves_whole_notebooks(project, monkeypatch, tmp_path, written, raised, kept):
    executed = nbformat.writes(chapter("'executed'"))

    def cut_short(_, output, **__):
        Path(output.replace("{{", "{").replace("}}", "}")).write_text(written(executed), encoding="utf-8")
        raise raised

    output = tmp_path / "a {b}.ipynb"
    output.write_text('{"cells": "earlier"}')
    monkeypatch.setattr(execution.papermill, "execute_notebook", cut_short)
    with pytest.raises(type(raised)):
        execution.execute(project, "cia/curves", {}, output)
    assert kept in output.read_text()
    assert json.loads(output.read_text())
    assert list(tmp_path.glob("*.ipynb")) == [output]


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room and start again"),
        (errno.EDQUOT, "make room and start again"),
        (errno.EROFS, "the results go into _build in the folder of the book"),
        (errno.EIO, "/book/_build"),
    ],
)
def test_what_the_system_refuses_is_told_with_a_remedy(project, monkeypatch, capsys, number, remedy):
    def refused(*_, **__):
        raise OSError(number, os.strerror(number), "/book/_build")

    monkeypatch.setattr(Path, "mkdir", refused)
    code, errors = call_main(monkeypatch, capsys, "--root", project.root, "run", "cia/curves")
    assert code == 1
    assert errors.startswith(f"Error: /book/_build: {os.strerror(number)}")
    assert remedy in errors


def test_an_output_below_a_file_is_told(project, monkeypatch, capsys, tmp_path):
    (tmp_path / "file").write_text("")
    output = tmp_path / "file" / "out.ipynb"
    code, errors = call_main(monkeypatch, capsys, "--root", project.root, "run", "cia/curves", "-o", output)
    assert code == 1
    assert f"{tmp_path / 'file'}" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("text", ["", "[]", "3", '{"key": "k', "\x00", '{"sha256": 3}'])
def test_a_record_that_is_none_makes_a_result_stale(tmp_path, text):
    (tmp_path / "a.ipynb").write_text("{}")
    (tmp_path / "a.json").write_text(text)
    assert not is_fresh(tmp_path / "a.ipynb", "k")
    assert isinstance(read_record(tmp_path / "a.ipynb"), dict)


def test_a_damaged_mark_of_a_sweep_is_told(tmp_path):
    (tmp_path / sweep.MARK).write_text('{"chap')
    with pytest.raises(BookError, match="choose another folder"):
        sweep.claim_folder(tmp_path, "cia/curves")


# Files that are not what they should be


def unreadable(path):
    """A stand-in for a file without permission, which even the superuser cannot read."""

    def refused(self, *arguments, **options):
        if self == path:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return original(self, *arguments, **options)

    original = Path.read_text
    return refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"paper: \xff", "is not text in UTF-8"),
        (b"paper: \x00", "unacceptable character"),
        (b"[" * 3000, "RecursionError"),
        (b"paper: {cia/curves: {seed: 2020-13-45}}", "month must be in 1..12"),
        (b"paper: 3", "paper: expected lines `name: value`"),
        (b"paper: [cia/curves]", "paper: expected lines `name: value`"),
        (b"paper: {cia/curves: 3}", "paper: cia/curves: expected lines `name: value`"),
        (b"3", "expected lines `name: value`"),
        (None, "cannot be read: Is a directory"),
        ("denied", "cannot be read: Permission denied"),
    ],
)
def test_profiles_that_cannot_be_read_are_told(project, monkeypatch, content, message):
    path = project.root / "chapters" / "profiles.yml"
    if content is None:
        path.unlink()
        path.mkdir()
    elif content == "denied":
        monkeypatch.setattr(Path, "read_text", unreadable(path))
    else:
        path.write_bytes(content)
    for arguments in (("run", "cia/curves", "--profile", "paper"), ("build",)):
        result = book(project, *arguments)
        assert result.exit_code == 1
        assert message in result.output
        assert str(path) in result.output
    assert not (project.root / "_build").exists()


NO_SOURCE = b"""{"nbformat": 4, "nbformat_minor": 5, "metadata": {},
  "cells": [{"id": "a", "cell_type": "code", "metadata": {"tags": ["parameters"]}}]}"""


def cell(source):
    notebook = chapter("1")
    notebook.cells[1].source = source
    return nbformat.writes(notebook).encode()


def with_cells(change):
    notebook = chapter("1")
    notebook.cells = change(notebook.cells)
    return nbformat.writes(notebook).encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (with_cells(lambda cells: [cells[0], *cells[2:]]), "one cell tagged 'parameters'; found 0"),
        (
            with_cells(lambda cells: [*cells, new_code_cell("m: int = 3", metadata=cells[1].metadata)]),
            "one cell tagged 'parameters'; found 2",
        ),
        (cell("n: int = (3"), "parameters cell: not Python: "),
        (cell('n: str = """'), "parameters cell: not Python: "),
        (cell("n: int = 3\n  m: int = 4"), "parameters cell: not Python: "),
        (cell("n: int = len('abc')"), "parameters cell: the value of n must be a literal"),
        (cell("n: int = {[]: 1}"), "parameters cell: the value of n must be a literal"),
        (cell(PARAMETERS + "seed: int = 1"), "parameters cell: seed is set twice"),
        (cell("n: int = 3  # [a..b]"), "parameters cell: [a..b] of n is no range of numbers"),
        (b"", "is not a notebook"),
        (b"# %% a script", "is not a notebook"),
        (b"[]", "is not a notebook"),
        (b'{"nbformat": 4', "is not a notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}', "is not a notebook"),
        (NO_SOURCE, "is not a valid notebook"),
        (b"\xff\xfe", "is not text in UTF-8"),
    ],
)
def test_a_chapter_that_is_none_is_told(project, content, message):
    project.notebook("cia/curves").write_bytes(content)
    for arguments in (("list",), ("run", "cia/curves"), ("build",)):
        result = book(project, *arguments)
        assert result.exit_code == 1
        assert message in result.output
        assert "cia/curves" in result.output
    assert not (project.root / "_build").exists()


@pytest.mark.parametrize("content", [b"[", b"", b"\xff", b"format: jb-book\nroot: 3", None])
def test_a_table_of_contents_that_is_none_is_told(project, content):
    path = project.root / "_toc.yml"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    result = book(project, "list")
    assert result.exit_code == 1
    assert f"Error: {path}: " in result.output


# The environment


def lock(tmp_path, *lines):
    path = tmp_path / "requirements.lock"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_the_lock_of_the_book_names_every_package_and_none_of_another_platform():
    path = REPOSITORY / "requirements.lock"
    assert len(environment._lines(path.read_text())) > 100
    assert environment.differences(path) == []


def test_packages_that_are_not_as_locked_are_named(tmp_path):
    hashed = f"numpy=={version('numpy')} \\"
    other = "colorama==0.1 ; sys_platform == 'no such'"
    path = lock(tmp_path, "# made by uv", hashed, "    --hash=sha256:00", other, "scipy==0.1", "no-such==2", "")
    assert environment.differences(path) == [
        f"installed scipy {version('scipy')}, requirements.lock has 0.1",
        "no-such is not installed, requirements.lock has 2",
    ]


def test_of_very_many_packages_the_first_are_named(tmp_path):
    with pytest.raises(BookError, match="(?s)no-such-0 is .*no-such-19 is .*and 5 more$") as error:
        environment.require_locked(lock(tmp_path, *(f"no-such-{i}==1" for i in range(25))))
    assert "no-such-20" not in error.value.message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("numpy=2", "line 1: 'numpy=2' is no requirement"),
        ("numpy>=2", "line 1: 'numpy>=2' does not say NAME==VERSION"),
        ("<<<<<<< HEAD", "line 1: '<<<<<<< HEAD' is no requirement"),
        ("numpy==2 ; platform = 'x'", "line 1: .* is no requirement"),
        ("\x00", "line 1"),
    ],
)
def test_a_line_of_the_lock_that_is_no_requirement_is_named(tmp_path, line, message):
    with pytest.raises(BookError, match=message):
        environment.differences(lock(tmp_path, line))


def test_a_build_warns_of_another_environment_and_a_strict_one_is_refused(project, monkeypatch):
    def stop(*_):
        raise BookError("stopped before any chapter")

    monkeypatch.setattr(build, "bring_up_to_date", stop)
    lock(project.root, "numpy==0.1")
    message = f"installed numpy {version('numpy')}, requirements.lock has 0.1"
    lenient, strict = book(project, "build"), book(project, "build", "--strict")
    assert (lenient.exit_code, strict.exit_code) == (1, 1)
    assert message in lenient.output
    assert "run `make -B env`" in lenient.output
    assert "stopped before any chapter" in lenient.output
    assert message in strict.output
    assert "stopped before any chapter" not in strict.output
    (project.root / "requirements.lock").unlink()
    assert "requirements.lock cannot be read: No such file" in book(project, "build").output


def test_the_installer_refuses_a_package_whose_hash_is_not_the_locked_one(tmp_path):
    wheel = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("tiny.py", "")
        file.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        file.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("tiny-1.dist-info/RECORD", "")
    path = lock(tmp_path, "tiny==1 --hash=sha256:" + "0" * 64)
    uv = [sys.executable, "-m", "uv", "pip", "install", "--no-index", "--offline", "--no-cache", "--require-hashes"]
    places = ["--find-links", tmp_path, "--target", tmp_path / "here", "--python", sys.executable, "-r", path]
    process = subprocess.run([*uv, *places], capture_output=True, text=True)
    assert process.returncode
    assert "Hash mismatch for `tiny==1`" in process.stderr
    assert not (tmp_path / "here" / "tiny.py").exists()


# The place and the time


def test_a_folder_that_is_gone_is_told(project, monkeypatch, capsys, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, errors = call_main(monkeypatch, capsys, "--root", project.root, "list")
    assert code == 1
    assert "Error: the folder in which this was called does not exist any more" in errors


def test_a_name_that_the_locale_cannot_read_is_told(project, monkeypatch, capsys):
    code, errors = call_main(monkeypatch, capsys, "--root", f"{project.root}/b\udcc3\udcbc", "list")
    assert code == 1
    assert "is not text in this locale; call it with the environment variable PYTHONUTF8=1" in errors


def test_neither_the_clock_nor_the_dates_of_files_count(project, monkeypatch):
    clock = iter(range(10**9, 0, -(10**6)))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    path = project.notebook("cia/curves")
    key = fingerprint(project, "cia/curves", {})
    write_record(path, key, 1.0)
    for seconds in (0, 4 * 10**9):
        for file in project.root.rglob("*"):
            os.utime(file, (seconds, seconds))
        assert fingerprint(project, "cia/curves", {}) == key
        assert is_fresh(path, key)


def test_a_clock_that_goes_back_takes_no_time(project, monkeypatch):
    def run(command, **_):
        attempt = Path(command[-1])
        attempt.parent.mkdir(parents=True, exist_ok=True)
        attempt.write_bytes(project.notebook("cia/curves").read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    clock = iter(range(10**9, 0, -(10**6)))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    monkeypatch.setattr(subprocess, "run", run)
    statuses = [build.bring_up_to_date(project, "quick", ["cia/curves"], 1)[0] for _ in range(2)]
    assert [outcome.status for outcome in statuses] == ["executed", "cached"]
    assert all(0 <= outcome.seconds < 60 for outcome in statuses)


def test_without_any_font_of_the_system_figures_have_matplotlibs_own(monkeypatch, caplog, tmp_path):
    own = [font for font in fontManager.ttflist if font.fname.startswith(matplotlib.get_data_path())]
    monkeypatch.setattr(fontManager, "ttflist", own)
    fontManager._findfont_cached.cache_clear()
    with matplotlib.rc_context():
        use_style()
        figure = Figure()
        figure.subplots().set_title(r"κ ≤ ½ – é $\alpha$")
        figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert caplog.text == ""


HERE = """\
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


def test_a_book_is_built_without_home_fonts_network_and_utf8_from_a_folder_with_another_lib(project, tmp_path):
    """One build in bad surroundings; HOME and the folder of the font cache can be made by nobody."""
    elsewhere, log = tmp_path / "elsewhere", tmp_path / "network.log"
    (elsewhere / "lib").mkdir(parents=True)
    (elsewhere / "lib" / "__init__.py").write_text("raise ImportError('the wrong lib')")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(NO_NETWORK.format(log=str(log)))
    shutil.rmtree(project.root / "assets" / "fonts")
    nbformat.write(chapter(HERE, CLAIMS, FIGURE), project.notebook("cia/curves"))
    bad = {"HOME": "/dev/null/home", "MPLCONFIGDIR": "/dev/null/fonts", "LC_ALL": "C", "LANG": "C"}
    bad |= {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(tmp_path / "site")}
    process = start(project, "build", "--profile", "quick", cwd=elsewhere, env=bad | {"PATH": os.environ["PATH"]})
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert log.read_text() == "('127.0.0.1', 9)"  # the chapter's own attempt and no other
    page = (project.build_folder("quick") / "html" / "chapters" / "cia" / "curves.html").read_text(encoding="utf-8")
    assert "größe" in page
    assert "Network is unreachable" in page
    assert "-light.svg" in page


# Processes that end early


def processes_in(folder):
    """The processes whose working directory is a folder: of a book's, its kernels."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(entry / "cwd")) == folder:
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:  # it has ended, or is somebody else's
            continue
    return found


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


SLEEP = "import pathlib, time\npathlib.Path('asleep').touch()\ntime.sleep(300)"
EXPERIMENT = """
from lib.experiments import cia_learning_curves
cia_learning_curves(40, 2, n_models=2000, sizes=[1000], learners=["em"], n_jobs=2)
"""


def stored_blocks(project):
    """Numbers of rows of the finished blocks of trials; an error if one is damaged."""
    contents = {path: path.read_bytes() for path in project.results.rglob("*.block")}
    assert all(found[:SHA256] == _sealed(path, found[SHA256:]) for path, found in contents.items())
    return [len(decode(found[SHA256:])) for found in contents.values()]


@pytest.mark.parametrize("name", ["run", "build"])
def test_an_interruption_is_told_keeps_what_was_executed_and_leaves_no_process(
    write_chapter, tmp_path, monkeypatch, name
):
    """Also: a run keeps its finished blocks; as long as a build runs, a second one says so and changes nothing."""
    monkeypatch.delenv("BOOK_RESULTS", raising=False)
    project = make_project(tmp_path / "bü ch")
    write_chapter(project, "cia/curves", KEPT, EXPERIMENT if name == "run" else SLEEP)
    kept = project.build_folder("quick") / "attempts" / "cia" / "curves.ipynb"
    arguments = ["run", "cia/curves", "-o", str(kept)] if name == "run" else ["build", "--profile", "quick"]
    process = start(project, *arguments)
    try:
        under_way = partial(stored_blocks, project) if name == "run" else (project.root / "asleep").exists
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
    assert "got here" in kept.read_text()
    assert [path.name for path in kept.parent.glob("*.ipynb")] == [kept.name]
    wait_for(lambda: not processes_in(project.root), seconds=10)
    assert not project.executed("quick", "cia/curves").exists()
    assert (sum(stored_blocks(project)) > 0) == (name == "run")
    assert not list(project.results.rglob("*.part"))


class Interrupted:
    """A finder of modules that is interrupted at one."""

    @staticmethod
    def find_spec(name, *_):
        if name == "lib.book.cli":
            raise KeyboardInterrupt


def test_an_interruption_while_modules_are_loaded_is_told_too(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "lib.book.cli")
    monkeypatch.delattr(lib.book, "cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupted, *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        lib.book.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_killed_kernel_fails_its_chapter_and_keeps_what_was_executed(write_chapter, tmp_path):
    project = make_project(tmp_path / "bü ch")
    write_chapter(project, "cia/curves", KEPT, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    result = book(project, "build", "--profile", "quick")
    assert result.exit_code == 1
    assert "cia/curves: the kernel died" in result.output
    assert "Traceback" not in result.output
    assert "got here" in (project.build_folder("quick") / "attempts" / "cia" / "curves.ipynb").read_text()
    assert not project.executed("quick", "cia/curves").exists()


def test_a_folder_of_results_is_held_until_its_holder_ends(project, tmp_path):
    with alone_in(project.build_folder("quick")):
        result = book(project, "build", "--profile", "quick")
        assert result.exit_code == 1
        assert f"another command is writing into {project.build_folder('quick')}" in result.output
        assert not (project.build_folder("quick") / "executed").exists()
    with alone_in(project.build_folder("quick")), alone_in(project.build_folder("paper")):
        pass
    with alone_in(tmp_path / "sweep"):
        sweep.write_whole(tmp_path / "sweep" / sweep.MARK, '{"chapter": "cia/curves"}\n')
        options = ("sweep", "cia/curves", "-p", "seed", "1,2", "-o", tmp_path / "sweep")
        assert "another command is writing into" in book(project, *options).output
