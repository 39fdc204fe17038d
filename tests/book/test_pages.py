"""The pages written by hand: what they name exists, and what they say of printed numbers is so."""

import re
from functools import cache

import nbformat
import pytest
from conftest import REPOSITORY

from lib.book.run.project import FINDING_CELL
from lib.datasets.papers import printed_table
from lib.experiments import elr_tables
from lib.experiments.elr_data import paper_table

CHAPTERS = REPOSITORY / "chapters"
CHAPTER_PATHS = [CHAPTERS / "choosing.ipynb", *sorted(CHAPTERS.glob("*/*.ipynb"))]
CHAPTER_IDS = [f"{path.parent.name}-{path.stem}" for path in CHAPTER_PATHS]
REFERENCE = CHAPTERS / "reference"


def terms() -> list[str]:
    text = (REFERENCE / "glossary.md").read_text(encoding="utf-8")
    body = text.split("```{glossary}\n")[1].split("```")[0]
    return [line for line in body.splitlines() if line and not line.startswith((" ", ":"))]


def roles(name: str, text: str) -> list[str]:
    """Return the targets of a role: ``{name}`target` `` or ``{name}`words <target>` ``."""
    contents = re.findall(rf"{{{name}}}`([^`]+)`", text.replace("\n", " "))
    return [content.split("<")[-1].rstrip(">") for content in contents]


@cache
def words_of(folder, pattern: str, files: str = "*.py") -> set[str]:
    words = set()
    for path in folder.rglob(files):
        words.update(re.findall(pattern, path.read_text(encoding="utf-8")))
    return words


# code, folds, comments, formulas and tables
ASIDE = re.compile(
    r"^(`{4,}).*?^\1$|^```.*?^```$|<details[^>]*>.*?</details>|<!--.*?-->|\$\$.*?\$\$|^\|[^\n]*$",
    re.DOTALL | re.MULTILINE,
)


def story_of(notebook) -> str:
    """Return what a reader reads: text and displayed sentences, up to the commands at the end."""
    passages = []
    for cell in notebook.cells:
        if cell.id == FINDING_CELL:
            continue  # which stands in the summary
        if cell.cell_type == "markdown":
            passages.append(cell.source)
        elif not {"hide-cell", "remove-cell"} & set(cell.metadata.get("tags", [])):
            for output in cell.outputs:
                if output.get("metadata", {}).get("report", {}).get("kind") == "text":
                    passages.append(output.data["text/markdown"])
    return ASIDE.sub("", "\n\n".join(passages)).partition("## Run it yourself")[0]


@pytest.mark.parametrize("path", CHAPTER_PATHS, ids=CHAPTER_IDS)
def test_a_chapter_is_read_in_ten_minutes(path):
    """1280 words take ten minutes at 128 a minute."""
    story = story_of(nbformat.read(path, as_version=4))
    words = [word for word in story.split() if re.search("[A-Za-z]", word)]
    assert 400 <= len(words) <= 1280


@pytest.mark.parametrize("path", CHAPTER_PATHS, ids=CHAPTER_IDS)
def test_every_figure_is_referred_to(path):
    figures = set()
    references = set()
    for cell in nbformat.read(path, as_version=4).cells:
        references.update(re.findall(r"\(#(fig-[\w-]+)\)", cell.source))
        if cell.cell_type == "code":
            figures.update(re.findall(r'\bname="(fig-[\w-]+)"', cell.source))
    assert figures - references == set()


@pytest.mark.parametrize("path", sorted(CHAPTERS.rglob("*.ipynb")), ids=lambda path: path.stem)
def test_no_page_shows_a_setting_as_python_writes_it(path):
    """A cell that ends with a test of a claim needs a semicolon."""
    cells = nbformat.read(path, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    texts = [output.get("data", {}).get("text/plain", "") for output in outputs]
    assert [text[:60] for text in texts if text.startswith(("Setting(", "Claim("))] == []


def test_no_term_is_explained_twice():
    assert len(terms()) >= 50
    assert len({term.lower() for term in terms()}) == len(terms())


@pytest.mark.parametrize("page", sorted(CHAPTERS.rglob("*.md")), ids=lambda page: page.stem)
def test_terms_are_in_the_glossary(page):
    explained = {term.lower() for term in terms()}
    references = roles("term", page.read_text(encoding="utf-8"))
    terms_of_page = {re.sub(r"\s+", " ", reference).lower() for reference in references}
    assert terms_of_page - explained == set()


@pytest.mark.parametrize("page", ["glossary", "errata"])
def test_places_that_are_named_are_in_a_chapter(page):
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    places = {*roles("numref", text), *roles("eq", text)}
    assert places
    assert places - words_of(CHAPTERS, r"[\w-]+", "*.ipynb") == set()


def test_names_of_symbols_are_in_the_code():
    text = (REFERENCE / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
    columns = [row.split(" | ")[2] for row in rows if row.count(" | ") == 3]
    word = r"[A-Za-z_]\w*"
    names = set()
    for code in re.findall(r"`([^`]+)`", "\n".join(columns)):
        names.update(re.findall(word, code))
    names -= {"True", "False"}
    assert len(names) > 40
    assert names - words_of(REPOSITORY / "lib", word) - words_of(CHAPTERS, word, "*.ipynb") == set()


def test_errata_three_bounds_of_appendix_d_are_not_above_the_value():
    """The appendix prints bounds, p < ...; the values are computed from the errors of table VI."""
    n_false_bounds = 0
    for test in elr_tables.paper_p_values("d").itertuples():
        better = f"{test.better_structure}+elr"
        worse = f"{test.worse_structure}+{test.worse_learner}"
        p = elr_tables.compare(elr_tables.paper_errors("vi"), better, worse)["p"]
        if not p < test.p:
            n_false_bounds += 1
    assert n_false_bounds == 3


def test_errata_em_and_apn_differ_in_10_of_25_data_sets():
    cells = elr_tables.paper_cells_wide("iv")
    assert (int((cells["naive+em"] != cells["naive+apn"]).sum()), len(cells)) == (10, 25)


def test_errata_30_cells_of_single_test_sets_have_no_spread():
    sizes = elr_tables.test_set_sizes("vi").query("folds == 1")
    cells = elr_tables.paper_cells("vi").query("dataset in @sizes.index")
    assert (len(cells), cells["se"].max()) == (30, 0)
    errors = elr_tables.binomial_error(cells["value"], cells["dataset"].map(sizes["n"]))
    assert (round(errors.min(), 1), round(errors.max(), 1)) == (0.4, 4.0)


def test_errata_heart_in_table_viii_is_the_cell_of_ofe():
    rows = "dataset == 'heart' and structure == 'naive'"
    (cell,) = paper_table("viii").query(f"{rows} and learner == 'elr'").itertuples()
    table_iii = paper_table("iii").query(rows).set_index("learner")
    assert (cell.value, cell.se) == tuple(table_iii.loc["ofe", ["value", "se"]])
    assert tuple(table_iii.loc["elr", ["value", "se"]]) == (78.52, 3.44)


def test_errata_the_svm_is_ahead_of_elr_where_they_say_so():
    cells = paper_table("viii").pivot(
        index="dataset", columns=["structure", "learner"], values="value"
    )
    elr = cells.xs("elr", axis=1, level="learner")
    svm = cells["", "svm"]
    assert (elr.loc["chess"] < svm["chess"]).all()
    assert elr.loc["glass2", "bic"] < svm["glass2"]


def test_errata_table_10_lacks_a_shard_of_class_1():
    tables = printed_table("atlas_confusion").query("table in [9, 10, 11]")
    shards = tables.groupby(["table", "actual"])["count"].sum().unstack()
    missing = shards.loc[9] - shards.loc[10]
    assert (shards.loc[9] == shards.loc[11]).all()
    assert missing.sum() == 1
    assert list(missing.index).index(missing.idxmax()) == 1


@pytest.mark.parametrize(
    ("dataset", "n_right", "n_test", "percent"), [("iris", 29, 30, 96.6), ("vote", 80, 87, 91.9)]
)
def test_errata_percentages_are_cut_off(dataset, n_right, n_test, percent):
    table = printed_table("atlas_accuracy").query("dataset == @dataset")
    assert percent in list(table["percent"])
    assert percent == int(1000 * n_right / n_test) / 10
    assert percent != round(100 * n_right / n_test, 1)


@pytest.mark.parametrize("path", CHAPTER_PATHS, ids=CHAPTER_IDS)
def test_what_a_reader_tries_is_one_visible_cell_of_ten_lines(path):
    cells = iter(nbformat.read(path, as_version=4).cells)
    if path.stem == "explorer":  # which is there to be asked
        return
    next(cell for cell in cells if cell.source.startswith("## Try it"))
    visible = []
    for cell in cells:
        if cell.source.startswith("## "):
            break
        if cell.cell_type == "code" and "hide-input" not in cell.metadata.get("tags", []):
            visible.append(cell)
    assert len(visible) == 1
    assert len(visible[0].source.splitlines()) <= 10
