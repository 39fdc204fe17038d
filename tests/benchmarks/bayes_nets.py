"""The jobs of Bayesian networks: ELR against scikit-learn's logistic regression, TAN against pgmpy."""

import statistics
import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score

from lib import datasets
from lib.bayes_net import BayesNetClassifier, Cases, Network, ascend, observed_frequencies
from lib.bayes_net.likelihood import evaluate
from lib.discretize import EntropyDiscretizer
from lib.structures import discrete_codes, naive, tan
from tests.benchmarks.jobs import AGREEMENT, CALLS, REPETITIONS, alternate, row

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # of the parts of pgmpy.estimators that will go
    from pgmpy.estimators import TreeSearch
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

CLOSE = 1e-6  # to the best mean log likelihood known
TOLERANCES = 0.01 * 0.5 ** np.arange(24)
LONG, FEW = 5_000, 300  # iterations: more than are needed; of scikit-learn where it would need too many
POSTERIOR_AGREEMENT = 1e-10
NO_PEER = dict.fromkeys(("peer", "ratio", "ratio_low", "ratio_high"))


def chess():
    """As many rows and attributes as in CHESS: each attribute is one of six hidden causes, with noise."""
    rng, n_rows, n_causes, n_attributes = np.random.default_rng(0), 3_000, 6, 36
    causes = rng.random((n_rows, n_causes)) < 0.5
    y = causes.sum(axis=1) + 2 * (rng.random(n_rows) < 0.3) > 3
    cause, noise = rng.integers(n_causes, size=n_attributes), 0.3 * rng.random(n_attributes)
    X = causes[:, cause] ^ (rng.random((n_rows, n_attributes)) < noise)
    return X.astype(int), y.astype(int)


def discretised(name):
    data = datasets.load(name)
    return EntropyDiscretizer().fit(data.X, data.y).transform(data.X), data.y


def ones(codes, sizes, in_rows):
    """Drop-first indicators by hand: scikit-learn's encoder takes longer than its regression."""
    if in_rows:
        columns = [codes[:, [j]] == np.arange(1, sizes[j]) for j in range(1, len(sizes))]
        return np.concatenate(columns, axis=1, dtype=float)
    rows, attributes = np.nonzero(codes[:, 1:])
    starts = np.concatenate([[0], np.cumsum(sizes[1:] - 1)])
    columns = starts[attributes] + codes[:, 1:][rows, attributes] - 1
    pointers = np.concatenate([[0], np.cumsum((codes[:, 1:] > 0).sum(axis=1))])
    indices, pointers = columns.astype(np.int32), pointers.astype(np.int32)
    return sparse.csr_matrix((np.ones(len(indices)), indices, pointers), shape=(len(codes), starts[-1]))


class Race:
    """NB with ELR and logistic regression on the same integer codes; all that either does from there on is timed."""

    def __init__(self, X, y):
        self.codes, self.sizes = discrete_codes(X, y)
        self.network = Network(naive(self.codes.shape[1] - 1), self.sizes)
        self.network.by_class  # noqa: B018 built once for the structure, whatever the rows

    def ours(self, tolerance=1e-9, n_iterations=LONG):
        cases = Cases.from_rows(self.network, self.codes)
        start = np.log(observed_frequencies(cases))
        return ascend(cases, start, n_iterations, method="lbfgs", tolerance=tolerance).path[-1]

    def peer(self, in_rows, tolerance=1e-12, n_iterations=LONG):
        Z = ones(self.codes, self.sizes, in_rows)
        return LogisticRegression(C=np.inf, tol=tolerance, max_iter=n_iterations).fit(Z, self.codes[:, 0]), Z

    def likelihood(self, fitted):
        model, Z = fitted
        return model.predict_log_proba(Z)[np.arange(len(self.codes)), self.codes[:, 0]].mean()


def loosest(reached, enough, what):
    """Return the loosest tolerance with which `reached` is enough."""
    for tolerance in TOLERANCES:
        if reached(tolerance) >= enough:
            return tolerance
    raise AssertionError(f"{what} does not come to a mean log likelihood of {enough}")


def likelihood_race(name, X, y, repetitions=REPETITIONS, times=CALLS, exhaust=True):
    """NB+ELR by L-BFGS to within 1e-6 of the best mean log likelihood, against scikit-learn without a penalty.

    Without `exhaust`, scikit-learn stops after 300 iterations, and ours where it has got at least as far.
    """
    race, limit = Race(X, y), LONG if exhaust else FEW
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns that the limit was reached
        reached = race.likelihood(race.peer(False, n_iterations=limit))
        enough = max(reached, race.ours()) - CLOSE if exhaust else reached
        own = loosest(race.ours, enough, "ELR")
        tolerances = {False: 1e-12}  # of scikit-learn with sparse rows, which are faster where there are many columns
        if exhaust:
            for form in (False, True):
                tolerances[form] = loosest(
                    lambda tol, form=form: race.likelihood(race.peer(form, tol)), enough, "scikit-learn"
                )

    def often(call):
        def calls():
            for _ in range(times):
                call()

        return calls

    peers = [often(lambda form=form, tol=tol: race.peer(form, tol, limit)) for form, tol in tolerances.items()]
    seconds = alternate(often(lambda: race.ours(own)), *peers, repetitions=repetitions) / times
    fastest = 1 + np.argmin(np.median(seconds[:, 1:], axis=0))
    ours, theirs = seconds[:, 0], seconds[:, fastest]
    goal = "to the same likelihood" if exhaust else f"to its likelihood after {FEW} iterations"
    return [row(f"NB+ELR, {name}, {goal}; LogisticRegression", ours, theirs, "s", theirs / ours, 2, None)]


def gradients(name, X, y, target):
    """Likelihood and gradient of naive Bayes, with rows that all differ: how fast instances go by."""
    codes, sizes = discrete_codes(X, y)
    codes = codes[np.unique(codes[:, 1:], axis=0, return_index=True)[1]]
    n_rows, n_attributes = len(codes), codes.shape[1] - 1
    cases = Cases.from_rows(Network(naive(n_attributes), sizes), codes)
    if len(cases.counts) != n_rows:
        raise AssertionError(f"{n_rows - len(cases.counts)} rows are alike")
    beta, objective = np.log(observed_frequencies(cases)), cases.objective(True)
    expected, gradient = np.empty_like(beta), np.empty_like(beta)

    def often():
        for _ in range(CALLS):
            evaluate(beta, objective, expected, gradient)

    work = CALLS * n_rows * n_attributes * sizes[0] / 1e6
    ours = statistics.median(work / alternate(often)[:, 0])
    job = f"gradient, {n_rows:,} rows, {n_attributes} attributes, {sizes[0]} classes ({name})"
    unit = "million rows x attributes x classes/s"
    return [{"job": job, "ours": float(f"{ours:.4g}"), **NO_PEER, "unit": unit, "target": target, "aim": None}]


def chained(n_rows=3_000, n_attributes=36):
    """Rows of two-valued attributes that depend on the class and on the attribute before, and classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows)
    X = rng.integers(2, size=(n_rows, n_attributes))
    for j in range(1, n_attributes):
        X[:, j] = np.where(rng.random(n_rows) < 0.3, X[:, j - 1] ^ y, X[:, j])
    return X, y


def tree_information(X, y, edges):
    """Conditional mutual information of the edges between attributes, given the class (variable 0)."""
    among = [(u - 1, v - 1) for u, v in edges if u != 0]
    parts = [(y == label, np.mean(y == label)) for label in np.unique(y)]
    return sum(share * mutual_info_score(X[rows, i], X[rows, j]) for rows, share in parts for i, j in among)


def edges_of(parents):
    return [(u, v) for v, above in enumerate(parents) for u in above]


def tan_search(repetitions=3):
    """Search for TAN's tree, against pgmpy's; both trees have the same conditional mutual information."""
    X, y = chained()
    frame = pd.DataFrame(np.column_stack([y, X]))

    def peer():
        return TreeSearch(frame, root_node=1, n_jobs=1).estimate("tan", class_node=0, show_progress=False)

    def often():
        for _ in range(CALLS):
            tan(X, y)

    ours, theirs = tree_information(X, y, edges_of(tan(X, y))), tree_information(X, y, peer().edges())
    if not abs(ours - theirs) <= AGREEMENT * theirs:
        raise AssertionError(f"TAN's trees have conditional mutual information {ours} and {theirs}")
    own, theirs = (alternate(often, peer, repetitions=repetitions) / [CALLS, 1]).T
    return [row("TAN search, 3,000 rows, 36 attributes, 2 classes; pgmpy", own, theirs, "s", theirs / own, 100, None)]


def as_pgmpy(parents, tables):
    model = DiscreteBayesianNetwork(edges_of(parents))
    for v, (above, table) in enumerate(zip(parents, tables, strict=True)):
        *sizes, size = table.shape
        model.add_cpds(TabularCPD(v, size, table.reshape(-1, size).T, list(above), sizes))
    return model


def tan_prediction(few=200):
    """Posteriors of the class by TAN for complete rows, against pgmpy's faster way, which takes one row at a time."""
    X, y = chained(20_000)
    parents = tan(X, y)
    learner = BayesNetClassifier(structure=parents, learner="ofe").fit(X, y)
    query = VariableElimination(as_pgmpy(parents, learner.tables_)).query

    def peer():
        rows = (dict(enumerate(x, 1)) for x in X[:few].tolist())
        return np.array([query([0], evidence=evidence, show_progress=False).values for evidence in rows])

    difference = abs(learner.predict_proba(X[:few]) - peer()).max()
    if not difference <= POSTERIOR_AGREEMENT:
        raise AssertionError(f"posteriors of the class differ by {difference}")
    own, theirs = ([len(X), few] / alternate(lambda: learner.predict_proba(X), peer)).T
    return [row("TAN posteriors, 36 attributes, complete rows; pgmpy", own, theirs, "rows/s", own / theirs, 1000, None)]


def rows():
    small, pima, letter = chess(), discretised("pima"), discretised("letter")
    return [
        *likelihood_race("3,000 x 36", *small, times=10),
        *likelihood_race("PIMA", *pima),
        *likelihood_race("LETTER", *letter, repetitions=3, times=1, exhaust=False),
        *gradients("drawn", *small, target=300),
        *gradients("LETTER", *letter, target=1000),
        *tan_search(),
        *tan_prediction(),
    ]
