"""The scale at which a claim is tested: the values of a profile that its cell reads."""

import ast
from typing import NamedTuple

from lib.base.sources import PARSING
from lib.book.run.parameters import TAG
from lib.book.run.project import PUBLISHED, Project, read_cells, read_mapping

FILE = "chapters/profiles.yml"
DECIDES_NOTHING = {"n_jobs"}  # results are the same for any number of workers


class _Cell(NamedTuple):
    """Names that a code cell binds or changes, names that it reads, and its texts in quotes."""

    bound: set[str]
    read: set[str]
    texts: set[str]


class ClaimParameters(NamedTuple):
    """The chapter of a claim, and the parameters that decide its numbers."""

    chapter: str
    names: tuple[str, ...]


def claim_parameters(project: Project, claim_ids: list[str]) -> dict[str, ClaimParameters]:
    """Return for each claim its chapter, and the parameters that its cell reads.

    A cell is a claim's if the claim's id is one of its texts in quotes. It reads what the cells
    read that bind its names, too. Claims whose id stands in no chapter are left out.
    """
    parameters = {}
    for chapter in project.chapters:
        code_cells = [
            cell for cell in read_cells(project.notebook(chapter)) if cell["cell_type"] == "code"
        ]
        settable = set()
        cells = []
        for cell in code_cells:
            names = _names(cell["source"])
            if TAG in cell["metadata"].get("tags", []):
                settable |= names.bound - DECIDES_NOTHING
            else:
                cells.append(names)
        for id in claim_ids:
            claim_cells = [i for i, cell in enumerate(cells) if id in cell.texts]
            if claim_cells:
                read = _names_behind(cells, claim_cells)
                parameters[id] = ClaimParameters(chapter, tuple(sorted(read & settable)))
    return parameters


def scale(profiles: dict, parameters: ClaimParameters) -> dict:
    """Return the values that the published profile gives to the parameters of a claim.

    Parameters
    ----------
    profiles : dict
        What ``chapters/profiles.yml`` says, or said in an earlier commit.
    parameters : ClaimParameters
    """
    chapters = profiles.get(PUBLISHED) or {}
    values = chapters.get(parameters.chapter) or {}
    return {name: values[name] for name in parameters.names if name in values}


def read_profiles(project: Project) -> dict:
    """Return what ``chapters/profiles.yml`` says."""
    return read_mapping(project.root / FILE)


def _names(source: str) -> _Cell:
    """Return the names of a cell; none of one that is no Python, such as a magic command."""
    bound = set()
    read = set()
    texts = set()
    try:
        with PARSING:
            tree = ast.parse(source)
    except SyntaxError:
        return _Cell(bound, read, texts)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            # `errors["em"] = ...` changes errors
            bound |= {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
    return _Cell(bound, read, texts)


def _names_behind(cells: list[_Cell], claim_cells: list[int]) -> set[str]:
    """Return all names that some cells read, directly or through earlier cells that bind them."""
    names = set()
    reached = set()
    pending = list(claim_cells)
    while pending:
        i = pending.pop()
        if i in reached:
            continue
        reached.add(i)
        names |= cells[i].read
        for j in range(i):
            if cells[j].bound & cells[i].read:
                pending.append(j)
    return names
