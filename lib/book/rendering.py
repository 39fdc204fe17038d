"""Render pages and fragments of pages from the templates: every value is put in as text."""

import re
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lib.book.range_plot import geometry
from lib.claims import (
    SYMBOLS,
    badge,
    cell,
    chance_words,
    code,
    distance_of_paper,
    estimate,
    literal,
    outcome,
    paper_words,
    place_of_paper,
    primary_setting,
    region_words,
    rerun_words,
)

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)


def render(template: str, **values) -> str:
    """Return a template with values put in; a name that is not given is an error."""
    return _ENVIRONMENT.get_template(template).render(values)


def range_plot(setting: dict, scale_settings: list[dict] | None = None) -> str:
    """Return the interval of a claim's setting as inline SVG.

    Parameters
    ----------
    setting : dict
        As `lib.claims.Setting.to_dict` returns it.
    scale_settings : list of dict, default [setting]
        The settings whose plots have the same scale, see `lib.book.range_plot.geometry`.
    """
    shapes = geometry(setting, scale_settings or [setting])
    return render("range.svg", verdict=setting["verdict"], **shapes)


def in_one_line(text: str) -> str:
    """Return text in one line, for an element of HTML in MyST, which a blank line would end."""
    return " ".join(text.splitlines())


def words(text: str) -> str:
    """Return text as MyST in which every punctuation sign is escaped.

    The page shows the text as it is, even as the words of a link.
    """
    ascii_punctuation = r"([!-/:-@\[-`{-~])"
    return re.sub(ascii_punctuation, r"\\\1", " ".join(text.split()))


def _as_markup(function):
    """Return a filter whose result the template does not escape again."""

    def filter_(*arguments):
        return Markup(function(*arguments))  # noqa: S704 - the function escapes what it is given

    return filter_


_ENVIRONMENT.globals["symbols"] = SYMBOLS

# filters that return text, which the template escapes
_ENVIRONMENT.filters |= {
    "chance_words": chance_words,
    "distance_of_paper": distance_of_paper,
    "estimate": estimate,
    "line": in_one_line,
    "quote": quote,
    "region_words": region_words,
    "rerun_words": rerun_words,
    "paper_words": paper_words,
    "place_of_paper": place_of_paper,
    "primary_setting": primary_setting,
    "string_of": repr,
}

# filters that return HTML or MyST
_ENVIRONMENT.filters |= {
    "badge": _as_markup(badge),
    "cell": _as_markup(cell),
    "code": _as_markup(code),
    "literal": _as_markup(literal),
    "outcome": _as_markup(outcome),
    "range_plot": _as_markup(range_plot),
    "words": _as_markup(words),
}
