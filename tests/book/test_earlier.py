"""What is left of the last build: a page is used again only if it would be made as it is."""

import pytest
from conftest import book

from lib.book.pages import earlier
from lib.book.run.project import BookError, Project


def build(project):
    """Build the pages in the quick profile; return their folder and what the command said."""
    result = book(project, "build", "--profile", "quick")
    assert result.exit_code == 0, result.output
    return project.build_folder("quick") / "html", result.output


def replace(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def forge(pages):
    (pages / "chapters" / "curves.html").write_text("another number")


def remove(pages):
    (pages / "book.css").unlink()


def add(pages):
    (pages / "chapters" / "old.html").write_text("a page")


@pytest.mark.parametrize(
    ("change", "name"),
    [(forge, "chapters/curves.html"), (remove, "book.css"), (add, "chapters/old.html")],
)
def test_a_file_beside_the_pages_that_has_changed_is_named(tmp_path, change, name):
    pages = tmp_path / "html"
    (pages / "chapters").mkdir(parents=True)
    (pages / "chapters" / "curves.html").write_text("a number")
    (pages / "book.css").write_text("")
    earlier.note_pages(tmp_path, "common")
    earlier.require_pages_as_built(tmp_path)
    change(pages)
    with pytest.raises(BookError, match=f"^{name} changed since .* `book build --profile"):
        earlier.require_pages_as_built(tmp_path)
    earlier.earlier_pages(tmp_path).parent.mkdir()
    pages.rename(earlier.earlier_pages(tmp_path))
    assert earlier.reason_to_make_all(tmp_path, "common") == f"{name} changed since the last build"


def test_a_file_that_a_command_adds_is_no_change_and_what_is_common_stays(tmp_path):
    pages = earlier.earlier_pages(tmp_path)
    pages.parent.mkdir()
    (tmp_path / "html").mkdir()
    earlier.note_pages(tmp_path, "common")
    (tmp_path / "html" / "book.pdf").write_text("")
    earlier.note_files(tmp_path)
    (tmp_path / "html").rename(pages)
    assert earlier.reason_to_make_all(tmp_path, "common") == ""
    assert "have changed" in earlier.reason_to_make_all(tmp_path, "another")


@pytest.mark.parametrize("text", [None, "", "[]"])
def test_without_a_note_all_pages_are_made(tmp_path, text):
    if text is not None:
        (tmp_path / earlier.NOTE).write_text(text)
    assert earlier.reason_to_make_all(tmp_path, "common")


@pytest.mark.parametrize(
    ("name", "old", "new", "is_common"),
    [
        ("_toc.yml", "A part", "Another part", True),
        ("_config.yml", "numfig: true", "numfig: false", True),
        ("assets/book.css", "{", "{ ", True),
        ("chapters/intro.md", '# An `"introduction"`', "# A beginning", True),
        ("chapters/cia/curves.ipynb", "# A chapter", "# Another chapter", True),
        ("chapters/intro.md", "[a claim]", "[another claim]", False),
        ("chapters/cia/curves.ipynb", "## Result", "## Another result", False),
    ],
)
def test_what_all_pages_have_in_common(project, name, old, new, is_common):
    before = earlier.common_digest(project)
    replace(project.root / name, old, new)
    after = earlier.common_digest(Project(project.root))
    assert (after != before) == is_common


@pytest.mark.slow
def test_a_chapter_that_is_renamed_leaves_nothing_and_a_forged_page_is_made_again(project):
    html, _ = build(project)
    page = html / "chapters" / "cia" / "curves.html"
    contents = page.read_bytes()
    page.write_bytes(contents.replace(b"A chapter", b"A forgery"))
    _, output = build(project)
    assert "all pages are made: chapters/cia/curves.html changed" in output
    assert page.read_bytes() == contents

    replace(project.root / "_toc.yml", "cia/curves", "cia/lines")
    replace(project.root / "chapters" / "intro.md", "cia/curves", "cia/lines")
    replace(project.root / "assets" / "book.css", "{", "{ ")
    project.notebook("cia/curves").rename(project.notebook("cia/lines"))
    project = Project(project.root)
    html, _ = build(project)
    style = project.root / "assets" / "book.css"
    assert (html / "_static" / "book.css").read_bytes() == style.read_bytes()
    pages = [path for path in html.rglob("*") if path.is_file()]
    assert [path for path in pages if "curves" in path.name] == []
    for name in ("intro", "scorecard", "references", "cia/lines"):
        text = (html / "chapters" / f"{name}.html").read_text(encoding="utf-8")
        assert "curves.html" not in text
        assert "lines.html" in text or name == "cia/lines"
