"""Learning from steps: TD(lambda) and where it ends, TD with one-step lookahead, and Q-learning."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from lib.compiled import assign, compiled
from lib.decisions.models import TOLERANCE, to_numbers
from lib.decisions.programming import backed_up, check_discount, check_policy, check_values
from lib.validation import check_choice, check_flag, check_integer, check_real

FULL, PRINTED = "gamma lambda", "lambda"  # decays of the trace: Sutton's, and the survey's
# of TD with lookahead: alpha, and the steps after which an episode is cut
STEP, LONGEST = 0.1, 1000
COUNT = 2**62  # the largest number of steps or episodes


class TDLimit(NamedTuple):
    """Where TD(lambda) ends: weights (n_features,), and whether small steps lead there (stable, bool)."""

    weights: np.ndarray
    stable: bool


def td_lambda(
    mdp,
    policy,
    discount,
    trace_decay,
    n_episodes,
    step=0.1,
    features=None,
    trace=FULL,
    cooling=0,
    longest=1000,
    seed=0,
):
    """Learn the value of a policy from simulated episodes by TD(lambda), linear in the features (Table 8).

    Parameters
    ----------
    mdp : MDP
        From which next states are drawn; rewards are the expected ones.
    policy : array-like of shape (n_states,)
    discount : float in [0, 1]
    trace_decay : float in [0, 1]
        Lambda.
    n_episodes : int, at least 1
    step : float in (0, 1]
        Alpha of the first step.
    features : array-like of shape (n_states, n_features), optional
        By default one a state: a table. A terminal state has the value 0, whatever its features
        are.
    trace : {"gamma lambda", "lambda"}
        Decay of the eligibility trace in a step: Sutton's, or as the survey prints it.
    cooling : float, at least 0
        Alpha of step t is step / (1 + cooling t).
    longest : int, at least 1
        Steps after which an episode is cut.
    seed : int in [0, 2**32)

    Returns
    -------
    ndarray of shape (n_features,)
        The last weights. A ConvergenceWarning tells where they have diverged, and are no finite
        numbers.

    References
    ----------
    Sutton (1988).
    """
    policy, discount = check_policy(mdp, policy), check_discount(mdp, discount)
    decay = check_real("trace_decay", trace_decay, 0, 1)
    decay *= discount if check_choice("trace", trace, (FULL, PRINTED)) == FULL else 1.0
    features = _check_features(np.eye(mdp.n_states) if features is None else features, mdp.n_states)
    rates = check_real("step", step, 0, 1, open_low=True), check_real("cooling", cooling, 0)
    weights = np.zeros(features.shape[1])
    lengths = (
        check_integer("n_episodes", n_episodes, 1, COUNT),
        check_integer("longest", longest, 1, COUNT),
    )
    features[mdp.terminal] = 0.0
    _td_lambda(
        mdp.table,
        mdp.start,
        policy,
        features,
        weights,
        discount,
        decay,
        *rates,
        *lengths,
        generator(seed),
    )
    return _warn_if_diverged("td_lambda", weights, "a smaller step or smaller features may help")


def td_limit(P, R, features, discount, trace, weights=None):
    """Compute the weights at which TD(lambda) ends, linear in the features, on a chain without end.

    Parameters
    ----------
    P : array-like of shape (n_states, n_states)
        Probability of each next state under the policy; rows add up to 1.
    R : array-like of shape (n_states,)
        Expected reward of a step from each state.
    features : array-like of shape (n_states, n_features)
        Linearly independent on the states that are backed up.
    discount : float in [0, 1)
    trace : float in [0, 1)
        Decay of the trace in a step: discount times lambda, or lambda for Table 8 as it is printed.
    weights : array-like of shape (n_states,), optional
        How often each state is backed up, at least 0 and in any unit; by default as often as the
        policy visits it.

    Returns
    -------
    TDLimit

    Raises
    ------
    ValueError
        If an array has another shape or numbers out of range; if features are linearly dependent,
        or another limit is as good; or as `stationary` does, where there are no weights.

    References
    ----------
    Tsitsiklis & Van Roy (1997).
    """
    discount = check_real("discount", discount, 0, 1, open_high=True)
    trace = check_real("trace", trace, 0, 1, open_high=True)
    P = _check_chain(P)
    R, features = to_numbers("R", R), _check_features(features, len(P))
    if R.shape != (len(P),) or not np.isfinite(R).all():
        raise ValueError(f"R must be {len(P)} finite numbers; got shape {R.shape}")
    often = stationary(P) if weights is None else _check_weights(weights, len(P))
    largest = np.abs(features).max(axis=0)
    if (
        np.linalg.matrix_rank((features / np.where(largest > 0, largest, 1.0))[often > 0])
        < features.shape[1]
    ):
        raise ValueError(
            "features must be linearly independent on the states that are backed up; some depend on others"
        )
    same = np.eye(len(P))
    # of each state, in the mean
    traces = np.linalg.solve((same - trace * P).T, features * often[:, None]).T
    matrix = traces @ (same - discount * P) @ features
    stable = bool((np.linalg.eigvals(matrix).real > 0).all())
    try:
        return TDLimit(np.linalg.solve(matrix, traces @ R), stable)
    except np.linalg.LinAlgError:
        raise ValueError(
            "weights must be others for there to be one limit: with these its equations are singular"
        ) from None


def stationary(P):
    """Return how often a chain visits each state in the long run.

    Parameters
    ----------
    P : array-like of shape (n_states, n_states)
        Transition probabilities; rows add up to 1. Some state can be reached from each.

    Returns
    -------
    ndarray of shape (n_states,)
        0 for states that are left for good.

    Raises
    ------
    ValueError
        If P is no matrix of probabilities, or it depends on the first state where the chain stays.
    """
    P = _check_chain(P)
    n_states = len(P)
    n_classes, classes = connected_components(P > 0, connection="strong")
    # classes of states that reach each other, and whether one can leave
    leaves = np.zeros(n_classes, dtype=bool)
    leaves[classes[((P > 0) & (classes[:, None] != classes)).any(axis=1)]] = True
    if (~leaves).sum() > 1:
        first, other = (int(np.argmax(classes == k)) for k in np.flatnonzero(~leaves)[:2])
        raise ValueError(
            f"P must be a chain that comes to stay in one place; got one that stays at {first} or at {other}"
        )
    try:
        visits = np.linalg.solve(np.eye(n_states) - P.T + 1.0, np.ones(n_states))
    except np.linalg.LinAlgError:
        visits = np.full(n_states, np.nan)
    if not (visits > -TOLERANCE).all():
        raise ValueError(
            "P must have larger probabilities of going from place to place: rounding hides these"
        )
    return np.where(leaves[classes], 0.0, visits)


def td_lookahead(
    mdp, discount, trace_decay, n_episodes, exploration=0.0, values=None, cooling=0.0, seed=0
):
    """Learn values by TD(lambda) while acting by one-step lookahead on them (section 4.3).

    Parameters
    ----------
    mdp : MDP
    discount : float in [0, 1]
    trace_decay : float in [0, 1]
        Lambda; the trace decays by discount times lambda.
    n_episodes : int, at least 1
    exploration : float in [0, 1]
        Probability of a random action in the first episode.
    values : array-like of shape (n_states,), optional
        The first ones; by default 0.
    cooling : float, at least 0
        The probability of a random action in episode t is exploration / (1 + cooling t).
    seed : int in [0, 2**32)

    Returns
    -------
    ndarray of shape (n_states,)
        A ConvergenceWarning tells where they have diverged, and are no finite numbers.
    """
    discount, trace_decay = (
        check_discount(mdp, discount),
        check_real("trace_decay", trace_decay, 0, 1),
    )
    values = np.zeros(mdp.n_states) if values is None else to_numbers("values", values)
    if values.shape == mdp.terminal.shape:
        values[mdp.terminal] = 0.0
    values = check_values(mdp, values)
    rates = STEP, check_real("exploration", exploration, 0, 1), check_real("cooling", cooling, 0)
    lengths = check_integer("n_episodes", n_episodes, 1, COUNT), LONGEST
    _td_lookahead(
        mdp.table,
        mdp.start,
        values,
        discount,
        discount * trace_decay,
        *rates,
        *lengths,
        generator(seed),
    )
    return _warn_if_diverged("td_lookahead", values, "a smaller trace_decay or discount may help")


def q_learning(
    mdp,
    discount,
    n_steps,
    exploration=1.0,
    step=0.7,
    anywhere=True,
    longest=1000,
    checkpoints=None,
    seed=0,
):
    """Learn the value of each action in each state by Q-learning, without a look at the model (section 4.4).

    Parameters
    ----------
    mdp : MDP
        From which next states are drawn; rewards are the expected ones.
    discount : float in [0, 1]
    n_steps : int, at least 1
    exploration : float in [0, 1]
        Probability of an action drawn at random; otherwise it is one of the best so far.
    step : float in [0, 1]
        Power of alpha: n ** -step at the n-th try of an action in a state.
    anywhere : bool
        Whether episodes start in any state that is not terminal, with the same probability; else by
        ``mdp.start``.
    longest : int, at least 1
        Steps after which an episode is cut.
    checkpoints : sequence of int, optional
        Ascending numbers of steps, at most `n_steps`, after which Q is asked for; by default
        `n_steps` alone.
    seed : int in [0, 2**32)

    Returns
    -------
    ndarray of shape (n_actions, n_states), or (n_checkpoints, n_actions, n_states)

    References
    ----------
    Watkins & Dayan (1992).
    """
    n_steps, longest = (
        check_integer("n_steps", n_steps, 1, COUNT),
        check_integer("longest", longest, 1, COUNT),
    )
    asked = [n_steps] if checkpoints is None else checkpoints
    if np.ndim(asked) != 1 or not len(asked):
        raise ValueError(f"checkpoints must be a sequence of integers; got {checkpoints!r}")
    asked = np.array([check_integer("checkpoints", n, 1, n_steps) for n in asked], dtype=np.int64)
    if (np.diff(asked) <= 0).any():
        raise ValueError(
            f"checkpoints must ascend from 1 or more to n_steps at most; got {checkpoints!r}"
        )
    # where all states are terminal, an episode ends wherever it starts
    n_places = max((~mdp.terminal).sum(), 1)
    start = np.where(check_flag("anywhere", anywhere), ~mdp.terminal / n_places, mdp.start)
    rates = check_real("exploration", exploration, 0, 1), check_real("step", step, 0, 1)
    learned = _q_learning(
        mdp.table, start, check_discount(mdp, discount), *rates, longest, asked, generator(seed)
    )
    return learned[0].T if checkpoints is None else learned.transpose(0, 2, 1)


def _check_chain(P):
    P = to_numbers("P", P)
    if P.ndim != 2 or P.shape[0] != P.shape[1] or not P.size:
        raise ValueError(f"P must have shape (n_states, n_states); got {P.shape}")
    wrong = ~(P >= 0).all(axis=1) | ~(np.abs(P.sum(axis=1) - 1) <= TOLERANCE)
    if wrong.any():
        row = P[np.argmax(wrong)]
        total = f"a sum of {row.sum():.6g}, smallest {row.min():.6g}"
        raise ValueError(
            f"P must have rows of probabilities that add up to 1; row {np.argmax(wrong)}: {total}"
        )
    return P


def _check_features(features, n_states):
    features = to_numbers("features", features)
    if features.ndim != 2 or len(features) != n_states or not features.size:
        raise ValueError(f"features must have shape ({n_states}, n_features); got {features.shape}")
    if not np.isfinite(features).all():
        state, feature = np.argwhere(~np.isfinite(features))[0]
        raise ValueError(
            f"features must be finite; state {state}, feature {feature}: {features[state, feature]}"
        )
    return features


def _check_weights(weights, n_states):
    weights = to_numbers("weights", weights)
    if weights.shape != (n_states,) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        allowed = f"{n_states} finite numbers of at least 0, not all of them 0"
        raise ValueError(f"weights must be {allowed}; got {weights.tolist()}")
    return weights


def _warn_if_diverged(who, numbers, remedy):
    if not np.isfinite(numbers).all():
        warnings.warn(f"{who} has diverged; {remedy}", ConvergenceWarning, stacklevel=3)
    return numbers


def generator(seed):
    """Return a numpy Generator, which kernels take, of a seed in [0, 2**32), or raise ValueError."""
    return np.random.default_rng(check_integer("seed", seed, 0, 2**32 - 1))


@compiled()
def _drawn(probabilities, first, last, rng):
    """Index from first to last - 1, with these probabilities."""
    u = rng.random()
    for k in range(first, last - 1):
        u -= probabilities[k]
        if u < 0:
            return k
    return last - 1


@compiled()
def _next(table, action, s, rng):
    indptr, indices, probabilities, rewards, _ = table
    row = action * rewards.shape[1] + s
    return indices[_drawn(probabilities, indptr[row], indptr[row + 1], rng)]


@compiled()
def chosen(after, exploration, rng):
    """A random action with probability `exploration`; else one of the best, each as probable."""
    if rng.random() < exploration:
        return int(rng.random() * after.shape[0])
    best, n_best = 0, 0
    for a in range(after.shape[0]):
        if n_best == 0 or after[a] > after[best]:
            best, n_best = a, 0
        if after[a] == after[best]:
            n_best += 1
            best = a if rng.random() * n_best < 1 else best
    return best


@compiled()
def _td_lambda(
    table,
    start,
    policy,
    features,
    weights,
    discount,
    decay,
    step,
    cooling,
    n_episodes,
    longest,
    rng,
):
    t, trace, (rewards, terminal) = 0, np.empty(weights.shape[0]), table[3:]
    for _ in range(n_episodes):
        s = _drawn(start, 0, start.shape[0], rng)
        trace[:] = 0.0
        for _ in range(longest):
            if terminal[s]:
                break
            after, error = _next(table, policy[s], s, rng), rewards[policy[s], s]
            for j in range(trace.shape[0]):
                error += (discount * features[after, j] - features[s, j]) * weights[j]
                trace[j] = decay * trace[j] + features[s, j]
            weights += step / (1.0 + cooling * t) * error * trace
            s, t = after, t + 1


@compiled()
def _td_lookahead(
    table, start, values, discount, decay, step, exploration, cooling, n_episodes, longest, rng
):
    rewards, terminal = table[3:]
    trace, after = np.empty(values.shape[0]), np.empty(rewards.shape[0])
    for episode in range(n_episodes):
        s = _drawn(start, 0, start.shape[0], rng)
        trace[:] = 0.0
        for _ in range(longest):
            if terminal[s]:
                break
            for a in range(after.shape[0]):
                after[a] = backed_up(table, a, s, values, discount)
            action = chosen(after, exploration / (1.0 + cooling * episode), rng)
            new = _next(table, action, s, rng)
            trace *= decay
            trace[s] += 1.0
            values += step * (rewards[action, s] + discount * values[new] - values[s]) * trace
            s = new


@compiled()
def _q_learning(table, start, discount, exploration, step, longest, asked, rng):
    (n_actions, n_states), (rewards, terminal) = table[3].shape, table[3:]
    q, tries = np.zeros((n_states, n_actions)), np.zeros((n_states, n_actions))
    learned = np.empty((asked.shape[0], n_states, n_actions))
    s, age, due = _drawn(start, 0, n_states, rng), 0, 0
    for t in range(1, asked[-1] + 1):
        if terminal[s] or age == longest:
            s, age = _drawn(start, 0, n_states, rng), 0
        action = chosen(q[s], exploration, rng)
        after = _next(table, action, s, rng)
        tries[s, action] += 1.0
        q[s, action] += tries[s, action] ** -step * (
            rewards[action, s] + discount * q[after].max() - q[s, action]
        )
        s, age = after, age + 1
        if t == asked[due]:
            for i in range(n_states):
                assign(learned[due, i], q[i])
            due += 1
    return learned
