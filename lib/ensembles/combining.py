"""Weights of members that are learned from predictions on held-out rows."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.preprocessing import add_dummy_feature
from sklearn.utils import check_array, check_consistent_length

from lib.naive_bayes import NaiveBayes
from lib.validation import check_real


def likelihood_vote(votes, y):
    """Learn naive Bayes of the classes that members predict: likelihood combination.

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

    References
    ----------
    Ali & Pazzani (1996), "Error reduction through learning multiple descriptions".
    """
    model = NaiveBayes().fit(_check_votes(votes), y)  # to which integers are categories
    return lambda votes: model.predict_proba(_check_votes(votes))


def _check_votes(votes):
    """Return votes as an array of int, or raise ValueError."""
    votes = np.asarray(votes)
    if votes.dtype.kind not in "biu":
        raise ValueError(f"votes must be integers, the numbers of classes; got {votes.dtype}")
    return votes.astype(int)


def gate(X, likelihoods, penalty=0.0):
    """Learn weights of members as a softmax of linear functions of the attributes.

    It maximises sum_i log sum_l w_l(x_i) P_l(y_i given x_i) minus half of penalty * sum v^2 by
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
    log_likelihoods = np.log(np.maximum(likelihoods, np.finfo(float).tiny))
    inputs = add_dummy_feature(X)
    check_consistent_length(inputs, log_likelihoods)
    shape = (inputs.shape[1], log_likelihoods.shape[1])

    def loss(v):
        v = v.reshape(shape)
        log_weights = log_softmax(inputs @ v, axis=1)
        log_joint = log_weights + log_likelihoods
        # log sum exp of the members: ln P(y_i given x_i)
        largest = log_joint.max(axis=1, keepdims=True)
        log_evidence = largest + np.log(np.exp(log_joint - largest).sum(axis=1, keepdims=True))
        # prior minus posterior of the members, as for a mixture of experts
        posteriors = np.exp(log_joint - log_evidence)
        gradient = inputs.T @ (np.exp(log_weights) - posteriors)
        gradient[1:] += penalty * v[1:]
        value = -log_evidence.sum() + penalty / 2 * (v[1:] ** 2).sum()
        return value, gradient.ravel()

    start = np.zeros(np.prod(shape))
    v = minimize(loss, start, jac=True, method="L-BFGS-B").x.reshape(shape)
    return lambda X: softmax(add_dummy_feature(X) @ v, axis=1)
