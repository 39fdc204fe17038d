"""Displays of a chapter: text, figures and tables, each with its numbers as JSON."""

import re
import string
import textwrap
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lib.claims import Claim, Setting, claim_with_id, literal, markdown_table, outcome_words
from lib.report.numbers import estimate_words, json_number, number_words
from lib.report.phrases import Phrase

CAPITAL = "cap"  # the format of a phrase that begins a sentence
# Between two sentences, of which the next may begin with a value, a formula or a link.
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z{$“*\[])")
NAME = re.compile(r"(fig|tbl)-[a-z0-9]+(-[a-z0-9]+)*")

# Numbers of figures and tables by name, in the order in which a kernel has displayed them first.
_FIGURES: dict[str, int] = {}
_TABLES: dict[str, int] = {}


class _Formatter(string.Formatter):
    """Fills a template, rounds all numbers in one way, and notes which numbers it has used."""

    def __init__(self):
        self.numbers = {}

    def get_field(self, field_name, args, kwargs):
        value, first = super().get_field(field_name, args, kwargs)
        self.numbers[field_name] = _as_json(value)
        return value, first

    def format_field(self, value, format_spec):
        if isinstance(value, Phrase | str):
            if format_spec == CAPITAL:
                return value[:1].upper() + value[1:]
            return format(str(value), format_spec)
        if _is_estimate(value):
            return estimate_words(*value[:3], format_spec)
        return number_words(value, format_spec)


def text(
    template: str,
    *,
    when: bool = True,
    asserts: "Claim | Setting | str | list | None" = None,
    otherwise: str | None = None,
    name: str = "",
    **values,
) -> None:
    """Display a text in Markdown whose numbers and words are computed.

    A sentence with a value that is None, which this run does not have, is left out; so is a bullet
    or a paragraph of which nothing remains.

    Parameters
    ----------
    template : str
        The text, with a ``{name}`` or ``{name:format}`` for each value; it may be indented. A brace
        of a formula is doubled. In a number a minus sign is a minus sign, an integer has commas
        between thousands; the format ``cap`` lets a phrase begin a sentence.
    when : bool
        Whether anything is displayed.
    asserts : Claim, Setting, str or list of these, optional
        The claims (or their ids) on which the first sentence rests: the first paragraph that is no
        heading. Where one of them does not hold, `otherwise` stands in its place.
    otherwise : str, optional
        A template, too; by default what became of the claim.
    name : str
        A name by which other pages find this text.
    **values
        Numbers, words, phrases of `comparison`, `finding` and `interval`, estimates, which are
        shown with their intervals, and None.

    Raises
    ------
    KeyError
        If a name of the template is not given.
    """
    if not when:
        return
    template = textwrap.dedent(template).strip()
    report = {"kind": "text", "name": name}
    if asserts is not None:
        supports = _supports(asserts)
        failing = [support for support in supports if not support.holds]
        report["asserts"] = {
            "claims": [support.id for support in supports],
            "holds": not failing,
            "chance": min(support.chance for support in supports),
        }
        if failing:
            neutral = failing[0].neutral if otherwise is None else _dedent(otherwise)
            template = _with_first_statement(template, neutral)
    formatter = _Formatter()
    words = formatter.vformat(_without_missing(template, values), (), values)
    if words:
        _display_markdown(words, report, formatter.numbers)


def figure(drawing=None, caption: str = "", *, name: str, alt: str) -> None:
    """Display a figure and its caption below it, and close it.

    Parameters
    ----------
    drawing : Figure, Axes, seaborn's grid or array of Axes, optional
        What was drawn; by default pyplot's current figure.
    caption : str
        Its first sentence is the message, the rest the legend. Markdown.
    name : str
        Such as "fig-curves", unique in the book. A link to ``#fig-curves`` leads to the figure.
    alt : str
        What somebody who cannot see the figure should know.

    Raises
    ------
    ValueError
        If the name begins with anything but "fig-", or the caption or `alt` is empty.
    """
    _check_name(name, "fig")
    _check_words(name, caption=caption, alt=alt)
    picture = _figure_of(drawing)
    caption = _in_one_line(caption)
    report = {"kind": "figure", "name": name, "caption": caption, "alt": _in_one_line(alt)}
    display(picture, metadata={"numbers": {}, "report": report})
    plt.close(picture)
    number = _FIGURES.setdefault(name, len(_FIGURES) + 1)
    words = f'<a id="{name}"></a>\n**Figure {number}.** {caption}'
    _display_markdown(words, {"kind": "caption", "name": name}, {})


def table(
    frame: pd.DataFrame,
    caption: str,
    *,
    name: str,
    formats: "dict[str, str | Callable] | None" = None,
) -> None:
    """Display a table with its caption above it.

    Parameters
    ----------
    frame : DataFrame
        Its columns become headings, the index is left out. A cell may be a number, a text, or an
        estimate (value, low, high, ...), which is shown with its interval.
    caption : str
        Its first sentence is the message, the rest the legend. Markdown.
    name : str
        Such as "tbl-models", unique in the book. A link to ``#tbl-models`` leads to the table.
    formats : dict, optional
        For a column a format, such as ``{"T": ".2f"}``, or a function that returns text.

    Raises
    ------
    ValueError
        If the name begins with anything but "tbl-", the caption is empty, or a format is of no
        column.
    """
    _check_name(name, "tbl")
    _check_words(name, caption=caption)
    formats = formats or {}
    strange = set(formats) - set(frame.columns)
    if strange:
        raise ValueError(f"formats of {name!r}: no column {sorted(strange)}; {list(frame.columns)}")
    columns = []
    numbers = {}
    for column, values in frame.items():
        columns.append([_cell(value, formats.get(column, "")) for value in values])
        if any(_is_number(value) or _is_estimate(value) for value in values):
            numbers[str(column)] = [_as_json(value) for value in values]
    header = [literal(str(column)) for column in frame]
    rows = markdown_table(header, list(zip(*columns, strict=True)))
    number = _TABLES.setdefault(name, len(_TABLES) + 1)
    caption = _in_one_line(caption)
    words = f'<a id="{name}"></a>**Table {number}.** {caption}\n\n{rows}'
    _display_markdown(words, {"kind": "table", "name": name, "caption": caption}, numbers)


class _Support:
    """A claim, or one setting of a claim, on which a statement rests."""

    def __init__(self, support: "Claim | Setting | str"):
        if isinstance(support, str):
            support = claim_with_id(support)
        self.id = support.id
        if isinstance(support, Setting):
            setting = support
            self.neutral = f"In this run the result is not that sure: {setting.verdict}."
        else:
            setting = support.primary if support.settings else None
            self.neutral = f"The claim “{support.sentence}” {outcome_words(support)} in this run."
        self.holds = setting is not None and setting.verdict == "holds"
        # that a re-run says the same; what is exact is sure
        chance = setting.rerun_chance if setting else 0.0
        self.chance = 1.0 if chance is None else round(chance, 3)


def _supports(asserts) -> list[_Support]:
    supports = asserts if isinstance(asserts, list | tuple) else [asserts]
    return [_Support(support) for support in supports]


def _with_first_statement(template: str, neutral: str) -> str:
    """Return a template with another first paragraph, apart from headings."""
    paragraphs = template.split("\n\n")
    statement = next(i for i, words in enumerate(paragraphs) if not words.startswith("#"))
    paragraphs[statement] = neutral
    return "\n\n".join(paragraphs)


def _without_missing(template: str, values: dict) -> str:
    """Return a template without the sentences that name a value that is None."""
    missing = {name for name, value in values.items() if value is None}
    if not missing:
        return template
    paragraphs = []
    for paragraph in template.split("\n\n"):
        items = []
        for item in re.split(r"\n(?=- )", paragraph):
            bullet = "- " if item.startswith("- ") else ""
            sentences = SENTENCE_END.split(item.removeprefix(bullet))
            known = [sentence for sentence in sentences if not missing & _names(sentence)]
            if known:
                items.append(bullet + " ".join(known))
        if items:
            paragraphs.append("\n".join(items))
    return "\n\n".join(paragraphs)


def _names(template: str) -> set[str]:
    """Return the names of the values of a template."""
    fields = [field for _, field, _, _ in string.Formatter().parse(template) if field]
    return {re.split(r"[.\[]", field)[0] for field in fields}


def _dedent(words: str) -> str:
    return textwrap.dedent(words).strip()


def _in_one_line(words: str) -> str:
    """Return text without line breaks; spaces that do not break stay."""
    return re.sub(r"[ \t\n]+", " ", words.strip())


def _display_markdown(words: str, report: dict, numbers: dict) -> None:
    data = {"text/markdown": words, "text/plain": words}
    display(data, raw=True, metadata={"numbers": numbers, "report": report})


def _check_name(name: str, kind: str) -> None:
    if not NAME.fullmatch(name) or not name.startswith(f"{kind}-"):
        raise ValueError(f'name must be such as "{kind}-curves", in lower case; got {name!r}')


def _check_words(name: str, **texts: str) -> None:
    for parameter, words in texts.items():
        if not words.strip():
            raise ValueError(f"{parameter} of {name!r} must not be empty")


def _figure_of(drawing) -> Figure:
    """Return the figure of what was drawn: axes, a grid of seaborn's, or a figure."""
    if drawing is None:
        return plt.gcf()
    if isinstance(drawing, Figure):
        return drawing
    if isinstance(drawing, np.ndarray | list | tuple):
        return _figure_of(next(iter(np.ravel(drawing))))
    if isinstance(drawing, Axes):
        return drawing.get_figure(root=True)
    return drawing.figure


def _is_number(value) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_estimate(value) -> bool:
    """Return whether a value is (value, low, high) or has n, too, as a named tuple has."""
    is_tuple = isinstance(value, tuple) and len(value) in (3, 4)
    return is_tuple and all(_is_number(number) for number in value)


def _as_json(value):
    """Return the numbers of a value as JSON; of words without numbers, the words."""
    if isinstance(value, Phrase):
        return value.numbers
    if _is_estimate(value):
        names = ("value", "low", "high", "n")
        return {name: json_number(number) for name, number in zip(names, value, strict=False)}
    return json_number(value)


def _cell(value, form: "str | Callable") -> str:
    if callable(form):
        return literal(form(value))
    if _is_estimate(value):
        return estimate_words(*value[:3], form)
    if isinstance(value, str):
        return literal(value)
    return number_words(value, form)
