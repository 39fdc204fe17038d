"""Gibbs sampling of what is not observed in a network, and the plain gradient of its likelihood."""

import warnings
from typing import NamedTuple

import numpy as np

from lib.base.compiled import compiled
from lib.base.validation import (
    SUM_ROUNDING,
    check_choice,
    check_generator,
    check_integer,
    check_real,
)
from lib.bayes_net.messages import LOWEST

LIFTED = 1e-3  # what all zeros are raised to, until a possible state is found
MAX_START_SWEEPS = 1000  # in which it must be found
UNDERFLOW = 1e-280  # below it, products have lost digits
# no probability of the plain gradient falls below this, or half the uniform one if that is less
LEAST = 1e-6


class Links(NamedTuple):
    """Tables that each variable is in: of variable v, links pointers[v] to pointers[v + 1].

    Attributes
    ----------
    tables : ndarray of int, shape (n_links,)
    steps : ndarray of int, shape (n_links,)
        How many entries of the table apart two values of the variable are.
    pointers : ndarray of int, shape (n_variables + 1,)
    starts : ndarray of int, shape (n_variables,)
        First parameter of each table.
    """

    tables: np.ndarray
    steps: np.ndarray
    pointers: np.ndarray
    starts: np.ndarray


def gibbs_posterior(network, theta, evidence, n_sweeps, rng):
    """Draw states from P(all | evidence), each hidden variable in turn given all others.

    Parameters
    ----------
    network : Network
    theta : ndarray of shape (n_parameters,)
        Flat tables, whose rows sum to 1.
    evidence : array of int, shape (n_variables,)
        The value of each variable, -1 where it is hidden.
    n_sweeps : int, at least 1
    rng : numpy.random.Generator

    Returns
    -------
    states : ndarray of int16, shape (n_sweeps, n_variables)
        After each sweep; the first sweep starts at values drawn at random.

    Raises
    ------
    ValueError
        If the evidence is none of its variables' values, a parameter is out of range, rows of
        `theta` do not sum to 1, or no state of positive probability was found; where the evidence
        has the probability 0, there is none.

    Warns
    -----
    RuntimeWarning
        If a table rules out some of the joint values of hidden variables.

    Notes
    -----
    With zeros in tables, possible states may fall apart into parts between which no change of one
    variable leads: of two hidden copies of a coin, both stay as they fell at first. Then all states
    are draws from one part, however many sweeps there are.

    If the values drawn at random are impossible, sweeps with all zeros raised to a thousandth come
    first, until they are possible. Entries of at most 1e-300, the least that `Network.normalised`
    leaves, count as zeros.

    References
    ----------
    Geman & Geman (1984).
    """
    theta = network.check_probabilities(theta)
    sizes = network.sizes
    if np.shape(evidence) != sizes.shape:
        raise ValueError(
            f"evidence must be an integer for each of {len(sizes)} variables; got {evidence!r}"
        )
    values = [
        check_integer(f"evidence of variable {v}", value, -1, sizes[v] - 1)
        for v, value in enumerate(evidence)
    ]
    state = np.array(values)
    n_sweeps = check_integer("n_sweeps", n_sweeps, 1)
    rng = check_generator("rng", rng)
    hidden = np.flatnonzero(state < 0)
    links = _find_links(network)
    has_zeros = theta.min() <= LOWEST
    if has_zeros:
        v = _find_table_with_zeros(network, theta, state)
        if v is not None:
            message = (
                f"the table of variable {v} rules out joint values of hidden variables: "
                "the chain may never leave a part of the states"
            )
            warnings.warn(message, RuntimeWarning, stacklevel=2)
    _draw_uniform(state, hidden, sizes, rng)
    if has_zeros:
        _make_possible(state, network, theta, hidden, links, rng)
    return _sweep(theta, state, hidden, sizes, links, n_sweeps, rng)


def _find_links(network):
    steps = network.with_class.steps  # of each table, by variable
    links = [
        [(table, steps[table][v]) for table in range(len(steps)) if v in steps[table]]
        for v in range(len(steps))
    ]
    tables, link_steps = np.ascontiguousarray(np.concatenate(links).T)
    return Links(
        tables=tables,
        steps=link_steps,
        pointers=np.cumsum([0, *map(len, links)]),
        starts=np.asarray(network.starts[:-1]),
    )


def _find_table_with_zeros(network, theta, evidence):
    """First variable whose table rules out values of two or more hidden variables, or None."""
    for v, (parents, table) in enumerate(zip(network.parents, network.tables(theta), strict=True)):
        values = [slice(None) if evidence[u] < 0 else evidence[u] for u in (*parents, v)]
        n_hidden = values.count(slice(None))
        if n_hidden > 1 and table[tuple(values)].min() <= LOWEST:
            return v
    return None


def _make_possible(state, network, theta, hidden, links, rng):
    """Change an impossible `state` until it is possible; ValueError if that fails."""
    lifted = np.where(theta <= LOWEST, LIFTED, theta)
    families = [[*parents, v] for v, parents in enumerate(network.parents)]
    tables = network.tables(theta)
    # sweeps with lifted tables can leave every impossible state
    for _ in range(MAX_START_SWEEPS):
        probabilities = [
            table[tuple(state[family])] for table, family in zip(tables, families, strict=True)
        ]
        if min(probabilities) > LOWEST:
            return
        _sweep(lifted, state, hidden, network.sizes, links, 1, rng)
    detail = f"no possible state was found in {MAX_START_SWEEPS:,} sweeps"
    raise ValueError(
        f"evidence must have a probability above 0; {detail} (zeros of the tables rule it out)"
    )


@compiled()
def _draw_uniform(state, hidden, sizes, rng):
    for v in hidden:
        state[v] = rng.integers(0, sizes[v])


@compiled()
def _sweep(theta, state, hidden, sizes, links, n_sweeps, rng):
    """Return the state after each sweep, (n_sweeps, n_variables); `state` becomes the last one."""
    states = np.empty((n_sweeps, len(state)), np.int16)
    masses = np.empty(sizes.max())  # cumulated, of the values of a variable
    tables = links.tables
    steps = links.steps
    cells = links.starts.copy()  # the parameter that each table gives for the state
    for v in range(len(state)):
        for link in range(links.pointers[v], links.pointers[v + 1]):
            cells[tables[link]] += steps[link] * state[v]
    for sweep in range(n_sweeps):
        for v in hidden:
            first = links.pointers[v]
            last = links.pointers[v + 1]
            for link in range(first, last):
                cells[tables[link]] -= steps[link] * state[v]
            # P(v | all others) is in proportion to the product of the tables that v is in
            total = 0.0
            for value in range(sizes[v]):
                product = 1.0
                for link in range(first, last):
                    product *= theta[cells[tables[link]] + steps[link] * value]
                total += product
                masses[value] = total
            if total < UNDERFLOW:
                total = _scale_masses(
                    theta, cells, tables[first:last], steps[first:last], masses[: sizes[v]]
                )
            # the first value whose cumulated mass is above the draw
            threshold = rng.random() * total
            new_value = state[v]
            if total > 0.0:  # or else all values are impossible
                new_value = 0
                while new_value < sizes[v] - 1 and masses[new_value] <= threshold:
                    new_value += 1
            state[v] = new_value
            for link in range(first, last):
                cells[tables[link]] += steps[link] * new_value
        for v in range(len(state)):
            states[sweep, v] = state[v]
    return states


@compiled()
def _scale_masses(theta, cells, tables, steps, masses):
    """Set the cumulated masses of a variable's values, over the largest mass.

    Return the last, 0 if all values are impossible. It goes by logarithms, as products of many
    probabilities underflow.
    """
    top = -np.inf
    for value in range(len(masses)):
        masses[value] = 0.0
        for link in range(len(tables)):
            probability = theta[cells[tables[link]] + steps[link] * value]
            masses[value] += np.log(probability) if probability > LOWEST else -np.inf
        top = max(top, masses[value])
    total = 0.0
    for value in range(len(masses)):
        if top > -np.inf:
            total += np.exp(masses[value] - top)
        masses[value] = total
    return total


def plain_gradient(cases, theta, n_iterations, step=0.1, renormalise="project", tolerance=1e-9):
    """Climb the likelihood along its gradient in the table entries, mended after each step.

    Each row sums to 1 after each step, and no entry of a row of k values falls below 1e-6, or 1 /
    2k if that is less; a start with lower entries is moved.

    Parameters
    ----------
    cases : Cases
    theta : ndarray of shape (n_parameters,)
        Flat tables to start from, whose rows sum to 1.
    n_iterations : int, at least 0
    step : float, above 0 and at most 1e100
        Of the gradient of the mean log likelihood.
    renormalise : {"project", "divide"}
        "divide": after the step, entries are divided by the sum of their row. Such a climb ends
        where the gradient is in proportion to the entries, which is not at the top: entries are
        then in proportion to the square roots of the expected counts. "project": a step is followed
        by one to the nearest row, by Euclidean distance, that sums to 1 and has no entry below the
        least. For two values this is to take the mean of its row from the gradient before the step,
        unless an entry would fall below the least.
    tolerance : float, at least 0
        The climb ends where no entry changes by more.

    Returns
    -------
    theta : ndarray of shape (n_parameters,)
    path : ndarray
        Mean log likelihood at the start and after each step.

    Raises
    ------
    ValueError
        If a parameter is out of range, rows of `theta` do not sum to 1, or all counts are 0.

    Notes
    -----
    All steps are `step` times the gradient, none is shortened. With "project" the climb settles at
    a top that is not at an edge if `step` is below twice the smallest probability there; with
    longer steps it may go to and fro for ever.

    References
    ----------
    Russell, Binder, Koller & Kanazawa (1995), equation 7; Dietterich (1997), section 5.3.1.
    """
    check_integer("n_iterations", n_iterations, 0)
    step = check_real("step", step, 0, 1e100, open_low=True)
    check_choice("renormalise", renormalise, ("project", "divide"))
    tolerance = check_real("tolerance", tolerance, 0)
    network = cases.network
    rows = _rows_by_size(network)
    theta = _project(network.check_probabilities(theta), rows)
    cases.check_size()
    path = []
    for _ in range(n_iterations):
        value, expected = cases.expected_counts(theta)
        path.append(value / cases.size)
        gradient = expected / theta / cases.size  # equation 7 of Russell et al.
        stepped = theta + step * gradient
        # "project" needs no division first: the nearest row with the sum 1 is found from any row
        if renormalise == "divide":
            stepped = network.normalised(stepped)
        last_theta = theta
        theta = _project(stepped, rows)
        if np.abs(theta - last_theta).max() <= tolerance:
            break
    value, _ = cases.expected_counts(theta)
    return theta, np.array([*path, value / cases.size])


def _rows_by_size(network):
    """Places in the flat vector of rows of the same size: an array (n_rows, size) for each size."""
    starts = network.row_starts[:-1]
    widths = np.diff(network.row_starts)
    return [starts[widths == size][:, None] + np.arange(size) for size in np.unique(widths)]


def _project(numbers, rows_by_size):
    """Flat tables of the nearest rows that sum to 1 and have no entry below the least.

    Rows that are such already, but for rounding, stay as they are.
    """
    theta = np.array(numbers)
    for places in rows_by_size:
        rows = theta[places]
        size = places.shape[1]
        least = min(LEAST, 0.5 / size)
        wrong = (rows.min(axis=1) < least) | (np.abs(rows.sum(axis=1) - 1) > SUM_ROUNDING)
        theta[places[wrong]] = least + simplex_projection(rows[wrong] - least, 1 - size * least)
    return theta


def simplex_projection(rows, total=1.0):
    """Find the nearest rows, by Euclidean distance, of non-negative numbers that sum to `total`.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
    total : float, above 0

    Returns
    -------
    ndarray of shape (n, k)
        The rows less a threshold each, and 0 where that is negative. The threshold is what the
        largest entries, as many as are above it, exceed `total` by, over their number.

    References
    ----------
    Held, Wolfe & Crowder (1974); as in figure 1 of Duchi, Shalev-Shwartz, Singer & Chandra (2008).
    """
    # only moves the threshold, and sums of large entries lose digits
    rows = rows - rows.max(axis=1, keepdims=True)
    descending = np.sort(rows, axis=1)[:, ::-1]
    thresholds = (np.cumsum(descending, axis=1) - total) / np.arange(1, rows.shape[1] + 1)
    n_above = (descending > thresholds).sum(axis=1, keepdims=True)
    return np.maximum(rows - np.take_along_axis(thresholds, n_above - 1, axis=1), 0)
