"""A book of one chapter and two pages, small enough to be built in a test."""

import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
import yaml
from click.testing import CliRunner
from docutils.core import publish_string
from myst_parser.parsers.docutils_ import Parser
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from reporting_chapter import reporting_chapter

from lib.base.files import LIB
from lib.book.cli import cli
from lib.book.pages.book import Book
from lib.book.pages.runs import SCALES, Run
from lib.book.run import history
from lib.book.run.project import Project

REPOSITORY = Path(__file__).resolve().parents[2]
PARAMETERS = """\
seed: int = 0  # seed of everything random [0..]
n_models: int = 3  # models drawn [2..2000]
noise: float = 0.5  # share of flipped labels [0<..<1]
sizes: list[int] = [10, 20]  # training sizes [1..1000]
learner: str = "em"  # which learner [em|cov|winnow]
title: str = "a title"  # shown in the figure
limit: float | None = None  # time limit, if any
"""
CLAIMS = """\
from lib.claims import Claims

claims = Claims(paper="groveroth1997")
claim = claims.claim(
    "mean-is-positive", "The mean | of [it] is positive.", quote="it is positive"
)
claim.test(
    "positive",
    statistic="mean",
    estimate=(float(n_models), n_models - 2.5, n_models + 2.5, n_models),
    region=(0, float("inf")),
    margin=0.5,
    paper_value=1.5,
    anchor="fig-line",
)
claims.show()
"""
FIGURE = """\
import matplotlib.pyplot as plt
import matplotlib_inline.backend_inline
from lib import report
matplotlib_inline.backend_inline.set_matplotlib_formats("svg", "png")
plt.rcParams["svg.hashsalt"] = "book"
_, axes = plt.subplots(figsize=(3, 2))
axes.plot(sizes, [n_models * size for size in sizes])
report.figure(axes, "It rises.", name="fig-line", alt="A line.")
"""
# of the introduction, as long as there is no PDF
PDF_LINK = '<p class="pdf-link">The whole book as a PDF: <code>make book</code> makes it.</p>'


def chapter(*code: str) -> nbformat.NotebookNode:
    """Return a notebook with a parameters cell and these code cells."""
    top = "# A chapter\n\nModels, as in [Grove & Roth](../references.md#groveroth1997)."
    result = (
        "## Result\n\n$$\nx^2\n$$\n\n"
        "See [Littlestone](../references.md#littlestone1988), [a](../intro.md), [it](#fig-line)."
    )
    code_cells = [new_code_cell(source, metadata={"tags": ["hide-input"]}) for source in code]
    return new_notebook(
        cells=[
            new_markdown_cell(top),
            new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
            new_markdown_cell(result),
            *code_cells,
        ],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
    )


def render_myst(text):
    """Return the page that MyST makes of a text with the book's extensions."""
    extensions = yaml.safe_load((REPOSITORY / "_config.yml").read_text(encoding="utf-8"))["parse"]
    settings = {**extensions, "report_level": 5, "raw_enabled": True, "output_encoding": "unicode"}
    html = publish_string(text, parser=Parser(), writer_name="html5", settings_overrides=settings)
    return html[html.index("<body") :]


def book_with(project: Project, claims: list[dict], profile: str = "paper", commit="") -> Book:
    """Return a book of one chapter, which has these claims."""
    run = Run("cia/curves", project.notebook("cia/curves"), {}, SCALES[profile], commit)
    book = Book(project, profile, {run.chapter: run})
    book.claims = claims
    return book


def book(project: Project, *arguments):
    """Call the command as a shell does, and return its result."""
    return CliRunner().invoke(cli, ["--root", str(project.root), *map(str, arguments)])


@pytest.fixture(scope="session")
def built_project(tmp_path_factory):
    """Return a small book that was built strictly; no test changes it.

    It has two chapters, and on its first page a finding of one.
    """
    project = make_project(tmp_path_factory.mktemp("built") / "a {book} with 'quotes'")
    nbformat.write(chapter(CLAIMS, FIGURE), project.notebook("cia/curves"))
    nbformat.write(reporting_chapter(), project.notebook("cia/climb"))
    toc = yaml.safe_load((project.root / "_toc.yml").read_text())
    toc["parts"][0]["chapters"].insert(0, {"file": "chapters/cia/climb"})
    (project.root / "_toc.yml").write_text(yaml.safe_dump(toc))
    reference = project.root / "chapters" / "reference"
    reference.mkdir()
    shutil.copy(REPOSITORY / "chapters" / "reference" / "glossary.md", reference)
    intro = project.root / "chapters" / "intro.md"
    finding = "<!-- finding: cia/climb all-climb -->\nas last published\n<!-- end -->\n"
    intro.write_text(f"{intro.read_text()}\n{finding}")
    result = book(project, "build", "--profile", "quick", "--strict")
    assert result.exit_code == 0, result.output
    return project


@pytest.fixture
def write_chapter():
    """Return a function that writes a chapter of a project."""

    def write(project: Project, name: str, *code: str) -> Path:
        path = project.notebook(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(chapter(*code), path)
        return path

    return write


@pytest.fixture
def project(tmp_path, write_chapter) -> Project:
    """Return a project in a folder whose name must be taken literally, as no code and no format."""
    project = make_project(tmp_path / "a {book} with 'quotes'")
    write_chapter(project, "cia/curves", CLAIMS, FIGURE)
    return project


def replace_lib_link(project: Project) -> None:
    """Give a project a lib of its own, for a test that writes into it, not the link to ours."""
    if (project.root / "lib").is_symlink():
        (project.root / "lib").unlink()
        (project.root / "lib").mkdir()
        (project.root / "lib" / "model.py").write_text("SCALE = 1\n")


def commit_all(project: Project, message: str = "a change") -> str:
    """Commit all files of a project, in a repository of its own, and return the commit."""
    git = ["git", "-C", str(project.root), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    if not (project.root / ".git").exists():
        subprocess.run([*git, "init", "--quiet"], check=True)
        (project.root / ".gitignore").write_text("_build/\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", message], check=True)
    return history.head(project)


def make_project(root: Path) -> Project:
    """Write the files of a small book, with this book's configuration, style and references."""
    for name in ("chapters/cia", "data"):
        (root / name).mkdir(parents=True)
    # `book` takes no project with another lib than the one that it runs
    (root / "lib").symlink_to(LIB)
    files = [{"file": f"chapters/{name}"} for name in ("cia/curves", "scorecard", "references")]
    toc = {
        "format": "jb-book",
        "root": "chapters/intro",
        "parts": [{"caption": "A part", "chapters": files}],
    }
    (root / "_toc.yml").write_text(yaml.safe_dump(toc))
    (root / "chapters" / "intro.md").write_text(
        f'# An `"introduction"`\n\n{PDF_LINK}\n\n[a claim](cia/curves.ipynb)\n'
    )
    (root / "tests").mkdir()
    (root / "tests" / "quick.yml").write_text("{}\n")
    (root / "data" / "numbers.csv").write_text("x\n1\n")
    (root / "requirements.lock").write_text(f"numpy=={version('numpy')}\n")
    for name in ("_config.yml", "references.bib"):
        shutil.copy(REPOSITORY / name, root)
    for name in ("scorecard.md", "references.md"):
        shutil.copy(REPOSITORY / "chapters" / name, root / "chapters")
    shutil.copytree(REPOSITORY / "assets", root / "assets")
    return Project(root)
