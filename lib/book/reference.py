"""Reference pages made from the project's own files: the data sets, and the settings of every profile."""

import csv
from urllib.parse import quote

from lib.book.cache import read_record
from lib.book.execution import parameters_of, settle
from lib.book.project import BookError, Project
from lib.claims import code, literal, markdown_table

GROUPS = {
    "Shipped with the book": ("shipped", "derived", "synthetic"),
    "Fetched when asked for": ("uci",),
    "Not to be had": ("excluded",),
}
DOI = "https://doi.org/"
NO_RESULT = ("n_jobs", "engine")  # parameters that change no result


def data_sets(project: Project, profile: str) -> str:
    """Return the tables of data sets as MyST text, from ``data/manifest.csv``: one a group, sorted by name."""
    path = project.root / "data" / "manifest.csv"
    with open(path, newline="", encoding="utf-8") as file:
        entries = sorted(csv.DictReader(file), key=lambda entry: entry["name"])
    known = [kind for kinds in GROUPS.values() for kind in kinds]
    for entry in entries:
        if entry["kind"] not in known:
            raise BookError(f"{path}: {entry['name']} has the kind {entry['kind']!r}; allowed: {', '.join(known)}")
    parts = [_group(title, [e for e in entries if e["kind"] in kinds]) for title, kinds in GROUPS.items()]
    return "\n\n".join(filter(None, parts))


def _group(title: str, entries: list[dict]) -> str:
    rows = [(_name(entry), _size(entry), _origin(entry)) for entry in entries]
    table = markdown_table(("Data set", "Size", "Origin"), rows)
    return f"## {title}\n\n:::{{div}} data-sets\n{table}\n:::" if entries else ""


def _name(entry: dict) -> str:
    return f"{code(entry['name'])}<br>{literal(entry['title'])}"


def _size(entry: dict) -> str:
    missing = f"{int(entry['missing']):,} missing values" if int(entry["missing"]) else "none missing"
    classes = f"{int(entry['classes'])} classes" if entry["classes"] else "no class"
    numbers = [f"{int(entry['rows']):,} rows", f"{int(entry['attributes'])} attributes", classes, missing]
    return "<br>".join(number.replace(" ", "\N{NO-BREAK SPACE}", 1) for number in numbers)


def _origin(entry: dict) -> str:
    """Return where a set comes from, its citation and licence, and what was changed."""
    citation = entry["citation"].replace(f"{DOI}{entry['doi']}", "").strip() if entry["doi"] else entry["citation"]
    doi = f" {_link('doi:' + entry['doi'], DOI + entry['doi'])}." if entry["doi"] else ""
    cited, changes = literal(citation) + doi, literal(entry["changes"])
    if entry["kind"] == "synthetic":
        return f"{cited}<br>In the book, {changes}."
    lines = [f"{cited} Licence: {literal(entry['licence'])}.", _place(entry)]
    if changes and entry["kind"] != "excluded":
        lines.append(f"Changes: {changes}.")
    return "<br>".join(lines)


def _place(entry: dict) -> str:
    """Return where the files of a set are, or why there are none."""
    files = ", ".join(code(name) for name in entry["files"].split())
    unconfirmed = ", ".join(code(name) for name in entry["unconfirmed"].split())
    source = _link("UCI", entry["address"])
    places = {
        "shipped": f"In the book: {code('data/' + entry['files'])}.",
        "derived": f"In the book: made from {files}.",
        "uci": f"From {source}: {files}.",
        "excluded": f"Not available: {literal(entry['changes'])} ({source}).",
    }
    doubt = f" Expected sha256 not confirmed to be that of UCI's bytes: {unconfirmed}." if unconfirmed else ""
    return places[entry["kind"]] + doubt


def _link(words: str, address: str) -> str:
    """Return a link to an https address; any other address is no link."""
    return f"[{literal(words)}]({quote(address, safe=':/')})" if address.startswith("https://") else literal(words)


def settings(project: Project, profile: str) -> str:
    """Return as MyST text what a profile gives to each chapter, and how long the chapter took here."""
    return "\n\n".join(_chapter(project, profile, chapter) for chapter in project.chapters)


def _chapter(project: Project, profile: str, chapter: str) -> str:
    _, values = settle(project, chapter, project.profile(profile, chapter))
    rows = [
        (code(name), code(repr(parameter.default)), code(repr(values[name])))
        for name, parameter in parameters_of(project, chapter).items()
        if values[name] != parameter.default and name not in NO_RESULT
    ]
    table = markdown_table(("Parameter", "Default", f"Profile {profile}"), rows) if rows else "Defaults throughout."
    facts = ", ".join(filter(None, [_seed(values), _seconds(project, profile, chapter)]))
    line = f"[Go to the chapter](/chapters/{chapter}.ipynb)" + (f" ({facts})" if facts else "")
    return f"### {project.heading(chapter)}\n\n{line}.\n\n:::{{div}} settings\n{table}\n:::"


def _seed(values: dict) -> str:
    return f"seed {code(str(values['seed']))}" if "seed" in values else ""


def _seconds(project: Project, profile: str, chapter: str) -> str:
    seconds = read_record(project.executed(profile, chapter)).get("seconds")
    return "" if seconds is None else f"executed in {seconds:,.0f} s"
