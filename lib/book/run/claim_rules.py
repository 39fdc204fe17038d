"""The rules that decide the claims of a chapter: they are part of its key."""

from lib.book.run.project import BookError, Project, read_text
from lib.claims import read_register

REGISTER = "chapters/registered.yml"


def read_entries(project: Project) -> dict[str, dict]:
    """Return the entries of the book's register (see `lib.claims.read_register`)."""
    path = project.root / REGISTER
    if not path.exists():
        return {}
    try:
        return read_register(read_text(path))
    except ValueError as error:
        raise BookError(f"{path}: a line must be `claim: {{...}}`, in JSON; {error}") from error


def rules_for(project: Project, code: str) -> dict[str, dict]:
    """Return the entries, by id, of the claims whose ids stand in a chapter.

    In whichever quotes they stand there: an entry too many makes a key change more often, one too
    few would keep a result whose rule has changed. Settings without a rule of their own are left
    out, as listing them decides nothing.
    """
    rules = {}
    for id, entry in read_entries(project).items():
        if id in code:
            settings = entry.get("settings", {})
            own_rules = {name: rule for name, rule in settings.items() if rule}
            rules[id] = entry | {"settings": own_rules}
    return rules
