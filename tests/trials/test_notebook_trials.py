"""Trials that stand in a notebook: whatever they depend on is in the key of their blocks, and what is not is not."""

import json

import nbformat
import pandas as pd
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
    "use", ["open(os.devnull)", "eval('1')", "pytest.Item", "os.getenv('HOME')"]
)
def test_what_is_refused_is_not_stored(use, results, told, cells, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv(
        "BOOK_TRIALS", json.dumps({"results": str(results), "notes": str(results.parent / "notes")})
    )
    cells(f"import os, pytest\ndef trial(seeds):\n    return {{'it': str(type({use}))}}\n")
    run(trial=cells["trial"])
    [note] = told("not stored")
    assert ("in a cell" in note["why"]) or ("in the notebook" in note["why"])
    assert not results.exists()


class TestClosedWorld:
    """A trial gets what is described and nothing else, also where one process runs all of them."""

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_what_a_cell_changes_elsewhere_is_not_seen(self, n_jobs, results, cells, monkeypatch):
        monkeypatch.setattr("lib.winnow.Winnow.__doc__", "changed")
        cells(
            "import lib.winnow\ndef trial(seeds):\n    return {'changed': lib.winnow.Winnow.__doc__ == 'changed'}\n"
        )
        assert not run(trial=cells["trial"], n_jobs=n_jobs)["changed"].any()

    LEAVES = {  # noqa: RUF012
        "a setting of numpy": ("np.seterr(divide='raise')", "np.geterr()['divide']"),
        "a filter of warnings": ("warnings.simplefilter('error')", "str(warnings.filters[0][0])"),
        "decimal places": ("decimal.getcontext().prec", "decimal.getcontext().prec"),
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
        """Or results would depend on which blocks a process has run, and so on how many there are."""
        change, look = self.LEAVES[kind]
        change = "decimal.getcontext().prec = 5" if kind == "decimal places" else change
        cells("import decimal, sklearn, warnings\nclass A:\n    pass\n")
        order = (look, change) if kind != "an attribute of a class" else ("None", change)
        source = f"def trial(seeds):\n    seen = {order[0]}\n    {order[1]}\n"
        cells(f"{source}    return {{'seen': seen if seen is not None else {look}}}\n")
        frame = run(trial=cells["trial"])
        assert frame["seen"][::2].nunique() == 1  # of the first trial of each block

    def test_a_class_that_a_cell_changes_is_sent_anew(self, cells):
        cells(
            "class B:\n    k = 1\nclass A(B):\n    k = 2\ndef trial(seeds):\n    return {'k': A.k}\n"
        )
        assert set(run(trial=cells["trial"])["k"]) == {2}
        cells("del A.k")
        assert set(run(trial=cells["trial"])["k"]) == {1}

    def test_what_cannot_be_sent_is_told_with_a_remedy(self, cells):
        cells(
            "import functools\n@functools.cache\ndef f(x):\n    return x\ndef trial(seeds):\n    return {'a': f(1)}\n"
        )
        with pytest.raises(
            TypeError, match=r"cannot be sent to another process .*: make .* inside of it"
        ):
            run(trial=cells["trial"])

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_generators_that_all_code_shares_are_seeded(self, n_jobs, cells):
        cells(
            "import random\ndef trial(seeds):\n    return {'a': np.random.rand(), 'b': random.random()}\n"
        )
        frame = run(trial=cells["trial"], n_jobs=n_jobs)
        assert frame["a"].nunique() == frame["b"].nunique() == N_TRIALS
        pd.testing.assert_frame_equal(frame, run(trial=cells["trial"], n_jobs=2), check_exact=True)

    def test_a_file_that_a_trial_reads_is_told_and_its_blocks_are_not_stored(
        self, results, told, cells, tmp_path
    ):
        table = tmp_path / "table.csv"
        cells(
            "import pandas as pd\ndef trial(seeds, path):\n    return {'n': pd.read_csv(path)['n'].sum()}\n"
        )
        for n in (1, 2):
            table.write_text(f"n\n{n}\n")
            frame = run(trial=cells["trial"], case=(str(table),))
            assert set(frame["n"]) == {n}
        assert [note["path"] for note in told("read")] == [str(table)] * 2
        assert not list(results.rglob("*.block"))

    def test_what_a_trial_asks_of_the_network_is_told(self, results, told, cells):
        cells(
            "import pandas as pd\ndef trial(seeds):\n    try:\n        pd.read_csv('http://127.0.0.1:9/a.csv')\n"
            "    except OSError:\n        return {'n': 0}\n"
        )
        run(trial=cells["trial"])
        assert {note["path"] for note in told("read")} == {"127.0.0.1:9"}
        assert not list(results.rglob("*.block"))

    def test_files_of_the_book_and_of_packages_are_in_keys(self, results, told, cells):
        cells(
            "from lib import datasets\ndef trial(seeds):\n    return {'n': len(datasets.load('iris').y)}\n"
        )
        run(trial=cells["trial"])
        assert told("read", "not stored") == []
        assert list(results.rglob("*.block"))


def test_in_a_kernel_with_two_processes(results, told, tmp_path):
    """Blocks come back from worker processes, are stored, found by a second call, and not after a cell has changed."""
    call = "trials.run(trial, n_trials=4, seconds=2.0, n_jobs=2)['value'].sum()"
    first = "import numpy as np\nfrom lib import trials\ndef note(number):\n    pass"
    cells = [first, *CELLS.values(), call, call, HELPER.replace("+ 1", "+ 2"), call]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    NotebookClient(made, resources={"metadata": {"path": str(tmp_path)}}).execute()
    values = [cell.outputs[0]["data"]["text/plain"] for cell in made.cells if cell.source == call]
    assert values[0] == values[1] != values[2]
    assert [note["blocks"] for note in told("found")] == [4]
    assert len(list(results.rglob("*.block"))) == 8
