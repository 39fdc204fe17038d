"""The comparison of displayed numbers sees what it is for."""

import json
from pathlib import Path

import pytest
from displayed_numbers import MOVING, differences, displayed

from lib.claims import CLAIMS_JSON

CHAPTERS = Path(__file__).parents[1] / "chapters"
STORED = {"gain": {"value": 0.5, "low": -1.0, "high": None, "unit": "points"}, "T": [0.1, 2]}


def changed(path, value):
    """STORED with another value at a place."""
    copy = json.loads(json.dumps(STORED))
    *places, last = path
    part = copy
    for place in places:
        part = part[place]
    part[last] = value
    return copy


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (["gain", "value"], 0.500001, "/gain/value: 0.5 stored, 0.500001 found"),
        (["gain", "high"], 1.0, "/gain/high: None stored, 1.0 found"),
        (["gain", "unit"], "shares", "/gain/unit: 'points' stored, 'shares' found"),
        (["T", 1], 3, "/T[1]: 2 stored, 3 found"),
        (["T"], [0.1], "/T: 2 stored, 1 found"),
        (["more"], 1, "/more: not in both"),
    ],
)
def test_a_difference_is_named(path, value, line):
    assert differences(STORED, changed(path, value)) == [line]


def test_rounding_is_no_difference():
    assert differences(STORED, changed(["gain", "value"], 0.5000001)) == []
    assert differences(STORED, changed(["gain", "value"], 0.5001), tolerance=1e-3) == []


def test_numbers_are_those_of_outputs_that_have_them():
    claims = {"data": {CLAIMS_JSON: [{"id": "a"}]}, "metadata": {"numbers": {}}}
    outputs = [{"text": "..."}, {"metadata": {}}, {"metadata": {"numbers": {"n": 3}}}, claims]
    assert displayed(outputs) == [{"n": 3}, None, {}, [{"id": "a"}]]


# Text that depends on what can be had here: recorded rows, or the novels themselves.
PROVENANCE = {("stochastic/letters", "d1e2a3b4")}


def test_what_a_cell_says_is_compared_unless_its_numbers_move():
    spared = set()
    for path in CHAPTERS.rglob("*.ipynb"):
        chapter = path.relative_to(CHAPTERS).with_suffix("").as_posix()
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            outputs = cell.get("outputs", [])
            kinds = {output.get("metadata", {}).get("report", {}).get("kind") for output in outputs}
            says_something = kinds & {"text", "table", "claims", "scale"}
            if says_something and "nbval-ignore-output" in cell["metadata"].get("tags", []):
                spared.add((chapter, cell["id"]))
    assert spared == MOVING.keys() | PROVENANCE


def test_cells_whose_numbers_move_are_there_and_their_text_is_not_compared():
    for (chapter, id), tolerance in MOVING.items():
        notebook = json.loads((CHAPTERS / f"{chapter}.ipynb").read_text(encoding="utf-8"))
        (cell,) = [cell for cell in notebook["cells"] if cell["id"] == id]
        assert "nbval-ignore-output" in cell["metadata"]["tags"]
        assert 0 < tolerance < 1
