"""The pages of the whole book, from the outputs that are stored in its notebooks (nbval compares these)."""

import re

from conftest import REPOSITORY, book

from lib.book.project import Project


def test_a_strict_build_has_no_warning():
    result = book(Project(REPOSITORY), "build", "--profile", "quick", "--stored", "--strict")
    assert result.exit_code == 0, result.output
    for chapter in Project(REPOSITORY).chapters:
        page = (REPOSITORY / f"_build/quick/html/chapters/{chapter}.html").read_text(encoding="utf-8")
        text = re.sub(r"(?s)<(pre|script|style)\b.*?</\1>|<[^>]*>", "", page)
        assert re.findall(r".*\bnan\b.*", text) == [], chapter
