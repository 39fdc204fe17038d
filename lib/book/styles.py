"""The theme's style sheets dress every page that anybody might write; published is what these pages can use."""

import re
from itertools import accumulate
from pathlib import Path

SHEETS = ("styles/*.css", "sphinx-design.min.css", "mystnb.*.css")
UNUSED = ("scripts/fontawesome.js", "scripts/*.map", "styles/*.map")
RULE = re.compile(r"([^{}]+)(\{[^{}]*\})")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
OPTIONAL = re.compile(r":(?:not|is|where|has)\((?:[^()]|\([^()]*\))*\)|\[[^]]*\]")
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
WORD = re.compile(r"[\w-]+")
PREFIX = re.compile(r"[\"'`]([\w-]+-)[\"'`$]")


def keep_used_rules(folder: Path) -> None:
    """Take the rules for classes that neither page nor script below `folder` names out of the theme's style sheets."""
    static = folder / "_static"
    for path in [path for pattern in UNUSED for path in static.glob(pattern)]:
        path.unlink()
    pages = [path.read_text(encoding="utf-8") for path in folder.rglob("*.html")]
    scripts = [path.read_text(encoding="utf-8") for path in static.rglob("*.js")]
    words = {word for text in pages + scripts for word in WORD.findall(text)}
    prefixes = tuple({prefix for text in scripts for prefix in PREFIX.findall(text)})
    for sheet in [path for pattern in SHEETS for path in sorted(static.glob(pattern))]:
        text = sheet.read_text(encoding="utf-8")
        sheet.write_text(used_rules(text, words, prefixes), encoding="utf-8")


def used_rules(sheet: str, words: set[str], prefixes: tuple[str, ...] = ()) -> str:
    """Return a style sheet without the selectors that need a class which is no word and begins with no prefix."""

    def used(selector):
        classes = CLASS.findall(OPTIONAL.sub("", selector))
        return all(name in words or name.startswith(prefixes) for name in classes)

    def kept(match):
        before, _, selectors = match[1].rpartition(";")  # such as @charset, which ends there
        left = [selector for selector in split_selectors(selectors) if used(selector)]
        return before + (";" if before else "") + (",".join(left) + match[2] if left else "")

    return RULE.sub(kept, COMMENT.sub("", sheet))


def split_selectors(text: str) -> list[str]:
    """Return the parts of a list of selectors; a comma in parentheses or brackets separates nothing here."""
    depths = list(accumulate((character in "([") - (character in ")]") for character in text))
    ends = [place for place, character in enumerate(text) if character == "," and depths[place] == 0]
    return [text[start + 1 : end] for start, end in zip([-1, *ends], [*ends, len(text)], strict=True)]
