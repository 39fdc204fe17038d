"""The pages written by hand: what they name exists, and what they say of printed numbers is so."""

import json
import re
from functools import cache

import nbformat
import pytest
import yaml
from conftest import REPOSITORY

from lib.datasets.papers import printed_table
from lib.experiments import elr_tables
from lib.experiments.elr_data import paper_table

CHAPTERS = REPOSITORY / "chapters"
REFERENCE = CHAPTERS / "reference"
CHANGE = re.compile(r"- from ([\w ]+?) to ([\w ]+): (.*?)[;.]\n", re.DOTALL)


def terms() -> list[str]:
    body = (
        (REFERENCE / "glossary.md")
        .read_text(encoding="utf-8")
        .split("```{glossary}\n")[1]
        .split("```")[0]
    )
    return [line for line in body.splitlines() if line and not line.startswith((" ", ":"))]


def roles(name: str, text: str) -> list[str]:
    """Return the targets of a role: ``{name}`target` `` or ``{name}`words <target>` ``."""
    return [
        found.split("<")[-1].rstrip(">")
        for found in re.findall(rf"{{{name}}}`([^`]+)`", text.replace("\n", " "))
    ]


@cache
def words_of(folder, pattern: str, files: str = "*.py") -> set[str]:
    return {
        word
        for path in folder.rglob(files)
        for word in re.findall(pattern, path.read_text(encoding="utf-8"))
    }


# Folds, code, formulas, tables; glued values and references, each with its words.
ASIDE = re.compile(
    r"^(`{4,}).*?^\1$|^```.*?^```$|\$\$.*?\$\$|^\|[^\n]*$|\{[\w:]+\}`[^`]*`",
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize(
    "path", sorted(CHAPTERS.glob("*/*.ipynb")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_chapter_is_read_in_ten_minutes(path):
    cells = nbformat.read(path, as_version=4).cells
    story = ASIDE.sub(
        "", "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    )
    assert 700 <= sum(bool(re.search("[A-Za-z]", word)) for word in story.split()) <= 1270


def test_no_term_is_explained_twice():
    assert len(terms()) >= 50
    assert len({term.lower() for term in terms()}) == len(terms())


@pytest.mark.parametrize("page", sorted(CHAPTERS.rglob("*.md")), ids=lambda page: page.stem)
def test_terms_are_in_the_glossary(page):
    known = {term.lower() for term in terms()}
    asked = [
        re.sub(r"\s+", " ", term).lower()
        for term in roles("term", page.read_text(encoding="utf-8"))
    ]
    assert [term for term in asked if term not in known] == []


@pytest.mark.parametrize("page", ["glossary", "notation", "errata"])
def test_places_that_are_named_are_in_a_chapter(page):
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    places = {*roles("numref", text), *roles("eq", text)}
    assert places
    assert places - words_of(CHAPTERS, r"[\w-]+", "*.ipynb") == set()


def test_names_in_the_notation_are_in_the_code():
    rows = re.findall(
        r"^\|(.*)\|$", (REFERENCE / "notation.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    columns = [row.split(" | ")[2] for row in rows if row.count(" | ") == 3]
    code = {name for column in columns for name in re.findall(r"`([^`]+)`", column)}
    names = {name for text in code for name in re.findall(r"[A-Za-z_]\w*", text)} - {
        "True",
        "False",
    }
    assert len(names) > 40
    word = r"[A-Za-z_]\w*"
    assert names - words_of(REPOSITORY / "lib", word) - words_of(CHAPTERS, word, "*.ipynb") == set()


def test_the_newest_change_of_a_verdict_is_the_recorded_one():
    text = (REFERENCE / "changelog.md").read_text(encoding="utf-8")
    recorded = yaml.safe_load((CHAPTERS / "verdicts.yml").read_text(encoding="utf-8"))
    newest = {}
    for before, after, ids in CHANGE.findall(text):
        for claim in re.findall(r"`([^`]+)`", ids):
            newest.setdefault(claim, (before, after))
    assert len(newest) >= 15
    assert {id: after for id, (_, after) in newest.items() if id in recorded} == {
        id: recorded[id] for id in newest if id in recorded
    }


def test_errata_three_bounds_of_appendix_d_are_not_above_the_value():
    below = []
    for test in elr_tables.paper_p_values("d").itertuples():
        pair = f"{test.better_structure}+elr", f"{test.worse_structure}+{test.worse_learner}"
        below.append(elr_tables.compare(elr_tables.paper_errors("vi"), *pair)["p"] < test.p)
    assert below.count(False) == 3


def test_errata_heart_in_table_viii_is_the_cell_of_ofe():
    cell = paper_table("viii").query(
        "dataset == 'heart' and structure == 'naive' and learner == 'elr'"
    )
    third = (
        paper_table("iii").query("dataset == 'heart' and structure == 'naive'").set_index("learner")
    )
    assert (cell["value"].item(), cell["se"].item()) == tuple(third.loc["ofe", ["value", "se"]])
    assert (third.loc["elr", "value"], third.loc["elr", "se"]) == (78.52, 3.44)


def test_errata_the_svm_is_ahead_of_elr_where_they_say_so():
    cells = paper_table("viii").pivot(
        index="dataset", columns=["structure", "learner"], values="value"
    )
    elr, svm = cells.xs("elr", axis=1, level="learner"), cells["", "svm"]
    assert (elr.loc["chess"] < svm["chess"]).all()
    assert elr.loc["glass2", "bic"] < svm["glass2"]


def test_errata_table_10_lacks_a_shard_of_class_1():
    tables = printed_table("atlas_confusion").query("table in [9, 10, 11]")
    tables = tables.groupby(["table", "actual"])["count"].sum().unstack()
    missing = tables.loc[9] - tables.loc[10]
    assert (tables.loc[9] == tables.loc[11]).all()
    assert missing.sum() == 1
    assert list(missing.index).index(missing.idxmax()) == 1


@pytest.mark.parametrize(
    ("dataset", "right", "of", "percent"), [("iris", 29, 30, 96.6), ("vote", 80, 87, 91.9)]
)
def test_errata_percentages_are_cut_off(dataset, right, of, percent):
    assert percent in list(printed_table("atlas_accuracy").query("dataset == @dataset")["percent"])
    assert int(1000 * right / of) / 10 == percent != round(100 * right / of, 1)


def test_a_figure_is_all_that_its_cell_shows():
    """A cell with a caption that ends with a value, such as a legend, would have two outputs of one name."""
    for path in CHAPTERS.rglob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name")
            shown = [
                output
                for output in cell.get("outputs", [])
                if "scrapbook" not in output.get("metadata", {})
            ]
            assert len(shown) <= 1 or not name, f"{path}: {name}"
