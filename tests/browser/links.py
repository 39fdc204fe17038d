"""References between pages that lead nowhere, and addresses that no page of a book may have."""

import posixpath
import re
from urllib.parse import unquote, urlsplit

# What would be somebody's machine: the folder of this checkout is added to it.
LOCAL = "|".join(
    [
        r"file:/",
        r"\blocalhost\b",
        r"\b127\.0\.0\.1\b",
        r"(?<![\w.])/(?:home|root|Users|tmp)/",
        r"\b[A-Z]:\\(?:Users|\w+\\)",
    ]
)
HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}")
SCHEMES = ("data:", "mailto:")


def dead_references(name, markups, site):
    """References of the page `name` to a file or an id that does not exist."""
    references = [reference for _, reference in markups[name].references]
    internal = [reference for reference in references if not reference.startswith(SCHEMES)]
    return [reference for reference in internal if is_dead(reference, name, markups, site)]


def is_dead(reference, name, markups, site):
    """Whether a reference of the page `name` leads to no file, or to no id of its page."""
    address = urlsplit(reference)
    if address.scheme or address.netloc:
        return False
    path = name
    if address.path:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(address.path)))
    if path.startswith("..") or not (site / path).is_file():
        return not (site / path / "index.html").is_file()
    fragment = unquote(address.fragment)
    return bool(fragment) and path in markups and fragment not in markups[path].ids


def odd_external(markup):
    """References to other hosts that are not links to an https address of a named host."""
    references = []
    for tag, reference in markup.references:
        is_external = bool(urlsplit(reference).netloc)
        if is_external and (tag != "a" or not is_plain(reference)):
            references.append(reference)
    return references


def is_plain(reference):
    """Whether a reference is an https address of a named host, without spaces."""
    address = urlsplit(reference)
    has_host = bool(HOST.fullmatch(address.netloc))
    return address.scheme == "https" and has_host and not re.search(r"\s", reference)


def local_addresses(text, root):
    """Whatever in a file's text names a folder or port of the machine that made it."""
    matches = re.finditer(f"{LOCAL}|{re.escape(str(root))}/", text)
    return sorted({match[0] for match in matches})
