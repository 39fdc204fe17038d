"""Learning from steps: TD(lambda) and where it ends, TD with one-step lookahead, and Q-learning.

Sections 4.2 to 4.4 of Dietterich (1997). A learner follows episodes of a process: it draws a first
state, acts, and draws each next state until one is terminal or the episode is cut.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from lib.base.compiled import assign, compiled
from lib.base.validation import (
    check_choice,
    check_flag,
    check_integer,
    check_numbers,
    check_real,
    probability_divisors,
)
from lib.decisions.models import MDP
from lib.decisions.programming import check_discount, check_policy, check_state_values, q_value

FULL, PRINTED = "gamma lambda", "lambda"  # decays of the trace: Sutton's, and the survey's
LOOKAHEAD_STEP = 0.1  # alpha of TD with lookahead
LOOKAHEAD_LONGEST = 1000  # steps after which it cuts an episode
MAX_COUNT = 2**62  # of steps or episodes
ROUNDING = 1e-9  # how far below 0 a frequency may be solved to be


class TDLimit(NamedTuple):
    """Where TD(lambda) ends: weights (n_features,), and whether small steps lead there (stable)."""

    weights: np.ndarray
    stable: bool


class TDParameters(NamedTuple):
    """What TD(lambda) is told; the public functions have checked it."""

    discount: float
    decay: float  # of the eligibility trace in a step
    step: float  # alpha of the first step
    cooling: float  # alpha of step t is step / (1 + cooling t)
    n_episodes: int
    longest: int  # steps after which an episode is cut


class LookaheadParameters(NamedTuple):
    """What TD(lambda) with lookahead is told; the public functions have checked it."""

    discount: float
    decay: float  # of the eligibility trace in a step
    step: float  # alpha
    exploration: float  # probability of a random action in the first episode
    cooling: float  # in episode t it is exploration / (1 + cooling t)
    n_episodes: int
    longest: int  # steps after which an episode is cut


class QParameters(NamedTuple):
    """What Q-learning is told; the public functions have checked it."""

    discount: float
    exploration: float  # probability of a random action
    step: float  # alpha of the n-th try of an action in a state is n ** -step
    longest: int  # steps after which an episode is cut


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
    """Learn the value of a policy, linear in features, from episodes by TD(lambda) (Table 8).

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
        By default one feature a state: a table of values. A terminal state has the value 0,
        whatever its features are.
    trace : {"gamma lambda", "lambda"}
        Decay of the eligibility trace in a step: Sutton's (discount times lambda), or as the survey
        prints it in Table 8.
    cooling : float, at least 0
        Alpha of step t is step / (1 + cooling t).
    longest : int, at least 1
        Steps after which an episode is cut.
    seed : int in [0, 2**32)

    Returns
    -------
    ndarray of shape (n_features,)
        The last weights. A ConvergenceWarning tells where they have diverged, and are not finite.

    References
    ----------
    Sutton (1988).

    Raises
    ------
    ValueError
        If an argument is out of range or has another shape.
    """
    policy = check_policy(mdp, policy)
    discount = check_discount(mdp, discount)
    decay = check_real("trace_decay", trace_decay, 0, 1)
    if check_choice("trace", trace, (FULL, PRINTED)) == FULL:
        decay *= discount
    if features is None:
        features = np.eye(mdp.n_states)
    features = _check_features(features, mdp.n_states)
    parameters = TDParameters(
        discount=discount,
        decay=decay,
        step=check_real("step", step, 0, 1, open_low=True),
        cooling=check_real("cooling", cooling, 0),
        n_episodes=check_integer("n_episodes", n_episodes, 1, MAX_COUNT),
        longest=check_integer("longest", longest, 1, MAX_COUNT),
    )
    features[mdp.terminal] = 0.0
    weights = np.zeros(features.shape[1])
    _td_lambda(mdp.table, mdp.start, policy, features, weights, parameters, generator(seed))
    return _warn_if_diverged("td_lambda", weights, "a smaller step or smaller features may help")


def td_limit(P, R, features, discount, trace, weights=None):
    """Compute the weights at which TD(lambda), linear in features, ends on a chain without end.

    Parameters
    ----------
    P : array-like of shape (n_states, n_states)
        Probability of each next state under the policy; rows sum to 1 but for rounding, by which
        they are divided.
    R : array-like of shape (n_states,)
        Expected reward of a step from each state.
    features : array-like of shape (n_states, n_features)
        Linearly independent on the states that are backed up.
    discount : float in [0, 1)
    trace : float in [0, 1)
        Decay of the trace in a step: discount times lambda, or lambda for Table 8 as it is printed.
    weights : array-like of shape (n_states,), optional
        How often each state is backed up, D(s), at least 0 and in any unit; by default as often as
        the policy visits it.

    Returns
    -------
    TDLimit

    Raises
    ------
    ValueError
        If an array has another shape or numbers out of range; if features are linearly dependent,
        or there is no single limit; or, where no weights are given, as `stationary` does.

    References
    ----------
    Tsitsiklis & Van Roy (1997).
    """
    discount = check_real("discount", discount, 0, 1, open_high=True)
    trace = check_real("trace", trace, 0, 1, open_high=True)
    P = _check_chain(P)
    n_states = len(P)
    R = check_numbers("R", R)
    features = _check_features(features, n_states)
    if R.shape != (n_states,) or not np.isfinite(R).all():
        raise ValueError(f"R must be {n_states} finite numbers; got shape {R.shape}")
    D = stationary(P) if weights is None else _check_weights(weights, n_states)
    _require_independent(features, D > 0)

    # The limit w solves A w = b, with A = E' (I - discount P) F and b = E' R, where F are the
    # features and E' = sum over k of F' D (trace P)^k = F' D (I - trace P)^-1 the mean traces
    # (Tsitsiklis & Van Roy). It is stable if all eigenvalues of A have positive real parts.
    identity = np.eye(n_states)
    mean_traces = np.linalg.solve((identity - trace * P).T, features * D[:, None]).T
    A = mean_traces @ (identity - discount * P) @ features
    b = mean_traces @ R
    stable = bool((np.linalg.eigvals(A).real > 0).all())
    try:
        return TDLimit(np.linalg.solve(A, b), stable)
    except np.linalg.LinAlgError:
        raise ValueError(
            "weights must be others for there to be one limit: "
            "with these its equations are singular"
        ) from None


def stationary(P):
    """Return how often a chain visits each state in the long run.

    Parameters
    ----------
    P : array-like of shape (n_states, n_states)
        Transition probabilities, as in `td_limit`. Some state can be reached from each.

    Returns
    -------
    ndarray of shape (n_states,)
        0 for states that are left for good.

    Raises
    ------
    ValueError
        If P is no matrix of probabilities, or the chain has more than one recurrent class.
    """
    P = _check_chain(P)
    n_states = len(P)
    # classes of states that reach each other; a class that nothing leaves is recurrent
    n_classes, class_of = connected_components(P > 0, connection="strong")
    leaves_class = ((P > 0) & (class_of[:, None] != class_of)).any(axis=1)
    is_left = np.zeros(n_classes, dtype=bool)
    is_left[class_of[leaves_class]] = True
    closed_classes = np.flatnonzero(~is_left)
    if len(closed_classes) > 1:
        first, second = (int(np.argmax(class_of == k)) for k in closed_classes[:2])
        raise ValueError(
            "P must be a chain that comes to stay in one place; "
            f"got one that stays at {first} or at {second}"
        )
    try:
        # visits = P' visits, and all of them add up to 1: the sum of both equations
        visits = np.linalg.solve(np.eye(n_states) - P.T + 1.0, np.ones(n_states))
    except np.linalg.LinAlgError:
        visits = np.full(n_states, np.nan)
    if not (visits > -ROUNDING).all():
        raise ValueError(
            "P must have larger probabilities of going from place to place: rounding hides these"
        )
    return np.where(is_left[class_of], 0.0, visits)


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
        A ConvergenceWarning tells where they have diverged, and are not finite.

    Raises
    ------
    ValueError
        If an argument is out of range or has another shape.
    """
    discount = check_discount(mdp, discount)
    trace_decay = check_real("trace_decay", trace_decay, 0, 1)
    values = np.zeros(mdp.n_states) if values is None else check_numbers("values", values)
    if values.shape == mdp.terminal.shape:
        values[mdp.terminal] = 0.0
    values = check_state_values(mdp, values)
    parameters = LookaheadParameters(
        discount=discount,
        decay=discount * trace_decay,
        step=LOOKAHEAD_STEP,
        exploration=check_real("exploration", exploration, 0, 1),
        cooling=check_real("cooling", cooling, 0),
        n_episodes=check_integer("n_episodes", n_episodes, 1, MAX_COUNT),
        longest=LOOKAHEAD_LONGEST,
    )
    _td_lookahead(mdp.table, mdp.start, values, parameters, generator(seed))
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
    """Learn the value of each action in each state without a model, by Q-learning (section 4.4).

    Parameters
    ----------
    mdp : MDP
        From which next states are drawn; rewards are the expected ones.
    discount : float in [0, 1]
    n_steps : int, at least 1
    exploration : float in [0, 1]
        Probability of an action drawn at random; otherwise the action is one of the best so far.
    step : float in [0, 1]
        The learning rate of the n-th update of an action in a state is n ** -step.
    anywhere : bool
        Whether episodes start in any state that is not terminal, all with the same probability;
        else by ``mdp.start``.
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

    Raises
    ------
    ValueError
        If an argument is out of range or has another shape.
    """
    n_steps = check_integer("n_steps", n_steps, 1, MAX_COUNT)
    longest = check_integer("longest", longest, 1, MAX_COUNT)
    if checkpoints is None:
        step_numbers = np.array([n_steps], dtype=np.int64)
    else:
        step_numbers = _check_checkpoints(checkpoints, n_steps)
    start = _start_probabilities(mdp, anywhere)
    exploration = check_real("exploration", exploration, 0, 1)
    step = check_real("step", step, 0, 1)
    parameters = QParameters(
        discount=check_discount(mdp, discount),
        exploration=exploration,
        step=step,
        longest=longest,
    )
    snapshots = _q_learning(mdp.table, start, parameters, step_numbers, generator(seed))
    q_values = snapshots.transpose(0, 2, 1)
    return q_values[0] if checkpoints is None else q_values


def learn_model(mdp, n_steps, anywhere=True, longest=1000, seed=0):
    """Learn a model of a process by counting what random actions lead to (section 4.3).

    Each probability is a share of the tries of its state and action. An action that was never tried
    in a state ends the episode without a reward, so that its value is 0, as in a new Q.

    Parameters
    ----------
    mdp : MDP
        From which next states are drawn; rewards are the expected ones.
    n_steps : int, at least 1
    anywhere, longest, seed
        As for `q_learning`, which takes the same steps if its exploration is 1.

    Returns
    -------
    MDP
        With one more state, the last: a terminal one, to which untried actions lead.

    Raises
    ------
    ValueError
        If an argument is out of range or has another shape.
    """
    n_steps = check_integer("n_steps", n_steps, 1, MAX_COUNT)
    longest = check_integer("longest", longest, 1, MAX_COUNT)
    start = _start_probabilities(mdp, anywhere)
    counts = _count_transitions(mdp.table, start, n_steps, longest, generator(seed))

    n_states = mdp.n_states
    tries = np.add.reduceat(counts, mdp.table.indptr[:-1])
    is_tried = (tries > 0).reshape(mdp.n_actions, n_states)
    # where there were no tries, there are no counts
    shares = mdp.matrix.copy()
    shares.data = counts / np.repeat(np.maximum(tries, 1), np.diff(shares.indptr))
    transitions = []
    for action in range(mdp.n_actions):
        known = shares[action * n_states : (action + 1) * n_states]
        unknown = sparse.csr_array(1.0 * ~is_tried[action][:, None])
        # MDP makes the last state absorb, as it is terminal
        transitions.append(sparse.block_array([[known, unknown], [None, sparse.csr_array((1, 1))]]))
    if not mdp.is_sparse:
        transitions = [block.toarray() for block in transitions]
    return MDP(
        transitions=transitions,
        rewards=np.pad(np.where(is_tried, mdp.rewards, 0.0), [(0, 0), (0, 1)]),
        terminal=np.append(mdp.terminal, True),
        start=np.append(mdp.start, 0.0),
    )


def _start_probabilities(mdp, anywhere):
    """Return the probability that an episode starts in each state."""
    if not check_flag("anywhere", anywhere):
        return mdp.start
    # where all states are terminal, an episode ends wherever it starts
    n_live = max((~mdp.terminal).sum(), 1)
    return ~mdp.terminal / n_live


def _check_checkpoints(checkpoints, n_steps):
    """Return ascending numbers of steps as int64, or raise a ValueError that says what is wrong."""
    if np.ndim(checkpoints) != 1 or not len(checkpoints):
        raise ValueError(f"checkpoints must be a sequence of integers; got {checkpoints!r}")
    step_numbers = [check_integer("checkpoints", n, 1, n_steps) for n in checkpoints]
    if (np.diff(step_numbers) <= 0).any():
        raise ValueError(
            f"checkpoints must ascend from 1 or more to n_steps at most; got {checkpoints!r}"
        )
    return np.array(step_numbers, dtype=np.int64)


def _check_chain(P):
    P = check_numbers("P", P)
    if P.ndim != 2 or P.shape[0] != P.shape[1] or not P.size:
        raise ValueError(f"P must have shape (n_states, n_states); got {P.shape}")
    divisors = probability_divisors(P.sum(axis=1), P.min(axis=1), lambda row: f"row {row} of P")
    return P / divisors[:, None]


def _check_features(features, n_states):
    features = check_numbers("features", features)
    if features.ndim != 2 or len(features) != n_states or not features.size:
        raise ValueError(f"features must have shape ({n_states}, n_features); got {features.shape}")
    if not np.isfinite(features).all():
        state, feature = np.argwhere(~np.isfinite(features))[0]
        raise ValueError(
            f"features must be finite; state {state}, feature {feature}: {features[state, feature]}"
        )
    return features


def _check_weights(weights, n_states):
    weights = check_numbers("weights", weights)
    if weights.shape != (n_states,) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        allowed = f"{n_states} finite numbers of at least 0, not all of them 0"
        raise ValueError(f"weights must be {allowed}; got {weights.tolist()}")
    return weights


def _require_independent(features, is_backed_up):
    """Raise ValueError if features are linearly dependent on the states that are backed up."""
    largest = np.abs(features).max(axis=0)
    scaled = features / np.where(largest > 0, largest, 1.0)  # the rank's tolerance is relative
    if np.linalg.matrix_rank(scaled[is_backed_up]) < features.shape[1]:
        raise ValueError(
            "features must be linearly independent on the states that are backed up; "
            "some depend on others"
        )


def _warn_if_diverged(learner, weights, remedy):
    """Return what a learner has learned, with a ConvergenceWarning if that is not finite."""
    if not np.isfinite(weights).all():
        warnings.warn(f"{learner} has diverged; {remedy}", ConvergenceWarning, stacklevel=3)
    return weights


def generator(seed):
    """Return a numpy Generator, which kernels take, of a seed in [0, 2**32)."""
    return np.random.default_rng(check_integer("seed", seed, 0, 2**32 - 1))


@compiled()
def _draw_index(probabilities, first, last, rng):
    """Draw an index from first to last - 1, with these probabilities."""
    u = rng.random()
    for k in range(first, last - 1):
        u -= probabilities[k]
        if u < 0:
            return k
    return last - 1


@compiled()
def _draw_state(probabilities, rng):
    """Draw the state in which an episode starts."""
    return _draw_index(probabilities, 0, probabilities.shape[0], rng)


@compiled()
def _draw_transition(table, action, state, rng):
    """Draw what follows an action in a state: the place of the next state in the table."""
    row = action * table.rewards.shape[1] + state
    return _draw_index(table.probabilities, table.indptr[row], table.indptr[row + 1], rng)


@compiled()
def _draw_next_state(table, action, state, rng):
    """Draw the state after an action in a state, by the process's own probabilities."""
    return table.next_states[_draw_transition(table, action, state, rng)]


@compiled()
def epsilon_greedy(q_values, exploration, rng):
    """Draw any action with probability `exploration`, else one of the best, each as probable."""
    n_actions = q_values.shape[0]
    if rng.random() < exploration:
        return int(rng.random() * n_actions)
    best = 0
    n_best = 0
    for action in range(n_actions):
        if n_best == 0 or q_values[action] > q_values[best]:
            best = action
            n_best = 0
        if q_values[action] == q_values[best]:
            # the n-th of equal actions takes the place with probability 1/n (reservoir sampling)
            n_best += 1
            if rng.random() * n_best < 1:
                best = action
    return best


@compiled()
def _td_lambda(table, start, policy, features, weights, parameters, rng):
    """Learn `weights` of features by TD(lambda), the loop of Table 8."""
    discount = parameters.discount
    trace = np.empty(weights.shape[0])  # the survey's G
    t = 0
    for _ in range(parameters.n_episodes):
        s = _draw_state(start, rng)
        trace[:] = 0.0
        for _ in range(parameters.longest):
            if table.terminal[s]:
                break
            action = policy[s]
            next_s = _draw_next_state(table, action, s, rng)
            # R(s, a, s') + discount f(s') - f(s), and G := decay G + the gradient of f(s)
            td_error = table.rewards[action, s]
            for j in range(trace.shape[0]):
                td_error += (discount * features[next_s, j] - features[s, j]) * weights[j]
                trace[j] = parameters.decay * trace[j] + features[s, j]
            alpha = parameters.step / (1.0 + parameters.cooling * t)
            weights += alpha * td_error * trace
            s = next_s
            t += 1


@compiled()
def _td_lookahead(table, start, values, parameters, rng):
    """Learn `values`, a table, by TD(lambda) with actions by one-step lookahead (equation 3)."""
    discount = parameters.discount
    n_actions, n_states = table.rewards.shape
    trace = np.empty(n_states)
    q_values = np.empty(n_actions)
    for episode in range(parameters.n_episodes):
        exploration = parameters.exploration / (1.0 + parameters.cooling * episode)
        s = _draw_state(start, rng)
        trace[:] = 0.0
        for _ in range(parameters.longest):
            if table.terminal[s]:
                break
            for a in range(n_actions):
                q_values[a] = q_value(table, a, s, values, discount)
            action = epsilon_greedy(q_values, exploration, rng)
            next_s = _draw_next_state(table, action, s, rng)
            trace *= parameters.decay
            trace[s] += 1.0
            td_error = table.rewards[action, s] + discount * values[next_s] - values[s]
            values += parameters.step * td_error * trace
            s = next_s


@compiled()
def _q_learning(table, start, parameters, checkpoints, rng):
    """Learn Q by the update of section 4.4; return it at each checkpoint, states first."""
    n_actions, n_states = table.rewards.shape
    q_values = np.zeros((n_states, n_actions))
    n_tries = np.zeros((n_states, n_actions))
    snapshots = np.empty((checkpoints.shape[0], n_states, n_actions))
    n_snapshots = 0
    s = _draw_state(start, rng)
    episode_steps = 0
    for t in range(1, checkpoints[-1] + 1):
        if table.terminal[s] or episode_steps == parameters.longest:
            s = _draw_state(start, rng)
            episode_steps = 0
        action = epsilon_greedy(q_values[s], parameters.exploration, rng)
        next_s = _draw_next_state(table, action, s, rng)

        # Q(s, a) := (1 - alpha) Q(s, a) + alpha [R(s, a, s') + discount max over a' of Q(s', a')]
        n_tries[s, action] += 1.0
        alpha = n_tries[s, action] ** -parameters.step
        target = table.rewards[action, s] + parameters.discount * q_values[next_s].max()
        q_values[s, action] += alpha * (target - q_values[s, action])

        s = next_s
        episode_steps += 1
        if t == checkpoints[n_snapshots]:
            for state in range(n_states):
                assign(snapshots[n_snapshots, state], q_values[state])
            n_snapshots += 1
    return snapshots


@compiled()
def _count_transitions(table, start, n_steps, longest, rng):
    """Count how often random actions lead along each transition of the table."""
    counts = np.zeros(table.probabilities.shape[0])
    no_preference = np.zeros(table.rewards.shape[0])
    s = _draw_state(start, rng)
    episode_steps = 0
    for _ in range(n_steps):
        if table.terminal[s] or episode_steps == longest:
            s = _draw_state(start, rng)
            episode_steps = 0
        action = epsilon_greedy(no_preference, 1.0, rng)
        k = _draw_transition(table, action, s, rng)
        counts[k] += 1.0
        s = table.next_states[k]
        episode_steps += 1
    return counts
