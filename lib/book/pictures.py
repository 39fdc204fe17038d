"""Figures on a page: a light and a dark copy of each, in a box that scrolls on a phone.

What a figure's author marked with a gid that begins with "fixed-", and whatever is a raster, keeps its colours.
"""

import html
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from matplotlib.colors import to_hex, to_rgb

from lib.book.pages import render
from lib.colour import contrast

# Words of 8.5 points, the smallest in a figure, are then about 9 pixels high.
LEAST_SCALE = 0.8
_ATTRIBUTES = r'(?:[^>"]|"[^"]*")*'
_IMAGE = re.compile(rf"(?P<link><a\b{_ATTRIBUTES}>\s*)?(?P<image><img\b{_ATTRIBUTES}>)(?P<end>\s*</a>)?")
PAGE, INK = "#121212", "#CED6DD"  # background and text of the dark theme
CONTRAST = 4
_SVG, _HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_DIGITS = re.compile(r"(\.\d)\d+")  # of points, of which a screen shows one
_LETTER = re.compile(r'<use xlink:href="#([^"]+)" transform="translate\((\d+\.?\d?)\d* 0\)"')
ElementTree.register_namespace("", _SVG[1:-1])
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


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


def colour_variants(text: str) -> dict[str, str]:
    """Return {"light": ..., "dark": ...} of a figure drawn by matplotlib, or {} for any other text."""
    try:
        root = ElementTree.fromstring(text if "Matplotlib" in text[:2000] else "")
    except ElementTree.ParseError:
        return {}
    if not re.fullmatch(r"[\d.]+pt", root.get("width", "")):
        return {}
    for name in ("width", "height"):
        root.set(name, f"{float(root.get(name)[:-2]) * 4 / 3:.2f}")  # points to pixels
    root.set("style", "fill: #000000")
    classes, shapes = {}, {}
    for node, fixed in list(_nodes(root)):
        _simplify(node)
        if node.tag == f"{_SVG}path" and set(node.attrib) <= {"d", "style"} and "z" in node.get("d", ""):
            _reuse(node, shapes, fixed)
        if "d" in node.attrib:
            node.set("d", re.sub(r"\s*([A-Za-z])\s*", r"\1", _DIGITS.sub(r"\1", node.get("d"))))
        if "style" in node.attrib:
            node.set("class", classes.setdefault((node.attrib.pop("style"), fixed), f"c{len(classes)}"))
    sheet, variants = ElementTree.SubElement(root, f"{_SVG}style"), {}
    for theme in ("light", "dark"):
        sheet.text = "".join(f".{name}{{{_themed(*style, theme)}}}" for style, name in classes.items())
        variants[theme] = _LETTER.sub(r'<use href="#\1" x="\2"', ElementTree.tostring(root, encoding="unicode"))
    return variants


def _themed(style, fixed, theme):
    return style if fixed or theme == "light" else _HEX.sub(lambda match: dark(match[0]), style)


@cache
def dark(colour: str) -> str:
    """Return the colour for the dark page: greys trade places with it, others are as light as they need to be."""
    parts = to_rgb(colour)
    if max(parts) - min(parts) < 0.08:
        share = sum(parts) / 3
        return to_hex([ink + (page - ink) * share for ink, page in zip(to_rgb(INK), to_rgb(PAGE), strict=True)])
    lighter = (to_hex([part + (1 - part) * step / 100 for part in parts]) for step in range(101))
    return next(colour for colour in lighter if contrast(colour, PAGE) >= CONTRAST)


def _nodes(node, fixed=False):
    """Yield the nodes of a tree, each with whether it keeps its colours; black is set on what does."""
    if node.get("id", "").startswith("fixed-"):
        fixed = True
        node.set("style", f"fill: #000000; {node.get('style', '')}")  # elsewhere black is what the page's text has
    fixed = (fixed or node.tag == f"{_SVG}pattern") and node.tag != f"{_SVG}defs"
    yield node, fixed
    for child in node:
        yield from _nodes(child, fixed)


def _reuse(node, shapes, fixed):
    """Draw a closed shape that was drawn before, elsewhere, by reference to it: points of a scatter are such."""
    steps = node.get("d").split()
    numbers = [float(step) for step in steps if not step.isalpha()]
    around = [round(number - numbers[i % 2], 1) for i, number in enumerate(numbers)]
    key = (*(step for step in steps if step.isalpha()), *around, node.get("style"), fixed)
    first, x, y, name = shapes.setdefault(key, (node, *numbers[:2], f"s{len(shapes)}"))
    if first is not node:
        first.set("id", name)
        node.tag = f"{_SVG}use"
        node.attrib = {_HREF: f"#{name}", "x": f"{numbers[0] - x:.1f}", "y": f"{numbers[1] - y:.1f}"}


def _simplify(node):
    node.text, node.tail = (text and text.strip() for text in (node.text, node.tail))
    if node.tag == f"{_SVG}g":
        node.attrib.pop("id", None)
        clips = {child.get("clip-path") for child in node}
        if len(clips) == 1 and None not in clips:
            node.set("clip-path", clips.pop())
            for child in node:
                del child.attrib["clip-path"]
    for name in {"x", "y"} & set(node.attrib):
        node.set(name, _DIGITS.sub(r"\1", node.get(name)))
    for child in list(node):
        background = child.tag == f"{_SVG}path" and child.get("style") == "fill: #ffffff" and not child.get("clip-path")
        if background or child.tag == f"{_SVG}metadata":
            node.remove(child)
