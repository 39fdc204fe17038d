"""Viterbi's algorithm: the likeliest path of states."""

import numpy as np


def likeliest_states(symbols, start, transitions, emissions):
    """Return the likeliest path of states through a sequence, or None if no path is possible.

    Parameters
    ----------
    symbols : ndarray of int, shape (n_steps,)
    start, transitions, emissions : ndarrays
        Logarithms of the tables, (n_states,), (n_states, n_states) and (n_states, n_symbols).

    Returns
    -------
    ndarray of int, shape (n_steps,), or None

    References
    ----------
    Rabiner (1989), Eq. 30 to 35, in logarithms.
    """
    # delta: log P of the best path that ends in each state; psi: the state before on that path
    delta = start + emissions[:, symbols[0]]
    psi = []
    for symbol in symbols[1:]:
        log_joint = delta[:, None] + transitions
        psi.append(log_joint.argmax(axis=0))
        delta = log_joint.max(axis=0) + emissions[:, symbol]
    last = delta.argmax()
    if delta[last] == -np.inf:
        return None
    path = [last]
    for predecessors in reversed(psi):
        path.append(predecessors[path[-1]])
    return np.array(path[::-1])
