"""Hidden Markov models of sequences of symbols, fitted by EM (the Baum-Welch algorithm)."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lib.base.estimators import with_parameters
from lib.base.validation import check_integer, check_real, optional
from lib.hidden_markov.factored_transitions import FactoredTransitions
from lib.hidden_markov.forward_backward import expected_counts, log_likelihoods
from lib.hidden_markov.probability_tables import (
    check_tables,
    logarithms,
    normalise_rows,
    probabilities,
    to_array,
)
from lib.hidden_markov.symbol_sequences import joined
from lib.hidden_markov.viterbi import likeliest_states

MOST_SMOOTHING = 1e100  # sums of expected counts stay finite


class ModelTables(NamedTuple):
    """What EM learns.

    Attributes
    ----------
    start : ndarray of shape (1, n_states)
    emissions : ndarray of shape (n_states, n_symbols)
    tables : list of ndarrays
        Of which the transitions are made.
    """

    start: np.ndarray  # pi in Rabiner (1989)
    emissions: np.ndarray  # B
    tables: list  # of A


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
        P(symbol | state) where it is known; then it is not learned. Or a mask of bool: which
        symbols each state can make, from which it is learned.
    smoothing : float, from 0 to 1e100
        Added to each expected count of what can occur.
    n_restarts : int, at least 1
        Random starts; the likeliest run is kept.
    max_iterations : int, at least 1
        Of one run; a ConvergenceWarning is given if the best run reaches it.
    tolerance : float, at least 0
        A run ends when an iteration gains less than this per symbol in log likelihood plus log
        prior; with 0 there is no warning.
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

    `start_`, `transitions_` and `emissions_` can also be set by hand, instead of by `fit`.

    A halting state, which ends a string, is a state that alone makes a symbol with which each
    string ends, and makes no other: `left_to_right` has the masks of such a model.

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

    def __sklearn_tags__(self):
        """Tags of an estimator of sequences, which are no table."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

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
        transition_model, mask = self._check_parameters()
        n_symbols = optional(check_integer, "n_symbols", self.n_symbols, 1)
        emissions = None
        emission_mask = 1.0  # no mask
        if self.emissions is not None:
            emissions, emission_mask = self._check_emissions(n_symbols)
            n_symbols = emission_mask.shape[1]
        symbols, ends = joined(sequences, n_symbols)
        n_symbols = n_symbols or int(symbols.max()) + 1
        rng = check_random_state(self.random_state)
        starts = [
            self._random_parameters(
                transition_model, mask, emissions, emission_mask, n_symbols, rng
            )
            for _ in range(self.n_restarts)
        ]
        runs = [self._baum_welch(symbols, ends, transition_model, start) for start in starts]
        self.traces_ = [trace for _, trace in runs]
        # the run whose objective ends highest
        parameters, best_trace = max(runs, key=lambda run: run[1][-1])
        self.start_ = parameters.start[0]
        self.emissions_ = parameters.emissions
        self.tables_ = parameters.tables
        self.transitions_ = transition_model.matrix(self.tables_)
        if len(best_trace) == self.max_iterations > 1 and self.tolerance > 0:
            message = (
                f"EM did not converge in {self.max_iterations} iterations; "
                "raise max_iterations or tolerance"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def _check_parameters(self):
        """Return the model of the transitions and the mask of its first tables (1.0: no mask)."""
        n_states = check_integer("n_states", self.n_states, 1)
        check_integer("n_restarts", self.n_restarts, 1)
        check_integer("max_iterations", self.max_iterations, 1)
        check_real("tolerance", self.tolerance, 0)
        check_real("smoothing", self.smoothing, 0, MOST_SMOOTHING)
        if isinstance(self.transitions, FactoredTransitions):
            expected = self.transitions.n_states
            if expected != n_states:
                raise ValueError(
                    f"n_states must be {expected}, as transitions have it; got {n_states}"
                )
            return self.transitions, 1.0
        # a state of one variable, whose table is the matrix of transitions
        one_table = FactoredTransitions("product", (n_states,))
        if isinstance(self.transitions, str) and self.transitions == "full":
            return one_table, np.ones((n_states, n_states), bool)
        return one_table, self._check_mask(n_states)

    def _check_mask(self, n_states):
        """Return `transitions` as a mask with a True in each row, or raise ValueError."""
        mask = to_array("transitions", self.transitions)
        if mask.shape != (n_states, n_states) or mask.dtype != bool:
            raise ValueError(
                'transitions must be "full", FactoredTransitions, or a mask '
                f"({n_states}, {n_states}) of True and False; got {self.transitions!r}"
            )
        _check_rows("transitions must have a transition from each state", mask)
        return mask

    def _check_emissions(self, n_symbols):
        """Return known emissions, or None, and the mask of what can occur, or raise ValueError."""
        table = to_array("emissions", self.emissions)
        if table.dtype != bool:
            known = probabilities("emissions", self.emissions, (self.n_states, n_symbols))
            return known, known > 0
        if table.ndim != 2 or table.shape != (self.n_states, n_symbols or table.shape[1]):
            raise ValueError(
                f"emissions, a mask, must have shape ({self.n_states}, "
                f"{n_symbols or 'n_symbols'}); "
                f"got {table.shape}"
            )
        _check_rows("emissions must have a symbol for each state", table)
        return None, table

    def _random_parameters(self, transition_model, mask, emissions, emission_mask, n_symbols, rng):
        """Draw parameters from which EM starts; emissions are those given, if any."""

        def random_table(shape):
            # rows from Dirichlet(2, ..., 2), in which few probabilities are near 0
            return normalise_rows(rng.gamma(2.0, size=shape))

        start = random_table((1, self.n_states))
        random_emissions = random_table((self.n_states, n_symbols))
        random_emissions = normalise_rows(random_emissions * emission_mask)
        tables = [random_table(shape) for shape in transition_model.shapes()]
        # what the mask rules out starts at 0, where EM leaves it
        return ModelTables(
            start=start,
            emissions=random_emissions if emissions is None else emissions,
            tables=[normalise_rows(table * mask) for table in tables],
        )

    def _baum_welch(self, symbols, ends, transition_model, parameters):
        """EM from some parameters; returns those where it ends, and the trace of the objective."""
        trace = []
        for _ in range(self.max_iterations):
            # E step, which is the forward-backward algorithm
            log_likelihood, *counts = expected_counts(
                symbols,
                ends,
                start=parameters.start[0],
                transitions=transition_model.matrix(parameters.tables),
                emissions=parameters.emissions,
            )
            trace.append(log_likelihood + self.smoothing * self._log_prior(parameters))
            if len(trace) > 1 and trace[-1] - trace[-2] < self.tolerance * len(symbols):
                break
            parameters = self._m_step(transition_model, parameters, *counts)
        return parameters, np.array(trace)

    def _learns_emissions(self):
        return self.emissions is None or np.asarray(self.emissions).dtype == bool

    def _log_prior(self, parameters):
        """Sum of the logarithms of all probabilities that are learned and above 0.

        Times `smoothing` it is the logarithm of a Dirichlet prior, but for a constant.
        """
        tables = [parameters.start]
        if self._learns_emissions():
            tables.append(parameters.emissions)
        tables += parameters.tables
        return sum(float(np.log(table[table > 0]).sum()) for table in tables)

    def _m_step(self, transition_model, parameters, start_counts, pair_counts, symbol_counts):
        """M step: parameters in proportion to expected counts, Rabiner's Eq. 40a to 40c.

        What is 0 stays 0, and a row without any count stays as it is.
        """

        def reestimate(counts, table):
            return normalise_rows(counts + self.smoothing * (table > 0), table)

        emissions = parameters.emissions
        if self._learns_emissions():
            emissions = reestimate(symbol_counts, emissions)
        table_counts = transition_model.counts(pair_counts, parameters.tables)
        pairs = zip(table_counts, parameters.tables, strict=True)
        return ModelTables(
            start=reestimate(start_counts[None], parameters.start),
            emissions=emissions,
            tables=[reestimate(counts, table) for counts, table in pairs],
        )

    def score_samples(self, sequences):
        """Ln P of each sequence, (n_sequences,); -inf for a sequence of probability 0."""
        start, transitions, emissions = self._fitted_tables()
        symbols, ends = joined(sequences, emissions.shape[1])
        return log_likelihoods(symbols, ends, start, transitions, emissions)

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
        start, transitions, emissions = self._fitted_tables()
        symbols, ends = joined(sequences, emissions.shape[1])
        log_tables = logarithms(start, transitions, emissions)
        paths = []
        for i, sequence in enumerate(np.split(symbols, ends[1:-1])):
            path = likeliest_states(sequence, *log_tables)
            if path is None:
                raise ValueError(
                    f"sequence {i} is impossible: no path of states has a probability above 0"
                )
            paths.append(path)
        return paths

    def _fitted_tables(self):
        """Start, transitions and emissions, checked again, as they may have been set by hand."""
        check_is_fitted(self, ["start_", "transitions_", "emissions_"])
        return check_tables(self.start_, self.transitions_, self.emissions_, "_")


def left_to_right(n_letters, n_symbols):
    """Masks of a model that goes through its states from left to right, and halts.

    From a state it goes to itself, to the next one, or past that to the one after it. The last
    state is the halting state of which the last symbol tells: it makes no other, and no other state
    makes it.

    Parameters
    ----------
    n_letters : int, at least 1
        States beside the halting one.
    n_symbols : int, at least 2
        Size of the alphabet, with the symbol that ends a string.

    Returns
    -------
    transitions : ndarray of bool, shape (n_letters + 1, n_letters + 1)
    emissions : ndarray of bool, shape (n_letters + 1, n_symbols)

    Raises
    ------
    ValueError
        If a number is too small.

    References
    ----------
    Rabiner (1989), section IV.A; the halting state is as in Dietterich (1997), section 5.4.2.
    """
    n_letters = check_integer("n_letters", n_letters, 1)
    n_symbols = check_integer("n_symbols", n_symbols, 2)
    state = np.arange(n_letters + 1)
    step = state - state[:, None]
    emissions = np.ones((n_letters + 1, n_symbols), bool)
    emissions[:, -1] = False
    emissions[-1] = False
    emissions[-1, -1] = True
    return (step >= 0) & (step <= 2), emissions


def _check_rows(rule, mask):
    """Raise ValueError, which says the rule, unless each row of a mask has a True."""
    has_one = mask.any(axis=1)
    if not has_one.all():
        raise ValueError(f"{rule}; row {int(has_one.argmin())} has no True")
