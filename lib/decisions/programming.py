"""Dynamic programming: backups, the value of a policy, and the survey's three ways to the best one."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lib.compiled import compiled
from lib.decisions.models import to_numbers
from lib.validation import check_integer, check_real

EPS, TINY = np.finfo(float).eps, np.finfo(float).tiny
MOST = 1_000_000  # sweeps or iterations


class Solution(NamedTuple):
    """What dynamic programming found.

    A named tuple of values (n_states,), policy (n_states,) int, and trace: for policy iteration the
    states whose action changed in each iteration, otherwise the largest change of a value in each
    sweep or iteration.
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
    return _ahead(mdp, check_values(mdp, values), check_real("discount", discount, 0, 1))


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
        If the discount is 1 and the policy never ends from some state, which is named, or no state
        is terminal; or if the values cannot be told in floating point: they are too large, or the
        policy ends too rarely.
    """
    policy, discount = check_policy(mdp, policy), check_discount(mdp, discount)
    if discount == 1:
        _require_end(mdp, policy)
    return _solve(mdp, policy, discount, _of(mdp.rewards, policy))


def policy_iteration(mdp, discount, policy=None):
    """Find the best policy by evaluating and improving one until it is unchanged (Table 6).

    An action stays unless another is better by more than rounding, as ties would flip for ever
    otherwise. How much that is follows, state by state, from what is added up for the two.

    Parameters
    ----------
    mdp : MDP
    discount : float in [0, 1]
    policy : array-like of shape (n_states,), optional
        The first one; by default action 0 everywhere. At a discount of 1, where a policy must end,
        the default takes an action towards the end in each state from which it would never get
        there otherwise.

    Returns
    -------
    Solution
        At a discount of 1 the best of all policies that end.

    Raises
    ------
    ValueError
        If the discount is 1 and the given policy never ends from some state, which is named, or no
        policy does, or policies are the better the later they end, as a loop pays. If the values
        cannot be told in floating point.

    References
    ----------
    Bertsekas & Tsitsiklis (1991): where the discount is 1, it goes from policies that end to better
    ones that end.
    """
    discount = check_discount(mdp, discount)
    if policy is not None:
        policy = check_policy(mdp, policy)
    elif discount < 1:
        policy = np.zeros(mdp.n_states, dtype=int)
    else:
        policy = _policy_that_ends(mdp)
    if discount == 1:
        _require_end(mdp, policy, ": give policy= one that ends from each state, or none")
    changed = []
    while not changed or changed[-1]:
        values = _solve(mdp, policy, discount, _of(mdp.rewards, policy))
        better = improved(mdp, values, _errors(mdp, policy, discount, values), policy, discount)
        if discount == 1:
            _require_end(mdp, better, ": there a loop pays, and no policy that ends is the best")
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
        Largest change that counts as none; at 0, rounding ends it, at values that stay or that come
        back.
    n_sweeps : int, at least 1
        At most.

    Returns
    -------
    Solution
        With the first of the best actions, but at a discount of 1, where a loop without rewards is
        as good as what it puts off, with one that leads towards the end. A ConvergenceWarning tells
        where it has not ended after `n_sweeps`.

    Raises
    ------
    ValueError
        If the discount is 1 and no policy ends from some state, which is named, or none of the best
        ones does: `policy_iteration` finds the best of those that end. If the values are too large
        for floating point.
    """
    discount, tolerance = check_discount(mdp, discount), check_real("tolerance", tolerance, 0)
    if discount == 1:
        _policy_that_ends(mdp)
    n_sweeps, trace, values = check_integer("n_sweeps", n_sweeps, 1), [], np.zeros(mdp.n_states)
    comes_back = _Return()
    while not trace or (trace[-1] > tolerance and len(trace) < n_sweeps and not comes_back(values)):
        old, values = values, _ahead(mdp, values, discount).max(axis=0)
        trace.append(_change(old, values))
    ended = trace[-1] <= max(tolerance, _rounding(mdp, values, discount).max())
    _warn_unless(ended, "value_iteration", len(trace))
    policy = _ahead(mdp, values, discount).argmax(axis=0)
    if discount == 1:
        policy = _best_that_ends(mdp, values, policy, len(trace), trace[-1], ended)
    return Solution(values, policy, np.array(trace))


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

    Raises
    ------
    ValueError
        As `value_iteration` does.
    """
    discount, tolerance = check_discount(mdp, discount), check_real("tolerance", tolerance, 0)
    n_backups, n_iterations = (
        check_integer("n_backups", n_backups, 1),
        check_integer("n_iterations", n_iterations, 1),
    )
    if discount == 1:
        _policy_that_ends(mdp)
    policy, trace = np.zeros(mdp.n_states, dtype=int), []
    values, errors = np.zeros(mdp.n_states), np.zeros(mdp.n_states)
    comes_back = _Return()
    while not trace or (
        trace[-1] > tolerance
        and len(trace) < n_iterations
        and not comes_back(np.append(values, policy))
    ):
        old, policy = values, improved(mdp, values, errors, policy, discount)
        for _ in range(n_backups):
            errors = _of(_ahead_errors(mdp, values, errors, discount), policy)
            values = _of(_ahead(mdp, values, discount), policy)
        trace.append(_change(old, values))
    ended = trace[-1] <= max(tolerance, _rounding(mdp, values, discount).max())
    _warn_unless(ended, "modified_policy_iteration", len(trace))
    policy = improved(mdp, values, errors, policy, discount)
    if discount == 1:
        policy = _best_that_ends(mdp, values, policy, n_backups * len(trace), trace[-1], ended)
    return Solution(values, policy, np.array(trace))


def improved(mdp, values, errors, policy, discount):
    """The best action of each state by a look ahead; the present one where none is better by more than rounding.

    Parameters
    ----------
    values, errors : ndarray of shape (n_states,)
        Values of the policy, and how far each may be from what it would be without rounding. So a
        change is one for the better, no policy comes back, and policy iteration ends.
    """
    after, error = _ahead(mdp, values, discount), _ahead_errors(mdp, values, errors, discount)
    better = after - error > _of(after + error, policy)
    return np.where(better.any(axis=0), np.where(better, after, -np.inf).argmax(axis=0), policy)


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
        raise ValueError(
            f"policy must hold actions from 0 to {mdp.n_actions - 1}; state {state}: {policy[state]}"
        )
    return policy.astype(np.int64)


def check_values(mdp, values):
    """Return a value of each state as float, or raise ValueError."""
    values = to_numbers("values", values)
    if values.shape != (mdp.n_states,) or not np.isfinite(values).all():
        raise ValueError(f"values must be {mdp.n_states} finite numbers; got shape {values.shape}")
    return values


def _ahead(mdp, values, discount):
    return _ahead_of(mdp, mdp.rewards, values, discount)


def _ahead_of(mdp, rewards, values, discount):
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told by the callers
        return rewards + discount * (mdp.matrix @ values).reshape(rewards.shape)


def _of(after, policy):
    return np.take_along_axis(after, policy[None], axis=0)[0]


def _solve(mdp, policy, discount, rewards):
    """Values of a policy that is paid `rewards` (n_states,)."""
    transitions, on = mdp.transitions[policy, np.arange(mdp.n_states)], ~mdp.terminal
    values = np.zeros(mdp.n_states)
    equations = np.eye(on.sum()) - discount * transitions[np.ix_(on, on)]
    try:
        values[on] = np.linalg.solve(equations, rewards[on])
    except np.linalg.LinAlgError:
        values[on] = np.nan
    if not np.isfinite(values).all():
        raise ValueError(
            f"rewards must be smaller, or discount, for values that floating point can tell; got rewards up to "
            f"{np.abs(mdp.rewards).max():g} and {discount!r}"
        )
    return values


def _errors(mdp, policy, discount, values):
    """How far solved values of a policy may be from the true ones, (n_states,).

    What the equations leave unsolved is paid at each step, and so is what rounding may hide of it.
    """
    unsolved = np.abs(_of(_ahead(mdp, values, discount), policy) - values)
    return _solve(mdp, policy, discount, unsolved + _of(_rounding(mdp, values, discount), policy))


def _ahead_errors(mdp, values, errors, discount):
    """How far the numbers of `_ahead` may be from those without rounding, where `values` are off by `errors`."""
    return _rounding(mdp, values, discount) + discount * (mdp.matrix @ errors).reshape(
        mdp.rewards.shape
    )


def _rounding(mdp, values, discount):
    """How far rounding may take the numbers of `_ahead`, (n_actions, n_states), from those of the same values.

    A sum of k products, a product with the discount and a sum with the reward are k + 2 roundings,
    of half an `EPS` each, of no more than the sum of absolute values. Probabilities and rewards are
    rounded numbers, too, hence twice.
    """
    n_roundings = np.diff(mdp.matrix.indptr).reshape(mdp.rewards.shape) + 2
    return (
        EPS
        * n_roundings
        * np.maximum(_ahead_of(mdp, np.abs(mdp.rewards), np.abs(values), discount), TINY)
    )


def _towards_end(mdp, allowed, ends):
    """Search back from the states `ends`, breadth first, along allowed actions (n_actions, n_states).

    Returns
    -------
    actions : ndarray of shape (n_states,)
        For each state found, one that leads to a state found before, with some probability; 0
        otherwise.
    ends : ndarray of shape (n_states,), bool
        All states from which those given can be reached.
    """
    actions, new = np.zeros(mdp.n_states, dtype=int), ends
    while new.any():
        leads = allowed & ((mdp.matrix @ ends.astype(float)).reshape(allowed.shape) > 0)
        new = leads.any(axis=0) & ~ends
        actions[new] = leads.argmax(axis=0)[new]
        ends = ends | new
    return actions, ends


def _ends(mdp, policy):
    """States from which a policy may come to an end."""
    taken = np.arange(mdp.n_actions)[:, None] == policy
    return _towards_end(mdp, taken, mdp.terminal)[1]


def _require_end(mdp, policy, remedy=""):
    ends = _ends(mdp, policy)
    if not ends.all():
        state = np.argmin(ends)
        raise ValueError(
            f"discount must be below 1 for a policy that never ends from state {state}; got 1{remedy}"
        )


def _policy_that_ends(mdp):
    """Action 0 everywhere, but one that leads towards the end in states from which that never ends."""
    policy = np.zeros(mdp.n_states, dtype=int)
    by_policy = _ends(mdp, policy)
    actions, ends = _towards_end(mdp, np.ones(mdp.rewards.shape, dtype=bool), by_policy)
    if not ends.all():
        raise ValueError(
            f"discount must be below 1 where no policy ends from state {np.argmin(ends)}; got 1"
        )
    return np.where(by_policy, policy, actions)


def _best_that_ends(mdp, values, policy, n_sweeps, change, ended):
    """A policy with other actions, as good as the best, in states from which it never ends; for a discount of 1.

    A policy of best actions that ends has these very values, and no policy that ends has larger
    ones.
    """
    by_policy = _ends(mdp, policy)
    if by_policy.all():
        return policy
    after = _ahead(mdp, values, 1.0)
    tie = 2 * (n_sweeps * _rounding(mdp, values, 1.0) + change)  # each sweep rounds
    actions, ends = _towards_end(mdp, after + tie >= after.max(axis=0), by_policy)
    if ended and not ends.all():
        state = np.argmin(ends)
        raise ValueError(
            f"discount must be below 1 where no best policy ends from state {state}; got 1: "
            "policy_iteration finds the best of those that end"
        )
    return np.where(ends & ~by_policy, actions, policy)


class _Return:
    """Whether numbers come back to what they were, as rounding may make them go round for ever (Brent's search)."""

    def __init__(self):
        self.kept, self.n = None, 0

    def __call__(self, numbers):
        if self.n and (numbers == self.kept).all():
            return True
        self.n += 1
        if self.n & (self.n - 1) == 0:  # at powers of two, so that a round of any length is found
            self.kept = numbers
        return False


def _change(old, values):
    """The largest change of a value."""
    if not np.isfinite(values).all():
        raise ValueError(
            "rewards must be smaller, or discount: values are too large for floating point"
        )
    return np.abs(values - old).max()


def _warn_unless(ended, who, n):
    if not ended:
        warnings.warn(
            f"{who} has not ended after {n}; the values may be off",
            ConvergenceWarning,
            stacklevel=3,
        )


@compiled()
def backed_up(table, action, s, values, discount):
    """Expected reward of an action in state s, and what `values` hold afterwards."""
    indptr, indices, probabilities, rewards, _ = table
    row, total = action * rewards.shape[1] + s, 0.0
    for k in range(indptr[row], indptr[row + 1]):
        total += probabilities[k] * values[indices[k]]
    return rewards[action, s] + discount * total
