"""Where the built pages are, and which they are."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = ("_build/quick/html", "_build/paper/html")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def find_site():
    """The folder BOOK_HTML, or else the newest built site; None if there is none."""
    given = os.environ.get("BOOK_HTML")
    folders = [Path(given).resolve()] if given else [ROOT / name for name in BUILT]
    built = [folder for folder in folders if (folder / "index.html").exists()]
    return max(built, key=lambda folder: (folder / "index.html").stat().st_mtime, default=None)


def page_names(site):
    """All pages of a site, without what Sphinx keeps in folders such as _static."""
    pages = (path.relative_to(site) for path in site.rglob("*.html"))
    return sorted(
        page.as_posix() for page in pages if not any(part.startswith("_") for part in page.parts)
    )


def is_redirect(path):
    return 'http-equiv="refresh"' in path.read_text(encoding="utf-8").lower()


def chapter_names(site):
    """The pages that were notebooks: their text is kept as a notebook too."""
    return [
        name
        for name in page_names(site)
        if (site / "_sources" / name).with_suffix(".ipynb").exists()
    ]


def find_chromium():
    """The program CHROMIUM, or else the first found; None if there is none."""
    given = os.environ.get("CHROMIUM")
    found = (shutil.which(name) for name in ((given,) if given else CHROMIUM))
    return next(filter(None, found), None)
