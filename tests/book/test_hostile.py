"""Values and names that would be code, markup or formulas stay text in notebooks and on pages."""

import json
import re
import time
from dataclasses import replace
from html import escape

import nbformat
import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import REPOSITORY, book, book_with, render_myst
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lib.book.pages import reference, scorecard
from lib.book.rendering import range_plot, render
from lib.book.run.execution import normalise
from lib.book.run.jobs import Job, write_parameters
from lib.book.run.parameters import Parameter, check_values, load_yaml, parse_cell
from lib.book.sweep.page import comparison_page, rows_by_setting
from lib.book.verdicts.chapter_claims import settings_of
from lib.claims import Claims, code, literal, markdown_table
from lib.figures.themes import colour_variants

MARKUP = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</style><script>alert(1)</script>",
    "]]> <!-- --> <?php",
    "[x](javascript:alert(1)) <javascript:alert(1)> ![x](y) [a][b] [a]{.b} [^1]",
    '```{raw} html` <b title="x">',
    "`code` ``more`` {glue:text}`x` {{ x }} {% x %}",
    "$x$ $$y$$ \\begin{equation} \\(z\\)",
    "*a* _b_ **c** __d__ x_y_z ~~e~~ P_0",
    "&lt;b&gt; &#60; & &amp;amp;",
    "a | b \\| c \\",
]
TEXTS = [
    *MARKUP,
    "'); import os; os.system('touch made'); print('",
    '"""', "'''", "\\", "a\nb", "a\r\nb", "a\u2028 b", "a\x85b", "\0", "\x7f\x1b[31m", "#", "%time",
    "!touch made", "{title} {0} {self.__class__}", "1e-3", "null", "é λ 😀", " ",
    "\u202ea", "x" * 10_000,
]  # fmt: skip
SIGNS = st.text(st.sampled_from("ab1 \\`*_{}[]()<>#+-.!|$~&;:^=/\"'%@?λ−"), min_size=1).filter(
    str.strip
)
DANGEROUS = {"script", "img", "svg", "iframe", "object", "b", "em", "strong", "code", "math", "a"}


def is_harmless(page, allowed):
    """Whether a page has no dangerous elements but those allowed, and no scripts in attributes."""
    for tag in page.find_all():
        if tag.name in DANGEROUS - allowed:
            return False
        for name, value in tag.attrs.items():
            if name.startswith("on") or str(value).strip().startswith("javascript:"):
                return False
    return True


def claims_of(text):
    verdicts = Claims("groveroth1997")
    claim = verdicts.claim("a-claim", text, quote=text, data=text)
    claim.test(
        "a-setting",
        text,
        statistic=text,
        paper_value=text,
        estimate=(1.0, 0.5, 1.5, 3),
        region=(0, 2),
    )
    return verdicts


def claim_of(text):
    return {"chapter": "cia/curves", **next(iter(claims_of(text))).to_dict("groveroth1997")}


def sweep_of(text, project, monkeypatch):
    run = Job(
        name=text,
        chapter=text,
        overrides={"title": text, "other": text},
        notebook=project.root / "a.ipynb",
        swept={"title": text},
        status="FAILED",
        seconds=1.0,
        message=text,
    )
    settings = settings_of([claim_of(text)])
    others = [{**setting, "verdict": "fails"} for setting in settings]
    page = comparison_page(
        folder=project.root,
        chapter=text,
        runs=[run, replace(run, name="other")],
        rows=rows_by_setting({text: settings, "other": others}),
        commits={text: text},
        words=text,
    )
    return page.partition("<body>")[2]


def scorecard_of(text, project, monkeypatch):
    page = scorecard.scorecard(book_with(project, [claim_of(text)]))
    return render_myst(page.replace('<script src="../_static/scorecard.js" defer></script>', ""))


def data_sets_of(text, project, monkeypatch):
    entry = {"files": "a.data", "unconfirmed": ""}
    for field in ("name", "title", "licence", "citation", "changes", "doi", "address"):
        entry[field] = text
    for field in ("rows", "attributes", "classes", "missing"):
        entry[field] = 3
    rows = [{**entry, "kind": kind} for kind in ("uci", "excluded", "synthetic")]
    pd.DataFrame(rows).to_csv(project.root / "data" / "manifest.csv", index=False)
    page = reference.data_sets(book_with(project, []))
    return render_myst(re.sub("^:::.*", "", page, flags=re.MULTILINE))


def parameters_of(text, project, monkeypatch):
    parameter = Parameter("title", "str", "", meaning=text)
    page = render(
        "chapter_end.md",
        parameters={"title": parameter},
        values={"title": 1},
        scale="",
        claims="",
    )
    return render_myst(re.sub("^````.*", "", page, flags=re.MULTILINE))


# What makes a page of a text, and the dangerous elements that the page has of its own.
PAGES = {
    sweep_of: {"svg", "a", "code", "b", "strong"},
    scorecard_of: {"svg", "a", "b", "em", "strong"},
    data_sets_of: {"code", "a"},
    parameters_of: {"code"},
}


@pytest.mark.parametrize("text", MARKUP)
@pytest.mark.parametrize("make", PAGES)
def test_a_page_shows_text_as_it_is(make, text, project, monkeypatch):
    page = BeautifulSoup(make(text, project, monkeypatch), "html.parser")
    assert is_harmless(page, PAGES[make])
    assert " ".join(text.split()) in " ".join(page.text.split())


@given(SIGNS)
def test_text_and_code_in_a_table_are_shown_as_they_are(text):
    for words, cell in ((text, literal(text)), (repr(text), code(repr(text)))):
        page = BeautifulSoup(render_myst(markdown_table(("Head",), [(cell,)])), "html.parser")
        cell_text = page.text.partition("Head")[2]
        assert cell_text.split() == words.split()  # HTML keeps no more of spaces
        assert is_harmless(page, {"code"})


def test_a_verdict_and_a_style_cannot_end_their_element():
    setting = {"value": 1.0, "low": 0.5, "high": 1.5, "region": (0, 2), "margin": 0}
    setting["verdict"] = '"><script>'
    assert "<script" not in range_plot(setting)
    style = escape("fill: #ffffff; font: </style><script>x</script>")
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt"><!-- Matplotlib -->'
    for variant in colour_variants(f'{head}<path style="{style}"/></svg>').values():
        assert "<script" not in variant
        assert "font:" in variant


def test_the_scripts_of_the_pages_make_no_markup_of_text():
    for script in (REPOSITORY / "assets").glob("*.js"):
        text = script.read_text(encoding="utf-8")
        for unsafe in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            assert unsafe not in text, script


@given(st.text() | st.sampled_from(TEXTS))
def test_a_text_reaches_a_run_as_it_is(tmp_path_factory, value):
    folder = tmp_path_factory.getbasetemp() / "run"
    job = Job("a", "a", {"title": value, "names": [value]}, folder / "a.ipynb")
    write_parameters(job)
    assert load_yaml(job.parameters.read_text(encoding="utf-8")) == job.overrides
    parameters = parse_cell('title: str = ""')
    assert check_values(parameters, {"title": parameters["title"].parse(value)}) == {"title": value}


# each list holds the one before it ten times: 10^29 words if anybody writes them out
BOMB = "a0: &a0 [x]\n"
for i in range(1, 30):
    references = ", ".join([f"*a{i - 1}"] * 10)
    BOMB += f"a{i}: &a{i} [{references}]\n"
BAD_FILES = {
    "python object": "title: !!python/object/apply:os.system ['touch made']",
    "own tag": "title: !x y",
    "laughs": BOMB + "sizes: *a29\n",
    "endless": "sizes: &a [*a]",
    "deep": "sizes: " + "[" * 2_000,
    "number as name": "1: 2",
    "list as name": "? [a, b]\n: 2",
    "code as name": '"seed = 1; import os": 1',
    "no mapping": "- title",
    "huge number": f"seed: {'9' * 5000}",
    "huge hexadecimal": f"limit: 0x{'f' * 5000}",
    "time": "seed: 1:30:00",
    "octal": "seed: 010",
    "yes": "seed: yes",
    "no such character": 'title: "\\ud800"',
}


@pytest.mark.parametrize("text", BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_of_parameters_is_data_or_an_error(project, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yml").write_text(text)
    start = time.monotonic()
    result = book(project, "run", "cia/curves", "-f", "p.yml")
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert len(result.output) < 10_000
    assert time.monotonic() - start < 10
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["p.yml"]
    assert not (project.root / "_build").exists()


def test_long_words_in_an_output_take_no_longer_than_short_ones():
    outputs = [new_output("stream", name="stdout", text=word * 200_000) for word in ("x ", "x")]
    start = time.monotonic()
    normalise(new_notebook(cells=[new_code_cell("", outputs=outputs)]))
    assert time.monotonic() - start < 3


def test_hostile_values_arrive_as_the_same_texts(project, tmp_path):
    lines = ['title: str = "a"  # a text', 'names: list[str] = ["a"]  # texts']
    path = project.notebook("cia/curves")
    notebook = nbformat.read(path, as_version=4)
    parameters = new_code_cell("\n".join(lines), metadata={"tags": ["parameters"]})
    printing = new_code_cell('import json\nprint("GOT" + json.dumps([title, names]))')
    notebook.cells = [parameters, printing]
    nbformat.write(notebook, path)
    file = tmp_path / "p.yml"
    file.write_text(yaml.safe_dump({"names": TEXTS}, default_style='"'))
    output = tmp_path / "{title} `made`.ipynb"
    result = book(
        project, "run", "cia/curves", "-f", file, "-p", "title", "".join(TEXTS), "-o", output
    )
    assert result.exit_code == 0, result.output
    outputs = []
    for cell in nbformat.read(output, as_version=4).cells:
        outputs += cell.get("outputs", [])
    (stream,) = outputs
    assert json.loads(stream.text.removeprefix("GOT")) == ["".join(TEXTS), TEXTS]
    assert not list(project.root.rglob("made"))
