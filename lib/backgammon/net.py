"""Kernels of a small network that says how probable it is that the one who has just moved will win."""

import numpy as np

from lib.backgammon.rules import MEN, OFF
from lib.compiled import compiled

N_INPUTS = 196
UNITS = np.zeros((26, MEN + 1, 4), np.float32)  # place, men there, unit
UNITS[1:25] = [[n >= 1, n >= 2, n >= 3, max(n - 3, 0) / 2] for n in range(MEN + 1)]
UNITS[0, :, 0], UNITS[25, :, 0] = np.arange(MEN + 1) / MEN, np.arange(MEN + 1) / 2


@compiled()
def sigmoid(x):
    """Return 1 / (1 + exp(-x))."""
    return np.float32(1) / (np.float32(1) + np.exp(-x))


@compiled()
def encode(position, x):
    """Put the inputs for a position, and a 1 for the thresholds, into `x`."""
    row = 0
    for side in range(2):
        for place in range(26):
            for unit in range(4 if 0 < place < 25 else 1):
                x[row] = UNITS[place, position[side, place], unit]
                row += 1
    x[row] = 1


@compiled()
def add_inputs(sums, before, x, inputs):
    """Add to the hidden units' sums what a change of the inputs adds."""
    for row in range(x.shape[0]):
        change = x[row] - before[row]
        if change != 0:
            for j in range(sums.shape[0]):
                sums[j] += change * inputs[row, j]


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
    old, new = np.zeros(N_INPUTS + 1, np.float32), np.empty(N_INPUTS + 1, np.float32)
    sums = np.zeros(inputs.shape[1], np.float32)
    for i in range(n):
        encode(positions[i], new)
        add_inputs(sums, old, new, inputs)
        old, new = new, old
        values[i] = output_of(sums, output)
        if positions[i, 0, OFF] == MEN or positions[i, 1, OFF] == MEN:
            values[i] = positions[i, 0, OFF] == MEN


@compiled()
def add_gradient(position, inputs, output, input_trace, output_trace):
    """Add the gradient of the output at a position to the traces, and return the output."""
    x, sums = np.zeros(N_INPUTS + 1, np.float32), np.zeros(inputs.shape[1], np.float32)
    encode(position, x)
    add_inputs(sums, np.zeros_like(x), x, inputs)
    value = output_of(sums, output)
    slope = value * (1 - value)
    if output.shape[0] == 1:
        sums[0] = slope
    for j in range(output.shape[0] - 1):
        unit = sigmoid(sums[j])
        output_trace[j] += slope * unit
        sums[j] = slope * output[j] * unit * (1 - unit)
    output_trace[-1] += slope
    for row in range(x.shape[0]):
        if x[row] != 0:
            input_trace[row] += x[row] * sums
    return value
