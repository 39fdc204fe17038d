"""Sentences of a chapter as plain text, each with one of its numbers marked."""

import re
import unicodedata

MARK = "▮"  # stands for the number that a row is about
OTHER = "…"  # stands for all other numbers of its sentence

# A number in a text, as `mark_name` writes it: its name between two signs that no text has.
NAMED = re.compile("\ue000([^\ue001]+)\ue001")

# Where a sentence ends. So does a clause: a reader of the table needs the words near the number.
SENTENCE_END = re.compile(
    r"""
    (?<= [.:;] ) \s+
    (?! [^`(]* \)` )  # not inside {abbr}`term (its meaning: some words)`
    | \n\n+           # a paragraph
    | \n(?=- )        # an item
    """,
    re.VERBOSE,
)

# A formula with its dollar signs; the group is what stands between them.
FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")

# Markup that plain text leaves out.
MARKUP = re.compile(
    r"""
    \{abbr\}`                # an abbreviation begins,
    | [ ]\( [^`()]* \)`      # its meaning and its end
    | \{[\w:]+\}             # the names of other roles
    | ^\#+[ ] | ^-[ ]        # the sign of a heading or an item
    | </?\w+[^<>]*>          # HTML, such as the end of a fold
    | \*\* | (?<!\w)\*(?=\S) | (?<=\S)\*(?!\w) | `
    """,
    re.VERBOSE,
)
LINK = re.compile(r"!?\[([^\]]*)\]\([^()]*\)")

# Commands of formulas that stand for a sign; Greek letters are found by their names.
SIGNS = {
    "approx": "≈",
    "cdot": "·",
    "dots": "…",
    "ge": "≥",
    "geq": "≥",
    "infty": "∞",
    "ldots": "…",
    "le": "≤",
    "leq": "≤",
    "mid": "|",
    "ne": "≠",
    "neq": "≠",
    "pm": "±",
    "qquad": " ",
    "quad": " ",
    "sqrt": "√",
    "sum": "∑",
    "times": "×",
    "to": "→",
}
FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
COMMAND = re.compile(r"\\([A-Za-z]+)")


def mark_name(name: str) -> str:
    """Return what stands for a number until its sentence is found."""
    return f"\ue000{name}\ue001"


def citing_sentences(text: str) -> dict[str, str]:
    """Return for each number in a text the first sentence that cites it, as plain text.

    Parameters
    ----------
    text : str
        In Markdown, with the names of its numbers written by `mark_name`.

    Returns
    -------
    dict of str to str
        By the name of the number; `MARK` stands in its place, `OTHER` for other numbers.
    """
    sentences = {}
    for sentence in SENTENCE_END.split(text):
        for name in NAMED.findall(sentence):
            if name not in sentences:
                sentences[name] = plain_text(_mark(sentence, name))
    return sentences


def _mark(sentence: str, name: str) -> str:
    return NAMED.sub(lambda match: MARK if match[1] == name else OTHER, sentence)


def plain_text(text: str) -> str:
    """Return Markdown, of MyST or not, as one line of text without markup and formulas."""
    text = FORMULA.sub(lambda match: _plain_formula(match[1]), text)
    text = LINK.sub(r"\1", text)
    return " ".join(MARKUP.sub("", text).split())


def _plain_formula(formula: str) -> str:
    """Return LaTeX as text: Greek letters and signs for their commands, no braces."""
    formula = FRACTION.sub(r"\1/\2", formula)
    formula = COMMAND.sub(lambda match: _sign(match[1]), formula)
    return re.sub(r"\\.|[{}]", "", formula).replace("-", "−").strip()


def _sign(command: str) -> str:
    """Return the text of a command: its sign, its name, or nothing if it only changes the font."""
    if command in SIGNS:
        return SIGNS[command]
    if command in ("bar", "bf", "hat", "left", "mathbf", "mathrm", "operatorname", "right", "text"):
        return ""
    case = "CAPITAL" if command[0].isupper() else "SMALL"
    letter = command.upper().replace("LAMBDA", "LAMDA")  # as Unicode spells it
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {letter}")
    except KeyError:
        return command
