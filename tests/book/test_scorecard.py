"""The scorecard: pictures true to the numbers, text to the claims, downloads to both."""

import csv
import json
import math
import re
import shutil
from collections import Counter
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from conftest import book_with, render_myst
from hypothesis import given
from hypothesis import strategies as st

from lib.book.pages import scorecard as page
from lib.book.range_plot import WIDTH
from lib.book.rendering import range_plot
from lib.book.run.project import BookError
from lib.book.verdicts import chapter_claims
from lib.book.verdicts.chapter_claims import settings_of
from lib.claims import Claim, Setting, overall

INFINITE = math.inf
INFINITE_WORDS = {INFINITE: "∞", -INFINITE: "−∞"}
HOSTILE = (
    """<script>alert("x")</script> | [x](y) 'a' "b" $p$ {{ q }} {ref}`r` *s* &amp; -- \\ # `t`"""
)


def setting(id="a-setting", **changes):
    fields = {
        "words": "",
        "statistic": "mean",
        "value": 1.0,
        "low": 0.5,
        "high": 1.5,
        "n": 3,
        "region": (0, INFINITE),
        "unit": "models",
    }
    if changes.get("region", fields["region"]) == (0, INFINITE):
        fields["margin"] = 0.2
    return Setting(id=id, **{**fields, **changes})


def make_claim(*settings, id="a-claim", paper="groveroth1997", chapter="cia/curves", **changes):
    fields = {"sentence": "So.", "quote": "so", **changes}
    claim = Claim(id, **fields, settings=list(settings) or [setting()])
    return {"chapter": chapter, **claim.to_dict(paper)}


CLAIMS = [
    make_claim(
        setting("yes", anchor="the-result", paper_value="p < 0.05"),
        setting("no", value=-1, low=-2, high=-0.1, words="n = 75", recorded=True),
        registered={"central": "Figure 1"},
        data="UCI",
    ),
    make_claim(
        setting(
            "hostile-setting",
            words=HOSTILE,
            statistic=HOSTILE,
            paper_value=HOSTILE,
            anchor="the-result",
        ),
        id="hostile",
        sentence=HOSTILE,
        quote=HOSTILE,
        data=HOSTILE,
        registered={"central": HOSTILE},
    ),
    make_claim(setting("open-end", low=-INFINITE, high=INFINITE, paper_value=2.5), id="open"),
    make_claim(
        setting(
            "unknown",
            value=math.nan,
            low=math.nan,
            high=math.nan,
            n=0,
            min_trials=2,
            region=(-0.1, 0.1),
        ),
        id="few",
        paper="greiner2005",
    ),
    make_claim(
        setting("computed", value=0, low=0, high=0, n=1, region=(-INFINITE, 1e-9), exact=True),
        id="exact",
        paper="greiner2005",
        exact=True,
    ),
]
SETTINGS = settings_of(CLAIMS)


@pytest.fixture
def text(project):
    return page.scorecard(book_with(project, CLAIMS))


def draw(setting):
    return ElementTree.fromstring(range_plot(setting))


def line(svg):
    """Return where the interval's line begins and ends."""
    path = svg.find("path[@class='interval']")
    ends = re.match(r"M([\d.]+) 12H([\d.]+)", path.get("d")).groups()
    return [float(end) for end in ends]


def dot(svg):
    return float(svg.find("circle").get("cx"))


def edge_places(svg):
    edge = svg.find("path[@class='edge']")
    return [float(x) for x in re.findall(r"M([\d.]+) 0V", edge.get("d"))]


numbers = st.floats(-1e12, 1e12).map(lambda x: float(f"{x:.6g}"))


@given(
    st.lists(numbers, min_size=3, max_size=3).map(sorted),
    st.lists(numbers, min_size=2, max_size=2, unique=True),
)
def test_the_picture_is_ordered_as_the_numbers_and_on_no_wrong_side_of_an_edge(points, edges):
    low, value, high = points
    region = tuple(sorted(edges))
    svg = draw(setting(low=low, value=value, high=high, region=region).to_dict())
    # an interval without length has no line
    low_place, high_place = line(svg) if low < high else (dot(svg), dot(svg))
    assert 0 <= low_place <= dot(svg) <= high_place <= WIDTH
    places = [(low, low_place), (high, high_place), (value, dot(svg))]
    for edge, edge_place in zip(region, edge_places(svg), strict=True):
        assert 0 <= edge_place <= WIDTH
        for number, place in places:
            # up to 4 on the wrong side, as the dot stays whole at a border
            if number >= edge:
                assert place - edge_place >= -4
            if number <= edge:
                assert place - edge_place <= 4


@pytest.mark.parametrize("high", [INFINITE, 1e9])
def test_an_end_out_of_sight_is_an_arrow_at_the_border(high):
    svg = draw(setting(low=0.1, value=0.3, high=high).to_dict())
    (edge,) = edge_places(svg)
    assert line(svg)[1] == WIDTH - 1
    assert edge < line(svg)[0] < dot(svg) < WIDTH - 10
    assert f"L{WIDTH - 1:.1f} 12L" in svg.find("path[@class='interval']").get("d")


def test_an_unknown_value_is_told_and_not_drawn():
    svg = draw(SETTINGS[4])
    assert svg.find("circle") is None
    assert svg.find("path[@class='interval']") is None
    assert svg.find("text[@class='unknown']").text == "no number"
    exact = draw(SETTINGS[5])
    assert exact.find("path[@class='interval']") is None
    assert dot(exact) < edge_places(exact)[0]


def test_the_counts_add_up(text):
    html = BeautifulSoup(render_myst(text), "html.parser")
    counts = Counter((claim["paper"], overall(claim)) for claim in CLAIMS)
    cells = re.findall(r'<td data-paper="(\w+)" data-verdict="([\w ]+)">([1-9]\d*)<', text)
    assert {(paper, verdict): int(n) for paper, verdict, n in cells} == counts
    total = text[text.index("<tfoot>") : text.index("</tfoot>")]
    assert re.findall(r">(\d+)<", total) == ["2", "0", "0", "1", "1", "1", "0", "5"]
    rows = html.find_all("li", class_="claim")
    assert Counter((row["data-paper"], row["data-verdict"]) for row in rows) == counts
    ids = [item["id"] for item in html.find_all("li", class_="setting")]
    assert ids == [f"setting-{setting['id']}" for setting in SETTINGS]
    assert "There are 5 sentences of papers, tested in 6 settings." in text


def test_central_claims_come_first_with_their_place_in_the_paper(text):
    html = BeautifulSoup(render_myst(text), "html.parser")
    links = html.find("ul", class_="central").find_all("a")
    words = " ".join(html.find("ul", class_="central").text.split())
    assert "Figure 1: the paper has p < 0.05. Here: 1 [0.5, 1.5], n = 3 models" in words
    assert [link["href"] for link in links] == ["#claim-a-claim", "#claim-hostile"]
    assert links[1].text == HOSTILE


def test_what_the_filter_needs_is_on_the_page(text):
    html = BeautifulSoup(render_myst(text), "html.parser")
    assert html.find("form", id="scorecard-filter").has_attr("hidden")
    assert html.find("input", id="scorecard-search")
    assert html.find("p", id="scorecard-count")["aria-live"] == "polite"
    for field in ("paper", "chapter", "verdict", "place"):
        select = re.search(f'<select id="scorecard-{field}">(.*?)</select>', text)[1]
        values = set(re.findall('value="(.*?)"', select)) - {""}
        if field == "verdict":
            assert values == set(page.KINDS)
        elif field == "place":
            assert values == {"inside", "outside"}
        else:
            assert values == {claim[field] for claim in CLAIMS}


def test_what_sorts_the_claims_is_on_their_rows(project):
    """The paper's number, in halves of our interval from our value; the chance in a re-run."""
    skew = {"value": 1.0, "low": 0.0, "high": 1.5}
    settings = {
        "below": (setting("below", **skew, paper_value=0.5), 0.5),
        "above": (setting("above", **skew, paper_value=2.0), 2.0),
        "words": (setting("words", **skew, paper_value="p < 0.05"), None),
        "none": (setting("none", **skew), None),
        "open": (setting("open", value=1.0, low=-INFINITE, high=INFINITE, paper_value=2.0), None),
        "no-width": (setting("no-width", value=1.0, low=0.0, high=1.0, paper_value=2.0), None),
    }
    claims = [make_claim(one, id=f"claim-{name}") for name, (one, _) in settings.items()]
    html = BeautifulSoup(render_myst(page.scorecard(book_with(project, claims))), "html.parser")
    values = html.find("select", id="scorecard-order").find_all("option")
    assert [option["value"] for option in values] == ["", "distance", "rerun"]
    for row, (one, distance) in zip(html.select("li.claim"), settings.values(), strict=True):
        assert row["data-distance"] == ("" if distance is None else f"{distance:.3g}")
        if distance is not None:
            assert (distance > 1) == (row["data-place"] == "outside")
        chance = one.to_dict()["rerun_chance"]
        assert row["data-rerun"] == ("" if chance is None else str(chance))


def test_claims_that_one_number_decides_say_so(project):
    chapters = project.root / "chapters" / "cia"
    shutil.copy(chapters / "curves.ipynb", chapters / "model.ipynb")
    claims = [
        make_claim(setting("ahead"), id="ahead", sentence="A is ahead."),
        make_claim(setting("alike", region=(-1, 1)), id="alike", sentence="Both are alike."),
        make_claim(setting("elsewhere"), id="elsewhere", chapter="cia/model"),
        make_claim(setting("more", n=4), id="more"),
        # counts of few units agree by chance
        make_claim(setting("by-chance", statistic="median"), id="by-chance"),
    ]
    html = BeautifulSoup(render_myst(page.scorecard(book_with(project, claims))), "html.parser")
    links = {row["id"]: row.select(".claim-why a") for row in html.select("li.claim")}
    assert links["claim-ahead"][0].text == "“Both are alike.”"
    assert links["claim-alike"][0]["href"] == "#claim-ahead"
    assert [id for id, found in links.items() if found] == ["claim-ahead", "claim-alike"]


def test_the_number_wrong_by_chance_counts_the_intervals(project):
    claims = [make_claim(setting(f"setting-{i}"), id=f"claim-{i}") for i in range(60)]
    identity = setting("identity", region=(0, 2), exact=True)
    claims.append(make_claim(identity, id="identity", exact=True))
    text = page.scorecard(book_with(project, claims))
    assert "here some 3 of 60" in text  # 5% of 95% intervals
    assert re.search(r"Of \d+ settings 1 are exact\.", text)


def test_the_head_says_how_many_verdicts_another_run_would_turn(project):
    sure = setting("sure", low=0.9, high=1.1)
    # half of the runs find an interval beyond 0, half do not
    close = setting("close", value=0.5, low=0.0, high=1.0, words="n = 75")
    claims = [make_claim(sure), make_claim(close, id="a-close-claim")]
    assert sure.rerun_chance == pytest.approx(1)
    assert close.rerun_chance == pytest.approx(0.4, abs=0.02)  # three units: widths vary
    assert chapter_claims.expected_turns(claims) == pytest.approx((0.6, 2, 0, 0), abs=0.05)
    assert [unstable["id"] for unstable in chapter_claims.unstable_settings(claims)] == ["close"]
    with pytest.raises(
        BookError, match=r"each of 1 of 2 verdicts:\n  close: undecided, .* (39|4\d)%"
    ):
        chapter_claims.require_stable(claims)
    chapter_claims.require_stable([make_claim(sure)])
    text = page.scorecard(book_with(project, claims))
    assert "among the 1 whose chance" in text


def test_a_paper_without_an_entry_is_an_error(project):
    book = book_with(project, [make_claim(paper="groveroth1979")])
    with pytest.raises(BookError, match="'groveroth1979'.*groveroth1997"):
        page.scorecard(book)


@pytest.fixture
def downloads(project, tmp_path):
    book = book_with(project, CLAIMS, "quick", commit="abcdef0123")
    book.commit = "0123456789 + uncommitted changes"
    page.write_downloads(book, tmp_path)
    return tmp_path


def test_the_json_has_the_claims_and_where_they_come_from(downloads):
    document = json.loads((downloads / "claims.json").read_text(encoding="utf-8"))
    assert document["claims"] == [
        claim | {"scale": "the quick scale of the tests", "commit": "abcdef0123"}
        for claim in CLAIMS
    ]
    assert document["title"] == "When the Model Is Wrong"
    assert document["profile"] == "quick"
    assert document["commit"] == "0123456789 + uncommitted changes"


def test_the_csv_has_every_number_of_the_settings(downloads):
    with (downloads / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == page.COLUMNS
    for row, claim in zip(rows, SETTINGS, strict=True):
        for name in (
            "id",
            "claim",
            "paper",
            "chapter",
            "sentence",
            "words",
            "quote",
            "statistic",
            "data",
        ):
            assert row[name] == claim[name]
        decides = claim["id"] == claim["primary"] and claim["kind"] != "table"
        assert row["verdict"] == (claim["verdict"] if decides else "")
        for name in ("is_drawn", "exact", "recorded"):
            assert row[name] == str(claim[name])
        for name in ("value", "low", "high"):
            number = float(row[name]) if row[name] else None
            assert INFINITE_WORDS.get(number, number) == claim[name]
        ends = [float(row["region_low"]), float(row["region_high"])]
        assert [end if math.isfinite(end) else None for end in ends] == claim["region"]
        assert int(row["n"]) == claim["n"]
        paper_value = "" if claim["paper_value"] is None else str(claim["paper_value"])
        assert row["paper_value"] == paper_value
        assert row["anchor"] == (claim["anchor"] or "")
        assert row["commit"] == "abcdef0123"
