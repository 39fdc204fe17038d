"""Sequential decisions: models, dynamic programming, temporal differences, Q-learning, Sarsa."""

from lib.decisions.continuous_states import FittedValues, fitted_values, sarsa_tiles
from lib.decisions.models import MDP, from_gymnasium, grid_world, mountain_roads, random_mdp
from lib.decisions.programming import (
    Solution,
    backup,
    evaluate,
    lookahead,
    modified_policy_iteration,
    policy_iteration,
    value_iteration,
)
from lib.decisions.temporal import (
    TDLimit,
    learn_model,
    q_learning,
    stationary,
    td_lambda,
    td_limit,
    td_lookahead,
)
