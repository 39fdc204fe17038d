"""Words of the glossary: each has a pop-up with its meaning where a page first mentions it."""

import re
from functools import cache
from pathlib import Path

from docutils import nodes

from lib.book.run.project import read_text

GLOSSARY = Path("chapters", "reference", "glossary.md")
ENTRY = re.compile(r"^(\S.*)\n((?:  .*\n)+)", re.MULTILINE)  # a term, and lines that are indented
SENTENCE = re.compile(r"(.*?[.:])(?:\s|$)", re.DOTALL)
# {term}`words <target>` or {term}`words`, $x$, `x`, *x* and [words](target): the words are kept
ROLE = re.compile(r"\{[\w:]+\}`([^`<]*?)\s*(?:<[^>]*>)?`")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
MARKS = re.compile(r"[*`$\\]")
# where a term is not explained
APART = (
    nodes.title,
    nodes.caption,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.raw,
    nodes.abbreviation,
    nodes.term,
    nodes.inline,  # a link that Sphinx is still to resolve
)


def explain(app, doctree) -> None:
    """Explain the terms of the glossary on the page of a chapter."""
    if app.env.docname.removeprefix("chapters/") not in app.book.runs:
        return
    meanings = dict(read_glossary(app.book.project.root / GLOSSARY))
    for text in list(doctree.findall(nodes.Text)):
        if meanings and not _is_apart(text):
            _explain_in(text, meanings)


@cache
def read_glossary(path: Path) -> dict[str, str]:
    """Return the terms that have a pop-up, each with the first sentence of its entry.

    They are those that nobody takes for an everyday word: of several words, or with a capital.
    """
    if not path.exists():
        return {}
    terms = {}
    for term, entry in ENTRY.findall(read_text(path)):
        is_everyday = term.isalpha() and term.islower()
        if not is_everyday:
            words = " ".join(MARKS.sub("", LINK.sub(r"\1", ROLE.sub(r"\1", entry))).split())
            terms[term] = SENTENCE.match(words)[1] if SENTENCE.match(words) else words
    return terms


def _is_apart(text: nodes.Text) -> bool:
    node = text.parent
    while node is not None:
        if isinstance(node, APART):
            return True
        node = node.parent
    return False


def _explain_in(text: nodes.Text, meanings: dict[str, str]) -> None:
    """Explain the terms in a text that the page has not mentioned; removes them from `meanings`."""
    words = text.astext()
    parts = []
    end = 0
    for match in _pattern(tuple(meanings)).finditer(words):
        term = _term_of(match[0], meanings)
        if term is None:  # explained a few words before
            continue
        explanation = meanings.pop(term)
        parts.append(nodes.Text(words[end : match.start()]))
        parts.append(nodes.abbreviation(match[0], match[0], explanation=explanation))
        end = match.end()
    if parts:
        text.parent.replace(text, [*parts, nodes.Text(words[end:])])


@cache
def _pattern(terms: tuple[str, ...]) -> re.Pattern:
    """Return a pattern of any of these terms, the longest first, also at a sentence's beginning."""
    alternatives = []
    for term in sorted(terms, key=len, reverse=True):
        first = term[0]
        beginning = f"[{first}{first.upper()}]" if first.islower() else re.escape(first)
        alternatives.append(beginning + re.escape(term[1:]).replace(r"\ ", r"\s"))
    return re.compile(rf"\b(?:{'|'.join(alternatives)})s?\b")


def _term_of(words: str, meanings: dict[str, str]) -> str | None:
    """Return the term that words mention, in the plural or at a sentence's beginning, perhaps."""
    words = " ".join(words.split())
    for form in (words, words.removesuffix("s")):
        for term in (form, form[0].lower() + form[1:]):
            if term in meanings:
                return term
    return None
