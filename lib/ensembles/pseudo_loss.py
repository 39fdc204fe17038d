"""Boosting by pseudo-loss for many classes: AdaBoost.M2, and AdaBoost.OC with output codes."""

import numpy as np

from lib.base.estimators import with_parameters
from lib.ensembles.adaboost import LEAST_ERROR
from lib.ensembles.members import Ensemble


@with_parameters
class PseudoLossBooster(Ensemble):
    """AdaBoost on weights of pairs: a row, and a class that is not its own.

    A member finds some classes plausible for a row, h(x, c) in [0, 1]: those that it votes for.
    Its pseudo-loss is half the weighted mean of 1 - h(x, y) + h(x, c), which multiplies the
    logarithm of the pair's weight by the member's vote. Subclasses say by `_question(k, rng)` which
    label a member learns for each of k classes.
    """

    n_members: int = 50

    def fit(self, X, y):
        """Train members on `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the learner refuses the data.
        """
        X, y, rng = self._prepare(X, y)
        n_rows = len(y)
        n_classes = len(self.classes_)
        own_class = (np.arange(n_rows), y)
        # D in the papers: a weight for each row and wrong class
        pair_weights = np.ones((n_rows, n_classes))
        pair_weights[own_class] = 0
        self.estimators_ = []
        self.questions_ = []
        votes = []
        for _ in range(self.n_members):
            pair_weights /= max(pair_weights.sum(), LEAST_ERROR)
            question = self._question(n_classes, rng)
            p = _row_weights(pair_weights, question, y)
            rows = rng.choice(n_rows, size=n_rows, p=p)
            member = self._train_member(X, question[y], rng, rows)
            plausible = self._class_votes(member, question, X)  # h
            doubt = 1 - plausible[own_class][:, None] + plausible
            pseudo_loss = (pair_weights * doubt).sum() / 2
            pseudo_loss = np.clip(pseudo_loss, LEAST_ERROR, 1 - LEAST_ERROR)
            # alpha in Schapire (1997), half of log 1 / beta in Freund & Schapire (1996)
            vote = np.log((1 - pseudo_loss) / pseudo_loss) / 2
            pair_weights *= np.exp(vote * doubt)
            self.estimators_.append(member)
            self.questions_.append(question)
            votes.append(vote)
        self.weights_ = np.array(votes)
        return self


def _row_weights(pair_weights, question, y):
    """What rows are drawn by: the weights of the pairs that a question divides, as shares.

    They are equal where there is none, as with one class.
    """
    is_divided = question[y][:, None] != question
    weights = (pair_weights * is_divided).sum(axis=1)
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(y), 1 / len(y))


class AdaBoostOC(PseudoLossBooster):
    """Boosting with output codes: each member learns which of two colours a class has.

    Half of the classes, drawn again for each member, have either colour. Plausible are the classes
    of the colour that a member predicts, and the member is boosted by pseudo-loss.

    Parameters
    ----------
    learner : classifier
    n_members : int, at least 1
    random_state : int, RandomState or None

    Notes
    -----
    Beside the members' own, time and memory grow as rows times classes: each pair has a weight.

    References
    ----------
    Schapire (1997), "Using output codes to boost multiclass learning problems".
    """

    def _question(self, k, rng):
        return (rng.permutation(k) < k // 2).astype(np.int64)


class AdaBoostM2(PseudoLossBooster):
    """Boosting by pseudo-loss: members learn all classes and say how plausible each of them is.

    Parameters
    ----------
    learner : classifier
        Its `predict_proba` is what it finds plausible.
    n_members : int, at least 1
    random_state : int, RandomState or None

    Notes
    -----
    Beside the members' own, time and memory grow as rows times classes: each pair has a weight.

    References
    ----------
    Freund & Schapire (1996), "Experiments with a new boosting algorithm".
    """

    soft_ = True

    def _question(self, k, rng):
        return np.arange(k)
