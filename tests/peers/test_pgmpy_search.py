"""Scores, K2 and the file of ALARM against pgmpy.

What the comparison has to know of pgmpy 1: its K2 score adds ln Gamma(r) for each combination of
the parents' values, also for those without rows, whose factor is 1; `k2_score` takes that away.
"""

import gzip
import math
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lib.base.files import DATA
from lib.bayes_net import bif_format
from lib.bayes_net.bif import DiscreteNetwork
from lib.structures import k2
from lib.structures.dirichlet import DirichletCounts

pgmpy = pytest.importorskip("pgmpy", reason="no pgmpy; `make peers` installs it")
scores = pytest.importorskip("pgmpy.structure_score")
readwrite = pytest.importorskip("pgmpy.readwrite")


@pytest.fixture(scope="module")
def alarm():
    return DiscreteNetwork.read_bif(DATA / "alarm.bif.gz")


@pytest.fixture(scope="module")
def rows(alarm):
    return alarm.sample(2000, np.random.default_rng(0))


def frame(rows, sizes):
    states = {v: list(range(size)) for v, size in enumerate(sizes)}
    columns = {v: pd.Categorical(rows[:, v], states[v]) for v in states}
    return pd.DataFrame(columns), states


def k2_score(data, states, rows, sizes):
    """pgmpy's K2 score of a family, without the surplus of combinations that do not occur."""
    score = scores.K2(data, state_names=states)

    def local_score(child, family):
        n_empty = 0
        if family:
            n_combinations = np.prod(sizes[list(family)])
            n_empty = n_combinations - len(np.unique(rows[:, list(family)], axis=0))
        return score.local_score(child, tuple(family)) - n_empty * math.lgamma(sizes[child])

    return local_score


def test_file_is_theirs(alarm):
    path = Path(pgmpy.__file__).parent / "utils" / "example_models" / "alarm.bif.gz"
    assert path.read_bytes() == (DATA / "alarm.bif.gz").read_bytes()


def test_tables_of_alarm(alarm, tmp_path):
    path = tmp_path / "alarm.bif"
    path.write_bytes(gzip.decompress((DATA / "alarm.bif.gz").read_bytes()))
    model = readwrite.BIFReader(str(path)).get_model()
    tables = alarm.network.tables(alarm.theta)
    for name, family, table, values in zip(
        alarm.names, alarm.parents, tables, alarm.values, strict=True
    ):
        cpd = model.get_cpds(name)
        variables = [*(alarm.names[parent] for parent in family), name]
        axes = [cpd.variables.index(variable) for variable in variables]
        theirs = cpd.values.transpose(axes)
        for axis, variable in enumerate(variables):
            states = alarm.values[alarm.names.index(variable)]
            order = [cpd.state_names[variable].index(state) for state in states]
            theirs = np.take(theirs, order, axis)
        np.testing.assert_allclose(table, theirs, atol=1e-6, err_msg=f"{name} {values}")


@pytest.mark.parametrize("name", ["child", "insurance", "hailfinder", "sachs", "water", "win95pts"])
def test_files_are_read_alike(name):
    """To the last bit, before `DiscreteNetwork` divides rows by their sums."""
    path = Path(pgmpy.__file__).parent / "utils" / "example_models" / f"{name}.bif.gz"
    theirs = readwrite.BIFReader(string=gzip.decompress(path.read_bytes()).decode())
    states, parents, tables = bif_format.read_bif(path)
    assert {variable: list(names) for variable, names in states.items()} == theirs.variable_states
    assert parents == theirs.variable_parents
    for variable, table in tables.items():
        child_first = np.moveaxis(table, -1, 0).reshape(table.shape[-1], -1)
        np.testing.assert_array_equal(child_first, theirs.variable_cpds[variable], err_msg=variable)


def test_scores(alarm, rows):
    data, states = frame(rows, alarm.network.sizes)
    counts = DirichletCounts(rows, alarm.network.sizes)
    k2 = k2_score(data, states, rows, alarm.network.sizes)
    bdeu = scores.BDeu(data, state_names=states, equivalent_sample_size=10)
    for v, family in enumerate(alarm.parents):
        assert counts.k2(v, frozenset(family)) == pytest.approx(k2(v, family), rel=1e-9)
        their_bdeu = bdeu.local_score(v, family)
        assert counts.bdeu(v, frozenset(family), 10) == pytest.approx(their_bdeu, rel=1e-9)


def test_k2_takes_the_best_parents_of_pgmpy_s_score(alarm, rows):
    data, states = frame(rows, alarm.network.sizes)
    local_score = k2_score(data, states, rows, alarm.network.sizes)
    order = alarm.network.order
    start = time.process_time()
    ours = k2(rows, order)
    our_seconds = time.process_time() - start
    start = time.process_time()
    children = order[:20]
    for position, child in enumerate(children):
        parents = []
        best = local_score(child, ())
        while len(parents) < 4:
            candidate_scores = {}
            for candidate in order[:position]:
                if candidate not in parents:
                    family = tuple(sorted([*parents, candidate]))
                    candidate_scores[candidate] = local_score(child, family)
            if not candidate_scores or max(candidate_scores.values()) <= best:
                break
            best = max(candidate_scores.values())
            parents.append(max(candidate_scores, key=candidate_scores.get))
        assert ours[child] == tuple(sorted(parents))
    their_seconds = time.process_time() - start
    print(f"\nK2 of all {len(order)} variables {our_seconds:.3f} s", end=", ")
    print(f"by pgmpy's score {len(children)} of them {their_seconds:.2f} s")
