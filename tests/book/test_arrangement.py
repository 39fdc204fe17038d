"""Pages show the picture and the finding first, and what they rest on below."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from lib.book.arrangement import arrange
from lib.book.parameters import Parameter
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
    title, lead, found, folded, run, _, end, references = arrange(
        cells, parameters, {"seed": 2}, "profile paper"
    )
    assert (title.source.strip(), found.source.strip()) == (
        "# Title\n\nText.",
        "**What we found.** A.",
    )
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
    claims = new_output(
        "display_data", {CLAIMS_JSON: [{"settings": [{"verdict": "too little data"}]}]}
    )
    cells = [new_markdown_cell("# Title"), code("draw()", PICTURE), code("table()", GLUED, claims)]
    title, small, *drawn, end = arrange(cells, {}, {}, "quick")
    assert "A small run: 1 of 1 settings" in small.source
    assert [cell.source for cell in drawn] == ["draw()", "table()"]
    assert "Claims" not in end.source


def test_what_a_run_did_not_find_is_left_out():
    table = glue_of("cuts", "```{table} Cuts\n:name: tbl-cuts\n```", "markdown")
    drawn, undrawn = code("draw()", PICTURE), code('table("tbl-cuts")\ntable("tbl-more")')
    for cell, name in ((drawn, "fig-a"), (undrawn, "fig-b")):
        cell.metadata["mystnb"]["figure"] = {"name": name}
    known = (
        "## Known\n\nIt is {glue:text}`lead:.2f`: {numref}`fig-a`, {numref}`our cuts <tbl-cuts>`, "
    )
    known += "{numref}`fig-else`."
    gone = [
        "Not {glue:text}`loss`, nor {glue:text}`endless`.",
        "See {numref}`fig-b`.",
        "{numref}`tbl-more`",
    ]
    gone += ["```{glue:md} bounds\n:format: myst\n```"]
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
        new_markdown_cell("\n\n".join([known, bare, *gone, items, formula])),
        new_markdown_cell("## Over a picture"),
        drawn,
        new_markdown_cell("## Over nothing\n\n### Nor this"),
        undrawn,
        new_markdown_cell("## References\n\nBooks."),
    ]
    told = [cell.source for cell in arrange(cells, {}, {}, "quick") if cell.cell_type == "markdown"]
    text = "\n\n".join(
        [known, "Bare: {glue:text}`lead`.", "- One, {glue:text}`lead`.\n- Three.", formula]
    )
    assert [told[0], *told[1:3], told[-1]] == [
        "# Title",
        text,
        "## Over a picture",
        "## References\n\nBooks.",
    ]
    assert not any("nothing" in text or "Nor this" in text for text in told)
