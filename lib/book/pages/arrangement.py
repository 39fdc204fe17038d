"""The order of a chapter's page: picture and findings first, folded code and claims below."""

from copy import deepcopy

from jinja2.sandbox import SandboxedEnvironment
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from lib.book.pages.reports import arrange_reports, fold_name, reports_results
from lib.book.pages.unknown import is_visible, leave_out_unknown
from lib.book.rendering import render
from lib.book.run.parameters import INJECTED, TAG
from lib.book.verdicts.chapter_claims import claims_in

# tags of cells
LEAD = "lead"  # the picture of this cell opens the page
FOLD = "hide-input"  # the page shows the code behind a toggle
CONDITION = "if "  # begins a tag, such as "if 2 in n_hidden": otherwise the cell is left out

MAX_NAMES = 3  # in the name of a fold that cells share
MORE = "and more"

# how the passages of a chapter begin that have a place of their own on its page
FINDINGS = "**What we found"
CLAIMS = "```{glue:md} verdicts"
REFERENCES = "## References"

_CONDITIONS = SandboxedEnvironment()


def arrange(cells: list, parameters: dict, values: dict, scale: str) -> list:
    """Return the cells of a chapter in the order of its page.

    The page begins with the title and the first paragraph, the picture of the cell tagged ``lead``,
    what was found, and a note if the run is too small for most claims. Then come the other cells,
    the claims, the parameters and the references. Neighbours among folded cells share a fold. A
    cell with a tag such as ``if 2 in n_hidden`` is left out if the parameters do not fulfil it.

    Parameters
    ----------
    cells : list of notebook cells
        In the order in which they ran. The first has the title, a paragraph, what was found, and
        the claims. The sources and outputs of cells are changed.
    parameters, values : dict
        What the parameters cell declares, and what the chapter ran with, by name.
    scale : str
        Where the values come from, such as "as published".
    """
    if reports_results(cells):
        claims = ""
        body, references = _cut_references(arrange_reports(_without_parameters(cells)))
    else:
        cells = [cell for cell in cells if all(_is_fulfilled(tag, values) for tag in _tags(cell))]
        body, claims, references = _arrange_cited(cells)
    page = []
    for cell in body:
        if FOLD in _tags(cell):
            _name_fold(cell, fold_name(cell))
        _append_cell(page, cell)
    end = render(
        "chapter_end.md",
        claims=claims and CLAIMS + claims,
        parameters=parameters,
        values=values,
        scale=scale,
    )
    page.append(new_markdown_cell(end))
    if references:
        page.append(new_markdown_cell(REFERENCES + references))
    return page if reports_results(cells) else leave_out_unknown(page, cells)


def _arrange_cited(cells: list) -> tuple[list, str, str]:
    """Return the cells of a chapter whose text cites what its cells glue, and two passages.

    The passages, which are to stand at the end, are its claims and its references, each without
    its beginning.
    """
    texts = [cell for cell in cells if cell.cell_type == "markdown"]
    first_text = texts[0]
    opening, _, claims = first_text.source.partition(CLAIMS)
    title, _, findings = opening.partition(FINDINGS)
    body = [new_markdown_cell(title), *_lead_picture(cells)]
    if findings:
        body.append(new_markdown_cell(FINDINGS + findings))
    notebook = new_notebook(cells=cells)
    body.append(new_markdown_cell(render("chapter_small.md", claims=claims_in(notebook))))
    others = [cell for cell in cells if cell is not first_text]
    others, references = _cut_references(_without_parameters(others))
    return [*body, *others], claims, references


def _without_parameters(cells: list) -> list:
    return [cell for cell in cells if not {TAG, INJECTED} & set(_tags(cell))]


def _cut_references(cells: list) -> tuple[list, str]:
    """Return cells without the references that end the last text, and what they are."""
    texts = [cell for cell in cells if cell.cell_type == "markdown"]
    references = ""
    if texts:
        texts[-1].source, _, references = texts[-1].source.partition(REFERENCES)
    return cells, references


def _is_fulfilled(tag: str, values: dict) -> bool:
    """Return whether the parameters fulfil a tag; one that is no condition is always fulfilled."""
    if not tag.startswith(CONDITION):
        return True
    condition = _CONDITIONS.compile_expression(tag.removeprefix(CONDITION))
    return condition(**values)


def _lead_picture(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Move the picture out of the cell tagged lead, and return a cell that shows it, if any."""
    for cell in cells:
        pictures = [output for output in cell.get("outputs", []) if is_visible(output)]
        if LEAD in _tags(cell) and pictures:
            lead = deepcopy(cell)
            lead["id"] = "lead"
            lead.metadata["tags"] = ["remove-input"]
            lead.outputs = pictures
            cell.outputs = [output for output in cell.outputs if not is_visible(output)]
            return [lead]
    return []


def _append_cell(page: list[NotebookNode], cell: NotebookNode) -> None:
    """Append a cell to a page, in one cell with its neighbour if both are folded.

    Visible output between them keeps them apart.
    """
    neighbour = page[-1] if page else new_markdown_cell()
    are_folded = FOLD in _tags(neighbour) and FOLD in _tags(cell)
    if are_folded and not any(is_visible(output) for output in neighbour.outputs):
        page.pop()
        cell.source = f"{neighbour.source}\n\n\n{cell.source}"
        cell.outputs = neighbour.outputs + cell.outputs
        _name_fold(cell, _merge_prompts(neighbour, cell))
    page.append(cell)


def _name_fold(cell: NotebookNode, name: str) -> None:
    """Let the fold of a cell have a name, whether it is open or not."""
    options = dict(cell.metadata.get("mystnb", {}))
    options["code_prompt_show"] = options["code_prompt_hide"] = name
    cell.metadata["mystnb"] = options


def _merge_prompts(*cells: NotebookNode) -> str:
    """Return the prompt of a fold that cells share: what each says, without repetitions.

    Of more than `MAX_NAMES` names the last give way to "and more".
    """
    phrases = []
    for cell in cells:
        prompt = cell.metadata.get("mystnb", {}).get("code_prompt_show", "Code")
        for phrase in prompt.split("; "):
            if phrase != MORE:
                phrases.append(phrase[0].lower() + phrase[1:])
    first, *others = dict.fromkeys(phrases)
    names = [first[0].upper() + first[1:], *others]
    if len(names) > MAX_NAMES:
        names = [*names[:MAX_NAMES], MORE]
    return "; ".join(names)


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])
