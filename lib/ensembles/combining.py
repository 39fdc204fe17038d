"""Weights of members that are learned from predictions on held-out rows."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, log_softmax, softmax
from sklearn.preprocessing import add_dummy_feature
from sklearn.utils import check_array, check_consistent_length

from lib.base.validation import check_numbers, check_real
from lib.naive_bayes import NaiveBayes


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


def _check_vector(name, values):
    """Return values as an array of float, shape (n,), or raise ValueError."""
    values = check_numbers(name, values, "a sequence of numbers")
    if values.ndim != 1:
        raise ValueError(f"{name} must have shape (n_members,); got {values.shape}")
    return values


def _check_votes(votes):
    """Return votes as an array of int, or raise ValueError."""
    votes = np.asarray(votes)
    if votes.dtype.kind not in "biu":
        raise ValueError(f"votes must be integers, the numbers of classes; got {votes.dtype}")
    return votes.astype(int)


def log_vote_likelihoods(votes, y):
    """Log likelihood of the classes of rows, given each member and an unknown rate of its errors.

    A member whose rate is e is right about a row with probability 1 - e; else each of the other
    K - 1 classes is as likely. With all rates as likely before, a member that is right r times and
    wrong w times has the likelihood B(r + 1, w + 1) / (K - 1)^w.

    Parameters
    ----------
    votes : array of int, shape (n_samples, n_members)
        Classes predicted for the rows: of the training sample, or held out.
    y : array of int, shape (n_samples,)
        Their classes; K is the number of classes in it.

    Returns
    -------
    ndarray of shape (n_members,)
        ln P(S given h), as `bayesian_weights` takes it.

    Raises
    ------
    ValueError
        If votes are no integers, or lengths differ.

    References
    ----------
    Buntine (1990), "A theory of learning classification rules": Beta priors of error rates.
    """
    votes = _check_votes(votes)
    check_consistent_length(votes, y)
    is_right = votes == np.asarray(y)[:, None]
    n_right = is_right.sum(axis=0)
    n_wrong = len(votes) - n_right
    n_rivals = max(len(np.unique(y)) - 1, 1)
    return betaln(n_right + 1, n_wrong + 1) - n_wrong * np.log(n_rivals)


def bayesian_weights(log_likelihoods, prior=None):
    """Compute the posterior probability of each member, its weight in a Bayesian vote.

    It is the prior times the likelihood of the sample, normalised: P(h given S) is proportional to
    P(h) P(S given h).

    Parameters
    ----------
    log_likelihoods : array of shape (n_members,)
        ln P(S given h), -inf for a member that the sample rules out.
    prior : array of shape (n_members,), optional
        P(h), up to a factor; by default all are equal.

    Returns
    -------
    ndarray of shape (n_members,)
        The weights, whose sum is 1.

    Raises
    ------
    ValueError
        If a likelihood or prior is missing or infinite, a prior negative, lengths differ, or every
        member has a likelihood or a prior of 0.
    """
    log_likelihoods = _check_vector("log_likelihoods", log_likelihoods)
    if prior is None:
        prior = np.ones(len(log_likelihoods))
    prior = _check_vector("prior", prior)
    check_consistent_length(log_likelihoods, prior)
    if np.isnan(log_likelihoods).any() or not (prior >= 0).all():
        raise ValueError("log_likelihoods must be numbers, and prior numbers of at least 0")
    with np.errstate(divide="ignore"):
        log_joint = log_likelihoods + np.log(prior)
    if not np.isfinite(log_joint.max(initial=-np.inf)):
        raise ValueError("log_likelihoods must be finite for a member whose prior is above 0")
    return softmax(log_joint)


def inverse_variance_weights(errors):
    """Weigh members by the inverse of their mean squared error.

    Of all weights whose sum is 1 they have the least squares combination if errors of different
    members are uncorrelated and have mean 0. Members without any error share the weight, if some
    have none.

    Parameters
    ----------
    errors : array of shape (n_samples, n_members)
        Estimate less truth of each member, on held-out rows (and classes).

    Returns
    -------
    ndarray of shape (n_members,)
        The weights, whose sum is 1.

    Raises
    ------
    ValueError
        If an error is missing or infinite, or there is none.

    References
    ----------
    Perrone & Cooper (1993), "When networks disagree: ensemble methods for hybrid neural networks".
    """
    errors = check_array(errors, dtype=float, input_name="errors")
    variances = np.mean(errors**2, axis=0)
    if variances.min() == 0:
        precisions = (variances == 0).astype(float)
    else:
        precisions = variances.min() / variances
    return precisions / precisions.sum()


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
