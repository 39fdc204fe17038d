"""What all learners have in common: copies of them, and names of classes."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from test_errors import BOOLEAN, DISCRETE

from lib.naive_bayes import NaiveBayes


@pytest.mark.parametrize("learner", [*BOOLEAN, *DISCRETE, NaiveBayes()])
def test_a_refit_a_clone_and_a_pickle_are_the_same_and_names_of_classes_do_not_matter(learner):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6))
    y = (X[:, :3].sum(axis=1) + (rng.random(200) < 0.2) > 1).astype(int)
    learner = clone(learner)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    first = learner.fit(X, y).predict(X)
    copies = (pickle.loads(pickle.dumps(learner)), clone(learner).fit(X, y), learner.fit(X, y))
    for copy in copies:
        np.testing.assert_array_equal(copy.predict(X), first)
        if hasattr(copy, "predict_proba"):
            np.testing.assert_array_equal(copy.predict_proba(X), learner.predict_proba(X))
    names = np.array(["no", "yes"])
    np.testing.assert_array_equal(clone(learner).fit(X, names[y]).predict(X), names[first])
