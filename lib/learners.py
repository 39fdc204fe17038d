"""All learners of lib in one list, as `sklearn.utils.all_estimators` lists those of scikit-learn."""

import inspect

from sklearn.base import BaseEstimator

from lib import (
    bayes_net,
    discretize,
    ensembles,
    experts,
    hidden_markov,
    latent_class,
    naive_bayes,
    relevance,
    rules,
    spelling,
    trees,
    winnow,
)

FAMILIES = (
    naive_bayes,
    bayes_net,
    latent_class,
    hidden_markov,
    winnow,
    spelling,
    trees,
    rules,
    ensembles,
    experts,
    relevance,
    discretize,
)


def all_learners():
    """Return the class of each estimator that a family of learners exports, by family.

    Returns
    -------
    learners : dict of str -> list of type
        Of the name of a family's folder, such as "naive_bayes"; the classes are in the order of
        their names.
    """
    learners = {}
    for family in FAMILIES:
        name = family.__name__.removeprefix("lib.")
        members = [member for _, member in inspect.getmembers(family, _is_learner)]
        learners[name] = members
    return learners


def _is_learner(member):
    """Whether it is an estimator of lib that can be fitted, and so no base class without `fit`."""
    is_estimator = inspect.isclass(member) and issubclass(member, BaseEstimator)
    return is_estimator and member.__module__.startswith("lib.") and hasattr(member, "fit")
