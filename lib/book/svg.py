"""Matplotlib's SVG in two ranges of colours, without its white background.

What a figure's author marked with a gid that begins with "fixed-", and whatever is a raster, keeps its colours.
"""

import re
from functools import cache
from xml.etree import ElementTree

from matplotlib.colors import to_hex, to_rgb

from lib.colour import contrast

PAGE, INK = "#121212", "#CED6DD"  # background and text of the dark theme
CONTRAST = 4
_SVG = "{http://www.w3.org/2000/svg}"
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_DIGITS = re.compile(r"(\.\d\d)\d+")  # of which a screen shows two
ElementTree.register_namespace("", _SVG[1:-1])
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


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
    nodes = list(_nodes(root))
    for node, _ in nodes:
        _simplify(node)
    light = ElementTree.tostring(root, encoding="unicode")
    for node, fixed in nodes:
        if "style" in node.attrib and not fixed:
            node.set("style", _HEX.sub(lambda match: dark(match[0]), node.get("style")))
    return {"light": light, "dark": ElementTree.tostring(root, encoding="unicode")}


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


def _simplify(node):
    node.text, node.tail = (text and text.strip() for text in (node.text, node.tail))
    if "d" in node.attrib:
        node.set("d", " ".join(_DIGITS.sub(r"\1", node.get("d")).split()))
    for child in list(node):
        background = child.tag == f"{_SVG}path" and child.get("style") == "fill: #ffffff" and not child.get("clip-path")
        if background or child.tag == f"{_SVG}metadata":
            node.remove(child)
