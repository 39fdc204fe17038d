"""The house: imports point down only; cells are short, and what notebooks store is small."""

import ast
import json
import re
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from lib.claims import REGISTER

ROOT = Path(__file__).parents[1]
LIB = ROOT / "lib"
STOREYS = (
    ("base", "__init__"),
    (
        "cia",
        "latent_class",
        "winnow",
        "naive_bayes",
        "discretize",
        "structures",
        "bayes_net",
        "datasets",
    )
    + ("trees", "ensembles", "rules", "relevance", "spelling")
    + ("decisions", "backgammon", "job_shop", "experts", "hidden_markov", "learners"),
    ("evaluation", "claims", "benchmarks", "trials"),
    ("experiments", "figures", "report"),
    ("book",),
)
SEPARATE_ROOMS = {
    ("experiments", "figures"),
    ("figures", "experiments"),
    ("figures", "trials"),
    ("trials", "claims"),
}
SEPARATE_ROOMS |= {("book", room) for room in (*STOREYS[1], "evaluation", "experiments")}
# the press takes one thing of a room that is apart: what can be had of the data that do not ship
ALLOWED_IMPORTS = {("book", "lib.datasets.availability")}
SEPARATE_PARTS = {
    ("learning_curves", "uci"),
    ("learning_curves", "structure"),
    ("learning_curves", "elr_uci"),
    ("structure", "uci"),
    ("structure", "elr_uci"),
}
# The rooms of the press: what runs chapters, what decides claims, pages, what is made of pages.
BOOK_STOREYS = (
    ("run", "rendering", "range_plot"),
    ("verdicts", "repository"),
    ("pages", "publish", "quick", "new_chapter"),
    ("sweep", "paper"),
    ("cli", "__main__", "__init__"),
)
CELL_LINES = 30
FIGURE_LINES = 40  # of a cell that draws a figure, with its caption
TEXT_LINES = 45  # of a cell that only says something, whose source no viewer shows
OUTPUT_BYTES = 500_000  # bytes of those stored in a notebook


def room(path):
    """The first folder or file below lib that a module is in."""
    return path.relative_to(LIB).parts[0].removesuffix(".py")


def imports(path):
    """Modules of lib that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def cells():
    """Code cells of all chapters: a list of (notebook, source)."""
    result = []
    for path in sorted((ROOT / "chapters").rglob("*.ipynb")):
        name = path.relative_to(ROOT).as_posix()
        result += [(name, "".join(cell["source"])) for cell in code_cells(path)]
    return result


def texts_in_quotes(source):
    """Texts in quotes of a cell, however they are quoted."""
    constants = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    return {constant.value for constant in constants}


def code_cells(path):
    """Code cells of a notebook, as they are stored."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_imports_point_down():
    """To the same storey or a lower one, and not between rooms that are apart."""
    storey = {name: number for number, names in enumerate(STOREYS) for name in names}
    for path in LIB.rglob("*.py"):
        for module in imports(path):
            package, _, name = module.partition(".")
            if package == "lib" and name and path.parent != LIB.parent:
                imported_room = name.partition(".")[0]
                assert storey[imported_room] <= storey[room(path)], f"{path} imports {module}"
                is_allowed = (room(path), module.rpartition(".")[0]) in ALLOWED_IMPORTS
                is_apart = (room(path), imported_room) in SEPARATE_ROOMS and not is_allowed
                assert not is_apart, f"{path} imports {module}"


def test_imports_of_the_press_point_down():
    storey = {name: number for number, names in enumerate(BOOK_STOREYS) for name in names}
    for path in (LIB / "book").rglob("*.py"):
        importing_room = path.relative_to(LIB / "book").parts[0].removesuffix(".py")
        for module in imports(path):
            if module.startswith("lib.book."):
                imported_room = module.split(".")[2]
                is_down = storey.get(imported_room, 0) <= storey[importing_room]
                assert is_down, f"{path} imports {module}"


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in LIB.glob("*/__init__.py")))
def test_no_room_has_a_circle_of_imports(folder):
    """Also not one that an import inside a function hides; CycleError names the modules."""
    paths = {}
    for path in (LIB / folder).rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        paths[name.removesuffix(".__init__")] = path
    imported_modules = {}
    for name, path in paths.items():
        # `from package import name` is of the package, unless the name is that of a module
        modules = {m if m in paths else m.rpartition(".")[0] for m in imports(path)}
        imported_modules[name] = modules & paths.keys()
    TopologicalSorter(imported_modules).prepare()


def test_imports_are_absolute_and_name_one_file():
    """As `lib.base.sources` takes them."""
    for path in LIB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, path
        assert not (path.with_suffix("") / "__init__.py").exists(), path


def test_no_part_imports_another():
    for path in (LIB / "experiments").rglob("*.py"):
        folder = path.relative_to(LIB / "experiments").parts[0].removesuffix(".py")
        for module in imports(path):
            if module.startswith("lib.experiments."):
                imported_folder = module.split(".")[2]
                pairs = {(folder, imported_folder), (imported_folder, folder)}
                assert not pairs & SEPARATE_PARTS, f"{path} imports {module}"


def test_cells_are_short():
    long_cells = []
    for path in sorted((ROOT / "chapters").rglob("*.ipynb")):
        for cell in code_cells(path):
            tags = cell["metadata"].get("tags", [])
            is_text = "remove-input" in tags
            source = "".join(cell["source"])
            if "parameters" in tags:  # which lists data sets, one a line
                continue
            limit = FIGURE_LINES if "report.figure(" in source else CELL_LINES
            if len(source.splitlines()) > (TEXT_LINES if is_text else limit):
                long_cells.append(f"{path.name}: {source[:60]!r}")
    assert long_cells == []


# names and attributes by which a function reads what is in no key: files, the environment
READING = {"open", "eval", "exec", "globals", "__import__", "input", "environ", "getenv", "Path"}
READING |= {"read_text", "read_bytes", "read_csv", "urlopen", "getcwd"}


def names_of_functions(source):
    """Names and attributes that the functions of a cell use."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            for node in ast.walk(function):
                if isinstance(node, ast.Name):
                    yield node.id
                elif isinstance(node, ast.Attribute):
                    yield node.attr


def test_functions_of_chapters_read_nothing_that_no_key_holds():
    """A cell may read a file, and a trial use what came of it."""
    assert set(names_of_functions("def trial(seeds):\n    return open('a')")) & READING
    for name, source in cells():
        assert not set(names_of_functions(source)) & READING, f"{name}: {source[:60]!r}"


def test_stored_outputs_are_small():
    for path in sorted((ROOT / "chapters").rglob("*.ipynb")):
        outputs = [cell["outputs"] for cell in code_cells(path)]
        assert len(json.dumps(outputs)) <= OUTPUT_BYTES, path


def test_every_room_has_its_place():
    rooms = {room(path) for path in LIB.rglob("*.py")} - {"__init__"}
    assert rooms <= {name for names in STOREYS for name in names}


def test_every_registered_claim_is_of_one_chapter():
    """Its id stands there as it is: what decides it is part of that chapter's key."""
    ids = re.findall("^([a-z0-9-]+): ", REGISTER.read_text(encoding="utf-8"), re.MULTILINE)
    assert ids == sorted(set(ids))
    quoted = [(name, texts_in_quotes(source)) for name, source in cells()]
    for id in ids:
        chapters = {name for name, texts in quoted if id in texts}
        assert len(chapters) == 1, id


# One meaning each (CONTRIBUTING.md): the rooms whose word it is, or that speak of what is theirs.
WORDS = {
    "record": {"experiments", "book", "trials"},  # what ships in data/recorded
    "context": {"spelling", "book"},  # the words around a word; in book, click's
    "problem": {"job_shop"},
    "pack": {"latent_class"},  # bits into machine words
    "setting": {"claims", "book", "report"},  # one condition in which a claim is tested
}
ELSEWHERE = {"ForkserverContext"}  # a class of Python that is called so
PRONOUNS = {
    *("about", "part", "parts", "shown", "own", "known", "found", "left", "given", "before"),
    *("after", "below", "beside", "above", "of", "each", "one", "some", "them", "these"),
    *("those", "which", "who", "whose", "what", "here", "there", "early", "late", "far"),
    *("near", "wide", "others", "rest", "told", "drawn", "kept", "made", "met", "seen", "asked"),
}


def bound_names(path):
    """Names of functions, classes, arguments and variables that a module binds."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_a_word_means_one_thing():
    for path in LIB.rglob("*.py"):
        for name in set(bound_names(path)) - ELSEWHERE:
            words = set(re.findall("[a-z]+", re.sub("([A-Z])", r" \1", name).lower()))
            singulars = {word[:-1] for word in words}
            for word in (words | singulars) & WORDS.keys():
                assert room(path) in WORDS[word], f"{path}: {name}"


def test_names_are_nouns_and_verbs():
    names = [name.strip("_") for path in LIB.rglob("*.py") for name in bound_names(path)]
    assert sum(name in PRONOUNS for name in names) < 0.005 * len(names)


def test_contributing_has_the_words():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| word |")[2]
    words = re.findall(r"^\| ([a-z -]+) \| [^|]+ \| [^|]+ \|$", table, re.MULTILINE)
    assert len(words) == len(set(words)) >= 40
    assert set(WORDS) <= set(words)


# of what starts a program or an extension, or reads the one thing that its module is of
SHARED_NAMES = {"main", "setup", "read"}


def test_a_public_name_means_one_thing():
    """No two modules of lib define it; the commands of the book are named as what they call."""
    modules = defaultdict(set)
    for path in LIB.rglob("*.py"):
        if path.name != "cli.py":
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
                    modules[node.name].add(path.relative_to(LIB).as_posix())
    repeated = {name: paths for name, paths in modules.items() if len(paths) > 1}
    assert not {name: paths for name, paths in repeated.items() if name not in SHARED_NAMES}
