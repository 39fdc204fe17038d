"""The conditionally independent attribute (CIA) model and random models of a given difficulty.

Grove & Roth (1997), sections 2, 5 and 7 (footnotes 3 and 4).
"""

import json
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, softmax

from lib.base.arrays import CACHE, check_boolean_matrix, row_batches
from lib.base.files import DATA
from lib.base.validation import (
    check_choice,
    check_generator,
    check_integer,
    check_real,
    probability_divisors,
)

HIDDEN_WEIGHTS = ("beta", "dirichlet", "equal")
ENUMERATION_LIMIT = 12
_EDGE = 1e-12


class CIAModel:
    """Conditionally independent attributes: x0, x1, ..., xn are independent given a hidden value z.

    The hidden variable has k values; x0 is the target.

    Parameters
    ----------
    weights : array-like of shape (k,)
        P(z), non-negative, sums to 1 but for rounding, by which it is divided.
    probabilities : array-like of shape (k, n + 1)
        P(x_i = 1 | z) in [0, 1]; column 0 is the target x0.

    Raises
    ------
    ValueError
        If shapes disagree, a probability leaves [0, 1] or the weights do not sum to 1.

    References
    ----------
    Grove & Roth (1997), section 2.
    """

    def __init__(self, weights, probabilities):
        self.weights = np.asarray(weights, dtype=float)
        self.probabilities = np.asarray(probabilities, dtype=float)
        if self.probabilities.ndim != 2 or self.weights.shape != self.probabilities.shape[:1]:
            shapes = f"{self.probabilities.shape} and {self.weights.shape}"
            raise ValueError(
                f"probabilities must have shape (k, n + 1) for weights of shape (k,); got {shapes}"
            )
        self.weights = self.weights / probability_divisors(
            self.weights.sum(), self.weights.min(initial=0.0), lambda: "weights"
        )
        outside = ~((self.probabilities >= 0) & (self.probabilities <= 1))
        if outside.any():
            raise ValueError(
                f"probabilities must lie in [0, 1]; got {self.probabilities[outside][0]}"
            )

    def __repr__(self):
        n_hidden, m = self.probabilities.shape
        return f"CIAModel(n_hidden={n_hidden}, n_attributes={m - 1})"

    def sample(self, size, rng):
        """Draw examples, in batches of rows, with the same result as one draw of them all.

        Parameters
        ----------
        size : int, at least 1
        rng : numpy.random.Generator

        Returns
        -------
        X : ndarray of shape (size, n), uint8
        y : ndarray of shape (size,), uint8
            The target x0.
        z : ndarray of shape (size,), int64
            The hidden value.
        """
        size = check_integer("size", size, 1)
        check_generator("rng", rng)
        z = np.searchsorted(np.cumsum(self.weights), rng.random(size), side="right")
        # float rounding may leave the last cumulative weight a hair below 1
        z = np.minimum(z, len(self.weights) - 1)
        probabilities = self.probabilities.astype(np.float32)
        rows = np.empty((size, probabilities.shape[1]), dtype=np.uint8)
        for batch in row_batches(size, 9 * rows.shape[1], CACHE):
            rows[batch] = rng.random(rows[batch].shape, dtype=np.float32) < probabilities[z[batch]]
        return rows[:, 1:], rows[:, 0], z

    def log_joint(self, rows):
        """Logarithm of P(x, z).

        Parameters
        ----------
        rows : (size, n + 1) of 0 and 1, complete rows; or (size, n), attributes only

        Returns
        -------
        ndarray of shape (size, k)

        Raises
        ------
        ValueError
            If rows have another number of columns.
        """
        m = self.probabilities.shape[1]
        if rows.shape[1] not in (m - 1, m):
            raise ValueError(f"rows must have {m - 1} or {m} columns; got {rows.shape[1]}")
        probabilities = self.probabilities[:, m - rows.shape[1] :]
        coefficients, constants = log_linear(self.weights, probabilities)
        joint = np.empty((len(rows), len(constants)))
        for batch in row_batches(len(rows), 8 * (rows.shape[1] + 2 * len(constants))):
            joint[batch] = rows[batch] @ coefficients.T + constants
        return joint

    def target_posterior(self, X):
        """P(x0 = 1 | x) for attributes `X` of shape (size, n); returns shape (size,)."""
        X = check_boolean_matrix("X", X)
        if X.shape[1] != self.probabilities.shape[1] - 1:
            raise ValueError(
                f"X must have {self.probabilities.shape[1] - 1} columns; got {X.shape[1]}"
            )
        positive = np.empty(len(X))
        for batch in row_batches(len(X), 8 * (X.shape[1] + 6 * len(self.weights))):
            positive[batch] = softmax(self.log_joint(X[batch]), axis=1) @ self.probabilities[:, 0]
        return positive

    def difficulty(self, n_draws=20_000):
        """B, the accuracy of the best prediction of z from all n + 1 attributes (section 7).

        Despite its name it is an accuracy: the larger B, the easier the model. It is exact by
        enumeration up to n = 12; beyond, the mean of max_z P(z | x) over `n_draws` rows
        drawn from the model by a fixed stream, so that B is a function of the model.
        """
        m = self.probabilities.shape[1]
        if m <= ENUMERATION_LIMIT + 1:
            return float(_exact_difficulty(self.weights[None], self.probabilities[None])[0])
        rng = np.random.default_rng(0)
        z = _stratified(self.weights, n_draws)
        best = np.empty(n_draws)
        for batch in row_batches(n_draws, 13 * m):
            uniform = rng.random((len(z[batch]), m), dtype=np.float32)
            best[batch] = _best_guess(self.weights, self.probabilities, z[batch], uniform)
        return float(best.mean())

    def linear_rule(self):
        """Weights and intercept of the optimal linear predictor of x0, for two hidden values.

        Returns
        -------
        coef : ndarray of shape (n,)
        intercept : float
            x0 = 1 is the more likely value exactly where ``X @ coef + intercept > 0``.

        Raises
        ------
        ValueError
            If the model has not exactly two hidden values: the rule is then not linear in general.

        Notes
        -----
        With l(x) = log P(z = 1 | x) / P(z = 0 | x), linear in x, P(x0 = 1 | x) = q0 + (p0 - q0)
        sigmoid(l(x)). It exceeds 1/2 where sigmoid(l) is beyond t = (1/2 - q0) / (p0 - q0); a t
        outside (0, 1) makes the rule constant. Grove & Roth (1997), section 5, state the result
        without its derivation.
        """
        if len(self.weights) != 2:
            raise ValueError(
                "the optimal rule is linear for 2 hidden values; "
                f"this model has {len(self.weights)}"
            )
        coefficients, constants = log_linear(self.weights, self.probabilities[:, 1:])
        q0, p0 = self.probabilities[:, 0]
        if (q0 - 0.5) * (p0 - 0.5) >= 0:
            # both hidden values make the same target the more likely one
            constant = 1.0 if p0 + q0 > 1 else -1.0
            return np.zeros(coefficients.shape[1]), constant
        # sigmoid(l) > t where l > log t / (1 - t) = log (1/2 - q0) / (p0 - 1/2)
        threshold = np.log(abs(0.5 - q0)) - np.log(abs(p0 - 0.5))
        # l(x) = coef @ x + intercept
        coef = coefficients[1] - coefficients[0]
        intercept = constants[1] - constants[0]
        # with p0 < q0 it is x0 = 0 that z = 1 makes more likely
        sign = np.sign(p0 - q0)
        return sign * coef, float(sign * (intercept - threshold))


def log_linear(weights, probabilities):
    """Log P(x, z) as a linear function of x: x @ coefficients.T + constants.

    Parameters
    ----------
    weights : (..., k)
    probabilities : (..., k, m)

    Returns
    -------
    coefficients : (..., k, m)
    constants : (..., k)
    """
    present = np.clip(probabilities, _EDGE, 1 - _EDGE)
    log_absent = np.log(1 - present)
    coefficients = np.log(present) - log_absent
    constants = log_absent.sum(-1) + np.log(np.maximum(weights, _EDGE))
    return coefficients, constants


@lru_cache(maxsize=16)
def all_inputs(n):
    """All 2^n boolean rows, shape (2^n, n), uint8.

    Row r holds the bits of r, the first attribute lowest.
    """
    rows = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.uint8)
    rows.setflags(write=False)
    return rows


def _exact_difficulty(weights, probabilities):
    """B of many models by enumeration: sum over x of max_z P(x, z)."""
    rows = all_inputs(probabilities.shape[2]).astype(float)
    coefficients, constants = log_linear(weights, probabilities)
    log_joint = coefficients @ rows.T + constants[..., None]
    return np.exp(log_joint.max(axis=1)).sum(axis=1)


def _stratified(weights, n_draws):
    """Hidden values of draws: draw d has z at the quantile (d + 1/2) / draws."""
    quantiles = (np.arange(n_draws) + 0.5) / n_draws
    return np.minimum(np.searchsorted(np.cumsum(weights), quantiles), len(weights) - 1)


def _best_guess(weights, probabilities, z, uniform):
    """max_z P(z | x) of rows x drawn from a model, in float32.

    Row d has the hidden value z[d] and x_i = 1 where uniform[d, i] < P(x_i = 1 | z[d]).
    """
    rows = (uniform < probabilities.astype(np.float32)[z]).astype(np.float32)
    coefficients, constants = log_linear(weights, probabilities)
    log_joint = rows @ coefficients.T.astype(np.float32) + constants.astype(np.float32)
    log_joint -= log_joint.max(axis=1, keepdims=True)
    return 1 / np.exp(log_joint).sum(axis=1, dtype=float)


def _normalise(raw, hidden_weights):
    """Weights (n_models, k) from independent positive draws.

    With hidden_weights="beta" and k = 2 they are w and 1 - w, so that both are beta(c, c).
    """
    if hidden_weights == "equal":
        raw = np.ones_like(raw)
    elif hidden_weights == "beta" and raw.shape[1] == 2:
        raw = np.stack([raw[:, 0], 1 - raw[:, 0]], axis=1)
    raw = raw + _EDGE
    return raw / raw.sum(axis=1, keepdims=True)


def _draw_models(n_models, n_hidden, m, c, rng, hidden_weights):
    """Weights (n_models, k) and probabilities (n_models, k, m), the latter beta(c, c)."""
    if hidden_weights == "dirichlet":
        raw = rng.standard_exponential((n_models, n_hidden))
    else:
        raw = rng.beta(c, c, (n_models, n_hidden))
    return _normalise(raw, hidden_weights), rng.beta(c, c, (n_models, n_hidden, m))


def concentration(n_attributes, n_hidden, difficulty, hidden_weights="beta"):
    """Find c of the beta(c, c) distribution at which random models have mean B = `difficulty`.

    It is the root of a function of c on a fixed set of random models (one stream for all c, so that
    the mean is smooth in c): c is a property of the class CIA(n, k, b) and does not depend on any
    seed. What the chapters need is kept in ``data/concentrations.json``; it is searched for again
    unless its mean B is within 0.001 of `difficulty`.

    Raises
    ------
    ValueError
        If no c gives that mean; the message says which difficulties can be reached.

    References
    ----------
    Grove & Roth (1997), footnote 4.
    """
    n_attributes = check_integer("n_attributes", n_attributes, 1, 10_000)
    n_hidden = check_integer("n_hidden", n_hidden, 2, 64)
    difficulty = check_real("difficulty", difficulty, 0, 1, open_low=True, open_high=True)
    check_choice("hidden_weights", hidden_weights, HIDDEN_WEIGHTS)

    def excess(log_c):
        return _mean_difficulty(log_c, n_attributes, n_hidden, hidden_weights) - difficulty

    stored = _stored_concentrations().get(
        f"{n_attributes} {n_hidden} {hidden_weights} {difficulty}"
    )
    if stored and abs(excess(np.log(stored))) < 1e-3:
        return stored
    # the more parameters concentrate about 1/2, the less they say about z
    low = np.log(0.02)
    high = np.log(3000.0)
    most = _mean_difficulty(low, n_attributes, n_hidden, hidden_weights)
    least = _mean_difficulty(high, n_attributes, n_hidden, hidden_weights)
    if not least < difficulty < most:
        # the ends are rounded inwards, so that those of the message can be reached
        model_class = (n_attributes, n_hidden, hidden_weights)
        raise ValueError(
            f"difficulty={difficulty} cannot be reached for n_attributes, n_hidden, "
            f"hidden_weights={model_class}; "
            f"reachable: {least + 0.005:.2f} to {most - 0.0005:.3f}"
        )
    return float(np.exp(brentq(excess, low, high, xtol=1e-3)))


@lru_cache(maxsize=1)
def _stored_concentrations():
    """Concentrations of the chapters' classes by arguments; data/concentrations.py writes them."""
    path = DATA / "concentrations.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@lru_cache(maxsize=4096)  # the ends of the search are those of every difficulty
def _mean_difficulty(log_c, n_attributes, n_hidden, hidden_weights):
    """Mean B of a fixed set of random models with beta(c, c) parameters."""
    m = n_attributes + 1
    rng = np.random.default_rng(0)
    n_models = int(np.clip(30_000 // (n_hidden * m), 32, 512))
    quantiles = rng.random((n_models, n_hidden, m + 1))
    uniform = rng.random((500, m), dtype=np.float32)
    values = betaincinv(np.exp(log_c), np.exp(log_c), quantiles)
    # exponential variables, normalised, are flat on the simplex
    raw = -np.log(quantiles[:, :, 0]) if hidden_weights == "dirichlet" else values[:, :, 0]
    return _difficulties(_normalise(raw, hidden_weights), values[:, :, 1:], uniform).mean()


def _difficulties(weights, probabilities, uniform):
    """B of many models: exact, or the mean over rows that uniform numbers (draws, m) make."""
    if probabilities.shape[2] <= ENUMERATION_LIMIT + 1:
        return _exact_difficulty(weights, probabilities)
    difficulties = np.empty(len(weights))
    for i in range(len(weights)):
        z = _stratified(weights[i], len(uniform))
        difficulties[i] = _best_guess(weights[i], probabilities[i], z, uniform).mean()
    return difficulties


def random_cia(n_attributes, n_hidden, c, rng, hidden_weights="beta"):
    """Draw a model with independent beta(c, c) parameters, of whatever difficulty (footnote 3).

    For two hidden values the weight of the second is beta(c, c); for more, k such draws are
    normalised.
    """
    weights, probabilities = _draw_models(1, n_hidden, n_attributes + 1, c, rng, hidden_weights)
    return CIAModel(weights[0], probabilities[0])


def sample_cia(
    n_attributes, n_hidden, difficulty, rng, tolerance=0.01, hidden_weights="beta", c=None
):
    """Draw a random model of the class CIA(n, k, b).

    All parameters come from beta(c, c) with c calibrated so that the mean B is `difficulty`; models
    are rejected until B is within `tolerance` of it.

    Parameters
    ----------
    n_attributes : int, 1 to 10,000
    n_hidden : int, 2 to 64
    difficulty : float in (0, 1)
    rng : numpy.random.Generator
    tolerance : float in (0, 0.5]
    hidden_weights : {"beta", "dirichlet", "equal"}
        Distribution of P(z): beta(c, c) like every other parameter (normalised for k > 2), flat on
        the simplex, or all 1/k. The paper's "each parameter" reads as the first.
    c : float, optional
        What `concentration` gives for this class, to save a worker process from finding it again.

    Returns
    -------
    CIAModel

    Raises
    ------
    ValueError
        If an argument is out of range, or the difficulty cannot be reached.

    References
    ----------
    Grove & Roth (1997), section 7, footnote 4.
    """
    check_generator("rng", rng)
    tolerance = check_real("tolerance", tolerance, 0, 0.5, open_low=True)
    if c is None:
        c = concentration(n_attributes, n_hidden, difficulty, hidden_weights)
    m = n_attributes + 1
    batch = int(np.clip(5_000 // (n_hidden * m), 4, 16))
    for _ in range(max(1, 20_000 // batch)):
        weights, probabilities = _draw_models(batch, n_hidden, m, c, rng, hidden_weights)
        # a few draws are enough to reject most models
        uniform = rng.random((300, m), dtype=np.float32)
        is_exact = m <= ENUMERATION_LIMIT + 1
        slack = tolerance if is_exact else tolerance + 0.02
        errors = np.abs(_difficulties(weights, probabilities, uniform) - difficulty)
        for i in np.flatnonzero(errors <= slack):
            model = CIAModel(weights[i], probabilities[i])
            if abs(model.difficulty() - difficulty) <= tolerance:
                return model
    raise ValueError(
        f"no model within tolerance={tolerance} of difficulty={difficulty} in 20,000 draws; "
        "raise tolerance"
    )
