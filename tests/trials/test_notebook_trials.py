"""Trials that stand in a notebook: whatever they depend on is in the key of their blocks, and what is not is not."""

import nbformat
import pytest
from marked import N_TRIALS, run
from nbclient import NotebookClient

SETTINGS = "scale = 2.0\ntable = {'a': [1, 2]}\n"
HELPER = '''
def shift(value):
    """Words."""
    return value + 1  # a comment
'''
DEEPER = "def power(value, exponent=2):\n    return value**exponent\n"
TRIAL = '''
def trial(seeds):
    """Words."""
    note(seeds.number)
    values = [shift(value) * scale for value in seeds.rng().normal(size=2)]
    yield {"index": seeds.number, "value": sum(power(value) + len(table["a"]) for value in values)}
'''
CELLS = {"settings": SETTINGS, "helper": HELPER, "deeper": DEEPER, "trial": TRIAL}
NOTE = """
import os
def note(number):
    with open(os.environ["TRIAL_LOG"], "a") as log:
        log.write(f"{number}\\n")
"""
CHANGES = {
    "a value": ("settings", "2.0", "2.5"),
    "the type of a value": ("settings", "2.0", "2"),
    "a value in a table": ("settings", "[1, 2]", "[1, 3]"),
    "the trial": ("trial", "sum(", "max("),
    "a name in the trial's row": ("trial", '"value":', '"worth":'),
    "a helper": ("helper", "+ 1", "+ 2"),
    "a helper's helper used in a comprehension": ("deeper", "**", "*"),
    "a default": ("deeper", "=2", "=3"),
}
REWORDINGS = {
    "a docstring": ("trial", "Words.", "Other words."),
    "a helper's docstring": ("helper", '    """Words."""\n', ""),
    "a comment": ("helper", "  # a comment", ""),
    "layout": ("helper", "value + 1", "(value\n        + 1)"),
    "a value that it does not use": ("settings", "scale", "other = 3\nscale"),
}


def notebook(cells, name="", old="", new=""):
    """Run the cells, one of them changed, and return the trial."""
    cells(NOTE)
    for key, source in CELLS.items():
        assert key != name or source.count(old) == 1
        cells(source.replace(old, new) if key == name else source)
    return cells["trial"]


@pytest.fixture
def stored(results, ran, cells):
    run(trial=notebook(cells))
    assert ran() == list(range(N_TRIALS))
    run(trial=notebook(cells))
    assert ran() == []


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_run_again(change, stored, ran, cells):
    run(trial=notebook(cells, *CHANGES[change]))
    assert ran() == list(range(N_TRIALS))


@pytest.mark.parametrize("rewording", REWORDINGS)
def test_what_is_only_said_otherwise_is_found(rewording, stored, ran, cells):
    run(trial=notebook(cells, *REWORDINGS[rewording]))
    assert ran() == []


def test_recursion_and_closures(results, ran, cells):
    source = """
def count(n):
    return 0 if n == 0 else 1 + count(n - 1)
def make(n):
    def trial(seeds):
        note(seeds.number)
        return {"depth": count(n)}
    return trial
"""
    cells(NOTE)
    for n, again in ((3, True), (3, False), (4, True)):
        cells(source)
        assert run(trial=cells["make"](n))["depth"].tolist() == [n] * N_TRIALS
        assert ran() == list(range(N_TRIALS)) * again


@pytest.mark.parametrize(
    "value", ["type('Mine', (), {})()", "open(os.devnull)", "np.random.default_rng(0)", "lambda: 0"]
)
def test_what_cannot_be_followed_is_not_stored(value, results, told, cells):
    cells(NOTE + f"thing = {value}\ndef trial(seeds):\n    return {{'it': str(type(thing))}}\n")
    run(trial=cells["trial"])
    assert len(told("not stored")) == 1
    assert not results.exists()


def test_in_a_kernel_with_two_processes(results, ran, tmp_path):
    """Blocks come back from worker processes, are stored, found by a second call, and not after a cell has changed."""
    call = "trials.run(trial, n_trials=4, seconds=2.0, n_jobs=2)['value'].sum()"
    cells = [NOTE + "from lib import trials", *CELLS.values(), call, call, HELPER.replace("+ 1", "+ 2"), call]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    NotebookClient(made, resources={"metadata": {"path": str(tmp_path)}}).execute()
    first, second, third = (cell.outputs[0]["data"]["text/plain"] for cell in made.cells if cell.source == call)
    assert first == second != third
    assert sorted(ran()) == sorted([0, 1, 2, 3] * 2)
    assert len(list(results.rglob("*.block"))) == 8
