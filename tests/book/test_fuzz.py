"""Any text, file or number is an allowed value, or an error that says what is allowed."""

import json

import nbformat
import pytest
import yaml
from conftest import CLAIMS, PARAMETERS, book, chapter, make_project
from hypothesis import example, given, settings
from hypothesis import strategies as st
from papermill.translators import PythonTranslator

from lib.book.run import execution
from lib.book.run.parameters import ParameterError, check_values, parse_cell
from lib.book.run.project import BookError, parameters_of

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
    """Return a small book; tests of this file change one notebook and the profiles only."""
    project = make_project(tmp_path_factory.mktemp("fuzz") / "book")
    nbformat.write(chapter(CLAIMS), project.notebook("cia/curves"))
    return project


@pytest.fixture(scope="module")
def executed():
    """Return the list of the values with which a chapter would have been executed; none is."""
    calls = []

    def execute(project, chapter, values, *_, **__):
        calls.append(values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "execute", execute)
        yield calls


def outcome(kind, call, *arguments):
    """Return what a call returns, or the error of this kind that it raises."""
    try:
        return call(*arguments)
    except kind as error:
        return error


@settings(max_examples=100)
@given(options=st.lists(st.tuples(NAME, TEXT | PLAIN.map(str)), max_size=3), content=FILE | BYTES)
@example(options=[("sizes", "&a [*a]")], content=b'title: "\\ud800"')
@example(options=[("seed", "0x" + "f" * 6000)], content=b"limit: 0x1" + b"0" * 6000)
def test_any_option_and_file_is_a_value_or_an_error(project, executed, options, content):
    """An error is in words; values can be written into a notebook."""
    file = project.root / "values.yml"
    file.write_bytes(content)
    option_arguments = []
    for name, text in options:
        option_arguments += ["-p", name, text]
    for arguments in (option_arguments, ["-f", file]):
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
            namespace = {}
            exec(PythonTranslator.codify(values).encode("utf-8"), namespace)
            assert {name: namespace[name] for name in values} == values
        assert not (project.root / "_build").exists()


def replace_characters(start, n_characters, piece):
    """Return the parameters cell with a piece instead of some of its characters."""
    return PARAMETERS[:start] + piece + PARAMETERS[start + n_characters :]


EDITED = st.builds(replace_characters, st.integers(0, len(PARAMETERS)), st.integers(0, 5), PIECE)


@given(LINES | EDITED)
@example("n: int = 3  # a range of words [a..b]")
@example("n: int = 3\nn: int = 4")
@example("n: int = " + "(" * 300)
@example("n: int = " + "-" * 5000 + "1")
def test_any_cell_is_parameters_or_an_error(source):
    result = outcome(ParameterError, parse_cell, source)
    if isinstance(result, ParameterError):
        assert str(result)
    else:
        for parameter in result.values():
            assert parameter.check(parameter.default) == parameter.default


@given(
    cells=st.lists(st.sampled_from(chapter(CLAIMS).cells) | JSON, max_size=3),
    document=JSON,
    is_notebook=st.booleans(),
)
def test_any_json_is_a_chapter_or_an_error_that_names_it(project, cells, document, is_notebook):
    if is_notebook:
        document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    path = project.notebook("cia/curves")
    original = path.read_bytes()
    path.write_text(json.dumps(document))
    result = outcome(BookError, parameters_of, project, "cia/curves")
    path.write_bytes(original)
    assert isinstance(result, dict) or "cia/curves" in result.message
