"""The explorer's charts: learning curves and maps of who is ahead, as Vega-Lite specifications."""

import altair as alt
import numpy as np
from matplotlib.colors import to_hex, to_rgb
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path

from lib.figures.style import look

LIGHT, DARK = "#ffffff", "#121212"  # the theme's backgrounds
_INK = alt.expr("dark ? '#e8e8e8' : '#222222'")
_FAINT = alt.expr("dark ? '#3c434d' : '#dddddd'")
_DASHES = {"-": [1, 0], "--": [6, 3], "-.": [6, 2, 2, 2], ":": [2, 2]}
_HERE = "datum.t === t && indexof(learners, datum.learner) >= 0"
_RANKED = {
    "calculate": "isValid(datum.second) ? datum.value - datum.second_value : null",
    "apart": "isValid(datum.second) ? datum.apart[indexof(order, datum.second)] : null",
}


def charts(learners, sizes):
    """Specifications of the three charts by name, each a dict that Altair has checked.

    Parameters
    ----------
    learners : sequence of str
        In the order of the grid; look and label are the book's.
    sizes : sequence of int

    Returns
    -------
    dict
        "curves", "by_n" (hidden values and attributes) and "by_b" (hidden values and difficulty). They read the data
        set `grid` and are steered by the parameters n, k, b, t, size, learners and dark.
    """
    learners = list(learners)
    made = {
        "curves": _curves(learners, sizes),
        "by_n": _map(learners, "n", "attributes n", "datum.b === b", 210),
        "by_b": _map(learners, "b", "difficulty B", "datum.n === n", 130),
    }
    return {name: _finished(chart, learners).to_dict() for name, chart in made.items()}


def readable(color, background, least=3.2):
    """Return `color`, moved towards black or white as far as a contrast of `least` to the background needs."""
    start, end = np.array(to_rgb(color)), np.zeros(3) if _luminance(background) > 0.2 else np.ones(3)
    for part in np.linspace(0, 1, 41):
        mixed = to_hex(start + part * (end - start))
        if contrast(mixed, background) >= least:
            return mixed
    return mixed


def contrast(first, second):
    """Contrast ratio of two colours, as WCAG defines it."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def marker_path(marker):
    """Return a Matplotlib marker as an SVG path within -1 and 1."""
    style = MarkerStyle(marker)
    path = style.get_path().transformed(style.get_transform())
    scale = 1 / np.abs(path.vertices).max()
    words = []
    for points, code in path.iter_segments(simplify=False):
        letter = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}[code]
        flipped = np.reshape(points, (-1, 2)) * (scale, -scale)
        words.append(letter + ("" if letter == "Z" else ",".join(f"{value:.3g}" for value in flipped.flat)))
    return "".join(words)


def _luminance(color):
    rgb = np.array(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)


def _curves(learners, sizes):
    low, high = alt.expr("t === 'accuracy' ? 0.5 : -1"), alt.expr("t === 'accuracy' ? 1 : 1.05")
    x = alt.X("size:Q", title="sample size s", scale=alt.Scale(type="log", nice=False))
    x = x.axis(values=list(sizes), labelExpr="format(datum.value, ',')", labelOverlap="greedy")
    scale = alt.Scale(domainMin=low, domainMax=high, nice=False, zero=False)
    here = f"{_HERE} && datum.n === n && datum.k === k && datum.b === b && isValid(datum.value)"
    base = alt.Chart().transform_filter(here).transform_calculate(low="datum.value - datum.se")
    base = base.transform_calculate(high="datum.value + datum.se")
    y = alt.Y("value:Q", title=None, scale=scale).axis(format=".2~f")
    encoded = base.encode(x=x, y=y, color=_color(learners))
    band = base.transform_filter("isValid(datum.se)").mark_area(opacity=0.16, clip=True)
    band = band.encode(x=x, y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q", color=_color(learners))
    dashes = alt.Scale(domain=learners, range=[_DASHES[look(name)["linestyle"]] for name in learners])
    line = encoded.mark_line(clip=True, strokeWidth=2).encode(strokeDash=alt.StrokeDash("learner:N", scale=dashes))
    line = line.encode(strokeDash=alt.StrokeDash("learner:N", scale=dashes, legend=None))
    points = encoded.mark_point(clip=True, filled=True, size=70, opacity=1)
    points = points.encode(shape=_shape(learners), tooltip=_tooltip("size", "label", "value", "se"))
    rule = base.transform_filter("datum.size === size").transform_aggregate(groupby=["size"])
    rule = rule.mark_rule(color=_INK, strokeDash=[3, 3]).encode(x=x)
    return alt.layer(band, rule, line, points).properties(height=300, description="Learning curves at the settings")


def _map(learners, field, title, fixed, height):
    ahead = [alt.WindowFieldDef(op="row_number", **{"as": "rank"})]
    ahead += [alt.WindowFieldDef(op="lead", field=name, **{"as": f"second{end}"}) for name, end in _SECOND]
    base = alt.Chart().transform_filter(f"{_HERE} && {fixed} && datum.size === size && isValid(datum.value)")
    base = base.transform_window(window=ahead, groupby=[field, "k"], sort=[alt.SortField("value", order="descending")])
    base = base.transform_filter("datum.rank === 1").transform_calculate(
        lead=_RANKED["calculate"], lead_se=_RANKED["apart"]
    )
    base = base.transform_calculate(
        clear="isValid(datum.lead_se) && datum.lead > 2 * datum.lead_se",
        words="isValid(datum.lead) ? '+' + format(datum.lead, '.2f') : ''",
    )
    x = alt.X("k:O", title="hidden values k").axis(labelAngle=0, grid=False)
    y = alt.Y(f"{field}:O", title=title, sort="descending").axis(grid=False)
    encoded = base.encode(x=x, y=y)
    tooltip = _tooltip("n", "k", "b", "label", "second_label", "lead", "lead_se", "models")
    cells = encoded.mark_rect(cursor="pointer").encode(
        color=_color(learners),
        opacity=alt.condition("datum.clear", alt.value(0.32), alt.value(0.06)),
        tooltip=tooltip,
    )
    signs = encoded.mark_point(filled=True, size=80, opacity=1, yOffset=-8, cursor="pointer")
    signs = signs.encode(color=_color(learners), shape=_shape(learners), tooltip=tooltip)
    leads = encoded.mark_text(color=_INK, yOffset=9, fontSize=11, cursor="pointer").encode(text="words:N")
    here = encoded.transform_filter("datum.n === n && datum.k === k && datum.b === b")
    here = here.mark_rect(filled=False, stroke=_INK, strokeWidth=2)
    return alt.layer(cells, signs, leads, here).properties(height=height, description=f"Who is ahead by {title} and k")


_SECOND = (("learner", ""), ("label", "_label"), ("value", "_value"))
_TITLES = {
    "n": "n",
    "k": "k",
    "b": "B",
    "size": "sample size",
    "label": "learner",
    "second_label": "second",
    "value": "mean",
    "se": "standard error",
    "lead": "lead",
    "lead_se": "standard error of the lead",
    "models": "models",
}
_DECIMALS = ("value", "se", "lead", "lead_se")


def _tooltip(*fields):
    kinds = {name: "Q" if name in _DECIMALS else "N" for name in fields}
    return [
        alt.Tooltip(f"{name}:{kind}", title=_TITLES[name], **({"format": ".3f"} if kind == "Q" else {}))
        for name, kind in kinds.items()
    ]


def _color(learners):
    colors = [look(name)["color"] for name in learners]
    both = [f"dark ? '{readable(color, DARK)}' : '{readable(color, LIGHT)}'" for color in colors]
    return alt.Color("learner:N", scale=alt.Scale(domain=learners, range=[alt.expr(x) for x in both]), legend=None)


def _shape(learners):
    paths = [marker_path(look(name)["marker"]) for name in learners]
    return alt.Shape("learner:N", scale=alt.Scale(domain=learners, range=paths), legend=None)


def _finished(chart, learners):
    """Give a chart its data set, its parameters and a look that follows the theme."""
    values = {"n": None, "k": None, "b": None, "t": "t", "size": None, "learners": learners, "dark": False}
    chart = chart.properties(data=alt.NamedData(name="grid"), width="container", background="transparent")
    chart = chart.add_params(*(alt.param(name=name, value=value) for name, value in values.items()))
    chart = chart.add_params(alt.param(name="order", value=learners))
    axis = {"labelColor": _INK, "titleColor": _INK, "gridColor": _FAINT, "domainColor": _INK, "tickColor": _INK}
    chart = chart.configure_axis(**axis, labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
    return chart.configure_view(stroke=None)
