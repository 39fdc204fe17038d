"""Weights of members that are learned from predictions on held-out rows."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.preprocessing import add_dummy_feature
from sklearn.utils import check_array, check_consistent_length

from lib.naive_bayes import NaiveBayes
from lib.validation import check_real


def likelihood_vote(votes, y):
    """Naive Bayes whose attributes are the classes that members predict (Ali & Pazzani's likelihood combination).

    Parameters
    ----------
    votes : array of int, shape (n_samples, n_members)
        Classes predicted for held-out rows.
    y : array of int, shape (n_samples,)

    Returns
    -------
    function of votes (n, n_members)
        The posterior of the classes of `y`, in their order, (n, n_classes).

    Raises
    ------
    ValueError
        If votes are no integers, or lengths differ.
    """
    model = NaiveBayes().fit(_checked_votes(votes), y)  # to which integers are categories
    return lambda votes: model.predict_proba(_checked_votes(votes))


def _checked_votes(votes):
    votes = np.asarray(votes)
    if votes.dtype.kind not in "biu":
        raise ValueError(f"votes must be integers, the numbers of classes; got {votes.dtype}")
    return votes.astype(int)


def gate(X, likelihoods, penalty=0.0):
    """Weights of members as a softmax of linear functions of the attributes.

    It maximises sum_i log sum_l w_l(x_i) P_l(y_i given x_i), less half of penalty * sum v^2, by
    L-BFGS, where w(x) is the softmax of v_l . (1, x); the intercepts are not penalised.

    Parameters
    ----------
    X : array of shape (n_samples, n_attributes)
    likelihoods : array of shape (n_samples, n_members)
        P_l(y_i given x_i), what each member gives to the true class.
    penalty : float, at least 0

    Returns
    -------
    function of attributes (n, n_attributes)
        The weights w, (n, n_members).

    Raises
    ------
    ValueError
        If the penalty is negative, a likelihood is negative, missing or infinite, or lengths
        differ.
    """
    penalty = check_real("penalty", penalty, 0)
    likelihoods = check_array(
        likelihoods, dtype=float, ensure_non_negative=True, input_name="likelihoods"
    )
    X, logs = add_dummy_feature(X), np.log(np.maximum(likelihoods, np.finfo(float).tiny))
    check_consistent_length(X, logs)
    shape = (X.shape[1], logs.shape[1])

    def loss(v):
        v = v.reshape(shape)
        log_weights = log_softmax(X @ v, axis=1)
        joint = log_weights + logs
        top = joint.max(axis=1, keepdims=True)
        totals = top + np.log(np.exp(joint - top).sum(axis=1, keepdims=True))
        gradient = X.T @ (np.exp(log_weights) - np.exp(joint - totals))
        gradient[1:] += penalty * v[1:]
        return -totals.sum() + penalty / 2 * (v[1:] ** 2).sum(), gradient.ravel()

    v = minimize(loss, np.zeros(np.prod(shape)), jac=True, method="L-BFGS-B").x.reshape(shape)
    return lambda X: softmax(add_dummy_feature(X) @ v, axis=1)
