"""Data that the repository does not ship: which of them a chapter may take, and which are there."""

from lib.book.run.project import Project, read_cells, resolve_parameters
from lib.datasets.availability import remote_status


def remote_data_status(
    project: Project, cells: list[dict], values: dict
) -> dict[str, tuple[str, str]]:
    """Return status and reason of the data that are not shipped and that a chapter may take.

    These are the data sets that its parameters name; texts if one of its cells has the word
    read_texts, those in its parameter `folder` if it has one; WordNet, if one has the word
    read_tags; and what only a mirror has, if it calls read_mirrored.

    Parameters
    ----------
    project : Project
    cells : list of dict
        Cells of the chapter.
    values : dict
        Values of its parameters. A folder is named from the folder of the book on, in which
        chapters run.
    """
    names = set()
    for value in values.values():
        names.update(value if isinstance(value, list) else [value])
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    if "read_texts" in code:
        names.add("texts")
    if "read_tags" in code:
        names.add("wordnet")
    if "read_mirrored(" in code:
        names.add("mirrored")
    folder = project.root / values["folder"] if values.get("folder") else None
    return remote_status(names, folder)


def find_missing_data(project: Project, chapter: str) -> list[str]:
    """Return the data sets or texts that a chapter takes, as it is published, and that are missing.

    Those that are shipped never are.
    """
    _, values = resolve_parameters(project, chapter)
    statuses = remote_data_status(project, read_cells(project.notebook(chapter)), values)
    return [name for name, (status, _) in statuses.items() if status == "not available"]
