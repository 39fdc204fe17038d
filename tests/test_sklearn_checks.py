"""scikit-learn's own checks of its conventions.

The learners take attributes of 0 and 1 only, and the checks use other numbers: every check is run on a subclass
that takes X > 0 for its attributes, and on the learner itself, which may refuse the data but do nothing else wrong.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from lib.latent_class import LatentClassCovariance, LatentClassEM, LatentClassSelection
from lib.winnow import Winnow, WinnowEnsemble

REFUSAL = "X must hold only 0 and 1"


class Binarising:
    def _boolean(self, X):
        if sparse.issparse(X):
            return (X > 0).astype(np.uint8)
        return (np.asarray(X, dtype=float) > 0).astype(np.uint8)


class BinarisingEM(Binarising, LatentClassEM):
    pass


class BinarisingCovariance(Binarising, LatentClassCovariance):
    pass


class BinarisingSelection(Binarising, LatentClassSelection):
    pass


class BinarisingWinnow(Binarising, Winnow):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not self.complement  # positive weights do not suit the data
        return tags


class BinarisingEnsemble(Binarising, WinnowEnsemble):
    pass


def learners(em, covariance, selection, winnow, ensemble):
    return [
        em(n_restarts=2, max_iterations=50),
        covariance(),
        selection(n_restarts=2, max_iterations=50, max_hidden=3),
        winnow(promotion=1.1, n_passes=20, complement=True, average=True),
        winnow(promotion=1.1, n_passes=20, average=True, threshold=0.5),  # takes sparse data
        ensemble(n_members=3),
    ]


def run(check, estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@parametrize_with_checks(
    learners(BinarisingEM, BinarisingCovariance, BinarisingSelection, BinarisingWinnow, BinarisingEnsemble)
)
def test_conventions(estimator, check):
    run(check, estimator)


@parametrize_with_checks(learners(LatentClassEM, LatentClassCovariance, LatentClassSelection, Winnow, WinnowEnsemble))
def test_conventions_but_for_refusing_other_numbers(estimator, check):
    refused = False
    try:
        run(check, estimator)
    except Exception as error:
        chain = [error, error.__cause__, error.__context__]
        refused = any(isinstance(e, ValueError) and REFUSAL in str(e) for e in chain)
        if not refused:
            raise
    if refused:  # outside of the handler, as the report of a chain of errors takes long
        pytest.xfail("the data of this check are not boolean")
