"""Kernels of a small network that says how probably the one who has just moved wins."""

import numpy as np

from lib.backgammon.rules import MEN, OFF
from lib.base.compiled import compiled

N_INPUTS = 196
# The values of the inputs that a place has, by the number of men there: (place, men, unit).
UNITS = np.zeros((26, MEN + 1, 4), np.float32)
UNITS[1:25] = [[n >= 1, n >= 2, n >= 3, max(n - 3, 0) / 2] for n in range(MEN + 1)]
UNITS[0, :, 0] = np.arange(MEN + 1) / MEN  # off the board
UNITS[25, :, 0] = np.arange(MEN + 1) / 2  # on the bar
# The first input of a side and place: one for those off the board, then four for each point.
ROWS = np.maximum(4 * np.arange(26) - 3, 0) + np.array([[0], [N_INPUTS // 2]])
EMPTY_BOARD = np.zeros((2, 26), np.int8)


@compiled()
def sigmoid(x):
    """Return 1 / (1 + exp(-x))."""
    return np.float32(1) / (np.float32(1) + np.exp(-x))


@compiled()
def add_multiple(total, factor, vector):
    """Add factor times a vector to `total`."""
    for j in range(total.shape[0]):
        total[j] += factor * vector[j]


@compiled()
def add_inputs(sums, old_position, position, inputs):
    """Add to the sums of the hidden units what a change of the position adds.

    Positions that follow each other in a list differ in few places.
    """
    for side in range(2):
        for place in range(26):
            old_men = old_position[side, place]
            men = position[side, place]
            if men == old_men:
                continue
            for unit in range(4):
                change = UNITS[place, men, unit] - UNITS[place, old_men, unit]
                if change != 0:
                    add_multiple(sums, change, inputs[ROWS[side, place] + unit])


@compiled()
def net_output(sums, output):
    """Return the network's output for the sums of its hidden units.

    Where there are no hidden units, the only sum is that of the output.
    """
    n_hidden = output.shape[0] - 1
    if n_hidden == 0:
        return sigmoid(sums[0])
    total = output[-1]
    for j in range(n_hidden):
        total += output[j] * sigmoid(sums[j])
    return sigmoid(total)


@compiled()
def net_values(positions, n, inputs, output, values):
    """Put the output for the first `n` positions into `values`: 1 or 0 where the game is over."""
    old_position = EMPTY_BOARD
    sums = inputs[-1].copy()  # the thresholds
    for i in range(n):
        position = positions[i]
        add_inputs(sums, old_position, position, inputs)
        old_position = position
        if position[0, OFF] == MEN:
            values[i] = 1
        elif position[1, OFF] == MEN:
            values[i] = 0
        else:
            values[i] = net_output(sums, output)


@compiled()
def add_gradient(position, inputs, output, input_trace, output_trace):
    """Add the gradient of the output at a position to the traces, and return the output."""
    n_hidden = output.shape[0] - 1
    sums = inputs[-1].copy()
    add_inputs(sums, EMPTY_BOARD, position, inputs)
    value = net_output(sums, output)

    # Backpropagation: the slope of the output's sum, then those of the hidden units' sums, which
    # take the place of the sums.
    slope = value * np.float32(1 - value)
    slopes = sums
    if n_hidden == 0:
        slopes[0] = slope
    for j in range(n_hidden):
        unit = sigmoid(sums[j])
        output_trace[j] += slope * unit
        slopes[j] = slope * output[j] * unit * np.float32(1 - unit)
    output_trace[-1] += slope

    for side in range(2):
        for place in range(26):
            men = position[side, place]
            if men == 0:
                continue
            for unit in range(4):
                x = UNITS[place, men, unit]
                if x != 0:
                    add_multiple(input_trace[ROWS[side, place] + unit], x, slopes)
    add_multiple(input_trace[-1], np.float32(1), slopes)
    return value
