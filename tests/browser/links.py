"""References between pages that lead nowhere, and addresses that no page of a book may have."""

import posixpath
import re
from urllib.parse import unquote, urlsplit

# What would be somebody's machine: the folder of this checkout is added to it.
LOCAL = r"file:/|\blocalhost\b|\b127\.0\.0\.1\b|(?<![\w.])/(?:home|root|Users|tmp)/|\b[A-Z]:\\(?:Users|\w+\\)"
HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}")
SCHEMES = ("data:", "mailto:")


def dead_references(name, markups, site):
    """References of the page `name` to a file or an id that does not exist."""
    inside = [given for _, given in markups[name].references if not given.startswith(SCHEMES)]
    return [given for given in inside if dead(given, name, markups, site)]


def dead(given, name, markups, site):
    address = urlsplit(given)
    if address.scheme or address.netloc:
        return False
    path = (
        posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(address.path)))
        if address.path
        else name
    )
    if path.startswith("..") or not (site / path).is_file():
        return not (site / path / "index.html").is_file()
    fragment = unquote(address.fragment)
    return bool(fragment) and path in markups and fragment not in markups[path].ids


def odd_external(markup):
    """References to other hosts that are not links to an https address of a named host."""
    outside = [(tag, given) for tag, given in markup.references if urlsplit(given).netloc]
    return [given for tag, given in outside if tag != "a" or not is_plain(given)]


def is_plain(given):
    address = urlsplit(given)
    return (
        address.scheme == "https"
        and bool(HOST.fullmatch(address.netloc))
        and not re.search(r"\s", given)
    )


def local_addresses(text, root):
    """Whatever in a file's text names a folder or port of the machine that made it."""
    return sorted({found[0] for found in re.finditer(f"{LOCAL}|{re.escape(str(root))}/", text)})
