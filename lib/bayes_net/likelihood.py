"""Conditional and joint log likelihood of merged rows with their gradients, in compiled loops.

Python calls one small kernel after the other. Kernels that call each other are compiled again into
each caller, so one kernel for all would take half a minute at the first fit, and those that pass
messages would be compiled for complete rows, which have no messages.
"""

from typing import NamedTuple

import numpy as np

from lib.bayes_net.messages import LOWEST, Messages, collect, distribute, reachable_messages
from lib.compiled import compiled

LOG_LOWEST = np.log(LOWEST)
# rows whose scores are held together: few enough for the processor's cache
BLOCK = 256


class Parameters(NamedTuple):
    """Which entries of the flat vector of tables are read together.

    Attributes
    ----------
    row_starts : ndarray of intp, shape (n_table_rows + 1,)
        Where each row of each table begins, and the end of the last.
    lookup : ndarray of intp, shape (n_cells, n_classes)
        Entry of the vector that each cell of a factor is, for each class.
    """

    row_starts: np.ndarray
    lookup: np.ndarray


class Rows(NamedTuple):
    """Rows of data, each a sum of log terms: one for each group of factors and for each message.

    Attributes
    ----------
    terms : ndarray of uint32, shape (n_rows, n_terms)
        Numbers of the terms that each row sums: below `len(group_cells)` a joint value of a group
        of factors, from there on a message. The last term of all is 0.
    group_cells : ndarray of uint32, shape (n_joint_values, width)
        Cells whose logs each joint value of a group of factors sums.
    messages : Messages
    """

    terms: np.ndarray
    group_cells: np.ndarray
    messages: Messages

    @property
    def n_terms(self):
        """Number of different terms, the one that is 0 included."""
        return len(self.group_cells) + len(self.messages.starts)

    def reachable_messages(self):
        """Numbers of the messages that the rows need, directly or through other messages."""
        if len(self.messages.widths) == 0:  # complete rows: no kernel for messages is compiled
            return np.empty(0, np.intp)
        return reachable_messages(self.messages, self.terms, len(self.group_cells))


class Objective:
    """The mean log likelihood of rows in the softmax parameters, with a log prior.

    Parameters
    ----------
    parameters : Parameters
    rows : Rows
    counts : ndarray of shape (n_rows, n_classes)
        How often each class comes with each row.
    conditional : bool
        The mean is of ln P(c | e), else of ln P(c, e).
    smoothing : float
        Weight of the log prior, the sum of all ln theta.
    size : float
        What the sum is divided by.
    """

    def __init__(self, parameters, rows, counts, conditional, smoothing, size):
        has_count = counts.any(axis=1)
        self.parameters = parameters
        self.rows = rows._replace(terms=rows.terms[has_count])
        self.counts = counts[has_count]
        self.conditional = conditional
        self.smoothing = smoothing
        self.size = size
        self.reachable = self.rows.reachable_messages()
        # room for the cells of messages, and for the beliefs in them, which are 0 between calls
        shape = (self.rows.messages.starts[-1], counts.shape[1])
        self.cells = np.empty(shape)
        self.beliefs = np.zeros(shape)

    def evaluate(self, beta):
        """Return the objective at the softmax parameters `beta`, its gradient, and expected counts.

        Parameters
        ----------
        beta : ndarray of shape (n_parameters,)

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_parameters,)
            Proposition 3 of Greiner et al. (2005), summed over the rows, over `size`.
        expected : ndarray of shape (n_parameters,)
            How often each value comes with its parents' values, as expected given the rows and
            their classes, plus `smoothing`. If `conditional`, less what is expected without knowing
            the classes. Of missing variables, only those that the rows sum over have counts.
        """
        row_starts, lookup = self.parameters
        terms, group_cells, messages = self.rows
        log_theta, theta = softmax_rows(beta, row_starts)
        logs, term_logs = sum_factors(log_theta, lookup, group_cells, self.rows.n_terms)
        n_groups = len(group_cells)
        if len(self.reachable):
            collect(messages, self.reachable, logs, self.cells, term_logs[n_groups:])
        value, weights = weigh_rows(term_logs, terms, self.counts, self.conditional)
        self.beliefs[: len(lookup) + 1] = 0.0
        if len(self.reachable):
            distribute(messages, self.reachable, self.cells, weights[n_groups:], self.beliefs)
        prior, expected, gradient = differentiate(
            self.beliefs, weights, group_cells, lookup, row_starts, log_theta, theta, self.smoothing
        )
        gradient /= self.size
        return (value + prior) / self.size, gradient, expected

    def observed_counts(self):
        """How often each value and its parents' values are all observed, (n_parameters,)."""
        return observed_counts(self.parameters, self.rows, self.counts)


def log_joints(log_theta, parameters, rows, reachable=None):
    """Ln P(c, e) of each row and class, (n_rows, n_classes).

    `reachable` are `rows.reachable_messages()`, for callers that ask with many tables.
    """
    logs, term_logs = sum_factors(log_theta, parameters.lookup, rows.group_cells, rows.n_terms)
    reachable = rows.reachable_messages() if reachable is None else reachable
    if len(reachable):
        cells = np.empty((rows.messages.starts[-1], logs.shape[1]))
        collect(rows.messages, reachable, logs, cells, term_logs[len(rows.group_cells) :])
    scores = np.empty((len(rows.terms), logs.shape[1]))
    sum_terms(term_logs, rows.terms, scores)
    return scores


def error_rates(log_thetas, parameters, rows, counts, tie):
    """Error rate on each of `counts` (m, n_rows, n_classes) of each of `log_thetas`, (n_thetas, m).

    Predicted is the first class whose log probability is as high as any, but for `tie`. The rate is
    NaN where nothing is counted.
    """
    reachable = rows.reachable_messages()
    rates = np.empty((len(log_thetas), len(counts)))
    for t in range(len(log_thetas)):
        scores = log_joints(log_thetas[t], parameters, rows, reachable)
        count_errors(scores, counts, tie, rates[t])
    return rates


def observed_counts(parameters, rows, counts):
    """How often each value and its parents' values are all observed, (n_parameters,)."""
    n_cells, n_classes = parameters.lookup.shape
    term_counts = np.zeros((rows.n_terms, n_classes))
    scatter_terms(term_counts, rows.terms, counts)
    # the cell after the last takes what is not observed
    cell_counts = np.zeros((n_cells + 1, n_classes))
    scatter_terms(cell_counts, rows.group_cells, term_counts)
    return np.bincount(
        parameters.lookup.ravel(), cell_counts[:-1].ravel(), parameters.row_starts[-1]
    )


@compiled(error_model="numpy")
def softmax_rows(beta, row_starts):
    """Return ln theta and theta: exp(beta) over its sum in each row of each table."""
    log_theta = np.empty_like(beta)
    theta = np.empty_like(beta)
    for row in range(row_starts.shape[0] - 1):
        start = row_starts[row]
        stop = row_starts[row + 1]
        top = beta[start]
        for i in range(start, stop):
            top = max(top, beta[i])
        total = 0.0
        for i in range(start, stop):
            theta[i] = np.exp(beta[i] - top)
            total += theta[i]
        shift = top + np.log(total)
        for i in range(start, stop):
            theta[i] /= total
            log_theta[i] = max(beta[i] - shift, LOG_LOWEST)
    return log_theta, theta


@compiled(error_model="numpy")
def sum_factors(log_theta, lookup, group_cells, n_terms):
    """Return the logs of all cells (n_cells + 1, n_classes), and the terms of groups of factors.

    The last cell, of factors that are left out, has the log 0, as have the terms of messages until
    `collect` sets them.
    """
    n_cells, n_classes = lookup.shape
    logs = np.zeros((n_cells + 1, n_classes))
    for m in range(n_cells):
        for c in range(n_classes):
            logs[m, c] = log_theta[lookup[m, c]]
    term_logs = np.zeros((n_terms, n_classes))
    sum_terms(logs, group_cells, term_logs)
    return logs, term_logs


@compiled(error_model="numpy")
def sum_terms(term_logs, terms, scores):
    """Set the scores (n_rows or more, n_classes) to the sums of each row's terms."""
    n_classes = scores.shape[1]
    for r in range(len(terms)):
        for c in range(0, n_classes - 1, 2):  # two at a time: sums in registers
            a = 0.0
            b = 0.0
            for g in range(terms.shape[1]):
                term = terms[r, g]
                a += term_logs[term, c]
                b += term_logs[term, c + 1]
            scores[r, c] = a
            scores[r, c + 1] = b
        if n_classes % 2 == 1:
            scores[r, -1] = 0.0
            for g in range(terms.shape[1]):
                scores[r, -1] += term_logs[terms[r, g], -1]


@compiled(error_model="numpy")
def scatter_terms(term_weights, terms, weights):
    """Add the weights of each row to all its terms: `sum_terms` transposed."""
    if weights.shape[1] == 2:
        for r in range(len(terms)):
            a = weights[r, 0]
            b = weights[r, 1]
            for g in range(terms.shape[1]):
                term = terms[r, g]
                term_weights[term, 0] += a
                term_weights[term, 1] += b
        return
    for r in range(len(terms)):
        for g in range(terms.shape[1]):
            term = terms[r, g]
            for c in range(weights.shape[1]):
                term_weights[term, c] += weights[r, c]


@compiled(error_model="numpy")
def weigh_rows(term_logs, terms, counts, conditional):
    """Return the sum of log likelihoods of all rows, and its derivatives by each term."""
    weights = np.zeros_like(term_logs)
    scores = np.empty((BLOCK, counts.shape[1]))
    value = 0.0
    for start in range(0, len(counts), BLOCK):
        stop = min(start + BLOCK, len(counts))
        block_terms = terms[start:stop]
        sum_terms(term_logs, block_terms, scores)
        value += weigh_scores(scores, counts[start:stop], conditional)
        scatter_terms(weights, block_terms, scores)
    return value, weights


@compiled(error_model="numpy")
def weigh_scores(scores, counts, conditional):
    """Return the log likelihood of rows; replace each score ln P(c, e) by its derivative.

    That of ln P(c, e) is the count of the class; that of ln P(c | e) is the count less P(c | e) for
    every case of the row: the first brackets of Proposition 3, before they are split by families.
    """
    n_classes = scores.shape[1]
    value = 0.0
    product = 1.0  # of normalisers, as one logarithm takes longer than many products
    for r in range(len(counts)):
        total = 0.0
        for c in range(n_classes):
            total += counts[r, c]
        if total == 0.0 or not conditional:
            for c in range(n_classes):
                value += counts[r, c] * scores[r, c]
                scores[r, c] = counts[r, c]
            continue
        top = scores[r, 0]
        for c in range(1, n_classes):
            top = max(top, scores[r, c])
        normaliser = 0.0
        for c in range(n_classes):
            difference = scores[r, c] - top
            value += counts[r, c] * difference
            scores[r, c] = 1.0 if difference == 0.0 else np.exp(difference)
            normaliser += scores[r, c]
        share = total / normaliser
        for c in range(n_classes):
            scores[r, c] = counts[r, c] - share * scores[r, c]
        if total == 1.0 and product < 1e200:
            product *= normaliser
        else:
            value -= total * np.log(normaliser)
    return value - np.log(product)


@compiled(error_model="numpy")
def differentiate(beliefs, weights, group_cells, lookup, row_starts, log_theta, theta, smoothing):
    """Return the log prior, the expected counts with `smoothing`, and the gradient.

    `beliefs` (n_cells or more, n_classes) has the expected counts of cells that messages read, and
    gets those of the groups of factors from their `weights`. The gradient is N(d, f) - theta N(f),
    the difference of the two brackets of Proposition 3, where N are the expected counts.
    """
    scatter_terms(beliefs, group_cells, weights)
    expected = np.empty_like(theta)
    expected[:] = smoothing
    for m in range(lookup.shape[0]):
        for c in range(lookup.shape[1]):
            expected[lookup[m, c]] += beliefs[m, c]
    gradient = np.empty_like(theta)
    for row in range(row_starts.shape[0] - 1):
        start = row_starts[row]
        stop = row_starts[row + 1]
        total = 0.0
        for i in range(start, stop):
            total += expected[i]
        for i in range(start, stop):
            gradient[i] = expected[i] - theta[i] * total
    prior = 0.0
    if smoothing > 0:
        for i in range(len(log_theta)):
            prior += log_theta[i]
        prior *= smoothing
    return prior, expected, gradient


@compiled(error_model="numpy")
def count_errors(scores, counts, tie, rates):
    """Set the error rate of the classes that the scores predict, on each of several `counts`."""
    for i in range(len(counts)):
        n_right = 0.0
        total = 0.0
        for r in range(scores.shape[0]):
            top = scores[r, 0]
            for c in range(1, scores.shape[1]):
                top = max(top, scores[r, c])
            predicted = 0
            while scores[r, predicted] < top - tie:
                predicted += 1
            row_total = 0.0
            for c in range(scores.shape[1]):
                row_total += counts[i, r, c]
            total += row_total
            n_right += counts[i, r, predicted]
        rates[i] = (total - n_right) / total
