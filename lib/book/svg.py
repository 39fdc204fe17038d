"""Matplotlib's SVG rewritten: much smaller, without its white background, and in two ranges of colours.

What a figure's author marked with a gid that begins with "fixed-", and whatever is a raster, keeps its colours.
"""

import html
import re
from functools import cache, lru_cache
from itertools import count
from xml.etree import ElementTree

from lib.colour import contrast

PAGE, INK = "#121212", "#CED6DD"  # background and text of the dark theme
CONTRAST = 4
_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_TOKEN = re.compile(r"[A-Za-z]|[-+]?[\d.]+(?:e[-+]?\d+)?")
_LENGTHS = {"M": 2, "L": 2, "Q": 4, "C": 6, "z": 0, "Z": 0}


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
    styles = _rewrite(root)
    return {"light": _serialise(root, styles, str), "dark": _serialise(root, styles, dark)}


@cache
def dark(colour: str) -> str:
    """Return the colour for the dark page: greys trade places with it, others are as light as they need to be."""
    parts = _parts(colour)
    if max(parts) - min(parts) < 0.08:
        share = sum(parts) / 3
        return _hex([ink + (page - ink) * share for ink, page in zip(_parts(INK), _parts(PAGE), strict=True)])
    mixed = ([part + (1 - part) * step / 100 for part in parts] for step in range(101))
    return next(_hex(new) for new in mixed if contrast(_hex(new), PAGE) >= CONTRAST)


def _parts(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _hex(parts):
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _rewrite(root):
    """Shorten the tree in place; the styles as {class: (declarations, whether they are fixed)}."""
    _strip(root)
    _fix(root, False)
    _gather_definitions(root)
    _rename(root)
    classes = {}
    _tidy(root, classes)
    for name in ("width", "height"):
        root.set(name, _number(float(root.get(name)[:-2]) * 4 / 3))  # points to pixels
    return {name: key for key, name in classes.items()}


def _strip(parent):
    """Drop metadata, white backgrounds, white space and namespaces."""
    parent.tag = parent.tag.removeprefix(_SVG)
    parent.text = parent.tail = None
    if parent.get(f"{_XLINK}href"):
        parent.set("href", parent.attrib.pop(f"{_XLINK}href"))
    for child in list(parent):
        if child.tag in (f"{_SVG}metadata", f"{_SVG}style") or _is_background(child):
            parent.remove(child)
        else:
            _strip(child)


def _is_background(node):
    return node.tag == f"{_SVG}path" and node.get("style") == "fill: #ffffff" and not node.get("clip-path")


def _fix(node, fixed):
    """Mark what keeps its colours; black is then said, for elsewhere it is what the page's text has."""
    if node.tag != "defs" and not fixed and node.get("id", "").startswith("fixed-"):
        fixed = True
        node.set("style", f"fill: #000000; {node.get('style', '')}".rstrip("; "))
    if fixed or node.tag == "pattern":
        node.set("fixed", "")
    for child in node:
        _fix(child, (fixed or node.tag == "pattern") and child.tag != "defs")


def _gather_definitions(root):
    gathered, known = ElementTree.Element("defs"), set()
    for parent in list(root.iter()):
        for definitions in parent.findall("defs"):
            parent.remove(definitions)
            new = [node for node in definitions if node.get("id") not in known]
            known.update(node.get("id") for node in new)
            gathered.extend(new)
    if len(gathered):
        root.insert(0, gathered)


def _rename(root):
    """Give short names to what is referred to, and none to the rest."""
    used = {}
    names = (f"_{i}" if i > 25 else chr(ord("A") + i) for i in count())
    for node in root.iter():
        for name, value in node.attrib.items():
            found = [value[1:]] if name == "href" and value[0] == "#" else _REFERENCE.findall(value)
            for target in found:
                used[target] = used.get(target) or next(names)
    for node in root.iter():
        own = used.get(node.attrib.pop("id", None))
        for name, value in node.attrib.items():
            if name == "href" and value[0] == "#":
                node.set(name, f"#{used[value[1:]]}")
            elif "url(#" in value:
                node.set(name, _REFERENCE.sub(lambda match: f"url(#{used[match[1]]})", value))
        if own:
            node.set("id", own)


def _tidy(node, classes):
    """Shorten attributes, and take away groups that do nothing, from the leaves upwards."""
    for child in list(node):
        _tidy(child, classes)
    _shorten(node, classes)
    if node.tag == "g":
        _lift_class(node, classes)
    for i, child in reversed(list(enumerate(node))):
        if child.tag == "g" and not child.attrib:
            node[i : i + 1] = list(child)


def _shorten(node, classes):
    style, fixed = node.attrib.pop("style", ""), node.attrib.pop("fixed", None) is not None
    if style:
        key = ";".join(re.sub(r":\s+", ":", part.strip()) for part in style.split(";") if part.strip()), fixed
        node.set("class", classes.setdefault(key, f"c{len(classes)}"))
    if node.get("d"):
        node.set("d", compact_path(node.get("d")))
    if "transform" in node.attrib:
        _shorten_transform(node)
    if node.tag in ("use", "rect"):
        for name in {"x", "y", "width", "height"} & node.attrib.keys():
            node.set(name, _number(float(node.get(name))))


def _shorten_transform(node):
    transform = re.sub(r"translate\(([^)]*)\)", _translation, node.get("transform"))
    node.set("transform", transform)
    alone = re.fullmatch(r"translate\((\S+) (\S+)\)", transform)
    if node.tag == "use" and alone and not {"x", "y"} & node.attrib.keys():
        node.attrib.pop("transform")
        node.attrib.update({name: value for name, value in zip("xy", alone.groups(), strict=True) if value != "0"})


def _translation(match):
    return f"translate({' '.join(_number(float(part)) for part in re.split('[ ,]+', match[1].strip()))})"


def _lift_class(group, classes):
    """Say once what all children of a group have."""
    names = {child.get("class") for child in group}
    if len(group) < 2 or len(names) != 1 or None in names or "class" in group.attrib:
        return
    name = names.pop()
    if any(re.search(r"(^|;)opacity:", key) for (key, _), known in classes.items() if known == name):
        return
    group.set("class", name)
    for child in group:
        child.attrib.pop("class")


@lru_cache(maxsize=4096)
def compact_path(path: str) -> str:
    """Return a path of absolute M, L, Q, C and z with two decimals, each piece absolute or relative, as is shorter."""
    pieces, last, here, start = [], "", (0, 0), (0, 0)
    for command, numbers in _pieces(path):
        if command in "zZ":
            pieces.append("z")
            last, here = "z", start
            continue
        points = [round(100 * number) for number in numbers]
        absolute = _piece(command, points, last)
        moved = [value - here[i % 2] for i, value in enumerate(points)]
        relative = absolute if command == "M" else _piece(command.lower(), moved, last)
        here = points[-2], points[-1]
        pieces.append(min(absolute, relative, key=len))
        last = command.lower() if len(relative) < len(absolute) else command
        if command == "M":
            start, last = here, "L"
    return "".join(pieces)


def _pieces(path):
    tokens = _TOKEN.findall(path)
    i, command = 0, ""
    while i < len(tokens):
        if tokens[i].isalpha():
            command, i = tokens[i], i + 1
        length = _LENGTHS[command]
        yield command, [float(token) for token in tokens[i : i + length]]
        i += length


def _piece(command, hundredths, last):
    words = [_number(value / 100) for value in hundredths]
    text = words[0] + "".join(word if word[0] == "-" else f" {word}" for word in words[1:])
    if command != last:
        return command + text
    return text if text[0] == "-" else f" {text}"


def _number(value):
    """The shortest words for a number with two decimals."""
    words = f"{value:.2f}".rstrip("0").rstrip(".")
    words = "0" if words == "-0" else words
    return re.sub(r"^(-?)0\.", r"\1.", words)


def _serialise(root, styles, colour):
    rules = ["*{stroke-linejoin:round;stroke-linecap:butt}"]
    if colour("#000000") != "#000000":
        rules.append(f"svg{{fill:{colour('#000000')}}}")
    for name, (style, fixed) in styles.items():
        rules.append(f".{name}{{{style if fixed else _HEX.sub(lambda match: colour(match[0]), style)}}}")
    sheet = f"<style>{html.escape(''.join(rules), quote=False)}</style>"
    body = ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")
    head = re.match(r"<svg[^>]*>", body)[0]
    return head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"') + sheet + body[len(head) :]
