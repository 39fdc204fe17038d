"""One version of lib in a process, that of its beginning, whatever becomes of the files."""

import multiprocessing
import os
import subprocess
import sys
from textwrap import dedent

import pytest
from test_compiled import Copy

from lib import sources
from lib.files import LIB


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


EDIT = """
path = Path("lib/validation.py")
path.write_text(path.read_text() + "EDITED = 1\\n")
"""


def test_a_module_imported_after_an_edit_is_that_of_the_beginning(copy):
    code = f"""
from pathlib import Path
from lib import sources
assert sources.read_sources() == sources.SOURCES
{EDIT}
from lib import validation
print(hasattr(validation, "EDITED"), sources.read_sources() != sources.SOURCES, sources.RELOADED)
"""
    assert copy.run(code) == "False True set()\n"
    assert copy.run("from lib import validation; print(validation.EDITED)") == "1\n"


def test_a_module_that_was_deleted_is_imported_all_the_same(copy):
    code = """
from pathlib import Path
Path("lib/validation.py").unlink()
from lib.validation import check_integer
print(check_integer("n", 3, 1))
"""
    assert copy.run(code) == "3\n"


def test_byte_code_of_another_version_of_the_same_size_and_time_is_not_used(copy):
    """Python itself compares size and time only."""
    print_version = "from lib import colour; print(colour.VERSION)"
    write_byte_code = """
import py_compile
by_time = py_compile.PycInvalidationMode.TIMESTAMP
print(py_compile.compile('lib/colour.py', invalidation_mode=by_time))
"""
    path = copy.path("lib.colour")
    path.write_text(path.read_text() + "VERSION = 1\n")
    first = path.stat()
    assert copy.run(write_byte_code + print_version).splitlines()[1:] == ["1"]
    copy.edit("lib.colour", "VERSION = 1\n", "VERSION = 2\n")
    os.utime(path, ns=(first.st_atime_ns, first.st_mtime_ns))
    second = path.stat()
    assert second.st_size == first.st_size
    assert second.st_mtime_ns == first.st_mtime_ns
    assert copy.run(print_version) == "2\n"


def test_a_reloaded_module_is_new_and_remembered_and_stops_the_cache(copy):
    code = f"""
import importlib
from pathlib import Path
import numpy as np
from lib import sources, validation
{EDIT}
importlib.reload(validation)
print(validation.EDITED, sources.RELOADED, sources.read_sources() != sources.SOURCES)
from lib import compiled
from lib.winnow.fast import active_sums  # of a package that imports what was reloaded
active_sums(np.array([0, 1]), np.array([0]), np.ones((1, 1)))
print(len(list(compiled.cache_root().rglob("*.nbi"))))
"""
    assert copy.run(code) == "1 {'lib.validation'} False\n0\n"


def test_a_module_that_is_newer_than_the_process_is_not_imported(copy):
    code = """
from pathlib import Path
Path("lib/novel.py").write_text("")
Path("lib/winnow/novel.py").write_text("")
for name in ("lib.novel", "lib.winnow.novel", "lib.unknown"):
    try:
        __import__(name)
    except ImportError as error:
        print(error.name, "start Python again" in str(error), "novel.py" in str(error))
"""
    assert copy.run(code).splitlines() == [
        "lib.novel True True",
        "lib.winnow.novel True True",
        "lib.unknown False False",
    ]


def test_python_finds_source_and_functions(copy):
    code = """
import inspect, pickle
from lib import validation
from lib.validation import check_integer
assert inspect.getsource(check_integer).startswith("def check_integer(")
assert inspect.getsource(validation) == validation.__loader__.get_source("lib.validation")
assert pickle.loads(pickle.dumps(check_integer)) is check_integer
try:
    check_integer("n", 0, 1)
except ValueError as error:
    frame = error.__traceback__.tb_next.tb_frame
    print(frame.f_code.co_filename == validation.__file__)
"""
    assert copy.run(code) == "True\n"


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_functions_go_to_other_processes(method, copy):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("unknown here")
    code = f"""
import multiprocessing
from lib.validation import check_integer
if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(1) as pool:
        print(pool.starmap(check_integer, [("n", 3, 1)]))
"""
    script = copy.folder / "script.py"
    script.write_text(code)
    run_script = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    assert copy.run(run_script) == "[3]\n"


def test_the_command_works_as_a_module(copy):
    (copy.folder / "chapters").symlink_to(LIB.parent / "chapters")
    for name in ("_toc.yml", "_config.yml"):
        (copy.folder / name).symlink_to(LIB.parent / name)
    environment = os.environ | {"PYTHONPATH": str(copy.folder)}
    command = [sys.executable, "-m", "lib.book", "list"]
    process = subprocess.run(
        command, cwd=copy.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert "rl/temporal_differences" in process.stdout


def test_lib_may_be_a_link(copy):
    target = copy.folder / "elsewhere" / "library"
    target.parent.mkdir()
    copy.lib.rename(target)
    copy.lib.symlink_to(target, target_is_directory=True)
    code = """
from lib.files import LIB
from lib import validation, sources
print(LIB, sorted(sources.SOURCES)[:2])
"""
    assert copy.run(code) == f"{copy.lib} ['lib', 'lib.arrays']\n"


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
from lib import sources
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


def test_a_broken_module_that_is_not_imported_breaks_nothing(copy):
    importing_path = copy.path("lib.hidden_markov")
    importing_path.write_text(
        importing_path.read_text() + "\ndef later():\n    import lib.broken\n"
    )
    (copy.lib / "broken.py").write_text("def f(:")
    copy.run("import lib.hidden_markov; from lib import compiled; compiled.is_warm()")


def test_a_package_wins_over_a_module_as_in_python(copy):
    (copy.lib / "colour").mkdir()
    (copy.lib / "colour" / "__init__.py").write_text("WHICH = 'package'\n")
    assert copy.run("from lib.colour import WHICH; print(WHICH)") == "package\n"


def test_a_second_lib_is_not_mixed_with_the_first(copy):
    code = """
import shutil, sys
from pathlib import Path
shutil.copytree("lib", "other/lib")
Path("other/lib/colour.py").write_text("WHICH = 2\\n")
import lib.validation
for name in [name for name in sys.modules if name.partition(".")[0] == "lib"]:
    del sys.modules[name]
sys.path.insert(0, "other")
import lib.colour
print(lib.colour.WHICH)
"""
    assert copy.run(code) == "2\n"


def test_reloading_the_reader_is_no_new_beginning(copy):
    code = """
import importlib
from pathlib import Path
from lib import sources, validation
path = Path("lib/validation.py")
path.write_text(path.read_text() + "EDITED = 1\\n")
try:
    importlib.reload(sources)
except ImportError:
    pass
is_edited = b"EDITED" in sources.SOURCES["lib.validation"]
print(hasattr(validation, "EDITED") == is_edited or bool(sources.RELOADED))
"""
    assert copy.run(code) == "True\n"
