"""The theme brings 1,400 icons as fonts; a page shows about ten. Only those that a style sheet names are published."""

import re
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

STYLES = Path("_static/styles/pydata-sphinx-theme.css")
FONTS = Path("_static/vendor/fontawesome/webfonts")
FILE = r"url\(\.\./vendor/fontawesome/webfonts/([\w-]+)\.woff2\) format\(\"woff2\"\)"
FACE = re.compile(FILE + r"(?:,url\([^)]*\) format\([^)]*\))?")
CODE = re.compile(r'"\\([ef][0-9a-f]{3})"')
LETTER = re.compile(r'content:"\\?([!-~])"')  # of an icon such as a plus


def keep_used_icons(folder: Path) -> None:
    """Take the icons that no style sheet below `folder` names any more out of the fonts."""
    sheet = folder / STYLES
    if not sheet.exists():
        return
    text = sheet.read_text(encoding="utf-8")
    sheet.write_text(FACE.sub(r'url(../vendor/fontawesome/webfonts/\1.woff) format("woff")', text), encoding="utf-8")
    rules = "".join(path.read_text(encoding="utf-8") for path in (folder / "_static").rglob("*.css"))
    kept = {int(code, 16) for code in CODE.findall(rules)} | set(map(ord, LETTER.findall(rules)))
    for font in sorted((folder / FONTS).glob("*.ttf")):
        write_subset(font, kept)


def write_subset(font: Path, characters: set[int]) -> None:
    """Write the font with these characters only beside the TrueType file, as WOFF, in place of its other forms."""
    options = Options()
    options.flavor = "woff"
    face = TTFont(font, recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(face)
    face.flavor = "woff"
    face.save(font.with_suffix(".woff"))
    for form in (".ttf", ".woff2"):
        font.with_suffix(form).unlink(missing_ok=True)
