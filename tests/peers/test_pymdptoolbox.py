"""Dynamic programming against pymdptoolbox: values of policy iteration and value iteration.

What the comparison has to know of pymdptoolbox: its value iteration ends by the span of the
changes, and so with values that may be off by a constant; its policy iteration does not keep ties,
and may flip between them until its last round.
"""

import numpy as np
import pytest

from lib import decisions

mdptoolbox = pytest.importorskip(
    "mdptoolbox.mdp", reason="no pymdptoolbox; `make peers` installs it"
)
MODELS = {
    "lake": lambda: decisions.from_gymnasium("FrozenLake-v1"),
    "cliff": lambda: decisions.from_gymnasium("CliffWalking-v1", is_slippery=True),
    "taxi": lambda: decisions.from_gymnasium("Taxi-v4"),
    "grid": lambda: decisions.grid_world(10, 10, 0.2, np.random.default_rng(0)),
    "garnet": lambda: decisions.random_mdp(100, 4, 3, np.random.default_rng(0)),
}


@pytest.mark.parametrize("name", MODELS)
def test_policy_iteration(name):
    model = MODELS[name]()
    peer = mdptoolbox.PolicyIteration(model.transitions, model.rewards.T, 0.9, max_iter=50)
    peer.run()
    ours = decisions.policy_iteration(model, 0.9).values
    largest = max(1, np.abs(ours).max())
    assert np.allclose(peer.V, ours, rtol=0, atol=1e-12 * largest)
    values_of_their_policy = decisions.evaluate(model, np.array(peer.policy), 0.9)
    assert np.allclose(values_of_their_policy, ours, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_value_iteration(name):
    model = MODELS[name]()
    peer = mdptoolbox.ValueIteration(model.transitions, model.rewards.T, 0.9, epsilon=1e-10)
    peer.run()
    values_of_their_policy = decisions.evaluate(model, np.array(peer.policy), 0.9)
    assert np.allclose(values_of_their_policy, decisions.value_iteration(model, 0.9).values)
