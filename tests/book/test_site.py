"""The built pages: complete, true to their sources, and silent on the network."""

import re
from base64 import b64encode

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import book, make_project
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lib.book import quick
from lib.book.pages import site
from lib.book.pages.directives import picture_of, write_picture
from lib.book.run import remote_data
from lib.book.run.keys import code_digests
from lib.book.run.project import BookError
from lib.book.verdicts import chapter_claims
from lib.claims import CLAIMS_JSON

HOSTILE = "`</code></div><script>alert(1)</script>` {glue:text}`n` \"'\n``` $x$"


def outside_requests(folder):
    """Return what the pages and style sheets below `folder` would fetch from elsewhere."""
    requests = []
    for page in folder.rglob("*.html"):
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        addresses = [tag["src"] for tag in soup.find_all(src=True)]
        addresses += [tag["href"] for tag in soup.find_all("link")]
        for address in addresses:
            if re.match(r"(https?:)?//", address):
                requests.append((page.name, address))
    for sheet in folder.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8", errors="replace")
        addresses = re.findall(r"(?:url\(|@import )\s*[\"']?((?:https?:)?//[^\"')]+)", text)
        requests += [(sheet.name, address) for address in addresses]
    return requests


def claim(*verdicts, id="a-claim"):
    """Return a claim whose settings, a, b, ..., have these verdicts."""
    settings = []
    for setting_id, verdict in zip("abc", verdicts, strict=False):
        setting = {
            "id": setting_id,
            "verdict": verdict,
            "statistic": "mean",
            "value": 1.0,
            "low": 0.5,
            "high": 1.5,
            "n": 3,
            "unit": "models",
            "least": 1,
            "region": [0, None],
            "margin": 0.1,
            "rerun_chance": 0.9,
            "is_drawn": True,
            "deciding": "",
        }
        settings.append(setting)
    fields = {"paper": "groveroth1997", "sentence": "So.", "kind": "", "primary": "a"}
    return {"id": id, **fields, "settings": settings}


def test_a_strict_build_gives_complete_pages(built_project):
    """One build of the pages, and everything that can be read from them."""
    project = built_project
    html = project.build_folder("quick") / "html"
    assert (html / "index.html").exists()
    assert outside_requests(html) == []
    chapter = (html / "chapters" / "cia" / "curves.html").read_text()
    assert "verdict-holds" in chapter
    assert re.search(r'<img[^>]*src="[^"]*\.svg"', chapter)
    assert "the quick scale of the tests" in chapter
    assert "print.css" not in chapter  # which is the PDF's
    assert "<code" in chapter[chapter.index("How this page was made") :]
    for href in re.findall(r'href="([^"]*\.ipynb)"', chapter):
        downloaded = (html / "chapters" / "cia" / href).read_text()
        assert "image/png" in downloaded
        assert "How this page was made" in downloaded
    scorecard = (html / "chapters" / "scorecard.html").read_text()
    assert "<em>quick</em> profile" in scorecard
    assert "There are 2 sentences of papers, tested in 2 settings" in scorecard
    assert "Grove and Roth, 1997" in scorecard
    assert 'href="cia/curves.html#fig-line"' in scorecard
    assert "3 [0.5, 5.5], n = 3" in scorecard.replace("\N{NO-BREAK SPACE}", " ")
    assert all((html / "chapters" / f"claims.{kind}").exists() for kind in ("json", "csv"))
    assert "holds            positive: 3" in book(project, "claims", "--profile", "quick").output


def test_values_are_in_the_table_of_parameters_and_in_the_download(project, tmp_path):
    options = ["-p", "n_models", "4", "-p", "title", HOSTILE]
    output = tmp_path / "mine.ipynb"
    result = book(project, "run", "cia/curves", *options, "-o", str(output), "--html")
    assert result.exit_code == 0, result.output
    page = tmp_path / "mine-html" / "html" / "chapters" / "cia" / "curves.html"
    assert str(page) in result.output
    text = page.read_text()
    assert "4 [1.5, 6.5]" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "<script>alert" not in text
    assert 'href="../references.html#' in text
    assert "xref myst" not in text  # a reference that leads nowhere
    end_of_page = text[text.index("The values of this page (parameters of its own)") :]
    table = BeautifulSoup(end_of_page, "html.parser")
    values = {row.td.text: row.find_all("td")[1].text for row in table.find_all("tr") if row.td}
    assert values["n_models"] == "4"
    assert values["title"] == repr(HOSTILE)
    assert values["learner"] == "'em'"
    (link,) = table.select(".provenance a[href$=ipynb]")
    assert "n_models = 4" in (page.parent / link["href"]).read_text()


def test_a_warning_fails_a_strict_build(tmp_path):
    project = make_project(tmp_path / "warns")
    (project.root / "_toc.yml").write_text("format: jb-book\nroot: chapters/intro\n")
    (project.root / "chapters" / "intro.md").write_text("# Introduction\n\nSee {ref}`nowhere`.\n")
    with pytest.raises(BookError, match="nowhere"):
        site.build_site(project, "quick", strict=True)
    assert not (project.build_folder("quick") / "html").exists()


@pytest.mark.parametrize(
    ("claims", "line"),
    [
        ([claim("holds")], None),
        ([claim("fails")], "a: recorded holds, found fails"),
        ([], "a: recorded holds, found no such setting"),
        # a setting that does not decide
        ([claim("holds", "fails")], None),
        ([claim("holds") | {"kind": "table"}], "a: recorded holds, found no such setting"),
    ],
)
def test_drift_names_what_changed(project, claims, line):
    chapter_claims.write_verdicts(project, [claim("holds")])
    if line is None:
        chapter_claims.require_same_verdicts(project, claims)
        return
    with pytest.raises(BookError, match=line) as error:
        chapter_claims.require_same_verdicts(project, claims)
    assert "book claims --record" in error.value.message


def test_no_verdict_is_to_be_recorded_where_data_are_missing(project, monkeypatch):
    monkeypatch.setattr(
        remote_data,
        "remote_data_status",
        lambda *_: {"cleve": ("not available", ""), "crx": ("cached", "")},
    )
    chapter_claims.write_verdicts(project, [claim("holds")])
    with pytest.raises(
        BookError, match="recorded holds, found fails\n.*as long as cleve cannot be had"
    ) as error:
        chapter_claims.require_same_verdicts(project, [claim("fails")])
    assert "--record" not in error.value.message


def test_publish_stores_the_outputs_of_the_defaults(project):
    result = book(project, "publish", "cia/curves")
    assert result.exit_code == 0, result.output
    notebook = nbformat.read(project.notebook("cia/curves"), as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    kinds = []
    for cell in code:
        for output in cell.outputs:
            kinds += output.get("data", {})
    assert [kind for kind in kinds if "image" in kind] == ["image/png"]  # and no SVG
    assert not any("injected-parameters" in cell.metadata.get("tags", []) for cell in code)
    assert notebook.metadata["published"]["code"] == code_digests(project, "cia/curves")["code"]
    # nothing has changed: what was published is what a build makes
    result = book(project, "build")
    assert result.exit_code == 0, result.output
    assert "cia/curves: reused" in result.output
    assert "1 of 1 verdicts are as published" in result.output


def test_refresh_stores_the_outputs_of_the_quick_run_for_nbval(project):
    (project.root / "tests" / "quick.yml").write_text("cia/curves: {n_models: 9}\n")
    published = project.notebook("cia/curves").read_bytes()
    result = book(project, "refresh", "cia/curves")
    assert result.exit_code == 0, result.output
    assert project.notebook("cia/curves").read_bytes() == published
    notebook = quick.quick_notebook(project, "cia/curves")
    parameters, injected, *others = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert "n_models: int = 3" in parameters.source
    assert injected.source == "n_models = 9"
    (claims,) = [
        output.data[CLAIMS_JSON]
        for cell in others
        for output in cell.outputs
        if CLAIMS_JSON in output.get("data", {})
    ]
    assert claims[0]["settings"][0]["n"] == 9


def test_a_figure_of_another_page_is_found_and_written(tmp_path):
    pictures = {"image/svg+xml": "<svg/>", "image/png": b64encode(b"of points").decode()}
    metadata = {"report": {"kind": "figure", "name": "fig-points"}}
    cells = [new_code_cell("", outputs=[new_output("display_data", pictures, metadata=metadata)])]
    picture = picture_of(cells, "fig-points")
    assert picture == pictures
    with pytest.raises(KeyError, match="another"):
        picture_of(cells, "another")
    assert write_picture(picture, tmp_path / "a").read_text() == "<svg/>"
    del picture["image/svg+xml"]
    assert write_picture(picture, tmp_path / "a").name == "a.png"
    assert (tmp_path / "a.png").read_text() == "of points"


def test_one_id_in_two_chapters_is_an_error(project):
    path = project.executed("quick", "cia/curves")
    path.parent.mkdir(parents=True)
    messages = {
        "a-claim": "claims with the same id: a-claim",
        "b-claim": "settings with the same id: a",
    }
    for id, message in messages.items():
        first_output = new_output("display_data", data={CLAIMS_JSON: [claim("holds")]})
        second_output = new_output("display_data", data={CLAIMS_JSON: [claim("fails", id=id)]})
        outputs = [first_output, second_output]
        nbformat.write(new_notebook(cells=[new_code_cell("", outputs=outputs)]), path)
        with pytest.raises(BookError, match=message):
            chapter_claims.read_claims(project, "quick")
