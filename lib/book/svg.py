"""Matplotlib's SVG in two ranges of colours, without its white background and in fewer bytes.

What a figure's author marked with a gid that begins with "fixed-", and whatever is a raster, keeps its colours.
"""

import re
from functools import cache
from xml.etree import ElementTree

from matplotlib.colors import to_hex, to_rgb

from lib.colour import contrast

PAGE, INK = "#121212", "#CED6DD"  # background and text of the dark theme
CONTRAST = 4
_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
_MOVE = re.compile(r"translate\([^)]*\)")  # a scale has to keep its digits
_PIECE = re.compile(r"([MLQCzZ])([^MLQCzZ]*)")
_REFERENCE = re.compile(r'(?:href="|url\()#([^)"]+)')


def colour_variants(text: str) -> dict[str, str]:
    """Return {"light": ..., "dark": ...} of a figure drawn by matplotlib, or {} for any other text."""
    if "Matplotlib" not in text[:2000]:
        return {}
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return {}
    if not re.fullmatch(r"[\d.]+pt", root.get("width", "")):
        return {}
    classes = {}
    _simplify(root, set(_REFERENCE.findall(text)), classes)
    for name in ("width", "height"):
        root.set(name, _number(float(root.get(name)[:-2]) * 4 / 3))  # points to pixels
    root.set("xmlns", _SVG[1:-1])
    return {"light": _serialise(root, classes, str), "dark": _serialise(root, classes, dark)}


@cache
def dark(colour: str) -> str:
    """Return the colour for the dark page: greys trade places with it, others are as light as they need to be."""
    parts = to_rgb(colour)
    if max(parts) - min(parts) < 0.08:
        share = sum(parts) / 3
        return to_hex([ink + (page - ink) * share for ink, page in zip(to_rgb(INK), to_rgb(PAGE), strict=True)])
    lighter = (to_hex([part + (1 - part) * step / 100 for part in parts]) for step in range(101))
    return next(colour for colour in lighter if contrast(colour, PAGE) >= CONTRAST)


def _simplify(node, used, classes, fixed=False):
    """Shorten a tree in place: names that are not used go, styles become classes {(declarations, fixed): name}."""
    node.tag, node.text, node.tail = node.tag.removeprefix(_SVG), None, None
    style = re.sub(r"([:;])\s+", r"\1", node.attrib.pop("style", ""))
    if not fixed and node.get("id", "").startswith("fixed-"):
        fixed = True
        style = f"fill:#000000;{style}".rstrip(";")  # elsewhere black is what the page's text has
    fixed = (fixed or node.tag == "pattern") and node.tag != "defs"
    if style:
        node.set("class", classes.setdefault((style, fixed), f"c{len(classes)}"))
    if node.get("id") not in used:
        node.attrib.pop("id", None)
    if f"{_XLINK}href" in node.attrib:
        node.set("href", node.attrib.pop(f"{_XLINK}href"))
    if "d" in node.attrib:
        node.set("d", compact_path(node.get("d")))
    for name in node.attrib.keys() & {"x", "y", "width", "height"}:
        node.set(name, _NUMBER.sub(_rounded, node.get(name)))
    if "transform" in node.attrib:
        node.set("transform", _MOVE.sub(lambda move: _NUMBER.sub(_rounded, move[0]), node.get("transform")))
    for child in list(node):
        if child.tag in (f"{_SVG}metadata", f"{_SVG}style") or _is_background(child):
            node.remove(child)
        else:
            _simplify(child, used, classes, fixed)


def _is_background(node):
    return node.tag == f"{_SVG}path" and node.get("style") == "fill: #ffffff" and not node.get("clip-path")


def compact_path(path: str) -> str:
    """Return a path with two decimals, each point relative to where the piece before it ends."""
    here, start, pieces = (0, 0), (0, 0), []
    for command, words in _PIECE.findall(path):
        points = [round(100 * float(word)) for word in words.split()]
        moved = [_number((value - here[i % 2]) / 100) for i, value in enumerate(points)]
        pieces.append(command.lower() + " ".join(moved).replace(" -", "-"))
        here = tuple(points[-2:]) or start
        start = here if command == "M" else start
    return "".join(pieces)


def _rounded(match):
    return _number(float(match[0]))


def _number(value):
    words = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if words == "-0" else re.sub(r"^(-?)0\.", r"\1.", words)


def _serialise(root, classes, colour):
    rules = ["*{stroke-linejoin:round;stroke-linecap:butt}", f"svg{{fill:{colour('#000000')}}}"]
    for (style, fixed), name in classes.items():
        rules.append(f".{name}{{{style if fixed else _HEX.sub(lambda match: colour(match[0]), style)}}}")
    sheet = ElementTree.Element("style")
    sheet.text = "".join(rules)
    root.insert(0, sheet)
    text = ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")
    root.remove(sheet)
    return text
