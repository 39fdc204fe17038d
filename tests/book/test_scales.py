"""The scale of a claim: which values of the profile decide it, and since when they are as now."""

import json

import pytest
from conftest import commit_all

from lib.book.run.claim_rules import rules_for
from lib.book.verdicts import register as registry
from lib.book.verdicts import scales
from lib.book.verdicts.scales import ClaimParameters

TRIALS = """\
from lib.claims import Claims

def draw(size):
    return size * noise

rows = {}
for size in sizes:
    rows[size] = draw(size)
"""
CHANGE = 'rows["last"] = limit'
FIGURE = "label = title"
CLAIM = """\
claims = Claims("groveroth1997")
claim = claims.claim("rows-are-positive", "Rows are positive.", quote="positive")
claim.test("positive", estimate=(rows[sizes[0]], 0.1, 1.0, n_models))
"""
ENTRY = {"statistic": "mean", "region": [0, None], "least": 1, "unit": "rows"}


@pytest.fixture
def chapter(project, write_chapter):
    """A chapter whose claim reads all parameters but the seed, the learner and the title."""
    write_chapter(project, "cia/curves", TRIALS, CHANGE, FIGURE, CLAIM)
    return project


def write_register(project, **fields):
    entry = ENTRY | {"settings": {"positive": {}}} | fields
    path = project.root / "chapters" / "registered.yml"
    path.write_text(f"rows-are-positive: {json.dumps(entry)}\n")


def write_profile(project, values):
    text = json.dumps({"paper": {"cia/curves": values}})
    (project.root / "chapters" / "profiles.yml").write_text(text)


def test_a_claim_is_decided_by_the_parameters_behind_its_cell(chapter):
    found = scales.claim_parameters(chapter, ["rows-are-positive", "in-no-chapter"])
    names = ("limit", "n_models", "noise", "sizes")
    assert found == {"rows-are-positive": ClaimParameters("cia/curves", names)}
    profiles = {"paper": {"cia/curves": {"n_models": 5, "seed": 3}, "cia/large": {"noise": 0.1}}}
    assert scales.scale(profiles, found["rows-are-positive"]) == {"n_models": 5}
    assert scales.scale({}, found["rows-are-positive"]) == {}


def test_an_id_is_found_in_whichever_quotes_it_stands(chapter, write_chapter):
    expected = scales.claim_parameters(chapter, ["rows-are-positive"])
    write_register(chapter)
    rules = rules_for(chapter, CLAIM)
    assert list(rules) == ["rows-are-positive"]
    for quote in ("'", '"""'):
        claim = CLAIM.replace('"rows-are-positive"', f"{quote}rows-are-positive{quote}")
        write_chapter(chapter, "cia/curves", TRIALS, CHANGE, FIGURE, claim)
        assert scales.claim_parameters(chapter, ["rows-are-positive"]) == expected
        assert rules_for(chapter, claim) == rules


def test_a_scale_or_a_margin_fixed_after_the_verdict_is_said(chapter):
    write_profile(chapter, {"n_models": 5})
    write_register(chapter, margin=0.1)
    first = commit_all(chapter, "what decides")
    (chapter.root / "chapters" / "verdicts.yml").write_text("positive: holds\n")
    commit_all(chapter, "the verdict")
    registered = registry.registrations(chapter)["positive"]
    assert registered.kind == registry.BEFORE
    assert first[:7] in registered.words

    write_profile(chapter, {"n_models": 5, "seed": 9})  # which the claim does not read
    commit_all(chapter, "another seed")
    assert registry.registrations(chapter)["positive"] == registered

    write_profile(chapter, {"n_models": 50, "seed": 9})
    assert registry.registrations(chapter) == {}  # not committed
    second = commit_all(chapter, "more models")
    scaled = registry.registrations(chapter)["positive"]
    assert scaled.kind == registry.SCALED_AFTER
    assert scaled.words.startswith(registered.words)
    assert "; scale as now since " in scaled.words
    assert second[:7] in scaled.words

    write_register(chapter, margin=0.2)
    commit_all(chapter, "another margin")
    assert "; margin and scale as now since " in registry.registrations(chapter)["positive"].words

    write_register(chapter, margin=0.2, region=[1, None])
    third = commit_all(chapter, "another region")
    worded = registry.registrations(chapter)["positive"]
    assert worded.kind == registry.WORDED_AFTER
    assert third[:7] in worded.words


def test_profiles_that_were_no_yaml_are_no_scale(chapter):
    write_register(chapter, margin=0.1)
    (chapter.root / "chapters" / "profiles.yml").write_text("paper: [")
    commit_all(chapter, "a slip")
    write_profile(chapter, {"n_models": 5})
    commit_all(chapter, "mended")
    assert registry.registrations(chapter)["positive"].kind == registry.BEFORE
