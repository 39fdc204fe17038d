"""Dynamic programming: backups, the value of a policy, and the survey's three ways to the best one."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lib.compiled import compiled
from lib.validation import check_integer, check_real

TIE = 1e-10  # times the largest value: by how much an action must be better than the present one to take its place
MOST = 1_000_000  # sweeps or iterations


class Solution(NamedTuple):
    """What dynamic programming found.

    A named tuple of values (n_states,), policy (n_states,) int, and trace: for policy iteration the states whose
    action changed in each iteration, otherwise the largest change of a value in each sweep or iteration.
    """

    values: np.ndarray
    policy: np.ndarray
    trace: np.ndarray


def lookahead(mdp, values, discount):
    """Value of each action in each state, if `values` holds afterwards: what equations 3 and 4 take the best of.

    Parameters
    ----------
    mdp : MDP
    values : array-like of shape (n_states,)
    discount : float in [0, 1]

    Returns
    -------
    ndarray of shape (n_actions, n_states)
    """
    return _ahead(mdp, _check_values(mdp, values), check_real("discount", discount, 0, 1))


def backup(mdp, values, discount, policy=None):
    """Back up each state once: equation 2 for a policy, or equation 4, Bellman's, without one.

    Parameters
    ----------
    mdp : MDP
    values : array-like of shape (n_states,)
    discount : float in [0, 1]
    policy : array-like of shape (n_states,), optional
        Action of each state.

    Returns
    -------
    ndarray of shape (n_states,)
    """
    after = lookahead(mdp, values, discount)
    return after.max(axis=0) if policy is None else _of(after, check_policy(mdp, policy))


def evaluate(mdp, policy, discount):
    """Compute the value of a policy by solving its linear equations (equation 1).

    Parameters
    ----------
    mdp : MDP
    policy : array-like of shape (n_states,)
        Action of each state.
    discount : float in [0, 1]

    Returns
    -------
    ndarray of shape (n_states,)

    Raises
    ------
    ValueError
        If the discount is 1 and the policy never ends from some state, which is named, or no state is terminal.
    """
    policy, discount = check_policy(mdp, policy), check_discount(mdp, discount)
    states = np.arange(mdp.n_states)
    transitions, rewards, on = mdp.transitions[policy, states], mdp.rewards[policy, states], ~mdp.terminal
    if discount == 1:
        _require_end(transitions, mdp.terminal)
    values = np.zeros(mdp.n_states)
    equations = np.eye(on.sum()) - discount * transitions[np.ix_(on, on)]
    values[on] = np.linalg.solve(equations, rewards[on])
    return values


def policy_iteration(mdp, discount, policy=None):
    """Find the best policy by evaluating and improving one until it is unchanged (Table 6).

    An action stays unless another is better by more than rounding, as ties would flip for ever otherwise.

    Parameters
    ----------
    mdp : MDP
    discount : float in [0, 1]
    policy : array-like of shape (n_states,), optional
        The first one; by default action 0 everywhere.

    Returns
    -------
    Solution
    """
    policy = check_policy(mdp, np.zeros(mdp.n_states, dtype=int) if policy is None else policy)
    changed = []
    while not changed or changed[-1]:
        values = evaluate(mdp, policy, discount)
        better = improved(lookahead(mdp, values, discount), policy)
        changed.append(int((better != policy).sum()))
        policy = better
    return Solution(values, policy, np.array(changed))


def value_iteration(mdp, discount, tolerance=0.0, n_sweeps=MOST):
    """Find the values of the best policy by Bellman backups of all states until they are unchanged (Table 7).

    Parameters
    ----------
    mdp : MDP
    discount : float in [0, 1]
    tolerance : float, at least 0
        Largest change that counts as none; at 0, rounding ends it.
    n_sweeps : int, at least 1
        At most.

    Returns
    -------
    Solution
        A ConvergenceWarning tells where it has not ended after `n_sweeps`.
    """
    discount, tolerance = check_discount(mdp, discount), check_real("tolerance", tolerance, 0)
    n_sweeps, trace, values = check_integer("n_sweeps", n_sweeps, 1), [], np.zeros(mdp.n_states)
    while not trace or (trace[-1] > tolerance and len(trace) < n_sweeps):
        old, values = values, _ahead(mdp, values, discount).max(axis=0)
        trace.append(np.abs(values - old).max())
    _warn_unless(trace[-1] <= tolerance, "value_iteration", len(trace))
    return Solution(values, lookahead(mdp, values, discount).argmax(axis=0), np.array(trace))


def modified_policy_iteration(mdp, discount, n_backups=5, tolerance=0.0, n_iterations=MOST):
    """Find the best policy by improving one after a fixed number of simple backups of each state.

    Parameters
    ----------
    mdp : MDP
    discount : float in [0, 1]
    n_backups : int, at least 1
        Of each state, by equation 2, between two improvements; 1 is value iteration.
    tolerance : float, at least 0
        Largest change of a value in an iteration that counts as none.
    n_iterations : int, at least 1
        At most.

    Returns
    -------
    Solution
        A ConvergenceWarning tells where it has not ended after `n_iterations`.
    """
    discount, tolerance = check_discount(mdp, discount), check_real("tolerance", tolerance, 0)
    n_backups, n_iterations = check_integer("n_backups", n_backups, 1), check_integer("n_iterations", n_iterations, 1)
    values, policy, trace = np.zeros(mdp.n_states), np.zeros(mdp.n_states, dtype=int), []
    while not trace or (trace[-1] > tolerance and len(trace) < n_iterations):
        old, policy = values, improved(_ahead(mdp, values, discount), policy)
        for _ in range(n_backups):
            values = _of(_ahead(mdp, values, discount), policy)
        trace.append(np.abs(values - old).max())
    _warn_unless(trace[-1] <= tolerance, "modified_policy_iteration", len(trace))
    return Solution(values, improved(lookahead(mdp, values, discount), policy), np.array(trace))


def improved(after, policy):
    """The best action of each state by `after` (n_actions, n_states); the present one where none is better."""
    margin = TIE * max(1.0, np.abs(after).max())
    return np.where(after.max(axis=0) > _of(after, policy) + margin, after.argmax(axis=0), policy)


def check_discount(mdp, discount):
    """Return a discount in [0, 1] that is below 1 where no state is terminal, or raise ValueError."""
    if check_real("discount", discount, 0, 1) == 1 and not mdp.terminal.any():
        raise ValueError("discount must be below 1 for a process without terminal states; got 1")
    return float(discount)


def check_policy(mdp, policy):
    """Return the action of each state as int64, or raise ValueError naming the first state with none."""
    policy = np.asarray(policy)
    if policy.shape != (mdp.n_states,):
        raise ValueError(f"policy must have shape ({mdp.n_states},); got {policy.shape}")
    if policy.dtype.kind not in "iu" or (wrong := (policy < 0) | (policy >= mdp.n_actions)).any():
        state = np.argmax(wrong) if policy.dtype.kind in "iu" else 0
        raise ValueError(f"policy must hold actions from 0 to {mdp.n_actions - 1}; state {state}: {policy[state]}")
    return policy.astype(np.int64)


def _check_values(mdp, values):
    values = np.array(values, dtype=float)
    if values.shape != (mdp.n_states,) or not np.isfinite(values).all():
        raise ValueError(f"values must be {mdp.n_states} finite numbers; got shape {values.shape}")
    return values


def _ahead(mdp, values, discount):
    return mdp.rewards + discount * (mdp.matrix @ values).reshape(mdp.rewards.shape)


def _of(after, policy):
    return np.take_along_axis(after, policy[None], axis=0)[0]


def _require_end(transitions, terminal):
    ends, before = terminal, None
    while before is None or (ends != before).any():
        before, ends = ends, ends | (transitions[:, ends] > 0).any(axis=1)
    if not ends.all():
        state = int(np.argmin(ends))
        raise ValueError(f"discount must be below 1 for a policy that never ends from state {state}; got 1")


def _warn_unless(ended, who, n):
    if not ended:
        warnings.warn(f"{who} has not ended after {n}; the values may be off", ConvergenceWarning, stacklevel=3)


@compiled()
def backed_up(table, action, s, values, discount):
    """Expected reward of an action in state s, and what `values` hold afterwards."""
    indptr, indices, probabilities, rewards, _ = table
    row, total = action * rewards.shape[1] + s, 0.0
    for k in range(indptr[row], indptr[row + 1]):
        total += probabilities[k] * values[indices[k]]
    return rewards[action, s] + discount * total
