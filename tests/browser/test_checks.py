"""The checks themselves: a page with one fault of each kind is found out, and nothing else on it is."""

from pathlib import Path

import pytest
from links import dead_references, local_addresses, odd_external
from markup import parse_markup
from server import serve
from visit import visit_page

FAULTS = r"""
<script src="https://example.org/outside.js"></script>
<script>console.error("said on purpose"); setTimeout(() => { throw new Error("thrown on purpose"); });</script>
<script defer src="../_static/katex/math.js"></script>
<p style="color: #999; background: #777">Hardly to be read.</p>
<img id="silent" src="../_static/favicon.svg">
<img id="lost" src="nowhere.png" alt="a picture that does not exist">
<img src="heavy.bmp" alt="">
<div id="wide" style="width: 500px">A box that is wider than a phone.</div>
<p><span class="math">\(\unknown{\)</span></p>
"""


@pytest.fixture(scope="module")
def faulty(browser, site, tmp_path_factory):
    """What a visit to a page with faults shows, beside one to the page without them."""
    folder = tmp_path_factory.mktemp("faulty")
    (folder / "chapters").mkdir()
    for name in ("_static", "_images"):
        (folder / name).symlink_to(site / name)
    text = (site / "chapters/intro.html").read_text(encoding="utf-8")
    (folder / "chapters/faulty.html").write_text(text.replace("</article>", f"{FAULTS}</article>"), encoding="utf-8")
    (folder / "chapters/heavy.bmp").write_bytes(b"BM" + bytes(2_000_000))
    with serve(folder) as address:
        return visit_page(browser, folder, address, "chapters/faulty.html")


@pytest.mark.parametrize("fault", ["error: said on purpose", "thrown on purpose"])
def test_messages_are_heard(faulty, fault):
    assert any(fault in message for message in faulty.watch.messages)


def test_requests_are_seen(faulty):
    assert any("nowhere.png" in failed for failed in faulty.watch.failed)
    assert faulty.watch.outside == ["https://example.org/outside.js"]


@pytest.mark.parametrize("found", ["light color-contrast", "dark color-contrast", "light image-alt"])
def test_barriers_are_found(faulty, found):
    theme, rule = found.split()
    assert [line for line in faulty.violations[theme] if line.startswith(f"{rule}: ")]


def test_wide_boxes_are_found(faulty):
    assert any('id="wide"' in line for line in faulty.too_wide[390])


def test_missing_images_are_found(faulty):
    assert [image for image in faulty.images_missing if 'id="lost"' in image]


def test_formulas_that_cannot_be_drawn_are_found(faulty):
    assert len(faulty.formulas_left) == 1


def test_weight_is_measured(faulty):
    assert faulty.sizes["chapters/heavy.bmp"] == 2_000_002
    assert sum(faulty.sizes.values()) > 2_000_002


def test_dead_references_are_found(tmp_path):
    text = """<h1 id="here">Title</h1><a href="#here">1</a><a href="#gone">2</a><a href="b.html#there">3</a>
      <a href="b.html#gone">4</a><img src="c.png"><a href="https://example.org/">5</a><a href="../up.html">6</a>"""
    markups = {"a.html": parse_markup(text), "b.html": parse_markup('<p id="there"></p>')}
    for name in markups:
        (tmp_path / name).touch()
    assert dead_references("a.html", markups, tmp_path) == ["#gone", "b.html#gone", "c.png", "../up.html"]


def test_references_to_other_hosts_are_links_only():
    text = """<a href="https://doi.org/10.1/x">1</a><a href="http://doi.org/">2</a><script src="https://example.org/x.js"></script>
      <a href="https://localhost:8888/">3</a><img src="//example.org/x.png"><a href="b.html">4</a>"""
    expected = ["http://doi.org/", "https://example.org/x.js", "https://localhost:8888/", "//example.org/x.png"]
    assert odd_external(parse_markup(text)) == expected


def test_places_on_a_machine_are_found():
    text = "see file:///x and /srv/book/y, http://localhost:8888/, not /usr/bin/env or chapters/home/ or file: a.csv"
    assert local_addresses(text, Path("/srv/book")) == ["/srv/book/", "file:/", "localhost"]
