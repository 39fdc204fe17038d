"""Data sets that are a definition, not a file."""

import itertools

import numpy as np
import pandas as pd

from lib.base.validation import check_generator, check_integer


def corral():
    """The 128 rows of MLC++: the class is (A0 and A1) or (B0 and B1).

    Each of the 32 inputs of the other attributes is there four times, and `correlated` is the class
    in three of these.

    References
    ----------
    John, Kohavi & Pfleger (1994), "Irrelevant features and the subset selection problem".
    """
    inputs = np.repeat(_all_inputs([range(2)] * 5), 4, axis=0)
    a0, a1, b0, b1, _ = inputs.T
    target = (a0 & a1) | (b0 & b1)
    is_flipped = np.arange(len(inputs)) % 4 == 3
    values = np.column_stack([inputs, target ^ is_flipped]).astype(bool)
    names = ["a0", "a1", "b0", "b1", "irrelevant", "correlated"]
    return pd.DataFrame(values, columns=names), target.astype("U1")


def mofn_3_7_10():
    """All 1024 inputs of ten bits; the class is 1 where at least 3 of bits 2 to 8 are.

    References
    ----------
    Kohavi & John (1997), "Wrappers for feature subset selection".
    """
    inputs = _all_inputs([range(2)] * 10)
    target = (inputs[:, 2:9].sum(axis=1) >= 3).astype(int)
    X = pd.DataFrame(inputs.astype(bool), columns=[f"bit_{i}" for i in range(10)])
    return X, target.astype("U1")


def monks_1():
    """All 432 inputs of the first of the MONK's tasks: the class is a1 = a2 or a5 = 1.

    References
    ----------
    Thrun et al. (1991), "The MONK's problems", CMU-CS-91-197.
    """
    domain_sizes = (3, 3, 2, 3, 4, 2)
    inputs = _all_inputs([range(1, size + 1) for size in domain_sizes])
    target = ((inputs[:, 0] == inputs[:, 1]) | (inputs[:, 4] == 1)).astype(int)
    X = pd.DataFrame(inputs.astype(str), columns=[f"a{i}" for i in range(1, 7)])
    return X.astype("category"), target.astype("U1")


def waveform_21(rng, size=5000):
    """Draw waveforms: random mixtures of two of three triangular waves, with normal noise.

    The waves h1, h2 and h3 have their peaks at 7, 15 and 11, as in UCI's generator; class 0 mixes
    h1 and h2, class 1 h1 and h3, class 2 h2 and h3.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : int, at least 1

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and Regression Trees", section 2.6.1.
    """
    check_generator("rng", rng)
    size = check_integer("size", size, 1)
    i = np.arange(1, 22)
    peaks = np.array([[7], [15], [11]])
    waves = np.maximum(6 - np.abs(i - peaks), 0)
    wave_pairs = np.array([[0, 1], [0, 2], [1, 2]])  # of each class
    target = rng.integers(3, size=size)
    u = rng.random((size, 1))
    first, second = waves[wave_pairs[target]].swapaxes(0, 1)
    X = u * first + (1 - u) * second + rng.standard_normal((size, 21))
    return pd.DataFrame(X, columns=[f"x{j}" for j in i]), target.astype("U1")


def generate(name):
    """Attributes and target of a synthetic data set."""
    if name in COMPLETE:
        return COMPLETE[name]()
    return waveform_21(np.random.default_rng(0))


def _all_inputs(domains):
    """All combinations of values, the last attribute changing fastest."""
    return np.array(list(itertools.product(*domains)))


# sets of all inputs that there are; the waveforms are a sample
COMPLETE = {"corral": corral, "mofn-3-7-10": mofn_3_7_10, "monks-1": monks_1}
