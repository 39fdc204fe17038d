"""One book, one lib: no page is signed with one and computed by another, and a copy gets an environment of its own."""

import os
import shutil
import subprocess

import pytest
from click.testing import CliRunner
from conftest import REPOSITORY, book, make_project, own_lib

from lib.book import execution
from lib.book.cli import cli
from lib.files import LIB


@pytest.fixture
def other(tmp_path):
    """Another clone of the book, with a lib of its own."""
    project = make_project(tmp_path / "an 'other' \"clone\"")
    own_lib(project)
    (project.root / "lib" / "book").mkdir()
    return project


COMMANDS = [
    ("list",),
    ("run", "cia/curves"),
    ("build",),
    ("claims",),
    ("pdf",),
    ("record", "cia/curves"),
    ("cache",),
]


class TestCommand:
    @pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
    def test_a_book_with_another_lib_is_refused(self, other, monkeypatch, arguments):
        monkeypatch.setattr(execution, "execute", None)
        result = book(other, *arguments)
        assert result.exit_code == 1
        assert (
            f"the book in {other.root} is not of the code that runs here, in {LIB}; "
            in result.output
        )
        assert (
            f"run {other.root}/.venv/bin/book, which `make env` in {other.root} sets up"
            in result.output
        )
        assert not (other.root / "_build").exists()

    def test_a_book_without_a_lib_is_refused(self, other):
        shutil.rmtree(other.root / "lib")
        assert "is not of the code that runs here" in book(other, "list").output

    def test_the_same_book_by_another_name_is_taken(self, tmp_path):
        (tmp_path / "link").symlink_to(REPOSITORY)
        result = CliRunner().invoke(
            cli, ["--root", str(tmp_path / "link" / "lib" / ".."), "list", "cia/curves"]
        )
        assert result.exit_code == 0, result.output

    @pytest.mark.parametrize("below", [".", "chapters/cia"])
    def test_the_command_of_one_clone_inside_another_is_refused(self, other, monkeypatch, below):
        monkeypatch.delenv("BOOK_ROOT", raising=False)
        monkeypatch.chdir(other.root / below)
        result = CliRunner().invoke(cli, ["list"])
        assert result.exit_code == 1
        assert (
            f"this command is of the book in {REPOSITORY}, and was called in {other.root}, another"
            in result.output
        )
        assert f"run {other.root}/.venv/bin/book, which `make env`" in result.output
        for options, root in ((["--root", str(REPOSITORY)], ""), ([], str(REPOSITORY))):
            named = CliRunner().invoke(
                cli, [*options, "list", "cia/curves"], env={"BOOK_ROOT": root or None}
            )
            assert named.exit_code == 0, named.output

    def test_anywhere_else_it_is_the_book_of_the_command(self, tmp_path, monkeypatch):
        monkeypatch.delenv("BOOK_ROOT", raising=False)
        (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: another-book\n")
        for folder in (tmp_path, REPOSITORY / "chapters"):
            monkeypatch.chdir(folder)
            result = CliRunner().invoke(cli, ["list", "cia/curves"])
            assert result.exit_code == 0, result.output


# Instead of Python, of pip and of uv: notes its calls, and makes environments of copies of itself.
PYTHON = """\
#!/bin/sh
echo "$*" >> "{log}"
if [ "$1 $2 $3 $4" = "-m venv --clear .venv" ]; then
  rm -rf .venv && mkdir -p .venv/bin && cp "$0" .venv/bin/python && cp "$0" .venv/bin/uv
fi
[ "$1 $2" != "-m pip" ] || [ ! -e "{broken}" ]
"""


class TestMakefile:
    @pytest.fixture
    def make(self, tmp_path, monkeypatch):
        """A function that calls `make env` in a folder, with a stand-in for Python, and returns what that was asked."""
        log, python, broken = tmp_path / "log", tmp_path / "python it's", tmp_path / "broken"
        python.write_text(PYTHON.format(log=log, broken=broken))
        python.chmod(0o755)
        for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON"):
            monkeypatch.delenv(variable, raising=False)

        def make(folder, is_broken=False):
            log.write_text("")
            broken.touch() if is_broken else broken.unlink(missing_ok=True)
            command = ["make", "--silent", "-C", folder, f"PYTHON={python}", "env"]
            process = subprocess.run(command, capture_output=True, text=True)
            assert (process.returncode != 0) == is_broken, process.stderr
            return log.read_text()

        return make

    @pytest.fixture(params=["plain", 'it\'s "a" copy, (1) of $HOME #2'])
    def checkout(self, tmp_path, request):
        folder = tmp_path / request.param
        folder.mkdir()
        for name in ("Makefile", "requirements.lock", "pyproject.toml"):
            shutil.copy(REPOSITORY / name, folder)
        return folder

    def test_an_environment_is_made_once(self, make, checkout):
        assert "-m venv --clear .venv" in make(checkout)
        assert (checkout / ".venv" / "ready").read_text() == f"{checkout}\n"
        assert make(checkout) == ""

    def test_a_new_lock_needs_no_new_environment(self, make, checkout):
        make(checkout)
        (checkout / "requirements.lock").write_text("uv==1 \\\n    --hash=0\n")
        asked = make(checkout)
        assert "-m venv" not in asked
        assert "--require-hashes" in asked

    @pytest.mark.parametrize("copy_or_move", [shutil.copytree, shutil.move])
    def test_a_copied_or_moved_checkout_gets_a_new_environment(self, make, checkout, copy_or_move):
        make(checkout)
        target = checkout.with_name("the 'other'")
        copy_or_move(checkout, target)
        assert "-m venv --clear .venv" in make(target)
        assert make(target) == ""
        if checkout.exists():
            assert make(checkout) == ""

    def test_also_after_the_first_attempt_has_failed(self, make, checkout):
        make(checkout)
        target = checkout.with_name("the other")
        shutil.copytree(checkout, target)
        for is_broken in (True, False):
            assert "-m venv --clear .venv" in make(target, is_broken)
        assert make(target) == ""


def copy_checkout(folder):
    """Copy what git tracks, or would, into a folder."""
    names = subprocess.run(
        ["git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, folder / name)


@pytest.mark.slow
def test_a_copy_with_its_environment_runs_its_own_code_after_make(tmp_path):
    """As the stand-in above, with the packages themselves: from the network, or a cache of uv's."""
    folder, moved = tmp_path / "a 'first' place", tmp_path / "another place"
    folder.mkdir()
    copy_checkout(folder)
    show = "import lib, sys; print(lib.__file__); print(sys.prefix)"
    plain = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "MAKE", "MFLAGS"))
    }
    calls = {"check": True, "capture_output": True, "text": True, "env": plain}
    for place in (folder, moved):
        if place == moved:
            shutil.copytree(folder, moved, symlinks=True)
        subprocess.run(["make", "-C", place, "env"], **calls)
        script = (place / ".venv" / "bin" / "book").read_text(encoding="utf-8")
        assert place.name.replace("'", "'\"'\"'") in script
        shown = subprocess.run(
            [place / ".venv" / "bin" / "python", "-c", show], cwd=tmp_path, **calls
        ).stdout
        assert shown.splitlines() == [str(place / "lib" / "__init__.py"), str(place / ".venv")]
        subprocess.run([place / ".venv" / "bin" / "book", "list"], cwd=place, **calls)
