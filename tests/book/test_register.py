"""When the rule of a setting was fixed: noted once, frozen in a copy, told on the scorecard."""

import csv
import datetime
import json

import nbformat
import pytest
from conftest import REPOSITORY, book, book_with
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lib.book.pages import scorecard
from lib.book.run.claim_rules import rules_for
from lib.book.run.project import BookError, read_mapping
from lib.book.verdicts import register as registry
from lib.book.verdicts.register import Registration
from lib.claims import CLAIMS_JSON, Claim, read_register

ENTRY = {"statistic": "mean", "region": [0, None], "margin": 0.1, "least": 1, "unit": "models"}
CLAIM = 'claims.claim("mean-is-positive", "So.", quote="so")'
FIRST, SECOND = "2026-01-30", "2026-01-31"
NO_INTERVAL = (float("nan"),) * 3 + (0,)


@pytest.fixture
def chapter(project, write_chapter):
    """A project whose chapter has a claim of one setting, which is listed in the register."""
    write_chapter(project, "cia/curves", CLAIM)
    write_entry(project)
    return project


@pytest.fixture(autouse=True)
def today(monkeypatch):
    """Return a function that sets the day, which is the first one otherwise."""

    class Day(datetime.date):
        now = FIRST

        @classmethod
        def today(cls):
            return cls.fromisoformat(cls.now)

    monkeypatch.setattr(registry, "date", Day)
    return lambda day: setattr(Day, "now", day)


def write_entry(project, settings=("positive",), **fields):
    entry = ENTRY | fields | {"settings": {id: {} for id in settings}}
    (project.root / "chapters" / "registered.yml").write_text(
        f"mean-is-positive: {json.dumps(entry)}\n"
    )


def write_defaults(project, n_models=5, seed=1, n_jobs=1):
    """Write a chapter with these parameters, as it is published."""
    lines = f"n_models: int = {n_models}  # m\nseed: int = {seed}  # s\nn_jobs: int = {n_jobs}  # j"
    cells = [new_code_cell(lines, metadata={"tags": ["parameters"]}), new_code_cell(CLAIM)]
    nbformat.write(new_notebook(cells=cells), project.notebook("cia/curves"))


def record_verdict(project, id="positive"):
    (project.root / "chapters" / "verdicts.yml").write_text(f"{id}: holds\n")


def claims_with(*estimates, ids=("positive", "again"), **changes):
    """Return a chapter's claim with a setting for each estimate."""
    claim = Claim("mean-is-positive", "So.", "so", registered=ENTRY)
    for id, estimate in zip(ids, estimates, strict=False):
        claim.test(id, estimate=estimate, **changes)
    return [claim.to_dict("groveroth1997")]


def write_outputs(path, claims):
    path.parent.mkdir(parents=True, exist_ok=True)
    outputs = [new_output("display_data", {CLAIMS_JSON: claims})]
    parameters = new_code_cell("seed: int = 1  # s", metadata={"tags": ["parameters"]})
    cells = [parameters, new_code_cell(CLAIM, outputs=outputs)]
    nbformat.write(new_notebook(cells=cells), path)


def copies(project):
    return {path.stem: path.read_text() for path in (project.root / registry.FROZEN).iterdir()}


def registration(project):
    registry.register(project, project.chapters)
    return registry.registrations(project)["positive"]


def test_a_new_setting_without_a_result_is_registered_before(chapter):
    assert registry.registrations(chapter) == {}
    write_outputs(chapter.notebook("cia/curves"), claims_with(NO_INTERVAL))
    result = book(chapter, "register")
    assert result.output == f"positive: registered on {FIRST}, before results\n"
    assert registry.registrations(chapter) == {"positive": Registration(FIRST, "all")}
    assert book(chapter, "register", "cia/curves").output == "nothing is new\n"


@pytest.mark.parametrize("result", ["verdict", "stored", "quick", "paper"])
def test_a_new_setting_with_a_result_is_worded_after_it(chapter, result):
    if result == "verdict":
        record_verdict(chapter)
    elif result == "stored":
        write_outputs(chapter.notebook("cia/curves"), claims_with((1.0, 0.5, 1.5, 2)))
    else:
        write_outputs(chapter.executed(result, "cia/curves"), claims_with((1.0, 0.5, 1.5, 2)))
    assert registration(chapter) == Registration(FIRST, "none")


@pytest.mark.parametrize("rule", [{"region": [1, None]}, {"least": 2}, {"unit": "samples"}])
@pytest.mark.parametrize(("has_result", "before"), [(True, "none"), (False, "all")])
def test_another_rule_is_a_new_one(chapter, today, rule, has_result, before):
    registration(chapter)
    if has_result:
        record_verdict(chapter)
    today(SECOND)
    write_entry(chapter, **rule)
    assert registration(chapter) == Registration(SECOND, before)


@pytest.mark.parametrize("change", ["margin", "scale"])
def test_another_margin_or_scale_leaves_the_rule(chapter, today, change):
    write_defaults(chapter)
    registration(chapter)
    today(SECOND)

    def change_to(value):
        if change == "margin":
            write_entry(chapter, margin=value)
        else:
            write_defaults(chapter, n_models=value)

    change_to(7)
    assert registration(chapter) == Registration(FIRST, "all")
    record_verdict(chapter)
    change_to(8)
    assert registration(chapter) == Registration(FIRST, "rule")
    change_to(7)
    assert registration(chapter) == Registration(FIRST, "rule")


def test_a_new_seed_a_better_wording_and_more_workers_change_nothing(chapter, today):
    write_defaults(chapter, n_jobs=1)
    registration(chapter)
    record_verdict(chapter)
    today(SECOND)
    write_defaults(chapter, seed=2, n_jobs=-1)
    write_entry(chapter, statistic="the mean")
    assert registration(chapter) == Registration(FIRST, "all")
    assert sorted(copies(chapter)) == [FIRST, SECOND]


def test_a_setting_says_itself_what_its_claim_does_not(chapter, today):
    settings = ("positive", "again", "more")
    record_verdict(chapter, "again")
    write_entry(chapter, settings[:2])
    registration(chapter)
    today(SECOND)
    write_entry(chapter, settings)
    registration(chapter)
    line = (chapter.root / "chapters" / "registered.yml").read_text().splitlines()[-1]
    assert line == "mean-is-positive: " + json.dumps(
        ENTRY
        | {"registered": FIRST, "before": "all"}
        | {
            "settings": {
                "positive": {},
                "again": {"before": "none"},
                "more": {"registered": SECOND},
            }
        }
    )
    (rule,) = rules_for(chapter, CLAIM).values()
    assert rule == ENTRY | {"settings": {}}  # no part of a chapter's key


def test_a_setting_that_a_notebook_shows_is_listed(chapter):
    write_entry(chapter, settings=())
    write_outputs(chapter.executed("paper", "cia/curves"), claims_with((1.0, 0.5, 1.5, 2)))
    assert registration(chapter) == Registration(FIRST, "none")


def test_a_copy_has_the_register_and_the_published_scale_of_chapters_that_were_noted(
    chapter, today
):
    write_defaults(chapter)
    registration(chapter)
    register = (chapter.root / "chapters" / "registered.yml").read_text()
    first = copies(chapter)[FIRST]
    scale = 'cia/curves: {"n_models": 5, "seed": 1}'
    assert sorted(first.splitlines()) == sorted([*register.splitlines(), scale])
    today(SECOND)
    registration(chapter)
    assert list(copies(chapter)) == [FIRST]  # nothing is new
    write_entry(chapter, region=[1, None])
    write_defaults(chapter, n_models=6)
    assert registry.register(chapter, []) == []
    assert copies(chapter) == {FIRST: first}


def test_a_run_must_obey_the_register_and_the_register_its_copy(chapter):
    claims = claims_with((1.0, 0.5, 1.5, 2), (1.0, 0.5, 1.5, 2))
    message = r"again: region \[0.0, None\], margin 0.1, least 1 here; not registered"
    with pytest.raises(BookError, match=message):
        registry.require_registered(chapter, claims)
    claims = claims_with((1.0, 0.5, 1.5, 2))
    with pytest.raises(BookError, match="data/registered/ has no copy.*\n.*`book register`"):
        registry.require_registered(chapter, claims)
    registration(chapter)
    registry.require_registered(chapter, claims)
    write_defaults(chapter, n_models=9)
    with pytest.raises(BookError, match="data/registered/ has no copy"):
        registry.require_registered(chapter, claims)
    for changes, words in (
        ({"region": (1, float("inf"))}, r"\[1.0, None\], margin 0.1, least 1"),
        ({"margin": 0.2}, r"\[0.0, None\], margin 0.2, least 1"),
        ({"min_trials": 2}, r"\[0.0, None\], margin 0.1, least 2"),
    ):
        claims = claims_with((1.0, 0.5, 1.5, 2), **changes)
        with pytest.raises(BookError, match=rf"{words} here; region \[0.0, None\], margin 0.1, le"):
            registry.require_registered(chapter, claims)


def test_a_line_that_is_no_json_is_named(chapter):
    (chapter.root / "chapters" / "registered.yml").write_text("a-claim: {")
    with pytest.raises(BookError, match="registered.yml: a line must be"):
        registry.registrations(chapter)


def test_scorecard_and_table_show_it_without_git(chapter, tmp_path):
    record_verdict(chapter, "again")
    write_entry(chapter, ("positive", "again"))
    registration(chapter)
    (claim,) = claims_with((1.0, 0.5, 1.5, 2), (1.0, 0.5, 1.5, 2))
    pages = book_with(chapter, [{"chapter": "cia/curves", **claim}])
    text = scorecard.scorecard(pages)
    assert (
        "Of the 1 sentences that an interval decides, 1 were registered before results were seen, 0 more"
        in text
    )
    assert f". Registered on {FIRST}, before results.</div></li>" in text
    assert f". Worded after results were seen, as now since {FIRST}.</div></li>" in text
    scorecard.write_downloads(pages, tmp_path)
    with (tmp_path / "claims.csv").open(encoding="utf-8", newline="") as file:
        words = [row["registered"] for row in csv.DictReader(file)]
    assert words == [entry.words for entry in registry.registrations(chapter).values()]


def test_each_claim_of_the_book_names_the_setting_that_decides():
    entries = read_register((REPOSITORY / "chapters" / "registered.yml").read_text("utf-8"))
    assert len(entries) > 200
    for id, entry in entries.items():
        assert entry["primary"] in entry["settings"], id
        assert entry["why"], id
        assert entry.get("kind") in (None, "table"), id


def test_a_quantity_has_one_size_that_matters():
    chapters = REPOSITORY / "chapters"
    sizes = read_mapping(chapters / "sizes.yml")
    entries = read_register((chapters / "registered.yml").read_text("utf-8"))
    cited = set()
    for entry in entries.values():
        for id, own_fields in {"": {}, **entry["settings"]}.items():
            fields = entry | own_fields
            if not fields.get("quantity"):
                continue
            size = sizes[fields["quantity"]]
            cited.add(fields["quantity"])
            low, high = fields["region"]
            if low is not None and high is not None:
                assert (low, high) == (-size, size), id
            else:
                # no worse than another is a lead of more than -size, with a margin of half of it
                end = low if high is None else high
                assert abs(end) in (0, size), id
                assert fields["margin"] == (size / 2 if end else size), id
    assert cited == set(sizes)
