"""Sweeps: what is checked before the runs, their folders, the page that compares them."""

import csv
import io
import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import book

from lib.book.range_plot import domain, geometry
from lib.book.run import execution
from lib.book.run.project import BookError
from lib.book.sweep.page import differs, rows_by_setting, summary
from lib.book.sweep.plan import claim_folder, plan_runs

CLAIM = """\
from lib.claims import Claims
claims = Claims(paper="groveroth1997")
claim = claims.claim("many-models", "More than <3> models & more.", quote="more")
claim.test(
    "many",
    statistic="models",
    estimate=(float(n_models), n_models - 0.5, n_models + 0.5, n_models),
    region=(3, float("inf")),
    margin=0.25,
)
claims.show()
"""
FAILS_AT_4 = "if n_models == 4:\n    raise RuntimeError('<b>four</b> is too many')"


def plan(project, tmp_path, *options, fixed=None):
    return plan_runs(project, "cia/curves", tmp_path, options, fixed or {})


def folder(project):
    return project.root / "_build" / "sweep" / "cia" / "curves"


def page_of_run(project, n_models):
    """Return where the page of a run with so many models is, if it has one."""
    html = folder(project) / f"n_models={n_models}" / "curves-html" / "html"
    return html / "chapters" / "cia" / "curves.html"


def values(runs, name):
    return [run.overrides[name] for run in runs]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("n_models", "2,3, 10", [2, 3, 10]),
        ("noise", "0.1,1e-3", [0.1, 0.001]),
        ("learner", "em,cov", ["em", "cov"]),
        ("title", '"a, b",c', ["a, b", "c"]),
        ("limit", "None,2", [None, 2.0]),
        ("sizes", "2,3", [[2], [3]]),
        ("sizes", "[2,3],[5]", [[2, 3], [5]]),
        ("sizes", "[2,3], 5", [[2, 3], [5]]),
    ],
)
def test_values_are_separated_by_commas(project, tmp_path, name, text, expected):
    assert values(plan(project, tmp_path, (name, text)), name) == expected


def test_every_combination_is_a_run_with_the_fixed_values(project, tmp_path):
    options = (("n_models", "2,3"), ("noise", "0.5"), ("sizes", "[10,20],30"))
    runs = plan(project, tmp_path, *options, fixed={"seed": 7, "n_models": 9})
    names = [
        "n_models=2,sizes=10+20",
        "n_models=2,sizes=30",
        "n_models=3,sizes=10+20",
        "n_models=3,sizes=30",
    ]
    assert [run.name for run in runs] == names
    assert all(run.overrides["seed"] == 7 and run.overrides["noise"] == 0.5 for run in runs)
    assert values(runs, "n_models") == [2, 2, 3, 3]
    assert [run.notebook for run in runs] == [tmp_path / name / "curves.ipynb" for name in names]


def test_names_are_safe_for_any_file_system_and_differ(project, tmp_path):
    texts = ["../x", "A", "a", "a/b", "a b", "x" * 300, "x" * 301, "-", "é", "..", ""]
    line = io.StringIO()
    csv.writer(line).writerow(texts)
    names = [run.name for run in plan(project, tmp_path, ("title", line.getvalue().strip()))]
    assert len({name.casefold() for name in names}) == len(texts)
    assert all(re.fullmatch(r"title=[A-Za-z0-9_.=,+-]{0,115}", name) for name in names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([("n_model", "2,3")], "did you mean 'n_models'"),
        ([("n_models", "2,3.5")], "n_models = 3.5: expected int in [2..2000]"),
        ([("n_models", "2,,3")], "n_models = None: expected int in [2..2000]"),
        ([("n_models", "2,5000")], "n_models = 5000: expected int in [2..2000]"),
        ([("learner", "em,tan")], "learner = 'tan': expected str in [em|cov|winnow]"),
        ([("sizes", "[2,3")], "sizes = '[2,3': expected list[int]"),
        ([("sizes", "2,a")], "sizes = ['a']: expected list[int]"),
        ([("n_models", "2,3,2")], "n_models = 2 is given twice"),
        ([("title", "a\nb,c")], r"title = 'a\nb,c': expected values of str"),
        ([("noise", "0.5,5e-1")], "noise = 0.5 is given twice"),
        ([("seed", "1,2"), ("seed", "3")], "seed is given twice"),
        ([("seed", "1")], "no parameter has several values"),
        ([], "no parameter has several values"),
        ([("seed", ",".join(map(str, range(501))))], "501 runs are too many; 500 are the most"),
        ([("seed", ",".join(map(str, range(251)))), ("n_models", "2,3")], "502 runs are too many"),
    ],
)
def test_a_wrong_sweep_runs_nothing(project, options, message):
    arguments = []
    for name, text in options:
        arguments += ["-p", name, text]
    result = book(project, "sweep", "cia/curves", *arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert not (project.root / "_build").exists()


def test_a_folder_with_other_files_is_left_alone(project, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("my page")
    result = book(project, "sweep", "cia/curves", "-p", "seed", "1,2", "-o", tmp_path / "mine")
    assert result.exit_code == 1
    assert "holds other files" in result.output
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["index.html"]
    claim_folder(tmp_path / "new", "cia/curves")
    claim_folder(tmp_path / "new", "cia/curves")
    with pytest.raises(BookError, match="another chapter"):
        claim_folder(tmp_path / "new", "cia/model")


def test_a_sweep_leaves_folders_a_comparison_and_a_table(project, write_chapter):
    """One sweep of three runs of which one fails, what it leaves, and what a second call does."""
    write_chapter(project, "cia/curves", FAILS_AT_4, CLAIM)
    result = book(
        project, "sweep", "cia/curves", "-p", "n_models", "2,4,8", "-p", "seed", "5", "--jobs", "2"
    )
    assert result.exit_code == 1
    assert "3 runs: n_models = 2, 4, 8" in result.output
    assert "(3 of 3)" in result.output
    assert "1 setting: 1 with another verdict than in the first run\n" in result.output
    assert "1 of 3 runs failed:\n  n_models=4: cia/curves: cell In [3] failed" in result.output
    for n_models in (2, 8):
        run = folder(project) / f"n_models={n_models}"
        assert (run / "curves.parameters.yml").read_text() == f"n_models: {n_models}\nseed: 5\n"
        assert nbformat.read(run / "curves.ipynb", as_version=4).cells[-1].outputs
    _check_page(folder(project))
    rows = list(csv.DictReader((folder(project) / "claims.csv").open(newline="")))
    verdicts = [(row["run"], row["n_models"], row["verdict"]) for row in rows]
    # the claim is that there are more than 3 models
    assert verdicts == [("n_models=2", "2", "fails"), ("n_models=8", "8", "holds")]
    assert rows[0]["value"] == "2.0"
    assert rows[0]["region_low"] == "3.0"
    assert rows[0]["region_high"] == "inf"

    notebooks = [folder(project) / f"n_models={n}" / "curves.ipynb" for n in (2, 8)]
    write_times = [path.stat().st_mtime_ns for path in notebooks]
    again = book(project, "sweep", "cia/curves", "-p", "n_models", "2,8", "-p", "seed", "5").output
    assert again.count("reused") == 2
    assert [path.stat().st_mtime_ns for path in notebooks] == write_times


def _check_page(folder):
    text = (folder / "index.html").read_text()
    page = BeautifulSoup(text, "html.parser")
    assert not re.findall(r"https?:|//[a-z]|<script", text)
    assert "<b>four</b> is too many" in page.text  # escaped, so it is text
    assert "1 setting: 1 with another verdict than in the first run." in page.text
    assert page.select_one("a[href='#many']").text.strip() == "More than <3> models & more."
    runs, claims = page.find_all("table")
    assert _texts(runs, "tr td:nth-of-type(2)") == ["✘ fails 1", "—", "✔ holds 1"]
    assert _texts(claims, "tr:has(td) th") == ["n_models=2", "n_models=4", "n_models=8"]
    plots = [plot.extract() for plot in claims.select("svg")]
    assert len(plots) == 2
    assert _texts(claims, "td") == [
        "✘ fails",
        "2 [1.5, 2.5], n = 2 trials",
        "failed",
        "✔ holds differs",
        "8 [7.5, 8.5], n = 8 trials",
    ]
    links = {link["href"] for link in page.find_all(href=True)}
    assert "n_models%3D2/curves.ipynb" in links
    assert "n_models%3D8/curves.parameters.yml" in links
    assert "claims.csv" in links


def _texts(element, selector):
    return [" ".join(found.text.split()) for found in element.select(selector)]


def test_what_runs_found_and_warn_of_is_said(project, monkeypatch):
    """As in a build; and no page outlives its results."""
    old_page = page_of_run(project, 2)
    claim_folder(folder(project), "cia/curves")
    old_page.parent.mkdir(parents=True)
    old_page.touch()
    notes = [{"kind": "found", "blocks": 3, "all": 4}, {"kind": "damaged", "message": "no room"}]

    def execute(project, chapter, overrides, output, report, **_):
        output.write_bytes(project.notebook("cia/curves").read_bytes())
        report(notes)

    monkeypatch.setattr(execution, "execute", execute)
    result = book(project, "sweep", "cia/curves", "-p", "n_models", "2,3")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    for name in ("n_models=2", "n_models=3"):
        message = "found 3 of 4 blocks of the experiments begun before"
        assert f"{name}: {message}, in {project.results}" in lines
        assert f"{name}: Warning: no room" in lines
    assert not old_page.exists()


@pytest.mark.slow
def test_each_run_may_have_a_page(project):
    result = book(project, "sweep", "cia/curves", "-p", "n_models", "2,3", "--html")
    assert result.exit_code == 0, result.output
    for n_models in (2, 3):
        page = page_of_run(project, n_models)
        assert f"sweep, n_models={n_models}" in page.read_text()
        comparison = (folder(project) / "index.html").read_text()
        assert f"n_models%3D{n_models}/curves-html/html" in comparison


def setting(id="a", value=1, low=0.5, high=2, verdict="holds", region=(0, None)):
    return {
        "id": id,
        "value": value,
        "low": low,
        "high": high,
        "verdict": verdict,
        "n": 5,
        "region": list(region),
        "margin": 0.0,
    }


def test_verdicts_are_compared_with_those_of_the_first_run_that_has_one():
    """Too little data is no verdict, and a setting that one run tests differs from nothing."""
    verdicts = {
        "differs": ("holds", "fails", "too little data"),
        "one has too little": ("holds", "too little data", "holds"),
        "once": (None, "fails", None),
        "same": (None, "undecided", "undecided"),
    }
    settings = {}
    for i, run in enumerate("abc"):
        settings[run] = [setting(id, verdict=row[i]) for id, row in verdicts.items() if row[i]]
    rows = rows_by_setting(settings)
    assert [next(iter(row.values()))["id"] for row in rows] == list(verdicts)
    different = [run for row in rows for run, tested in row.items() if differs(tested, row)]
    assert different == ["b"]
    assert summary(rows) == (
        "4 settings: 1 with another verdict than in the first run, "
        "2 with too little data in some run"
    )
    assert summary([]) == "No claims"


def test_plots_share_a_scale():
    settings = [
        setting(value=1),
        setting(value=3, low=2, high="∞"),
        setting(value=None, low=None, high=None),
    ]
    assert domain(settings) == (0, 3)
    plot_of_1 = geometry(settings[0], settings)
    plot_of_3 = geometry(settings[1], settings)
    assert plot_of_1["edges"] == plot_of_3["edges"]
    # the edge of the region is 0, so the dot of 3 is three times as far from it
    edge = plot_of_1["edges"][0]
    distance = (plot_of_3["dot"] - edge) / 3
    assert plot_of_1["dot"] - edge == pytest.approx(distance, abs=0.1)
