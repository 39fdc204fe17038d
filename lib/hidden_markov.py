"""Hidden Markov models over letters, with transitions of one table, or of two variables that make up the state."""

from bisect import bisect_left
from functools import reduce

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lib.compiled import compiled
from lib.estimators import with_parameters
from lib.validation import check_choice, check_generator, check_integer, check_real, optional

SMALL = 1e-30  # forward probabilities whose sum is below it are scaled to sum to 1
LEAST = float(np.finfo(float).tiny)  # they are not scaled by more than its reciprocal


class FactoredTransitions:
    """How the state, made up of two variables, moves on: which tables there are and how they make one.

    Parameters
    ----------
    kind : {"product", "independent", "action"}
        "product": one table over all pairs of values. "independent": each variable has a table of its own and both
        move at each step. "action": at each step exactly one of the variables moves, the first one with a probability
        that is learned, and the other stays; which one it was is not seen.
    sizes : tuple of int
        Values of each variable; state i of the first and j of the second is i * sizes[1] + j. "product" takes any
        number of variables.

    Raises
    ------
    ValueError
        If the kind is none of these, or `sizes` are not two numbers of at least 1.
    """

    def __init__(self, kind, sizes):
        self.kind = check_choice("kind", kind, ("product", "independent", "action"))
        self.sizes = tuple(check_integer("sizes", size, 1) for size in sizes)
        if kind != "product" and len(self.sizes) != 2:
            raise ValueError(f"sizes must be of two variables for {kind!r} transitions; got {sizes!r}")
        self.n_states = int(np.prod(self.sizes))
        self._factors = (self.n_states,) if kind == "product" else self.sizes

    def shapes(self):
        """Shapes of the tables, each of whose rows sums to 1."""
        return [(size, size) for size in self._factors] + [(1, 2)] * (self.kind == "action")

    def matrix(self, tables):
        """P(next state | state), (n_states, n_states)."""
        return sum(self._moves(tables)) if self.kind == "action" else reduce(np.kron, tables)

    def _moves(self, tables):
        first, second, action = tables
        still = [np.eye(size) for size in self.sizes]
        return action[0, 0] * np.kron(first, still[1]), action[0, 1] * np.kron(still[0], second)

    def counts(self, counts, tables):
        """Expected counts of each table from those of pairs of states, (n_states, n_states)."""
        if self.kind != "action":
            return [self._of(variable, counts) for variable in range(len(self._factors))]
        one, other = self._moves(tables)
        moved = counts * np.divide(one, one + other, out=np.zeros_like(one), where=one + other > 0)
        action = np.array([[moved.sum(), (counts - moved).sum()]])
        return [self._of(0, moved), self._of(1, counts - moved), action]

    def _of(self, variable, counts):
        others = [axis for axis in range(2 * len(self._factors)) if axis % len(self._factors) != variable]
        return counts.reshape(self._factors * 2).sum(axis=tuple(others))


@with_parameters
class HiddenMarkovModel(BaseEstimator):
    """Hidden Markov model of sequences of symbols, fitted by EM (Baum and Welch).

    Parameters
    ----------
    n_states : int, at least 1
    n_symbols : int, at least 1, optional
        Size of the alphabet; by default one more than the largest symbol that `fit` sees.
    transitions : "full", ndarray of bool of shape (n_states, n_states), or FactoredTransitions
        Which transitions can occur: all, those where the mask is True, or those that the tables allow.
    emissions : ndarray of shape (n_states, n_symbols), optional
        P(symbol | state) where it is known; then it is not learned.
    smoothing : float, at least 0
        Added to each expected count.
    n_restarts : int, at least 1
        Random starts; the likeliest run is kept.
    max_iterations : int, at least 1
    tolerance : float, at least 0
        A run ends when an iteration gains less than this in log likelihood a symbol.
    random_state : int, RandomState or None

    Attributes
    ----------
    start_ : ndarray of shape (n_states,)
    transitions_ : ndarray of shape (n_states, n_states)
    emissions_ : ndarray of shape (n_states, n_symbols)
    tables_ : list of ndarrays
        What `transitions_` is made of: one table, or those of `FactoredTransitions`.
    traces_ : list of n_restarts ndarrays
        Log likelihood of the parameters at the start of each iteration, with the log prior of `smoothing`.

    References
    ----------
    Rabiner (1989), section III, with the scaling of section V.
    """

    n_states: int = 2
    n_symbols: int | None = None
    transitions: str | np.ndarray | FactoredTransitions = "full"
    emissions: np.ndarray | None = None
    smoothing: float = 0.0
    n_restarts: int = 1
    max_iterations: int = 200
    tolerance: float = 1e-6
    random_state: int | np.random.RandomState | None = None

    def fit(self, sequences, y=None):
        """Fit to a list of sequences of symbols 0, 1, ...; `y` is ignored.

        Raises
        ------
        ValueError
            If a parameter is out of range, or a sequence is empty or holds no symbols of the alphabet.
        """
        model, mask = self._checked_model()
        n_symbols = optional(check_integer, "n_symbols", self.n_symbols, 1)
        if n_symbols is None and self.emissions is not None:
            n_symbols = np.shape(self.emissions)[-1]
        symbols, ends = joined(sequences, n_symbols)
        n_symbols = n_symbols or int(symbols.max()) + 1
        rng = check_random_state(self.random_state)
        starts = [self._random_tables(model, mask, n_symbols, rng) for _ in range(self.n_restarts)]
        runs = [self._climb(symbols, ends, model, tables) for tables in starts]
        self.traces_ = [trace for _, trace in runs]
        (start, self.emissions_, *self.tables_), _ = max(runs, key=lambda run: run[1][-1])
        self.start_, self.transitions_ = start[0], model.matrix(self.tables_)
        return self

    def _checked_model(self):
        n = check_integer("n_states", self.n_states, 1)
        check_integer("n_restarts", self.n_restarts, 1)
        check_integer("max_iterations", self.max_iterations, 1)
        check_real("tolerance", self.tolerance, 0)
        check_real("smoothing", self.smoothing, 0)
        if isinstance(self.transitions, FactoredTransitions):
            if self.transitions.n_states != n:
                raise ValueError(f"n_states must be {self.transitions.n_states}, as transitions have it; got {n}")
            return self.transitions, 1.0
        mask = np.ones((n, n), bool) if np.array_equal(self.transitions, "full") else np.asarray(self.transitions)
        if mask.shape != (n, n) or mask.dtype != bool or not mask.any(axis=1).all():
            wanted = f'"full", FactoredTransitions, or a mask ({n}, {n}) with a transition from each state'
            raise ValueError(f"transitions must be {wanted}; got {self.transitions!r}")
        return FactoredTransitions("product", (n,)), mask

    def _random_tables(self, model, mask, n_symbols, rng):
        """Tables to start from: of the first state, the symbols, and the transitions."""
        n = self.n_states
        shapes = [(1, n), (n, n_symbols), *model.shapes()]
        start, emissions, *tables = (normalised(rng.gamma(2.0, size=shape)) for shape in shapes)
        if self.emissions is not None:
            emissions = np.array(self.emissions, dtype=float)
            if emissions.shape != (n, n_symbols) or np.abs(emissions.sum(axis=1) - 1).max() > 1e-6:
                raise ValueError(f"emissions must have shape ({n}, {n_symbols}), and rows that sum to 1")
        return [start, emissions, *(normalised(table * mask) for table in tables)]

    def _climb(self, symbols, ends, model, tables):
        """EM from some tables; returns the tables and the trace of the log likelihood."""
        trace = []
        for _ in range(self.max_iterations):
            start, emissions, *parts = tables
            likelihood, *counts = expected_counts(symbols, ends, start[0], model.matrix(parts), emissions)
            learned = tables if self.emissions is None else [start, *parts]
            prior = sum(float(np.log(table[table > 0]).sum()) for table in learned)
            trace.append(likelihood + self.smoothing * prior)
            if len(trace) > 1 and trace[-1] - trace[-2] < self.tolerance * len(symbols):
                break
            counts = [counts[0][None], counts[2], *model.counts(counts[1], parts)]
            pairs = zip(counts, tables, strict=True)
            tables = [normalised(count + self.smoothing * (table > 0), table) for count, table in pairs]
            tables[1] = tables[1] if self.emissions is None else emissions
        return tables, np.array(trace)

    def score_samples(self, sequences):
        """Ln P of each sequence, (n_sequences,); -inf for one that the model cannot make."""
        return log_likelihoods(*self._known(sequences), self.start_, self.transitions_, self.emissions_)

    def score(self, sequences, y=None):
        """Ln P of all sequences together; `y` is ignored."""
        return float(self.score_samples(sequences).sum())

    def decode(self, sequences):
        """The likeliest states of each sequence (Viterbi), a list of arrays."""
        symbols, ends = self._known(sequences)
        with np.errstate(divide="ignore"):
            logs = [np.log(table) for table in (self.start_, self.transitions_, self.emissions_)]
        return [likeliest_states(part, *logs) for part in np.split(symbols, ends[1:-1])]

    def _known(self, sequences):
        check_is_fitted(self)
        return joined(sequences, self.emissions_.shape[1])


def normalised(counts, before=0.0):
    """Rows divided by their sums; one that is all zero stays as it was before."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1), before)


def joined(sequences, n_symbols=None):
    """All sequences one after the other, and where each begins and the last ends; ValueError names what is wrong."""
    parts = [np.asarray(sequence) for sequence in sequences]
    if not parts:
        raise ValueError("sequences must hold at least one sequence; got none")
    for i, part in enumerate(parts):
        if part.ndim != 1 or len(part) == 0 or part.dtype.kind not in "iu":
            raise ValueError(f"sequence {i} must be one row of at least one integer; got {part.dtype} of {part.shape}")
        wrong = np.flatnonzero((part < 0) | (part >= (n_symbols or np.inf)))
        if len(wrong):
            known = "at least 0" if n_symbols is None else f"from 0 to {n_symbols - 1}"
            raise ValueError(f"symbol {part[wrong[0]]} of sequence {i}, position {wrong[0]}, must be {known}")
    return np.concatenate(parts).astype(np.int64), np.cumsum([0, *map(len, parts)])


def expected_counts(symbols, ends, start, transitions, emissions):
    """One E-step: ln P of all, and expected counts of first states, pairs of states, and symbols of states.

    ValueError if a sequence is impossible.
    """
    forward, weighted = np.empty((2, len(symbols), len(start)))
    of_symbol = np.zeros(emissions.shape[::-1])
    tables = start, transitions, transitions.T.copy(), emissions.T.copy()
    log_likelihood = _both_ways(symbols, ends, *tables, forward, weighted, of_symbol)
    if log_likelihood == -np.inf:
        raise ValueError("sequences must be possible: the emissions or transitions given make one impossible")
    of_start = (forward[ends[:-1]] * weighted[ends[:-1]]).sum(axis=0)
    weighted[ends[:-1]] = 0.0  # no pair of states is of two sequences
    return log_likelihood, of_start, forward[:-1].T @ weighted[1:] * transitions, of_symbol.T


@compiled(error_model="numpy")
def _both_ways(symbols, ends, start, transitions, sources, emitters, forward, weighted, of_symbol):
    """Forward and backward through all sequences; fills the last three arrays, and returns ln P of all.

    P(state t, state t + 1 | symbols) is forward[t] * transitions * weighted[t + 1] within a sequence, and P(its first
    state | symbols) is forward * weighted there.
    """
    n, total, inverse = len(start), 0.0, np.empty(len(symbols))
    for s in range(len(ends) - 1):
        first, end = ends[s], ends[s + 1]
        total += _forward(symbols, first, end, start, sources, emitters, forward, inverse)
        for t in range(end - 1, first - 1, -1):
            symbol, scale = symbols[t], inverse[t]
            for i in range(n):
                p = 1.0
                if t < end - 1:
                    p = 0.0
                    for j in range(n):
                        p += transitions[i, j] * weighted[t + 1, j]
                weighted[t, i] = emitters[symbol, i] * scale * p if t > first else p
                of_symbol[symbol, i] += forward[t, i] * p
    return total


@compiled(error_model="numpy")
def _forward(symbols, first, end, start, sources, emitters, forward, inverse):
    """Fill rows of `forward`, in proportion to P(state, symbols so far), and of `inverse`, by which each was scaled.

    Scaled are rows with small sums, and the last one, whose sum is then 1. Returns ln P of the sequence.
    """
    n, total = len(start), 0.0
    for t in range(first, end):
        scale, symbol = 0.0, symbols[t]
        for j in range(n):
            p = start[j]
            if t > first:
                p = 0.0
                for i in range(n):
                    p += forward[t - 1, i] * sources[j, i]
            p *= emitters[symbol, j]
            forward[t, j] = p
            scale += p
        inverse[t] = 1.0
        if scale < SMALL or t == end - 1:
            total += np.log(scale)
            inverse[t] = 1.0 / max(scale, LEAST)
            for j in range(n):
                forward[t, j] *= inverse[t]
    return total


def log_likelihoods(symbols, ends, start, transitions, emissions):
    """Ln P of each sequence."""
    room = np.empty((len(symbols), len(start))), np.empty(len(symbols))
    tables = start, transitions.T.copy(), emissions.T.copy()
    spans = zip(ends[:-1], ends[1:], strict=True)
    return np.array([_forward(symbols, first, end, *tables, *room) for first, end in spans])


def likeliest_states(symbols, start, transitions, emissions):
    """Viterbi's path through a sequence, from the logarithms of the tables."""
    best, sources = start + emissions[:, symbols[0]], []
    for symbol in symbols[1:]:
        through = best[:, None] + transitions
        sources.append(through.argmax(axis=0))
        best = through.max(axis=0) + emissions[:, symbol]
    states = [best.argmax()]
    for source in reversed(sources):
        states.append(source[states[-1]])
    return np.array(states[::-1])


def sample_sequence(start, transitions, emissions, length, rng):
    """Symbols and states of one sequence of a hidden Markov model.

    Parameters
    ----------
    start : ndarray of shape (n_states,)
    transitions : ndarray of shape (n_states, n_states)
    emissions : ndarray of shape (n_states, n_symbols)
    length : int, at least 1
    rng : numpy.random.Generator

    Returns
    -------
    symbols, states : ndarrays of int, shape (length,)
    """
    draws = check_generator("rng", rng).random((2, check_integer("length", length, 1)))
    bounds = [np.cumsum(np.atleast_2d(table), axis=1)[:, :-1].tolist() for table in (start, transitions, emissions)]
    states, row = [], bounds[0][0]
    for draw in draws[0].tolist():
        states.append(bisect_left(row, draw))
        row = bounds[1][states[-1]]
    symbols = [bisect_left(bounds[2][state], draw) for state, draw in zip(states, draws[1].tolist(), strict=True)]
    return np.array(symbols), np.array(states)
