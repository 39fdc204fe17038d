"""Moore & Lee's races: sets of attributes compared on one left-out row after the other."""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lib.base.compiled import compiled
from lib.base.estimators import MixedInput, with_parameters
from lib.base.validation import check_integer, check_real
from lib.discretize.columns import checked_frame
from lib.relevance.distance import check_complete, distances, scaled_rows

MIN_ROWS = 30  # before a race may be decided
CHUNK = 50  # rows that are looked at in one go
OPEN = -1  # in a schema, beside 1 for an attribute that is used and 0 for one that is not


class _Examples(NamedTuple):
    """Examples with equal values once, as tasks of few bits have many of them.

    Attributes
    ----------
    columns : ndarray of float (n_attributes, n_different)
        As `distances` takes them.
    counts : ndarray of int (n_different, n_classes)
        How many examples of each class have these values.
    cells : ndarray of int (n_samples,)
        Where the values of each example stand in `columns`.
    target : ndarray of int (n_samples,)
    """

    columns: np.ndarray
    counts: np.ndarray
    cells: np.ndarray
    target: np.ndarray


def _count_examples(columns, target):
    """Return the `_Examples` of scaled columns (n_attributes, n_samples) and numbers of classes."""
    different, cells = np.unique(columns, axis=1, return_inverse=True)
    cells = cells.ravel()
    counts = np.zeros((different.shape[1], target.max() + 1), dtype=np.int64)
    np.add.at(counts, (cells, target), 1)
    return _Examples(np.ascontiguousarray(different), counts, cells, target)


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

    A query compares a row with all others, by half of the open attributes on average, and there are
    up to `limit` queries for each open attribute and race. So time grows with the rows and, at
    most, with the cube of the attributes: some 25 seconds for 5,000 rows of 50 attributes. Memory
    is that of the table.

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
        check_integer("limit", self.limit, 2 * MIN_ROWS)
        check_real("confidence", self.confidence, 0, open_low=True)
        examples = _count_examples(*scaled_rows(self, X, y))
        rng = check_random_state(self.random_state)
        schema = np.full(len(examples.columns), OPEN)
        self.races_ = []
        self.n_queries_ = 0
        while (schema == OPEN).any():
            race = self._race(examples, schema, rng)
            n_open = int((schema == OPEN).sum())
            self.n_queries_ += 2 * n_open * race.n_rows
            self.races_.append(race)
            schema[race.attribute] = race.relevant
        self.support_ = schema == 1
        return self

    def transform(self, X):
        """The columns that are taken, a DataFrame (n_samples, n_taken); they keep their types."""
        X = checked_frame(self, X, reset=False)
        check_complete(X)
        return X.loc[:, self._get_support_mask()]

    def __sklearn_tags__(self):
        """Tags of a transformer of mixed columns without missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def _race(self, examples, schema, rng):
        """Race for all open attributes at once until one of them is decided."""
        attributes = np.flatnonzero(schema == OPEN)
        max_rows = self.limit // 2  # each row takes two queries
        gains = np.empty((0, len(attributes)))
        while len(gains) < max_rows:
            n_rows = min(CHUNK, max_rows - len(gains))
            gains = np.concatenate([gains, _gains(examples, schema, n_rows, rng)])
            scores = _standard_scores(gains)
            is_decided = np.abs(scores[MIN_ROWS - 1 :]).max(axis=1) > self.confidence
            if is_decided.any():
                n_rows = MIN_ROWS + int(is_decided.argmax())  # the race ends at the first
                final_scores = scores[n_rows - 1]
                winner = np.abs(final_scores).argmax()
                return Race(
                    attribute=int(attributes[winner]),
                    relevant=bool(final_scores[winner] > 0),
                    n_rows=n_rows,
                )
        # time is up: the attribute that seems to matter least is left out
        loser = attributes[scores[-1].argmin()]
        return Race(attribute=int(loser), relevant=False, n_rows=max_rows)


def _gains(examples, schema, n_rows, rng):
    """Mistakes without each open attribute minus those with it, (n_rows, n_open).

    Each attribute has its own left-out rows, drawn at random, and for each of them a choice of the
    other open attributes, drawn by coins.
    """
    attributes = np.flatnonzero(schema == OPEN)
    n_open = len(attributes)
    n_attributes = len(schema)
    rows = rng.randint(len(examples.target), size=(n_rows, n_open))
    # which attributes are used: by coins, but for those that are decided
    masks = rng.random_sample((n_rows, n_open, n_attributes)) < 0.5
    is_closed = schema != OPEN
    masks[:, :, is_closed] = schema[is_closed] == 1
    # both racers classify the same rows with the same choice of other attributes
    mistakes = []
    for is_used in (False, True):
        masks[:, np.arange(n_open), attributes] = is_used
        wrong = _mistakes(examples, rows.ravel(), masks.reshape(-1, n_attributes))
        mistakes.append(wrong.astype(float))
    without, with_attribute = mistakes
    return (without - with_attribute).reshape(rows.shape)


def _standard_scores(gains):
    """Means of the first one, two, ... rows over their standard errors; 0 where none differs."""
    n = np.arange(1, len(gains) + 1)[:, None]
    mean = gains.cumsum(axis=0) / n
    mean_square = (gains**2).cumsum(axis=0) / n
    variance = np.maximum(mean_square - mean**2, 0) * n / np.maximum(n - 1, 1)
    # 0 / 0 where no row differs, and infinite where all differ alike
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = mean / np.sqrt(variance / n)
    return np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf)


def left_out_mistakes(X, y, support, rows=None):
    """Tell which left-out rows their nearest neighbours misclassify, by some of the attributes.

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
    n_attributes, n_samples = columns.shape
    rows = np.arange(n_samples) if rows is None else np.asarray(rows)
    is_list = rows.ndim == 1 and rows.dtype.kind in "iu"
    if not is_list or ((rows < 0) | (rows >= n_samples)).any():
        raise ValueError(f"rows must be a list of integers from 0 to {n_samples - 1}; got {rows}")
    support = np.asarray(support, dtype=bool)
    if support.ndim not in (1, 2) or support.shape[-1] != n_attributes:
        raise ValueError(
            f"support must have shape (n_choices, {n_attributes}) or ({n_attributes},); "
            f"got {support.shape}"
        )
    # a query for each choice and row
    choices = support.reshape(-1, n_attributes)
    query_rows = np.tile(rows.astype(np.int64), len(choices))
    masks = choices.repeat(len(rows), axis=0)
    wrong = _mistakes(_count_examples(columns, target), query_rows, masks)
    return wrong.reshape(*support.shape[:-1], len(rows))


@compiled()
def _mistakes(examples, rows, masks):
    """Whether the nearest neighbours of each row, by the attributes of its mask, vote wrongly.

    All that are equally near have one vote each.
    """
    columns, counts, cells, target = examples
    wrong = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        attributes = np.flatnonzero(masks[i])
        cell = cells[rows[i]]
        label = target[rows[i]]
        cell_distances = distances(columns, attributes, cell)
        if counts[cell].sum() > 1:
            cell_distances[cell] = 0  # to the other examples with these values
        least = cell_distances.min()
        votes = np.zeros(counts.shape[1], np.int64)
        for j in np.flatnonzero(cell_distances == least):
            votes += counts[j]
        if cell_distances[cell] == least:
            votes[label] -= 1  # an example is no neighbour of its own
        wrong[i] = votes.argmax() != label
    return wrong
