"""Sentences that a page repeats from a chapter, between two comments that name their origin."""

import posixpath
import re
from collections.abc import Callable

from nbformat import NotebookNode

from lib.book.pages.reports import summary_of
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
# the name of one of a summary's bullets, such as bullet-1
BULLET = re.compile(r"bullet-(\d+)")
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

    A name is that of a text of the chapter, or such as "bullet-1", of its summary's first bullet.

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
        texts = _texts(runs[chapter].notebook, name)
        if not texts:
            raise BookError(
                f"{place} repeats {name!r} of {chapter}, which has no text of that name"
            )
        return move_links(texts[0], f"chapters/{chapter}.ipynb", place)

    return find


def _texts(notebook: NotebookNode, name: str) -> list[str]:
    """Return the texts of a notebook that have a name; there should be one."""
    bullet = BULLET.fullmatch(name)
    if bullet:
        _, *bullets = re.split(r"^- ", summary_of(notebook), flags=re.MULTILINE)
        number = int(bullet[1])
        return [words.partition("\n\n")[0].strip() for words in bullets[number - 1 : number]]
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            report = output.get("metadata", {}).get("report", {})
            if report.get("kind") == "text" and report.get("name") == name:
                texts.append(output["data"]["text/markdown"].strip())
    return texts


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
