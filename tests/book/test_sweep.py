"""Sweeps: what is checked before the runs, their folders, the page that compares them."""

import csv
import io
import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import book
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from lib import report
from lib.book.pages.unknown import GLUED_TEXT
from lib.book.range_plot import domain, geometry
from lib.book.run import execution
from lib.book.run.jobs import Job
from lib.book.run.project import BookError
from lib.book.sweep.chart import axis_of, chart
from lib.book.sweep.compare import compare, main_numbers, numbers_in, summary
from lib.book.sweep.numbers import Number
from lib.book.sweep.plan import claim_folder, plan_runs
from lib.book.sweep.sentences import plain_text

CLAIM = """\
from lib.claims import Claims
verdicts = Claims(paper="groveroth1997")
claim = verdicts.claim("many-models", "More than <3> models & more.", quote="more")
claim.test(
    "many",
    statistic="models",
    estimate=(float(n_models), n_models - 0.5, n_models + 0.5, n_models),
    region=(3, float("inf")),
    margin=0.25,
)
verdicts
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
    assert "1 setting: 1 with different verdicts\n" in result.output
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
    assert "✘ fails for n_models=2, ✔ holds for n_models=8." in page.text
    assert "1 setting: 1 with different verdicts." in page.text
    assert page.select_one("svg.chart polyline")
    assert "More than <3> models & more." in page.text
    assert "Verdicts differ." in page.text
    assert "8 [7.5, 8.5]" in page.text.replace("\N{NO-BREAK SPACE}", " ")
    links = {link["href"] for link in page.find_all(href=True)}
    assert "n_models%3D2/curves.ipynb" in links
    assert "n_models%3D8/curves.parameters.yml" in links
    assert "claims.csv" in links


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


def test_a_claim_that_one_run_does_not_test_differs_only_between_the_others():
    claims = {
        "one": [setting("a"), setting("b", verdict="fails")],
        "two": [setting("a", verdict="fails")],
        "three": [],
    }

    def verdicts(settings):
        return [setting and setting["verdict"] for setting in settings.values()]

    a, b = compare(claims)
    assert verdicts(a) == ["holds", "fails", None]
    assert verdicts(b) == ["fails", None, None]


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


def test_numbers_that_sentences_cite_are_compared():
    """Each that differs, with its sentence and interval; a run stands where its value is."""
    text = (
        "# A\n\nOf {glue:text}`n` {abbr}`models (wrong: all)` **{glue:text}`t:.2f`** is best."
        " It is {glue:text}`word`; {glue:text}`gone`."
        " By {glue:text}`d` [{glue:text}`least`, {glue:text}`end`]."
    )

    def glue(name, value):
        data = {GLUED_TEXT + "plain": value}
        return new_output("display_data", data, metadata={"scrapbook": {"name": name}})

    def notebook(run, t, end):
        outputs = [
            glue("n", "3"),
            glue("t", t),
            glue("word", f"'{run}'"),
            glue("uncited", t),
            glue("d", f"{len(run)}.5"),
            glue("least", "1"),
            glue("end", end),
        ]
        return new_notebook(cells=[new_markdown_cell(text), new_code_cell(outputs=outputs)])

    notebooks = {
        "one": notebook("one", "'0.5 (too few)'", "9"),
        "two": notebook("two", "'0.7 [0.6, 0.8] (k = 1)'", "inf"),
        "three": notebook("three", "nan", "8"),
    }
    # a word is no number, and one more is cited nowhere
    n, t, d = numbers_in(notebooks)
    assert [number.name for number in (n, t, d) if number.differs] == ["t", "d"]
    assert d.sentence == "By ▮."
    assert t.sentence == "Of … models ▮ is best."
    assert t.runs == {"one": {"value": 0.5}, "two": {"value": 0.7, "low": 0.6, "high": 0.8}}
    # an interval without an end is left out
    assert d.runs["one"] == {"value": 3.5, "low": 1, "high": 9}
    assert d.runs["two"] == {"value": 3.5}


@pytest.fixture(scope="module")
def shell():
    """`display` needs a shell; without one it prints."""
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def displayed(template, **values):
    """The outputs of a cell that displays a text."""
    with capture_output() as captured:
        report.text(template, **values)
    (output,) = captured.outputs
    return [new_output("display_data", output.data, metadata=output.metadata)]


@pytest.mark.usefixtures("shell")
def test_numbers_that_outputs_carry_are_compared():
    """With the sentence of their template; those of the summary are the main ones."""
    template = (
        "**All** of {n:,}: EM {gain}, $\\theta = {{2}}$. See `{errors[1]:.2f}` [there](a.md)."
    )

    def notebook(value, low):
        gain = report.comparison((value, low, 9.0, 3), "EM", "Winnow", unit="models", margin=0.1)
        text = displayed(template, n=7, gain=gain, errors=[0.5, float(value)], uncited=1)
        summary_text = displayed("- {lead_of_em}.", lead_of_em=gain)
        cells = [
            new_code_cell(outputs=text, id="text"),
            new_code_cell(outputs=summary_text, id="summary", metadata={"tags": ["summary"]}),
        ]
        return new_notebook(cells=cells)

    numbers = numbers_in({"one": notebook(1, 0.5), "two": notebook(2, 1)})
    sentences = {number.name: number.sentence for number in numbers}
    assert sentences == {
        "n": "All of ▮:",
        "gain": "EM ▮ models, θ = 2.",
        "errors[1]": "See ▮ there.",
        "lead_of_em": "lead of em: ▮ models.",
    }
    assert numbers[1].runs["two"] == {"value": 2, "low": 1, "high": 9}
    (main,) = main_numbers(numbers, [])
    assert (main.name, main.runs["two"]["value"]) == ("lead_of_em", 2)


@pytest.mark.usefixtures("shell")
def test_a_number_stays_the_same_where_the_first_sentence_is_another():
    """As where the claim on which it rests does not hold in one of the runs."""
    notebooks = {}
    for run, first in {"one": "EM wins.", "two": "The claim fails."}.items():
        outputs = displayed(f"{first}\n\nIt has {{error}} of errors.", error=len(first))
        notebooks[run] = new_notebook(cells=[new_code_cell(outputs=outputs, id="a")])
    (number,) = numbers_in(notebooks)
    assert number.runs == {"one": {"value": 8}, "two": {"value": 16}}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"It is $\theta \le \frac{1}{2}$ away", "It is θ ≤ 1/2 away"),
        (r"$P(\mathrm{x}_{ij} \mid \lambda)$", "P(x_ij | λ)"),
        (r"fewer than $-10^{-3} \times \log n$", "fewer than −10^−3 × log n"),
        ("`read()` is *so*, see [the page](x.md)", "read() is so, see the page"),
        ("{abbr}`T (a, b)` and {numref}`fig-a`", "T and fig-a"),
        ("2 * 3", "2 * 3"),
    ],
)
def test_a_page_of_a_sweep_has_no_markup(text, plain):
    assert plain_text(text) == plain


def runs_of(name, values):
    return [Job(str(value), "a", {}, Path("a.ipynb"), {name: value}) for value in values]


@pytest.mark.parametrize(
    ("name", "values", "places", "is_ordered"),
    [
        ("n", [10, 20, 50], [0, 0.25, 1], True),
        ("n", [[2], [3], [4]], [0, 0.5, 1], True),
        ("seed", [1, 2, 30], [0, 0.5, 1], False),
        ("learner", ["em", "tan", "elr"], [0, 0.5, 1], False),
        ("sizes", [[2, 3], [4], [5]], [0, 0.5, 1], False),
    ],
)
def test_only_numbers_with_an_order_are_joined_by_a_line(name, values, places, is_ordered):
    runs = runs_of(name, values)
    axis = axis_of(runs)
    assert list(axis.places.values()) == places
    number = Number("a", "", {run.name: {"value": 1.0} for run in runs})
    assert chart(number, axis)["is_line"] == is_ordered


def test_a_picture_has_room_for_its_intervals():
    runs = runs_of("n", [2, 4])
    estimates = {"2": {"value": 1, "low": -1, "high": 3}, "4": {"value": 2}}
    shapes = chart(Number("a", "", estimates), axis_of(runs))
    first, second = shapes["points"]
    assert [text for _, text in shapes["ticks"]] == ["−1", "3", "0"]
    places = {-1: first["low"], 0: shapes["zero"], 1: first["y"], 2: second["y"], 3: first["high"]}
    steps = [places[i] - places[i + 1] for i in (-1, 0, 1, 2)]
    assert steps == pytest.approx([27] * 4)  # upwards, in equal steps
    assert second["low"] == second["high"] == second["y"]


def test_too_little_data_is_neither_the_same_nor_different():
    verdicts = {
        "differs": ("holds", "fails", "too little data"),
        "one has too little": ("holds", "too little data", "holds"),
        "all have too little": ("too little data",) * 3,
        "undecided": ("undecided", "too imprecise", None),
        "same": ("holds", "holds", None),
        "once": ("holds", None, None),
    }
    rows = []
    for row in verdicts.values():
        settings = [verdict and {"verdict": verdict} for verdict in row]
        rows.append(dict(zip("abc", settings, strict=True)))
    assert summary(rows) == (
        "5 settings: 1 with different verdicts, 2 with too little data in some run, "
        "1 undecided in every run, 1 with the same verdict in every run; 1 more in one run only"
    )
    assert summary(rows[2:3]) == (
        "1 setting: 0 with different verdicts, 1 with too little data in some run"
    )
    assert summary([]) == "No claims"
