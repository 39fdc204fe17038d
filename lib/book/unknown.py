"""What a run did not find is not on its page: passages that cite it are left out, and headings over nothing."""

import re

from nbformat import NotebookNode

GLUED = "application/papermill.record/text/"
GLUE = re.compile(r"\{glue:\w+\}[ `](\w+)")
INTERVAL = re.compile(r" \[\{glue:text\}`(\w+)[^`]*`, \{glue:text\}`(\w+)[^`]*`\]")
REFERENCE = re.compile(r"\{numref\}`(?:[^`<]*<)?([\w-]+)")
LABEL = re.compile(r"\b(?:fig|tbl|tab)-[\w-]+")
NAME = re.compile(r"^:name: (\S+)", re.MULTILINE)
ITEM = re.compile(r"\n(?=- |\d+\. )")
FENCE = re.compile(r"^(?:`{3,}|:{3,})|\$\$", re.MULTILINE)
HEADING = re.compile(r"(?:\(.*\)=\n)?(#+) ")
DEEPEST = 9  # below any heading


def leave_out_unknown(page: list[NotebookNode], cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return the cells of a page without what its run does not know.

    An interval goes that has no end, as that of a single trial. A paragraph or an item goes if it
    cites a number that is NaN or infinite or was not glued, or a figure or table of the chapter
    that is not there; then a heading that is left without text and output.

    Parameters
    ----------
    page : list of notebook cells
        As they are shown; texts are changed.
    cells : list of notebook cells
        As they ran.
    """
    records = glued(cells)
    known = {
        name
        for name, data in records.items()
        if not re.search(r"\b(nan|inf)\b", str(data.get(GLUED + "plain")))
    }
    there = set(
        NAME.findall("\n".join(str(data.get(GLUED + "markdown", "")) for data in records.values()))
    )
    there |= {_figure(cell) for cell in page if _is_shown(cell)}
    labels = {
        label for cell in cells if cell.cell_type == "code" for label in LABEL.findall(cell.source)
    }
    absent = (labels | set(map(_figure, cells))) - there

    def is_told(passage):
        return known.issuperset(GLUE.findall(passage)) and absent.isdisjoint(
            REFERENCE.findall(passage)
        )

    below, kept = 0, []  # the level of the heading that follows, 0 at the end of the page
    for cell in reversed(page):
        if cell.cell_type == "markdown":
            text = INTERVAL.sub(
                lambda found: found[0] if known.issuperset(found.groups()) else "", cell.source
            )
            told = ("\n".join(filter(is_told, ITEM.split(passage))) for passage in _passages(text))
            below, cell.source = _under_headings(list(filter(None, told)), below)
        elif _is_shown(cell):
            below = DEEPEST
        kept += [cell] if cell.source else []
    return kept[::-1]


def glued(cells: list[NotebookNode]) -> dict:
    """Return what the cells have glued, by name: a dict of representations each."""
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return {
        o.metadata.scrapbook.name: o.data for o in outputs if "scrapbook" in o.get("metadata", {})
    }


def _under_headings(passages, below):
    """The level of the first heading, and the text without headings over nothing."""
    kept = []
    for passage in reversed(passages):
        heading = HEADING.match(passage)
        level = len(heading[1]) if heading else DEEPEST
        if level == DEEPEST or level < below:
            below = level
            kept.append(passage)
    return below, "\n\n".join(reversed(kept))


def _figure(cell):
    return cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")


def _is_shown(cell):
    return any(map(is_seen, cell.get("outputs", [])))


def is_seen(output: NotebookNode) -> bool:
    """Return whether a page shows an output: what is only glued it does not."""
    return "scrapbook" not in output.get("metadata", {})


def _passages(text):
    """Paragraphs, with blank lines inside a fence or formula."""
    passages = []
    for part in re.split(r"\n\n+", text):
        if passages and len(FENCE.findall(passages[-1])) % 2:
            passages[-1] += "\n\n" + part
        else:
            passages.append(part)
    return passages
