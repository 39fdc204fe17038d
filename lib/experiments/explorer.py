"""Every measure of T for every panel of a grid, with standard errors of differences (Grove & Roth, section 7)."""

import numpy as np
import pandas as pd

from lib.validation import check_choice

# Gains of 0 are left out by `normalized_performance` up to the same rounding.
_NO_GAIN = 1e-12
_PANEL = ("n_attributes", "n_hidden", "difficulty")
_COLUMNS = (*_PANEL, "model", "size", "learner", "accuracy", "best", "constant")

MEASURES = {
    "t": "mean T, gain of at least 0.02",
    "t_any": "mean T, any gain above 0",
    "t_wide": "mean T, gain of at least 0.05",
    "pooled": "pooled T, ratio of means",
    "accuracy": "accuracy",
}
_MIN_GAIN = {"t": 0.02, "t_any": 0.0, "t_wide": 0.05}


def grid_measures(frame):
    """Each learner's T by every definition at each point of a grid, with standard errors over models.

    Parameters
    ----------
    frame : DataFrame
        As `lib.experiments.cia_panels` returns it.

    Returns
    -------
    DataFrame
        n_attributes, n_hidden, difficulty, size, measure (see `MEASURES`), learner, value, se (its standard error),
        n_models (that count) and apart: a list with, for each learner in the order of their first appearance, the
        standard error of the paired difference to it.

    Raises
    ------
    ValueError
        If a column is missing or a panel holds a model, size and learner twice.

    Notes
    -----
    The standard error of the pooled ratio is that of its linearisation (the delta method). All others are those of a
    plain mean. Unknown values and errors, as of one model only, are NaN.
    """
    _check(frame)
    learners = list(dict.fromkeys(frame["learner"]))
    rows = []
    for point, part in frame.groupby([*_PANEL, "size"], sort=True):
        accuracy = part.pivot(index="model", columns="learner", values="accuracy")[learners].to_numpy()
        known = part.drop_duplicates("model").sort_values("model")
        best, constant = known["best"].to_numpy(), known["constant"].to_numpy()
        for measure in MEASURES:
            scores = _scores(measure, accuracy, best, constant)
            for learner, numbers in zip(learners, _summaries(scores), strict=True):
                rows.append((*point, measure, learner, *numbers, len(scores)))
    columns = [*_PANEL, "size", "measure", "learner", "value", "se", "apart", "n_models"]
    return pd.DataFrame(rows, columns=columns)


def winners(measures, measure, size):
    """Who is ahead at each point of a grid, with the lead over the second and its standard error.

    Parameters
    ----------
    measures : DataFrame
        As `grid_measures` returns it.
    measure : str
        One of `MEASURES`.
    size : int
        One of the sample sizes.

    Returns
    -------
    DataFrame
        n_attributes, n_hidden, difficulty, learner, second, lead, se. A point without two known values is left out.
    """
    check_choice("measure", measure, MEASURES)
    learners = list(dict.fromkeys(measures["learner"]))
    chosen = measures[(measures["measure"] == measure) & (measures["size"] == size)].dropna(subset="value")
    rows = []
    for point, part in chosen.groupby(list(_PANEL), sort=True):
        if len(part) < 2:
            continue
        first, second = part.sort_values("value", ascending=False, kind="stable").iloc[:2].itertuples()
        error = first.apart[learners.index(second.learner)]
        rows.append((*point, first.learner, second.learner, first.value - second.value, error))
    return pd.DataFrame(rows, columns=[*_PANEL, "learner", "second", "lead", "se"])


def leads(measures, first, second):
    """How far one learner is ahead of another at each point of a grid, with the standard error of the difference.

    Parameters
    ----------
    measures : DataFrame
        As `grid_measures` returns it.
    first, second : str
        Two of its learners.

    Returns
    -------
    DataFrame
        n_attributes, n_hidden, difficulty, size, measure, lead, se.
    """
    learners = list(dict.fromkeys(measures["learner"]))
    for name, learner in (("first", first), ("second", second)):
        check_choice(name, learner, learners)
    points = [*_PANEL, "size", "measure"]
    one, other = (measures[measures["learner"] == name].set_index(points) for name in (first, second))
    lead = one[["value"]].sub(other[["value"]]).rename(columns={"value": "lead"})
    return lead.assign(se=[errors[learners.index(second)] for errors in one["apart"]]).reset_index()


def _scores(measure, accuracy, best, constant):
    """One row a model and one column a learner, whose mean is the measure."""
    if measure == "accuracy":
        return accuracy
    won, gain = accuracy - constant[:, None], (best - constant)[:, None]
    if measure in _MIN_GAIN:
        counts = (gain[:, 0] >= _MIN_GAIN[measure]) & (gain[:, 0] > _NO_GAIN)
        return won[counts] / gain[counts]
    if gain.sum() <= 0:
        return np.full_like(won, np.nan)
    ratio = won.sum(axis=0) / gain.sum()
    return ratio + (won - ratio * gain) / gain.mean()


def _summaries(scores):
    """Value, standard error and standard errors of the differences to all learners, for each learner."""
    if not len(scores):
        nothing = [np.nan] * scores.shape[1]
        return [(np.nan, np.nan, nothing)] * scores.shape[1]
    differences = _standard_error(scores[:, :, None] - scores[:, None, :])
    return zip(scores.mean(axis=0), _standard_error(scores), differences.tolist(), strict=True)


def _standard_error(scores):
    if len(scores) < 2:
        return np.full(scores.shape[1:], np.nan)
    return scores.std(axis=0, ddof=1) / np.sqrt(len(scores))


def _check(frame):
    missing = [column for column in _COLUMNS if column not in frame.columns]
    if missing:
        raise ValueError(f"frame must have the columns {', '.join(_COLUMNS)}; missing: {', '.join(missing)}")
    if frame.duplicated([*_PANEL, "model", "size", "learner"]).any():
        raise ValueError("frame must hold one row for each panel, model, size and learner")
