"""The parameters cell is read as data, and only values it allows get through."""

import pytest
from conftest import PARAMETERS

from lib.book.run.parameters import ParameterError, check_values, load_yaml, parse_cell


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
