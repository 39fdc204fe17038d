"""Machine code on disk is never of other source, settings or versions than those that run.

What is edited is a copy of lib, in a folder of the test; what runs it is a new Python, as whoever
edits starts one.
"""

import ast
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import llvmlite
import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

from lib.base import compiled, sources
from lib.base.files import LIB

PRESS = "lib.book"  # runs chapters and has no kernels
# numba's decorators that compile
COMPILERS = {
    "jit",
    "njit",
    "vectorize",
    "guvectorize",
    "cfunc",
    "stencil",
    "generated_jit",
    "jitclass",
}
INTRINSIC = type(intrinsic(lambda typing: None))  # numba has no public name for it


class Copy:
    """A copy of lib in a folder, to edit and to run in new processes, which have an empty home."""

    def __init__(self, folder):
        self.folder = folder
        self.lib = folder / "lib"
        self.home = folder / "home"
        self.cache = self.lib / "__pycache__"
        shutil.copytree(LIB, self.lib, ignore=shutil.ignore_patterns("__pycache__"))
        self.home.mkdir()

    def run(self, code, *options, **variables):
        """Return what a new Python prints that runs this code with the copy."""
        prefixes = ("NUMBA_", "PYTHON", "XDG_")
        environment = {}
        for name, value in os.environ.items():
            if not name.startswith(prefixes):
                environment[name] = value
        environment["PYTHONPATH"] = str(self.folder)
        environment["HOME"] = str(self.home)
        environment.update(variables)
        package = str(self.lib / "__init__.py")
        code = f"import lib\nassert lib.__file__ == {package!r}, lib.__file__\n{code}"
        command = [sys.executable, *options, "-c", code]
        process = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stderr
        return process.stdout

    def path(self, module):
        """Return the file of a module."""
        stem = self.folder.joinpath(*module.split("."))
        return stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")

    def edit(self, module, old, new):
        """Replace a text that a module has once; return a function that puts it back."""
        path = self.path(module)
        original = path.read_bytes()
        text = original.decode()
        assert text.count(old) == 1, f"{module} has {text.count(old)} times: {old}"
        path.write_bytes(text.replace(old, new).encode())

        def revert():
            path.write_bytes(original)

        return revert

    def machine_code(self):
        """Return the files of machine code, wherever they are in the folder."""
        return {path for path in self.folder.rglob("*") if path.suffix in (".nbi", ".nbc")}


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


class Edit(NamedTuple):
    """A text of a module, and what comes in its place."""

    module: str
    old: str
    new: str


class Family(NamedTuple):
    """Code that runs kernels, and edits of a constant and of a kernel in another file."""

    code: str
    callee: Edit
    constant: Edit | None = None


FAMILIES = {
    "trees": Family(
        """
import numpy as np
from lib.trees import GainRatioTree
X = np.random.default_rng(0).normal(size=(100, 2))
print(GainRatioTree().fit(X, (X[:, 0] > 0) == (X[:, 1] > X[:, 0])).n_nodes_)
""",
        Edit(
            "lib.trees.growing", 'gets; -1 for none."""\n', 'gets; -1 for none."""\n    return -1\n'
        ),
        Edit("lib.trees.node_cases", "\nSMALL = 1e-6", "\nSMALL = 30.0"),
    ),
    "decisions": Family(
        """
import numpy as np
from lib.decisions import random_mdp, td_lookahead
print(td_lookahead(random_mdp(5, 2, 2, np.random.default_rng(0)), 0.9, 0.5, 1))
""",
        Edit(
            "lib.decisions.programming",
            "state] + discount * total\n",
            "state] - discount * total\n",
        ),
    ),
    "backgammon": Family(
        """
from lib.backgammon import RandomPlayer, RulePlayer, match
print(match(RulePlayer(), RandomPlayer(), 20))
""",
        Edit(
            "lib.backgammon.players",
            "values[i] = _rule_value",
            "values[i] = -_rule_value",
        ),
        Edit("lib.backgammon.rules", "\nHOME = 6", "\nHOME = 12"),
    ),
    "relevance": Family(
        """
import numpy as np
from lib.relevance import left_out_mistakes
X = np.random.default_rng(0).normal(size=(60, 3))
print(left_out_mistakes(X, X[:, 0] > 0, np.ones(3, bool)).sum())
""",
        Edit("lib.relevance.distance", "totals[i] += difference(", "totals[i] -= difference("),
    ),
    "bayes_net": Family(
        """
import numpy as np
from lib.bayes_net import Cases, Network
rng = np.random.default_rng(0)
network = Network([(), (0,), (0, 1)], [2, 3, 3])
codes = np.column_stack([rng.integers(0, 2, 30), rng.integers(-1, 3, (30, 2))])
print(Cases.from_rows(network, codes).value_and_gradient(10 * rng.random(network.n_parameters)))
""",
        Edit(
            "lib.bayes_net.messages",
            "product[p, c] *= cells[index, c]",
            "product[p, c] *= cells[index, c] + c",
        ),
        Edit("lib.bayes_net.messages", "\nLOWEST = 1e-300", "\nLOWEST = 0.1"),
    ),
    "latent_class": Family(
        """
import numpy as np
from lib.latent_class import em, fast
rng = np.random.default_rng(0)
rows = rng.integers(0, 2, (60, 5), dtype=np.uint8)
weights = np.full((3, 2), 0.5)
probabilities = rng.random((3, 2, 5))
print(em.maximize(rows, np.ones(60), weights, probabilities, 5, 1e-6, float))
print(fast._relative_coefficients(np.ones((3, 2, 8)), np.ones(6))[0].shape)
""",
        Edit(
            "lib.base.compiled",
            "        target[i] = source[i]\n",
            "        target[i] = 2 * source[i]\n",
        ),
        Edit("lib.latent_class.fast", "LANES = 8", "LANES = 16"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_edited_kernels_and_constants_never_meet_old_machine_code(family, copy):
    """Machine code contains the kernels that it calls and the constants of its module."""
    code, callee, constant = FAMILIES[family]
    first = copy.run(code)

    revert = copy.edit(*callee)
    edited_output = copy.run(code)
    assert edited_output != first
    hidden_cache = copy.cache.rename(copy.folder / "hidden")
    assert copy.run(code) == edited_output, "as without any machine code"
    shutil.rmtree(copy.cache)
    hidden_cache.rename(copy.cache)
    revert()
    machine_code = copy.machine_code()
    assert copy.run(code) == first
    assert copy.machine_code() == machine_code, "the code before the edit is still compiled"

    if constant:
        revert = copy.edit(*constant)
        assert copy.run(code) != first
        revert()
        assert copy.run(code) == first


@pytest.mark.slow
def test_an_edited_kernel_never_meets_old_machine_code(copy):
    """The family that is compiled in the least time; the test above has the others."""
    code, callee, _ = FAMILIES["decisions"]
    first = copy.run(code)
    revert = copy.edit(*callee)
    assert copy.run(code) != first
    revert()
    machine_code = copy.machine_code()
    assert copy.run(code) == first
    assert copy.machine_code() == machine_code
    assert machine_code
    assert all(path.is_relative_to(copy.cache / "numba") for path in machine_code)


# From here on nothing is compiled: which folder machine code has.


def kernels(module):
    """Return the kernels that are defined in a module of lib, by name."""
    result = {}
    for name, value in vars(importlib.import_module(module)).items():
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module:
            result[name] = value
    return result


def modules_with_kernels():
    return [name for name in sources.SOURCES if not name.startswith(PRESS) and kernels(name)]


def codes(code):
    """Yield the code of a function and of all functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def outer_values(kernel):
    """Return what numba takes from outside a kernel into its machine code, by name."""
    function = kernel.py_func
    names = set()
    for code in codes(function.__code__):
        names.update(code.co_names)
    values = {name: function.__globals__[name] for name in names & set(function.__globals__)}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return values | dict(zip(function.__code__.co_freevars, cells, strict=True))


def origins(module):
    """Return the modules of lib from which a module imports names, by Python's own parser."""
    tree = ast.parse(sources.SOURCES[module])
    modules = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        assert node.level == 0, "lib has no relative imports"
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            modules.add(name if name in sources.SOURCES else node.module)
    return modules & set(sources.SOURCES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return `cache_folder` without its memory, for the source of lib as it is now."""
    monkeypatch.setattr(compiled, "cache_root", lambda: tmp_path)
    return compiled.cache_folder.__wrapped__


def edited_folder(folder, module, edited_module, source):
    """Return the folder of a module's machine code if another one had this source."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sources.SOURCES, edited_module, source)
        return folder(module)


def test_most_families_have_kernels():
    modules = set(modules_with_kernels())
    packages = {name.rpartition(".")[0] for name in modules}
    assert {f"lib.{family}" for family in FAMILIES} <= packages
    assert {
        "lib.trees.growing",
        "lib.trees.pruning",
        "lib.job_shop",
        "lib.winnow.fast",
        "lib.base.compiled",
    } <= modules


def test_the_folder_changes_with_each_module_that_a_kernel_takes_something_from(folder):
    """Not with comments and docstrings, which no machine code has."""
    for module in modules_with_kernels():
        current = folder(module)
        for edited_module in origins(module) | {module}:
            pair = (module, edited_module)
            source = sources.SOURCES[edited_module]
            statement = source + b"\nEDITED = 1\n"
            assert edited_folder(folder, module, edited_module, statement) != current, pair
            comment = source + b"\n\n# A comment.\n"
            assert edited_folder(folder, module, edited_module, comment) == current, pair
            docstring = source.replace(b'"""', b'"""Edited. ', 1)
            assert docstring != source
            assert edited_folder(folder, module, edited_module, docstring) == current, pair
        assert folder(module) == current


def test_the_folder_changes_with_all_kernels_that_are_called():
    for module in modules_with_kernels():
        closure = sources.closure([module])
        queue = list(kernels(module).values())
        visited_kernels = set()
        while queue:
            kernel = queue.pop()
            if kernel in visited_kernels:
                continue
            visited_kernels.add(kernel)
            assert kernel.py_func.__module__ in closure
            values = outer_values(kernel).values()
            queue += [value for value in values if isinstance(value, Dispatcher)]


@pytest.mark.parametrize(
    ("module", "unrelated_module"),
    [("lib.trees.growing", "lib.job_shop"), ("lib.job_shop", "lib.cia")],
)
def test_the_folder_stays_where_another_module_is_edited(module, unrelated_module, folder):
    source = sources.SOURCES[unrelated_module] + b"\nEDITED = 1\n"
    assert edited_folder(folder, module, unrelated_module, source) == folder(module)
    assert edited_folder(folder, unrelated_module, unrelated_module, source) != folder(
        unrelated_module
    )


@pytest.mark.parametrize("package", [numba, llvmlite])
def test_the_folder_changes_with_versions(package, folder, monkeypatch):
    current = folder("lib.trees.growing")
    monkeypatch.setattr(package, "__version__", "0.0")
    assert folder("lib.trees.growing") != current


@pytest.mark.parametrize(
    ("variable", "value", "matters"),
    [
        ("OPT", 1, True),
        ("BOUNDSCHECK", 1, True),
        ("SLP_VECTORIZE", 0, True),
        ("ENABLE_AVX", False, True),
        ("CPU_NAME", "generic", True),
        ("NUMBA_NUM_THREADS", 7, False),
        ("CACHE_DIR", "elsewhere", False),
    ],
)
def test_the_folder_changes_with_settings(variable, value, matters, folder, monkeypatch):
    current = folder("lib.trees.growing")
    monkeypatch.setattr(numba.config, variable, value)
    assert (folder("lib.trees.growing") != current) == matters


@pytest.mark.slow
def test_a_setting_of_the_environment_has_its_own_folder(copy):
    code = "from lib.base import compiled; print(compiled.cache_folder('lib.trees.node_cases'))"
    assert copy.run(code) == copy.run(code)
    assert copy.run(code, NUMBA_OPT="1") != copy.run(code)


def test_folders_of_older_source_are_removed_after_a_week(folder, tmp_path):
    """Not the current folder, however old, nor those of other modules."""
    current = folder("lib.trees.growing")
    recent = tmp_path / "lib.trees.growing-1"
    old = tmp_path / "lib.trees.growing-2"
    other_module = tmp_path / "lib.trees.node_cases-3"
    for path in (current, recent, old, other_module):
        path.mkdir()
    long_ago = old.stat().st_mtime - compiled.KEPT_SECONDS - 1
    for path in (current, old, other_module):
        os.utime(path, (long_ago, long_ago))
    assert folder("lib.trees.growing") == current
    assert current.exists()
    assert recent.exists()
    assert not old.exists()
    assert other_module.exists()


# Where nothing can be written, and what numba does by itself.

SIGMOID = """
import numpy as np
from lib.backgammon.net import sigmoid
print(sigmoid(np.float32(0)))
"""
HALF = "0.5\n"


@pytest.mark.slow
def test_machine_code_goes_to_the_user_s_cache_where_lib_cannot_be_written(copy):
    copy.cache.write_text("no folder")
    assert copy.run(SIGMOID) == HALF
    machine_code = copy.machine_code()
    assert machine_code
    user_cache = copy.home / ".cache" / "when-the-model-is-wrong" / "numba"
    assert all(path.is_relative_to(user_cache) for path in machine_code)


@pytest.mark.slow
def test_machine_code_goes_to_the_folder_of_numba_s_setting(copy):
    assert copy.run(SIGMOID, NUMBA_CACHE_DIR=str(copy.folder / "elsewhere")) == HALF
    machine_code = copy.machine_code()
    assert machine_code
    cache = copy.folder / "elsewhere" / "numba"
    assert all(path.is_relative_to(cache) for path in machine_code)


@pytest.mark.slow
def test_kernels_are_compiled_in_memory_where_no_folder_can_be_written(copy):
    """Nor does numba look for a folder of its own, beside the source or in a home."""
    copy.cache.write_text("no folder")
    assert copy.run(SIGMOID, HOME="/dev/null/x", NUMBA_CACHE_DIR="/dev/null/x") == HALF
    assert not copy.machine_code()


def test_only_one_module_asks_numba_for_a_cache_or_for_threads():
    """`cache=True` looks at a kernel's own file only, `parallel=True` adds up in another order."""
    offenders = []
    for name, source in sources.SOURCES.items():
        refused_keywords = {"parallel"} if name == "lib.base.compiled" else {"parallel", "cache"}
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call):
                keywords = {keyword.arg for keyword in node.keywords}
                if keywords & refused_keywords:
                    offenders.append(f"{name}:{node.lineno}: {ast.unparse(node)[:80]}")
    assert not offenders


def test_what_numba_compiles_without_lib_s_decorator_is_compiled_into_its_callers():
    offenders = []
    for name, source in sources.SOURCES.items():
        if name == "lib.base.compiled":
            continue
        nodes = list(ast.walk(ast.parse(source)))
        compilers = {"numba"}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "numba":
                compilers |= {alias.name for alias in node.names} & COMPILERS
        for node in nodes:
            if not isinstance(node, ast.FunctionDef):
                continue
            for decorator in map(ast.unparse, node.decorator_list):
                is_numba = decorator.partition("(")[0].rpartition(".")[2] in compilers
                if is_numba and "inline='always'" not in decorator:
                    offenders.append(f"{name}.{node.name}")
    assert not offenders


def constants():
    """Return the values that numba freezes in the kernels of lib, as text, by module and name.

    Raises
    ------
    TypeError
        If a kernel takes something else than numbers, arrays, types, modules of numpy, and what is
        compiled.
    """
    result = {}
    for module in modules_with_kernels():
        for kernel in kernels(module).values():
            for name, value in outer_values(kernel).items():
                if isinstance(value, bool | int | float | np.generic | np.ndarray):
                    array = np.asarray(value)
                    result[f"{module}.{name}"] = f"{array.dtype} {array.tolist()}"
                elif value is not np and not isinstance(value, (Dispatcher, INTRINSIC, type)):
                    raise TypeError(f"{module}.{name} is {value!r}")
    return result


@pytest.mark.slow
def test_no_constant_of_a_kernel_depends_on_data_or_environment(copy):
    """Machine code freezes them, so they are the same without data, without a home, elsewhere."""
    assert {
        "lib.backgammon.net.UNITS",
        "lib.trees.growing.SMALL",
        "lib.latent_class.fast.LANES",
    } <= set(constants())
    code = f"import sys; sys.path.append({str(Path(__file__).parent)!r})\n"
    code += "import test_compiled; print(sorted(test_compiled.constants().items()))"
    output = copy.run(
        code, HOME="/dev/null/x", LANG="C", OMP_NUM_THREADS="3", BOOK_ROOT="/dev/null/x"
    )
    assert output == f"{sorted(constants().items())}\n"


@pytest.mark.slow
def test_kernels_of_threads_that_import_are_in_their_folders(copy):
    code = """
import importlib, sys, threading
import sklearn, scipy.stats, pandas, lib.base.compiled
from numba import config
from numba.core.dispatcher import Dispatcher
sys.setswitchinterval(1e-6)
names = "trees.tree backgammon.playing job_shop hidden_markov winnow.fast rules.ripper"
threads = [
    threading.Thread(target=importlib.import_module, args=(f"lib.{name}",))
    for name in f"{names} relevance.races structures.k2".split()
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(repr(config.CACHE_DIR), repr(config.CACHE_LOCATOR_CLASSES))
for name, module in sorted(sys.modules.items()):
    for value in list(vars(module).values()) if name.startswith("lib.") else ():
        if isinstance(value, Dispatcher) and value.py_func.__module__ == name:
            if f"{name}-" not in str(value._cache.cache_path):
                print(name, value, value._cache.cache_path)
"""
    for _ in range(3):
        assert copy.run(code) == "'' ''\n"


@pytest.mark.slow
def test_kernels_outside_lib_do_not_outlive_those_of_lib_that_they_call(copy):
    (copy.folder / "mine.py").write_text("""
import numpy as np
from lib.base.compiled import compiled
from lib.decisions import random_mdp
from lib.decisions.programming import q_value
@compiled()
def twice(table, values):
    return 2 * q_value(table, 0, 0, values, 0.9)
print(twice(random_mdp(5, 2, 2, np.random.default_rng(0)).table, np.ones(5)))
""")
    first = copy.run("import mine")
    copy.edit(*FAMILIES["decisions"].callee)
    assert copy.run("import mine") != first


@pytest.mark.slow
def test_optimised_python_has_its_own_folder(copy):
    code = (
        "from lib.base import compiled; print(compiled.cache_folder('lib.decisions.temporal').name)"
    )
    assert copy.run(code) != copy.run(code, "-O")


@pytest.mark.slow
def test_no_home_is_needed(copy):
    code = """
import os, pwd
del os.environ["HOME"]
def none(uid):
    raise KeyError(uid)
pwd.getpwuid = none
from lib.base import compiled
print(compiled.cache_root())
"""
    assert copy.run(code) == f"{copy.cache / 'numba'}\n"


# What is said while kernels are compiled.

SLOW_COMPILATION = """
import io, sys
from lib.base import compiled

class Terminal(io.StringIO):
    def isatty(self):
        return True

def text_while_compiling(stderr, seconds):
    compiled.NOTICE_SECONDS = seconds
    original = sys.stderr
    sys.stderr = stderr
    import numpy as np
    for dtype in (np.float32, np.int16):
        compiled.assign(np.ones(3, dtype), np.ones(3, dtype))
    sys.stderr = original
    return stderr.getvalue()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stderr", "seconds", "n_lines"),
    [("Terminal", 0, 1), ("io.StringIO", 0, 0), ("Terminal", 99, 0)],
)
def test_a_terminal_is_told_once_that_kernels_are_compiled(copy, stderr, seconds, n_lines):
    call = f"text = text_while_compiling({stderr}(), {seconds})"
    text = copy.run(f"{SLOW_COMPILATION}\n{call}\nprint(text, end='')")
    assert text.count("\n") == n_lines
    assert (f"is kept in {copy.cache / 'numba'}" in text) == (n_lines > 0)


@pytest.mark.slow
def test_other_processes_say_nothing_of_what_they_compile(copy):
    code = f"""{SLOW_COMPILATION}
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
with ProcessPoolExecutor(1, get_context("fork")) as pool:
    print(repr(pool.submit(text_while_compiling, Terminal(), 0).result()))
"""
    assert copy.run(code) == "''\n"
