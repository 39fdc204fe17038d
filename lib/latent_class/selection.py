"""A richer model (Grove & Roth, section 9): EM, the number of hidden values chosen by the data."""

import numpy as np
from sklearn.utils import check_random_state

from lib.base.estimators import with_parameters
from lib.base.validation import check_choice, check_integer
from lib.cia import CIAModel
from lib.latent_class.base import LatentClassClassifier, log_likelihood
from lib.latent_class.em import check_search, random_starts, search


@with_parameters
class LatentClassSelection(LatentClassClassifier):
    """CIA model by EM, its number of hidden values chosen by BIC or by held-out likelihood.

    Parameters
    ----------
    criterion : {"bic", "heldout"}
        Smallest BIC = -2 log L + d log s, with d = k (n + 1) + k - 1 free parameters, or the
        largest likelihood of the last quarter of a random order of the sample under a fit to the
        rest.
    max_hidden : int, at least 2
        The values 2, 3, ..., max_hidden are tried in this order until the criterion gets worse.
    n_restarts, max_iterations, tolerance, random_state
        As in LatentClassEM, with fewer restarts and a larger tolerance, as several models are
        fitted; in float32.

    Attributes
    ----------
    n_hidden_ : int
    criterion_ : ndarray of shape (at most max_hidden - 1,)
        BIC or minus the held-out log likelihood of each number tried: the smallest is chosen.

    References
    ----------
    Schwarz (1978); Grove & Roth (1997), section 9.
    """

    criterion: str = "bic"
    max_hidden: int = 6
    n_restarts: int = 10
    max_iterations: int = 1000
    tolerance: float = 1e-5
    random_state: int | np.random.RandomState | None = None

    def _check_parameters(self):
        check_choice("criterion", self.criterion, ("bic", "heldout"))
        check_integer("max_hidden", self.max_hidden, 2)
        check_search(self)

    def _fit_model(self, rows, counts):
        rng = check_random_state(self.random_state)
        evaluate = self._bic if self.criterion == "bic" else self._heldout
        values = []
        models = []
        for k in range(2, self.max_hidden + 1):
            value, model = evaluate(rows, counts, k, rng)
            values.append(value)
            models.append(model)
            if k > 2 and values[-1] > values[-2]:
                break
        self.criterion_ = np.array(values)
        best = int(np.argmin(self.criterion_))
        self.n_hidden_ = best + 2
        model = models[best]
        if model is None:  # held-out likelihood: fit to all rows now
            model = self._best(rows, counts, self.n_hidden_, rng)
        return model.weights, model.probabilities

    def _best(self, rows, counts, k, rng):
        weights, probabilities = random_starts(self.n_restarts, k, rows.shape[1], rng)
        weights, probabilities, _, best = search(
            rows, counts, weights, probabilities, self.max_iterations, self.tolerance
        )
        return CIAModel(weights[best], probabilities[best])

    def _bic(self, rows, counts, k, rng):
        model = self._best(rows, counts, k, rng)
        n_parameters = k * rows.shape[1] + k - 1
        penalty = n_parameters * np.log(counts.sum())
        return -2 * log_likelihood(model, rows, counts) + penalty, model

    def _heldout(self, rows, counts, k, rng):
        order = np.repeat(np.arange(len(rows)), counts.astype(int))
        order = order[np.random.RandomState(rng.randint(2**31 - 1)).permutation(len(order))]
        cut = max(1, (3 * len(order)) // 4)
        train_counts = np.bincount(order[:cut], minlength=len(rows)).astype(float)
        test_counts = np.bincount(order[cut:], minlength=len(rows)).astype(float)
        model = self._best(rows, train_counts, k, rng)
        # a value that the training rows lack is not impossible
        floor = 1 / (train_counts.sum() + 2)
        model = CIAModel(model.weights, np.clip(model.probabilities, floor, 1 - floor))
        return -log_likelihood(model, rows, test_counts), None
