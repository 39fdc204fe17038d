"""Sentences that assert: in the published book the claims that they rest on hold."""

from lib.book.run.project import BookError, Project, read_notebook


def require_assertions(project: Project, profile: str) -> None:
    """Raise BookError if a text gave way because a claim that it rests on does not hold.

    Parameters
    ----------
    project : Project
    profile : str
        Whose executed notebooks are looked at: texts that `lib.report.text` displayed.
    """
    lines = []
    for chapter in project.chapters:
        for cell in read_notebook(project.executed(profile, chapter)).cells:
            for output in cell.get("outputs", []):
                support = output.get("metadata", {}).get("report", {}).get("asserts")
                if support and not support["holds"]:
                    lines.append(f"{chapter}, cell {cell.id}: {', '.join(support['claims'])}")
    if lines:
        raise BookError(
            "sentences assert what their claims do not bear out:\n  "
            + "\n  ".join(lines)
            + "\nwrite what holds, or let the sentence rest on another claim"
        )
