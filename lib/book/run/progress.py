"""How far a chapter is while it runs: its experiment, or its section."""

import ast
import re
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import click
from tqdm import tqdm

from lib.base.sources import PARSING

POLL = 1.0  # seconds between two looks at how far the trials of a cell are
SILENCE = 20.0  # seconds between two lines about it, where there is no bar

# A line of progress as `lib.trials.runner` writes it: "learning curves 12/40".
PROGRESS = re.compile(r"(?P<name>.*) (?P<n_done>\d+)/(?P<n_blocks>\d+)", re.DOTALL)
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
# Statements and expressions whose body runs never, once or many times.
REPEATING = (
    ast.FunctionDef,
    ast.Lambda,
    ast.For,
    ast.While,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


class Progress:
    """What is under way in a chapter: see `words`.

    An experiment is a call of `trials.run`. Those that a chapter has in all are known only where
    its cells call it themselves, outside of loops and functions.

    Parameters
    ----------
    cells : list of dict
        The cells of its notebook.
    """

    def __init__(self, cells: list[dict]):
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        calls = [_run_calls(source) for source in code]
        self._n_experiments = None if None in calls else sum(calls)
        self._section = ""
        self._n_in_cell = 0  # calls in the cell under way
        self._n_before = 0  # experiments before this cell, as far as is known
        self._n_begun = 0
        self._position = None  # of the experiment under way: finished blocks, and all of them

    def start_cell(self, cell_type: str, source: str) -> None:
        """Note that a cell begins."""
        if cell_type == "markdown":
            headings = HEADING.findall(source)
            self._section = headings[-1].strip() if headings else self._section
            return
        # Experiments whose blocks were all stored leave no progress to be seen.
        self._n_begun = max(self._n_begun, self._n_before + self._n_in_cell)
        self._n_before = self._n_begun
        self._n_in_cell = _run_calls(source) or 0
        self._position = None

    def words(self, progress: str) -> str:
        """Return what is under way, such as "experiment 2 of 6: learning curves, 3 of 40 blocks".

        Parameters
        ----------
        progress : str
            What the trials of this cell have written; empty for none, where the words are those of
            the section's heading.
        """
        match = PROGRESS.fullmatch(progress)
        if not match:
            return progress or (f"section “{self._section}”" if self._section else "")
        n_done, n_blocks = int(match["n_done"]), int(match["n_blocks"])
        is_same = self._position and n_blocks == self._position[1] and n_done >= self._position[0]
        if not is_same:
            self._n_begun += 1
        self._position = (n_done, n_blocks)
        if self._n_begun > self._n_before + self._n_in_cell:  # lib called it
            self._n_experiments = None
        total = f" of {self._n_experiments}" if self._n_experiments else ""
        number = f"experiment {self._n_begun}{total}"
        return f"{number}: {match['name']}, {n_done} of {n_blocks} blocks"


def _run_calls(source: str) -> int | None:
    """Return how often a cell calls `trials.run`; None if a loop or a function does it."""
    try:
        with PARSING:
            tree = ast.parse(source)
    except SyntaxError:  # a magic command
        return 0
    for node in ast.walk(tree):
        if isinstance(node, REPEATING) and any(map(_is_run_call, ast.walk(node))):
            return None
    return sum(map(_is_run_call, ast.walk(tree)))


def _is_run_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "trials.run"


@contextmanager
def progress_hooks(cells: list[dict], chapter: str, trials: Path):
    """Yield nbclient's hooks that move a progress bar, or print lines where there is no terminal.

    Parameters
    ----------
    cells : list of dict
    chapter : str
    trials : Path
        The file into which the kernel writes how far the trials of the cell under way are.
    """
    n_cells = sum(cell["cell_type"] == "code" for cell in cells)
    progress = Progress(cells)
    has_ended = threading.Event()
    is_looking = threading.Lock()  # so that no cell gets what the one before it has written

    def start_cell(cell, cell_index):
        with is_looking:
            trials.unlink(missing_ok=True)
            progress.start_cell(cell.cell_type, cell.source)
            words = progress.words("")
        bar.set_postfix_str(words)

    def end_cell(cell, cell_index, execute_reply):
        bar.update()

    def watch():
        last_line_at = time.monotonic()
        while not has_ended.wait(POLL):
            with is_looking:
                words = progress.words(read_if_there(trials))
            bar.set_postfix_str(words)
            if bar.disable and words and time.monotonic() - last_line_at > SILENCE:
                click.echo(f"{chapter}: {words}")
                last_line_at = time.monotonic()

    # Bars of several chapters at once would overwrite each other; None: only on a terminal.
    is_alone = threading.current_thread() is threading.main_thread()
    disable = None if is_alone else True
    with tqdm(total=n_cells, unit="cell", disable=disable, desc=chapter) as bar:
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield {"on_cell_start": start_cell, "on_cell_executed": end_cell}
        finally:
            has_ended.set()
            watcher.join()


def read_if_there(path: Path) -> str:
    """Return the text of a file that another process writes; empty if there is none yet."""
    with suppress(OSError):  # nothing is written yet
        return path.read_text(encoding="utf-8", errors="replace")
    return ""
