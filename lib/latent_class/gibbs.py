"""Naive Bayes with the class hidden, by Gibbs sampling: many draws of the parameters, not one."""

from itertools import permutations

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lib.base import arrays
from lib.base.compiled import assign, compiled
from lib.base.estimators import MixedInput
from lib.base.validation import check_flag, check_integer, check_real
from lib.discretize.columns import checked_frame
from lib.structures.encoding import DiscreteCoding


class LatentClassGibbs(MixedInput, DensityMixin, BaseEstimator):
    """Draws of a latent-class model's parameters from their posterior, given rows without a class.

    A sweep draws the parameters given the classes, and then the class of each row given the
    parameters; the first parameters come from the prior. Weights and tables have Dirichlet
    distributions (Beta ones, for two values).

    Parameters
    ----------
    n_hidden : int, from 2 to 8
        Hidden classes.
    n_burn : int, at least 0
        Sweeps that are not recorded.
    n_samples : int, at least 1
        Draws: sweeps that are recorded.
    prior : float, above 0 and at most 1e300
        Parameter of all Dirichlet priors; 1 is uniform.
    relabel : bool
        Whether the classes of each draw are renamed so that its tables are nearest to those of the
        draw with the highest posterior probability.
    random_state : int, RandomState or None

    Attributes
    ----------
    weights_ : ndarray of shape (n_samples, n_hidden)
    tables_ : ndarray of shape (n_samples, n_hidden, n_cells)
        P(value | class); the values of each attribute side by side.
    names_ : ndarray of shape (n_samples, n_hidden)
        Before they are renamed, class c of a draw is nearest to class `names_[draw, c]` of the draw
        with the highest posterior probability. With `relabel`, weights and tables are already in
        the order of that draw's classes.
    trace_ : ndarray of shape (n_burn + n_samples,)
        Log likelihood of the rows at each sweep.

    Notes
    -----
    A missing value is left out of its row.

    References
    ----------
    Dietterich (1997), section 5.3.3; the renaming is that of Marin, Mengersen & Robert (2005),
    section 5.
    """

    def __init__(
        self, n_hidden=2, n_burn=300, n_samples=1500, prior=1.0, relabel=False, random_state=None
    ):
        self.n_hidden = n_hidden
        self.n_burn = n_burn
        self.n_samples = n_samples
        self.prior = prior
        self.relabel = relabel
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw from the posterior.

        Parameters
        ----------
        X : (n_samples, n_attributes)
            Discrete columns.
        y : ignored

        Raises
        ------
        ValueError
            If a parameter is out of range, or `X` has fractions or infinity somewhere.
        """
        k = check_integer("n_hidden", self.n_hidden, 2, 8)
        n_burn = check_integer("n_burn", self.n_burn, 0)
        n_samples = check_integer("n_samples", self.n_samples, 1)
        prior = check_real("prior", self.prior, 0, 1e300, open_low=True)
        check_flag("relabel", self.relabel)
        X = checked_frame(self, X, reset=True)
        self._coding = DiscreteCoding(X)
        starts = np.cumsum([0, *self._coding.sizes])
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        self.weights_, tables, self.trace_ = _sweeps(
            self._cells(X), starts, k, n_burn, n_samples, prior, rng
        )
        self.tables_ = tables[:, :, :-1].copy()
        log_priors = (prior - 1) * (
            np.log(self.weights_).sum(axis=1) + np.log(self.tables_).sum(axis=(1, 2))
        )
        most_probable = (self.trace_[n_burn:] + log_priors).argmax()
        self.names_ = _nearest_names(self.tables_, most_probable)
        if self.relabel:
            order = np.argsort(self.names_, axis=1)
            self.weights_ = np.take_along_axis(self.weights_, order, axis=1)
            self.tables_ = np.take_along_axis(self.tables_, order[..., None], axis=1)
        return self

    def _cells(self, X):
        """Place of each value among those of all attributes, (rows, n_attributes), or -1."""
        codes = self._coding(X)
        return np.where(codes < 0, -1, codes + np.cumsum([0, *self._coding.sizes[:-1]]))

    def fit_predict(self, X, y=None):
        """Draw from the posterior, and return the class with most votes, (n_samples,).

        `y` is ignored; errors are those of `fit`.
        """
        return self.fit(X).predict(X)

    def predict_proba(self, X):
        """P(class | x) on average over the draws, (n_rows, n_hidden)."""
        return self._over_draws(X, lambda joint: softmax(joint, axis=2).mean(axis=1))

    def votes(self, X):
        """Share of the draws to which each class is the likeliest, (n_rows, n_hidden).

        Of several likeliest classes it is the first.
        """
        classes = np.arange(self.n_hidden)
        return self._over_draws(
            X, lambda joint: (joint.argmax(axis=2)[..., None] == classes).mean(axis=1)
        )

    def predict(self, X):
        """The class with most votes, (n_rows,)."""
        return self.votes(X).argmax(axis=1)

    def score_samples(self, X):
        """Ln of the mean over the draws of P(x), (n_rows,)."""
        return self._over_draws(
            X, lambda joint: logsumexp(joint, axis=(1, 2)) - np.log(joint.shape[1])
        )

    def score(self, X, y=None):
        """The mean of `score_samples`; `y` is ignored."""
        return float(self.score_samples(X).mean())

    def _over_draws(self, X, summary):
        """Summarise ln P(x, class) of each row, draw and class, (n_rows, n_samples, n_hidden)."""
        check_is_fitted(self, "tables_")
        cells = self._cells(checked_frame(self, X, reset=False))
        n_cells = self.tables_.shape[2]
        # the last column is that of missing values
        indicators = np.zeros((len(cells), n_cells + 1))
        np.put_along_axis(indicators, cells, 1, axis=1)
        log_tables = np.log(self.tables_).reshape(-1, n_cells)
        log_weights = np.log(self.weights_)
        summaries = []
        for batch in arrays.row_batches(len(cells), 32 * len(log_tables)):
            log_likelihoods = indicators[batch, :-1] @ log_tables.T
            summaries.append(summary(log_likelihoods.reshape(-1, *log_weights.shape) + log_weights))
        return np.concatenate(summaries)


def _nearest_names(tables, pivot):
    """For each draw the names of its classes that bring its tables nearest to those of `pivot`."""
    n_hidden = tables.shape[1]
    distances = ((tables[:, :, None] - tables[pivot]) ** 2).sum(axis=3)
    namings = np.array(list(permutations(range(n_hidden))))
    costs = sum(distances[:, a, namings[:, a]] for a in range(n_hidden))
    return namings[costs.argmin(axis=1)]


@compiled()
def _sweeps(cells, starts, k, n_burn, n_samples, prior, rng):
    """Make the sweeps; return weights, tables and log likelihoods.

    The shapes are (n_samples, k), (n_samples, k, n_cells + 1) and (n_burn + n_samples,). The last
    cell of the tables is that of missing values, which are certain.
    """
    n_cells = starts[-1]
    all_weights = np.empty((n_samples, k))
    all_tables = np.empty((n_samples, k, n_cells + 1))
    trace = np.zeros(n_burn + n_samples)
    mass = np.empty(k)
    class_counts = np.zeros(k)
    cell_counts = np.zeros((k, n_cells + 1))
    for sweep in range(n_burn + n_samples):
        weights, tables = _draw_parameters(starts, prior, class_counts, cell_counts, rng)
        if sweep >= n_burn:
            assign(all_weights[sweep - n_burn], weights)
            assign(all_tables[sweep - n_burn].reshape(-1), tables.reshape(-1))
        log_tables = np.log(tables)
        log_weights = np.log(weights)
        class_counts = np.zeros(k)
        cell_counts = np.zeros((k, n_cells + 1))
        for i in range(len(cells)):
            # P(class | row), but for a factor
            largest = -np.inf
            for c in range(k):
                mass[c] = log_weights[c]
                for j in range(len(starts) - 1):
                    mass[c] += log_tables[c, cells[i, j]]
                largest = max(largest, mass[c])
            total = 0.0
            for c in range(k):
                mass[c] = np.exp(mass[c] - largest)
                total += mass[c]
            trace[sweep] += np.log(total) + largest
            # the class where a uniform number falls in the cumulative mass
            remainder = rng.random() * total - mass[0]
            label = 0
            while remainder > 0 and label < k - 1:
                label += 1
                remainder -= mass[label]
            class_counts[label] += 1
            for j in range(len(starts) - 1):
                cell_counts[label, cells[i, j]] += 1
    return all_weights, all_tables, trace


@compiled()
def _draw_parameters(starts, prior, class_counts, cell_counts, rng):
    """Draw weights and tables from their Dirichlet distributions given counts.

    Independent gamma variables, divided by their sum, have a Dirichlet distribution.
    """
    weights = np.empty(len(class_counts))
    tables = np.ones(cell_counts.shape)
    for c in range(len(weights)):
        weights[c] = max(rng.standard_gamma(prior + class_counts[c]), 1e-300)
        for cell in range(starts[-1]):
            tables[c, cell] = max(rng.standard_gamma(prior + cell_counts[c, cell]), 1e-300)
        for j in range(len(starts) - 1):
            total = tables[c, starts[j] : starts[j + 1]].sum()
            for cell in range(starts[j], starts[j + 1]):
                tables[c, cell] /= total
    return weights / weights.sum(), tables
