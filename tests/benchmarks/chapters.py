"""Processor seconds of each chapter, of its kernel and its workers (on Linux).

Of `make bench`, by itself `python -m tests.benchmarks.chapters`.
Each is run alone, with nothing stored, at the scale of --profile. Writes
data/benchmarks/chapters.json.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

from lib.book.run.project import Project
from tests.benchmarks.run import machine

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "data" / "benchmarks" / "chapters.json"
# PR_SET_CHILD_SUBREAPER: processes whose parent ends become children of this one, and their times
# its own
ADOPT = 36


def measure(chapter, profile):
    """Seconds of the processor and on the clock that a run of the chapter takes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "lib.book",
            "run",
            chapter,
            "--profile",
            profile,
            "-o",
            f"{folder}/run.ipynb",
        ]
        processor_start = _children_seconds()
        wall_start = time.monotonic()
        subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"BOOK_RESULTS": folder},
            check=True,
            capture_output=True,
        )
        wall = time.monotonic() - wall_start
        while True:
            try:
                os.wait()
            except ChildProcessError:
                return _children_seconds() - processor_start, wall


def _children_seconds():
    times = os.times()
    return times.children_user + times.children_system


def main():
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.chapters", description=__doc__
    )
    parser.add_argument("--profile", choices=["quick", "paper"], default="quick")
    profile = parser.parse_args().profile
    ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    rows = []
    for chapter in Project(ROOT).chapters:
        spent, wall = measure(chapter, profile)
        rows.append(
            {
                "chapter": chapter,
                "processor": round(spent, 1),
                "wall": round(wall, 1),
                "scale": profile,
            }
        )
        print(*rows[-1].values(), sep="\t", flush=True)
        results = {"rows": rows, "machine": machine(), "date": date.today().isoformat()}
        # the page of speed reads it
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
