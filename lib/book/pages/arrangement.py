"""The page of a chapter: what its cells display, folds with names, parameters and references."""

import re

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from lib.book.pages.reports import arrange_reports, fold_name
from lib.book.rendering import render
from lib.book.run.parameters import INJECTED, TAG

# tags of cells
FOLD = "hide-input"  # the page shows the code behind a toggle
WHOLE_FOLD = "hide-cell"  # what the code displays, too

MAX_NAMES = 3  # in the name of a fold that cells share
MORE = "and more"

REFERENCES = "## References"  # ends a chapter
HEADING = re.compile(r"^## (.*)", re.MULTILINE)
EXERCISES = ("Exercise", "Exercises")  # the section in which folds are solutions


def arrange(cells: list, parameters: dict, values: dict, scale: str) -> list:
    """Return the cells of a chapter in the order of its page.

    The page is as `arrange_reports` says; the parameters and the references stand at its end.
    Neighbours among folded cells share a fold.

    Parameters
    ----------
    cells : list of notebook cells
        In the order in which they ran. Their sources and outputs are changed.
    parameters, values : dict
        What the parameters cell declares, and what the chapter ran with, by name.
    scale : str
        Where the values come from, such as "as published".
    """
    cells = [cell for cell in cells if not {TAG, INJECTED} & set(_tags(cell))]
    body, references = _cut_references(arrange_reports(cells))
    page = []
    section = ""
    for cell in body:
        if cell.cell_type == "markdown":
            headings = HEADING.findall(cell.source)
            section = headings[-1] if headings else section
        elif FOLD in _tags(cell):
            _name_fold(cell, fold_name(cell))
        elif WHOLE_FOLD in _tags(cell):
            _name_fold(cell, "Solution" if section in EXERCISES else fold_name(cell))
        _append_cell(page, cell)
    end = render("chapter_end.md", parameters=parameters, values=values, scale=scale)
    page.append(new_markdown_cell(end))
    if references:
        page.append(new_markdown_cell(REFERENCES + references))
    return page


def _cut_references(cells: list) -> tuple[list, str]:
    """Return cells without the references that end the last text, and what they are."""
    texts = [cell for cell in cells if cell.cell_type == "markdown"]
    references = ""
    if texts:
        texts[-1].source, _, references = texts[-1].source.partition(REFERENCES)
    return cells, references


def _append_cell(page: list[NotebookNode], cell: NotebookNode) -> None:
    """Append a cell to a page, in one cell with its neighbour if both are folded.

    Output between them keeps them apart.
    """
    neighbour = page[-1] if page else new_markdown_cell()
    are_folded = FOLD in _tags(neighbour) and FOLD in _tags(cell)
    if are_folded and not neighbour.outputs:
        page.pop()
        cell.source = f"{neighbour.source}\n\n\n{cell.source}"
        _name_fold(cell, _merge_names(neighbour, cell))
    page.append(cell)


def _name_fold(cell: NotebookNode, name: str) -> None:
    """Let the fold of a cell have a name, whether it is open or not."""
    options = dict(cell.metadata.get("mystnb", {}))
    options["code_prompt_show"] = options["code_prompt_hide"] = name
    cell.metadata["mystnb"] = options


def _merge_names(*cells: NotebookNode) -> str:
    """Return the name of a fold that cells share: that of each, without repetitions.

    Of more than `MAX_NAMES` names the last give way to "and more".
    """
    phrases = []
    for cell in cells:
        for phrase in cell.metadata["mystnb"]["code_prompt_show"].split("; "):
            if phrase != MORE:
                phrases.append(phrase[0].lower() + phrase[1:])
    first, *others = dict.fromkeys(phrases)
    names = [first[0].upper() + first[1:], *others]
    if len(names) > MAX_NAMES:
        names = [*names[:MAX_NAMES], MORE]
    return "; ".join(names)


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])
