"""Figures on a page: a light and a dark copy of each, in a box that scrolls on a phone."""

import html
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from lib.book.pages import render

# Words of 8.5 points, the smallest in a figure, are then about 9 pixels high.
LEAST_SCALE = 0.8
_ATTRIBUTES = r'(?:[^>"]|"[^"]*")*'
_IMAGE = re.compile(rf"(?P<link><a\b{_ATTRIBUTES}>\s*)?(?P<image><img\b{_ATTRIBUTES}>)(?P<end>\s*</a>)?")


def adapt(page: str, folder: Path) -> str:
    """Return a page with each of its figures in two variants, of which the theme shows one.

    Parameters
    ----------
    page : str
        HTML. An image that is not a figure of matplotlib's in SVG stays as it is.
    folder : Path
        Where the page's file is. The variants are written beside the picture.
    """
    return _IMAGE.sub(lambda match: _picture(match, folder), page)


def _picture(match: re.Match, folder: Path) -> str:
    """Return the box of a figure, or the image as it is where it is none."""
    attributes = {name: html.unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', match["image"])}
    source, classes = attributes.pop("src", ""), attributes.pop("class", "")
    from lib.figures.themes import colour_variants  # and seaborn, which takes a moment

    path = folder / unquote(source)
    variants = colour_variants(path.read_text(encoding="utf-8")) if path.suffix == ".svg" and path.is_file() else {}
    if not variants:
        return match[0]
    for theme, text in variants.items():
        path.with_name(f"{path.stem}-{theme}.svg").write_text(text, encoding="utf-8")
    root = ElementTree.fromstring(variants["light"])
    size = {name: round(float(root.get(name))) for name in ("width", "height")}
    attributes.pop("style", None)
    link = match["link"] or ""
    return render(
        "figure.html",
        attributes=attributes | size | {"loading": "lazy"},
        classes=classes,
        stem=source.removesuffix(".svg"),
        least=LEAST_SCALE * size["width"],
        opening="" if "image-reference" in link else link,  # the theme's link to the picture
        rest="" if link else match["end"] or "",
    )
