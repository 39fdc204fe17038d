"""Weka 3.6 as a peer: a small Java program, compiled into a temporary folder, runs all jobs of a test in one go."""

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
        self.folder, self.jobs = folder, []
        compiler = ["javac", "-nowarn", "-cp", ARCHIVE, "-d", folder, PROGRAM]
        subprocess.run(compiler, check=True, capture_output=True, text=True)

    def add(self, job, train, test, *settings):
        """Add a job on two pairs (frame of categories and numbers, classes)."""
        paths = [self.folder / f"{len(self.jobs)}_{part}.arff" for part in ("train", "test")]
        for path, (frame, y) in zip(paths, (train, test), strict=True):
            path.write_text(arff(frame, y), encoding="ascii")
        self.jobs.append([job, *paths, *settings])

    def run(self):
        """Lines of numbers."""
        path = self.folder / "jobs.txt"
        path.write_text(
            "".join(" ".join(map(str, job)) + "\n" for job in self.jobs), encoding="ascii"
        )
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
    """The frame's columns, then the class, all but numbers as nominal attributes; missing values as ?."""
    frame = frame.assign(**{"class": y})
    lines = ["@relation peer"]
    for name, column in frame.items():
        nominal = column.dtype == "category"
        kind = "{" + ",".join(map(str, column.cat.categories)) + "}" if nominal else "numeric"
        lines.append(f"@attribute {name} {kind}")
    rows = frame.astype(object).where(frame.notna(), "?")
    return (
        "\n".join([*lines, "@data", *(",".join(map(str, row)) for row in rows.to_numpy())]) + "\n"
    )


@pytest.fixture
def weka(tmp_path):
    missing = [name for name in ("java", "javac") if shutil.which(name) is None]
    missing += [] if ARCHIVE.exists() else [f"{ARCHIVE} (or elsewhere: WEKA_JAR=/path/to/weka.jar)"]
    if missing:
        pytest.skip(f"no {', '.join(missing)}; on Debian: apt install default-jdk-headless weka")
    return Weka(tmp_path)
