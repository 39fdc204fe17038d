"""What a run says it has decided."""

from conftest import book

from lib.book.verdicts.run_summary import decision_lines


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
    assert decision_lines(claims_of(*verdicts)) == [
        "3 of 8 claims are decided, 2 need n = 30 random models or more, "
        "1 needs n = 10 data sets or more, as the defaults have",
        "verdicts: holds 1, fails 1, negligible 1, undecided 2, too little data 3",
    ]
    (line, _) = decision_lines(claims_of(models))
    assert line == (
        "0 of 1 claim is decided, 1 needs n = 30 random models or more, as the defaults have"
    )
    (line, _) = decision_lines(claims_of("holds", "holds"))
    assert line == "2 of 2 claims are decided"
    assert decision_lines([]) == []


def test_only_the_most_frequent_needs_are_listed():
    needs = [f"too little data: {n} units" for n in (2, 3, 4, 5, 5)]
    (line, _) = decision_lines(claims_of(*needs))
    assert "2 need n = 5 units or more, 1 needs n = 2 units or more" in line
    assert "1 more of other units" in line


def test_book_run_ends_with_what_it_has_decided(project, write_chapter):
    claim = """\
from lib.claims import Claims
claims = Claims(paper="groveroth1997")
claim = claims.claim("many-models", "Many models.", quote="many")
claim.test(
    "many",
    statistic="models",
    estimate=(float(n_models), n_models - 0.5, n_models + 0.5, n_models),
    region=(3, float("inf")),
    margin=0.25,
    min_trials=8,
    unit="models",
)
claims.show()"""
    write_chapter(project, "cia/curves", claim)
    output = book(project, "run", "cia/curves", "-p", "n_models", "7").output
    assert output.splitlines()[-2:] == [
        "0 of 1 claim is decided, 1 needs n = 8 models or more, as the defaults have",
        "verdicts: too little data 1",
    ]
    write_chapter(project, "cia/curves", "1 + 1")
    output = book(project, "run", "cia/curves").output
    assert output.splitlines()[-1].startswith("executed notebook:")
