"""Weka 3.6 as a peer: a small Java program runs all jobs of a test in one go."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("WekaPeer.java")
ARCHIVE = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))


class Weka:
    """Writes data as ARFF, and runs jobs on them."""

    def __init__(self, folder):
        self.folder = folder
        self.jobs = []
        compiler = ["javac", "-nowarn", "-cp", ARCHIVE, "-d", folder, PROGRAM]
        subprocess.run(compiler, check=True, capture_output=True, text=True)

    def add(self, job, train, test, *settings):
        """Add a job on two pairs (frame of categories and numbers, classes)."""
        number = len(self.jobs)
        train_path = self.folder / f"{number}_train.arff"
        test_path = self.folder / f"{number}_test.arff"
        train_path.write_text(arff(*train), encoding="ascii")
        test_path.write_text(arff(*test), encoding="ascii")
        self.jobs.append([job, train_path, test_path, *settings])

    def run(self):
        """Lines of numbers."""
        path = self.folder / "jobs.txt"
        lines = [" ".join(map(str, job)) + "\n" for job in self.jobs]
        path.write_text("".join(lines), encoding="ascii")
        program = [
            "java",
            "-Djava.awt.headless=true",
            "-cp",
            f"{ARCHIVE}{os.pathsep}{self.folder}",
            "WekaPeer",
            path,
        ]
        output = subprocess.run(program, check=True, capture_output=True, text=True).stdout
        return [np.array(line.split(), dtype=float) for line in output.splitlines()]


def arff(frame, y):
    """The frame's columns, then the class, nominal but for numbers; missing values as ?."""
    frame = frame.assign(**{"class": y})
    lines = ["@relation peer"]
    for name, column in frame.items():
        if column.dtype == "category":
            kind = "{" + ",".join(map(str, column.cat.categories)) + "}"
        else:
            kind = "numeric"
        lines.append(f"@attribute {name} {kind}")
    lines.append("@data")
    rows = frame.astype(object).where(frame.notna(), "?")
    lines += [",".join(map(str, row)) for row in rows.to_numpy()]
    return "\n".join(lines) + "\n"


@pytest.fixture
def weka(tmp_path):
    missing = [name for name in ("java", "javac") if shutil.which(name) is None]
    if not ARCHIVE.exists():
        missing.append(f"{ARCHIVE} (or elsewhere: WEKA_JAR=/path/to/weka.jar)")
    if missing:
        pytest.skip(f"no {', '.join(missing)}; on Debian: apt install default-jdk-headless weka")
    return Weka(tmp_path)
