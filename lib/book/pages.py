"""Pages and fragments of pages, from the templates beside this module: whatever is put in is text, never markup."""

import re
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lib.book.range_plot import geometry
from lib.claims import SYMBOLS, badge, cell, code, estimate, literal, outcome, region_words

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


def range_plot(record: dict, together: list[dict] | None = None) -> str:
    """Return a claim's interval as inline SVG (see `lib.book.range_plot`), on a scale that all of `together` share."""
    return render("range.svg", verdict=record["verdict"], **geometry(record, together or [record]))


def line(text: str) -> str:
    """Return text in one line, for an element of HTML in MyST, which a blank line would end."""
    return " ".join(text.splitlines())


def words(text: str) -> str:
    """Return text as MyST that shows it as it is, also as the words of a link: every sign is escaped."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))


def _markup(function):
    return lambda *arguments: Markup(function(*arguments))  # noqa: S704 - the function escapes what it is given


_ENVIRONMENT.globals["symbols"] = SYMBOLS
_ENVIRONMENT.filters |= {f.__name__: f for f in (estimate, region_words, line, quote)} | {
    "string_of": repr
}
_ENVIRONMENT.filters |= {
    f.__name__: _markup(f) for f in (literal, words, cell, code, badge, outcome, range_plot)
}
