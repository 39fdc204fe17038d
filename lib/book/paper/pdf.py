"""Print the built pages as one PDF with the browser Chromium."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pikepdf

from lib.base.files import write_whole
from lib.book.pages import PROVENANCE
from lib.book.pages.earlier import note_files, require_pages_as_built
from lib.book.paper.volume import volume
from lib.book.rendering import render
from lib.book.run.project import BookError, Project

NAME = "when-the-model-is-wrong.pdf"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 600  # seconds

# Where the first page says how to make the PDF, or links to it after an earlier call.
LINK = re.compile(
    r"""
    <p[ ]class="pdf-link">
    (?: <a[ ][^>]*> )?
    ([^<:]*)            # the words of the link; what follows is replaced
    .*?
    </p>
    """,
    re.DOTALL | re.VERBOSE,
)

# Decimals that nobody sees, in the commands that move the pen: those after the second, which is a
# hundredth of a pixel. Chromium writes up to eight.
DECIMALS = re.compile(
    rb"""
    (?<= \.\d{2} )          # after a point and two decimals,
    \d+
    (?=                     # in a number that is followed only by
        [-\d.\ ]*           # other numbers and
        \ (?: Td            # a command: the start of a line of text,
            | [mlcvy]       # a move, a line, a curve
            | re            # or a rectangle
        ) \b
    )
    """,
    re.VERBOSE,
)


def pdf_of(project: Project, profile: str) -> Path:
    """Return where the PDF of the pages of a profile is, if it was printed since they changed."""
    return project.build_folder(profile) / "html" / NAME


def make_pdf(project: Project, profile: str) -> Path:
    """Print the pages of a built book into one PDF beside them and return its path.

    The first page then shows the link to it.

    Raises
    ------
    BookError
        If there are no pages, if they are not as they were built, if there is no browser, or if it
        fails.
    """
    folder = project.build_folder(profile)
    site_folder = folder / "html"
    first_page = site_folder / project.pages[0].relative_to(project.root).with_suffix(".html")
    provenance = site_folder / PROVENANCE
    if not first_page.exists() or not provenance.exists():
        raise BookError(
            f"there are no pages in {site_folder}; run `book build --profile {profile}`"
        )
    require_pages_as_built(folder)
    browser = find_browser()
    # The commit of the pages: the project may be at another commit by now.
    facts = json.loads(provenance.read_text(encoding="utf-8"))
    contents = volume(project, profile, facts["commit"], facts["date"])

    pdf_folder = folder / "pdf"
    pdf_folder.mkdir(exist_ok=True)
    page = pdf_folder / "book.html"
    page.write_text(render("volume.html", **contents), encoding="utf-8")
    print_page(browser, page, pdf_folder / "printed.pdf")
    compress(pdf_folder / "printed.pdf", pdf_folder / NAME, facts["date"])
    target = (pdf_folder / NAME).replace(pdf_of(project, profile))
    show_link(first_page, target.stat().st_size)
    note_files(folder)
    return target


def find_browser() -> str:
    """Return the program named in the environment variable CHROMIUM, or the first installed one.

    Raises
    ------
    BookError
        If it is not installed, or none is.
    """
    name = os.environ.get("CHROMIUM")
    candidates = (name,) if name else BROWSERS
    for candidate in candidates:
        browser = shutil.which(candidate)
        if browser:
            return browser
    raise BookError(
        f"printing needs Chromium, and none of {', '.join(candidates)} is installed: "
        "on Debian, `apt install chromium`, "
        "or set the environment variable CHROMIUM to the program"
    )


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
            f"--user-data-dir={profile}",
            "--virtual-time-budget=2000",  # milliseconds, in which scripts such as KaTeX finish
            "--no-pdf-header-footer",
            "--generate-pdf-document-outline",
            f"--print-to-pdf={target}",
            page.as_uri(),
        ]
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise BookError(f"{browser} did not finish {target} in {TIMEOUT} seconds") from error
    if not target.exists():
        raise BookError(f"{browser} made no PDF:\n{process.stderr.strip()}")


def compress(printed: Path, target: Path, day: str) -> None:
    """Write a PDF in fewer bytes, without decimals that nobody sees.

    The same input gives the same bytes.

    Parameters
    ----------
    printed, target : Path
        The PDF as Chromium made it, and where to write.
    day : str
        The date that the PDF says, such as 2026-01-31; if empty, the dates stay.
    """
    pikepdf.settings.set_flate_compression_level(9)
    with pikepdf.open(printed) as pdf:
        for page in pdf.pages:
            page.Contents = pdf.make_stream(DECIMALS.sub(b"", page.Contents.read_bytes()))
        if day:
            date = f"D:{day.replace('-', '')}000000Z"
            pdf.docinfo["/CreationDate"] = date
            pdf.docinfo["/ModDate"] = date
        pdf.save(
            target,
            deterministic_id=True,
            # The tags of an accessible PDF are many small objects, which streams compress together.
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            recompress_flate=True,
        )


def show_link(page: Path, size: int) -> None:
    """Show the link to the PDF, with its size in bytes, where a page says how to make one."""

    def link_to_pdf(match: re.Match) -> str:
        return render("pdf_link.html", name=NAME, words=match[1], size=size)

    write_whole(page, LINK.sub(link_to_pdf, page.read_text(encoding="utf-8")))
