"""The page of a chapter: folds with names that say what they hold, parameters, references."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from lib.book.pages.arrangement import arrange
from lib.book.run.parameters import Parameter

PICTURE = new_output("display_data", {"image/png": "", "text/plain": "figure"})


def code(source, *outputs, tags=("hide-input",)):
    return new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)})


def prompt(cell):
    return cell.metadata["mystnb"]["code_prompt_show"]


def test_parameters_and_references_stand_at_the_end_and_neighbours_share_a_fold():
    cells = [
        new_markdown_cell("# Title\n\nText."),
        code("seed = 1", tags=["parameters"]),
        code("seed = 2", tags=["injected-parameters"]),
        code("import numpy"),
        code('def trial():\n    """Draw a model. And learn."""'),
        code("report.figure(axes)"),
        code("claim.test()"),
        new_markdown_cell("## Run it yourself\n\nSo.\n\n## References\n\nBooks."),
    ]
    parameters = {"seed": Parameter("seed", "int", 1, "of all", "0..")}
    title, text, fold, run, end, references = arrange(cells, parameters, {"seed": 2}, "as set")
    assert (title.source.strip(), text.source.strip()) == ("# Title", "Text.")
    assert fold.source.split("\n\n\n")[0] == "import numpy"
    assert fold.source.endswith("claim.test()")
    name = "Imports and settings; draw a model; how this figure is made; and more"
    assert prompt(fold) == name
    assert run.source.strip() == "## Run it yourself\n\nSo."
    assert "The values of this page (as set)" in end.source
    assert "| `seed` | `2` | of all | `int in [0..]` |" in end.source
    assert references.source == "## References\n\nBooks."


def test_output_keeps_folds_apart_and_a_fold_among_exercises_is_a_solution():
    cells = [
        new_markdown_cell("# Title"),
        code("draw()", PICTURE),
        code("x = 1"),
        code("report.table(sets)", tags=["hide-cell"]),
        new_markdown_cell("## Exercises\n\n**1.** Why?"),
        code("answer()", tags=["hide-cell"]),
    ]
    page = arrange(cells, {}, {}, "quick")
    assert [cell.source for cell in page if cell.cell_type == "code"] == [
        "draw()",
        "x = 1",
        "report.table(sets)",
        "answer()",
    ]
    assert [prompt(cell) for cell in page if cell.cell_type == "code"] == [
        "How this is computed",
        "How this is computed",
        "How this table is made",
        "Solution",
    ]
