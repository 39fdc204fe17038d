"""Backward and forward through one sequence in logarithms, where scaled probabilities underflow.

It takes about twenty times as long as scaled probabilities do.
"""

import numpy as np

from lib.base.compiled import compiled


@compiled(error_model="numpy")
def log_forward_backward(
    symbols,
    log_start,
    log_transitions,
    log_emissions_by_symbol,
    alpha,
    weighted_beta,
    counts_by_symbol,
    pair_counts,
):
    """Do for one sequence what the scaled forward and backward pass does for all, and count pairs.

    The rows of `alpha` become gamma, P(state t | symbols), and those of `weighted_beta` 1 for the
    first step and 0 for all others: their product is gamma at the first step, and the pairs of
    states, which are added to `pair_counts` here, are not counted twice. Returns ln P.
    """
    n_states = len(log_start)
    n_steps = len(symbols)
    log_weighted_beta = np.empty(alpha.shape)
    log_likelihood = log_backward(
        symbols, log_start, log_transitions, log_emissions_by_symbol, log_weighted_beta
    )
    if log_likelihood == -np.inf:
        return log_likelihood
    for t in range(n_steps):
        for j in range(n_states):
            alpha[t, j] = 0.0
            weighted_beta[t, j] = 1.0 if t == 0 else 0.0
        if t == 0:
            no_pairs = np.zeros(n_states)  # that end with the first state
            _share_out(1.0, log_start, log_weighted_beta[t], alpha[t], no_pairs)
        else:
            # P(state t | state t - 1, all symbols) is in proportion to the transition and to
            # the probability of the symbols from t on: shares of gamma_t-1 are xi, and their
            # sums are gamma_t
            for i in range(n_states):
                if alpha[t - 1, i] > 0:
                    _share_out(
                        alpha[t - 1, i],
                        log_transitions[i],
                        log_weighted_beta[t],
                        alpha[t],
                        pair_counts[i],
                    )
        for j in range(n_states):
            counts_by_symbol[symbols[t], j] += alpha[t, j]
    return log_likelihood


@compiled(error_model="numpy")
def _share_out(p, log_prior, log_likelihood, state_totals, pair_totals):
    """Add p times the posterior of the states, given as logarithms, to two vectors."""
    n_states = len(log_likelihood)
    log_joint = np.empty(n_states)
    for j in range(n_states):
        log_joint[j] = log_prior[j] + log_likelihood[j]
    log_evidence = log_sum(log_joint)
    for j in range(n_states):
        share = p * np.exp(log_joint[j] - log_evidence)
        state_totals[j] += share
        pair_totals[j] += share


@compiled(error_model="numpy")
def log_backward(symbols, log_start, log_transitions, log_emissions_by_symbol, log_weighted_beta):
    """Return ln P of a sequence; fill `log_weighted_beta`, of shape (n_steps, n_states).

    Row t is ln P(symbols from t on | state t), but for the largest ln P(symbols after t | state t),
    which is taken off so that numbers stay small and have more digits behind the point.
    """
    n_states = len(log_start)
    n_steps = len(symbols)
    log_likelihood = 0.0
    log_beta = np.zeros(n_states)  # Eq. 24
    terms = np.empty(n_states)
    for t in range(n_steps - 1, -1, -1):
        if t < n_steps - 1:
            for i in range(n_states):
                for j in range(n_states):
                    terms[j] = log_transitions[i, j] + log_weighted_beta[t + 1, j]
                log_beta[i] = log_sum(terms)  # Eq. 25
        largest = log_beta.max()
        if largest == -np.inf:
            return -np.inf
        log_likelihood += largest
        for i in range(n_states):
            log_weighted_beta[t, i] = log_emissions_by_symbol[symbols[t], i] + log_beta[i] - largest
    for i in range(n_states):
        terms[i] = log_start[i] + log_weighted_beta[0, i]
    return log_likelihood + log_sum(terms)


@compiled(error_model="numpy")
def log_sum(terms):
    """Return the logarithm of a sum, from the logarithms of its terms."""
    largest = terms.max()
    if largest == -np.inf:
        return -np.inf
    total = 0.0
    for term in terms:
        total += np.exp(term - largest)
    return largest + np.log(total)
