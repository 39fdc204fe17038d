"""Text as MyST Markdown: literal text, code, cells and tables."""

import re

# What MyST would take for markup: of code, emphasis, formulas, HTML, links, footnotes,
# substitutions and entities.
_MARKUP = re.compile(
    r"""
    [\\`*$~]            # escape, code, emphasis, formula, strikethrough
    | (?<![^\W_])_      # an underscore that no letter or digit precedes: emphasis
    | <(?=[A-Za-z/!?])  # HTML
    | \[(?=\^)          # footnote
    | \](?=[(\[{])      # link
    | \{(?=\{)          # substitution
    | &(?=[#A-Za-z])    # entity
    """,
    re.VERBOSE,
)


def markdown_table(header: tuple, rows: list[tuple]) -> str:
    """Return a MyST table of cells in MyST (see `literal`), made safe as by `cell`."""
    rule = ["---"] * len(header)
    lines = [" | ".join(map(cell, row)) for row in (header, rule, *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def cell(text) -> str:
    """Return MyST text as a cell of a table: in one line, with bars escaped."""
    return " ".join(str(text).splitlines()).replace("|", "\\|")


def literal(text: str) -> str:
    """Return text as MyST that shows it as it is, inside a line: markup is escaped."""
    return _MARKUP.sub(r"\\\g<0>", text)


def code(text: str) -> str:
    """Return text as MyST code, in back quotes enough for those inside it."""
    longest_run = max(map(len, re.findall("`+", text)), default=0)
    quotes = "`" * (1 + longest_run)
    # a back quote at an end must not join the quotes; MyST strips one space at both ends
    needs_space = text.startswith(("`", " ")) or text.endswith(("`", " "))
    space = " " if needs_space else ""
    return f"{quotes}{space}{text}{space}{quotes}"
