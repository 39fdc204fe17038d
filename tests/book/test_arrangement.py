"""Pages show the picture and the finding first, and what they rest on below."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from lib.book.pages.arrangement import arrange
from lib.book.run.parameters import Parameter
from lib.claims import CLAIMS_JSON


def glue_of(name, text, kind="plain"):
    data = {f"application/papermill.record/text/{kind}": text}
    return new_output("display_data", data, metadata={"scrapbook": {"name": name}})


GLUED = glue_of("verdicts", "3")
PICTURE = new_output("display_data", {"image/png": "", "text/plain": "figure"})


def code(source, *outputs, tags=("hide-input",), prompt="Code"):
    metadata = {"tags": list(tags), "mystnb": {"code_prompt_show": prompt}}
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def test_a_chapter_is_arranged():
    cells = [
        new_markdown_cell(
            "# Title\n\nText.\n\n**What we found.** A.\n\n```{glue:md} verdicts\n```"
        ),
        code("seed = 1", tags=["parameters"]),
        code("seed = 2", tags=["injected-parameters"]),
        code("import numpy"),
        code("def trial(): ...", GLUED, prompt="The experiment"),
        code(
            "draw()", GLUED, PICTURE, tags=["hide-input", "lead"], prompt="How this figure is made"
        ),
        code("test()", prompt="How the claim is tested"),
        new_markdown_cell("## With seed one", metadata={"tags": ["if seed == 1"]}),
        new_markdown_cell("## Run it yourself\n\nSo.\n\n## References\n\nBooks."),
        code("verdicts", tags=["remove-cell", "hide-input"]),
    ]
    parameters = {"seed": Parameter("seed", "int", 1, "of all", "0..")}
    title, lead, finding, code_fold, run, _, end, references = arrange(
        cells, parameters, {"seed": 2}, "profile paper"
    )
    # the text of the first cell is cut at the finding, and the picture stands between
    assert title.source.strip() == "# Title\n\nText."
    assert finding.source.strip() == "**What we found.** A."
    assert lead.metadata["tags"] == ["remove-input"]
    assert lead.outputs == [PICTURE]
    assert code_fold.source == "import numpy\n\n\ndef trial(): ...\n\n\ndraw()\n\n\ntest()"
    assert code_fold.outputs == [GLUED, GLUED]
    prompt = "Imports and settings; the experiment; how this figure is made; and more"
    assert code_fold.metadata["mystnb"]["code_prompt_show"] == prompt
    assert run.source.strip() == "## Run it yourself\n\nSo."
    assert "{glue:md} verdicts" in end.source
    assert "| `seed` | `2` | of all | `int in [0..]` |" in end.source
    assert references.source == "## References\n\nBooks."


def test_a_picture_keeps_cells_apart_and_little_is_needed():
    claims = new_output(
        "display_data", {CLAIMS_JSON: [{"settings": [{"verdict": "too little data"}]}]}
    )
    cells = [new_markdown_cell("# Title"), code("draw()", PICTURE), code("table()", GLUED, claims)]
    title, warning, *code_cells, end = arrange(cells, {}, {}, "quick")
    assert "A small run: 1 of 1 settings" in warning.source
    assert [cell.source for cell in code_cells] == ["draw()", "table()"]
    assert "Claims" not in end.source


def test_what_a_run_did_not_find_is_left_out():
    table = glue_of("cuts", "```{table} Cuts\n:name: tbl-cuts\n```", "markdown")
    with_figure = code("draw()", PICTURE)
    with_figure.metadata["mystnb"]["figure"] = {"name": "fig-a"}
    without_figure = code('table("tbl-cuts")\ntable("tbl-more")')
    without_figure.metadata["mystnb"]["figure"] = {"name": "fig-b"}
    complete = (
        "## Known\n\nIt is {glue:text}`lead:.2f`: {numref}`fig-a`, "
        "{numref}`our cuts <tbl-cuts>`, {numref}`fig-else`."
    )
    incomplete = [
        "Not {glue:text}`loss`, nor {glue:text}`endless`.",
        "See {numref}`fig-b`.",
        "{numref}`tbl-more`",
        "```{glue:md} bounds\n:format: myst\n```",
    ]
    bare = "Bare: {glue:text}`lead` [{glue:text}`endless:.1f`, {glue:text}`lead`]."
    items = "- One, {glue:text}`lead`.\n- Two, {glue:text}`loss`.\n- Three."
    formula = "$$\nx\n\n= y\n$$"
    cells = [
        new_markdown_cell("# Title"),
        code(
            "glue()",
            glue_of("lead", "0.25"),
            glue_of("loss", "'nan [nan, nan]'"),
            glue_of("endless", "-inf"),
            table,
        ),
        new_markdown_cell("\n\n".join([complete, bare, *incomplete, items, formula])),
        new_markdown_cell("## Over a picture"),
        with_figure,
        new_markdown_cell("## Over nothing\n\n### Nor this"),
        without_figure,
        new_markdown_cell("## References\n\nBooks."),
    ]
    arranged = arrange(cells, {}, {}, "quick")
    texts = [cell.source for cell in arranged if cell.cell_type == "markdown"]
    # an interval without its ends goes, and of a list the item without its number
    bare_number = "Bare: {glue:text}`lead`."
    two_items = "- One, {glue:text}`lead`.\n- Three."
    assert texts[0] == "# Title"
    assert texts[1] == "\n\n".join([complete, bare_number, two_items, formula])
    assert texts[2] == "## Over a picture"
    assert texts[-1] == "## References\n\nBooks."
    assert not any("nothing" in text or "Nor this" in text for text in texts)
