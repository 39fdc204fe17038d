"""The learners that the comparisons on real data know by name, each with the inputs it is given."""

from collections.abc import Collection

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.model_selection import KFold, ParameterGrid
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from lib.base.arrays import take_rows
from lib.base.validation import check_choice
from lib.bayes_net import BayesNetClassifier
from lib.datasets.papers import printed_table
from lib.discretize import ClassSeparatingCuts, CutPoints, EntropyDiscretizer, OneHot
from lib.naive_bayes import NaiveBayes
from lib.winnow import Winnow, WinnowEnsemble

BINS = ("paper", "means", "entropy")
PRINTED = ("iris", "glass")
# Only the ratio of threshold and initial weight counts: with a threshold of half the number of
# weights m, an initial weight w stands for a threshold of m / 2w and weights that start at 1.
_WINNOW = {"initial_weight": [0.5, 1.5, 4.0], "promotion": [1.05, 1.3, 2.0]}
_SMOOTHING = {"smoothing": [0.03, 0.1, 0.3, 1.0, 3.0]}
_PENALTY = {"C": [0.03, 0.1, 0.3, 1.0, 3.0, 10.0]}
_KERNEL = {"C": [1.0, 10.0, 100.0], "gamma": [0.01, 0.03, 0.1, 0.3]}


def printed_bins(dataset):
    """Return the bins of Atlas' Table 1 ("iris") or section 4.3 ("glass"), as CutPoints.

    Petal lengths of iris in (5, 5.5] are in no bin, as printed. Each number printed for glass is
    taken as the upper end of a bin, with one more bin above the last.
    """
    check_choice("dataset", dataset, PRINTED)
    table = printed_table("atlas_bins")
    table = table[table["dataset"] == dataset]
    bins = {}
    for column, rows in table.groupby("column", sort=False):
        low = rows["low"].tolist()
        high = rows["high"].tolist()
        if dataset == "glass":
            bins[column] = high
        elif low[1:] == high[:-1]:
            bins[column] = low[1:]  # without gaps, the inner ends are cut points
        else:
            bins[column] = list(zip(low, high, strict=True))
    return CutPoints(bins)


def cuts(dataset, bins="paper"):
    """Return the transformer that cuts the numbers of a data set: see `uci_comparison`."""
    check_choice("bins", bins, BINS)
    if bins == "paper" and dataset in PRINTED:
        return printed_bins(dataset)
    return ClassSeparatingCuts() if bins == "means" else EntropyDiscretizer()


def boolean_inputs(dataset, bins="paper"):
    """Return the two steps that make booleans of any attributes: cuts, then one-hot codes.

    A missing value has a code of its own, except with printed bins, where a number in a gap between
    bins has none.

    Parameters
    ----------
    dataset : str
        Which printed bins to use, if any.
    bins : {"paper", "means", "entropy"}
        As in `uci_comparison`.

    Returns
    -------
    tuple of two transformers
    """
    missing = "ignore" if bins == "paper" and dataset in PRINTED else "value"
    return cuts(dataset, bins), OneHot(missing=missing, constant="drop")


def numeric_inputs():
    """Return a transformer of any attributes to numbers.

    Numbers stay, a missing one becomes the mean; all other attributes become one-hot codes.
    """
    mean_imputer = SimpleImputer(keep_empty_features=True)
    return ColumnTransformer(
        [("numbers", mean_imputer, number_columns)], remainder=OneHot(constant="drop")
    )


def number_columns(X):
    """Names of the columns of numbers."""
    return X.select_dtypes("number").columns.tolist()


def missing_as_value(X):
    """Make "missing" one more value of the categories that have missing values."""
    filled = X.copy()
    for name, column in X.items():
        if isinstance(column.dtype, pd.CategoricalDtype) and column.hasnans:
            filled[name] = column.cat.add_categories(["missing"]).fillna("missing")
    return filled


class Tuned(ClassifierMixin, BaseEstimator):
    """A learner that tunes its parameters in three shuffled folds of its training rows.

    It chooses as scikit-learn's GridSearchCV does, by accuracy and of equally good parameters the
    first, at a fraction of its cost on small data. Where the learner cannot be fitted, as to one
    class only, its accuracy counts as 0.

    Parameters
    ----------
    learner : classifier
    grid : dict
        Values of each parameter, as `sklearn.model_selection.ParameterGrid` takes them.
    n_rows : int, optional
        Most training rows that tuning uses, drawn at random; the learner is then fitted to all.
    random_state : int
    """

    def __init__(self, learner, grid, n_rows=None, random_state=0):
        self.learner = learner
        self.grid = grid
        self.n_rows = n_rows
        self.random_state = random_state

    def fit(self, X, y):
        """Choose the parameters, and fit the learner with them to all rows."""
        candidates = [
            clone(self.learner).set_params(**parameters) for parameters in ParameterGrid(self.grid)
        ]
        shuffled = np.random.default_rng(self.random_state).permutation(len(y))
        rows = np.sort(shuffled[: self.n_rows])
        scores = []
        for train, test in KFold(3, shuffle=True, random_state=self.random_state).split(rows):
            X_train = take_rows(X, rows[train])
            y_train = take_rows(y, rows[train])
            X_test = take_rows(X, rows[test])
            y_test = take_rows(y, rows[test])
            scores.append(
                [_accuracy(learner, X_train, y_train, X_test, y_test) for learner in candidates]
            )
        best = np.mean(scores, axis=0).argmax()
        self.learner_ = candidates[best].fit(X, y)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, X):
        """The predicted class of each row."""
        return self.learner_.predict(X)


def _accuracy(learner, X, y, X_test, y_test):
    """Accuracy after training, or 0 where the learner cannot be fitted."""
    try:
        return (learner.fit(X, y).predict(X_test) == y_test).mean()
    except ValueError:
        return 0.0


# learners by what they are given: booleans, categories, numbers, or attributes as they are
_ON_BOOLEANS = {
    "winnow": Winnow(shuffle=False),  # folds come shuffled
    "naive_bayes_boolean": NaiveBayes(),
    "winnow_tuned": Tuned(Winnow(), {**_WINNOW, "n_passes": [1, 5, 20]}),
    "winnow_averaged": Tuned(Winnow(n_passes=20, average=True, complement=True), _WINNOW),
    "winnow_thick": Tuned(Winnow(n_passes=20, average=True, complement=True, margin=None), _WINNOW),
    "winnow_ensemble": Tuned(
        OneVsRestClassifier(WinnowEnsemble()), {"estimator__promotion": [1.015, 1.05, 1.2]}
    ),
    "naive_bayes_boolean_tuned": Tuned(NaiveBayes(), _SMOOTHING),
    "perceptron": Tuned(Perceptron(tol=None), {"max_iter": [1, 5, 20]}),
    "averaged_perceptron": Tuned(
        SGDClassifier(
            loss="perceptron",
            penalty=None,
            learning_rate="constant",
            eta0=1.0,
            average=True,
            tol=None,
        ),
        {"max_iter": [1, 5, 20]},
    ),
    "logistic": Tuned(LogisticRegression(max_iter=300), _PENALTY),
}
_ON_CATEGORIES = {
    "naive_bayes_multinomial": Tuned(NaiveBayes(), _SMOOTHING),
    "naive_bayes_elr": BayesNetClassifier(),  # which tunes the number of its steps itself
}
_ON_NUMBERS = {
    "logistic_numbers": make_pipeline(
        StandardScaler(), Tuned(LogisticRegression(max_iter=300), _PENALTY)
    ),
    "tree": Tuned(DecisionTreeClassifier(), {"min_samples_leaf": [1, 2, 5, 10, 20]}),
    "forest": RandomForestClassifier(100),
    # without the penalty, leaves of rare classes grow without bounds
    "boosting": HistGradientBoostingClassifier(l2_regularization=1.0, early_stopping=False),
    "svm_rbf": make_pipeline(StandardScaler(), Tuned(SVC(), _KERNEL, n_rows=1000)),
}
_ON_ATTRIBUTES = {"naive_bayes": NaiveBayes(), "naive_bayes_tuned": Tuned(NaiveBayes(), _SMOOTHING)}
UCI_LEARNERS = (*_ON_BOOLEANS, *_ON_CATEGORIES, *_ON_NUMBERS, *_ON_ATTRIBUTES)


def uci_learner(name, dataset, bins="paper"):
    """Make an unfitted learner that takes attributes as `lib.datasets.load` gives them.

    Parameters
    ----------
    name : str
        One of UCI_LEARNERS.
    dataset : str
        Which printed bins to use, if any.
    bins : {"paper", "means", "entropy"}
        As in `uci_comparison`.

    Returns
    -------
    classifier

    Raises
    ------
    ValueError
        For an unknown name; the message names the nearest.
    """
    check_choice("learners", name, UCI_LEARNERS)
    if name in _ON_BOOLEANS:
        # an array costs far less than a frame where a learner is fitted often
        as_array = FunctionTransformer(np.asarray)
        return make_pipeline(*boolean_inputs(dataset, bins), as_array, clone(_ON_BOOLEANS[name]))
    as_value = FunctionTransformer(missing_as_value)
    if name in _ON_CATEGORIES:
        return make_pipeline(cuts(dataset, bins), as_value, clone(_ON_CATEGORIES[name]))
    if name in _ON_NUMBERS:
        return make_pipeline(numeric_inputs(), clone(_ON_NUMBERS[name]))
    return make_pipeline(as_value, clone(_ON_ATTRIBUTES[name]))


def make_uci_learners(learners, dataset, bins):
    """Make unfitted learners by name, or copy your own classifiers: see `uci_comparison`."""
    learners = (learners,) if isinstance(learners, str) else learners
    if not isinstance(learners, Collection):
        raise ValueError(
            "learners must be a list of names, or a dict from names to classifiers; "
            f"got {learners!r}"
        )
    if not len(learners):
        raise ValueError("learners must name at least one learner; got none")
    if not isinstance(learners, dict):
        if len(set(learners)) < len(learners):
            raise ValueError(f"learners must name each learner once; got {list(learners)!r}")
        return {name: uci_learner(name, dataset, bins) for name in learners}
    for name, learner in learners.items():
        if not isinstance(name, str):
            raise ValueError(f"learners must have strings for names; got {name!r}")
        if isinstance(learner, type) or not (
            hasattr(learner, "fit") and hasattr(learner, "predict")
        ):
            raise ValueError(
                f"learners[{name!r}] must be a scikit-learn classifier; got {learner!r}"
            )
    return {name: clone(learner) for name, learner in learners.items()}
