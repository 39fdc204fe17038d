"""Random sequences of a hidden Markov model."""

from bisect import bisect_left

import numpy as np

from lib.base.validation import check_generator, check_integer
from lib.hidden_markov.probability_tables import check_tables


def sample_sequence(start, transitions, emissions, length, rng):
    """Draw symbols and states of one sequence of a hidden Markov model.

    Parameters
    ----------
    start : ndarray of shape (n_states,)
    transitions : ndarray of shape (n_states, n_states)
    emissions : ndarray of shape (n_states, n_symbols)
    length : int, at least 1
    rng : numpy.random.Generator

    Returns
    -------
    symbols, states : ndarrays of int, shape (length,)

    Raises
    ------
    ValueError
        If an argument is out of range, shapes disagree, or a row of a table is no distribution.
    """
    start, transitions, emissions = check_tables(start, transitions, emissions)
    rng = check_generator("rng", rng)
    length = check_integer("length", length, 1)
    state_draws, symbol_draws = rng.random((2, length)).tolist()
    start_bounds = _bounds(start[None])[0]
    transition_bounds = _bounds(transitions)
    emission_bounds = _bounds(emissions)
    # the state, or symbol, in whose interval a number falls that is uniform in [0, 1)
    states = []
    symbols = []
    bounds = start_bounds
    for state_draw, symbol_draw in zip(state_draws, symbol_draws, strict=True):
        state = bisect_left(bounds, state_draw)
        states.append(state)
        symbols.append(bisect_left(emission_bounds[state], symbol_draw))
        bounds = transition_bounds[state]
    return np.array(symbols), np.array(states)


def _bounds(table):
    """Upper ends of the intervals of [0, 1] that stand for each row's values, but for the last.

    As lists, in which `bisect` is several times faster than `searchsorted` is for one number.
    """
    return np.cumsum(table, axis=1)[:, :-1].tolist()
