"""Moore & Lee's races: sets of attributes compared on one left-out row after the other, until one is ahead."""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lib.compiled import compiled
from lib.discretize.columns import checked_frame
from lib.estimators import MixedInput, with_parameters
from lib.relevance.distance import complete_table, distances, scaled_rows
from lib.validation import check_integer, check_real

LEAST = 30  # rows before a race may be decided
CHUNK = 50  # rows that are looked at in one go
OPEN = -1


class Race(NamedTuple):
    """A decision between the two values of one attribute.

    Attributes
    ----------
    attribute : int
    relevant : bool
        Whether the attribute is taken.
    n_rows : int
        Left-out rows until then; each is classified twice in every race that ran at the same time.
    """

    attribute: int
    relevant: bool
    n_rows: int


@with_parameters
class Schemata(MixedInput, SelectorMixin, BaseEstimator):
    """SCHEMATA+, a choice of attributes for the nearest neighbour by races of schemata.

    All attributes are open at first, which means that each row draws whether it uses them. For
    every open attribute, "used" races against "not used": left-out rows are classified both ways,
    with the same draw of the other open ones. The first race in which the mean difference of the
    mistakes is more than `confidence` of its standard errors decides its attribute, and new races
    begin for the rest.

    Parameters
    ----------
    limit : int, at least 60
        Queries of a pair, two a row, after which the attribute that is least likely to be relevant
        is left out.
    confidence : float, above 0
        Our reading of Moore & Lee's Bayesian rule, which the survey does not give; at least 30 rows
        are needed.
    random_state : int, RandomState or None

    Attributes
    ----------
    support_ : ndarray of bool (n_attributes,)
        Which attributes are taken.
    races_ : list of Race
        In the order of their decisions.
    n_queries_ : int
        How often a nearest neighbour was looked for; rows beyond a decision are not counted.

    Notes
    -----
    Attributes are as for `relieff`; distances are the sums of the differences, and of equally near
    rows each has one vote.

    References
    ----------
    Moore & Lee (1994), "Efficient algorithms for minimizing cross validation error". Dietterich
    (1997), section 3.2.2.
    """

    limit: int = 2000
    confidence: float = 3.0
    random_state: int | np.random.RandomState | None = None

    def fit(self, X, y):
        """Race for the attributes of `X` (n_samples, n_attributes) and the classes `y`.

        Raises
        ------
        ValueError
            If a parameter is out of range, a value is missing or infinite, or `y` has one class
            only.
        """
        check_integer("limit", self.limit, 2 * LEAST)
        check_real("confidence", self.confidence, 0, open_low=True)
        columns, target = scaled_rows(self, X, y)
        rng, schema = check_random_state(self.random_state), np.full(len(columns), OPEN)
        self.races_, self.n_queries_ = [], 0
        while (schema == OPEN).any():
            race = self._races(columns, target, schema, rng)
            self.n_queries_ += 2 * int((schema == OPEN).sum()) * race.n_rows
            self.races_.append(race)
            schema[race.attribute] = race.relevant
        self.support_ = schema == 1
        return self

    def transform(self, X):
        """The columns that are taken, as a DataFrame (n_samples, n_taken), so that they keep their types."""
        X = checked_frame(self, X, reset=False)
        complete_table(X)
        return X.loc[:, self._get_support_mask()]

    def __sklearn_tags__(self):
        """Tags of a transformer of mixed columns without missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def _races(self, columns, target, schema, rng):
        """Race for all open attributes at once until one is decided."""
        attributes, limit = np.flatnonzero(schema == OPEN), self.limit // 2
        gains = np.empty((0, len(attributes)))
        while len(gains) < limit:
            more = _gains(columns, target, schema, attributes, min(CHUNK, limit - len(gains)), rng)
            gains = np.concatenate([gains, more])
            lead = _standard_scores(gains)
            over = np.abs(lead[LEAST - 1 :]).max(axis=1) > self.confidence
            if over.any():
                n_rows = LEAST + int(over.argmax())
                winner = np.abs(lead[n_rows - 1]).argmax()
                return Race(int(attributes[winner]), bool(lead[n_rows - 1, winner] > 0), n_rows)
        return Race(int(attributes[lead[-1].argmin()]), False, limit)


def _gains(columns, target, schema, attributes, n, rng):
    """Mistakes without each attribute less those with it, on n left-out rows drawn for each, (n, n_attributes)."""
    rows = rng.randint(len(target), size=(n, len(attributes)))
    masks = rng.random_sample((n, len(attributes), len(schema))) < 0.5
    masks[:, :, schema != OPEN] = schema[schema != OPEN] == 1
    mistakes = []
    for used in (False, True):
        masks[:, np.arange(len(attributes)), attributes] = used
        mistakes.append(_mistakes(columns, target, rows.ravel(), masks.reshape(-1, len(schema))))
    return (mistakes[0].astype(float) - mistakes[1]).reshape(rows.shape)


def _standard_scores(gains):
    """Means of the first one, two, ... rows over their standard errors; 0 where nothing has differed."""
    count = np.arange(1, len(gains) + 1)[:, None]
    mean = gains.cumsum(axis=0) / count
    variance = (
        np.maximum((gains**2).cumsum(axis=0) / count - mean**2, 0)
        * count
        / np.maximum(count - 1, 1)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(
            mean / np.sqrt(variance / count), nan=0.0, posinf=np.inf, neginf=-np.inf
        )


def left_out_mistakes(X, y, support, rows=None):
    """Classify left-out rows by their nearest neighbours among all others, with some of the attributes.

    Parameters
    ----------
    X, y
        As for `Schemata.fit`.
    support : ndarray of bool (n_attributes,) or (n_choices, n_attributes)
        Attributes that count: one choice of them, or several.
    rows : ndarray of int (n_queries,), optional
        Which are left out, one at a time; by default each once.

    Returns
    -------
    wrong : ndarray of bool (n_queries,) or (n_choices, n_queries)
        Of equally near neighbours each has one vote, and of classes with the same number of votes
        the first is chosen.

    Raises
    ------
    ValueError
        As `Schemata.fit` does, or if shapes do not agree.
    """
    columns, target = scaled_rows(BaseEstimator(), X, y)
    rows = np.arange(len(target)) if rows is None else np.asarray(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or ((rows < 0) | (rows >= len(target))).any():
        raise ValueError(f"rows must be a list of integers from 0 to {len(target) - 1}; got {rows}")
    rows, support, n = rows.astype(np.int64), np.asarray(support, dtype=bool), len(columns)
    if support.ndim not in (1, 2) or support.shape[-1] != n:
        raise ValueError(f"support must have shape (n_choices, {n}) or ({n},); got {support.shape}")
    choices = support.reshape(-1, n)
    wrong = _mistakes(
        columns, target, np.tile(rows, len(choices)), choices.repeat(len(rows), axis=0)
    )
    return wrong.reshape(*support.shape[:-1], len(rows))


@compiled()
def _mistakes(columns, target, rows, masks):
    """Whether the nearest neighbours of each row, those of its mask's attributes, vote for another class."""
    wrong = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        far = distances(columns, np.flatnonzero(masks[i]), rows[i])
        wrong[i] = np.bincount(target[far == far.min()]).argmax() != target[rows[i]]
    return wrong
