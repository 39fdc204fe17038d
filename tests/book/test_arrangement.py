"""Pages show the picture and the finding first, and what they rest on below."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from lib.book.arrangement import arrange
from lib.book.parameters import Parameter

GLUED = new_output("display_data", {"application/papermill.record/text/plain": "3"})
PICTURE = new_output("display_data", {"image/png": "", "text/plain": "figure"})


def code(source, *outputs, tags=("hide-input",), prompt="Code"):
    metadata = {"tags": list(tags), "mystnb": {"code_prompt_show": prompt}}
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def test_a_chapter_is_arranged():
    cells = [
        new_markdown_cell("# Title\n\nText.\n\n**What we found.** A.\n\n```{glue:md} verdicts\n```"),
        code("seed = 1", tags=["parameters"]),
        code("seed = 2", tags=["injected-parameters"]),
        code("import numpy"),
        code("def trial(): ...", GLUED, prompt="The experiment"),
        code("draw()", GLUED, PICTURE, tags=["hide-input", "lead"], prompt="How this figure is made"),
        code("test()", prompt="How the claim is tested"),
        new_markdown_cell("## With seed one", metadata={"tags": ["if seed == 1"]}),
        new_markdown_cell("## Run it yourself\n\nSo.\n\n## References\n\nBooks."),
        code("verdicts", tags=["remove-cell", "hide-input"]),
    ]
    parameters = {"seed": Parameter("seed", "int", 1, "of all", "0..")}
    title, lead, found, folded, run, _, end, references = arrange(cells, parameters, {"seed": 2}, "profile paper")
    assert (title.source.strip(), found.source.strip()) == ("# Title\n\nText.", "**What we found.** A.")
    assert (lead.metadata["tags"], lead.outputs) == (["remove-input"], [PICTURE])
    assert folded.source == "import numpy\n\n\ndef trial(): ...\n\n\ndraw()\n\n\ntest()"
    assert folded.outputs == [GLUED, GLUED]
    shown = "Code; the experiment; how this figure is made; how the claim is tested"
    assert folded.metadata["mystnb"]["code_prompt_show"] == shown
    assert run.source.strip() == "## Run it yourself\n\nSo."
    assert "{glue:md} verdicts" in end.source
    assert "| `seed` | `2` | of all | `int in [0..]` |" in end.source
    assert references.source == "## References\n\nBooks."


def test_a_picture_keeps_cells_apart_and_little_is_needed():
    cells = [new_markdown_cell("# Title"), code("draw()", PICTURE), code("table()", GLUED)]
    title, *drawn, end = arrange(cells, {}, {}, "quick")
    assert [cell.source for cell in drawn] == ["draw()", "table()"]
    assert "Claims" not in end.source
