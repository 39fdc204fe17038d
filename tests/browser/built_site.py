"""Where the built pages are, and which they are."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
SITES = ("_build/quick/html", "_build/paper/html")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def find_site():
    """The folder BOOK_HTML, or else the newest built site; None if there is none."""
    named_folder = os.environ.get("BOOK_HTML")
    if named_folder:
        folders = [Path(named_folder).resolve()]
    else:
        folders = [ROOT / name for name in SITES]
    sites = [folder for folder in folders if (folder / "index.html").exists()]
    return max(sites, key=lambda site: (site / "index.html").stat().st_mtime, default=None)


def page_names(site):
    """All pages of a site, without what Sphinx keeps in folders such as _static."""
    names = []
    for path in site.rglob("*.html"):
        page = path.relative_to(site)
        if not any(folder.startswith("_") for folder in page.parts):
            names.append(page.as_posix())
    return sorted(names)


def is_redirect(path):
    return 'http-equiv="refresh"' in path.read_text(encoding="utf-8").lower()


def chapter_names(site):
    """The pages that were notebooks: their text is kept as a notebook too."""
    sources = site / "_sources"
    return [name for name in page_names(site) if (sources / name).with_suffix(".ipynb").exists()]


def find_chromium():
    """The program CHROMIUM, or else the first found; None if there is none."""
    named_program = os.environ.get("CHROMIUM")
    for name in (named_program,) if named_program else CHROMIUM:
        program = shutil.which(name)
        if program:
            return program
    return None
