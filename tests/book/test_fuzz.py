"""Whatever text, file or number is given: a value that is allowed, or an error that says what is; never a traceback."""

import json
import math

import nbformat
import pytest
import yaml
from click.testing import CliRunner
from conftest import CLAIMS, PARAMETERS, chapter, make_project
from hypothesis import example, given, settings
from hypothesis import strategies as st
from papermill.translators import PythonTranslator

from lib.book import cli as command
from lib.book import sweep
from lib.book.environment import differences
from lib.book.execution import parameters_of
from lib.book.parameters import ParameterError, load_yaml, parse_cell, resolve
from lib.book.project import BookError, read_mapping

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
    "-",
]
TEXT = st.text() | st.sampled_from(STRANGE)
NAME = st.sampled_from([*PARSED, "n_model", "Seed"]) | TEXT
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.dates() | st.text()
NESTED = st.recursive(PLAIN, lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(PLAIN, deeper, max_size=3))
FILE = st.builds(lambda values: yaml.safe_dump(values).encode(), st.dictionaries(NAME, NESTED, max_size=3))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(st.text(), deeper, max_size=3),
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
        patch.setattr(command.execution, "execute", lambda project, chapter, values, *_, **__: calls.append(values))
        yield calls


def outcome(kind, call, *arguments):
    """Return what a call returns, or the error of this kind that it raises."""
    try:
        return call(*arguments)
    except kind as error:
        return error


def try_run(project, executed, *arguments):
    """Call `book run`; it must end with an error in words, or with values that can be written into a notebook."""
    executed.clear()
    result = CliRunner().invoke(command.cli, ["--root", str(project.root), "run", "cia/curves", *arguments])
    if result.exit_code:
        assert isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code in (1, 2)
        assert "Error: " in result.output
        assert executed == []
    else:
        (values,) = executed
        assert resolve(PARSED, values) == values
        assert json.dumps(values, ensure_ascii=False).encode("utf-8")  # the notebook's metadata have them, too
        found = {}
        exec(PythonTranslator.codify(values).encode("utf-8"), found)
        assert {name: found[name] for name in values} == values
    assert not (project.root / "_build").exists()


@settings(max_examples=60)
@given(given=st.lists(st.tuples(NAME, TEXT | PLAIN.map(str)), max_size=3))
@example(given=[("sizes", "&a [*a]")])
@example(given=[("seed", "0x" + "f" * 6000)])
def test_any_option_is_a_value_or_an_error(project, executed, given):
    try_run(project, executed, *[part for name, text in given for part in ("-p", name, text)])


@settings(max_examples=60)
@given(content=FILE | st.binary() | TEXT.map(lambda text: text.encode(errors="surrogatepass")))
@example(content=b'title: "\\ud800"')
@example(content=b"noise: 0x1" + b"0" * 300)
@example(content=b"limit: 0x1" + b"0" * 6000)
def test_any_file_of_parameters_is_values_or_an_error(project, executed, content):
    path = project.root / "values.yml"
    path.write_bytes(content)
    try_run(project, executed, "-f", str(path))


@settings(max_examples=60)
@given(text=TEXT)
def test_any_text_is_yaml_or_a_yaml_error(text):
    found = outcome(yaml.YAMLError, load_yaml, text)
    assert not isinstance(found, yaml.YAMLError) or str(found)


@given(profiles=st.dictionaries(st.sampled_from(["paper", "quick"]), NESTED | st.just({"cia/curves": 3})) | NESTED)
def test_any_profiles_are_values_or_an_error_that_names_the_file(project, profiles):
    path = project.root / "chapters" / "profiles.yml"
    path.write_text(yaml.safe_dump(profiles))
    found = outcome(BookError, project.profile, "paper", "cia/curves")
    path.write_text("")
    assert isinstance(found, dict) or str(path) in found.message


@given(content=st.binary())
def test_any_bytes_are_a_mapping_or_an_error_that_names_the_file(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "mapping.yml"
    path.write_bytes(content)
    found = outcome(BookError, read_mapping, path)
    assert isinstance(found, dict) or str(path) in found.message


LINES = st.lists(st.sampled_from(PARAMETERS.splitlines()) | st.text(), max_size=4).map("\n".join)
PIECE = st.sampled_from(
    ["[", "]", "..", "<", "|", ":", "=", "None", "1e999", "{[]: 1}", "\\", '"""', "\x00", "\f", "é"]
)


def check_cell(source):
    found = outcome(ParameterError, parse_cell, source)
    if isinstance(found, ParameterError):
        assert str(found)
    else:
        assert all(parameter.check(parameter.default) == parameter.default for parameter in found.values())


@given(source=LINES)
@example(source="n: int = 3  # a range of words [a..b]")
@example(source='t: str = "a"  # a range of no numbers [1..2]')
@example(source="limit: float | None = None  # [a..b]")
@example(source="n: int = 3\nn: int = 4")
@example(source="n: int = " + "(" * 300)
@example(source="n: int = " + "-" * 5000 + "1")
def test_any_cell_is_parameters_or_an_error(source):
    check_cell(source)


@given(place=st.integers(0, len(PARAMETERS)), width=st.integers(0, 5), piece=PIECE | st.characters())
def test_a_cell_with_a_piece_exchanged_is_parameters_or_an_error(place, width, piece):
    check_cell(PARAMETERS[:place] + piece + PARAMETERS[place + width :])


@pytest.mark.filterwarnings("ignore::nbformat.warnings.DuplicateCellId")
@given(cells=st.lists(st.sampled_from(chapter(CLAIMS).cells) | JSON, max_size=3), other=JSON, whole=st.booleans())
def test_any_json_is_a_chapter_or_an_error_that_names_it(project, cells, other, whole):
    path = project.notebook("cia/curves")
    before = path.read_bytes()
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    path.write_text(json.dumps(notebook if whole else other))
    found = outcome(BookError, parameters_of, project, "cia/curves")
    path.write_bytes(before)
    assert isinstance(found, dict) or "cia/curves" in found.message


@given(title=st.text(), limit=st.none() | st.floats(allow_nan=False, allow_infinity=False), seed=st.integers(0, 2**70))
@example(title="\x7f\x85\u2028\ufeff\uffff 1e5", limit=1e-7, seed=0)
def test_the_parameters_of_a_sweep_are_read_as_they_were_written(tmp_path_factory, title, limit, seed):
    values = {"title": title, "limit": limit, "seed": seed}
    run = sweep.Run("run", {}, values, tmp_path_factory.getbasetemp() / "sweep" / "curves.ipynb")
    assert resolve(PARSED, read_mapping(sweep._write_parameters(run))) == values


@settings(max_examples=50)
@given(
    given=st.lists(st.tuples(NAME, TEXT | st.lists(PLAIN, max_size=4).map(lambda v: ",".join(map(str, v)))), max_size=2)
)
def test_any_sweep_is_planned_or_an_error(project, tmp_path_factory, given):
    runs = outcome(BookError, sweep.plan, project, "cia/curves", tmp_path_factory.getbasetemp(), given)
    if isinstance(runs, BookError):
        assert runs.message
    else:
        assert len({run.name for run in runs}) == len(runs) == math.prod(len(set(map(repr, v))) for v in _swept(runs))


def _swept(runs):
    return [[run.swept[name] for run in runs] for name in runs[0].swept]


LOCKED = st.from_regex(
    r"[a-zA-Z0-9._-]{1,9}(\[[a-z]\])?(==|>=|~=|@ )[0-9a-z.]{0,4}( ; [a-z_]{1,15} == '[a-z]'?)?", fullmatch=True
)


@given(text=TEXT | LOCKED | st.lists(LOCKED, max_size=3).map("\n".join))
def test_any_lock_file_is_compared_or_an_error_that_names_it(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.lock"
    path.write_bytes(text.encode(errors="surrogatepass"))
    found = outcome(BookError, differences, path)
    assert isinstance(found, list) or str(path) in found.message
