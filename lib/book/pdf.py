"""Print the built pages as one PDF with the browser Chromium."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pikepdf

from lib.book.pages import render
from lib.book.project import BookError, Project
from lib.book.site import PROVENANCE
from lib.book.volume import volume
from lib.files import write_whole

NAME = "when-the-model-is-wrong.pdf"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 600
LINK = re.compile(r'<p class="pdf-link">(?:<a [^>]*>)?([^<:]*).*?</p>', re.DOTALL)

# Decimals after the second, a hundredth of a pixel, in the commands that move the pen; Chromium
# writes up to eight.
DECIMALS = re.compile(rb"(?<=\.\d{2})\d+(?=[-\d. ]* (?:Td|[mlcvy]|re)\b)")


def make_pdf(project: Project, profile: str) -> Path:
    """Print the pages of a built book into one PDF beside them, show the link to it and return its path."""
    folder = project.build_folder(profile)
    first = folder / "html" / project.pages[0].relative_to(project.root).with_suffix(".html")
    provenance = folder / "html" / PROVENANCE
    if not first.exists() or not provenance.exists():
        raise BookError(
            f"there are no pages in {folder / 'html'}; run `book build --profile {profile}`"
        )
    browser = find_browser()
    paper = folder / "pdf"
    paper.mkdir(exist_ok=True)
    # of the pages: another commit may be here by now
    facts = json.loads(provenance.read_text(encoding="utf-8"))
    contents = volume(project, profile, facts["commit"], facts["date"])
    (paper / "book.html").write_text(render("volume.html", **contents), encoding="utf-8")
    print_page(browser, paper / "book.html", paper / "printed.pdf")
    pack(paper / "printed.pdf", paper / NAME, facts["date"])
    target = (paper / NAME).replace(folder / "html" / NAME)
    show_link(first, target.stat().st_size)
    return target


def find_browser() -> str:
    """Return the program named in the environment variable CHROMIUM, or else the first that is installed."""
    name = os.environ.get("CHROMIUM")
    browser = shutil.which(name) if name else next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        hint = "on Debian, `apt install chromium`, or set the environment variable CHROMIUM to the program"
        raise BookError(
            f"printing needs Chromium, and none of {name or ', '.join(BROWSERS)} is installed: {hint}"
        )
    return browser


def print_page(browser: str, page: Path, target: Path) -> None:
    """Print a page into the PDF file `target`, bookmarks included."""
    target.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        command = [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
        ]
        command += [
            f"--user-data-dir={profile}",
            "--virtual-time-budget=2000",
            "--no-pdf-header-footer",
        ]
        command += ["--generate-pdf-document-outline", f"--print-to-pdf={target}", page.as_uri()]
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            raise BookError(f"{browser} did not finish {target} in {SECONDS} seconds") from error
    if not target.exists():
        raise BookError(f"{browser} made no PDF:\n{process.stderr.strip()}")


def pack(printed: Path, target: Path, day: str) -> None:
    """Write a PDF smaller, its tags in compressed streams, and dated `day` (such as 2026-01-31), if it is not empty."""
    pikepdf.settings.set_flate_compression_level(9)
    with pikepdf.open(printed) as pdf:
        for page in pdf.pages:
            page.Contents = pdf.make_stream(DECIMALS.sub(b"", page.Contents.read_bytes()))
        for name in ("/CreationDate", "/ModDate") if day else ():
            pdf.docinfo[name] = f"D:{day.replace('-', '')}000000Z"
        streams = {
            "object_stream_mode": pikepdf.ObjectStreamMode.generate,
            "recompress_flate": True,
        }
        pdf.save(target, deterministic_id=True, **streams)


def show_link(page: Path, size: int) -> None:
    """Show the link to the PDF, with its size, where a page says how to make one."""
    text = page.read_text(encoding="utf-8")
    write_whole(
        page,
        LINK.sub(lambda link: render("pdf_link.html", name=NAME, words=link[1], size=size), text),
    )
