"""Print which chapters have results of the sources as they are, for the pages.

It is run by itself, as keys hold the flags of Python, which are those of the command `book`.
"""

import json
import sys
from pathlib import Path

from lib.book.run.jobs import job_of
from lib.book.run.keys import is_fresh, take_snapshot
from lib.book.run.project import Project


def main(root: str, profile: str, *chapters: str) -> None:
    """Print as JSON those of the chapters whose executed notebook has the present key."""
    project = Project(Path(root))
    fresh_chapters = []
    for chapter in chapters:
        job = job_of(project, profile, chapter)
        if is_fresh(job.notebook, take_snapshot(project, chapter, job.overrides).key):
            fresh_chapters.append(chapter)
    print(json.dumps(fresh_chapters))


if __name__ == "__main__":
    main(*sys.argv[1:])
