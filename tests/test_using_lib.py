"""The page "Using lib in your own work": its examples print what it says they print."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "chapters" / "using_lib.md"
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)


def test_the_examples_print_what_the_page_shows():
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert [kind for kind, _ in blocks] == ["python", "text"] * 3
    names = {}
    for (_, code), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown
