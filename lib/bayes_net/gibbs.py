"""Gibbs sampling of what is not observed in a network, and the plain gradient of its likelihood."""

import numpy as np

from lib.bayes_net.messages import LOWEST
from lib.compiled import assign, compiled
from lib.validation import check_choice, check_generator, check_integer, check_real

NEAR = 1e-6  # no probability of the plain gradient falls below


def gibbs_posterior(network, theta, evidence, n_sweeps, rng):
    """States drawn from P(all | evidence): in a sweep each hidden variable in turn is drawn given all others.

    Parameters
    ----------
    network : Network
    theta : ndarray of shape (n_parameters,)
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
        If the evidence is none of its variables' values, or a parameter is out of range.

    References
    ----------
    Geman & Geman (1984).
    """
    network.check_parameters(theta)
    sizes = network.sizes
    if np.shape(evidence) != sizes.shape:
        raise ValueError(f"evidence must be an integer for each of {len(sizes)} variables; got {evidence!r}")
    state = np.array([check_integer(f"evidence of variable {v}", e, -1, sizes[v] - 1) for v, e in enumerate(evidence)])
    numbers = sizes, *_families(network), check_integer("n_sweeps", n_sweeps, 1)
    return _sweeps(np.array(theta, float), state, np.flatnonzero(state < 0), *numbers, check_generator("rng", rng))


def _families(network):
    """Tables that each variable is in and its steps in them, one after the other, and where each one's begin."""
    families = list(enumerate(network.with_class.steps))
    links = [[(v, steps[u]) for v, steps in families if u in steps] for u in range(len(families))]
    tables, steps = np.ascontiguousarray(np.concatenate(links).T)
    return tables, steps, np.cumsum([0, *map(len, links)]), np.asarray(network.starts[:-1])


@compiled()
def _sweeps(theta, state, hidden, sizes, tables, steps, pointers, starts, n_sweeps, rng):
    states, mass = np.empty((n_sweeps, len(state)), np.int16), np.empty(sizes.max())
    for v in hidden:
        state[v] = rng.integers(0, sizes[v])
    cells = starts.copy()  # the parameter that each table gives for the state
    for v in range(len(state)):
        for link in range(pointers[v], pointers[v + 1]):
            cells[tables[link]] += steps[link] * state[v]
    for sweep in range(n_sweeps):
        for v in hidden:
            first, last, total = pointers[v], pointers[v + 1], 0.0
            for link in range(first, last):
                cells[tables[link]] -= steps[link] * state[v]
            for value in range(sizes[v]):
                product = 1.0
                for link in range(first, last):
                    product *= theta[cells[tables[link]] + steps[link] * value]
                total += product
                mass[value] = total
            drawn, draw = 0, rng.random() * total
            while drawn < sizes[v] - 1 and mass[drawn] <= draw:
                drawn += 1
            state[v] = drawn
            for link in range(first, last):
                cells[tables[link]] += steps[link] * drawn
        assign(states[sweep], state)
    return states


def plain_gradient(cases, theta, n_iterations, step=0.1, renormalise="project", tolerance=1e-9):
    """Climb the likelihood by steps along its gradient in the table entries themselves, mended after each step.

    Parameters
    ----------
    cases : Cases
    theta : ndarray of shape (n_parameters,)
    n_iterations : int, at least 0
    step : float, above 0
        Of the gradient of the mean log likelihood.
    renormalise : {"project", "divide"}
        "divide": after the step, entries are divided by the sum of their row. Such a climb ends where the gradient is
        in proportion to the entries, which is not at the top: entries are then in proportion to the square roots of the
        expected counts. "project": the mean of its row is taken from the gradient first.
    tolerance : float, at least 0
        The climb ends where no entry changes by more.

    Returns
    -------
    theta : ndarray of shape (n_parameters,)
    path : ndarray
        Mean log likelihood at the start and after each step.

    References
    ----------
    Russell, Binder, Koller & Kanazawa (1995), equation 7; Dietterich (1997), section 5.3.1.
    """
    check_integer("n_iterations", n_iterations, 0)
    step = check_real("step", step, 0, open_low=True)
    check_choice("renormalise", renormalise, ("project", "divide"))
    network, path = cases.network, []
    network.check_parameters(theta)
    widths = np.diff(network.row_starts)
    for _ in range(n_iterations):
        value, expected = cases.expected_counts(theta)
        path.append(value / cases.size)
        gradient = expected / np.maximum(theta, LOWEST) / cases.size
        if renormalise == "project":
            gradient -= np.repeat(np.add.reduceat(gradient, network.row_starts[:-1]) / widths, widths)
        before, theta = theta, network.normalised(np.maximum(theta + step * gradient, NEAR))
        if np.abs(theta - before).max() <= tolerance:
            break
    return theta, np.array([*path, cases.expected_counts(theta)[0] / cases.size])
