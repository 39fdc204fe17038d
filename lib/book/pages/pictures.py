"""Figures on a page: a light and a dark copy of each, and narrow copies of both for phones."""

import html
import re
from pathlib import Path
from urllib.parse import unquote

from lib.book.rendering import render

# What is between the name of a tag and its end; a quoted value may contain ">".
_ATTRIBUTES = r'(?:[^>"]|"[^"]*")*'
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_SIZE = re.compile(r'\b(width|height)="([\d.]+)"')
_IMAGE = re.compile(
    rf"""
    (?P<link> <a\b{_ATTRIBUTES}>\s* )?  # the theme links most images to their files
    (?P<image> <img\b{_ATTRIBUTES}> )
    (?P<link_end> \s*</a> )?
    """,
    re.VERBOSE,
)


def adapt(page: str, folder: Path) -> str:
    """Return a page with each figure in a light and a dark variant, of which the theme shows one.

    A figure that has narrow variants shows these on phones.

    Parameters
    ----------
    page : str
        HTML. An image that is not an SVG figure of matplotlib stays as it is.
    folder : Path
        Where the page's file is. The variants are written beside the picture.
    """
    return _IMAGE.sub(lambda match: _adapt_image(match, folder), page)


def _adapt_image(match: re.Match, folder: Path) -> str:
    """Return the variants of a figure as HTML, or the image as it is if it is no figure."""
    # Imported here, because it imports seaborn, which takes a moment.
    from lib.figures.themes import colour_variants

    attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(match["image"])}
    source = attributes.pop("src", "")
    classes = attributes.pop("class", "")
    path = folder / unquote(source)
    if path.suffix != ".svg" or not path.is_file():
        return match[0]
    variants = colour_variants(path.read_text(encoding="utf-8"))
    if not variants:
        return match[0]

    sizes = {}
    for name, svg in variants.items():
        path.with_name(f"{path.stem}-{name}.svg").write_text(svg, encoding="utf-8")
        svg_tag = svg.partition(">")[0]
        sizes[name] = {side: round(float(size)) for side, size in _SIZE.findall(svg_tag)}

    attributes.pop("style", None)
    attributes |= sizes["light"]
    attributes["loading"] = "lazy"
    link = match["link"] or ""
    # The theme's own link leads to the picture, which has two files now: the template makes one.
    is_link_to_picture = "image-reference" in link
    return render(
        "figure.html",
        attributes=attributes,
        classes=classes,
        stem=source.removesuffix(".svg"),
        narrow=sizes.get("narrow-light"),
        opening="" if is_link_to_picture else link,
        # the end of a link that began before the image
        rest="" if link else match["link_end"] or "",
    )
