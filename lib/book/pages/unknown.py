"""Leave passages out of a page that cite numbers, figures or tables which its run did not give."""

import re

from nbformat import NotebookNode

# MIME types of what MyST-NB's glue stores begin with this, here for text.
GLUED_TEXT = "application/papermill.record/text/"

# {glue:text}`name:.2f` or ```{glue:figure} name
GLUE = re.compile(r"\{glue:\w+\}[ `](\w+)")

# An interval in brackets: [{glue:text}`low:.2f`, {glue:text}`high:.2f`], with the space before it.
INTERVAL = re.compile(
    r"""
    [ ]\[
    \{glue:text\}`(\w+)[^`]*`,[ ]  # name of the lower end, and how it is formatted
    \{glue:text\}`(\w+)[^`]*`      # name of the upper end
    \]
    """,
    re.VERBOSE,
)

# {numref}`label` or {numref}`words <label>`
REFERENCE = re.compile(r"\{numref\}`(?:[^`<]*<)?([\w-]+)")

# labels of figures and tables in the code that makes them
LABEL = re.compile(r"\b(?:fig|tbl|tab)-[\w-]+")

# the label that a directive gives to its table or figure
NAME = re.compile(r"^:name: (\S+)", re.MULTILINE)

# nan or inf as a word of its own, in a number with its interval, for example
NOT_FINITE = re.compile(r"\b(nan|inf)\b")

# where an item of a list begins
ITEM = re.compile(r"\n(?=- |\d+\. )")

# a line that begins or ends a code block, a directive or a formula
FENCE = re.compile(r"^(?:`{3,}|:{3,})|\$\$", re.MULTILINE)

# a heading, perhaps below the line with its label
HEADING = re.compile(r"(?:\(.*\)=\n)?(#+) ")

TEXT_LEVEL = 9  # text and outputs count as below any heading


def leave_out_unknown(page: list[NotebookNode], cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return the cells of a page without the passages that its run has no results for.

    Left out are, in this order:

    - an interval with an end that is unknown, such as that of a single trial;
    - a paragraph or an item of a list that cites an unknown number, or a figure or table that the
      chapter can make but did not make in this run;
    - a heading below which neither text nor an output is left.

    A number is unknown if it is NaN or infinite or was not glued.

    Parameters
    ----------
    page : list of notebook cells
        The cells in the order of the page. The sources of text cells are changed.
    cells : list of notebook cells
        The cells as they were executed.
    """
    glued = find_glued(cells)
    finite_names = {
        name
        for name, representations in glued.items()
        if not NOT_FINITE.search(str(representations.get(GLUED_TEXT + "plain")))
    }
    missing_labels = _labels_in_code(cells) - _labels_on_page(page, glued)

    def is_supported(passage: str) -> bool:
        cited_names = GLUE.findall(passage)
        cited_labels = REFERENCE.findall(passage)
        return finite_names.issuperset(cited_names) and missing_labels.isdisjoint(cited_labels)

    # Backwards, because a heading depends on what follows it.
    remaining = []
    next_level = 0  # of the heading that follows; 0 at the end of the page
    for cell in reversed(page):
        if cell.cell_type == "markdown":
            text = _leave_out_intervals(cell.source, finite_names)
            passages = []
            for passage in _passages(text):
                items = [item for item in ITEM.split(passage) if is_supported(item)]
                if any(items):
                    passages.append("\n".join(items))
            next_level, cell.source = _leave_out_headings(passages, next_level)
        elif _has_visible_output(cell):
            next_level = TEXT_LEVEL
        if cell.source:
            remaining.append(cell)
    return remaining[::-1]


def find_glued(cells: list[NotebookNode]) -> dict[str, dict]:
    """Return what the cells have glued: for each name a dict of representations by MIME type."""
    glued = {}
    for cell in cells:
        for output in cell.get("outputs", []):
            if not is_visible(output):
                glued[output.metadata.scrapbook.name] = output.data
    return glued


def is_visible(output: NotebookNode) -> bool:
    """Return whether an output is shown below its cell, not only stored under a name by glue."""
    return "scrapbook" not in output.get("metadata", {})


def _has_visible_output(cell: NotebookNode) -> bool:
    return any(is_visible(output) for output in cell.get("outputs", []))


def _labels_in_code(cells: list[NotebookNode]) -> set[str]:
    """Return the labels of all figures and tables that the chapter can make."""
    labels = {_figure_label(cell) for cell in cells}
    for cell in cells:
        if cell.cell_type == "code":
            labels.update(LABEL.findall(cell.source))
    return labels


def _labels_on_page(page: list[NotebookNode], glued: dict[str, dict]) -> set[str]:
    """Return the labels of figures below their cells, and of figures and tables in glued text."""
    labels = {_figure_label(cell) for cell in page if _has_visible_output(cell)}
    for representations in glued.values():
        labels.update(NAME.findall(str(representations.get(GLUED_TEXT + "markdown", ""))))
    return labels


def _figure_label(cell: NotebookNode) -> str:
    """Return the label of the figure that a cell shows; nothing if it has none."""
    return cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")


def _leave_out_intervals(text: str, finite_names: set[str]) -> str:
    """Return a text without the intervals that have an unknown end."""

    def keep_finite(interval: re.Match) -> str:
        return interval[0] if finite_names.issuperset(interval.groups()) else ""

    return INTERVAL.sub(keep_finite, text)


def _leave_out_headings(passages: list[str], next_level: int) -> tuple[int, str]:
    """Return the level at which a cell begins, and its text without headings above nothing.

    Parameters
    ----------
    passages : list of str
        The passages of the cell. Each heading is a passage of its own.
    next_level : int
        The level at which the cell below begins: of its heading, `TEXT_LEVEL`, or 0 if there is
        none.
    """
    remaining = []
    for passage in reversed(passages):
        heading = HEADING.match(passage)
        level = len(heading[1]) if heading else TEXT_LEVEL
        # A heading stays if text or a heading of a lower rank follows.
        if not heading or level < next_level:
            remaining.append(passage)
            next_level = level
    return next_level, "\n\n".join(reversed(remaining))


def _passages(text: str) -> list[str]:
    """Return the paragraphs of a text. A code block or formula is one, even with blank lines."""
    passages = []
    for paragraph in re.split(r"\n\n+", text):
        is_open = passages and len(FENCE.findall(passages[-1])) % 2
        if is_open:
            passages[-1] += "\n\n" + paragraph
        else:
            passages.append(paragraph)
    return passages
