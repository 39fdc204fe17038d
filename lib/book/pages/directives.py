"""Directives of the book's own: what is generated for a page, and a figure of another page."""

from base64 import b64decode
from pathlib import Path

from docutils.statemachine import StringList
from sphinx.directives.patches import Figure
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relpath


class Generated(SphinxDirective):
    """Shows what the book generates under the name of the directive, headings included."""

    def run(self):
        """Append the generated text to the section in which the directive stands."""
        text = self.env.app.book.generated(self.name)
        lines = StringList(text.splitlines(), source=self.name)
        # Not into a node of its own: MyST appends sections to the section around them.
        section = self.state_machine.node
        self.state.nested_parse(lines, self.content_offset, section, match_titles=True)
        return []


class ChapterFigure(SphinxDirective, Figure):
    """A figure of a chapter on another page: ``{chapter-figure} explorer fig-title-picture``.

    The content is the caption.
    """

    required_arguments = 2

    def run(self):
        """Write the picture below the build folder, and return the nodes of a figure of it."""
        chapter, name = self.arguments
        picture = picture_of(self.env.app.book.runs[chapter].notebook.cells, name)
        folder = Path(self.env.mystnb_config.output_folder)
        path = write_picture(picture, folder / name)
        self.arguments = [f"/{Path(relpath(path, self.env.srcdir)).as_posix()}"]
        return super().run()


def picture_of(cells: list, name: str) -> dict[str, str]:
    """Return the picture that cells show as the figure `name`, by MIME type.

    Raises
    ------
    KeyError
        If there is none.
    """
    for cell in cells:
        for output in cell.get("outputs", []):
            report = output.get("metadata", {}).get("report", {})
            if report.get("kind") == "figure" and report.get("name") == name:
                return output.data
    raise KeyError(f"no cell shows a figure {name!r}")


def write_picture(picture: dict[str, str], path: Path) -> Path:
    """Write a picture as SVG, or as PNG if there is no SVG, and return the path of the file.

    Parameters
    ----------
    picture : dict of str to str
        By MIME type.
    path : Path
        Without the suffix.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    svg = picture.get("image/svg+xml")
    if svg:  # notebooks as they are stored in the repository have PNG only
        path = path.with_suffix(".svg")
        path.write_text(svg, encoding="utf-8")
    else:
        path = path.with_suffix(".png")
        path.write_bytes(b64decode(picture["image/png"]))
    return path
