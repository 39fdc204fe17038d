"""What a build and nbval compare: each number and verdict that a cell displays."""

import json
from pathlib import Path

import pytest

from lib.book.verdicts.reproduced import MOVING, differences, displayed
from lib.claims import CLAIMS_JSON

CHAPTERS = Path(__file__).parents[1] / "chapters"
GAIN = {"value": 0.5, "low": -1.0, "high": None, "unit": "points"}
SETTING = {"id": "a", "verdict": "holds", "value": 0.2, "low": 0.1, "high": 0.3, "n": 10}


def outputs(gain=GAIN, verdict="holds"):
    """Outputs of a cell: a text, a sentence with numbers, claims."""
    other = SETTING | {"id": "b", "words": "n = 75"}
    settings = [SETTING | {"verdict": verdict}, other]
    claims = [{"id": "a-claim", "primary": "a", "settings": settings}]
    return [
        {"text": "..."},
        {"metadata": {"numbers": {"gain": gain, "T": [0.1, 2]}}},
        {"data": {CLAIMS_JSON: claims}, "metadata": {"numbers": {}}},
    ]


STORED = displayed(outputs())


def test_each_number_has_its_place():
    assert STORED["1", "numbers", "gain", "low"] == -1.0
    assert STORED["1", "numbers", "T", "1"] == 2
    assert STORED["2", "claims", "a", "verdict"] == "holds"
    assert STORED["2", "claims", "b", "low"] == 0.1
    assert ("2", "claims", "b", "verdict") not in STORED  # it decides nothing
    assert displayed([{"text": "..."}, {"metadata": {}}]) == {}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"gain": GAIN | {"value": 0.500001}}, "1/numbers/gain/value: 0.5 stored, 0.500001 found"),
        ({"gain": GAIN | {"high": 1.0}}, "1/numbers/gain/high: None stored, 1.0 found"),
        ({"gain": GAIN | {"more": 1}}, "1/numbers/gain/more: 'nothing' stored, 1 found"),
        ({"verdict": "fails"}, "2/claims/a/verdict: 'holds' stored, 'fails' found"),
    ],
)
def test_a_difference_is_named(changes, line):
    assert differences(STORED, displayed(outputs(**changes))) == [line]


def test_rounding_is_no_difference():
    assert differences(STORED, displayed(outputs(GAIN | {"value": 0.5000001}))) == []
    assert differences(STORED, displayed(outputs(GAIN | {"value": 0.5001})), 1e-3) == []


MEASURED = {("winnow2/fair", "learners-table"), ("stochastic/digits", "claims-on-time")}  # seconds


def test_what_a_cell_says_is_compared_unless_its_numbers_move():
    spared = set()
    for path in CHAPTERS.rglob("*.ipynb"):
        chapter = path.relative_to(CHAPTERS).with_suffix("").as_posix()
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            outputs = cell.get("outputs", [])
            kinds = {output.get("metadata", {}).get("report", {}).get("kind") for output in outputs}
            says_something = kinds & {"text", "table", "claims"}
            if says_something and "nbval-ignore-output" in cell["metadata"].get("tags", []):
                spared.add((chapter, cell["id"]))
    assert spared == MOVING.keys() | MEASURED


def test_cells_whose_numbers_move_are_there_and_their_text_is_not_compared():
    for (chapter, id), tolerance in MOVING.items():
        notebook = json.loads((CHAPTERS / f"{chapter}.ipynb").read_text(encoding="utf-8"))
        (cell,) = [cell for cell in notebook["cells"] if cell["id"] == id]
        assert "nbval-ignore-output" in cell["metadata"]["tags"]
        assert 0 < tolerance < 1
