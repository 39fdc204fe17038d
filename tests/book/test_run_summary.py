"""What a run says it has decided."""

import pytest
from conftest import book

from lib.book.verdicts.run_summary import advice, decision_lines, duration_words

ADVICE = "add --profile paper (about 3 minutes)"


def claims_of(*verdicts):
    """One claim; of a verdict "too little data" stands also what it needs."""
    settings = []
    for i, verdict in enumerate(verdicts):
        verdict, _, needed = verdict.partition(": ")
        least, _, unit = needed.partition(" ")
        setting = {"id": str(i), "verdict": verdict, "least": int(least or 1), "unit": unit}
        settings.append(setting)
    return [{"id": s["id"], "kind": "", "primary": s["id"], "settings": [s]} for s in settings]


def test_a_run_counts_what_it_has_decided_and_says_what_the_rest_needs():
    models = "too little data: 30 random models"
    files = "too little data: 10 data sets"
    verdicts = [models, files, models, "holds", "fails", "negligible", "undecided", "undecided"]
    assert decision_lines(claims_of(*verdicts), ADVICE) == [
        "3 of 8 claims are decided, 2 need n = 30 random models or more, "
        f"1 needs n = 10 data sets or more: {ADVICE}",
        "verdicts: holds 1, fails 1, negligible 1, undecided 2, too little data 3",
    ]
    (line, _) = decision_lines(claims_of(models), "")
    assert line == "0 of 1 claim is decided, 1 needs n = 30 random models or more"
    (line, _) = decision_lines(claims_of("holds", "holds"), ADVICE)
    assert line == "2 of 2 claims are decided"
    assert decision_lines([], ADVICE) == []


def test_only_the_most_frequent_needs_are_listed():
    needs = [f"too little data: {n} units" for n in (2, 3, 4, 5, 5)]
    (line, _) = decision_lines(claims_of(*needs), "")
    assert "2 need n = 5 units or more, 1 needs n = 2 units or more" in line
    assert line.endswith("1 more of other units")


def test_the_published_scale_is_advised_where_it_is_not_set(project):
    assert advice(project, "cia/curves", "paper") == ""
    assert advice(project, "cia/curves", None) == "add --profile paper"
    (project.root / "chapters" / "seconds.yml").write_text("cia/curves: 170\n")
    assert advice(project, "cia/curves", "quick") == ADVICE


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(16, "less than a minute"), (70, "about a minute"), (377, "about 6 minutes")],
)
def test_durations_are_in_whole_minutes(seconds, words):
    assert duration_words(seconds) == words


def test_book_run_ends_with_what_it_has_decided(project, write_chapter):
    claim = """\
from lib.claims import Claims
verdicts = Claims(paper="groveroth1997")
claim = verdicts.claim("many-models", "Many models.", quote="many")
claim.test(
    "many",
    statistic="models",
    estimate=(float(n_models), n_models - 0.5, n_models + 0.5, n_models),
    region=(3, float("inf")),
    margin=0.25,
    min_trials=8,
    unit="models",
)
verdicts"""
    write_chapter(project, "cia/curves", claim)
    output = book(project, "run", "cia/curves", "-p", "n_models", "7").output
    assert output.splitlines()[-2:] == [
        "0 of 1 claim is decided, 1 needs n = 8 models or more: add --profile paper",
        "verdicts: too little data 1",
    ]
    write_chapter(project, "cia/curves", "1 + 1")
    output = book(project, "run", "cia/curves").output
    assert output.splitlines()[-1].startswith("executed notebook:")
