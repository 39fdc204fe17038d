"""Many classes by questions of two: error-correcting output codes, and boosting with colourings or pseudo-loss."""

import numpy as np
from scipy.spatial.distance import pdist

from lib.ensembles.adaboost import LEAST
from lib.ensembles.bagging import bags
from lib.ensembles.members import Ensemble
from lib.estimators import with_parameters
from lib.validation import check_choice, check_flag, check_integer

MOST = 7  # classes for which all words fit
N_CODES = 2000  # random codes, of which the best is taken


def exhaustive_code(n_classes):
    """All different ways to divide the classes in two, (n_classes, 2^(n_classes - 1) - 1) of 0 and 1."""
    n_classes = check_integer("n_classes", n_classes, 2, 16)
    words = np.arange(2 ** (n_classes - 1), 2**n_classes - 1)  # their binary digits, the first always 1, never all
    return (words >> np.arange(n_classes)[::-1, None] & 1).astype(np.int8)


def random_code(n_classes, n_bits, rng):
    """Of 2,000 random codes the one whose nearest rows differ most, (n_classes, n_bits); every bit divides the classes.

    Parameters
    ----------
    n_classes : int, at least 2
    n_bits : int, at least 1
    rng : numpy.random.RandomState
    """
    n_bits = check_integer("n_bits", n_bits, 1)

    def drawn():
        ones = rng.randint(1, n_classes, size=n_bits)
        return (rng.random_sample((n_classes, n_bits)).argsort(axis=0) < ones).astype(np.int8)

    codes = (drawn() for _ in range(N_CODES if n_classes > 2 else 1))
    return max(codes, key=lambda code: pdist(code, "cityblock").min())


@with_parameters
class OutputCode(Ensemble):
    """Each member learns one bit of the code words of the classes; the class with the nearest word is predicted.

    Parameters
    ----------
    learner : classifier
    code : "exhaustive", "random" or array of shape (n_classes, n_bits) of 0 and 1
        "exhaustive" needs at most 7 classes; with more, a random code is taken.
    n_bits : int
        Of a random code.
    decode : "probabilities" or "bits"
        Distance of a word to the members' probabilities of 1 (L1), or to their bits (Hamming).
    bagged : bool
        Each bit is learned from a bootstrap replicate of its own.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    code_ : ndarray of shape (n_classes, n_bits)
    estimators_ : list of fitted learners, one a bit

    References
    ----------
    Dietterich & Bakiri (1995).
    """

    code: str | np.ndarray = "exhaustive"
    n_bits: int = 63
    decode: str = "probabilities"
    bagged: bool = False

    soft_ = property(lambda self: self.decode == "probabilities")  # which may change when it has learned

    def fit(self, X, y):
        """Train a member for each bit on `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, a code that is given has not a different word for each class, or the
            learner refuses the data.
        """
        check_choice("decode", self.decode, ("probabilities", "bits"))
        check_flag("bagged", self.bagged)
        X, y, rng = self._start(X, y)
        self.code_ = self._words(len(self.classes_), rng)
        chosen = bags(len(y), self.code_.shape[1], "bootstrap" if self.bagged else "none", rng)
        return self._train(X, y, rng, self.code_.T, chosen)

    def _words(self, n_classes, rng):
        if n_classes == 1:
            return np.ones((1, 1), np.int8)
        if isinstance(self.code, str):
            kind = check_choice("code", self.code, ("exhaustive", "random"))
            exhaustive = kind == "exhaustive" and n_classes <= MOST
            return exhaustive_code(n_classes) if exhaustive else random_code(n_classes, self.n_bits, rng)
        code = np.asarray(self.code)
        if code.shape[:-1] != (n_classes,) or not np.isin(code, (0, 1)).all() or not pdist(code).all():
            raise ValueError(f"code must have a different word of 0 and 1 for each of {n_classes} classes; got {code}")
        return code.astype(np.int8)


@with_parameters
class PseudoLossBooster(Ensemble):
    """AdaBoost on weights of pairs: a row and a class that is not its own.

    A member finds some classes plausible for a row, h(x, c) in [0, 1]; `_plausible` of subclasses says which. Its
    pseudo-loss is half the weighted mean of 1 - h(x, y) + h(x, c), which multiplies the logarithm of the pair's weight
    by the member's vote.
    """

    n_members: int = 50

    def fit(self, X, y):
        """Train members on `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the learner refuses the data.
        """
        X, y, rng = self._start(X, y)
        n, k, own = len(y), len(self.classes_), (np.arange(len(y)), y)
        pairs = np.ones((n, k))
        pairs[own] = 0
        self.estimators_, self.questions_, votes = [], [], []
        for _ in range(self.n_members):
            pairs /= max(pairs.sum(), LEAST)
            question = self._question(k, rng)
            weights = (pairs * (question[y][:, None] != question)).sum(axis=1)
            p = weights / weights.sum() if weights.sum() > 0 else np.full(n, 1 / n)
            self.estimators_.append(self._member(X, question[y], rng, rng.choice(n, size=n, p=p)))
            self.questions_.append(question)
            plausible = self._plausible(self.estimators_[-1], question, X)
            doubt = 1 - plausible[own][:, None] + plausible
            loss = np.clip((pairs * doubt).sum() / 2, LEAST, 1 - LEAST)
            votes.append(np.log((1 - loss) / loss) / 2)
            pairs *= np.exp(votes[-1] * doubt)
        self.weights_ = np.array(votes)
        return self


class AdaBoostOC(PseudoLossBooster):
    """Boosting with output codes: each member learns which of two colours a class has, and is boosted by pseudo-loss.

    Half of the classes, drawn anew for each member, have either colour; plausible are the classes of the colour that a
    member predicts.

    Parameters
    ----------
    learner : classifier
    n_members : int, at least 1
    random_state : int, RandomState or None

    References
    ----------
    Schapire (1997), "Using output codes to boost multiclass learning problems".
    """

    def _question(self, k, rng):
        return (rng.permutation(k) < k // 2).astype(np.int64)


class AdaBoostM2(PseudoLossBooster):
    """Boosting by pseudo-loss: members learn all classes from the rows' weights and say how plausible each class is.

    Parameters
    ----------
    learner : classifier
        Its `predict_proba` is what it finds plausible.
    n_members : int, at least 1
    random_state : int, RandomState or None

    References
    ----------
    Freund & Schapire (1996), "Experiments with a new boosting algorithm".
    """

    soft_ = True

    def _question(self, k, rng):
        return np.arange(k)
