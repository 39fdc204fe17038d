"""Run one chapter with papermill, so that two runs of the same sources give the same bytes."""

import json
import re
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import click
import nbformat
import papermill
from jupyter_core.utils import ensure_event_loop
from papermill.exceptions import PapermillExecutionError
from tqdm import tqdm
from traitlets.config import Config

from lib.book.kernels import use_forked_kernels
from lib.book.project import BookError, Project, parse_cells, read_bytes
from lib.trials.options import VARIABLE

INJECTED = "injected-parameters"
POLL = 1.0  # seconds between two looks at how far the trials of a cell are
SILENCE = 20.0  # seconds between two lines about it, where there is no bar


def execute(
    project: Project,
    chapter: str,
    parameters: dict,
    output: Path,
    report=list,
    cores: int | None = None,
    notebook: bytes | None = None,
    **context,
) -> None:
    """Run a chapter's notebook into `output`; when a cell fails what was executed stays there.

    Parameters
    ----------
    project : Project
    chapter : str
    parameters : dict
        Values that are set.
    output : Path
    report : callable
        Called with a list of what the kernel notes (see `lib.trials.notes`), also when a cell
        fails.
    cores : int, optional
        What trials take for all cores, if not all of them.
    notebook : bytes, optional
        Contents of the notebook, if not those that its file has now.
    context
        Fields of `lib.trials.options.Options` for its trials.

    Raises
    ------
    BookError
        When a cell fails, with the cell, its error and the path of the notebook that was kept.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    notebook = read_bytes(project.notebook(chapter)) if notebook is None else notebook
    cells = parse_cells(notebook, project.notebook(chapter))
    with (
        _aside(output) as part,
        _kernel_settings(context, cores) as (config, files),
        _progress(cells, chapter, files / "progress") as hooks,
    ):
        copy = files / "notebook.ipynb"  # runs whatever becomes of the chapter's file
        copy.write_bytes(notebook)
        try:
            paths, folder = (_literal(copy), _literal(part)), {"path": str(project.root)}
            settings = {
                "config": config,
                "resources": {"metadata": folder},
                "timeout": None,
                "coalesce_streams": True,
            }
            papermill.execute_notebook(*paths, parameters, progress_bar=False, **settings, **hooks)
        except PapermillExecutionError as error:
            cell = f"cell In [{error.exec_count}] failed: {_title(error.source)}\n  {error.ename}: {error.evalue}"
            raise BookError(f"{chapter}: {cell}\n  executed so far: {output}") from error
        # DeadKernelError is one; a kernel that was never ready raises a plain one
        except RuntimeError as error:
            if "died" not in str(error).lower():
                raise
            notes = [json.loads(line) for line in _so_far(files / "notes").splitlines()]
            others = [note["message"] for note in notes if note["kind"] == "other lib"]
            why = others[0] if others else f"the kernel died, perhaps for want of memory ({error})"
            raise BookError(f"{chapter}: {why}\n  executed so far: {output}") from error
        finally:
            report([json.loads(line) for line in _so_far(files / "notes").splitlines()])
            ensure_event_loop().close()  # nbclient opens one in each thread
        executed = nbformat.read(part, as_version=4)
        normalise(executed)
        nbformat.write(executed, part)


@contextmanager
def _aside(output: Path):
    """Yield where to write what is executed; it takes the place of `output` at the end, if it is a whole notebook."""
    part = output.with_name(f"{output.stem}.part-{uuid4().hex}.ipynb")
    try:
        yield part
    finally:
        try:
            json.loads(part.read_bytes())
        except (OSError, ValueError):  # not begun, or cut short
            part.unlink(missing_ok=True)
        else:
            part.replace(output)


def normalise(notebook: nbformat.NotebookNode) -> None:
    """Remove what differs from run to run: times, paths, process numbers, the random name of the given values' cell."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if INJECTED in cell.metadata.get("tags", []):
            cell.id = INJECTED
        for output in cell.get("outputs", []):
            if "text" in output:
                output.text = re.sub(r"(?<!\S)\S*ipykernel_\d+", "ipykernel", output.text)


def _literal(path: Path) -> str:
    # papermill fills in {names} in paths
    return str(path).replace("{", "{{").replace("}", "}}")


@contextmanager
def _kernel_settings(context: dict, cores: int | None):
    """Yield papermill's settings of a kernel, and the folder of its files.

    Its sockets are files in a short-named folder, so that no two runs share a port.
    """
    use_forked_kernels()
    with tempfile.TemporaryDirectory(prefix="book-") as folder:
        context = context | {"progress": f"{folder}/progress", "notes": f"{folder}/notes"}
        own = {
            "JUPYTER_RUNTIME_DIR": folder,
            "IPYTHONDIR": f"{folder}/ipython",
            VARIABLE: json.dumps(context),
        }
        own |= {"LOKY_MAX_CPU_COUNT": str(cores)} if cores else {}
        sockets = {
            "transport": "ipc",
            "ip": f"{folder}/socket",
            "connection_file": f"{folder}/kernel.json",
        }
        yield Config({"KernelManager": sockets, "Provisioner": {"environment": own}}), Path(folder)


@contextmanager
def _progress(cells: list[dict], chapter: str, trials: Path):
    """Yield nbclient's hooks that move a progress bar naming the cell under way and how far its trials are."""
    n_cells = sum(cell["cell_type"] == "code" for cell in cells)
    title, ended = "", threading.Event()

    def start(cell, cell_index):
        nonlocal title
        trials.unlink(missing_ok=True)
        title = _title(cell.source)
        bar.set_postfix_str(title)

    def watch():
        last = time.monotonic()
        while not ended.wait(POLL):
            line = _so_far(trials)
            words = f"{title[:24]} · {line}" if line else title
            bar.set_postfix_str(words)
            if bar.disable and time.monotonic() - last > SILENCE:
                click.echo(f"{chapter}: {words}")
                last = time.monotonic()

    alone = threading.current_thread() is threading.main_thread()
    with tqdm(total=n_cells, unit="cell", disable=None if alone else True, desc=chapter) as bar:
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield {
                "on_cell_start": start,
                "on_cell_executed": lambda cell, cell_index, execute_reply: bar.update(),
            }
        finally:
            ended.set()
            watcher.join()


def _so_far(path: Path) -> str:
    with suppress(OSError):  # nothing is written yet
        return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _title(source: str) -> str:
    lines = [
        line.strip()
        for line in source.splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]
    return lines[0][:60] if lines else ""
