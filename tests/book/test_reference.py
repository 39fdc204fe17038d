"""The reference pages: what they show agrees with the library, the manifest and the profiles."""

import csv
import importlib
import inspect
import re
from pathlib import Path

import pytest
import yaml

from lib.book import reference
from lib.book.cache import write_execution_note

REPOSITORY = Path(__file__).resolve().parents[2]
API = REPOSITORY / "chapters" / "reference" / "api"


def listed(path):
    """Return the full names in the overview tables of a page."""
    found, module, inside = [], "", False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        if line and not line.startswith(" "):
            inside = line.startswith(".. autosummary::")
        elif inside and re.fullmatch(r"   [A-Za-z_]\S*", line):
            found.append(f"{module}.{line.strip()}")
    return found


def documented(path):
    """Return the full names that the automodule, autoclass and autofunction directives of a page document."""
    found, text = [], path.read_text(encoding="utf-8")
    for kind, name in re.findall(r"^\.\. auto(module|class|function):: (\S+)", text, re.MULTILINE):
        found += public(name) if kind == "module" else [name]
    return found


def public(module):
    """Return the classes and functions that a module exports, in full."""
    loaded = importlib.import_module(module)
    own = [
        n
        for n, v in vars(loaded).items()
        if str(getattr(v, "__module__", "")).startswith(module) and n[0] != "_"
    ]
    return [
        f"{module}.{name}"
        for name in getattr(loaded, "__all__", own)
        if callable(getattr(loaded, name))
    ]


def find(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("path", sorted(API.glob("*.md")), ids=lambda path: path.stem)
def test_the_overview_of_a_page_lists_what_the_page_documents(path):
    assert documented(path)
    assert sorted(listed(path)) == sorted(documented(path))


def test_every_package_that_readers_import_has_a_page():
    known = {name.rpartition(".")[0] for path in API.glob("*.md") for name in documented(path)}
    packages = {f"lib.{path.parent.name}" for path in (REPOSITORY / "lib").glob("*/__init__.py")}
    assert packages - {"lib.figures", "lib.book"} <= known


@pytest.mark.parametrize("path", sorted(API.glob("*.md")), ids=lambda path: path.stem)
def test_documented_parameters_are_those_of_the_signature(path):
    for name in documented(path):
        text = inspect.cleandoc(find(name).__doc__)
        section = re.search(
            r"^Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE
        )
        if section:
            heads = [
                line.split(" : ")[0] for line in section[1].splitlines() if line and line[0] != " "
            ]
            described = {word.strip("* ") for head in heads for word in head.split(",")}
            assert described == set(inspect.signature(find(name)).parameters), name


def test_every_page_of_the_library_is_in_the_table_of_contents():
    toc = (REPOSITORY / "_toc.yml").read_text(encoding="utf-8")
    named = {entry.rpartition("/")[2] for entry in re.findall(r"chapters/reference/api/\w+", toc)}
    assert named == {path.stem for path in API.glob("*.md")}


def test_every_data_set_of_the_manifest_is_on_the_page_and_no_other_host(project):
    manifest = REPOSITORY / "data" / "manifest.csv"
    (project.root / "data").mkdir(exist_ok=True)
    (project.root / "data" / "manifest.csv").write_bytes(manifest.read_bytes())
    text = reference.data_sets(project, "paper")
    with open(manifest, newline="", encoding="utf-8") as file:
        names = [line["name"] for line in csv.DictReader(file)]
    assert sorted(re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)) == sorted(names)
    for group in text.split("## ")[1:]:
        shown = re.findall(r"^\| `([^`]+)`", group, re.MULTILINE)
        assert shown == sorted(shown)
    iris = next(
        line for line in text.replace("&nbsp;", " ").splitlines() if line.startswith("| `iris`")
    )
    assert "150 rows<br>4 attributes<br>3 classes" in iris
    assert "[doi:10.24432/C56C76](https://doi.org/10.24432/C56C76). Licence: CC BY 4.0." in iris
    hosts = {
        re.match(r"https://([^/]+)", address)[1]
        for address in re.findall(r"https://[^\s)\]]+", text)
    }
    assert hosts == {
        "doi.org",
        *re.findall(r"https://([^/,\s]+)/ml", manifest.read_text(encoding="utf-8")),
    }


def test_settings_show_what_differs_from_the_defaults_and_the_seconds(project):
    given = {"cia/curves": {"n_models": 30, "sizes": [10, 20], "learner": "cov"}}
    (project.root / "chapters" / "profiles.yml").write_text(
        yaml.safe_dump({"paper": given}), encoding="utf-8"
    )
    text = reference.parameter_tables(project, "paper")
    assert "| `n_models` | `3` | `30` |" in text
    assert "| `learner` | `'em'` | `'cov'` |" in text
    assert "`sizes`" not in text  # given, but the same as the default
    assert "### A chapter\n\n[Go to the chapter](/chapters/cia/curves.ipynb) (seed `0`)." in text
    executed = project.executed("paper", "cia/curves")
    executed.parent.mkdir(parents=True)
    executed.write_text("{}", encoding="utf-8")
    write_execution_note(executed, "key", 1234.4, "no commit")
    assert "(seed `0`, executed in 1,234 s)." in reference.parameter_tables(project, "paper")
