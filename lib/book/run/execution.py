"""Run one chapter with papermill, so that two runs of the same sources give the same bytes."""

import json
import re
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import nbformat
import papermill
from jupyter_core.utils import ensure_event_loop
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from lib.book.run.kernels import KERNELSPEC, use_forked_kernels
from lib.book.run.parameters import INJECTED
from lib.book.run.progress import progress_hooks, read_if_there
from lib.book.run.project import FINDING_CELL, BookError, Project, parse_cells, read_bytes
from lib.trials.options import VARIABLE


def execute(
    project: Project,
    chapter: str,
    parameters: dict,
    output: Path,
    report: Callable[[list[dict]], None] | None = None,
    cores: int | None = None,
    notebook: bytes | None = None,
    **options,
) -> None:
    """Run a chapter's notebook into `output`, which has what was executed also when a cell fails.

    Parameters
    ----------
    project : Project
    chapter : str
    parameters : dict
        Values that are set.
    output : Path
    report : callable, optional
        Called with a list of what the kernel notes (see `lib.trials.notes`), also when a cell
        fails.
    cores : int, optional
        Number of cores that trials take for all cores, if not all of them.
    notebook : bytes, optional
        Contents of the notebook, if not those that its file has now.
    **options
        Fields of `lib.trials.options.Options` for its trials.

    Raises
    ------
    BookError
        When a cell fails, with the cell, its error and the path of the notebook that was kept.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    if notebook is None:
        notebook = read_bytes(project.notebook(chapter))
    cells = parse_cells(notebook, project.notebook(chapter))
    with (
        _attempt(output) as attempt,
        _kernel_config(options, cores) as (config, folder),
        progress_hooks(cells, chapter, folder / "progress") as hooks,
    ):
        source = folder / "notebook.ipynb"  # runs whatever becomes of the chapter's file
        source.write_bytes(notebook)
        try:
            papermill.execute_notebook(
                _escape_braces(source),
                _escape_braces(attempt),
                parameters,
                kernel_name=KERNELSPEC["name"],
                language=KERNELSPEC["language"],
                progress_bar=False,
                config=config,
                resources={"metadata": {"path": str(project.root)}},
                timeout=None,
                coalesce_streams=True,
                **hooks,
            )
        except PapermillExecutionError as error:
            raise BookError(
                f"{chapter}: cell In [{error.exec_count}] failed: {_first_line(error.source)}\n"
                f"  {error.ename}: {error.evalue}\n  executed so far: {output}"
            ) from error
        # DeadKernelError is one; a kernel that was never ready raises a plain one
        except RuntimeError as error:
            if "died" not in str(error).lower():
                raise
            reason = _reason_of_death(_read_notes(folder), error)
            raise BookError(f"{chapter}: {reason}\n  executed so far: {output}") from error
        finally:
            if report is not None:
                report(_read_notes(folder))
            ensure_event_loop().close()  # nbclient opens one in each thread
        executed = nbformat.read(attempt, as_version=4)
        normalise(executed)
        if parameters:  # what was found with the defaults
            executed.cells = [cell for cell in executed.cells if cell.id != FINDING_CELL]
        nbformat.write(executed, attempt)


def _read_notes(folder: Path) -> list[dict]:
    """Return what a kernel has noted in the folder of its files."""
    return [json.loads(line) for line in read_if_there(folder / "notes").splitlines()]


def _reason_of_death(notes: list[dict], error: RuntimeError) -> str:
    """Return why a kernel died: it refuses to run with another lib, and says so in a note."""
    for note in notes:
        if note["kind"] == "other lib":
            return note["message"]
    return f"the kernel died, perhaps for want of memory ({error})"


@contextmanager
def _attempt(output: Path):
    """Yield a path for what is executed; a whole notebook there replaces `output` at the end."""
    attempt = output.with_name(f"{output.stem}.part-{uuid4().hex}.ipynb")
    try:
        yield attempt
    finally:
        try:
            json.loads(attempt.read_bytes())
        except (OSError, ValueError):  # not begun, or cut short
            attempt.unlink(missing_ok=True)
        else:
            attempt.replace(output)


def normalise(notebook: nbformat.NotebookNode) -> None:
    """Remove what differs from run to run: times, paths, process numbers, random names of cells.

    The kernel is called what it is, as the chapter may have been saved with another.
    """
    notebook.metadata["kernelspec"] = dict(KERNELSPEC)
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if INJECTED in cell.metadata.get("tags", []):
            cell.id = INJECTED
        for output in cell.get("outputs", []):
            if "text" in output:
                output.text = re.sub(r"(?<!\S)\S*ipykernel_\d+", "ipykernel", output.text)


def _escape_braces(path: Path) -> str:
    """Return a path for papermill, which fills in {names} in paths."""
    return str(path).replace("{", "{{").replace("}", "}}")


@contextmanager
def _kernel_config(options: dict, cores: int | None):
    """Yield the configuration of a kernel for papermill, and the folder of its files.

    Its sockets are files in a short-named folder, so that no two runs share a port.
    """
    use_forked_kernels()
    with tempfile.TemporaryDirectory(prefix="book-") as folder:
        options = options | {"progress": f"{folder}/progress", "notes": f"{folder}/notes"}
        variables = {
            "JUPYTER_RUNTIME_DIR": folder,
            "IPYTHONDIR": f"{folder}/ipython",
            VARIABLE: json.dumps(options),
        }
        if cores:
            variables["LOKY_MAX_CPU_COUNT"] = str(cores)
        sockets = {
            "transport": "ipc",
            "ip": f"{folder}/socket",
            "connection_file": f"{folder}/kernel.json",
        }
        config = Config({"KernelManager": sockets, "Provisioner": {"environment": variables}})
        yield config, Path(folder)


def _first_line(source: str) -> str:
    """Return the beginning of the first line of code, which stands for its cell."""
    for line in source.splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            return line[:60]
    return ""
