"""What a block's key is made of: source and values, the same in any process."""

import os
import subprocess
import sys
import threading
from functools import partial
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lib import datasets, figures
from lib.base import sources
from lib.base.files import LIB
from lib.cia import CIAModel
from lib.trials import source_key
from lib.trials.source_key import PACKAGES, NotDescribableError, describe
from lib.trials.store import encode, environment
from lib.winnow import Winnow, WinnowEnsemble

TESTS = Path(__file__).parent
# Packages that trials import and that have no part in their numbers: they draw, show progress,
# fetch, run or write.
NO_NUMBERS = {
    "IPython",
    "dask",
    "jinja2",
    "matplotlib",
    "matplotlib_inline",
    "myst_nb",
    "platformdirs",
    "pooch",
    "requests",
    "seaborn",
    "tqdm",
    "yaml",
}


def trial_modules():
    """Modules of lib that a trial may use."""
    return [name for name in sources.SOURCES if not name.startswith("lib.book")]


class ForeignLearner(DummyClassifier):
    """Somebody's learner."""


def frame_of(values, **settings):
    return pd.DataFrame({"a": pd.Series(values, **settings)})


def categories(values, levels):
    return frame_of(pd.Categorical(values, categories=levels))


def model(p):
    return CIAModel(np.array([0.5, 0.5]), np.array([[p, 0.5], [0.5, 0.5]]))


SCALARS = [0, 1, 1.0, True, False, 0.0, -0.0, "1", "", None, "None", np.nan, "nan", np.inf, 2**70]
LISTS = [[], [1], [[1]], [1, 2], [[1], 2]]
DICTS = [{}, {"a": 1}, {"a": 2}, {"b": 1}, {1: "a"}, {"1": "a"}]
SETS = [{1, 2}, {1, 3}, set()]
ARRAYS = [
    *[np.array(values) for values in ([1], [1.0], [[1]], ["a"], ["ab"], [True])],
    np.array([1], dtype=np.int32),
]
OBJECTS = [np.log, np.exp, len, "numpy.log", Winnow, describe, np, datasets, figures]
BYTES_AND_COMPLEX = [b"a", b"b", 1j, 2j, ...]
# what Python calls equal to one of the values above, and computes otherwise with
EQUAL_SCALARS = [np.int64(1), np.float32(0.5), 0.5, np.True_, np.str_("a")]
EQUAL_CONTAINERS = [(1, 2), range(1, 3), frozenset({1, 2}), bytearray(b"a")]
EVERYTHING = [
    *SCALARS,
    *LISTS,
    *DICTS,
    *SETS,
    *ARRAYS,
    *[frame_of([1, 2]), frame_of([2, 1]), frame_of([1.0, 2.0]), frame_of([1, 2], index=[1, 0])],
    pd.DataFrame({"b": [1, 2]}),
    *[frame_of(["a", x], dtype=kind) for x in (np.nan, "nan") for kind in (object, "str")],
    *[categories(["a", "b"], levels) for levels in (["a", "b"], ["b", "a"], ["a", "b", "c"])],
    *[
        categories(["a", value], ["a", level])
        for value, level in ((np.nan, "b"), (np.nan, "nan"), ("nan", "nan"))
    ],
    *OBJECTS,
    *BYTES_AND_COMPLEX,
    *EQUAL_SCALARS,
    *EQUAL_CONTAINERS,
    np.eye(2),
    # a sum in another order of memory may differ in its last bit
    np.asfortranarray(np.array([[1.0, 2.0], [3.0, 4.0]])),
    np.array([[1.0, 2.0], [3.0, 4.0]]),
    *[pd.DataFrame({1: [1, 2]}), pd.DataFrame({"1": [1, 2]}), frame_of([1, 2]).rename_axis("rows")],
    *[partial(encode), partial(encode, 1), partial(encode, frame=1), partial(describe, 1)],
    *[Winnow(), Winnow(2.5), Winnow(n_passes=3), WinnowEnsemble(), model(0.1), model(0.2)],
    *[Winnow(random_state=0).fit([[0, 1], [1, 0]], y) for y in ([0, 1], [1, 0])],
    make_pipeline(Winnow()),
    *[make_pipeline(FunctionTransformer(f), Winnow()) for f in (np.asarray, np.log)],
    *[make_pipeline(FunctionTransformer(np.log), LogisticRegression(C=c)) for c in (1.0, 2.0)],
]


def digests():
    """Of everything above, and of data sets that differ in name and rows."""
    loaded = [
        datasets.load("iris"),
        datasets.load("breast"),
        datasets.load("breast").complete_rows(),
    ]
    return [describe(thing).digest for thing in EVERYTHING + loaded]


def test_different_values():
    values = digests()
    assert [i for i, value in enumerate(values) if value in values[:i]] == []


@pytest.mark.parametrize(
    ("value", "equal_value"),
    [
        ({"b", "a"}, {"a", "b"}),
        (Winnow(2.5), clone(Winnow(2.5))),
        (make_pipeline(Winnow()), clone(make_pipeline(Winnow()))),
        (np.arange(4), np.arange(8)[::2] // 2),
        (frame_of([1, 2]), frame_of([1, 2]).copy()),
        (model(0.3), model(0.3)),
    ],
)
def test_equal_values(value, equal_value):
    assert describe(value) == describe(equal_value)


@pytest.mark.slow
def test_another_process_says_the_same():
    code = "from test_source_key import digests; print(digests())"
    variables = os.environ | {"PYTHONHASHSEED": "5", "PYTHONPATH": f"{LIB.parent}:{TESTS}"}
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=TESTS, env=variables, capture_output=True, text=True
    )
    assert process.stdout.strip() == str(digests()), process.stderr


@pytest.mark.parametrize("thing", [ForeignLearner(), threading.Lock(), (i for i in range(2))])
def test_what_is_refused(thing):
    """Somebody's module, which no key follows, and what cannot be sent to another process."""
    pipeline = make_pipeline(FunctionTransformer(thing))
    for value in (thing, [thing], {"a": thing}, partial(np.log, thing), pipeline):
        with pytest.raises(NotDescribableError):
            describe(value)


def test_a_message_says_what_to_do():
    with pytest.raises(NotDescribableError, match=r"test_source_key.* define in the notebook"):
        describe(ForeignLearner())
    with pytest.raises(NotDescribableError, match="not at hand: define it in a cell"):
        describe(eval("lambda: 1", {"__name__": "__main__"}))


# Kinds of things that a notebook has: a source, a part of it, and what changes what the thing does.
NOTEBOOK = {
    "a lambda": ("thing = lambda x: x + 1", "+ 1", "+ 2"),
    "a lambda's text, which is no docstring": ("thing = lambda: 'one'", "one", "two"),
    "the name of a function": ("def one():\n    return 1\nthing = one", "one", "two"),
    "a metaclass": (
        "class A(type):\n    x = 1\nclass thing(metaclass=A):\n    pass",
        "x = 1",
        "x = 2",
    ),
    "a comprehension's text": ("def thing():\n    return ['one' for _ in range(2)]", "one", "two"),
    "a constant in a nested function": (
        "def thing():\n    def f():\n        return 1\n    return f",
        "1",
        "2",
    ),
    "a name in a nested class": (
        "scale = 1\ndef thing():\n    class A:\n        b = scale",
        "scale = 1",
        "scale = 2",
    ),
    "an exception that is caught": (
        "def thing():\n    try:\n        f()\n    except KeyError:\n        pass",
        "Key",
        "Type",
    ),
    "a default": ("def thing(x=1):\n    return x", "=1", "=2"),
    "a keyword's default": ("def thing(*, x=1):\n    return x", "=1", "=2"),
    "an attribute of a function": (
        "def thing():\n    return thing.scale\nthing.scale = 1",
        "scale = 1",
        "scale = 2",
    ),
    "what a decorator makes of it": (
        "from functools import wraps\ndef twice(f):\n    @wraps(f)\n"
        "    def g(x):\n        return 2 * f(x)\n    return g\n@twice\ndef thing(x):\n    return x",
        "2 *",
        "3 *",
    ),
    "a method of a class": ("class thing:\n    def f(self):\n        return 1", "1", "2"),
    "a method's helper": (
        "def h():\n    return 1\nclass thing:\n    def f(self):\n        return h()",
        "1",
        "2",
    ),
    "a base class": ("class A:\n    x = 1\nclass thing(A):\n    pass", "x = 1", "x = 2"),
    "a property": ("class thing:\n    @property\n    def f(self):\n        return 1", "1", "2"),
    "a static method": (
        "class thing:\n    @staticmethod\n    def f():\n        return 1",
        "1",
        "2",
    ),
    "an object's class": ("class A:\n    def f(self):\n        return 1\nthing = A()", "1", "2"),
    "an object's state": ("class A:\n    pass\nthing = A()\nthing.x = 1", "x = 1", "x = 2"),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
        "    def f(self):\n        return 1\nthing = A(3)",
        "1",
        "2",
    ),
    "a method of a named tuple": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n"
        "    def f(self):\n        return 1\nthing = A(3)",
        "1",
        "2",
    ),
    "a method of a dict": (
        "class A(dict):\n    def f(self):\n        return 1\nthing = A(a=3)",
        "1",
        "2",
    ),
    "a dict's item": ("class A(dict):\n    pass\nthing = A(a=3)", "3", "4"),
    "a method of a text": (
        "class A(str):\n    def f(self):\n        return 1\nthing = A('a')",
        "1",
        "2",
    ),
    "a method of an enum": (
        "from enum import Enum\nclass A(Enum):\n    X = 3\n"
        "    def f(self):\n        return 1\nthing = A.X",
        "1",
        "2",
    ),
    "a number that is an enum": (
        "from enum import IntEnum\nclass A(IntEnum):\n    X = 3\n"
        "    def f(self):\n        return 1\nthing = A.X",
        "1",
        "2",
    ),
    "a bound method's object": ("thing = [1].count", "1", "2"),
    "an import of lib inside": ("def thing():\n    from lib import winnow", "winnow", "trees"),
    "a generator of random numbers": (
        "import numpy as np\nthing = np.random.default_rng(1)",
        "1",
        "2",
    ),
}


@pytest.mark.parametrize("kind", NOTEBOOK)
def test_what_a_notebook_has(kind, cells):
    """A description stays if the cell runs again with other words, and changes with the source."""
    source, old, new = NOTEBOOK[kind]
    assert source.count(old) == (2 if kind == "the name of a function" else 1)
    values = []
    for text in (source, f"# words\n\n{source}", source.replace(old, new)):
        cells(text)
        values.append(describe(cells["thing"]).digest)
    original, reworded, changed = values
    assert original == reworded
    assert changed != original


def test_docstrings_are_words(cells):
    source = (
        'def thing(x):\n    """Words."""\n'
        '    def f():\n        "More."\n        return x\n    return f\n'
    )
    values = set()
    for text in (source, source.replace("Words", "Other words"), source.replace("More", "Less")):
        cells(text)
        values.add(describe(cells["thing"]).digest)
    assert len(values) == 1


WRAPPED = (
    "from functools import wraps\nimport numpy as np\n"
    "def twice(f):\n    @wraps(f)\n    def g(x):\n        return 2 * f(x)\n    return g\n"
)
NOTEBOOK |= {
    "a wrapper of numpy's function": (WRAPPED + "thing = twice(np.mean)", "2 *", "3 *"),
    "an object that bears numpy's name": (
        "import functools, numpy as np\nclass A:\n    def __init__(self, f):\n"
        "        functools.update_wrapper(self, f)\n        self.k = 4\nthing = A(np.mean)",
        "k = 4",
        "k = 5",
    ),
    "a class that says it is lib's": (
        "from lib.winnow import Winnow\n"
        "attributes = {'__module__': 'lib.winnow.online', 'k': 2}\n"
        "thing = type('Winnow', (Winnow,), attributes)",
        "'k': 2",
        "'k': 3",
    ),
    "a class method": (
        "class A:\n    k = 2\n    @classmethod\n    def f(cls):\n        return cls.k\nthing = A.f",
        "k = 2",
        "k = 3",
    ),
    "an inherited class method": (
        "class A(dict):\n    k = 2\nthing = A.fromkeys",
        "k = 2",
        "k = 3",
    ),
    "one object under two names, or two": (
        "import numpy as np\nr = np.random.default_rng(0)\ns = r\ndef thing():\n    return r, s",
        "s = r",
        "s = np.random.default_rng(0)",
    ),
    "a pattern": ("import re\nthing = re.compile('one')", "one", "two"),
}


def test_what_a_package_is_counts_with_its_version(cells, monkeypatch):
    cells("import tqdm\ndef thing():\n    return tqdm.tqdm")
    digest = describe(cells["thing"]).digest
    monkeypatch.setattr(source_key, "version", lambda _: "0")
    assert describe(cells["thing"]).digest != digest


def test_pages_may_not_be_made(cells):
    cells("def thing():\n    from lib.book import cli")
    with pytest.raises(NotDescribableError, match="makes pages"):
        environment(describe(cells["thing"]).modules)


def test_figures_may_be_used_and_count():
    """All of lib but the press is followed."""
    codes = [environment(describe(use).modules)["lib"] for use in (figures.style_of, Winnow)]
    assert codes[0] != codes[1]


def test_the_lists_of_names_are_of_modules_that_are_there():
    third_party = set()
    for module in trial_modules():
        third_party.update(name.partition(".")[0] for name in sources.imports(module))
    third_party -= {*sys.stdlib_module_names, "lib", ""}
    assert third_party - PACKAGES.keys() <= NO_NUMBERS
    for package, distribution in PACKAGES.items():
        assert distribution in metadata.packages_distributions()[package]
