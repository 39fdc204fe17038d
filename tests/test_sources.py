"""The source of lib: what has changed since a process began, what a module reaches, digests."""

from textwrap import dedent

import pytest
from test_compiled import Copy

from lib.base import sources


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


def test_an_edit_is_noticed_and_so_is_its_undoing(copy):
    code = """
from pathlib import Path
from lib.base.sources import changed_modules
names = {"lib.base.validation", "lib.base.colour", "lib.winnow.fast"}
path = Path("lib/base/validation.py")
original = path.read_text()
print(changed_modules(names))
for text in ("# words", "EDITED = 1"):
    path.write_text(f"{original}{text}\\n")
    Path("lib/base/colour.py").unlink(missing_ok=True)
    print(changed_modules(names))
path.write_text(original)
print(changed_modules(names - {"lib.base.colour"}))
"""
    lines = ["[]", "['lib.base.colour']", "['lib.base.colour', 'lib.base.validation']", "[]"]
    assert copy.run(code).splitlines() == lines


@pytest.mark.slow
def test_lib_may_be_a_link(copy):
    target = copy.folder / "elsewhere" / "library"
    target.parent.mkdir()
    copy.lib.rename(target)
    copy.lib.symlink_to(target, target_is_directory=True)
    code = """
from lib.base import sources
from lib.base.files import LIB
print(LIB, sorted(sources.SOURCES)[:2])
"""
    assert copy.run(code) == f"{copy.lib} ['lib', 'lib.backgammon']\n"


# Closures and digests


def source(text):
    return dedent(text).encode()


TREE = {
    "lib": source("from lib import first"),
    "lib.first": b"",
    "lib.one": source("from lib.two import Thing, thing\nimport numpy as np"),
    "lib.two": source("class Thing: pass\nthing = Thing()"),
    "lib.inside": source("""
        def later():
            if True:
                import lib.two as other
            from lib.pack import part
    """),
    "lib.pack": source("from lib.pack.part import name"),
    "lib.pack.part": source("name = 1"),
    "lib.pack.relative": source(
        "from . import part\nfrom ..two import thing\nfrom .deep import leaf"
    ),
    "lib.pack.deep": source("from .leaf import green\nfrom ..other import blue"),
    "lib.pack.deep.leaf": source("green = 1"),
    "lib.pack.other": source("blue = 1"),
    "lib.loop": source("from lib.pool import a"),
    "lib.pool": source("from lib.loop import b"),
    "lib.star": source("from lib.two import *"),
    "lib.namespace.module": source("from lib import two"),
}
PACK = {"lib.pack", "lib.pack.part"}


@pytest.mark.parametrize(
    ("names", "modules"),
    [
        ([], set()),
        (["lib"], set()),
        (["lib.one"], {"lib.one", "lib.two"}),
        (["lib.one.Thing"], {"lib.one", "lib.two"}),
        (["lib.two.Thing.method"], {"lib.two"}),
        (["lib.nothing"], set()),
        (["numpy.linalg"], set()),
        (["lib.inside"], {"lib.inside", "lib.two", *PACK}),
        (["lib.pack"], PACK),
        (["lib.pack.other"], {"lib.pack.other", *PACK}),
        (["lib.pack.deep"], {"lib.pack.deep", "lib.pack.deep.leaf", "lib.pack.other", *PACK}),
        (
            ["lib.pack.relative"],
            {
                "lib.pack.relative",
                "lib.two",
                "lib.pack.deep",
                "lib.pack.deep.leaf",
                "lib.pack.other",
                *PACK,
            },
        ),
        (["lib.loop"], {"lib.loop", "lib.pool"}),
        (["lib.star"], {"lib.star", "lib.two"}),
        (["lib.namespace.module"], {"lib.namespace.module", "lib.two"}),
        (["lib.one", "lib.loop"], {"lib.one", "lib.two", "lib.loop", "lib.pool"}),
    ],
)
def test_closures(names, modules):
    """Packages run when a module in them does; the first one, and what it imports, always."""
    assert sources.closure(names, TREE) == modules | {"lib", "lib.first"}


@pytest.mark.slow
def test_what_is_imported_is_in_the_closure(copy):
    """The modules that Python really loads, in a fork of one process for each module."""
    names = [name for name in sources.SOURCES if not name.startswith("lib.book")]
    code = f"""
import importlib, os, sys
from lib.base import sources
for name in {names}:
    reader, writer = os.pipe()
    if not os.fork():
        importlib.import_module(name)
        loaded = {{module for module in sys.modules if module.partition(".")[0] == "lib"}}
        missing = loaded - sources.closure([name])
        os.write(writer, f"{{name}} {{sorted(missing)}}\\n".encode() if missing else b"fine")
        os._exit(0)
    os.wait()
    answer = os.read(reader, 10_000)
    assert answer == b"fine", answer
"""
    # imported once, before the forks
    preload = "import numpy, numba, scipy.stats, scipy.optimize, pandas, matplotlib\n"
    preload += "import sklearn.base, sklearn.utils\n"
    copy.run(preload + code)


SAME_CODES = [
    "x = 1  # a comment",
    "\n\n\nx  =  (1)\n",
    '"""A docstring."""\nx = 1',
    "# -*- coding: utf-8 -*-\nx = 0x1",
    "x \\\n= 1",
]
FUNCTION = '''
def f(a, b=1):
    """{docstring}"""
    return a
class C:
    """{docstring}"""
    async def g(self):
        """{docstring}"""
        return "{text}"
'''
VALUES = ["x = 2", "x = 1.0", "x = True", "x = '1'", "x = b'1'", "x = 1j", "x = -1"]
FORMS = [
    "y = 1",
    "x: int = 1",
    "x += 1",
    "x == 1",
    "x = 1 if x else 1",
    "x = 1\nx",
    "x = 1\n'text'",
    "global x\nx = 1",
]
OTHER_CODES = [*VALUES, *FORMS, "from x import x", "import x", "del x", ""]


@pytest.mark.parametrize("text", SAME_CODES)
def test_digests_leave_out_comments_docstrings_and_layout(text):
    """These change no result, so that an edit of them makes no stored one old."""
    assert sources.code_digest(text) == sources.code_digest("x = 1")
    assert sources.code_digest(text.encode()) == sources.code_digest("x = 1")


def test_digests_leave_out_docstrings_wherever_they_stand_and_no_other_text():
    code = FUNCTION.format(docstring="One.", text="a")
    digest = sources.code_digest(code)
    assert sources.code_digest(FUNCTION.format(docstring="Another.", text="a")) == digest
    assert sources.code_digest(FUNCTION.format(docstring="One.", text="b")) != digest
    assert sources.code_digest(code.replace("b=1", "b=2")) != digest


def test_digests_see_all_else():
    digests = [sources.code_digest(text) for text in ("x = 1", *OTHER_CODES)]
    assert len(set(digests)) == len(digests)


def test_a_digest_is_of_what_bytes_mean():
    """In which encoding they are is a comment that says something."""
    utf8 = b"x = '\xc3\xa9'"
    latin = b"# -*- coding: latin-1 -*-\n" + utf8
    assert sources.code_digest(latin) != sources.code_digest(utf8)
    assert sources.code_digest(latin) == sources.code_digest("x = '\u00c3\u00a9'")


def test_what_is_no_python_has_a_digest_too():
    tree = {"lib": b"", "lib.broken": b"def f(:"}
    assert set(sources.module_digests(["lib", "lib.broken"], tree)) == {"lib", "lib.broken"}
    changed_tree = tree | {"lib.broken": b"def f(:  # a comment"}
    assert sources.module_digests(tree, tree) != sources.module_digests(tree, changed_tree)
