"""The rules that decide the claims of a chapter: they are part of its key."""

from pathlib import Path

from lib.book.run.project import BookError, Project, read_text
from lib.claims import read_register

REGISTER = "chapters/registered.yml"
REGISTRATION = ("registered", "before")  # fields that say when a rule was fixed


def read_entries(project: Project) -> dict[str, dict]:
    """Return the entries of the book's register (see `lib.claims.read_register`)."""
    path = project.root / REGISTER
    return read_lines(path) if path.exists() else {}


def read_lines(path: Path) -> dict[str, dict]:
    """Return the lines of a register, or of a copy of one, by the name that begins them."""
    try:
        return read_register(read_text(path))
    except ValueError as error:
        raise BookError(f"{path}: a line must be `claim: {{...}}`, in JSON; {error}") from error


def without_registration(entry: dict) -> dict:
    """Return what decides in an entry, or in what a setting has of its own."""
    return {name: value for name, value in entry.items() if name not in REGISTRATION}


def rules_for(project: Project, code: str) -> dict[str, dict]:
    """Return the entries, by id, of the claims whose ids stand in a chapter.

    In whichever quotes they stand there: an entry too many makes a key change more often, one too
    few would keep a result whose rule has changed. Settings without a rule of their own are left
    out, as listing them decides nothing.
    """
    rules = {}
    for id, entry in read_entries(project).items():
        if id in code:
            settings = {}
            for name, own_fields in entry.get("settings", {}).items():
                own_rule = without_registration(own_fields)
                if own_rule:
                    settings[name] = own_rule
            rules[id] = without_registration(entry) | {"settings": settings}
    return rules
