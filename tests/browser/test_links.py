"""Links and anchors of all pages; no browser needed."""

import posixpath

from built_site import ROOT, page_names
from links import dead_references, local_addresses, odd_external

PUBLISHED_TEXT = (".html", ".ipynb", ".json", ".csv", ".xml", ".md", ".txt")


def test_every_reference_leads_somewhere(page_name, markups, site):
    assert dead_references(page_name, markups, site) == []


def test_other_hosts_are_linked_to_and_nothing_else(page_name, markups):
    assert odd_external(markups[page_name]) == []


def test_no_file_names_a_place_on_the_machine_that_made_it(site):
    files = [
        path
        for path in site.rglob("*")
        if path.suffix in PUBLISHED_TEXT and "_static" not in path.parts
    ]
    found = {path.name: local_addresses(path.read_text(encoding="utf-8"), ROOT) for path in files}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


def test_all_pages_can_be_reached_from_the_first(markups, site):
    linked = {"index.html", "404.html", "search.html", "genindex.html"} | reachable(
        "index.html", markups
    )
    assert sorted(set(page_names(site)) - linked) == []


def reachable(start, markups):
    found, left = set(), [start]
    while left:
        name = left.pop()
        if name in found or name not in markups:
            continue
        found.add(name)
        paths = (given.partition("#")[0] for tag, given in markups[name].references if tag == "a")
        left += [
            posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            for path in paths
            if path
        ]
    return found
