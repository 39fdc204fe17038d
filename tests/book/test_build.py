"""The pages of the whole book, from the outputs stored in its notebooks (nbval compares these)."""

import re
import shutil

from conftest import REPOSITORY

from lib.book.pages import site
from lib.book.run import jobs
from lib.book.run.project import Project


def test_a_strict_build_has_no_warning():
    project = Project(REPOSITORY)
    with jobs.locked(project.build_folder("quick")):
        for chapter in project.chapters:
            executed = project.executed("quick", chapter)
            executed.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(project.notebook(chapter), executed)
        site.build_site(project, "quick", strict=True)
    for chapter in project.chapters:
        path = REPOSITORY / f"_build/quick/html/chapters/{chapter}.html"
        page = path.read_text(encoding="utf-8")
        text = re.sub(r"(?s)<(pre|script|style)\b.*?</\1>|<[^>]*>", "", page)
        assert re.findall(r".*\bnan\b.*", text) == [], chapter
