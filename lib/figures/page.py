"""What a chapter gives to its page: numbers for the prose and numbered tables."""

import re

import numpy as np
from IPython.display import Markdown
from myst_nb import glue

from lib.claims import literal, markdown_table


def glue_numbers(**values):
    """Glue numbers, booleans and words by name for use in prose; floats keep six significant digits."""
    for name, value in values.items():
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, float):
            value = float(f"{value:.6g}")
        glue(name, value, display=False)


def glue_estimates(factor=1, **estimates):
    """Glue estimates, times a factor, by name, and the ends of their intervals with _low and _high added to it."""
    for name, estimate in estimates.items():
        value, low, high = (factor * end for end in estimate[:3])
        glue_numbers(**{name: value, f"{name}_low": low, f"{name}_high": high})


def plus_minus(values, errors):
    """Return "value ± error" for each pair, which breaks before the sign only; a dash where one is unknown."""
    pairs = [f"{a:.2f} ±\N{NO-BREAK SPACE}{b:.2f}" for a, b in zip(values, errors, strict=True)]
    return [
        "—" if pair.startswith("nan") else pair.replace("-", "−").replace("nan", "—")
        for pair in pairs
    ]


def table(frame, caption, name, formats=None):
    """Return a numbered MyST table to be glued: columns become headings, the index is left out, text is no markup.

    A number that rounds to 0 has no sign, but as an end of an interval, where it says on which side
    of 0 that is.

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
    columns = [
        [_cell(value, (formats or {}).get(column)) for value in values]
        for column, values in frame.items()
    ]
    lines = markdown_table([literal(str(column)) for column in frame], zip(*columns, strict=True))
    return Markdown(f"```{{table}} {caption}\n:name: {name}\n\n{lines}\n```")


def _cell(value, spec):
    if isinstance(value, float) and not np.isfinite(value):
        return "—" if np.isnan(value) else "never"
    words = format(value, spec) if spec else str(value)
    return literal(re.sub(r"(?<![\w.\[])[-−+](?=0(\.0+)?(?![\w.\]]))", "", words))
