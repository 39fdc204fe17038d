"""Dynamic programming: backups, the value of a policy, and the survey's three ways to the best one.

Equations and tables are numbered as in Dietterich (1997), section 4.1, where f(s) is the value of
state s. The value that equations 2 to 4 back up for an action a in a state s,

    Q(s, a) = sum over s' of P(s' | s, a) [R(s, a, s') + discount f(s')],

stands in an array `q_values` of shape (n_actions, n_states).
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from sklearn.exceptions import ConvergenceWarning

from lib.base.compiled import compiled
from lib.base.validation import check_integer, check_numbers, check_real

EPS = np.finfo(float).eps
TINY = np.finfo(float).tiny
MAX_SWEEPS = 1_000_000  # or iterations


class Solution(NamedTuple):
    """What dynamic programming found.

    A named tuple of values (n_states,), policy (n_states,) int, and trace: for policy iteration the
    number of states whose action changed in each iteration, otherwise the largest change of a value
    in each sweep or iteration.
    """

    values: np.ndarray
    policy: np.ndarray
    trace: np.ndarray


def lookahead(mdp, values, discount):
    """Look one step ahead: compute Q(s, a), which equations 3 and 4 maximise.

    Parameters
    ----------
    mdp : MDP
    values : array-like of shape (n_states,)
        Value of each state after the step.
    discount : float in [0, 1]

    Returns
    -------
    ndarray of shape (n_actions, n_states)
    """
    values = check_state_values(mdp, values)
    return _q_values(mdp, values, check_real("discount", discount, 0, 1))


def backup(mdp, values, discount, policy=None):
    """Back up each state once: by equation 2 for a policy, or by Bellman's equation 4 without one.

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
    q_values = lookahead(mdp, values, discount)
    if policy is None:
        return q_values.max(axis=0)  # equation 4: Bellman backup
    return _follow(q_values, check_policy(mdp, policy))  # equation 2: simple backup


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
    policy = check_policy(mdp, policy)
    discount = check_discount(mdp, discount)
    if discount == 1:
        _require_end(mdp, policy)
    return _solve(mdp, policy, discount, _follow(mdp.rewards, policy))


def policy_iteration(mdp, discount, policy=None):
    """Find the best policy by evaluating and improving one until it is unchanged (Table 6).

    An action stays unless another is better by more than rounding, as ties would flip for ever
    otherwise. How much that is follows, state by state, from what is added up for the two.

    Equations of sparse transitions are solved by a sparse LU decomposition, whose factors are large
    where states are followed by any others, at random; `modified_policy_iteration` has none.

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

    n_changes = []
    while not n_changes or n_changes[-1] > 0:
        # policy evaluation: equation 1
        values = _solve(mdp, policy, discount, _follow(mdp.rewards, policy))
        errors = _errors_of_solution(mdp, policy, discount, values)
        # policy improvement: equation 3
        new_policy = greedy_policy(mdp, values, errors, policy, discount)
        if discount == 1:
            _require_end(
                mdp, new_policy, ": there a loop pays, and no policy that ends is the best"
            )
        n_changes.append(int((new_policy != policy).sum()))
        policy = new_policy
    return Solution(values, policy, np.array(n_changes))


def value_iteration(mdp, discount, tolerance=0.0, n_sweeps=MAX_SWEEPS):
    """Find the values of the best policy by Bellman backups until they are unchanged (Table 7).

    Parameters
    ----------
    mdp : MDP
    discount : float in [0, 1]
    tolerance : float, at least 0
        Largest change of a value in a sweep that counts as none. At 0, rounding ends the sweeps: at
        values that stay, or that come back.
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
    discount = check_discount(mdp, discount)
    tolerance = check_real("tolerance", tolerance, 0)
    if discount == 1:
        _policy_that_ends(mdp)
    n_sweeps = check_integer("n_sweeps", n_sweeps, 1)

    values = np.zeros(mdp.n_states)
    changes = []
    cycle = _CycleDetector()
    for _ in range(n_sweeps):
        old_values = values
        values = _q_values(mdp, values, discount).max(axis=0)  # equation 4 in each state
        changes.append(_largest_change(old_values, values))
        if changes[-1] <= tolerance or cycle.has_returned(values):
            break

    has_converged = changes[-1] <= max(tolerance, _rounding(mdp, values, discount).max())
    _warn_unless(has_converged, "value_iteration", len(changes))
    policy = _q_values(mdp, values, discount).argmax(axis=0)  # equation 3
    if discount == 1:
        policy = _best_that_ends(
            mdp, values, policy, len(changes), changes[-1], must_end=has_converged
        )
    return Solution(values, policy, np.array(changes))


def modified_policy_iteration(mdp, discount, n_backups=5, tolerance=0.0, n_iterations=MAX_SWEEPS):
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
    discount = check_discount(mdp, discount)
    tolerance = check_real("tolerance", tolerance, 0)
    n_backups = check_integer("n_backups", n_backups, 1)
    n_iterations = check_integer("n_iterations", n_iterations, 1)
    if discount == 1:
        _policy_that_ends(mdp)

    policy = np.zeros(mdp.n_states, dtype=int)
    values = np.zeros(mdp.n_states)
    errors = np.zeros(mdp.n_states)
    changes = []
    cycle = _CycleDetector()
    for _ in range(n_iterations):
        old_values = values
        policy = greedy_policy(mdp, values, errors, policy, discount)  # equation 3
        for _ in range(n_backups):
            errors = _follow(_q_errors(mdp, values, errors, discount), policy)
            values = _follow(_q_values(mdp, values, discount), policy)  # equation 2
        changes.append(_largest_change(old_values, values))
        if changes[-1] <= tolerance or cycle.has_returned(np.append(values, policy)):
            break

    has_converged = changes[-1] <= max(tolerance, _rounding(mdp, values, discount).max())
    _warn_unless(has_converged, "modified_policy_iteration", len(changes))
    policy = greedy_policy(mdp, values, errors, policy, discount)
    if discount == 1:
        n_sweeps = n_backups * len(changes)
        policy = _best_that_ends(mdp, values, policy, n_sweeps, changes[-1], must_end=has_converged)
    return Solution(values, policy, np.array(changes))


def greedy_policy(mdp, values, errors, policy, discount):
    """Take the best action of each state (equation 3), if it is better than the policy's own.

    It must be better by more than rounding. Each change is then one for the better, no policy comes
    back, and policy iteration ends.

    Parameters
    ----------
    mdp : MDP
    values, errors : ndarray of shape (n_states,)
        Values of the policy, and how far each may be from what it would be without rounding.
    policy : ndarray of shape (n_states,), int
    discount : float in [0, 1]

    Returns
    -------
    ndarray of shape (n_states,), int
    """
    q_values = _q_values(mdp, values, discount)
    q_errors = _q_errors(mdp, values, errors, discount)
    is_better = q_values - q_errors > _follow(q_values + q_errors, policy)
    best_action = np.where(is_better, q_values, -np.inf).argmax(axis=0)
    return np.where(is_better.any(axis=0), best_action, policy)


def check_discount(mdp, discount):
    """Return a discount in [0, 1], below 1 where no state is terminal, or raise ValueError."""
    if check_real("discount", discount, 0, 1) == 1 and not mdp.terminal.any():
        raise ValueError("discount must be below 1 for a process without terminal states; got 1")
    return float(discount)


def check_policy(mdp, policy):
    """Return the action of each state as int64; ValueError names the first state without one."""
    policy = np.asarray(policy)
    if policy.shape != (mdp.n_states,):
        raise ValueError(f"policy must have shape ({mdp.n_states},); got {policy.shape}")
    is_integer = policy.dtype.kind in "iu"
    wrong = np.full(mdp.n_states, not is_integer)
    if is_integer:
        wrong = (policy < 0) | (policy >= mdp.n_actions)
    if wrong.any():
        state = np.argmax(wrong)
        allowed = f"actions from 0 to {mdp.n_actions - 1}"
        raise ValueError(f"policy must hold {allowed}; state {state}: {policy[state]}")
    return policy.astype(np.int64)


def check_state_values(mdp, values):
    """Return a value of each state as float, or raise ValueError."""
    values = check_numbers("values", values)
    if values.shape != (mdp.n_states,) or not np.isfinite(values).all():
        raise ValueError(f"values must be {mdp.n_states} finite numbers; got shape {values.shape}")
    return values


def _q_values(mdp, values, discount):
    """Back up the values of all states for each action: Q(s, a), of shape (n_actions, n_states)."""
    return _back_up(mdp, mdp.rewards, values, discount)


def _back_up(mdp, rewards, values, discount):
    """Back up values as `_q_values` does, for other `rewards` (n_actions, n_states)."""
    # callers report what is not finite
    with np.errstate(over="ignore", invalid="ignore"):
        expected_values = (mdp.matrix @ values).reshape(rewards.shape)
        return rewards + discount * expected_values


def _follow(numbers, policy):
    """Select, of numbers (n_actions, n_states), those of the policy's actions: (n_states,)."""
    return np.take_along_axis(numbers, policy[None], axis=0)[0]


def _solve(mdp, policy, discount, rewards):
    """Solve equation 1 for a policy that is paid `rewards` (n_states,): (I - discount P) f = R."""
    live = np.flatnonzero(~mdp.terminal)  # terminal states have the value 0, and no equation
    rows = policy[live] * mdp.n_states + live
    equations = sparse.eye_array(len(live)) - discount * mdp.matrix[rows][:, live]
    values = np.zeros(mdp.n_states)
    try:
        if mdp.is_sparse:
            values[live] = splu(equations.tocsc()).solve(rewards[live])
        else:
            values[live] = np.linalg.solve(equations.toarray(), rewards[live])
    except (np.linalg.LinAlgError, RuntimeError):  # they are singular, dense or sparse
        values[live] = np.nan
    if not np.isfinite(values).all():
        raise ValueError(
            "rewards must be smaller, or discount, for values that floating point can tell; "
            f"got rewards up to {np.abs(mdp.rewards).max():g} and {discount!r}"
        )
    return values


def _errors_of_solution(mdp, policy, discount, values):
    """How far solved values of a policy may be from the true ones, (n_states,).

    What the equations leave unsolved is paid at each step, and so is what rounding may hide of it:
    the errors solve the same equations.
    """
    residuals = np.abs(_follow(_q_values(mdp, values, discount), policy) - values)
    hidden = _follow(_rounding(mdp, values, discount), policy)
    return _solve(mdp, policy, discount, residuals + hidden)


def _q_errors(mdp, values, errors, discount):
    """How far `_q_values` may be from the true ones, where `values` are off by `errors`."""
    expected_errors = (mdp.matrix @ errors).reshape(mdp.rewards.shape)
    return _rounding(mdp, values, discount) + discount * expected_errors


def _rounding(mdp, values, discount):
    """How far rounding may take `_q_values` from those of the same values, (n_actions, n_states).

    A sum of k products, a product with the discount and a sum with the reward are k + 2 roundings,
    of half an `EPS` each, of no more than the sum of absolute values. Probabilities and rewards are
    rounded numbers, too, hence twice.
    """
    n_roundings = np.diff(mdp.matrix.indptr).reshape(mdp.rewards.shape) + 2
    magnitudes = _back_up(mdp, np.abs(mdp.rewards), np.abs(values), discount)
    return EPS * n_roundings * np.maximum(magnitudes, TINY)


def _search_back(mdp, allowed, ends):
    """Search back from the states `ends`, breadth first, along allowed actions.

    Parameters
    ----------
    allowed : ndarray of shape (n_actions, n_states), bool
    ends : ndarray of shape (n_states,), bool

    Returns
    -------
    actions : ndarray of shape (n_states,)
        For each state that the search found, an action that leads, with some probability, to a
        state that it found before; 0 otherwise.
    ends : ndarray of shape (n_states,), bool
        All states from which the given ones can be reached.
    """
    actions = np.zeros(mdp.n_states, dtype=int)
    new = ends
    while new.any():
        probability = (mdp.matrix @ ends.astype(float)).reshape(allowed.shape)
        leads_to_end = allowed & (probability > 0)
        new = leads_to_end.any(axis=0) & ~ends
        actions[new] = leads_to_end.argmax(axis=0)[new]
        ends = ends | new
    return actions, ends


def _states_that_end(mdp, policy):
    """States from which a policy may come to an end, (n_states,) bool."""
    actions = np.arange(mdp.n_actions)
    is_policy = actions[:, None] == policy
    return _search_back(mdp, is_policy, mdp.terminal)[1]


def _require_end(mdp, policy, remedy=""):
    ends = _states_that_end(mdp, policy)
    if not ends.all():
        policy_that_loops = f"a policy that never ends from state {np.argmin(ends)}"
        raise ValueError(f"discount must be below 1 for {policy_that_loops}; got 1{remedy}")


def _policy_that_ends(mdp):
    """Take action 0, but one that leads towards the end in states from which 0 never ends."""
    policy = np.zeros(mdp.n_states, dtype=int)
    ends_by_policy = _states_that_end(mdp, policy)
    all_actions = np.ones(mdp.rewards.shape, dtype=bool)
    actions, ends = _search_back(mdp, all_actions, ends_by_policy)
    if not ends.all():
        raise ValueError(
            f"discount must be below 1 where no policy ends from state {np.argmin(ends)}; got 1"
        )
    return np.where(ends_by_policy, policy, actions)


def _best_that_ends(mdp, values, policy, n_sweeps, change, must_end):
    """Replace best actions that never end by others as good that do; for a discount of 1.

    A policy of best actions that ends has these very values, and no policy that ends has larger
    ones.

    Parameters
    ----------
    n_sweeps : int
        Backups of each state so far, which have rounded its value as often.
    change : float
        Largest change of a value in the last of them.
    must_end : bool
        Whether to raise ValueError where no policy of best actions ends.
    """
    ends_by_policy = _states_that_end(mdp, policy)
    if ends_by_policy.all():
        return policy
    q_values = _q_values(mdp, values, 1.0)
    tie = 2 * (n_sweeps * _rounding(mdp, values, 1.0) + change)
    is_best = q_values + tie >= q_values.max(axis=0)
    actions, ends = _search_back(mdp, is_best, ends_by_policy)
    if must_end and not ends.all():
        state = np.argmin(ends)
        raise ValueError(
            f"discount must be below 1 where no best policy ends from state {state}; got 1: "
            "policy_iteration finds the best of those that end"
        )
    return np.where(ends & ~ends_by_policy, actions, policy)


class _CycleDetector:
    """Brent's search for iterates that come back, as rounding may let them go round for ever."""

    def __init__(self):
        self.checkpoint = None
        self.n_calls = 0

    def has_returned(self, iterate):
        """Return whether an array equals the checkpoint, one of those that came before it."""
        if self.checkpoint is not None and (iterate == self.checkpoint).all():
            return True
        self.n_calls += 1
        # at powers of two, so that the checkpoint stays for a round of any length
        is_power_of_two = self.n_calls & (self.n_calls - 1) == 0
        if is_power_of_two:
            self.checkpoint = iterate
        return False


def _largest_change(old_values, values):
    """The largest change of a value; ValueError if a value is not finite."""
    if not np.isfinite(values).all():
        raise ValueError(
            "rewards must be smaller, or discount: values are too large for floating point"
        )
    return np.abs(values - old_values).max()


def _warn_unless(has_converged, solver, n_iterations):
    if not has_converged:
        warnings.warn(
            f"{solver} has not ended after {n_iterations}; the values may be off",
            ConvergenceWarning,
            stacklevel=3,
        )


@compiled()
def q_value(table, action, state, values, discount):
    """Back up the values of next states for one action in one state: Q(s, a)."""
    n_states = table.rewards.shape[1]
    row = action * n_states + state
    total = 0.0
    for k in range(table.indptr[row], table.indptr[row + 1]):
        total += table.probabilities[k] * values[table.next_states[k]]
    return table.rewards[action, state] + discount * total
