"""Forward and backward with scaled probabilities: likelihoods and expected counts.

As in Rabiner (1989), alpha_t(i) is P(symbols up to t, state i at t), and beta_t(i) is P(symbols
after t | state i at t). Both are kept in proportion only, as in section V.A: a row of all states is
multiplied by one number where its sum gets small. A sequence for which this is not enough is
computed in logarithms instead.
"""

import numpy as np

from lib.base.compiled import compiled
from lib.hidden_markov.log_forward_backward import log_backward, log_forward_backward
from lib.hidden_markov.probability_tables import logarithms

WIDE = 12  # from so many states on, sums over states are added to side by side
SMALL = 1e-30  # forward probabilities whose sum is below it are scaled to sum to 1
LEAST = float(np.finfo(float).tiny)  # they are not scaled by more than its reciprocal
# forward probabilities below it may have lost digits, or be 0, and their reciprocals overflow in
# sums
TINY = 1e-290
# the share of P(sequence) that paths through states with such probabilities may have
NEGLIGIBLE = 1e-25


def forward_step(alpha, symbol, transitions, emissions):
    """One step forward: from P(state | symbols before) to P(state | symbols up to this one).

    The readable form of what `_forward` computes for all steps.

    Parameters
    ----------
    alpha : ndarray of shape (n_states,)
        Sums to 1. For the first symbol it is the distribution of first states, and `transitions`
        the identity.
    symbol : int
    transitions, emissions : ndarrays of shapes (n_states, n_states) and (n_states, n_symbols)

    Returns
    -------
    alpha : ndarray of shape (n_states,)
    scale : float
        P(symbol | symbols before): the product of all of them is P(sequence).

    References
    ----------
    Rabiner (1989), Eq. 19 and 20, scaled as in section V.A.
    """
    alpha = (alpha @ transitions) * emissions[:, symbol]
    scale = alpha.sum()
    return alpha / scale, scale


def expected_counts(symbols, ends, start, transitions, emissions):
    """Compute the E step: expected counts of first states, of pairs of states, and of symbols.

    Parameters
    ----------
    symbols, ends : ndarrays of int
        All sequences, as `joined` returns them.
    start, transitions, emissions : ndarrays
        Probabilities, of shapes (n_states,), (n_states, n_states) and (n_states, n_symbols).

    Returns
    -------
    log_likelihood : float
        Ln P of all sequences together.
    start_counts, pair_counts, symbol_counts : ndarrays
        Of the shapes of the tables; sums over all sequences.

    Raises
    ------
    ValueError
        If a sequence is impossible.

    References
    ----------
    Rabiner (1989), Eq. 37 to 40; for several sequences, section V.B.
    """
    n_states, n_symbols = emissions.shape
    alpha = np.empty((len(symbols), n_states))
    weighted_beta = np.empty((len(symbols), n_states))
    # transposed, as loops over memory in its order are faster
    counts_by_symbol = np.zeros((n_symbols, n_states))
    transitions = np.ascontiguousarray(transitions)
    transitions_to = transitions.T.copy()
    emissions_by_symbol = emissions.T.copy()
    is_lost = np.zeros(len(ends) - 1, dtype=bool)
    log_likelihood = _scaled_forward_backward(
        symbols,
        ends,
        start,
        transitions,
        transitions_to,
        emissions_by_symbol,
        alpha,
        weighted_beta,
        counts_by_symbol,
        is_lost,
    )
    pair_counts = np.zeros((n_states, n_states))
    if is_lost.any():
        tables = start, transitions, emissions_by_symbol
        log_start, log_transitions, log_emissions_by_symbol = logarithms(*tables)
        for number in np.flatnonzero(is_lost):
            steps = slice(ends[number], ends[number + 1])
            log_likelihood += log_forward_backward(
                symbols[steps],
                log_start,
                log_transitions,
                log_emissions_by_symbol,
                alpha[steps],
                weighted_beta[steps],
                counts_by_symbol,
                pair_counts,
            )
    if log_likelihood == -np.inf:
        values = log_likelihoods(symbols, ends, start, transitions, emissions)
        raise ValueError(
            "sequences must be possible: the emissions or transitions given make one impossible, "
            f"sequence {values.argmin()}"
        )
    firsts = ends[:-1]
    start_counts = (alpha[firsts] * weighted_beta[firsts]).sum(axis=0)
    # xi, Eq. 37, summed over all steps: alpha_t(i) a_ij b_j(O_t+1) beta_t+1(j) / P(sequence), where
    # the scales are the division. No pair of states is of two sequences.
    weighted_beta[firsts] = 0.0
    pair_counts += alpha[:-1].T @ weighted_beta[1:] * transitions
    return log_likelihood, start_counts, pair_counts, counts_by_symbol.T


def log_likelihoods(symbols, ends, start, transitions, emissions):
    """Compute ln P of each sequence, (n_sequences,); the arguments are as for `expected_counts`."""
    alpha = np.empty((len(symbols), len(start)))
    scales = np.empty(len(symbols))
    transitions = np.ascontiguousarray(transitions)
    transitions_to = transitions.T.copy()
    emissions_by_symbol = emissions.T.copy()
    values = np.empty(len(ends) - 1)
    for number in range(len(values)):
        values[number] = _forward(
            symbols,
            ends[number],
            ends[number + 1],
            start,
            transitions,
            transitions_to,
            emissions_by_symbol,
            alpha,
            scales,
        )
    is_lost = np.isnan(values)
    if is_lost.any():
        log_tables = logarithms(start, transitions, emissions_by_symbol)
        for number in np.flatnonzero(is_lost):
            steps = slice(ends[number], ends[number + 1])
            log_weighted_beta = np.empty_like(alpha[steps])
            values[number] = log_backward(symbols[steps], *log_tables, log_weighted_beta)
    return values


@compiled(error_model="numpy")
def _scaled_forward_backward(
    symbols,
    ends,
    start,
    transitions,
    transitions_to,
    emissions_by_symbol,
    alpha,
    weighted_beta,
    counts_by_symbol,
    is_lost,
):
    """Fill `alpha` and `weighted_beta`, add to `counts_by_symbol`, and return ln P of all.

    `weighted_beta` is beta times the emission and the scale of its own step, but for the first step
    of a sequence, where it is beta. So P(state t, state t + 1 | symbols) is
    alpha[t] * transitions * weighted_beta[t + 1] within a sequence, and P(its first state |
    symbols) is alpha * weighted_beta there: as the last row of alpha sums to 1, all scales of a
    sequence together are 1 / P(sequence). Sequences for which numbers are too small are left out,
    and marked in `is_lost`.
    """
    n_states = len(start)
    scales = np.empty(len(symbols))
    sums = np.empty(n_states)
    total = 0.0
    for number in range(len(ends) - 1):
        first = ends[number]
        end = ends[number + 1]
        log_likelihood = _forward(
            symbols,
            first,
            end,
            start,
            transitions,
            transitions_to,
            emissions_by_symbol,
            alpha,
            scales,
        )
        if np.isnan(log_likelihood):
            is_lost[number] = True
            continue
        total += log_likelihood
        for t in range(end - 1, first - 1, -1):
            symbol = symbols[t]
            if n_states >= WIDE and t < end - 1:
                _multiply(weighted_beta[t + 1], transitions_to, sums)
            for i in range(n_states):
                beta = 1.0  # Eq. 24
                if n_states >= WIDE and t < end - 1:
                    beta = sums[i]
                elif t < end - 1:
                    beta = 0.0  # Eq. 25
                    for j in range(n_states):
                        beta += transitions[i, j] * weighted_beta[t + 1, j]
                # alpha_t has the scales up to t, beta_t those after t
                if t > first:
                    weighted_beta[t, i] = emissions_by_symbol[symbol, i] * scales[t] * beta
                else:
                    weighted_beta[t, i] = beta
                counts_by_symbol[symbol, i] += alpha[t, i] * beta  # gamma, Eq. 27
    return total


@compiled(error_model="numpy")
def _forward(
    symbols, first, end, start, transitions, transitions_to, emissions_by_symbol, alpha, scales
):
    """Fill rows of `alpha`, and of `scales`, by which each is multiplied; return ln P.

    Scaled are rows with small sums, and the last one, whose sum is then 1; the others have a scale
    of 1. Returns NaN if ln P and the rows may be wrong, as probabilities that matter have
    underflowed.
    """
    n_states = len(start)
    sums = np.empty(n_states)
    log_likelihood = 0.0
    has_tiny = False
    for t in range(first, end):
        symbol = symbols[t]
        if n_states >= WIDE and t > first:
            _multiply(alpha[t - 1], transitions, sums)
        row_sum = 0.0
        for j in range(n_states):
            p = start[j]  # Eq. 19
            if n_states >= WIDE and t > first:
                p = sums[j]
            elif t > first:
                p = 0.0  # Eq. 20
                for i in range(n_states):
                    p += alpha[t - 1, i] * transitions_to[j, i]
            p *= emissions_by_symbol[symbol, j]
            if p < TINY:
                has_tiny |= emissions_by_symbol[symbol, j] > 0
            alpha[t, j] = p
            row_sum += p
        scales[t] = 1.0
        if row_sum < SMALL or t == end - 1:
            log_likelihood += np.log(row_sum)  # Eq. 103
            scales[t] = 1.0 / max(row_sum, LEAST)
            for j in range(n_states):
                alpha[t, j] *= scales[t]
    if has_tiny and (
        log_likelihood == -np.inf
        or _underflow_matters(
            symbols, first, end, transitions_to, emissions_by_symbol, alpha, scales
        )
    ):
        return np.nan
    return log_likelihood


@compiled(error_model="numpy")
def _multiply(row, matrix, sums):
    """Fill `sums` with row @ matrix, where each sum has its terms in the order of the states.

    The machine adds to several sums at a time, which pays if there are many.
    """
    n_states = len(row)
    sums[:] = 0.0
    for i in range(n_states):
        weight = row[i]
        for j in range(n_states):
            sums[j] += weight * matrix[i, j]


@compiled(error_model="numpy")
def _underflow_matters(symbols, first, end, transitions_to, emissions_by_symbol, alpha, scales):
    """Whether paths through states whose alpha is below TINY may have a share in P(sequence).

    Such an alpha_t, as scaled, is at most TINY * scales[t]. That times beta_t, as scaled, is the
    share of all paths through the state in P(sequence) as computed. Beta is bounded from above:
    whatever is positive is taken to be LEAST at least, so that nothing is lost backward.
    """
    n_states = transitions_to.shape[0]
    bound = np.ones(n_states)  # of beta_t
    weighted_bound = np.ones(n_states)  # times emission and scale, of the step after
    for t in range(end - 1, first - 1, -1):
        symbol = symbols[t]
        scale = scales[t]
        for i in range(n_states):
            if t < end - 1:
                bound[i] = 0.0
                for j in range(n_states):
                    if transitions_to[j, i] > 0 and weighted_bound[j] > 0:
                        bound[i] += max(transitions_to[j, i] * weighted_bound[j], LEAST)
            is_tiny = alpha[t, i] < TINY * scale and emissions_by_symbol[symbol, i] > 0
            # `not <`, as a product that overflows and one that is NaN matter, too
            if is_tiny and not TINY * scale * bound[i] < NEGLIGIBLE:
                return True
        for i in range(n_states):
            weighted_bound[i] = 0.0
            if emissions_by_symbol[symbol, i] > 0 and bound[i] > 0:
                weighted_bound[i] = max(emissions_by_symbol[symbol, i] * scale * bound[i], LEAST)
    return False
