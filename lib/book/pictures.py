"""Figures on a page: a light and a dark copy of each, and for phones a narrow one of both."""

import html
import re
from pathlib import Path
from urllib.parse import unquote

from lib.book.pages import render

_ATTRIBUTES = r'(?:[^>"]|"[^"]*")*'
_SIZE = re.compile(r'\b(width|height)="([\d.]+)"')
_IMAGE = re.compile(
    rf"(?P<link><a\b{_ATTRIBUTES}>\s*)?(?P<image><img\b{_ATTRIBUTES}>)(?P<end>\s*</a>)?"
)


def adapt(page: str, folder: Path) -> str:
    """Return a page with each of its figures in two variants, of which the theme shows one; a phone, narrow ones.

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
    attributes = {
        name: html.unescape(value)
        for name, value in re.findall(r'([\w-]+)="([^"]*)"', match["image"])
    }
    source, classes = attributes.pop("src", ""), attributes.pop("class", "")
    from lib.figures.themes import colour_variants  # and seaborn, which takes a moment

    path = folder / unquote(source)
    variants = (
        colour_variants(path.read_text(encoding="utf-8"))
        if path.suffix == ".svg" and path.is_file()
        else {}
    )
    if not variants:
        return match[0]
    sizes = {}
    for name, text in variants.items():
        path.with_name(f"{path.stem}-{name}.svg").write_text(text, encoding="utf-8")
        sizes[name] = {
            side: round(float(size)) for side, size in _SIZE.findall(text.partition(">")[0])
        }
    attributes.pop("style", None)
    link = match["link"] or ""
    return render(
        "figure.html",
        attributes=attributes | sizes["light"] | {"loading": "lazy"},
        classes=classes,
        stem=source.removesuffix(".svg"),
        narrow=sizes.get("narrow-light"),
        opening="" if "image-reference" in link else link,  # the theme's link to the picture
        rest="" if link else match["end"] or "",
    )
