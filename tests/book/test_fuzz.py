"""Whatever text, file or number is given: a value that is allowed, or an error that says what is; never a traceback."""

import json

import nbformat
import pytest
import yaml
from conftest import CLAIMS, PARAMETERS, book, chapter, make_project
from hypothesis import example, given, settings
from hypothesis import strategies as st
from papermill.translators import PythonTranslator

from lib.book import execution
from lib.book.parameters import ParameterError, check_values, parse_cell
from lib.book.project import BookError, parameters_of

pytestmark = pytest.mark.slow
PARSED = parse_cell(PARAMETERS)
STRANGE = [
    "[",
    "1e999",
    "0x" + "f" * 6000,
    "9" * 5000,
    "!!int ''",
    "2020-13-45",
    "&a [*a]",
    "[" * 3000,
    '"\\ud800"',
]
TEXT = st.text() | st.sampled_from(STRANGE)
NAME = st.sampled_from([*PARSED, "n_model", "Seed"]) | TEXT
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.dates() | st.text()
NESTED = st.recursive(
    PLAIN, lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(PLAIN, deeper, max_size=3)
)
FILE = st.builds(
    lambda values: yaml.safe_dump(values).encode(), st.dictionaries(NAME, NESTED, max_size=3)
)
BYTES = FILE | st.binary() | TEXT.map(lambda text: text.encode(errors="surrogatepass"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(st.text(), deeper, max_size=3),
)
LINES = st.lists(st.sampled_from(PARAMETERS.splitlines()) | st.text(), max_size=4).map("\n".join)
PIECE = st.sampled_from(
    ["[", "]", "..", "<", "|", ":", "=", "None", "1e999", "{[]: 1}", "\\", '"""', "\x00", "é"]
)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a small book that no test of this file changes but for one chapter's notebook and the profiles."""
    project = make_project(tmp_path_factory.mktemp("fuzz") / "book")
    nbformat.write(chapter(CLAIMS), project.notebook("cia/curves"))
    return project


@pytest.fixture(scope="module")
def executed():
    """Return the list of the values with which a chapter would have been executed; none is."""
    calls = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            execution, "execute", lambda project, chapter, values, *_, **__: calls.append(values)
        )
        yield calls


def outcome(kind, call, *arguments):
    """Return what a call returns, or the error of this kind that it raises."""
    try:
        return call(*arguments)
    except kind as error:
        return error


@settings(max_examples=100)
@given(given=st.lists(st.tuples(NAME, TEXT | PLAIN.map(str)), max_size=3), content=FILE | BYTES)
@example(given=[("sizes", "&a [*a]")], content=b'title: "\\ud800"')
@example(given=[("seed", "0x" + "f" * 6000)], content=b"limit: 0x1" + b"0" * 6000)
def test_any_option_and_file_is_a_value_or_an_error(project, executed, given, content):
    """An error is in words; values can be written into a notebook."""
    (project.root / "values.yml").write_bytes(content)
    for arguments in (
        [part for name, text in given for part in ("-p", name, text)],
        ["-f", project.root / "values.yml"],
    ):
        executed.clear()
        result = book(project, "run", "cia/curves", *arguments)
        if result.exit_code:
            assert isinstance(result.exception, SystemExit), result.exception
            assert result.exit_code in (1, 2)
            assert "Error: " in result.output
            assert executed == []
        else:
            (values,) = executed
            assert check_values(PARSED, values) == values
            # the notebook's metadata have them, too
            assert json.dumps(values, ensure_ascii=False).encode("utf-8")
            found = {}
            exec(PythonTranslator.codify(values).encode("utf-8"), found)
            assert {name: found[name] for name in values} == values
        assert not (project.root / "_build").exists()


@given(
    LINES
    | st.builds(
        lambda i, n, piece: PARAMETERS[:i] + piece + PARAMETERS[i + n :],
        st.integers(0, len(PARAMETERS)),
        st.integers(0, 5),
        PIECE,
    )
)
@example("n: int = 3  # a range of words [a..b]")
@example("n: int = 3\nn: int = 4")
@example("n: int = " + "(" * 300)
@example("n: int = " + "-" * 5000 + "1")
def test_any_cell_is_parameters_or_an_error(source):
    found = outcome(ParameterError, parse_cell, source)
    if isinstance(found, ParameterError):
        assert str(found)
    else:
        assert all(
            parameter.check(parameter.default) == parameter.default for parameter in found.values()
        )


@given(
    cells=st.lists(st.sampled_from(chapter(CLAIMS).cells) | JSON, max_size=3),
    other=JSON,
    whole=st.booleans(),
)
def test_any_json_is_a_chapter_or_an_error_that_names_it(project, cells, other, whole):
    path = project.notebook("cia/curves")
    before = path.read_bytes()
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    path.write_text(json.dumps(notebook if whole else other))
    found = outcome(BookError, parameters_of, project, "cia/curves")
    path.write_bytes(before)
    assert isinstance(found, dict) or "cia/curves" in found.message
