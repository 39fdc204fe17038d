"""Figures on a page: a light and a dark copy of each, without superfluous bytes, in a box that scrolls on a phone."""

import html
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from lib.book.pages import render
from lib.book.svg import colour_variants

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
        Where the page's file is. The variants are written beside the picture, which is removed.
    """
    adapted = _IMAGE.sub(lambda match: _picture(match, folder) or match[0], page)
    for source in sorted(set(_sources(page)) - set(_sources(adapted))):
        if f'"{source}"' not in adapted:
            (folder / unquote(source)).unlink(missing_ok=True)
    return adapted


def _sources(page):
    return [_attributes(match["image"]).get("src", "") for match in _IMAGE.finditer(page)]


def _attributes(tag):
    return {name: html.unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}


def _picture(match, folder):
    """The box of a figure, or None where the image is none."""
    attributes = _attributes(match["image"])
    source = attributes.get("src", "")
    if not source.endswith(".svg") or ":" in source:
        return None
    if not _write_variants(folder / unquote(source)):
        return None
    stem = source.removesuffix(".svg")
    width, height = _size(folder / unquote(f"{stem}-light.svg"))
    given = {name: value for name, value in attributes.items() if name not in ("src", "class", "style")}
    given |= {"width": width, "height": height, "loading": "lazy"}
    link = match["link"] or ""
    is_own = link and "image-reference" not in link  # not the theme's link to the picture
    return render(
        "figure.html",
        attributes=given,
        classes=attributes.get("class", ""),
        stem=stem,
        least=LEAST_SCALE * width,
        opening=link if is_own else "",
        rest="" if link else match["end"] or "",
    )


def _write_variants(path):
    """Write the variants of a figure, unless another page has; whether they are there."""
    paths = {theme: path.with_name(f"{path.stem}-{theme}.svg") for theme in ("light", "dark")}
    if not path.exists():
        return all(variant.exists() for variant in paths.values())
    variants = colour_variants(path.read_text(encoding="utf-8"))
    for theme, text in variants.items():
        paths[theme].write_text(text, encoding="utf-8")
    return bool(variants)


def _size(path):
    """Width and height of a figure in pixels."""
    root = ElementTree.parse(path).getroot()
    return round(float(root.get("width"))), round(float(root.get("height")))
