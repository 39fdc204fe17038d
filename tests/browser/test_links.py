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
    addresses_of_files = {}
    for path in site.rglob("*"):
        if path.suffix in PUBLISHED_TEXT and "_static" not in path.parts:
            addresses = local_addresses(path.read_text(encoding="utf-8"), ROOT)
            if addresses:
                addresses_of_files[path.name] = addresses
    assert addresses_of_files == {}


def test_all_pages_can_be_reached_from_the_first(markups, site):
    # pages of Sphinx, to which no text leads
    special_pages = {"index.html", "404.html", "search.html", "genindex.html"}
    reachable = reachable_pages("index.html", markups)
    assert sorted(set(page_names(site)) - special_pages - reachable) == []


def reachable_pages(start, markups):
    """Return the pages to which links lead from a page, and it."""
    reached = set()
    queue = [start]
    while queue:
        name = queue.pop()
        if name in reached or name not in markups:
            continue
        reached.add(name)
        folder = posixpath.dirname(name)
        for tag, reference in markups[name].references:
            path = reference.partition("#")[0]
            if tag == "a" and path:
                queue.append(posixpath.normpath(posixpath.join(folder, path)))
    return reached
