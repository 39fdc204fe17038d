"""Many classes by questions of two: error-correcting output codes, and boosting with colourings or pseudo-loss."""

import numpy as np
from scipy.spatial.distance import pdist

from lib.ensembles.adaboost import LEAST
from lib.ensembles.bagging import bags
from lib.ensembles.members import Ensemble
from lib.estimators import with_parameters
from lib.validation import check_choice, check_flag, check_integer

MOST = 7  # classes for which all bits fit
MOST_LISTED = 16  # classes for which all bits can be listed
N_CODES = 2000  # random codes, of which the best is taken


def exhaustive_code(n_classes):
    """All different ways to divide the classes in two, (n_classes, 2^(n_classes - 1) - 1) of 0 and 1."""
    n_classes = check_integer("n_classes", n_classes, 2, MOST_LISTED)
    # their binary digits, the first always 1, never all
    words = np.arange(2 ** (n_classes - 1), 2**n_classes - 1)
    return _digits(words, n_classes).astype(np.int8)


def random_code(n_classes, n_bits, rng):
    """Of 2,000 random codes the first whose nearest words differ most, (n_classes, n_bits) of 0 and 1.

    Each bit is a random partition of the classes in two, all partitions being equally likely, as if
    a fair coin were thrown for each class. No two words are equal, no two bits are equal or
    complementary, and none is constant; a code of as many bits as there are partitions,
    2^(n_classes - 1) - 1, is the exhaustive one.

    Parameters
    ----------
    n_classes : int, at least 2
    n_bits : int
        At least log2(n_classes), or words could not differ, and at most 2^(n_classes - 1) - 1.
    rng : numpy.random.RandomState

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Dietterich (1997), section 2.1.3. Dietterich & Bakiri (1995) begin their search with coins; they
    ask for rows, and for columns and their complements, that differ.
    """
    n_classes = check_integer("n_classes", n_classes, 2)
    n_bits = _check_bits(n_bits, n_classes)
    if n_classes <= MOST_LISTED:
        partitions = exhaustive_code(n_classes)
        if n_bits == partitions.shape[1]:
            return partitions
    if 2**n_bits <= n_classes**2:  # coins would often throw a word twice
        codes = (_different_words(n_classes, n_bits, rng) for _ in range(N_CODES))
    elif n_classes <= MOST_LISTED:
        codes = (
            partitions[:, rng.permutation(partitions.shape[1])[:n_bits]] for _ in range(N_CODES)
        )
    else:
        codes = (_different_bits(n_classes, n_bits, rng) for _ in range(N_CODES))
    return max(codes, key=lambda code: pdist(code, "cityblock").min())


def _check_bits(n_bits, n_classes):
    """Return `n_bits` if so many different bits can tell the classes apart, or raise ValueError."""
    n_bits = check_integer("n_bits", n_bits, 1)
    fewest, most = (n_classes - 1).bit_length(), 2 ** (n_classes - 1) - 1
    if n_bits < fewest:
        reason = f"as {n_classes} classes need different words"
        raise ValueError(f"n_bits must be at least {fewest}, {reason}; got {n_bits}")
    if n_bits > most:
        reason = f"as there are no more ways to divide {n_classes} classes in two"
        raise ValueError(f"n_bits must be at most {most}, {reason}; got {n_bits}")
    return n_bits


def _different_words(n_classes, n_bits, rng):
    """Words drawn without repetition, again until no bit is constant and none equals another or its complement."""
    while True:
        code = _digits(rng.permutation(2**n_bits)[:n_classes], n_bits).T.astype(np.int8)
        # a constant bit is like the column of ones
        signs = np.column_stack([np.ones(n_classes), 2.0 * code - 1])
        if np.abs(np.triu(signs.T @ signs, 1)).max() < n_classes:
            return code


def _different_bits(n_classes, n_bits, rng):
    """Partitions drawn without repetition; the first class is always on the side of 1."""
    bits = {}  # by their bytes, which find equal ones
    while len(bits) < n_bits:
        coins = rng.randint(2, size=(n_bits, n_classes), dtype=np.int8)
        coins[:, 0] = 1
        for bit in coins[~coins.all(axis=1)]:
            bits.setdefault(bit.tobytes(), bit)
    return np.array(list(bits.values())[:n_bits]).T


def _digits(numbers, n_digits):
    """Binary digits of numbers, the highest first, (n_digits, n_numbers)."""
    return numbers >> np.arange(n_digits)[::-1, None] & 1


@with_parameters
class OutputCode(Ensemble):
    """Each member learns one bit of the code words of the classes; the class with the nearest word is predicted.

    Parameters
    ----------
    learner : classifier
    code : "exhaustive", "random" or array of shape (n_classes, n_bits) of 0 and 1
        "exhaustive" needs at most 7 classes; with more, a random code is taken (see `random_code`).
        Words of an array, one for each class in the order of `classes_`, must differ; its bits may
        be any, equal or constant ones too.
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

    # which may change when it has learned
    soft_ = property(lambda self: self.decode == "probabilities")

    def fit(self, X, y):
        """Train a member for each bit on `X` (n_samples, n_columns) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, a random code has fewer bits than words need or more
            than there are ways to divide the classes, a code that is given has not a different word
            for each class, or the learner refuses the data.
        """
        check_choice("decode", self.decode, ("probabilities", "bits"))
        check_flag("bagged", self.bagged)
        X, y, rng = self._start(X, y)
        self.code_ = self._words(len(self.classes_), rng)
        chosen = bags(len(y), self.code_.shape[1], "bootstrap" if self.bagged else "none", rng)
        return self._train(X, y, rng, self.code_.T, chosen)

    def _words(self, n_classes, rng):
        if isinstance(self.code, str):
            kind = check_choice("code", self.code, ("exhaustive", "random"))
            check_integer("n_bits", self.n_bits, 1)
            if n_classes == 1:
                return np.ones((1, 1), np.int8)
            exhaustive = kind == "exhaustive" and n_classes <= MOST
            return (
                exhaustive_code(n_classes)
                if exhaustive
                else random_code(n_classes, self.n_bits, rng)
            )
        message = f"code must have a different word of 0 and 1 for each of {n_classes} classes; got {self.code!r}"
        try:
            code = np.asarray(self.code, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(message) from error
        if code.shape[:-1] != (n_classes,) or not np.isin(code, (0, 1)).all():
            raise ValueError(message)
        if code.shape[1] == 0 or len(np.unique(code, axis=0)) < n_classes:
            raise ValueError(message)
        return code.astype(np.int8)


@with_parameters
class PseudoLossBooster(Ensemble):
    """AdaBoost on weights of pairs: a row and a class that is not its own.

    A member finds some classes plausible for a row, h(x, c) in [0, 1]; `_plausible` of subclasses
    says which. Its pseudo-loss is half the weighted mean of 1 - h(x, y) + h(x, c), which multiplies
    the logarithm of the pair's weight by the member's vote.
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

    Half of the classes, drawn anew for each member, have either colour; plausible are the classes
    of the colour that a member predicts.

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
