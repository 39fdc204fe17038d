"""A figure as a phone shows it: drawn again, as wide as its column, with panels below one another."""

import textwrap
from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np
from IPython.core.pylabtools import print_figure

# Inches. In the 352 pixels that a phone of 390 has for it the smallest words, of 8.5 points, are 9
# pixels high.
WIDTH = 4.3
PAD = 0.03
MARK = '<metadata id="narrow">'  # in which an SVG has the narrow one


def with_narrow(figure):
    """Return a figure as SVG; if it is wide, its metadata has the same figure as SVG for a narrow page."""
    wide = print_figure(figure, "svg")
    if not wide or figure.get_figwidth() <= WIDTH:
        return wide
    copy = deepcopy(figure)
    try:
        make_narrow(copy)
        narrow = print_figure(copy, "svg", pad_inches=PAD)
    finally:
        plt.close(copy)
    body, end, rest = wide.rpartition("</svg>")
    return f"{body}{MARK}{narrow[narrow.index('<svg') :]}</metadata>{end}{rest}"


def make_narrow(figure):
    """Make a figure that was drawn narrow: panels below one another, legends in fewer columns, words in more lines."""
    figure.set_layout_engine("constrained")
    heights = {axis: axis.bbox.height for axis in figure.axes if axis.get_subplotspec()}
    inside = [text for axis in figure.axes for text in axis.texts if _is_inside(text)]
    figure.set_size_inches(WIDTH, 1.3 * _stack(figure))
    for legend in [*figure.legends, *filter(None, (axis.get_legend() for axis in figure.axes))]:
        _fit(legend, figure.bbox.width)
    for text in inside:
        text.set_in_layout(False)
    figure.draw_without_rendering()
    for axis in figure.axes:
        _fit_words(axis, figure.bbox.width, set(axis.texts) - set(inside))
    for text in figure.texts:
        _wrap(text, figure.bbox.width)
    figure.draw_without_rendering()
    lacking = {}
    for axis, height in heights.items():
        row = axis.get_subplotspec().rowspan.start
        lacking[row] = max(lacking.get(row, -np.inf), height - axis.bbox.height)
    figure.set_size_inches(WIDTH, figure.get_figheight() + sum(lacking.values()) / figure.dpi)
    figure.draw_without_rendering()
    for text in inside:
        box = text.get_window_extent()
        _wrap(text, box.width + min(figure.bbox.width - box.x1, box.x0, 0))
    excess = figure.get_tightbbox().width + 2 * PAD - WIDTH
    figure.set_size_inches(WIDTH - max(excess, 0), figure.get_figheight())


def _is_inside(text):
    box, panel = text.get_window_extent(), text.axes.bbox
    return panel.x0 <= (box.x0 + box.x1) / 2 <= panel.x1


def _stack(figure):
    """Give panels side by side as many columns as there is room for; return the height of the figure in inches."""
    specs = {axis: axis.get_subplotspec() for axis in figure.axes if axis.get_subplotspec()}
    grids = {spec.get_gridspec() for spec in specs.values()}
    if len(grids) != 1 or (grid := grids.pop()).ncols == 1:
        return figure.get_figheight()
    n_columns = max(1, round(WIDTH * grid.ncols / figure.get_figwidth()))
    places, row, column = {}, -1, n_columns
    for spec in sorted(set(specs.values()), key=lambda spec: spec.num1):
        width = max(1, round(n_columns * len(spec.colspan) / grid.ncols))
        if column + width > n_columns:
            row, column = row + 1, 0
        places[spec] = (row, slice(column, column + width))
        column += width
    rows = figure.add_gridspec(row + 1, n_columns)
    for axis, spec in specs.items():
        axis.set_subplotspec(rows[places[spec]])
    _label(specs, grid.nrows, {axis for axis, spec in specs.items() if places[spec][1].start == 0})
    return figure.get_figheight() * (row + 1) / grid.nrows


def _label(specs, n_rows, first):
    """Show ticks and labels on panels that shared those of a neighbour."""
    for axis, spec in specs.items():
        for other, its in specs.items():
            left = axis in first and its.rowspan == spec.rowspan and its.colspan.start == 0
            below = its.colspan == spec.colspan and its.rowspan.stop == n_rows
            if left and other is not axis and axis.get_shared_y_axes().joined(axis, other):
                _uncover(axis.yaxis, other.yaxis, labelleft=True)
            if below and other is not axis and axis.get_shared_x_axes().joined(axis, other):
                _uncover(axis.xaxis, other.xaxis, labelbottom=True)


def _uncover(axis, other, **shown):
    axis.set_tick_params(**shown)
    if not axis.label.get_visible() or not axis.label.get_text():
        axis.set_label_text(
            other.label.get_text(), fontsize=other.label.get_fontsize(), visible=True
        )


def _fit(legend, width):
    """Give a legend as many columns as there is room for."""
    title = legend.get_title().get_text()
    while legend._ncols > 1 and legend.get_window_extent().width > width:
        legend._ncols -= 1
        legend._init_legend_box(legend.legend_handles, [text.get_text() for text in legend.texts])
        legend._legend_box.set_offset(legend._findoffset)
        legend.set_title(title or None)
    for text in legend.texts:
        _wrap(text, 0.85 * width)


def _fit_words(axis, width, beside):
    """Break titles, labels and names that are too long; turn names below the x axis that run into each other."""
    for text in (axis.title, axis._left_title, axis.xaxis.label):
        _wrap(text, min(width, 1.25 * axis.bbox.width))
    _wrap(axis.yaxis.label, axis.bbox.height, "height")
    for text in beside:
        _wrap(text, 0.31 * width)
    names = axis.get_yticklabels()
    if any([_wrap(name, 0.38 * width) for name in names]):
        axis.set_yticks(axis.get_yticks(), [name.get_text() for name in names])
    names = [name for name in axis.get_xticklabels() if name.get_text() and name.get_visible()]
    boxes = sorted((name.get_window_extent() for name in names), key=lambda box: box.x0)
    touch = any(one.x1 > other.x0 for one, other in zip(boxes, boxes[1:], strict=False))
    if touch and not any(name.get_rotation() for name in names):
        axis.tick_params(axis="x", rotation=90)


def _wrap(text, room, side="width"):
    """Break words into lines where they are longer than the room for them, in pixels; return whether they were."""
    length, words = getattr(text.get_window_extent(), side), text.get_text()
    if not length > room > 0:
        return False
    lines = words.split("\n")
    n_letters = max(8, int(max(map(len, lines)) * room / length))
    text.set_text(
        "\n".join(textwrap.fill(line, n_letters, break_long_words=False) for line in lines)
    )
    return True
