"""The theme brings 1,400 icons as a font and a rule for each; a page shows about ten. Only those used are published."""

import re
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

STYLES = Path("_static/styles/pydata-sphinx-theme.css")
FONTS = Path("_static/vendor/fontawesome/webfonts")
FILE = r"url\(\.\./vendor/fontawesome/webfonts/([\w-]+)\.woff2\) format\(\"woff2\"\)"
FACE = re.compile(FILE + r"(?:,url\([^)]*\) format\([^)]*\))?")
CODE = re.compile(r'"\\([ef][0-9a-f]{3})"')
RULE = re.compile(r'((?:\.fa-[\w-]+:{1,2}before,?)+)\{content:"\\([0-9a-f]+)"\}')
NAME = re.compile(r"\bfa-[a-z0-9-]+")


def keep_used_icons(folder: Path) -> None:
    """Take the icons that no page or script below `folder` names out of the style sheet and the fonts."""
    sheet = folder / STYLES
    if not sheet.exists():
        return
    text = sheet.read_text(encoding="utf-8")
    used = used_names(folder)
    text = RULE.sub(lambda match: match[0] if used & set(NAME.findall(match[1])) else "", text)
    sheet.write_text(FACE.sub(r'url(../vendor/fontawesome/webfonts/\1.woff) format("woff")', text), encoding="utf-8")
    sheets = (path.read_text(encoding="utf-8") for path in (folder / "_static").rglob("*.css"))
    kept = {int(code, 16) for rules in sheets for code in CODE.findall(rules)}
    for font in sorted((folder / FONTS).glob("*.ttf")):
        write_subset(font, kept)


def used_names(folder: Path) -> set[str]:
    """Return every word like the name of an icon in the pages and in the theme's own scripts."""
    files = [*folder.rglob("*.html"), *(folder / "_static" / "scripts").glob("*theme.js")]
    return {name for path in files for name in NAME.findall(path.read_text(encoding="utf-8"))}


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
