"""The page "Using lib in your own work": its examples print what it says they print."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "chapters" / "using_lib.md"
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)


def test_the_examples_print_what_the_page_shows():
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert [kind for kind, _ in blocks] == ["python", "text"] * 6
    names = {}
    for (_, code), (_, text) in zip(blocks[::2], blocks[1::2], strict=True):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, names)
        assert output.getvalue() == text


def test_lib_needs_no_folder_that_can_be_written():
    """Where numba finds none, it compiles in memory."""
    code = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
import lib.bayes_net
import numpy as np
from lib.winnow.fast import active_sums
print(active_sums(np.array([0, 1]), np.array([0]), np.ones((1, 1))))
"""
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True)
    assert process.stdout == "[[1.]]\n", process.stderr


OF_THE_BOOK = (
    *("IPython", "bs4", "click", "gymnasium", "jinja2", "matplotlib", "matplotlib_inline"),
    *("myst_nb", "nbformat", "packaging", "papermill", "pybtex", "seaborn", "yaml"),
    *("distributed", "polars", "pyarrow"),
)
# what makes figures, texts and pages of results
NEED_THE_BOOK = ("lib.book", "lib.figures", "lib.report")
IMPORTS = f"""
import sys
from importlib import import_module
sys.modules.update(dict.fromkeys({OF_THE_BOOK}))  # as if none of them were installed
from lib.base.sources import SOURCES
modules = [name for name in SOURCES if not name.startswith({NEED_THE_BOOK})]
print(len([import_module(name) for name in modules]))
"""


def test_learners_and_experiments_need_no_package_of_the_book():
    command = [sys.executable, "-c", IMPORTS]
    process = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) > 100
