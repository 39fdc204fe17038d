"""The register: what decides each claim, and when that was fixed."""

import json

from lib.base.files import LIB

REGISTER = LIB.parent / "chapters" / "registered.yml"


def read_register(text: str) -> dict[str, dict]:
    """Return the entries of a register: what decides each claim and what its settings add.

    Parameters
    ----------
    text : str
        A line for each claim, such as ``id: {"statistic": "EM − {winnow}", "region": [0, null],
        "margin": 0.05, "least": 30, "unit": "random models", "settings": {"id": {}}}``. Lines that
        begin with # are comments.

    Returns
    -------
    dict
        Entries by the id of the claim. "least" is `Setting.min_trials`; "margin" is 0 where
        it is not given. "primary" is the setting that decides, for the reason "why"; of a claim of
        the "kind" table none does. "central" names the table or figure of the original, of the few
        claims that a paper stands for. "registered" and "before", which `book register` adds, say when the rule
        was fixed and what was fixed before results; they decide nothing.

    Raises
    ------
    ValueError
        If an entry is no JSON.
    """
    # Read as JSON, not as YAML: PyYAML takes JSON's 1e-09 for a string.
    entries = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            id, _, entry = line.partition(": ")
            entries[id] = json.loads(entry)
    return entries


def registered_entries() -> dict[str, dict]:
    """Return the entries of the book's register; none where lib is installed without the book."""
    return read_register(REGISTER.read_text("utf-8")) if REGISTER.is_file() else {}
