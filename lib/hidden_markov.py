"""Hidden Markov models over letters, with transitions of one table, or of two variables that make up the state."""

import math
import reprlib
import warnings
from bisect import bisect_left
from functools import reduce

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lib.compiled import compiled
from lib.estimators import with_parameters
from lib.validation import check_choice, check_generator, check_integer, check_real, optional

SMALL = 1e-30  # forward probabilities whose sum is below it are scaled to sum to 1
LEAST = float(np.finfo(float).tiny)  # they are not scaled by more than its reciprocal
# forward probabilities below it may have lost digits, or be 0, and their reciprocals overflow in
# sums
TINY = 1e-290
NEGLIGIBLE = 1e-25  # part of P(sequence) that paths through states with such probabilities may have
# a larger alphabet, of which the sequences cannot hold all symbols, must be asked for
MANY_SYMBOLS = 1_000_000
MOST_SMOOTHING = 1e100  # sums of expected counts stay finite


class FactoredTransitions:
    """How the state, made up of two variables, moves on: which tables there are and how they make one.

    Parameters
    ----------
    kind : {"product", "independent", "action"}
        "product": one table over all pairs of values. "independent": each variable has a table of
        its own and both move at each step. "action": at each step exactly one of the variables
        moves, the first one with a probability that is learned, and the other stays; which one it
        was is not seen.
    sizes : tuple of int
        Values of each variable; state i of the first and j of the second is i * sizes[1] + j.
        "product" takes any number of variables.

    Raises
    ------
    ValueError
        If the kind is none of these, or `sizes` are not numbers of at least 1, two of them unless
        it is "product".
    """

    def __init__(self, kind, sizes):
        self.kind = check_choice("kind", kind, ("product", "independent", "action"))
        self.sizes = tuple(
            check_integer("sizes", size, 1) for size in (sizes if np.iterable(sizes) else ())
        )
        if not self.sizes:
            raise ValueError(
                f"sizes must hold the number of values of each variable; got {sizes!r}"
            )
        if kind != "product" and len(self.sizes) != 2:
            raise ValueError(
                f"sizes must be of two variables for {kind!r} transitions; got {sizes!r}"
            )
        self.n_states = math.prod(self.sizes)
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
        others = [
            axis for axis in range(2 * len(self._factors)) if axis % len(self._factors) != variable
        ]
        return counts.reshape(self._factors * 2).sum(axis=tuple(others))


@with_parameters
class HiddenMarkovModel(BaseEstimator):
    """Hidden Markov model of sequences of symbols, fitted by EM (Baum and Welch).

    Parameters
    ----------
    n_states : int, at least 1
    n_symbols : int, at least 1, optional
        Size of the alphabet; by default one more than the largest symbol that `fit` sees. An
        alphabet of more than 1,000,000 symbols, and of more than the sequences hold, must be given.
    transitions : "full", ndarray of bool of shape (n_states, n_states), or FactoredTransitions
        Which transitions can occur: all, those where the mask is True, or those that the tables
        allow.
    emissions : ndarray of shape (n_states, n_symbols), optional
        P(symbol | state) where it is known; then it is not learned.
    smoothing : float, from 0 to 1e100
        Added to each expected count.
    n_restarts : int, at least 1
        Random starts; the likeliest run is kept.
    max_iterations : int, at least 1
        Of one run; a ConvergenceWarning is given if the best run reaches it.
    tolerance : float, at least 0
        A run ends when an iteration gains less than this in log likelihood a symbol; with 0 there
        is no warning.
    random_state : int, RandomState or None

    Attributes
    ----------
    start_ : ndarray of shape (n_states,)
    transitions_ : ndarray of shape (n_states, n_states)
    emissions_ : ndarray of shape (n_states, n_symbols)
    tables_ : list of ndarrays
        What `transitions_` is made of: one table, or those of `FactoredTransitions`.
    traces_ : list of n_restarts ndarrays
        Log likelihood of the parameters at the start of each iteration, with the log prior of
        `smoothing`.

    Notes
    -----
    Forward and backward probabilities are scaled, a row of all states at a time. Where a state's
    share of a row underflows though paths through it may matter, as where states do not mix, those
    of the sequence are computed in logarithms, which takes about twenty times as long.

    `start_`, `transitions_` and `emissions_` can be set by hand, too, in place of `fit`.

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
            If a parameter is out of range, a sequence is empty, holds what is no symbol of the
            alphabet, or is impossible given `emissions` and `transitions`.

        Warns
        -----
        ConvergenceWarning
            If the best run ends at `max_iterations`.
        """
        model, mask = self._checked_model()
        n_symbols = optional(check_integer, "n_symbols", self.n_symbols, 1)
        emissions = None
        if self.emissions is not None:
            emissions = probabilities("emissions", self.emissions, (self.n_states, n_symbols))
            n_symbols = emissions.shape[1]
        symbols, ends = joined(sequences, n_symbols)
        n_symbols = n_symbols or int(symbols.max()) + 1
        rng = check_random_state(self.random_state)
        starts = [
            self._random_tables(model, mask, emissions, n_symbols, rng)
            for _ in range(self.n_restarts)
        ]
        runs = [self._climb(symbols, ends, model, tables) for tables in starts]
        self.traces_ = [trace for _, trace in runs]
        (start, self.emissions_, *self.tables_), best = max(runs, key=lambda run: run[1][-1])
        self.start_, self.transitions_ = start[0], model.matrix(self.tables_)
        if len(best) == self.max_iterations > 1 and self.tolerance > 0:
            message = f"EM did not converge in {self.max_iterations} iterations; raise max_iterations or tolerance"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def _checked_model(self):
        n = check_integer("n_states", self.n_states, 1)
        check_integer("n_restarts", self.n_restarts, 1)
        check_integer("max_iterations", self.max_iterations, 1)
        check_real("tolerance", self.tolerance, 0)
        check_real("smoothing", self.smoothing, 0, MOST_SMOOTHING)
        if isinstance(self.transitions, FactoredTransitions):
            if self.transitions.n_states != n:
                raise ValueError(
                    f"n_states must be {self.transitions.n_states}, as transitions have it; got {n}"
                )
            return self.transitions, 1.0
        if isinstance(self.transitions, str) and self.transitions == "full":
            return FactoredTransitions("product", (n,)), np.ones((n, n), bool)
        mask = _array("transitions", self.transitions)
        if mask.shape != (n, n) or mask.dtype != bool:
            wanted = f'"full", FactoredTransitions, or a mask ({n}, {n}) of True and False'
            raise ValueError(f"transitions must be {wanted}; got {self.transitions!r}")
        if not mask.any(axis=1).all():
            row = int(mask.any(axis=1).argmin())
            raise ValueError(
                f"transitions must have a transition from each state; row {row} has no True"
            )
        return FactoredTransitions("product", (n,)), mask

    def _random_tables(self, model, mask, emissions, n_symbols, rng):
        """Tables to start from: of the first state, the symbols (those given, if any), and the transitions."""
        n = self.n_states
        shapes = [(1, n), (n, n_symbols), *model.shapes()]
        start, learned, *tables = (normalised(rng.gamma(2.0, size=shape)) for shape in shapes)
        emissions = learned if emissions is None else emissions
        return [start, emissions, *(normalised(table * mask) for table in tables)]

    def _climb(self, symbols, ends, model, tables):
        """EM from some tables; returns the tables and the trace of the log likelihood."""
        trace = []
        for _ in range(self.max_iterations):
            start, emissions, *parts = tables
            likelihood, *counts = expected_counts(
                symbols, ends, start[0], model.matrix(parts), emissions
            )
            learned = tables if self.emissions is None else [start, *parts]
            prior = sum(float(np.log(table[table > 0]).sum()) for table in learned)
            trace.append(likelihood + self.smoothing * prior)
            if len(trace) > 1 and trace[-1] - trace[-2] < self.tolerance * len(symbols):
                break
            counts = [counts[0][None], counts[2], *model.counts(counts[1], parts)]
            pairs = zip(counts, tables, strict=True)
            tables = [
                normalised(count + self.smoothing * (table > 0), table) for count, table in pairs
            ]
            tables[1] = tables[1] if self.emissions is None else emissions
        return tables, np.array(trace)

    def score_samples(self, sequences):
        """Ln P of each sequence, (n_sequences,); -inf for one that the model cannot make."""
        tables = self._tables()
        return log_likelihoods(*joined(sequences, tables[2].shape[1]), *tables)

    def score(self, sequences, y=None):
        """Ln P of all sequences together; `y` is ignored."""
        return float(self.score_samples(sequences).sum())

    def decode(self, sequences):
        """The likeliest states of each sequence (Viterbi), a list of arrays.

        Raises
        ------
        ValueError
            If the model cannot make a sequence (of which `score_samples` says -inf): then no path
            is likelier than another.
        """
        tables = self._tables()
        symbols, ends = joined(sequences, tables[2].shape[1])
        logs = logarithms(*tables)
        paths = []
        for i, part in enumerate(np.split(symbols, ends[1:-1])):
            paths.append(likeliest_states(part, *logs))
            if paths[-1] is None:
                raise ValueError(
                    f"sequence {i} is impossible: no path of states has a probability above 0"
                )
        return paths

    def _tables(self):
        """Probabilities of first states, transitions and emissions; they may have been set by hand."""
        check_is_fitted(self, ["start_", "transitions_", "emissions_"])
        return _checked_tables(self.start_, self.transitions_, self.emissions_, "_")


def normalised(counts, before=0.0):
    """Rows divided by their sums; one that is all zero stays as it was before."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1), before)


def _array(name, value, dtype=None):
    """Return an array, or raise ValueError that names the parameter."""
    try:
        return np.array(value, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of one shape and type ({error}); got {reprlib.repr(value)}"
        ) from error


def probabilities(name, table, shape):
    """Return `table` as an array of floats of which each row is a distribution, or raise ValueError.

    The last number of `shape` is None where rows may have any length of at least 1.
    """
    table = _array(name, table, float)
    if shape[-1] is None:
        shape = (*shape[:-1], max((1, *table.shape[-1:])))
    if table.shape != shape:
        raise ValueError(
            f"{name} must have shape {shape}, and rows that sum to 1; got shape {table.shape}"
        )
    rows = np.atleast_2d(table)
    is_wrong = ~((rows >= 0) & (rows < np.inf))
    sums = np.where(is_wrong.any(axis=1), np.nan, rows.sum(axis=1))
    for i in np.flatnonzero(~(np.abs(sums - 1) <= 1e-6)):
        place = f"row {i} of {name}" if table.ndim == 2 else name
        found = (
            f"got {rows[i][is_wrong[i]][0]}" if is_wrong[i].any() else f"they sum to {sums[i]:.9g}"
        )
        raise ValueError(f"{place} must have numbers of at least 0 that sum to 1; {found}")
    return table


def _checked_tables(start, transitions, emissions, suffix=""):
    """Return the three tables of a model as arrays, or raise ValueError that names what is wrong."""
    start = probabilities("start" + suffix, start, (None,))
    n = len(start)
    transitions = probabilities("transitions" + suffix, transitions, (n, n))
    return start, transitions, probabilities("emissions" + suffix, emissions, (n, None))


def logarithms(*tables):
    """Logarithm of each table; that of 0 is -inf."""
    with np.errstate(divide="ignore"):
        return [np.log(table) for table in tables]


def joined(sequences, n_symbols=None):
    """All sequences one after the other, and where each begins and the last ends; ValueError names what is wrong."""
    if not np.iterable(sequences):
        raise ValueError(f"sequences must be a list of sequences of symbols; got {sequences!r}")
    parts = [_array(f"sequence {i}", sequence) for i, sequence in enumerate(sequences)]
    if not parts:
        raise ValueError("sequences must hold at least one sequence; got none")
    for i, part in enumerate(parts):
        if part.ndim != 1 or len(part) == 0 or part.dtype.kind not in "iu":
            raise ValueError(
                f"sequence {i} must be one row of at least one integer; got {part.dtype} of {part.shape}"
            )
        wrong = np.flatnonzero((part < 0) | (part >= (n_symbols or np.inf)))
        if len(wrong):
            known = "at least 0" if n_symbols is None else f"from 0 to {n_symbols - 1}"
            raise ValueError(
                f"symbol {part[wrong[0]]} of sequence {i}, position {wrong[0]}, must be {known}"
            )
    largest, n_steps = max(int(part.max()) for part in parts), sum(map(len, parts))
    if n_symbols is None and largest >= max(MANY_SYMBOLS, n_steps):
        remedy = "number the symbols that occur 0, 1, ..., or give n_symbols"
        raise ValueError(
            f"symbol {largest} is too large for {n_steps} steps without n_symbols; {remedy}"
        )
    return np.concatenate(parts).astype(np.int64), np.cumsum([0, *map(len, parts)])


def expected_counts(symbols, ends, start, transitions, emissions):
    """One E-step: ln P of all, and expected counts of first states, pairs of states, and symbols of states.

    ValueError if a sequence is impossible.
    """
    n = len(start)
    forward, weighted = np.empty((2, len(symbols), n))
    of_symbol, of_pair = np.zeros(emissions.shape[::-1]), np.zeros((n, n))
    tables = start, transitions, transitions.T.copy(), emissions.T.copy()
    is_lost = np.zeros(len(ends) - 1, dtype=bool)
    log_likelihood = _both_ways(symbols, ends, *tables, forward, weighted, of_symbol, is_lost)
    logs = logarithms(start, transitions, tables[-1]) if is_lost.any() else None
    for s in np.flatnonzero(is_lost):
        part = slice(ends[s], ends[s + 1])
        log_likelihood += _both_ways_in_logs(
            symbols[part], *logs, forward[part], weighted[part], of_symbol, of_pair
        )
    if log_likelihood == -np.inf:
        sequence = int(log_likelihoods(symbols, ends, start, transitions, emissions).argmin())
        made = "the emissions or transitions given make one impossible"
        raise ValueError(f"sequences must be possible: {made}, sequence {sequence}")
    of_start = (forward[ends[:-1]] * weighted[ends[:-1]]).sum(axis=0)
    weighted[ends[:-1]] = 0.0  # no pair of states is of two sequences
    of_pair += forward[:-1].T @ weighted[1:] * transitions
    return log_likelihood, of_start, of_pair, of_symbol.T


@compiled(error_model="numpy")
def _both_ways(
    symbols, ends, start, transitions, sources, emitters, forward, weighted, of_symbol, is_lost
):
    """Forward and backward through all sequences; fills `forward` and `weighted`, adds to `of_symbol`; returns ln P.

    P(state t, state t + 1 | symbols) is forward[t] * transitions * weighted[t + 1] within a
    sequence, and P(its first state | symbols) is forward * weighted there. Sequences for which
    numbers are too small are left out, and marked in `is_lost`.
    """
    n, total, inverse = len(start), 0.0, np.empty(len(symbols))
    for s in range(len(ends) - 1):
        first, end = ends[s], ends[s + 1]
        log_likelihood = _forward(symbols, first, end, start, sources, emitters, forward, inverse)
        if np.isnan(log_likelihood):
            is_lost[s] = True
            continue
        total += log_likelihood
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

    Scaled are rows with small sums, and the last one, whose sum is then 1. Returns ln P of the
    sequence; NaN if it and the rows may be wrong, as probabilities have underflowed that matter.
    """
    n, total, some_tiny = len(start), 0.0, False
    for t in range(first, end):
        scale, symbol = 0.0, symbols[t]
        for j in range(n):
            p = start[j]
            if t > first:
                p = 0.0
                for i in range(n):
                    p += forward[t - 1, i] * sources[j, i]
            p *= emitters[symbol, j]
            if p < TINY:
                some_tiny |= emitters[symbol, j] > 0
            forward[t, j] = p
            scale += p
        inverse[t] = 1.0
        if scale < SMALL or t == end - 1:
            total += np.log(scale)
            inverse[t] = 1.0 / max(scale, LEAST)
            for j in range(n):
                forward[t, j] *= inverse[t]
    if some_tiny and (
        total == -np.inf or _tiny_matter(symbols, first, end, sources, emitters, forward, inverse)
    ):
        return np.nan
    return total


@compiled(error_model="numpy")
def _tiny_matter(symbols, first, end, sources, emitters, forward, inverse):
    """Whether paths through states whose forward probabilities are below TINY may have a part in P(sequence).

    Such a state's probability at t, as scaled, is at most TINY * inverse[t]. That times P(symbols
    after t | state), as scaled, is the part of all paths through it, in relation to P(sequence) as
    computed. The second factor is bounded from above: whatever is positive is taken to be LEAST at
    least, so that nothing is lost backward.
    """
    n = sources.shape[0]
    after, bound = np.ones(n), np.ones(n)
    for t in range(end - 1, first - 1, -1):
        symbol, scale = symbols[t], inverse[t]
        for i in range(n):
            if t < end - 1:
                bound[i] = 0.0
                for j in range(n):
                    if sources[j, i] > 0 and after[j] > 0:
                        bound[i] += max(sources[j, i] * after[j], LEAST)
            is_tiny = forward[t, i] < TINY * scale and emitters[symbol, i] > 0
            if is_tiny and not TINY * scale * bound[i] < NEGLIGIBLE:
                return True
        for i in range(n):
            possible = emitters[symbol, i] > 0 and bound[i] > 0
            after[i] = max(emitters[symbol, i] * scale * bound[i], LEAST) if possible else 0.0
    return False


@compiled(error_model="numpy")
def _both_ways_in_logs(
    symbols, start, transitions, emitters, forward, weighted, of_symbol, of_pair
):
    """Do for one sequence what `_both_ways` does, from the logarithms of the tables.

    From the first state on, P(state t + 1 | state t, all symbols) is in proportion to the
    transition and to what is ahead. Pairs are added to `of_pair`; therefore rows of `weighted`
    after the first are 0.
    """
    n, ahead = len(start), np.empty(forward.shape)
    log_likelihood = _log_backward(symbols, start, transitions, emitters, ahead)
    if log_likelihood == -np.inf:
        return log_likelihood
    for t in range(len(symbols)):
        for j in range(n):
            forward[t, j] = 0.0
            weighted[t, j] = 1.0 if t == 0 else 0.0
        if t == 0:
            _share_out(1.0, start, ahead[t], forward[t], np.zeros(n))
        else:
            for i in range(n):
                if forward[t - 1, i] > 0:
                    _share_out(forward[t - 1, i], transitions[i], ahead[t], forward[t], of_pair[i])
        for j in range(n):
            of_symbol[symbols[t], j] += forward[t, j]
    return log_likelihood


@compiled(error_model="numpy")
def _share_out(p, log_prior, ahead, of_state, of_pair):
    """Add `p` to two vectors of states, shared out in proportion to the exponentials of log_prior + ahead."""
    terms = np.empty(len(ahead))
    for j in range(len(ahead)):
        terms[j] = log_prior[j] + ahead[j]
    total = _log_sum(terms)
    for j in range(len(ahead)):
        share = p * np.exp(terms[j] - total)
        of_state[j] += share
        of_pair[j] += share


@compiled(error_model="numpy")
def _log_backward(symbols, start, transitions, emitters, ahead):
    """Ln P of a sequence, from the logarithms of the tables; fills `ahead`, of shape (n_symbols, n_states).

    Row t is ln P(symbols from t on | state t), but for the largest ln P(symbols after t | state t),
    which is taken off so that numbers stay small and have more digits behind the point.
    """
    n, log_likelihood = len(start), 0.0
    after, terms = np.zeros(n), np.empty(n)
    for t in range(len(symbols) - 1, -1, -1):
        if t < len(symbols) - 1:
            for i in range(n):
                for j in range(n):
                    terms[j] = transitions[i, j] + ahead[t + 1, j]
                after[i] = _log_sum(terms)
        largest = after.max()
        if largest == -np.inf:
            return -np.inf
        log_likelihood += largest
        for i in range(n):
            ahead[t, i] = emitters[symbols[t], i] + after[i] - largest
    for i in range(n):
        terms[i] = start[i] + ahead[0, i]
    return log_likelihood + _log_sum(terms)


@compiled(error_model="numpy")
def _log_sum(terms):
    """Logarithm of a sum, from the logarithms of its terms."""
    largest, total = terms.max(), 0.0
    if largest == -np.inf:
        return -np.inf
    for term in terms:
        total += np.exp(term - largest)
    return largest + np.log(total)


def log_likelihoods(symbols, ends, start, transitions, emissions):
    """Ln P of each sequence."""
    forward, inverse = np.empty((len(symbols), len(start))), np.empty(len(symbols))
    sources, emitters = transitions.T.copy(), emissions.T.copy()
    tables = start, sources, emitters, forward, inverse
    spans = zip(ends[:-1], ends[1:], strict=True)
    values = np.array([_forward(symbols, first, end, *tables) for first, end in spans])
    is_lost = np.isnan(values)
    logs = logarithms(start, transitions, emitters) if is_lost.any() else None
    for s in np.flatnonzero(is_lost):
        part = slice(ends[s], ends[s + 1])
        # room that nobody needs any more
        values[s] = _log_backward(symbols[part], *logs, forward[part])
    return values


def likeliest_states(symbols, start, transitions, emissions):
    """Viterbi's path through a sequence, from the logarithms of the tables; None if none is possible."""
    best, sources = start + emissions[:, symbols[0]], []
    for symbol in symbols[1:]:
        through = best[:, None] + transitions
        sources.append(through.argmax(axis=0))
        best = through.max(axis=0) + emissions[:, symbol]
    states = [best.argmax()]
    if best[states[0]] == -np.inf:
        return None
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

    Raises
    ------
    ValueError
        If an argument is out of range, shapes disagree, or a row of a table is no distribution.
    """
    tables = _checked_tables(start, transitions, emissions)
    draws = check_generator("rng", rng).random((2, check_integer("length", length, 1)))
    bounds = [np.cumsum(np.atleast_2d(table), axis=1)[:, :-1].tolist() for table in tables]
    states, row = [], bounds[0][0]
    for draw in draws[0].tolist():
        states.append(bisect_left(row, draw))
        row = bounds[1][states[-1]]
    symbols = [
        bisect_left(bounds[2][state], draw)
        for state, draw in zip(states, draws[1].tolist(), strict=True)
    ]
    return np.array(symbols), np.array(states)
