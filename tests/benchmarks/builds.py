"""Whether other builds of numpy and other processors give the results that are stored in the notebooks.

`python -m tests.benchmarks.builds` runs the notebooks with their defaults under several numeric environments and
compares what they print with their stored outputs: text and what they glue, no pictures. It writes
data/benchmarks/builds.json.

A variant is a version of numpy (other packages are those of the lock file), OpenBLAS with the kernels of another
processor, by its environment variable OPENBLAS_CORETYPE, or numpy with less of its vector code, by its
NPY_DISABLE_CPU_FEATURES. What took effect is asked of the libraries.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from lib.book.execution import _kernels
from lib.book.project import Project
from lib.claims import CLAIMS_JSON
from tests.benchmarks.results import write
from tests.benchmarks.run import machine

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "data" / "benchmarks" / "builds.json"
GLUED = "application/papermill.record/"
TEXT = ("stdout", "text/plain", "text/html", "text/markdown", CLAIMS_JSON)
SETTINGS = ("OPENBLAS_", "NPY_", "NUMBA_", "UCI_MIRROR")  # not inherited: a variant says all that is set
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")

PROBE = """
import json, numpy, scipy.linalg
from threadpoolctl import threadpool_info
blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
print(json.dumps({
    "numpy": numpy.__version__,
    "blas": sorted(f"{library['internal_api']} {library['version']}" for library in blas),
    "kernel": " ".join(sorted({library["architecture"] for library in blas})),
    "simd": numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []),
}))
"""
EXECUTE = """
import sys
from pathlib import Path
from lib.book.execution import execute
from lib.book.project import BookError, Project
for chapter in sys.argv[2:]:
    output = Path(sys.argv[1]) / f"{chapter}.ipynb"
    if output.exists():
        continue
    try:
        execute(Project(Path.cwd()), chapter, {}, output)
    except BookError as error:
        print(error.message, file=sys.stderr)
"""


@dataclass(frozen=True)
class Variant:
    """A numeric environment."""

    numpy: str | None = None  # None: that of the environment in which this runs
    variables: dict = field(default_factory=dict)
    without_simd: str | None = None  # a pattern: of numpy's optional vector code, what is switched off


VARIANTS = {
    "lock file": Variant(),
    "OpenBLAS for Haswell": Variant(variables={"OPENBLAS_CORETYPE": "Haswell"}),
    "OpenBLAS for Nehalem": Variant(variables={"OPENBLAS_CORETYPE": "Nehalem"}),
    "numpy without vector code": Variant(without_simd=".*"),
    "numpy 2.2": Variant("2.2.*"),
    "numpy 2.3": Variant("2.3.*"),
    "numpy 2.2, an old processor": Variant(
        "2.2.*", {"OPENBLAS_CORETYPE": "Nehalem", "NUMBA_CPU_NAME": "generic"}, without_simd=".*"
    ),
    "numpy without AVX-512": Variant(without_simd="AVX512.*|X86_V4"),
    "OpenBLAS for Skylake-X": Variant(variables={"OPENBLAS_CORETYPE": "SkylakeX"}),
    "OpenBLAS for Sandy Bridge": Variant(variables={"OPENBLAS_CORETYPE": "Sandybridge"}),
}


def texts(notebook):
    """What the cells of a notebook print, by cell, name (or position) of the output and type; claims as dicts.

    Plain text that stands in for something richer, such as a picture, is left out.
    """
    found = {}
    for cell, content in enumerate(notebook.cells):
        for position, output in enumerate(content.get("outputs", [])):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name", position)
            data = {"stdout": output.text} if output.get("name") == "stdout" else output.get("data", {})
            for kind, value in data.items():
                rich = len(data) > 1 and kind.removeprefix(GLUED) == "text/plain"
                if kind.removeprefix(GLUED) in TEXT and not rich:
                    found[cell, name, kind] = value
    return found


def compare(stored, executed):
    """Compare what two notebooks print.

    Parameters
    ----------
    stored, executed : NotebookNode

    Returns
    -------
    dict
        compared and different: numbers of outputs, where one that only one of them has is different; missing and
        words: of the different ones, those that only one has and those that differ in more than numbers;
        largest_relative: of the differences of two numbers a and b, the largest |a - b| / max(|a|, |b|), 0 without
        any; verdicts: number of claims whose verdict differs; places: what differs.
    """
    old, new = texts(stored), texts(executed)
    keys = list(dict.fromkeys([*old, *new]))
    different = [key for key in keys if old.get(key) != new.get(key)]
    both = [key for key in different if key in old and key in new]
    relative = [relative_difference(old[key], new[key]) for key in both]
    before, after = verdicts(old), verdicts(new)
    return {
        "compared": len(keys),
        "different": len(different),
        "missing": len(different) - len(both),
        "words": sum(value is None for value in relative),
        "largest_relative": max((value for value in relative if value is not None), default=0.0),
        "verdicts": sum(before.get(claim) != after.get(claim) for claim in {*before, *after}),
        "places": [f"{cell} {name} {kind}" for cell, name, kind in different],
    }


def relative_difference(old, new):
    """Largest relative difference of the numbers in two texts (or JSON); None if they differ in more than numbers."""
    old, new = (str(value).replace("\N{MINUS SIGN}", "-") for value in (old, new))
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return None
    pairs = zip(map(float, NUMBER.findall(old)), map(float, NUMBER.findall(new)), strict=True)
    return max((abs(a - b) / max(abs(a), abs(b)) for a, b in pairs if a != b), default=0.0)


def verdicts(found):
    """Verdict of each claim among the outputs."""
    records = [value for (*_, kind), value in found.items() if kind.endswith(CLAIMS_JSON)]
    return {claim["id"]: claim["verdict"] for claims in records for claim in claims}


def total(comparisons):
    """Sum over the chapters; the largest relative difference is the largest of any."""
    counts = {
        name: sum(c[name] for c in comparisons.values()) for name in ("compared", "different", "missing", "words")
    }
    return counts | {
        "largest_relative": max(c["largest_relative"] for c in comparisons.values()),
        "verdicts": sum(c["verdicts"] for c in comparisons.values()),
        "places": [f"{chapter}: {place}" for chapter, c in comparisons.items() for place in c["places"]],
    }


def environment(folder, numpy, lock):
    """Python with the packages of a lock file but for this numpy; made by uv."""
    if numpy is None:
        return Path(sys.executable)
    home = folder / f"numpy-{numpy.removesuffix('.*')}"
    python = home / "bin" / "python"
    if not python.exists():
        uv = [Path(sys.executable).with_name("uv"), "--quiet"]
        subprocess.run([*uv, "venv", "--python", sys.executable, home], check=True)
        wanted = home / "requirements.txt"
        wanted.write_text("\n".join([*pins(lock), f"numpy=={numpy}"]), encoding="utf-8")
        subprocess.run([*uv, "pip", "install", "--python", python, "--no-deps", "-r", wanted], check=True)
    return python


def pins(lock):
    """Lines of the lock file without hashes, but for numpy's."""
    lines = [line.rstrip("\\ ") for line in lock.read_text(encoding="utf-8").splitlines() if line[:1].isalnum()]
    return [line for line in lines if not line.startswith("numpy==")]


def variables(python, variant, folder):
    """The environment of a variant, and what numpy says under it."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    known |= _kernels() | variant.variables | {"NUMBA_CACHE_DIR": str(folder / f"numba-{variant.numpy}")}
    if variant.without_simd:
        found = [name for name in ask(python, known)["simd"] if re.fullmatch(variant.without_simd, name)]
        known["NPY_DISABLE_CPU_FEATURES"] = " ".join(found)
    return known, ask(python, known)


def ask(python, variables):
    done = subprocess.run([python, "-c", PROBE], env=variables, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure(name, checkout, chapters, folder):
    """Run the chapters of a checkout under a variant; its row, or None if the processor cannot."""
    variant, project = VARIANTS[name], Project(checkout)
    python = environment(folder, variant.numpy, checkout / "requirements.lock")
    known, took = variables(python, variant, folder)
    if took["kernel"] != variant.variables.get("OPENBLAS_CORETYPE", took["kernel"]):
        return None
    executed = folder / name.replace(" ", "-")
    known |= {"PYTHONPATH": str(checkout)}
    subprocess.run([python, "-c", EXECUTE, executed, *chapters], env=known, cwd=checkout, check=True)
    comparisons = {
        chapter: compare(
            *(nbformat.read(path, as_version=4) for path in (project.notebook(chapter), executed / f"{chapter}.ipynb"))
        )
        for chapter in chapters
    }
    return {"variant": name, **took, "chapters": len(chapters), **total(comparisons)}


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.builds", description=__doc__)
    parser.add_argument(
        "--checkout", type=Path, default=ROOT, help="of the book, whose notebooks are run; default: this"
    )
    parser.add_argument("--folder", type=Path, help="to keep environments and executed notebooks, which are used again")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="NAME")
    parser.add_argument("--chapters", nargs="+", help="only these; write nothing")
    arguments = parser.parse_args()
    checkout, rows, cannot = arguments.checkout.resolve(), [], []
    with tempfile.TemporaryDirectory(prefix="builds-") as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        for name in arguments.variants:
            row = measure(name, checkout, arguments.chapters or Project(checkout).chapters, folder)
            cannot += [] if row else [name]
            rows += [row] if row else []
            print(json.dumps(row, indent=1) if row else f"{name}: this processor cannot", flush=True)
            if not arguments.chapters:
                write(RESULTS, rows, cannot=cannot, machine=machine())


if __name__ == "__main__":
    main()
