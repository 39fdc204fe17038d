"""Values and names that would be code, markup or formulas: they stay text in notebooks, pages and figures."""

import ast
import io
import json
import re
import time
from html import escape
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from click.testing import CliRunner
from conftest import REPOSITORY
from docutils.core import publish_string
from hypothesis import given
from hypothesis import strategies as st
from myst_parser.parsers.docutils_ import Parser
from nbformat.v4 import new_code_cell, new_notebook, new_output
from papermill.translators import PythonTranslator

from lib import figures
from lib.book import finish, reference, site, svg, sweep, sweep_page, volume
from lib.book.cli import cli
from lib.book.execution import normalise
from lib.book.parameters import load_yaml, parse_cell, resolve
from lib.book.range_plot import range_plot
from lib.claims import Claims, code, literal, markdown_table
from lib.figures import comparison

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
    "__import__('os').system('touch made')",
    '"""', "'''", "'\"", "\\", "\\\\'", "a\nb", "a\rb", "a\r\nb", "a\u2028 b", "a\x85b", "\0", "\x7f\x1b[31m",
    "#", "%time",
    "!touch made", "{title} {0} {self.__class__}", "f'{1}'", "1e-3", "null", "é λ 😀", " ",
    "\N{RIGHT-TO-LEFT OVERRIDE}a", "x" * 100_000,
]  # fmt: skip
SIGNS = st.text(st.sampled_from("ab1 \\`*_{}[]()<>#+-.!|$~&;:^=/\"'%@?λ−"), min_size=1).filter(str.strip)
TABLE = {"body", "main", "table", "colgroup", "col", "thead", "tbody", "tr", "th", "td", "p"}
DANGEROUS = ("script", "img", "svg", "iframe", "object", "b", "em", "strong", "code", "math", "a")


class Page(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data

    def tags(self):
        return {tag for tag, _ in self.found}

    def shows(self, text):
        return " ".join(text.split()) in " ".join(self.text.split())


def rendered(text):
    """Return the page that MyST makes of a text with the book's extensions."""
    extensions = yaml.safe_load((REPOSITORY / "_config.yml").read_text(encoding="utf-8"))["parse"]
    settings = {**extensions, "report_level": 5, "raw_enabled": True, "output_encoding": "unicode"}
    html = publish_string(text, parser=Parser(), writer_name="html5", settings_overrides=settings)
    return Page(html[html.index("<body") :])


def is_harmless(page, *more):
    """Return whether a page has neither dangerous elements nor scripts in attributes, besides those meant."""
    attributes = [(name, value or "") for _, found in page.found for name, value in found.items()]
    return not (page.tags() & set(DANGEROUS) - set(more)) and not [
        name for name, value in attributes if name.startswith("on") or value.strip().startswith("javascript:")
    ]


@given(st.text(st.characters()) | st.sampled_from(TEXTS))
def test_a_text_in_the_parameters_cell_is_one_literal(value):
    (node,) = ast.parse(PythonTranslator.codify({"name": value})).body
    assert isinstance(node, ast.Assign)
    assert [target.id for target in node.targets] == ["name"]
    assert ast.literal_eval(node.value) == value


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), SCALARS | st.lists(st.text())))
def test_every_value_is_assigned_as_it_is(values):
    body = ast.parse(PythonTranslator.codify(values)).body
    assert {node.targets[0].id: ast.literal_eval(node.value) for node in body} == values


@given(st.text() | st.sampled_from(TEXTS))
def test_a_text_reaches_a_run_of_a_sweep_as_it_is(tmp_path_factory, value):
    run = sweep.Run("a", {}, {"title": value, "names": [value]}, tmp_path_factory.getbasetemp() / "run" / "a.ipynb")
    assert load_yaml(sweep._write_parameters(run).read_text(encoding="utf-8")) == run.given


@given(st.text() | st.sampled_from(TEXTS))
def test_a_text_on_the_command_line_is_that_text(value):
    parameters = parse_cell('title: str = ""')
    assert resolve(parameters, {"title": parameters["title"].parse(value)}) == {"title": value}


BOMB = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30))
MERGES = "a0: &a0 {k: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 30))
BAD_FILES = {
    "python object": "title: !!python/object/apply:os.system ['touch made']",
    "python name": "title: !!python/name:os.system",
    "own tag": "title: !x y",
    "laughs": BOMB + "sizes: *a29\n",
    "merges": MERGES,
    "endless": "sizes: &a [*a]",
    "deep": "sizes: " + "[" * 10_000,
    "number as name": "1: 2",
    "nothing as name": "null: 2",
    "list as name": "? [a, b]\n: 2",
    "code as name": '"seed = 1; import os": 1',
    "no identifier": '"n models": 3',
    "dunder": "__name__: x",
    "no mapping": "- title",
    "huge number": f"seed: {'9' * 5000}",
    "huge hexadecimal": f"limit: 0x{'f' * 5000}",
    "no date": "title: 2001-99-99",
    "no such character": 'title: "\\ud800"',
}


@pytest.mark.parametrize("text", BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_of_parameters_is_data_or_an_error(project, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yml").write_text(text)
    start = time.monotonic()
    result = CliRunner().invoke(cli, ["--root", str(project.root), "run", "cia/curves", "-f", "p.yml"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert len(result.output) < 10_000
    assert isinstance(result.exception, SystemExit)
    assert time.monotonic() - start < 5
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["p.yml"]
    assert not (project.root / "_build").exists()


def test_an_alias_is_refused_whatever_it_stands_for():
    with pytest.raises(yaml.YAMLError, match=r"an alias \(\*name\) is not allowed"):
        load_yaml("seed: &same 1\nn_models: *same\n")


def test_long_words_in_an_output_take_no_longer_than_short_ones():
    outputs = [new_output("stream", name="stdout", text=word * 200_000) for word in ("x ", "x")]
    start = time.monotonic()
    normalise(new_notebook(cells=[new_code_cell("", outputs=outputs)]))
    assert time.monotonic() - start < 3


def test_hostile_values_arrive_as_the_same_texts(project, tmp_path):
    lines = ['title: str = "a"  # a text', 'names: list[str] = ["a"]  # texts']
    path = project.notebook("cia/curves")
    notebook = nbformat.read(path, as_version=4)
    shown = new_code_cell('import json\nprint("GOT" + json.dumps([title, names]))')
    notebook.cells = [new_code_cell("\n".join(lines), metadata={"tags": ["parameters"]}), shown]
    nbformat.write(notebook, path)
    file, output = tmp_path / "p.yml", tmp_path / "{title} `made`.ipynb"
    file.write_text(yaml.safe_dump({"names": TEXTS}, default_style='"'))
    arguments = ["run", "cia/curves", "-f", str(file), "-p", "title", "".join(TEXTS), "-o", str(output)]
    result = CliRunner().invoke(cli, ["--root", str(project.root), *arguments])
    assert result.exit_code == 0, result.output
    (stream,) = [o for cell in nbformat.read(output, as_version=4).cells for o in cell.get("outputs", [])]
    assert json.loads(stream.text.removeprefix("GOT")) == ["".join(TEXTS), TEXTS]
    assert not list(project.root.rglob("made"))


@given(SIGNS)
def test_literal_text_in_a_table_is_shown_as_it_is(text):
    page = rendered(markdown_table(("Head",), [(literal(text),)]))
    cell = page.text.partition("Head")[2]
    assert " ".join(cell.split()) == " ".join(text.split())
    assert page.tags() <= TABLE


@given(SIGNS)
def test_code_in_a_table_and_in_a_line_is_shown_as_it_is(text):
    text = repr(text)
    for page in (rendered(f"So {code(text)}, and"), rendered(markdown_table(("Head",), [(code(text),)]))):
        assert text in page.text.replace("\n", " ")
        assert page.tags() <= {*TABLE, "code", "span"}


def claims(**fields):
    made = Claims("groveroth1997")
    fields = {"sentence": "So.", "quote": "so", "statistic": "mean", "value": 1.0, "low": 0.5, "high": 1.5, **fields}
    made.add(id="a-claim", n=3, region=(0, 2), **fields)
    return made


@pytest.mark.parametrize("text", MARKUP)
def test_claims_show_what_they_are_given(text):
    made = claims(sentence=text, quote=text, statistic=text, paper_value=text)
    page = rendered(made._repr_mimebundle_()["text/markdown"])
    assert is_harmless(page)
    assert page.text.count(text) == 4


@pytest.mark.parametrize("anchor", ["x) <script>", "a b", "`x`", "javascript:alert(1)", ""])
def test_an_anchor_is_a_label(anchor):
    with pytest.raises(ValueError, match="anchor of claim 'a-claim' must be letters, digits and hyphens"):
        claims(anchor=anchor)


@pytest.mark.parametrize("text", MARKUP)
def test_tables_of_figures_show_what_they_are_given(text):
    frame = pd.DataFrame({"data set": [text, "a\nb"], text: [1.5, 2.5]})
    page = rendered(figures.table(frame, "A caption", "tbl-x", {text: ".1f"}).data)
    assert is_harmless(page)
    assert page.text.count(text) == 2
    assert page.shows("a b")


@pytest.mark.parametrize("text", MARKUP)
def test_the_page_of_a_sweep_shows_what_it_is_given(tmp_path, text):
    records = claims(sentence=text, quote=text, statistic=text, paper_value=text)._repr_mimebundle_()
    (record,) = next(value for value in records.values() if isinstance(value, list))
    run = sweep.Run(text, {"title": text}, {"title": text, "other": text}, tmp_path / "a.ipynb", "FAILED", 1.0, text)
    made = sweep_page._page(tmp_path, text, [run], {text: {"a-claim": record}})
    page = Page(made[made.index("<body") :])
    assert is_harmless(page, "svg", "a", "code")
    assert [tag for tag, _ in page.found].count("svg") == 1
    assert page.text.count(text) >= 6
    assert f"<h1>{escape(text)} for several values of title</h1>" in made


@pytest.mark.parametrize("text", MARKUP)
def test_the_list_of_data_sets_shows_what_it_is_given(project, text):
    words = ("title", "licence", "citation", "changes", "doi", "address")
    numbers = dict.fromkeys(("rows", "attributes", "classes", "missing"), 3)
    entry = {**dict.fromkeys(words, text), **numbers, "kind": "uci", "name": text, "files": "a.data", "unconfirmed": ""}
    pd.DataFrame([entry, {**entry, "kind": "excluded"}, {**entry, "kind": "synthetic"}]).to_csv(
        project.root / "data" / "manifest.csv", index=False
    )
    page = rendered(re.sub("^:::.*", "", reference.data_sets(project, "paper"), flags=re.MULTILINE))
    assert is_harmless(page, "code", "a")
    assert all(found["href"].startswith("https://doi.org/") for tag, found in page.found if tag == "a")
    assert page.text.count(text) >= 12


def test_an_address_that_is_not_https_is_no_link():
    assert reference._link("UCI", "javascript:alert(1)") == "UCI"
    assert reference._link("UCI", "https://example.org/a b)") == "[UCI](https://example.org/a%20b%29)"


def test_the_provenance_and_the_settings_show_values_as_they_are(project, monkeypatch):
    for module in (site, reference):
        monkeypatch.setattr(module, "settle", lambda *_: ({}, dict(zip("abcdefghijklmnop", MARKUP, strict=False))))
    made = site.provenance(project, "cia/curves", "profile paper", {})
    page = rendered(made)
    assert is_harmless(page, "code")
    assert all(page.shows(repr(text)) for text in MARKUP)


@pytest.mark.parametrize("text", MARKUP)
def test_titles_of_chapters_are_text_where_no_markup_is(text):
    article = f'<article class="bd-article"><h1>x</h1><p>{escape(text)}</p></article>'
    made = finish.finish_page(f"<html><head><title>{escape(text)}</title></head>{article}", text, REPOSITORY)
    page = Page(made)
    assert [tag for tag, _ in page.found if tag in DANGEROUS] == []
    described = [found["content"] for tag, found in page.found if tag == "meta"]
    assert described[2] == text
    one = volume.Page("a.html", BeautifulSoup(f"<article><h1>{escape(text)}</h1></article>", "html.parser"), 0, text)
    volume._style_headings(one)
    style = volume._running_title(one)
    assert "<" not in style
    assert is_harmless(Page(volume._contents([one]) + volume._chapter(one)), "a")


def test_a_verdict_and_a_style_cannot_end_their_element():
    record = {"value": 1.0, "low": 0.5, "high": 1.5, "region": (0, 2), "verdict": '"><script>'}
    assert "<script" not in range_plot(record)
    style = escape("fill: #ffffff; font: </style><script>x</script>")
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt"><!-- Matplotlib -->'
    text = f'{head}<path style="{style}"/></svg>'
    for variant in svg.colour_variants(text).values():
        assert "<script" not in variant
        assert "font:" in variant


def test_the_scripts_of_the_pages_make_no_markup_of_text():
    scripts = list((REPOSITORY / "assets").glob("*.js"))
    assert len(scripts) >= 3
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        for unsafe in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert unsafe not in text, script


def drawn(figure):
    """Return the words of a figure as they are drawn."""
    with plt.rc_context({"svg.fonttype": "none"}):
        file = io.StringIO()
        figure.savefig(file, format="svg")
        plt.close(figure)
    found = ElementTree.fromstring(file.getvalue()).iter("{http://www.w3.org/2000/svg}text")
    return "\n".join("".join(text.itertext()) for text in found)


@pytest.mark.parametrize("name", ["a$b$c", "$x_0", r"$\frac$", r"\$5 \$", "$$", "<b>&amp;"])
def test_a_dollar_in_a_name_begins_no_formula(name):
    cells = pd.DataFrame({"dataset": [name], "pair": [name], "value": [1.0], "low": [0.5], "high": [1.5]})
    assert drawn(comparison.differences_by_dataset(cells, "x")).split("\n").count(name) == 2
    accuracies = pd.DataFrame({"em": [0.5], "winnow": [0.7]}, index=[name])
    assert name in drawn(comparison.accuracy_map(accuracies, "x")).split("\n")
    agreement = pd.DataFrame({"dataset": [name], "column": ["NB+OFE"], "z": [0.5]})
    assert name in drawn(figures.agreement_map(agreement)).split("\n")
    ranges = dict.fromkeys(("low", "q05", "q95", "high", "mean", "printed"), [90.0])
    positions = pd.DataFrame({"dataset": [name], "column": [name], **ranges})
    assert drawn(figures.shuffle_positions(positions)).split("\n").count(name) == 2
