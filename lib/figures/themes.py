"""A figure in SVG for the light and the dark theme of a page, wide and narrow, and of fewer bytes.

What a figure's author marked with a gid that begins with "fixed-", and whatever is a raster, keeps
its colours.
"""

import re
from functools import cache
from xml.etree import ElementTree

from matplotlib.colors import to_hex, to_rgb

from lib.colour import contrast
from lib.figures.narrow import MARK

PAGE, INK = "#121212", "#CED6DD"  # background and text of the dark theme
CONTRAST = 4
_SVG, _HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_DIGITS = re.compile(r"(\.\d)\d+")  # of points, of which a screen shows one
_LETTER = re.compile(r'<use xlink:href="#([^"]+)" transform="translate\((\d+\.?\d?)\d* 0\)"')
ElementTree.register_namespace("", _SVG[1:-1])
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def colour_variants(text: str) -> dict[str, str]:
    """Return {"light": ..., "dark": ...} of a figure drawn by matplotlib, or {} for any other text.

    If it has a narrow figure (see `lib.figures.narrow`), so does what is returned: "narrow-light"
    and "narrow-dark".
    """
    narrow = text.partition(MARK)[2].rpartition("</metadata>")[0]
    return _coloured(text) | {
        f"narrow-{theme}": variant for theme, variant in _coloured(narrow).items()
    }


def _coloured(text):
    try:
        root = ElementTree.fromstring(text if "Matplotlib" in text[:2000] else "")
    except ElementTree.ParseError:
        return {}
    for name in ("width", "height"):
        root.set(name, f"{float(root.get(name)[:-2]) * 4 / 3:.2f}")  # points to pixels
    root.set("style", "fill: #000000")
    classes, shapes = {}, {}
    for node, fixed in list(_nodes(root)):
        _simplify(node)
        if (
            node.tag == f"{_SVG}path"
            and set(node.attrib) <= {"d", "style"}
            and "z" in node.get("d", "")
        ):
            _reuse(node, shapes, fixed)
        if "d" in node.attrib:
            node.set("d", re.sub(r"\s*([A-Za-z])\s*", r"\1", _DIGITS.sub(r"\1", node.get("d"))))
        if "style" in node.attrib:
            node.set(
                "class", classes.setdefault((node.attrib.pop("style"), fixed), f"c{len(classes)}")
            )
    sheet, variants = ElementTree.SubElement(root, f"{_SVG}style"), {}
    for theme in ("light", "dark"):
        sheet.text = "".join(
            f".{name}{{{_themed(*style, theme)}}}" for style, name in classes.items()
        )
        variants[theme] = _LETTER.sub(
            r'<use href="#\1" x="\2"', ElementTree.tostring(root, encoding="unicode")
        )
    return variants


def _themed(style, fixed, theme):
    return style if fixed or theme == "light" else _HEX.sub(lambda match: dark(match[0]), style)


@cache
def dark(colour: str) -> str:
    """Return the colour for the dark page: greys trade places with it, others are as light as they need to be."""
    parts = to_rgb(colour)
    if max(parts) - min(parts) < 0.08:
        share = sum(parts) / 3
        return to_hex(
            [
                ink + (page - ink) * share
                for ink, page in zip(to_rgb(INK), to_rgb(PAGE), strict=True)
            ]
        )
    lighter = (to_hex([part + (1 - part) * step / 100 for part in parts]) for step in range(101))
    return next(colour for colour in lighter if contrast(colour, PAGE) >= CONTRAST)


def _nodes(node, fixed=False):
    """Yield the nodes of a tree, each with whether it keeps its colours; black is set on what does."""
    if node.get("id", "").startswith("fixed-"):
        fixed = True
        # elsewhere black is what the page's text has
        node.set("style", f"fill: #000000; {node.get('style', '')}")
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
        node.attrib = {
            _HREF: f"#{name}",
            "x": f"{numbers[0] - x:.1f}",
            "y": f"{numbers[1] - y:.1f}",
        }


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
        background = (
            child.tag == f"{_SVG}path"
            and child.get("style") == "fill: #ffffff"
            and not child.get("clip-path")
        )
        if background or child.tag == f"{_SVG}metadata":
            node.remove(child)
