"""The parameters cell is read as data, and only values it allows get through."""

import nbformat
import pytest
from conftest import PARAMETERS, book

from lib.book.run.keys import take_snapshot
from lib.book.run.parameters import ParameterError, check_values, load_yaml, parse_cell
from lib.book.sweep.plan import plan_runs

FILE_PARAMETER = 'table: str = ""  # a file of your own; empty: none [file]\n'


@pytest.fixture
def parameters():
    return parse_cell(PARAMETERS)


def test_a_line_is_read_in_full(parameters):
    noise = parameters["noise"]
    assert noise.type == "float"
    assert noise.default == 0.5
    assert noise.meaning == "share of flipped labels"
    assert noise.allowed == "0<..<1"
    assert list(parameters) == ["seed", "n_models", "noise", "sizes", "learner", "title", "limit"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_models", 4.0),
        ("n_models", True),
        ("n_models", "four"),
        ("n_models", None),
        ("n_models", 1),
        ("n_models", 2001),
        ("noise", 0),
        ("noise", 1.0),
        ("noise", float("nan")),
        ("noise", False),
        ("seed", -1),
        ("sizes", []),
        ("sizes", 10),
        ("sizes", [10, 2.5]),
        ("sizes", [10, 1001]),
        ("sizes", [10, 20, 10]),
        ("learner", "tan"),
        ("title", 3),
        ("limit", "soon"),
        ("limit", float("inf")),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(parameters, name, value):
    with pytest.raises(ParameterError) as error:
        check_values(parameters, {name: value})
    assert name in str(error.value)
    assert repr(value) in str(error.value)
    assert parameters[name].type in str(error.value)
    assert parameters[name].allowed in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n_models", "2", 2),
        ("n_models", "2000", 2000),
        ("noise", "1e-3", 0.001),
        ("sizes", "[1, 1000]", [1, 1000]),
        ("sizes", "4", [4]),
        ("sizes", "4,5", [4, 5]),
        ("learner", "cov", "cov"),
        ("limit", "3", 3.0),
        ("limit", "null", None),
        ("title", "010", "010"),
        ("title", "null", "null"),
        ("title", "[1]", "[1]"),
        ("title", "'); import os #", "'); import os #"),
    ],
)
def test_command_line_text_becomes_a_typed_value(parameters, name, text, value):
    result = check_values(parameters, {name: parameters[name].parse(text)})[name]
    assert result == value
    assert type(result) is type(value)


def test_reading_never_runs_the_cell(tmp_path):
    with pytest.raises(ParameterError):
        parse_cell(f"n: int = open({str(tmp_path / 'made')!r}, 'w')")
    with pytest.raises(Exception, match="could not determine a constructor"):
        load_yaml("!!python/object/apply:os.system ['true']")
    assert not list(tmp_path.iterdir())


def test_a_comment_at_the_end_of_a_long_list_counts():
    parameters = parse_cell("sizes: list[float] = [\n    1,\n    2,\n]  # sizes [1..]")
    assert parameters["sizes"].meaning == "sizes"
    assert check_values(parameters, {"sizes": [3]})["sizes"] == [3.0]


@pytest.fixture
def project_with_file(project, tmp_path, monkeypatch):
    """A project whose chapter takes a file, called from a folder that has one."""
    path = project.notebook("cia/curves")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source += FILE_PARAMETER
    nbformat.write(notebook, path)
    (tmp_path / "own.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)
    return project


def test_a_file_is_found_from_the_folder_of_the_caller(project_with_file, tmp_path):
    parameters = parse_cell(FILE_PARAMETER)
    own = str(tmp_path / "own.csv")
    for text in ("own.csv", "./own.csv", own):
        assert check_values(parameters, {"table": text}) == {"table": own}
    assert check_values(parameters, {"table": ""}) == {"table": ""}
    options = [("table", "own.csv,"), ("seed", "1")]
    runs = plan_runs(project_with_file, "cia/curves", tmp_path, options, {})
    assert [run.overrides["table"] for run in runs] == [own, ""]


@pytest.mark.parametrize("value", ["absent.csv", ".", 3, "a\0b"])
def test_a_value_that_is_no_file_is_named(project_with_file, value):
    with pytest.raises(ParameterError, match="expected the path of a file") as error:
        check_values(parse_cell(FILE_PARAMETER), {"table": value})
    assert repr(value) in str(error.value)


def test_a_missing_file_is_an_error_before_anything_runs(project_with_file, tmp_path):
    (tmp_path / "values.yml").write_text("table: absent.csv\n")
    for options in (["-p", "table", "absent.csv"], ["-f", tmp_path / "values.yml"]):
        result = book(project_with_file, "run", "cia/curves", *options)
        assert result.exit_code == 1
        assert f"there is no file {tmp_path / 'absent.csv'}" in result.output
    assert not (project_with_file.root / "_build").exists()
    assert "table: str = '' [file]" in book(project_with_file, "list", "cia/curves").output


def test_results_of_a_file_with_other_contents_are_not_used_again(project_with_file, tmp_path):
    def key():
        return take_snapshot(project_with_file, "cia/curves", {"table": "own.csv"}).key

    first_key = key()
    assert key() == first_key
    (tmp_path / "own.csv").write_text("a\n2\n")
    assert key() != first_key
