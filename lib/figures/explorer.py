"""The explorer: HTML and data from which assets/explorer.js builds its controls, charts and table.

A *world* is a grid of mean scores, with a dimension for each control of the page. The script reads
its numbers from one JSON object; the look of a learner there is that of the book's figures.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jinja2 import Template
from matplotlib.colors import to_hex, to_rgb
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from seaborn.utils import relative_luminance

from lib.base.colour import contrast
from lib.figures.learner_styles import style_of

PAGE_BACKGROUNDS = {"light": "#ffffff", "dark": "#121212"}
CONTRAST = 3.2  # of a line to the page; WCAG asks for 3
SVG_DASHES = {"-": [1, 0], "--": [6, 3], "-.": [6, 2, 2, 2], ":": [2, 2]}
SVG_COMMANDS = {
    Path.MOVETO: "M",
    Path.LINETO: "L",
    Path.CURVE3: "Q",
    Path.CURVE4: "C",
    Path.CLOSEPOLY: "Z",
}
SCALE = 10_000  # the script reads whole numbers of this fraction
# columns of a frame of scores that have another name in the script
SCRIPT_NAMES = {"n_attributes": "n", "n_hidden": "k", "difficulty": "b", "measure": "t"}
SCRIPTS = (
    "vega/vega.min.js",
    "vega/vega-lite.min.js",
    "vega/vega-embed.min.js",
    "explorer-charts.js",
    "explorer.js",
)
# explorer.js puts its controls into the element of a world, and finds the data by the id
_WORLD = Template(
    """
<div class="explorer" id="{{ id }}"><p class="explorer-without">The controls and charts of the explorer work on the
book's page, in a browser that runs scripts.</p></div>
<script type="application/json" id="{{ id }}-data">{{ data|tojson }}</script>
""",
    autoescape=True,
)
_FOLDED_TABLE = Template(
    """
<details class="explorer-all"><summary>{{ title }}</summary>
<div class="explorer-scroll" tabindex="0" role="region" aria-label="{{ title }}">{{ table|safe }}</div></details>
""",
    autoescape=True,
)


@dataclass(frozen=True)
class LeadMap:
    """A map of who is ahead, by two of the controls of a world.

    Attributes
    ----------
    across, up : str
        Names of the controls.
    height : int
        In pixels.
    caption : str
    """

    across: str
    up: str
    height: int
    caption: str


@dataclass(frozen=True)
class World:
    """What the controls and charts of one grid of scores offer, and in which words.

    Attributes
    ----------
    id : str
        Of its element in the page.
    title : str
    axes : dict of list
        The values of each dimension of the grid, in the order of the controls: those of `panel`,
        then size, t (the measures) and learner.
    panel : list of str
        Dimensions of which a value is chosen for the curves.
    control_titles : dict of str
        By dimension.
    measures : dict of str
        Names of the measures, by the values of t.
    limits : dict of (low, high)
        Ends of the axis of scores, by the values of t.
    place : str
        The chosen panel in words, with names of dimensions in braces.
    unit : str
        What is drawn independently, such as "model".
    maps : dict of LeadMap
        By the id of the map.
    first_learners : list of str
        Those whose curves the page opens with.
    first_values : dict
        By dimension, what the page opens with; the middle value where the grid lacks this one.
    """

    id: str
    title: str
    axes: dict
    panel: list
    control_titles: dict
    measures: dict
    limits: dict
    place: str
    unit: str
    maps: dict
    first_learners: list
    first_values: dict


def page_head():
    """Return the HTML that loads the explorer's style and scripts, once a page."""
    lines = [f'<script defer src="../_static/{name}"></script>' for name in SCRIPTS]
    return '<link rel="stylesheet" href="../_static/explorer.css">' + "\n".join(lines)


def world_html(world, scores, halfwidths):
    """Return the HTML of a world: the place of its controls and charts, and their data.

    Parameters
    ----------
    world, scores, halfwidths
        See `script_data`.
    """
    return _WORLD.render(id=world.id, data=script_data(world, scores, halfwidths))


def folded_table(title, table):
    """Return the HTML of a table below a title that unfolds it.

    Parameters
    ----------
    title : str
    table : DataFrame
        Its index is left out.
    """
    return _FOLDED_TABLE.render(title=title, table=table.to_html(index=False, border=0, classes=[]))


def script_data(world, scores, halfwidths):
    """Return what the page's script reads of a world.

    Parameters
    ----------
    world : World
    scores : DataFrame
        A row for each point of the grid: the dimensions (or their names in `SCRIPT_NAMES`), value
        (mean score), se (its standard error), n_models (how many count) and apart (a list: standard
        errors of the paired differences to each learner, in the order of `world.axes`).
    halfwidths : dict of float
        Half of a simultaneous interval of a lead, in standard errors, by the number of models. For
        other numbers no lead is called one.

    Returns
    -------
    dict
        Lists value, se, models and apart are in the order of the product of the axes, and null
        stands for what is unknown.
    """
    axes = world.axes
    points = pd.MultiIndex.from_product(axes.values())
    grid = scores.rename(columns=SCRIPT_NAMES).set_index(list(axes)).loc[points]
    maps = {}
    captions = {}
    for name, lead_map in world.maps.items():
        maps[name] = [[lead_map.across, lead_map.up], lead_map.height]
        captions[name] = lead_map.caption
    first_values = {
        name: _value_on_axis(value, axes[name]) for name, value in world.first_values.items()
    }
    return {
        "title": world.title,
        "axes": axes,
        "panel": world.panel,
        "titles": world.control_titles,
        "measures": world.measures,
        "limits": world.limits,
        "place": world.place,
        "unit": world.unit,
        "maps": maps,
        "captions": captions,
        "shown": world.first_learners,
        "usual": first_values,
        "looks": {learner: learner_look(learner) for learner in axes["learner"]},
        "widths": {str(n_models): width for n_models, width in halfwidths.items()},
        "scale": SCALE,
        "value": _scaled(grid["value"]),
        "se": _scaled(grid["se"]),
        "models": grid["n_models"].tolist(),
        "apart": [_scaled(errors) for errors in grid["apart"]],
    }


def _value_on_axis(value, axis):
    """The value if the axis has it, else its middle one."""
    return value if value in axis else axis[len(axis) // 2]


def _scaled(values):
    return [None if np.isnan(value) else round(value * SCALE) for value in values]


def learner_look(learner):
    """Return label, colours on a light and on a dark page, dashes and marker of a learner."""
    style = style_of(learner)
    return {
        "label": style["label"],
        "light": readable_colour(style["color"], PAGE_BACKGROUNDS["light"]),
        "dark": readable_colour(style["color"], PAGE_BACKGROUNDS["dark"]),
        "dash": SVG_DASHES[style["linestyle"]],
        "path": marker_path(style["marker"]),
    }


def readable_colour(colour, background):
    """Return the colour, moved towards black or white as far as its contrast asks for.

    Parameters
    ----------
    colour, background : colours that matplotlib knows
        The contrast of one to the other is to be `CONTRAST`.

    Returns
    -------
    str
        Such as "#0072b2"; black or white where no mixture reaches the contrast.
    """
    start = np.array(to_rgb(colour))
    end = 0 if relative_luminance(background) > 0.2 else 1  # black or white
    mixture = to_hex(start)
    for share in np.linspace(0, 1, 41):
        mixture = to_hex(start + share * (end - start))
        if contrast(mixture, background) >= CONTRAST:
            break
    return mixture


def marker_path(marker):
    """Return a marker of matplotlib as an SVG path within -1 and 1.

    Parameters
    ----------
    marker : str
        Such as "o".
    """
    style = MarkerStyle(marker)
    path = style.get_path().transformed(style.get_transform())
    # the y of matplotlib points up, that of SVG down
    scale = np.array([1, -1]) / np.abs(path.vertices).max()
    steps = []
    for points, code in path.iter_segments(simplify=False):
        coordinates = ""
        if code != Path.CLOSEPOLY:  # whose point says nothing
            numbers = (np.reshape(points, (-1, 2)) * scale).flat
            coordinates = ",".join(f"{number:.3g}" for number in numbers)
        steps.append(SVG_COMMANDS[code] + coordinates)
    return "".join(steps)
