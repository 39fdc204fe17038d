"""A chapter whose trials run on a Dask cluster, started as chapters/running.md says."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager

import nbformat
import pytest
from click.testing import CliRunner
from conftest import REPOSITORY, chapter

from lib import trials
from lib.book import command_environment
from lib.book.cli import cli
from lib.experiments import cia_learning_curves

KERNELS = {
    name: value for name, value in command_environment().items() if name == "OPENBLAS_CORETYPE"
}
pytestmark = pytest.mark.slow
PARAMETERS = 'engine: str = "local"  # where trials run\n'
EXPERIMENT = """
from lib import trials
from lib.experiments import cia_learning_curves
trials.use(engine=engine)
scale = 3
def scaled(value):
    return scale * value
def trial(seeds, word):
    yield {"word": word, "value": scaled(seeds.rng().normal())}
print(trials.run(trial, ["a", "b"], n_trials=3, seed=1).to_csv())
print(cia_learning_curves(6, 2, sizes=[10], n_models=4, learners=["cov"], n_jobs=1).to_csv())
"""
SECONDS = 60  # for a scheduler or a worker to start


def wait_until(find):
    """Return the result of a function, called until it is true."""
    deadline = time.monotonic() + SECONDS
    result = find()
    while not result:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        result = find()
    return result


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """The kernels of OpenBLAS that `book` sets, as tests call it here; no folder of results."""
    monkeypatch.delenv("BOOK_RESULTS", raising=False)
    for name in list(os.environ):
        if name.startswith("OPENBLAS_"):
            monkeypatch.delenv(name)
    for name, value in KERNELS.items():
        monkeypatch.setenv(name, value)


@contextmanager
def dask(*arguments, **variables):
    command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=os.environ | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(SECONDS)


@pytest.fixture
def address(tmp_path):
    """Of a scheduler."""
    file = tmp_path / "scheduler.json"
    with dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)):
        yield json.loads(wait_until(lambda: file.exists() and file.read_text()))["address"]


@contextmanager
def worker(address, **variables):
    """A worker of a scheduler; yield a client that it serves."""
    from dask.distributed import Client

    options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny")
    with (
        dask("worker", address, *options, **variables),
        Client(address, set_as_default=False) as client,
    ):
        client.wait_for_workers(1, timeout=SECONDS)
        yield client


def n_steps(client):
    """How often a task of the worker went on."""
    [number] = client.run(lambda dask_worker: dask_worker.state.transition_counter).values()
    return number


def run_chapter(project, *arguments):
    """Run the chapter and return what it prints."""
    result = CliRunner().invoke(cli, ["--root", str(project.root), "run", "cia/curves", *arguments])
    assert result.exit_code == 0, result.output
    assert "found" not in result.output
    notebook = nbformat.read(project.root / "_build" / "run" / "cia" / "curves.ipynb", 4)
    [output] = notebook.cells[-1].outputs
    return output.text


def test_a_chapter_gives_the_same_on_a_cluster(project, address, monkeypatch, tmp_path):
    notebook = chapter(EXPERIMENT)
    notebook.cells[1].source = PARAMETERS
    nbformat.write(notebook, project.notebook("cia/curves"))
    monkeypatch.setenv("BOOK_RESULTS", str(tmp_path / "here"))
    expected = run_chapter(project)
    monkeypatch.setenv("BOOK_RESULTS", str(tmp_path / "cluster"))
    with worker(address, **KERNELS) as client:
        assert n_steps(client) == 0
        assert run_chapter(project, "--engine", address) == expected
        assert n_steps(client) > 0
    assert len(expected.splitlines()) > 10
    # the names of blocks are their keys: where trials run is no part of these
    local_names = [path.name for path in (tmp_path / "here").rglob("*.block")]
    cluster_names = [path.name for path in (tmp_path / "cluster").rglob("*.block")]
    assert local_names == cluster_names
    assert local_names


@pytest.mark.skipif(not KERNELS, reason="OpenBLAS has kernels of this kind for x86 processors only")
def test_a_worker_that_adds_up_in_another_order_is_refused(address):
    with (
        worker(address, OPENBLAS_CORETYPE="Nehalem"),
        pytest.raises(RuntimeError, match="has another kernels than"),
        trials.use(engine=address),
    ):
        cia_learning_curves(6, 2, sizes=[10], n_models=4, learners=["cov"])
