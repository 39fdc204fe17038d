"""One book, one lib: no page is signed with one and computed by another, also in a copy."""

import os
import shutil
import subprocess

import pytest
from click.testing import CliRunner
from conftest import REPOSITORY, book, make_project, replace_lib_link

from lib.base.files import LIB
from lib.book.cli import cli
from lib.book.run import execution


@pytest.fixture
def another_clone(tmp_path):
    """Another clone of the book, with a lib of its own."""
    project = make_project(tmp_path / "an 'other' \"clone\"")
    replace_lib_link(project)
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
    def test_a_book_with_another_lib_is_refused(self, another_clone, monkeypatch, arguments):
        monkeypatch.setattr(execution, "execute", None)
        root = another_clone.root
        result = book(another_clone, *arguments)
        assert result.exit_code == 1
        fault = f"the book in {root} is not of the code that runs here, in {LIB}; "
        remedy = f"run {root}/.venv/bin/book, which `make env` in {root} sets up"
        assert fault in result.output
        assert remedy in result.output
        assert not (root / "_build").exists()

    def test_a_book_without_a_lib_is_refused(self, another_clone):
        shutil.rmtree(another_clone.root / "lib")
        assert "is not of the code that runs here" in book(another_clone, "list").output

    def test_the_same_book_by_another_name_is_taken(self, tmp_path):
        (tmp_path / "link").symlink_to(REPOSITORY)
        root = tmp_path / "link" / "lib" / ".."
        result = CliRunner().invoke(cli, ["--root", str(root), "list", "cia/curves"])
        assert result.exit_code == 0, result.output

    @pytest.mark.parametrize("folder", [".", "chapters/cia"])
    def test_the_command_of_one_clone_inside_another_is_refused(
        self, another_clone, monkeypatch, folder
    ):
        """Unless an option or a variable names the book that is meant."""
        root = another_clone.root
        monkeypatch.delenv("BOOK_ROOT", raising=False)
        monkeypatch.chdir(root / folder)
        result = CliRunner().invoke(cli, ["list"])
        assert result.exit_code == 1
        fault = f"this command is of the book in {REPOSITORY}, and was called in {root}, another"
        assert fault in result.output
        assert f"run {root}/.venv/bin/book, which `make env`" in result.output

        by_option = CliRunner().invoke(cli, ["--root", str(REPOSITORY), "list", "cia/curves"])
        assert by_option.exit_code == 0, by_option.output
        monkeypatch.setenv("BOOK_ROOT", str(REPOSITORY))
        by_variable = CliRunner().invoke(cli, ["list", "cia/curves"])
        assert by_variable.exit_code == 0, by_variable.output

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
[ "$1 $2" != "-m pip" ] || [ ! -e "{no_network}" ]
"""


class TestMakefile:
    @pytest.fixture
    def make(self, tmp_path, monkeypatch):
        """Return a function that calls `make env` with the stand-in and returns its log."""
        log = tmp_path / "log"
        no_network = tmp_path / "no network"  # while there is this file, pip fails
        python = tmp_path / "python it's"
        python.write_text(PYTHON.format(log=log, no_network=no_network))
        python.chmod(0o755)
        for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON"):
            monkeypatch.delenv(variable, raising=False)

        def make(folder, fails=False):
            log.write_text("")
            if fails:
                no_network.touch()
            else:
                no_network.unlink(missing_ok=True)
            command = ["make", "--silent", "-C", folder, f"PYTHON={python}", "env"]
            process = subprocess.run(command, capture_output=True, text=True)
            assert (process.returncode != 0) == fails, process.stderr
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
        calls = make(checkout)
        assert "-m venv" not in calls
        assert "--require-hashes" in calls

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
        for fails in (True, False):
            assert "-m venv --clear .venv" in make(target, fails)
        assert make(target) == ""


def copy_checkout(folder):
    """Copy what git tracks, or would, into a folder."""
    options = ["-z", "--cached", "--others", "--exclude-standard"]
    command = ["git", "-C", REPOSITORY, "ls-files", *options]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for name in output.removesuffix("\0").split("\0"):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, folder / name)


@pytest.mark.slow
def test_a_copy_with_its_environment_runs_its_own_code_after_make(tmp_path):
    """As the stand-in above, with the packages themselves: from the network, or a cache of uv's."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "MAKE", "MFLAGS"))
    }

    def call(command, folder):
        process = subprocess.run(
            command, cwd=folder, env=variables, check=True, capture_output=True, text=True
        )
        return process.stdout

    def check(checkout):
        call(["make", "env"], checkout)
        programs = checkout / ".venv" / "bin"
        script = (programs / "book").read_text(encoding="utf-8")
        assert checkout.name.replace("'", "'\"'\"'") in script
        code = "import lib, sys; print(lib.__file__); print(sys.prefix)"
        paths = call([programs / "python", "-c", code], tmp_path).splitlines()
        assert paths == [str(checkout / "lib" / "__init__.py"), str(checkout / ".venv")]
        call([programs / "book", "list"], checkout)

    checkout = tmp_path / "a 'first' place"
    checkout.mkdir()
    copy_checkout(checkout)
    check(checkout)
    copy = tmp_path / "another place"
    shutil.copytree(checkout, copy, symlinks=True)
    check(copy)
