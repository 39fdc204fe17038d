"""A figure as a phone shows it: drawn again, as wide as its column, with panels stacked."""

import textwrap
from copy import deepcopy
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from IPython.core.pylabtools import print_figure
from matplotlib.text import Text

# Inches. A phone of 390 pixels has 352 for a figure: the smallest words, of 8.5 points, are then
# 9 pixels high.
WIDTH = 4.3
PAD = 0.03  # inches
MARK = '<metadata id="narrow">'  # in which the SVG of a figure has that of the narrow one
MAX_WIDTH_OF_LEGEND_WORDS = 0.85  # of the figure's width, as are the next two
MAX_WIDTH_OF_WORDS_BESIDE = 0.31
MAX_WIDTH_OF_TICK_LABELS = 0.38
MIN_LETTERS = 8  # of a line, however small the room


def with_narrow(figure):
    """Return a figure as SVG, a wide one with the narrow figure as SVG in its metadata.

    Parameters
    ----------
    figure : Figure
        It is left as it is.

    Returns
    -------
    str or None
        None for a figure without axes.
    """
    wide = print_figure(figure, "svg")
    if not wide or figure.get_figwidth() <= WIDTH:
        return wide
    copy = deepcopy(figure)
    try:
        make_narrow(copy)
        narrow = print_figure(copy, "svg", pad_inches=PAD)
    finally:
        plt.close(copy)
    narrow = narrow[narrow.index("<svg") :]  # without the XML declaration
    body, end_tag, tail = wide.rpartition("</svg>")
    return f"{body}{MARK}{narrow}</metadata>{end_tag}{tail}"


def make_narrow(figure):
    """Make a figure narrow that has been drawn wide, in place.

    Panels stand below one another, legends have fewer columns, and words more lines.
    """
    figure.set_layout_engine("constrained")
    height_of_panels = {axis: axis.bbox.height for axis in _panels(figure)}
    texts = [text for axis in figure.axes for text in axis.texts]
    texts_inside = [text for text in texts if _is_inside(text)]

    # 1.3: room for words in more lines, until it is known how much they need
    figure.set_size_inches(WIDTH, 1.3 * _stack_panels(figure))
    for legend in _legends(figure):
        _fit_legend(legend, figure.bbox.width)
    # what is inside a panel takes no room beside it
    for text in texts_inside:
        text.set_in_layout(False)
    figure.draw_without_rendering()

    for axis in figure.axes:
        _wrap_titles_and_labels(axis, figure.bbox.width)
        _fit_tick_labels(axis, figure.bbox.width)
        for text in axis.texts:
            if text not in texts_inside:
                _wrap(text, MAX_WIDTH_OF_WORDS_BESIDE * figure.bbox.width)
    for text in figure.texts:
        _wrap(text, figure.bbox.width)
    figure.draw_without_rendering()

    # words that take more lines have made the panels lower
    _restore_heights(figure, height_of_panels)
    figure.draw_without_rendering()
    for text in texts_inside:
        box = text.get_window_extent()
        overhang = max(box.x1 - figure.bbox.width, -box.x0, 0)
        _wrap(text, box.width - overhang)
    # the saved picture is cut to what is drawn, plus the padding
    excess = figure.get_tightbbox().width + 2 * PAD - WIDTH
    figure.set_size_inches(WIDTH - max(excess, 0), figure.get_figheight())


def _panels(figure):
    """The axes of a figure that are cells of a grid, which an inset or a colour bar may not be."""
    return [axis for axis in figure.axes if axis.get_subplotspec()]


def _legends(figure):
    legends_of_axes = [axis.get_legend() for axis in figure.axes]
    return [*figure.legends, *(legend for legend in legends_of_axes if legend)]


def _is_inside(text):
    """Whether the middle of a text is between the left and the right end of its panel."""
    box = text.get_window_extent()
    panel = text.axes.bbox
    return panel.x0 <= (box.x0 + box.x1) / 2 <= panel.x1


def _restore_heights(figure, height_of_panels):
    """Make a figure higher by the height, in pixels, that its panels have lost."""
    missing_height = {}  # by row of the grid
    for axis, height in height_of_panels.items():
        row = axis.get_subplotspec().rowspan.start
        missing = height - axis.bbox.height
        missing_height[row] = max(missing_height.get(row, -np.inf), missing)
    added = sum(missing_height.values()) / figure.dpi
    figure.set_size_inches(WIDTH, figure.get_figheight() + added)


def _stack_panels(figure):
    """Give panels side by side as many columns as there is room for.

    Returns the height of the figure, in inches, that keeps the height of a row.
    """
    specs = {axis: axis.get_subplotspec() for axis in _panels(figure)}
    grids = {spec.get_gridspec() for spec in specs.values()}
    if len(grids) != 1:
        return figure.get_figheight()
    [grid] = grids
    if grid.ncols == 1:
        return figure.get_figheight()

    n_columns = max(1, round(WIDTH * grid.ncols / figure.get_figwidth()))
    cells = {}  # row and columns in the new grid, by cell of the old one
    row = -1
    column = n_columns  # the next free one
    for spec in sorted(set(specs.values()), key=lambda spec: spec.num1):
        width = max(1, round(n_columns * len(spec.colspan) / grid.ncols))
        if column + width > n_columns:
            row += 1
            column = 0
        cells[spec] = (row, slice(column, column + width))
        column += width
    n_rows = row + 1

    new_grid = figure.add_gridspec(n_rows, n_columns)
    leftmost = set()
    for axis, spec in specs.items():
        axis.set_subplotspec(new_grid[cells[spec]])
        if cells[spec][1].start == 0:
            leftmost.add(axis)
    _show_shared_labels(specs, grid.nrows, leftmost)
    return figure.get_figheight() * n_rows / grid.nrows


def _show_shared_labels(specs, n_rows, leftmost):
    """Show ticks and labels on panels that shared those of a neighbour.

    Parameters
    ----------
    specs : dict
        Cells of the old grid, by panel.
    n_rows : int
        Of the old grid.
    leftmost : set of Axes
        The panels in the first column of the new grid.
    """
    for axis, spec in specs.items():
        for other, other_spec in specs.items():
            if other is axis:
                continue
            other_labels_row = other_spec.rowspan == spec.rowspan and other_spec.colspan.start == 0
            shares_y = axis.get_shared_y_axes().joined(axis, other)
            if axis in leftmost and other_labels_row and shares_y:
                axis.yaxis.set_tick_params(labelleft=True)
                _copy_label(axis.yaxis, other.yaxis)
            other_labels_column = (
                other_spec.colspan == spec.colspan and other_spec.rowspan.stop == n_rows
            )
            shares_x = axis.get_shared_x_axes().joined(axis, other)
            if other_labels_column and shares_x:
                axis.xaxis.set_tick_params(labelbottom=True)
                _copy_label(axis.xaxis, other.xaxis)


def _copy_label(axis, other):
    """Give an x or y axis the label of another, if it shows none."""
    if not axis.label.get_visible() or not axis.label.get_text():
        label = other.label
        axis.set_label_text(label.get_text(), fontsize=label.get_fontsize(), visible=True)


def _fit_legend(legend, room):
    """Give a legend as many columns as there is room for, in pixels."""
    n_columns = len(_legend_columns(legend))
    while n_columns > 1 and legend.get_window_extent().width > room:
        n_columns -= 1
        _set_legend_columns(legend, n_columns)
    for text in legend.get_texts():
        _wrap(text, MAX_WIDTH_OF_LEGEND_WORDS * room)


def _legend_columns(legend):
    """The list of the columns of a legend, each a box of its entries."""
    [box] = legend.get_children()[:1]
    _, entries = box.get_children()  # below the title
    return entries.get_children()


def _set_legend_columns(legend, n_columns):
    """Divide the entries of a legend among its first columns.

    Matplotlib has no way to lay out a legend again: `Legend.set_ncols` changes a number that is
    only read when it is made. So entries move between the lists of children of its boxes.
    """
    columns = _legend_columns(legend)
    entries = [entry for column in columns for entry in column.get_children()]
    del columns[n_columns:]
    for column, indices in zip(
        columns, np.array_split(np.arange(len(entries)), n_columns), strict=True
    ):
        column.get_children()[:] = [entries[i] for i in indices]


def _wrap_titles_and_labels(axis, figure_width):
    """Break titles and labels of a panel that are too long."""
    texts = [child for child in axis.get_children() if isinstance(child, Text)]
    titles = [text for text in texts if text not in axis.texts]
    for text in (*titles, axis.xaxis.label):
        _wrap(text, min(figure_width, 1.25 * axis.bbox.width))
    _wrap(axis.yaxis.label, axis.bbox.height, "height")


def _fit_tick_labels(axis, figure_width):
    """Break long names beside the y axis; turn names below the x axis that touch each other."""
    y_labels = axis.get_yticklabels()
    was_wrapped = [_wrap(label, MAX_WIDTH_OF_TICK_LABELS * figure_width) for label in y_labels]
    if any(was_wrapped):
        axis.set_yticks(axis.get_yticks(), [label.get_text() for label in y_labels])

    x_labels = [
        label for label in axis.get_xticklabels() if label.get_text() and label.get_visible()
    ]
    boxes = sorted((label.get_window_extent() for label in x_labels), key=lambda box: box.x0)
    touch = any(box.x1 > next_box.x0 for box, next_box in pairwise(boxes))
    if touch and not any(label.get_rotation() for label in x_labels):
        axis.tick_params(axis="x", rotation=90)


def _wrap(text, room, side="width"):
    """Break words into lines where they are longer than the room for them, in pixels.

    Returns whether they were.
    """
    length = getattr(text.get_window_extent(), side)
    if not length > room > 0:
        return False
    lines = text.get_text().split("\n")
    longest = max(map(len, lines))
    n_letters = max(MIN_LETTERS, int(longest * room / length))
    wrapped = [textwrap.fill(line, n_letters, break_long_words=False) for line in lines]
    text.set_text("\n".join(wrapped))
    return True
