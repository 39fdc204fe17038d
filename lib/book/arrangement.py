"""The order in which a page shows an executed chapter: picture and finding first, what they rest on folded, below."""

from copy import deepcopy

from jinja2.sandbox import SandboxedEnvironment
from nbformat.v4 import new_markdown_cell, new_notebook

from lib.book.execution import INJECTED
from lib.book.pages import render
from lib.book.parameters import TAG
from lib.book.unknown import is_seen, leave_out_unknown
from lib.book.verdicts import claims_in

# tags: the cell whose picture opens the page; code behind a toggle
LEAD, FOLD = "lead", "hide-input"
FOUND, CLAIMS, REFERENCES = "**What we found", "```{glue:md} verdicts", "## References"
# begins a tag, such as "if 2 in n_hidden": a cell is on the page only where this holds
CONDITION = "if "
_CONDITIONS = SandboxedEnvironment()


def arrange(cells: list, parameters: dict, values: dict, scale: str) -> list:
    """Return the cells of a chapter as its page shows them.

    The picture of the cell tagged ``lead`` follows the first paragraph; below what was found it is
    said if the run is too small for most claims; claims and parameters come before the references;
    neighbours among folded cells share a fold. A tag such as ``if 2 in n_hidden`` leaves a cell out
    where the parameters are others.

    Parameters
    ----------
    cells : list of notebook cells
        In the order in which they ran. The first has the title, a paragraph, what was found, and
        the claims.
    parameters, values : dict
        What the parameters cell declares, and what the chapter ran with, by name.
    scale : str
        Where the values come from, such as "profile paper".
    """
    cells = [cell for cell in cells if all(_holds(tag, values) for tag in _tags(cell))]
    text = [cell for cell in cells if cell.cell_type == "markdown"]
    title, _, claims = text[0].source.partition(CLAIMS)
    title, _, finding = title.partition(FOUND)
    body, _, references = text[-1].source.partition(REFERENCES) if len(text) > 1 else ("", "", "")
    page = [
        new_markdown_cell(title),
        *_lead(cells),
        *([new_markdown_cell(FOUND + finding)] if finding else []),
    ]
    page.append(
        new_markdown_cell(render("chapter_small.md", claims=claims_in(new_notebook(cells=cells))))
    )
    for cell in cells:
        if cell is text[-1] and len(text) > 1:
            page.append(new_markdown_cell(body))
        elif cell is not text[0] and not {TAG, INJECTED} & set(_tags(cell)):
            _append(page, cell)
    end = {
        "claims": claims and CLAIMS + claims,
        "parameters": parameters,
        "values": values,
        "scale": scale,
    }
    page.append(new_markdown_cell(render("chapter_end.md", **end)))
    page += [new_markdown_cell(REFERENCES + references)] if references else []
    return leave_out_unknown(page, cells)


def _holds(tag, values):
    """Return whether a tag, if it is a condition on the parameters, written as in Jinja, holds."""
    return not tag.startswith(CONDITION) or _CONDITIONS.compile_expression(
        tag.removeprefix(CONDITION)
    )(**values)


def _lead(cells):
    """Take the picture from the cell tagged lead; return a cell that only shows it."""
    for cell in cells:
        if LEAD in _tags(cell) and any(map(is_seen, cell.outputs)):
            opening = deepcopy(cell)
            opening["id"] = "lead"
            opening.metadata["tags"] = ["remove-input"]
            opening.outputs = [output for output in cell.outputs if is_seen(output)]
            cell.outputs = [output for output in cell.outputs if not is_seen(output)]
            return [opening]
    return []


def _append(page, cell):
    before = page[-1]
    if FOLD in _tags(before) and FOLD in _tags(cell) and not any(map(is_seen, before.outputs)):
        page.pop()
        cell.source = f"{before.source}\n\n\n{cell.source}"
        cell.outputs = before.outputs + cell.outputs
        cell.metadata["mystnb"] = cell.metadata.get("mystnb", {}) | {
            "code_prompt_show": _prompt(before, cell)
        }
    page.append(cell)


def _prompt(*cells):
    """Return what the folds of two neighbours say, each thing once."""
    texts = (cell.metadata.get("mystnb", {}).get("code_prompt_show", "Code") for cell in cells)
    words = [word for text in texts for word in text.split("; ")]
    first, *others = dict.fromkeys(word[0].lower() + word[1:] for word in words)
    return "; ".join([first[0].upper() + first[1:], *others])


def _tags(cell):
    return cell.metadata.get("tags", [])
