"""What a chapter gives to its page: numbers for the prose and numbered tables."""

import numbers

import numpy as np
from IPython.display import Markdown
from myst_nb import glue


def glue_numbers(**values):
    """Glue numbers, booleans and words by name for use in prose; floats keep six significant digits."""
    for name, value in values.items():
        if isinstance(value, bool | np.bool_):
            value = "yes" if value else "no"
        elif isinstance(value, numbers.Integral):
            value = int(value)
        elif isinstance(value, numbers.Real):
            value = float(f"{value:.6g}")
        glue(name, value, display=False)


def table(frame, caption, name, formats=None):
    """Return a numbered MyST table to be glued: columns become headings, the index is left out.

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
    lines = ["| " + " | ".join(map(str, frame.columns)) + " |", "|" + " --- |" * frame.shape[1]]
    for row in frame.itertuples(index=False):
        cells = [_cell(value, formats.get(column)) for column, value in zip(frame.columns, row, strict=True)]
        lines.append("| " + " | ".join(cells) + " |")
    return Markdown("\n".join([f"```{{table}} {caption}", f":name: {name}", "", *lines, "```"]))


def _cell(value, spec):
    if isinstance(value, float) and not np.isfinite(value):
        return "—" if np.isnan(value) else "never"
    return (format(value, spec) if spec else str(value)).replace("|", "\\|")
