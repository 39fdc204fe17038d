"""A figure in SVG for the light and the dark theme of a page, wide and narrow, in fewer bytes.

What a figure's author marked with a gid that begins with "fixed-", and whatever is a raster, keeps
its colours.
"""

import re
from functools import cache
from typing import NamedTuple
from xml.etree import ElementTree

from matplotlib.colors import to_hex, to_rgb

from lib.base.colour import contrast
from lib.figures.narrow import MARK

PAGE = "#121212"  # background of the dark theme
INK = "#CED6DD"  # its text
CONTRAST = 4  # of other colours with the dark page, at least
GREY_RANGE = 0.08  # a colour whose channels differ by less is a grey
PIXELS_PER_POINT = 4 / 3
BLACK_TEXT = "fill: #000000"  # matplotlib leaves out what is SVG's default

_NAMESPACE = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_PATH = f"{{{_NAMESPACE}}}path"
_USE = f"{{{_NAMESPACE}}}use"
_GROUP = f"{{{_NAMESPACE}}}g"
_PATTERN = f"{{{_NAMESPACE}}}pattern"
_DEFINITIONS = f"{{{_NAMESPACE}}}defs"
_METADATA = f"{{{_NAMESPACE}}}metadata"
_STYLE_SHEET = f"{{{_NAMESPACE}}}style"
_LINK = f"{{{_XLINK}}}href"
ElementTree.register_namespace("", _NAMESPACE)
ElementTree.register_namespace("xlink", _XLINK)

_HEX_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
_FURTHER_DECIMALS = re.compile(r"(\.\d)\d+")  # a screen shows one decimal of a point
_SPACE_AROUND_COMMAND = re.compile(r"\s*([A-Za-z])\s*")  # in the data of a path
_LETTER = re.compile(r'<use xlink:href="#([^"]+)" transform="translate\((\d+\.?\d?)\d* 0\)"')


def colour_variants(text: str) -> dict[str, str]:
    """Return a figure that matplotlib drew, as SVG, for each theme.

    Parameters
    ----------
    text : str
        SVG, perhaps with a narrow figure in its metadata (see `lib.figures.narrow`).

    Returns
    -------
    dict
        SVG for "light" and "dark", and for "narrow-light" and "narrow-dark" if there is a narrow
        figure. Empty if `text` is no figure by matplotlib.
    """
    narrow = text.partition(MARK)[2].rpartition("</metadata>")[0]
    variants = _theme_variants(text)
    for theme, variant in _theme_variants(narrow).items():
        variants[f"narrow-{theme}"] = variant
    return variants


class _Style(NamedTuple):
    """The style of nodes, which a class of the style sheet stands for."""

    declarations: str
    is_fixed: bool  # whether it is the same in both themes


def _theme_variants(text):
    """One figure for the light and the dark theme; {} if matplotlib has not drawn it."""
    if "Matplotlib" not in text[:2000]:  # it signs its metadata
        return {}
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return {}
    for side in ("width", "height"):
        points = float(root.get(side).removesuffix("pt"))
        root.set(side, f"{points * PIXELS_PER_POINT:.2f}")
    root.set("style", BLACK_TEXT)

    class_names = {}  # by style
    shapes = {}
    for node, is_fixed in list(_nodes(root)):
        _simplify(node)
        if _is_closed_shape(node):
            _reuse_shape(node, shapes, is_fixed)
        if "d" in node.attrib:
            path_data = _FURTHER_DECIMALS.sub(r"\1", node.get("d"))
            node.set("d", _SPACE_AROUND_COMMAND.sub(r"\1", path_data))
        if "style" in node.attrib:
            style = _Style(node.attrib.pop("style"), is_fixed)
            node.set("class", class_names.setdefault(style, f"c{len(class_names)}"))

    sheet = ElementTree.SubElement(root, _STYLE_SHEET)
    variants = {}
    for theme in ("light", "dark"):
        rules = [f".{name}{{{_declarations(style, theme)}}}" for style, name in class_names.items()]
        sheet.text = "".join(rules)
        svg = ElementTree.tostring(root, encoding="unicode")
        variants[theme] = _LETTER.sub(r'<use href="#\1" x="\2"', svg)
    return variants


def _declarations(style, theme):
    """The declarations of a style in a theme."""
    if theme == "light" or style.is_fixed:
        return style.declarations
    return _HEX_COLOUR.sub(lambda match: dark(match[0]), style.declarations)


@cache
def dark(colour: str) -> str:
    """Return the colour for the dark page.

    Greys trade places with it: black is the page's ink, white its background. Other colours are
    made as light as they need to be for a contrast of `CONTRAST`.
    """
    channels = to_rgb(colour)
    if max(channels) - min(channels) < GREY_RANGE:
        lightness = sum(channels) / 3
        return to_hex(
            [
                ink + (page - ink) * lightness
                for ink, page in zip(to_rgb(INK), to_rgb(PAGE), strict=True)
            ]
        )
    for percent_white in range(101):
        lighter = to_hex([channel + (1 - channel) * percent_white / 100 for channel in channels])
        if contrast(lighter, PAGE) >= CONTRAST:
            return lighter
    raise AssertionError("white has enough contrast with the dark page")


def _nodes(node, is_fixed=False):
    """Yield the nodes of a tree, each with whether it keeps its colours.

    A node that begins to keep them gets its black written out, as black without a word is what the
    page's text has.
    """
    if node.get("id", "").startswith("fixed-"):
        is_fixed = True
        node.set("style", f"{BLACK_TEXT}; {node.get('style', '')}")
    if node.tag == _PATTERN:
        is_fixed = True
    if node.tag == _DEFINITIONS:
        is_fixed = False  # glyphs and markers, which nodes with either kind of colours use
    yield node, is_fixed
    for child in node:
        yield from _nodes(child, is_fixed)


def _is_closed_shape(node):
    """Whether a node is a path that ends where it began, without a clip or transformation."""
    return node.tag == _PATH and set(node.attrib) <= {"d", "style"} and "z" in node.get("d", "")


def _reuse_shape(node, shapes, is_fixed):
    """Draw a closed shape that was drawn before, elsewhere, by reference to it.

    The points of a scatter plot are such shapes.

    Parameters
    ----------
    node : Element
        A path, which becomes a reference if `shapes` has its shape.
    shapes : dict
        The first node of each shape, with its first point and a name; a new shape is added.
    is_fixed : bool
        Whether the node keeps its colours.
    """
    steps = node.get("d").split()
    commands = [step for step in steps if step.isalpha()]
    coordinates = [float(step) for step in steps if not step.isalpha()]
    x, y = coordinates[:2]
    # x and y alternate; relative to the first point, equal shapes are equal
    offsets = [round(number - (x, y)[i % 2], 1) for i, number in enumerate(coordinates)]
    key = (*commands, *offsets, node.get("style"), is_fixed)
    if key not in shapes:
        shapes[key] = (node, x, y, f"s{len(shapes)}")
        return
    first_node, first_x, first_y, name = shapes[key]
    first_node.set("id", name)
    node.tag = _USE
    node.attrib = {_LINK: f"#{name}", "x": f"{x - first_x:.1f}", "y": f"{y - first_y:.1f}"}


def _simplify(node):
    """Remove what no reader sees: space, names of groups, repeated clips, backgrounds."""
    node.text = node.text and node.text.strip()
    node.tail = node.tail and node.tail.strip()
    if node.tag == _GROUP:
        node.attrib.pop("id", None)
        _move_clip_up(node)
    for name in ("x", "y"):
        if name in node.attrib:
            node.set(name, _FURTHER_DECIMALS.sub(r"\1", node.get(name)))
    for child in list(node):
        if child.tag == _METADATA or _is_background(child):
            node.remove(child)


def _move_clip_up(group):
    """Give a group the clip that all of its children share."""
    clips = {child.get("clip-path") for child in group}
    if len(clips) == 1 and None not in clips:
        group.set("clip-path", clips.pop())
        for child in group:
            del child.attrib["clip-path"]


def _is_background(node):
    """Whether a node is a white area, of the figure or of its axes."""
    is_white = node.get("style") == "fill: #ffffff"
    return node.tag == _PATH and is_white and not node.get("clip-path")
