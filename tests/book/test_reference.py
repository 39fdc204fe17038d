"""The reference pages: what they show agrees with the library and the manifest."""

import csv
import importlib
import inspect
import re
from pathlib import Path

import pytest

from lib.book.pages import reference
from lib.book.pages.book import Book
from lib.learners import all_learners

REPOSITORY = Path(__file__).resolve().parents[2]
API = REPOSITORY / "chapters" / "reference" / "api"


def overview_names(path):
    """Return the full names in the overview tables of a page."""
    names = []
    module = ""
    in_table = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        if line and not line.startswith(" "):
            in_table = line.startswith(".. autosummary::")
        elif in_table and re.fullmatch(r"   [A-Za-z_]\S*", line):
            names.append(f"{module}.{line.strip()}")
    return names


def directive_names(path):
    """Return the full names that automodule, autoclass and autofunction of a page document."""
    text = path.read_text(encoding="utf-8")
    names = []
    for kind, name in re.findall(r"^\.\. auto(module|class|function):: (\S+)", text, re.MULTILINE):
        names += exported_names(name) if kind == "module" else [name]
    return names


def exported_names(module_name):
    """Return the classes and functions that a module exports, in full."""
    module = importlib.import_module(module_name)
    names = []
    for name, value in vars(module).items():
        is_of_module = str(getattr(value, "__module__", "")).startswith(module_name)
        if is_of_module and not name.startswith("_"):
            names.append(name)
    names = getattr(module, "__all__", names)
    return [f"{module_name}.{name}" for name in names if callable(getattr(module, name))]


def find(name):
    """Return the class or function of this full name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("path", sorted(API.glob("*.md")), ids=lambda path: path.stem)
def test_the_overview_of_a_page_lists_what_the_page_documents(path):
    assert directive_names(path)
    assert sorted(overview_names(path)) == sorted(directive_names(path))


def test_every_package_that_readers_import_has_a_page():
    documented_packages = set()
    for path in API.glob("*.md"):
        documented_packages.update(name.rpartition(".")[0] for name in directive_names(path))
    packages = {f"lib.{path.parent.name}" for path in (REPOSITORY / "lib").glob("*/__init__.py")}
    assert packages - {"lib.base", "lib.figures", "lib.book"} <= documented_packages


@pytest.mark.parametrize("path", sorted(API.glob("*.md")), ids=lambda path: path.stem)
def test_documented_parameters_are_those_of_the_signature(path):
    for name in directive_names(path):
        text = inspect.cleandoc(find(name).__doc__)
        section = re.search(
            r"^Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE
        )
        if section is None:
            continue
        parameters = set()
        for line in section[1].splitlines():
            # `a, b : int`; what is said of them is indented
            if line and not line.startswith(" "):
                heading = line.split(" : ")[0]
                parameters.update(word.strip("* ") for word in heading.split(","))
        assert parameters == set(inspect.signature(find(name)).parameters), name


def test_every_learner_is_on_a_page():
    documented = {find(name) for path in API.glob("*.md") for name in directive_names(path)}
    for family, learners in all_learners().items():
        assert set(learners) <= documented, family


def test_every_page_of_the_library_is_in_the_table_of_contents():
    toc = (REPOSITORY / "_toc.yml").read_text(encoding="utf-8")
    named = {entry.rpartition("/")[2] for entry in re.findall(r"chapters/reference/api/\w+", toc)}
    assert named == {path.stem for path in API.glob("*.md")}


def test_every_data_set_of_the_manifest_is_on_the_page_and_no_other_host(project):
    manifest = REPOSITORY / "data" / "manifest.csv"
    (project.root / "data").mkdir(exist_ok=True)
    (project.root / "data" / "manifest.csv").write_bytes(manifest.read_bytes())
    text = reference.data_sets(Book(project, "paper", {}))
    with open(manifest, newline="", encoding="utf-8") as file:
        names = [line["name"] for line in csv.DictReader(file)]
    assert sorted(re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)) == sorted(names)
    for group in text.split("## ")[1:]:
        names_of_group = re.findall(r"^\| `([^`]+)`", group, re.MULTILINE)
        assert names_of_group == sorted(names_of_group)
    lines = text.replace("&nbsp;", " ").splitlines()
    iris = next(line for line in lines if line.startswith("| `iris`"))
    assert "150 rows<br>4 attributes<br>3 classes" in iris
    assert "[doi:10.24432/C56C76](https://doi.org/10.24432/C56C76). Licence: CC BY 4.0." in iris
    hosts = set(re.findall(r"https://([^/\s)\]]+)", text))
    repositories = re.findall(r"https://([^/,\s]+)/ml", manifest.read_text(encoding="utf-8"))
    assert hosts == {"doi.org", *repositories}
