"""What a chapter gives to its page: numbers for the prose and numbered tables."""

import re

import numpy as np
from IPython.display import Markdown
from myst_nb import glue

from lib.claims import literal, markdown_table

# The sign of a number that is 0 as printed. One that a bracket precedes or follows is an end of an
# interval and keeps it: there it says on which side of 0 the end is.
_SIGN_OF_ZERO = re.compile(
    r"""
    (?<![\w.\[])    # no part of a word or number, not after a bracket
    [-−+]
    (?=0(\.0+)?     # 0, 0.0, 0.00, ...
    (?![\w.\]]))    # and no further digit, no bracket
    """,
    re.VERBOSE,
)


def glue_numbers(**values):
    """Glue numbers, booleans and words by name for use in prose.

    Floats keep six significant digits.
    """
    for name, value in values.items():
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, float):
            value = float(f"{value:.6g}")
        glue(name, value, display=False)


def glue_estimates(factor=1, **estimates):
    """Glue estimates, times a factor, by name; the ends of intervals by name_low and name_high."""
    for name, estimate in estimates.items():
        value, low, high = (factor * number for number in estimate[:3])
        glue_numbers(**{name: value, f"{name}_low": low, f"{name}_high": high})


def plus_minus(values, errors):
    """Return "value ± error" for each pair; a dash where one is unknown.

    A line breaks before the sign only.
    """
    return [_plus_minus(value, error) for value, error in zip(values, errors, strict=True)]


def _plus_minus(value, error):
    if np.isnan(value):
        return "—"
    words = f"{value:.2f} ±\N{NO-BREAK SPACE}{error:.2f}"
    return words.replace("-", "−").replace("nan", "—")


def table(frame, caption, name, formats=None):
    """Return a numbered MyST table to be glued; its cells show their text as it is.

    Columns become headings, the index is left out. A number that rounds to 0 has no sign unless it
    is an end of an interval in brackets, where the sign says on which side of 0 the end is.

    Parameters
    ----------
    frame : DataFrame
    caption : str
    name : str
        Label for ``{numref}``.
    formats : dict, optional
        Column to format spec, such as ``{"T": ".2f"}``.

    Returns
    -------
    IPython.display.Markdown
    """
    formats = formats or {}
    columns = [
        [_cell(value, formats.get(column)) for value in values] for column, values in frame.items()
    ]
    header = [literal(str(column)) for column in frame]
    rows = markdown_table(header, zip(*columns, strict=True))
    return Markdown(f"```{{table}} {caption}\n:name: {name}\n\n{rows}\n```")


def _cell(value, spec):
    """The text of a cell: a value in its format, an infinite one as "never"."""
    if isinstance(value, float) and np.isnan(value):
        return "—"
    if isinstance(value, float) and np.isinf(value):
        return "never"
    words = format(value, spec) if spec else str(value)
    return literal(_SIGN_OF_ZERO.sub("", words))
