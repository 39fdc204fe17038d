"""The conditional likelihood of Bayesian networks at work (Greiner et al., Appendix A): logistic regression, slopes."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from lib import datasets as shipped
from lib.bayes_net import Cases, Network, ascend, observed_frequencies
from lib.discretize import EntropyDiscretizer
from lib.experiments.satisfiability import (
    check_formula,
    near_miss_formula,
    proof_tables,
    random_formula,
    reduction,
    satisfiability_experiment,
    satisfying_assignment,
    unsatisfiable_formula,
)
from lib.structures import chain, discrete_codes, naive
from lib.trials.legacy import trial_seeds
from lib.validation import at_least_one, check_choice, check_integer, check_real

CUTS = ("median", "entropy")
CLIMB = {"n_iterations": 1000, "method": "lbfgs", "tolerance": 1e-8}
SEPARABLE = 1e-6  # sum of margins, of which none is negative, of coefficients up to 1

MADE_SIZES = (3, 4, 3, 2)
GAUGE_SIZE = 7
STEPS = tuple(10.0**-k for k in range(1, 11))
GRAPHS = {
    "naive Bayes": naive(5),
    "TAN": ((), (0,), (0, 1), (0, 1), (0, 2), (0, 3)),
    "chain": chain(5, 5),
    "general": ((1, 2), (), (1,), (0, 2), (0, 3), (3,)),
}
GRAPH_SIZES = (3, 2, 3, 2, 2, 3)

HIDDEN = 1  # the attribute H of the study of optima
SHAPES = ((4, 12), (5, 16))  # variables and clauses of random formulas: near where half of them are satisfiable
DOUBTS = (0.1, 1e-3, 1e-6, 1e-9)


# naive Bayes and logistic regression


def two_objectives(datasets, cuts="median", seed=0):
    """Log likelihoods of naive Bayes with tables by OFE and by ELR, beside unpenalised logistic regression.

    Rows with missing values are dropped. ELR climbs from OFE until it converges.

    Parameters
    ----------
    datasets : sequence of str
        Names that `lib.datasets.load` knows, or "made-k" for 400 rows of k = 2 to 9 classes drawn from a random TAN.
    cuts : "median" or "entropy"
        How numbers are discretised: above the median or not, or by `EntropyDiscretizer`.
    seed : int
        Of what is drawn.

    Returns
    -------
    DataFrame
        dataset, n_rows, n_attributes, n_classes, finite (whether the conditional likelihood has a maximum), joint_ofe
        and joint_elr (sums of ln P(c, e)), conditional_ofe, conditional_elr and conditional_logistic (of ln P(c | e)),
        difference (of the last two), largest (difference of posteriors of any row and class).
    """
    names = at_least_one("datasets", datasets)
    check_choice("cuts", cuts, CUTS)
    seed = check_integer("seed", seed, 0)
    with threadpool_limits(1, user_api="blas"):
        return pd.DataFrame([_compared(name, *_discrete(name, cuts, seed)) for name in names])


def has_maximum(codes, sizes):
    """Whether the likelihood of logistic regression on one-hot codes of complete rows has a maximum.

    It has none if some weights put no row's own class below another, and a row's above (quasi-complete separation).

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n_attributes + 1)
        The class first.
    sizes : sequence of int

    References
    ----------
    Albert & Anderson (1984), section 3.
    """
    rows = np.unique(codes, axis=0)
    inputs, classes = np.column_stack([np.ones(len(rows)), _one_hot(rows, sizes)]), rows[:, 0]
    margins = []
    for c in range(sizes[0]):
        keep = np.flatnonzero(classes != c)
        difference = np.zeros((len(keep), sizes[0], inputs.shape[1]))
        difference[np.arange(len(keep)), classes[keep]] = inputs[keep]
        difference[:, c] -= inputs[keep]
        margins.append(difference.reshape(len(keep), -1))
    margins = sparse.csr_matrix(np.concatenate(margins))
    total = np.asarray(margins.sum(axis=0)).ravel()
    found = linprog(-total, A_ub=-margins, b_ub=np.zeros(margins.shape[0]), bounds=(-1, 1), method="highs")
    return bool(-found.fun < SEPARABLE)


def made_rows(n_classes, seed=0, n_rows=400):
    """Rows of a random TAN over `MADE_SIZES`, so that naive Bayes is wrong and no class can be told for sure.

    Returns
    -------
    codes : ndarray of int, shape (n_rows, 5)
    sizes : ndarray of shape (5,)
    """
    n_rows = check_integer("n_rows", n_rows, 1)
    sizes = np.array([check_integer("n_classes", n_classes, 2), *MADE_SIZES])
    network = Network(chain(len(MADE_SIZES), len(MADE_SIZES)), sizes)
    return _drawn(network, n_rows, np.random.default_rng(trial_seeds(seed, n_classes)[-1]), 0.4), sizes


def gauges(n_rows, rng):
    """Draw classes and two gauges with seven values each; the second is the first, or one beside it.

    Returns
    -------
    codes : ndarray of int, shape (n_rows, 3)
        Class and gauges.
    truth : ndarray of shape (7, 7)
        P(class 1 | gauges): the second gauge adds nothing.
    """
    values = np.arange(GAUGE_SIZE)
    likelihoods = np.exp(-((values - np.array([[2.2], [3.8]])) ** 2) / (2 * 1.6**2))
    likelihoods /= likelihoods.sum(axis=1, keepdims=True)
    classes = rng.integers(0, 2, n_rows)
    first = (rng.random(n_rows)[:, None] > likelihoods.cumsum(axis=1)[classes]).sum(axis=1).clip(max=GAUGE_SIZE - 1)
    second = (first + rng.choice([-1, 0, 1], n_rows, p=[0.25, 0.5, 0.25])).clip(0, GAUGE_SIZE - 1)
    truth = np.repeat((likelihoods[1] / likelihoods.sum(axis=0))[:, None], GAUGE_SIZE, axis=1)
    return np.column_stack([classes, first, second]), truth


def gauge_posteriors(n_rows=4000, seed=0):
    """P(class 1 | gauges) of `gauges`, truly and by three learners that see the same rows.

    Returns
    -------
    posteriors : dict of str to ndarray of shape (7, 7)
        Keys "truth", "ofe", "elr", "logistic"; first gauge in rows.
    finite : bool
        Whether the sample's conditional likelihood has a maximum.
    """
    n_rows = check_integer("n_rows", n_rows, 10)
    codes, truth = gauges(n_rows, np.random.default_rng(trial_seeds(seed, 1)[0]))
    sizes = np.array([2, GAUGE_SIZE, GAUGE_SIZE])
    network = Network(naive(2), sizes)
    cases = Cases.from_rows(network, codes)
    theta = observed_frequencies(cases)
    grid = np.column_stack([np.zeros(GAUGE_SIZE**2, int), np.indices((GAUGE_SIZE,) * 2).reshape(2, -1).T])
    all_inputs = Cases(network, grid[:, 1:], np.ones((len(grid), 2)))
    learned = network.softmax(ascend(cases, np.log(theta), **CLIMB).beta)
    posteriors = {"ofe": all_inputs.posterior(theta), "elr": all_inputs.posterior(learned)}
    posteriors["logistic"] = np.exp(_logistic(codes, sizes)(grid))
    tables = {name: p[:, 1].reshape(GAUGE_SIZE, GAUGE_SIZE) for name, p in posteriors.items()}
    return {"truth": truth} | tables, has_maximum(codes, sizes)


# the gradient


def gradient_errors(seed=0, n_rows=40, share=0.4, steps=STEPS):
    """Proposition 3 against central differences, at random parameters of the networks of `GRAPHS`.

    The gradient is that of the message passing, the differences are of conditional likelihoods by enumeration of the
    joint distribution.

    Parameters
    ----------
    seed : int
    n_rows : int, at least 1
    share : float, from 0 to below 1
        Probability that a value is missing, in the rows with missing values.
    steps : sequence of float, above 0

    Returns
    -------
    DataFrame
        network, missing (bool), n_parameters, step, error (largest, over the largest derivative).
    """
    n_rows = check_integer("n_rows", n_rows, 1)
    share = check_real("share", share, 0, 1, open_high=True)
    steps = [check_real("steps", step, 0, open_low=True) for step in at_least_one("steps", steps)]
    rows = []
    for (name, parents), s in zip(GRAPHS.items(), trial_seeds(seed, len(GRAPHS)), strict=True):
        rng, network = np.random.default_rng(s), Network(parents, GRAPH_SIZES)
        complete = rng.integers(0, GRAPH_SIZES, (n_rows, len(GRAPH_SIZES)))
        beta = rng.standard_normal(network.n_parameters)
        holes = rng.random((len(complete), len(GRAPH_SIZES) - 1)) < share
        for missing in (False, True):
            codes = complete.copy()
            codes[:, 1:][holes & missing] = -1
            exact = Cases.from_rows(network, codes).conditional(beta)[1]
            for step in steps:
                error = abs(central_differences(network, codes, beta, step) - exact).max() / abs(exact).max()
                rows.append((name, missing, network.n_parameters, step, error))
    return pd.DataFrame(rows, columns=["network", "missing", "n_parameters", "step", "error"])


def enumerated_conditional(network, codes, betas):
    """Mean ln P(c | e) of the rows for each of several parameters (n, n_parameters), from all joint values; (n,)."""
    cells = np.indices(tuple(network.sizes)).reshape(len(network.sizes), -1)
    entries = np.empty((cells.shape[1], len(cells)), dtype=int)
    for v, parents in enumerate(network.parents):
        family = [cells[p] for p in (*parents, v)]
        entries[:, v] = network.starts[v] + np.ravel_multi_index(family, network.shapes[v])
    theta = np.array([network.softmax(beta) for beta in betas])
    joint = theta[:, entries].prod(axis=-1)
    agrees = (codes[:, :, None] < 0) | (codes[:, :, None] == cells)
    evidence, both = agrees[:, 1:].all(axis=1).astype(float), agrees.all(axis=1).astype(float)
    return (np.log(joint @ both.T) - np.log(joint @ evidence.T)).mean(axis=1)


def central_differences(network, codes, beta, step):
    """Derivatives of the enumerated mean ln P(c | e), (n_parameters,)."""
    moves = step * np.eye(network.n_parameters)
    ends = enumerated_conditional(network, codes, np.concatenate([beta + moves, beta - moves]))
    return (ends[: len(moves)] - ends[len(moves) :]) / (2 * step)


# more than one maximum


@dataclass(frozen=True, eq=False)
class Optima:
    """Where climbs from random starts ended.

    Attributes
    ----------
    network : Network
    cases : dict of str to Cases
        "complete", "missing" and "hidden" data.
    ends : DataFrame
        data, start, log_conditional_likelihood (mean), n_iterations, converged.
    betas : dict of str to ndarray of shape (n_starts, n_parameters)
        The rows of each table centred, as adding a constant to a row changes nothing.
    """

    network: Network
    cases: dict
    ends: pd.DataFrame
    betas: dict


def random_optima(n_starts=12, seed=0, n_rows=200, n_attributes=4, share=0.5):
    """Climb the conditional likelihood from random starts: complete data, values missing, one attribute hidden.

    The structure is naive Bayes with an attribute H that is a parent of the others besides; classes and attributes
    are binary. The rows are drawn from random tables of this structure.

    Parameters
    ----------
    n_starts : int, at least 2
        The same for the three kinds of data.
    seed : int
    n_rows : int, at least 1
    n_attributes : int, at least 1
        Beside H.
    share : float, from 0 to below 1
        Probability that a value is missing in "missing" data, completely at random.

    Returns
    -------
    Optima
    """
    n_starts = check_integer("n_starts", n_starts, 2)
    n_rows = check_integer("n_rows", n_rows, 1)
    n_attributes = check_integer("n_attributes", n_attributes, 1)
    share = check_real("share", share, 0, 1, open_high=True)
    network = Network(((), (0,), *[(0, HIDDEN)] * n_attributes), [2] * (n_attributes + 2))
    first, *seeds = trial_seeds(seed, n_starts + 1)
    rng = np.random.default_rng(first)
    complete = _drawn(network, n_rows, rng, 0.2)
    missing, hidden = complete.copy(), complete.copy()
    missing[:, 1:][rng.random((n_rows, n_attributes + 1)) < share] = -1
    hidden[:, HIDDEN] = -1
    codes = {"complete": complete, "missing": missing, "hidden": hidden}
    cases = {data: Cases.from_rows(network, rows) for data, rows in codes.items()}
    starts = [np.random.default_rng(s).standard_normal(network.n_parameters) for s in seeds]
    rows, betas = [], {}
    for data, one in cases.items():
        with threadpool_limits(1, user_api="blas"):
            climbs = [ascend(one, start, 500, method="lbfgs") for start in starts]
        rows += [(data, i, c.path[-1], len(c.path) - 1, c.converged) for i, c in enumerate(climbs)]
        betas[data] = np.array([_centred(network, climb.beta) for climb in climbs])
    columns = ["data", "start", "log_conditional_likelihood", "n_iterations", "converged"]
    return Optima(network, cases, pd.DataFrame(rows, columns=columns), betas)


def three_ends(optima):
    """Of the climbs with H hidden: the best end, the same with the values of H renamed, and the worst end, (3, n)."""
    ends = optima.ends[optima.ends["data"] == "hidden"].reset_index(drop=True)["log_conditional_likelihood"]
    best, worst = optima.betas["hidden"][[ends.idxmax(), ends.idxmin()]]
    return np.array([best, renamed(optima.network, best), worst])


def renamed(network, beta):
    """The parameters with the two values of H exchanged, which changes no probability of other variables."""
    tables = []
    for v, table in enumerate(network.tables(beta)):
        family = (*network.parents[v], v)
        tables.append(np.flip(table, family.index(HIDDEN)) if HIDDEN in family else table)
    return network.flat(tables)


def along_lines(optima, n_points=101):
    """Mean ln P(c | e) with H hidden along the lines from the best end to its twin and to the worst end.

    Returns
    -------
    DataFrame
        line ("renamed" or "worst"), t (0 to 1), value, chord.
    """
    n_points = check_integer("n_points", n_points, 2)
    best, *others = three_ends(optima)
    t, frames = np.linspace(0, 1, n_points), []
    for line, other in zip(("renamed", "worst"), others, strict=True):
        values = [optima.cases["hidden"].conditional(best + s * (other - best))[0] for s in t]
        chord = (1 - t) * values[0] + t * values[-1]
        frames.append(pd.DataFrame({"line": line, "t": t, "value": values, "chord": chord}))
    return pd.concat(frames, ignore_index=True)


def two_parameters(share=0.8, n_points=81, reach=5.0):
    """Mean ln P(c | e) of C -> H -> E with H never observed, over two parameters that leave its symmetry.

    P(H = C) = 1 / (1 + exp(-u)) and P(E = H) = 1 / (1 + exp(-v)), and C is a fair coin.

    Parameters
    ----------
    share : float, 0 to 1
        Share of the rows in which C = E.
    n_points : int, at least 2
        For either parameter.
    reach : float, above 0
        Both are from -reach to reach.

    Returns
    -------
    u : ndarray of shape (n_points,)
        Of either parameter.
    values : ndarray of shape (n_points, n_points)
        A row for each v.
    """
    share = check_real("share", share, 0, 1)
    n_points = check_integer("n_points", n_points, 2)
    reach = check_real("reach", reach, 0, open_low=True)
    network = Network(((), (0,), (1,)), [2, 2, 2])
    counts = np.array([[share, 1 - share], [1 - share, share]]) / 2
    cases = Cases(network, np.array([[-1, 0], [-1, 1]]), counts)
    u = np.linspace(-reach, reach, n_points)

    def value(a, b):
        beta = np.array([0, 0, a, -a, -a, a, b, -b, -b, b]) / 2
        return cases.conditional(beta)[0]

    return u, np.array([[value(a, b) for a in u] for b in u])


def symmetric_maximum(share=0.8):
    """The u = v > 0 of `two_parameters` at which P(C = E) is `share`, above 1/2 and below 1."""
    share = check_real("share", share, 0.5, 1, open_low=True, open_high=True)
    agree = (1 + np.sqrt(2 * share - 1)) / 2
    return float(np.log(agree / (1 - agree)))


# Theorem 2


def theorem_formulas(n_formulas=1, seed=0):
    """Formulas by name: the near miss, the smallest unsatisfiable one, and random ones of either kind.

    Parameters
    ----------
    n_formulas : int, at least 1
        Random satisfiable and random unsatisfiable formulas for each of `SHAPES`.
    seed : int

    Returns
    -------
    dict of str to formula
    """
    formulas = {"3 variables, 7 clauses": near_miss_formula(), "3 variables, 8 clauses": unsatisfiable_formula()}
    for number, s in enumerate(trial_seeds(seed, check_integer("n_formulas", n_formulas, 1))):
        rng = np.random.default_rng(s)
        for n, k in SHAPES:
            for satisfiable in (True, False):
                name = f"{n} variables, {k} clauses, {'satisfiable' if satisfiable else 'unsatisfiable'} {number + 1}"
                formulas[name] = random_formula(n, k, rng, satisfiable)
    return formulas


def theorem_2(formulas, n_starts=20, seed=0, n_jobs=1, engine="local"):
    """Climbs from random starts for named formulas, by L-BFGS.

    Returns
    -------
    DataFrame
        name, and what `satisfiability_experiment` returns.
    """
    frame = satisfiability_experiment(list(formulas.values()), n_starts, seed, n_jobs, method="lbfgs", engine=engine)
    frame.insert(0, "name", np.array(list(formulas))[frame["formula"]])
    return frame


def constructed_scores(formulas, doubts=DOUBTS):
    """The proof's tables for the satisfiable ones of named formulas, each variable doubted a little.

    Returns
    -------
    DataFrame
        name, doubt, log_conditional_likelihood (sum), rarest (the least probability of what a row of Table I observes
        beside A; 0 with no doubt).
    """
    rows = []
    for name, formula in formulas.items():
        assignment = satisfying_assignment(formula)
        if assignment is None:
            continue
        made = reduction(check_formula(formula))
        network = Network(made.parents, [2] * len(made.parents))
        cases = Cases.from_rows(network, made.codes)
        for doubt in (0.0, *doubts):
            tables = proof_tables(made, assignment, doubt)
            rarest = min(_observed_probability(row, tables) for row in made.codes)
            score = len(made.codes) * cases.conditional(np.log(network.normalised(network.flat(tables))))[0]
            rows.append((name, doubt, score if doubt else np.nan, rarest))
    return pd.DataFrame(rows, columns=["name", "doubt", "log_conditional_likelihood", "rarest"])


def query_table(formula):
    """Table I for a formula, blank where nothing is observed: clause in words, X1, ..., A."""
    made = reduction(check_formula(formula))
    n = made.names.index("C1") if "C1" in made.names else len(made.names)
    shown = pd.DataFrame(made.codes, columns=list(made.names)).iloc[:, [*range(1, n), 0]].astype(str).replace("-1", "")
    shown.insert(0, "of", [*map(clause_words, made.formula), ""])
    return shown


def clause_words(clause):
    """Such as "x1 ∨ ¬x2 ∨ x3"."""
    return " ∨ ".join(("¬" if literal < 0 else "") + f"x{abs(literal)}" for literal in clause)


def _discrete(name, cuts, seed):
    """Codes of the complete rows, class first, and sizes; columns with a single value are left out."""
    if str(name).startswith("made-"):
        found = re.fullmatch("made-([2-9])", name)
        if not found:
            raise ValueError(f"datasets must hold names of data sets or 'made-k', k from 2 to 9; got {name!r}")
        return made_rows(int(found[1]), seed)
    data = shipped.load(name).complete_rows()
    if cuts == "entropy":
        X = EntropyDiscretizer().fit(data.X, data.y).transform(data.X)
    else:
        X = data.X.apply(lambda column: column > column.median() if column.dtype == float else column)
    return discrete_codes(X.loc[:, X.nunique() > 1], data.y)


def _compared(name, codes, sizes):
    network = Network(naive(len(sizes) - 1), sizes)
    cases = Cases.from_rows(network, codes)
    ofe = observed_frequencies(cases)
    elr = network.softmax(ascend(cases, np.log(ofe), **CLIMB).beta)
    found = {"dataset": name, "n_rows": len(codes), "n_attributes": len(sizes) - 1, "n_classes": int(sizes[0])}
    found["finite"] = has_maximum(codes, sizes)
    for learner, theta in (("ofe", ofe), ("elr", elr)):
        joints = cases.log_joints(theta)
        found[f"joint_{learner}"] = float((cases.counts * joints).sum())
        found[f"conditional_{learner}"] = float((cases.counts * log_softmax(joints, axis=1)).sum())
    rows = np.column_stack([np.zeros(len(cases.attributes), int), cases.attributes])
    logs = _logistic(codes, sizes)(rows)
    logistic = found["conditional_logistic"] = float((cases.counts * logs).sum())
    found["difference"] = found["conditional_elr"] - logistic
    found["largest"] = abs(softmax(logs, axis=1) - cases.posterior(elr)).max()
    return found


def _logistic(codes, sizes):
    """The fitted log posterior as a function of rows of codes."""
    model = LogisticRegression(C=np.inf, solver="newton-cg", tol=1e-10, max_iter=1000)
    model.fit(_one_hot(codes, sizes), codes[:, 0])

    def log_posterior(rows):
        scores = model.decision_function(_one_hot(rows, sizes))
        scores = np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
        return log_softmax(scores, axis=1)

    return log_posterior


def _one_hot(codes, sizes):
    encoder = OneHotEncoder(categories=[range(m) for m in sizes[1:]], drop="first", sparse_output=False)
    return encoder.fit_transform(codes[:, 1:])


def _drawn(network, n_rows, rng, even):
    """Rows of a network whose parents come first, with random tables, and equally frequent values of the first.

    `even` is the part of each table that is uniform.
    """
    codes = np.zeros((n_rows, len(network.sizes)), dtype=int)
    for v, (parents, shape) in enumerate(zip(network.parents, network.shapes, strict=True)):
        table = rng.dirichlet(np.full(shape[-1], 0.6), shape[:-1]) if parents else np.full(shape, 1 / shape[-1])
        given = (even / shape[-1] + (1 - even) * table)[tuple(codes[:, p] for p in parents)]
        below = np.atleast_2d(given).cumsum(axis=1)[:, :-1]
        codes[:, v] = (rng.random(n_rows)[:, None] > below).sum(axis=1)
    return codes


def _centred(network, beta):
    starts, widths = network.row_starts[:-1], np.diff(network.row_starts)
    return beta - np.repeat(np.add.reduceat(beta, starts) / widths, widths)


def _observed_probability(row, tables):
    """P of the observed variables but A, which are roots."""
    return float(np.prod([tables[v][value] for v, value in enumerate(row) if v and value >= 0]))
