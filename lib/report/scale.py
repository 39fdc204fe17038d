"""How small a run is beside the published one, said at the head of a chapter."""

from pathlib import Path

import yaml
from IPython.display import display

from lib.base.files import LIB
from lib.report.numbers import number_words

BOOK = LIB.parent
PUBLISHED = "paper"


def scale(chapter: str, unit: str, **parameter: int) -> None:
    """Display a note if a run is below the scale of the published book.

    Parameters
    ----------
    chapter : str
        Such as "cia/curves".
    unit : str
        What the parameter counts, in the plural, such as "random models per panel".
    **parameter
        The parameter of the chapter that decides how sure its claims are, with its value, such as
        ``n_models=n_models``.
    """
    ((name, value),) = parameter.items()
    published = _published_value(chapter, name)
    if published is None or value >= published:
        return
    address = _address(chapter)
    book = f"[published book]({address})" if address else "published book"
    words = (
        f"**Quick run**: {number_words(value)} {unit}; the {book} has {number_words(published)} "
        f"(add `--profile {PUBLISHED}`{_duration(chapter)})."
    )
    numbers = {name: value, f"published {name}": published}
    data = {"text/markdown": words, "text/plain": words}
    display(data, raw=True, metadata={"numbers": numbers, "report": {"kind": "scale", "name": ""}})


def _published_value(chapter: str, name: str) -> int | None:
    profiles = _read(BOOK / "chapters" / "profiles.yml")
    return (profiles.get(PUBLISHED, {}).get(chapter) or {}).get(name)


def duration_words(seconds: float) -> str:
    """Return a duration such as "about 3 minutes"."""
    minutes = round(seconds / 60)
    if minutes == 0:
        return "less than a minute"
    return "about a minute" if minutes == 1 else f"about {minutes} minutes"


def _duration(chapter: str) -> str:
    """Return ", about 3 minutes" for what a chapter takes at the published scale, if known."""
    seconds = _read(BOOK / "chapters" / "seconds.yml").get(chapter)
    return "" if seconds is None else f", {duration_words(seconds)}"


def _address(chapter: str) -> str:
    """Return the address of the published page; empty if ``_config.yml`` has none."""
    address = (_read(BOOK / "_config.yml").get("html") or {}).get("baseurl") or ""
    return f"{address.rstrip('/')}/chapters/{chapter}.html" if address else ""


def _read(path: Path) -> dict:
    """Return a YAML file; nothing where lib is installed without the book."""
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
