"""Kernels of a small network that says how probable it is that the one who has just moved will win."""

import numpy as np

from lib.backgammon.rules import MEN, OFF
from lib.compiled import compiled

N_INPUTS = 196
UNITS = np.zeros((26, MEN + 1, 4), np.float32)  # place, men there, unit
UNITS[1:25] = [[n >= 1, n >= 2, n >= 3, max(n - 3, 0) / 2] for n in range(MEN + 1)]
UNITS[0, :, 0], UNITS[25, :, 0] = np.arange(MEN + 1) / MEN, np.arange(MEN + 1) / 2
# first input of a side and place
ROWS = np.maximum(4 * np.arange(26) - 3, 0) + np.array([[0], [N_INPUTS // 2]])
NOBODY = np.zeros((2, 26), np.int8)


@compiled()
def sigmoid(x):
    """Return 1 / (1 + exp(-x))."""
    return np.float32(1) / (np.float32(1) + np.exp(-x))


@compiled()
def add_times(total, x, numbers):
    """Add to each of some numbers x times another."""
    for j in range(total.shape[0]):
        total[j] += x * numbers[j]


@compiled()
def add_inputs(sums, before, position, inputs):
    """Add to the hidden units' sums what a change of the position adds."""
    for side in range(2):
        for place in range(26):
            old, new = before[side, place], position[side, place]
            for unit in range(4 if old != new else 0):
                change = UNITS[place, new, unit] - UNITS[place, old, unit]
                if change != 0:
                    add_times(sums, change, inputs[ROWS[side, place] + unit])


@compiled()
def output_of(sums, output):
    """Return the network's output for the sums of its hidden units, or of the output where there are none."""
    total = output[-1]
    for j in range(output.shape[0] - 1):
        total += output[j] * sigmoid(sums[j])
    return sigmoid(total if output.shape[0] > 1 else sums[0])


@compiled()
def net_values(positions, n, inputs, output, values):
    """Put the output for the first `n` positions into `values`; who has won has 1 or 0."""
    before, sums = NOBODY, inputs[-1].copy()
    for i in range(n):
        add_inputs(sums, before, positions[i], inputs)
        before = positions[i]
        over = max(positions[i, 0, OFF], positions[i, 1, OFF]) == MEN
        values[i] = positions[i, 0, OFF] // MEN if over else output_of(sums, output)


@compiled()
def add_gradient(position, inputs, output, input_trace, output_trace):
    """Add the gradient of the output at a position to the traces, and return the output."""
    sums = inputs[-1].copy()
    add_inputs(sums, NOBODY, position, inputs)
    value = output_of(sums, output)
    slope = value * np.float32(1 - value)
    if output.shape[0] == 1:
        sums[0] = slope
    for j in range(output.shape[0] - 1):
        unit = sigmoid(sums[j])
        output_trace[j] += slope * unit
        sums[j] = slope * output[j] * unit * np.float32(1 - unit)
    output_trace[-1] += slope
    for side in range(2):
        for place in range(26):
            for unit in range(4 if position[side, place] > 0 else 0):
                x = UNITS[place, position[side, place], unit]
                if x != 0:
                    add_times(input_trace[ROWS[side, place] + unit], x, sums)
    add_times(input_trace[-1], np.float32(1), sums)
    return value
