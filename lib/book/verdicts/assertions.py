"""Sentences that assert: in the published book the claims that they rest on hold."""

from lib.book.run.project import BookError, Project, read_notebook
from lib.claims import STABLE


def require_assertions(project: Project, profile: str) -> None:
    """Raise BookError if a text rests on a claim that does not hold, or may not hold in a re-run.

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
                if support and not (support["holds"] and support["chance"] >= STABLE):
                    chance = f"the same in a re-run: {support['chance']:.0%}"
                    outcome = f"holds; {chance}" if support["holds"] else "does not hold"
                    claims = ", ".join(support["claims"])
                    lines.append(f"{chapter}, cell {cell.id}: {claims} ({outcome})")
    if lines:
        raise BookError(
            "sentences assert what their claims do not bear out:\n  "
            + "\n  ".join(lines)
            + "\nwrite what holds, in words as sure as it is, or rest the sentence on another claim"
        )
