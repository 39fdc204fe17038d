"""The explorer: a grid of results with controls, charts and tables, as one piece of HTML."""

import json
from html import escape

import numpy as np
import pandas as pd
from IPython.display import HTML

from lib.experiments.explorer import MEASURES
from lib.figures.explorer_charts import DARK, LIGHT, charts, marker_path, readable
from lib.figures.page import plus_minus
from lib.figures.style import look

SCALE = 10_000  # values are stored as whole numbers of this part
_AXES = {
    "n": "n_attributes",
    "k": "n_hidden",
    "b": "difficulty",
    "size": "size",
    "measure": "measure",
    "learner": "learner",
}
_SCRIPTS = ("vega/vega.min.js", "vega/vega-lite.min.js", "vega/vega-embed.min.js", "explorer.js")
_USUAL = {"n": 10, "k": 5, "b": 0.9}
_WITHOUT = (
    "The controls and charts of the explorer work on the book's page, in a browser that runs scripts. "
    "Here, see the maps and the table below."
)


def explorer(measures, static="../_static"):
    """Return the explorer's HTML.

    Parameters
    ----------
    measures : DataFrame
        As `lib.experiments.explorer.grid_measures` returns it: one row for each combination of its values.
    static : str
        Where the page finds the book's scripts and styles.

    Returns
    -------
    IPython.display.HTML
    """
    data = explorer_data(measures)
    # Within a script element "<" could end it.
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    scripts = "\n".join(f'<script defer src="{static}/{name}"></script>' for name in _SCRIPTS)
    parts = [
        f'<link rel="stylesheet" href="{static}/explorer.css">',
        f'<p class="explorer-without" id="explorer-without">{_WITHOUT}</p>',
        f'<div id="explorer" hidden>\n{_controls(data)}\n{_places()}\n</div>',
        _static_table(measures),
        f'<script type="application/json" id="explorer-data">{text}</script>',
        scripts,
    ]
    return HTML("\n".join(parts))


def explorer_data(measures):
    """Return axes, labels, specifications and numbers of the explorer, ready for JSON.

    The numbers are lists in the order of the product of the axes, as whole ten-thousandths, None where unknown.

    Raises
    ------
    ValueError
        If `measures` does not hold one row for each combination of its values.
    """
    axes = {name: _values(measures[column], name) for name, column in _AXES.items()}
    grid = measures.set_index(list(_AXES.values()))
    points = pd.MultiIndex.from_product(axes.values())
    if len(grid) != len(points) or not grid.index.is_unique:
        raise ValueError("measures must hold one row for each combination of its values; some are missing or twice")
    grid = grid.loc[points]
    return {
        "axes": axes,
        "labels": {name: look(name)["label"] for name in axes["learner"]},
        "measures": {name: MEASURES[name] for name in axes["measure"]},
        "scale": SCALE,
        "value": [_scaled(value) for value in grid["value"]],
        "se": [_scaled(value) for value in grid["se"]],
        "models": [int(value) for value in grid["n_models"]],
        "apart": [[_scaled(value) for value in values] for values in grid["apart"]],
        "specs": charts(axes["learner"], axes["size"]),
    }


def _values(column, name):
    values = column.unique().tolist()
    return values if name in ("measure", "learner") else sorted(values)


def _scaled(value):
    return None if np.isnan(value) else round(value * SCALE)


def _controls(data):
    axes = data["axes"]
    middle = {name: axes[name][len(axes[name]) // 2] for name in _USUAL}
    chosen = {name: usual if usual in axes[name] else middle[name] for name, usual in _USUAL.items()}
    titles = {"n": "Attributes n", "k": "Hidden values k", "b": "Difficulty B"}
    options = {name: {f"{value:g}": f"{value:g}" for value in axes[name]} for name in titles}
    menus = [_menu(name, title, options[name], f"{chosen[name]:g}") for name, title in titles.items()]
    last = len(axes["size"]) - 1
    return "\n".join(
        [
            '<form id="explorer-controls" onsubmit="return false" aria-label="Settings of the explorer">',
            *menus,
            _menu("t", "Definition of T", data["measures"], "t"),
            f'<label class="explorer-wide">Sample size s: <output id="explorer-size-now">{axes["size"][last]}</output>'
            f'<input type="range" id="explorer-size" min="0" max="{last}" step="1" value="{last}"></label>',
            "<fieldset><legend>Learners</legend>",
            *(_checkbox(name, label) for name, label in data["labels"].items()),
            "</fieldset></form>",
        ]
    )


def _menu(name, title, options, chosen):
    lines = [
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(words)}</option>'
        for value, words in options.items()
    ]
    return f'<label>{title}<select id="explorer-{name}">{"".join(lines)}</select></label>'


def _checkbox(name, label):
    style = look(name)
    colors = f"--explorer-light:{readable(style['color'], LIGHT)};--explorer-dark:{readable(style['color'], DARK)}"
    sign = f'<svg viewBox="-1 -1 2 2" aria-hidden="true" style="{colors}">'
    sign += f'<path class="explorer-sign" d="{marker_path(style["marker"])}"></path></svg>'
    box = f'<input type="checkbox" name="explorer-learner" value="{escape(name)}" checked>'
    return f"<label>{box}{sign}{escape(label)}</label>"


def _places():
    """Return where scripts put what is chosen: a sentence, three charts and a table."""
    return """<p id="explorer-said" aria-live="polite"></p>
<div id="explorer-charts">
<figure><figcaption>Learning curves: <span id="explorer-measured"></span>. Bands are one standard error; the upright
line is the chosen sample size.</figcaption><div id="explorer-curves"></div></figure>
<figure><figcaption>Who is ahead, and by how much, at the chosen B and s. Choose a cell to see its
curves.</figcaption><div id="explorer-by_n"></div></figure>
<figure><figcaption>The same at the chosen n and s. A pale cell: the lead is not above two standard
errors.</figcaption><div id="explorer-by_b"></div></figure>
</div>
<div class="explorer-scroll" tabindex="0" role="region" aria-label="Results at the settings">
<table id="explorer-table"><caption></caption><thead></thead><tbody></tbody></table></div>
<button type="button" id="explorer-csv">Download the whole grid (CSV)</button>"""


def _static_table(measures):
    """Return a folded table of mean T at the largest size, a row a panel, for readers without scripts."""
    size, learners = measures["size"].max(), list(dict.fromkeys(measures["learner"]))
    chosen = measures[(measures["measure"] == "t") & (measures["size"] == size)]
    chosen = chosen.assign(cell=plus_minus(chosen["value"], chosen["se"]))
    heads = ["B", "n", "k", *(look(name)["label"] for name in learners), "models"]
    lines = []
    for (b, n, k), part in chosen.groupby(["difficulty", "n_attributes", "n_hidden"]):
        cells = part.set_index("learner")["cell"]
        row = [f"{b:g}", n, k, *(cells[name] for name in learners), part["n_models"].iloc[0]]
        lines.append("<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>")
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    words = f"{MEASURES['t'].capitalize()}, ± one standard error, with {size:,} examples"
    return (
        f'<details class="explorer-all"><summary>Every panel as a table</summary>'
        f'<div class="explorer-scroll" tabindex="0" role="region" aria-label="Every panel">'
        f"<table><caption>{words}.</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div></details>"
    )
