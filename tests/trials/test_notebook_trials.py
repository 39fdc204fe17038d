"""Trials of a notebook: what they depend on is in the key of their blocks, nothing else."""

import nbformat
import pandas as pd
import pytest
from logged_trials import N_TRIALS, run
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
        if key == name:
            assert source.count(old) == 1
            source = source.replace(old, new)
        cells(source)
    return cells["trial"]


@pytest.fixture
def stored_blocks(results, take_trials, cells):
    run(trial=notebook(cells))
    assert take_trials() == list(range(N_TRIALS))
    run(trial=notebook(cells))
    assert take_trials() == []


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_run_again(change, stored_blocks, take_trials, cells):
    run(trial=notebook(cells, *CHANGES[change]))
    assert take_trials() == list(range(N_TRIALS))


@pytest.mark.parametrize("rewording", REWORDINGS)
def test_what_is_only_said_otherwise_is_found(rewording, stored_blocks, take_trials, cells):
    run(trial=notebook(cells, *REWORDINGS[rewording]))
    assert take_trials() == []


def test_recursion_and_closures(results, take_trials, cells):
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
    # the second time nothing runs: the trial and what it encloses are the same
    all_trials = list(range(N_TRIALS))
    for depth, trials_run in ((3, all_trials), (3, []), (4, all_trials)):
        cells(source)
        frame = run(trial=cells["make"](depth))
        assert frame["depth"].tolist() == [depth] * N_TRIALS
        assert take_trials() == trials_run


def test_a_decorated_trial_counts_with_its_decorator(results, take_trials, cells):
    source = """
from functools import wraps
def times(trial):
    @wraps(trial)
    def scaled(seeds):
        return {"value": 2 * trial(seeds)["value"]}
    return scaled
@times
def trial(seeds):
    note(seeds.number)
    return {"value": seeds.number}
"""
    cells(NOTE)
    all_trials = list(range(N_TRIALS))
    for factor, trials_run in ((2, all_trials), (2, []), (3, all_trials)):
        cells(source.replace("2 *", f"{factor} *"))
        assert run(trial=cells["trial"])["value"].sum() == factor * sum(all_trials)
        assert take_trials() == trials_run


def test_what_is_refused_is_not_stored(results, take_notes, cells):
    cells("from test_notebook_trials import HELPER\ndef trial(seeds):\n    return {'n': 1}\n")
    run(trial=cells["trial"])
    assert take_notes("not stored") == []
    cells("import test_notebook_trials as t\ndef trial(seeds):\n    return {'n': len(t.HELPER)}\n")
    run(trial=cells["trial"])
    [note] = take_notes("not stored")
    assert "define in the notebook" in note["why"]


class TestClosedWorld:
    """A trial gets what is described and nothing else, also where one process runs all of them."""

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_what_a_cell_changes_elsewhere_is_not_seen(self, n_jobs, results, cells, monkeypatch):
        monkeypatch.setattr("lib.winnow.Winnow.__doc__", "changed")
        cells(
            "import lib.winnow\ndef trial(seeds):\n"
            "    return {'changed': lib.winnow.Winnow.__doc__ == 'changed'}\n"
        )
        assert not run(trial=cells["trial"], n_jobs=n_jobs)["changed"].any()

    # what a trial changes, and how it looks at it
    LEAVES = {  # noqa: RUF012
        "a setting of numpy": ("np.seterr(divide='raise')", "np.geterr()['divide']"),
        "a filter of warnings": ("warnings.simplefilter('error')", "str(warnings.filters[0][0])"),
        "decimal places": ("decimal.getcontext().prec = 5", "decimal.getcontext().prec"),
        "a setting of scikit-learn": (
            "sklearn.set_config(assume_finite=True)",
            "sklearn.get_config()['assume_finite']",
        ),
        "an attribute of a class": (
            "A.first = getattr(A, 'first', seeds.number)",
            "A.first // 2 * 2 == seeds.number // 2 * 2",
        ),
    }

    @pytest.mark.parametrize("kind", LEAVES)
    def test_a_trial_leaves_nothing_to_the_next_block(self, kind, cells):
        """Or results would depend on which blocks a process has run."""
        change, look = self.LEAVES[kind]
        cells("import decimal, sklearn, warnings\nclass A:\n    pass\n")
        look_line = f"    value = {look}\n"
        change_line = f"    {change}\n"
        # the class has the attribute only after the change
        looks_first = kind != "an attribute of a class"
        body = look_line + change_line if looks_first else change_line + look_line
        cells(f"def trial(seeds):\n{body}    return {{'value': value}}\n")
        frame = run(trial=cells["trial"])
        assert frame["value"][::2].nunique() == 1  # of the first trial of each block

    def test_a_class_that_a_cell_changes_is_sent_anew(self, cells):
        cells(
            "class B:\n    k = 1\nclass A(B):\n    k = 2\n"
            "def trial(seeds):\n    return {'k': A.k}\n"
        )
        assert set(run(trial=cells["trial"])["k"]) == {2}
        cells("del A.k")
        assert set(run(trial=cells["trial"])["k"]) == {1}

    def test_what_cannot_be_sent_is_told_with_a_remedy(self, cells):
        cells(
            "import functools\n@functools.cache\ndef f(x):\n    return x\n"
            "def trial(seeds):\n    return {'a': f(1)}\n"
        )
        with pytest.raises(
            TypeError, match=r"cannot be sent to another process .*: make .* inside of it"
        ):
            run(trial=cells["trial"])

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_generators_that_all_code_shares_are_seeded(self, n_jobs, cells):
        cells(
            "import random\ndef trial(seeds):\n"
            "    return {'a': np.random.rand(), 'b': random.random()}\n"
        )
        frame = run(trial=cells["trial"], n_jobs=n_jobs)
        assert frame["a"].nunique() == frame["b"].nunique() == N_TRIALS
        pd.testing.assert_frame_equal(frame, run(trial=cells["trial"], n_jobs=2), check_exact=True)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_a_constant_of_lib_that_a_cell_has_set_is_not_seen(self, n_jobs, cells, monkeypatch):
        monkeypatch.setattr("lib.latent_class.fast.EDGE", 0.25)
        cells(
            "from lib.latent_class import fast\ndef trial(seeds):\n    return {'edge': fast.EDGE}\n"
        )
        assert not (run(trial=cells["trial"], n_jobs=n_jobs)["edge"] == 0.25).any()


def test_in_a_kernel_with_two_processes(results, take_notes, tmp_path):
    """Blocks of worker processes are stored, and found until a cell changes."""
    call = "trials.run(trial, n_trials=4, seconds=2.0, n_jobs=2)['value'].sum()"
    imports = "import numpy as np\nfrom lib import trials\ndef note(number):\n    pass"
    changed_helper = HELPER.replace("+ 1", "+ 2")
    texts = [imports, *CELLS.values(), call, call, changed_helper, call]
    cells = [nbformat.v4.new_code_cell(text) for text in texts]
    book = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}).execute()
    calls = [cell for cell in book.cells if cell.source == call]
    first, second, changed = [cell.outputs[0]["data"]["text/plain"] for cell in calls]
    assert first == second
    assert changed != first
    assert [note["blocks"] for note in take_notes("found")] == [4]
    assert len(list(results.rglob("*.block"))) == 8
