"""Sentences that a page repeats from a chapter, between two comments that name their origin."""

import posixpath
import re
from collections.abc import Callable

from lib.book.pages.runs import Run
from lib.book.run.project import BookError

# <!-- finding: cia/curves right-and-wrong -->, the sentence as last published, <!-- end -->
FINDING = re.compile(
    r"""
    ( <!--[ ]finding:[ ] ([\w/]+) [ ] ([\w-]+) [ ]--> )
    .*?
    ( <!--[ ]end[ ]--> )
    """,
    re.DOTALL | re.VERBOSE,
)
LINE_BREAK = re.compile(r"\s*\n\s*")
# ](target), as in [words](target), but not the address of another host
LINK_TARGET = re.compile(r"(?<=\]\()(?![a-z]+:)([^)#\s]*)(#[^)\s]*)?(?=\))")


def fill_findings(text: str, find: Callable[[str, str], str]) -> str:
    """Return a text in which each passage between comments is the sentence that they name.

    Parameters
    ----------
    text : str
        Markdown.
    find : callable
        Returns the sentence of a chapter and a name.
    """

    def fill(match: re.Match) -> str:
        beginning, chapter, name, end = match.groups()
        # in one line, as a comment at the beginning of a line would end the paragraph
        sentence = LINE_BREAK.sub(" ", find(chapter, name))
        return f"{beginning}{sentence}{end}"

    return FINDING.sub(fill, text)


def finding_of(
    runs: dict[str, Run], place: str, counts: Callable[[], str]
) -> Callable[[str, str], str]:
    """Return a function that finds a chapter's sentence by its name, in Markdown.

    Parameters
    ----------
    runs : dict of str to Run
        By chapter.
    place : str
        The page on which the sentence is to stand, such as chapters/intro.
    counts : callable
        Returns the sentence that counts verdicts: "counts" of the scorecard.
    """

    def find(chapter: str, name: str) -> str:
        if (chapter, name) == ("scorecard", "counts"):
            return counts()
        if chapter not in runs:
            raise BookError(f"{place} repeats a sentence of {chapter}, which is no chapter")
        for cell in runs[chapter].notebook.cells:
            for output in cell.get("outputs", []):
                report = output.get("metadata", {}).get("report", {})
                if report.get("kind") == "text" and report.get("name") == name:
                    sentence = output["data"]["text/markdown"].strip()
                    return move_links(sentence, f"chapters/{chapter}.ipynb", place)
        raise BookError(f"{place} repeats {name!r} of {chapter}, which has no text of that name")

    return find


def move_links(text: str, origin: str, place: str) -> str:
    """Return Markdown of one file as it is to stand in another: links lead where they led.

    Parameters
    ----------
    text : str
    origin, place : str
        Paths of the files below the book's folder.
    """

    def move(match: re.Match) -> str:
        target, anchor = match[1], match[2] or ""
        path = posixpath.join(posixpath.dirname(origin), target) if target else origin
        return posixpath.relpath(path, posixpath.dirname(place) or ".") + anchor

    return LINK_TARGET.sub(move, text)
