"""Descriptions of values, the settings part of a block's key: equal for equal values, and in any process; else not."""

import os
import subprocess
import sys
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lib import claims, datasets, figures
from lib.cia import CIAModel
from lib.trials.description import NotDescribableError, code_digest, describe, digest
from lib.trials.store import LIB
from lib.winnow import Winnow, WinnowEnsemble

TESTS = Path(__file__).parent


class Own(DummyClassifier):
    """Somebody's learner."""


def frame_of(values, **settings):
    return pd.DataFrame({"a": pd.Series(values, **settings)})


def categories(values, known):
    return frame_of(pd.Categorical(values, categories=known))


def model(p):
    return CIAModel(np.array([0.5, 0.5]), np.array([[p, 0.5], [0.5, 0.5]]))


ARRAYS = [np.array(a) for a in ([1], [1.0], [[1]], ["a"], ["ab"], [True])] + [np.array([1], dtype=np.int32)]
EVERYTHING = [
    *[0, 1, 1.0, True, False, 0.0, -0.0, "1", "", None, "None", np.nan, "nan", np.inf, 2**70],
    *[[], [1], [[1]], [1, 2], [[1], 2], {}, {"a": 1}, {"a": 2}, {"b": 1}, {1: "a"}, {"1": "a"}, {1, 2}, {1, 3}, set()],
    *ARRAYS,
    *[frame_of([1, 2]), frame_of([2, 1]), frame_of([1.0, 2.0]), frame_of([1, 2], index=[1, 0])],
    pd.DataFrame({"b": [1, 2]}),
    *[frame_of(["a", x], dtype=kind) for x in (np.nan, "nan") for kind in (object, "str")],
    *[categories(["a", "b"], known) for known in (["a", "b"], ["b", "a"], ["a", "b", "c"])],
    *[categories(["a", x], ["a", known]) for x, known in ((np.nan, "b"), (np.nan, "nan"), ("nan", "nan"))],
    *[np.log, np.exp, len, "numpy.log", Winnow, describe, np, datasets, os],
    *[partial(digest), partial(digest, 1), partial(digest, description=1), partial(describe, 1)],
    *[Winnow(), Winnow(2.5), Winnow(n_passes=3), WinnowEnsemble(), model(0.1), model(0.2)],
    *[Winnow().fit([[0, 1], [1, 0]], y) for y in ([0, 1], [1, 0])],
    make_pipeline(Winnow()),
    *[make_pipeline(FunctionTransformer(f), Winnow()) for f in (np.asarray, np.log)],
    *[make_pipeline(FunctionTransformer(np.log), LogisticRegression(C=c)) for c in (1.0, 2.0)],
]


def digests():
    """Of everything above, and of data sets that differ in name and rows."""
    loaded = [datasets.load("iris"), datasets.load("breast"), datasets.load("breast").complete_rows()]
    return [digest(describe(thing)) for thing in EVERYTHING + loaded]


def test_different_values():
    found = digests()
    assert [i for i, one in enumerate(found) if one in found[:i]] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, np.int64(1)),
        (0.5, np.float32(0.5)),
        (True, np.True_),
        ("a", np.str_("a")),
        ((1, 2), [1, 2]),
        ([0, 1], range(2)),
        ({"b", "a"}, {"a", "b"}),
        (Winnow(2.5), clone(Winnow(2.5))),
        (make_pipeline(Winnow()), clone(make_pipeline(Winnow()))),
        (np.arange(4), np.arange(8)[::2] // 2),
        (np.eye(2), np.asfortranarray(np.eye(2))),
        (frame_of([1, 2]), frame_of([1, 2]).copy()),
        (model(0.3), model(0.3)),
    ],
)
def test_equal_values(one, other):
    assert digest(describe(one)) == digest(describe(other))


def test_another_process_says_the_same():
    code = "from test_description import digests; print(digests())"
    environment = os.environ | {"PYTHONHASHSEED": "5", "PYTHONPATH": str(LIB.parent)}
    found = subprocess.run([sys.executable, "-c", code], cwd=TESTS, env=environment, capture_output=True, text=True)
    assert found.stdout.strip() == str(digests()), found.stderr


def test_what_is_not_followed():
    def local():
        pass

    rng = np.random.default_rng(0)
    main = type("Learner", (DummyClassifier,), {"__module__": "__main__"})
    things = [lambda: 0, local, Own(), main(), rng, rng.normal, Winnow().fit, "a".upper, object(), pytest, TESTS]
    things += [figures, figures.look, claims]
    things += [datetime(2000, 1, 1), np.datetime64("2000"), np.longdouble(1), 1j, b"a", pd.Series([1])]
    for thing in things:
        for value in (thing, [thing], {"a": thing}, partial(np.log, thing), make_pipeline(FunctionTransformer(thing))):
            with pytest.raises(NotDescribableError):
                describe(value)


def test_code():
    """Words about code are left out, text that is a value is not."""
    source = 'def f(x):\n    """Words."""\n    return x  # comment\n'
    assert code_digest(source) == code_digest("def f(x):\n\n    return (\n        x)\n")
    assert code_digest(source) != code_digest(source.replace("return x", "return -x"))
    assert code_digest('a = "x"') != code_digest('a = "y"')
