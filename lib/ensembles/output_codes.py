"""Error-correcting output codes: many classes by questions of two."""

import numpy as np
from scipy.spatial.distance import pdist

from lib.base.estimators import with_parameters
from lib.base.validation import check_choice, check_flag, check_integer
from lib.ensembles.bagging import bags
from lib.ensembles.members import Ensemble

MAX_EXHAUSTIVE = 7  # classes for which all bits are learned
MAX_LISTED = 16  # classes for which all bits can be listed
N_CODES = 2000  # random codes, of which the best is taken


def exhaustive_code(n_classes):
    """List all different ways to divide the classes in two.

    Parameters
    ----------
    n_classes : int, from 2 to 16

    Returns
    -------
    ndarray of 0 and 1, shape (n_classes, 2^(n_classes - 1) - 1)

    Raises
    ------
    ValueError
        If the number is out of range.

    References
    ----------
    Dietterich & Bakiri (1995), section 2.3.1.
    """
    n_classes = check_integer("n_classes", n_classes, 2, MAX_LISTED)
    # Each partition is a binary number with a digit for each class. The first class is always on
    # the side of 1, as complements divide the classes alike, and never are all.
    partitions = np.arange(2 ** (n_classes - 1), 2**n_classes - 1)
    return _binary_digits(partitions, n_classes).astype(np.int8)


def random_code(n_classes, n_bits, rng):
    """Draw 2,000 codes, and return the first of those whose nearest words differ most.

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

    Returns
    -------
    ndarray of 0 and 1, shape (n_classes, n_bits)

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
    partitions = exhaustive_code(n_classes) if n_classes <= MAX_LISTED else None
    if partitions is not None and n_bits == partitions.shape[1]:
        return partitions
    best = None
    best_distance = -1
    for _ in range(N_CODES):
        code = _random_code(n_classes, n_bits, partitions, rng)
        distance = pdist(code, "cityblock").min()  # Hamming distance of the nearest words
        if distance > best_distance:
            best = code
            best_distance = distance
    return best


def _random_code(n_classes, n_bits, partitions, rng):
    """One random code, by the way that is fast for these numbers; `partitions` may be None."""
    if 2**n_bits <= n_classes**2:  # coins would often throw a word twice
        return _draw_words(n_classes, n_bits, rng)
    if partitions is not None:
        return partitions[:, rng.permutation(partitions.shape[1])[:n_bits]]
    return _draw_bits(n_classes, n_bits, rng)


def _check_bits(n_bits, n_classes):
    """Return `n_bits` if so many different bits can tell the classes apart, or raise ValueError."""
    n_bits = check_integer("n_bits", n_bits, 1)
    fewest = (n_classes - 1).bit_length()
    most = 2 ** (n_classes - 1) - 1
    if n_bits < fewest:
        raise ValueError(
            f"n_bits must be at least {fewest}, as {n_classes} classes need different words; "
            f"got {n_bits}"
        )
    if n_bits > most:
        raise ValueError(
            f"n_bits must be at most {most}, as there are no more ways to divide {n_classes} "
            f"classes in two; got {n_bits}"
        )
    return n_bits


def _draw_words(n_classes, n_bits, rng):
    """A code of words drawn without repetition.

    They are drawn again until no bit is constant, and none equals another or its complement.
    """
    while True:
        words = rng.permutation(2**n_bits)[:n_classes]
        code = _binary_digits(words, n_bits).T.astype(np.int8)
        # Of columns of 1 and -1, two are equal or complementary where their product is n_classes
        # or -n_classes. A constant bit is like the column of ones.
        signs = np.column_stack([np.ones(n_classes), 2.0 * code - 1])
        products = np.triu(signs.T @ signs, 1)
        if np.abs(products).max() < n_classes:
            return code


def _draw_bits(n_classes, n_bits, rng):
    """A code of partitions drawn without repetition; the first class is always on the side of 1."""
    bits = {}  # by their bytes, so that equal ones meet
    while len(bits) < n_bits:
        coins = rng.randint(2, size=(n_bits, n_classes), dtype=np.int8)
        coins[:, 0] = 1
        is_constant = coins.all(axis=1)
        for bit in coins[~is_constant]:
            bits.setdefault(bit.tobytes(), bit)
    return np.array(list(bits.values())[:n_bits]).T


def _binary_digits(numbers, n_digits):
    """Binary digits of numbers, the highest first, (n_digits, n_numbers)."""
    shifts = np.arange(n_digits)[::-1, None]
    return numbers >> shifts & 1


@with_parameters
class OutputCode(Ensemble):
    """Each member learns one bit of the classes' code words; the class of the nearest word wins.

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
        A DummyClassifier where a bit is constant in a sample, unless the learner is a
        GainRatioTree.

    Notes
    -----
    The exhaustive code of k classes has 2^(k - 1) - 1 bits, so that each further class doubles time
    and memory.

    References
    ----------
    Dietterich & Bakiri (1995).
    """

    code: str | np.ndarray = "exhaustive"
    n_bits: int = 63
    decode: str = "probabilities"
    bagged: bool = False

    @property
    def soft_(self):
        """Whether members give probabilities; `decode` may be changed after `fit`."""
        return self.decode == "probabilities"

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
        X, y, rng = self._prepare(X, y)
        self.code_ = self._code_words(len(self.classes_), rng)
        n_bits = self.code_.shape[1]
        sampling = "bootstrap" if self.bagged else "none"
        row_choices = bags(len(y), n_bits, sampling, rng)
        return self._train_members(X, y, rng, questions=self.code_.T, row_choices=row_choices)

    def _code_words(self, n_classes, rng):
        """The code, (n_classes, n_bits), as given, listed or drawn."""
        if not isinstance(self.code, str):
            return self._check_code(n_classes)
        check_choice("code", self.code, ("exhaustive", "random"))
        check_integer("n_bits", self.n_bits, 1)
        if n_classes == 1:
            return np.ones((1, 1), np.int8)
        if self.code == "exhaustive" and n_classes <= MAX_EXHAUSTIVE:
            return exhaustive_code(n_classes)
        return random_code(n_classes, self.n_bits, rng)

    def _check_code(self, n_classes):
        """Return the code that is given as an array, or raise ValueError."""
        message = (
            f"code must have a different word of 0 and 1 for each of {n_classes} classes; "
            f"got {self.code!r}"
        )
        try:
            code = np.asarray(self.code, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(message) from error
        if code.shape[:-1] != (n_classes,) or not np.isin(code, (0, 1)).all():
            raise ValueError(message)
        if code.shape[1] == 0 or len(np.unique(code, axis=0)) < n_classes:
            raise ValueError(message)
        return code.astype(np.int8)
