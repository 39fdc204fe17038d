"""Conditional and joint log likelihood of merged rows with their gradients, in compiled loops.

Kernels that call each other are compiled again into each caller, level by level: that took half a
minute at the first fit. So `mean_objective` calls small kernels that hardly call others. It is run by
Python, or inlined in the one kernel of an ascent.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.base.compiled import compiled
from lib.bayes_net.messages import LOWEST, Messages, collect, distribute, reachable_messages

LOG_LOWEST = np.log(LOWEST)
# rows whose scores are held together: few enough for the processor's cache
BLOCK = 256


class FlatTables(NamedTuple):
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

    @property
    def has_messages(self):
        """Whether there are messages, as there are none for complete rows."""
        return len(self.messages.widths) > 0

    def reachable_messages(self):
        """Numbers of the messages that the rows need, directly or through other messages."""
        if not self.has_messages:  # no kernel for messages is compiled
            return np.empty(0, np.intp)
        return reachable_messages(self.messages, self.terms, len(self.group_cells))


class Terms:
    """Terms that rows sum, for one vector of tables after the other.

    Arrays are made once: to hand a new array over from a kernel to Python takes as long as a kernel
    with few rows.

    Parameters
    ----------
    parameters : FlatTables
    rows : Rows

    Attributes
    ----------
    logs : ndarray of shape (n_terms, n_classes)
        Of the groups of factors, then of the messages, then 0.
    message_logs : ndarray of shape (n_messages + 1, n_classes)
        The last rows of `logs`.
    cells : ndarray of shape (n_cells, n_classes)
        Cells of factors and messages, where there are messages.
    product : ndarray of shape (largest number of products that a message sums, n_classes)
    cell_logs : ndarray of shape (n_cells_of_factors + 1, n_classes)
        The last cell, of factors that are left out, has the log 0.
    reachable : ndarray of int
        Numbers of the messages that the rows need.
    """

    def __init__(self, parameters, rows):
        n_cells, n_classes = parameters.lookup.shape
        self.lookup = parameters.lookup
        self.group_cells = rows.group_cells
        self.messages = rows.messages
        self.reachable = rows.reachable_messages()
        self.logs = np.zeros((rows.n_terms, n_classes))
        self.cells = np.empty((rows.messages.starts[-1], n_classes))
        self.product = np.empty((rows.messages.largest_product, n_classes))
        self.cell_logs = np.zeros((n_cells + 1, n_classes))
        self.message_logs = self.logs[len(rows.group_cells) :]

    def update(self, log_theta):
        """Compute the terms for the logs of tables (n_parameters,)."""
        sum_factors(log_theta, self.lookup, self.group_cells, self.cell_logs, self.logs)
        if len(self.reachable):
            collect(
                self.messages,
                self.reachable,
                self.cell_logs,
                self.cells,
                self.product,
                self.message_logs,
            )


class Evaluation(NamedTuple):
    """What `mean_objective` reads, and the arrays that it fills.

    Attributes
    ----------
    conditional, smoothing, size
        As in `Objective`.
    row_starts, lookup
        As in `FlatTables`.
    terms, group_cells
        As in `Rows`, of the rows that have a count.
    counts : ndarray of shape (n_rows, n_classes)
    reachable, term_logs, message_logs, cells, product, cell_logs
        As in `Terms`.
    log_theta, theta : ndarray of shape (n_parameters,)
        Tables.
    scores : ndarray of shape (BLOCK, n_classes)
        Ln P(c, e) of some rows.
    term_weights, message_weights
        Derivatives by the logs of terms, and the last rows of these, by messages.
    beliefs
        Derivatives by the logs of cells; those of messages are 0 between evaluations.
    expected : ndarray of shape (n_parameters,)
        How often each value comes with its parents' values, as expected given the rows and their
        classes, plus `smoothing`. If `conditional`, less what is expected without knowing the
        classes. Of missing variables, only those that the rows sum over have counts.
    """

    conditional: bool
    smoothing: float
    size: float
    row_starts: np.ndarray
    lookup: np.ndarray
    terms: np.ndarray
    group_cells: np.ndarray
    counts: np.ndarray
    reachable: np.ndarray
    term_logs: np.ndarray
    message_logs: np.ndarray
    cells: np.ndarray
    product: np.ndarray
    cell_logs: np.ndarray
    log_theta: np.ndarray
    theta: np.ndarray
    scores: np.ndarray
    term_weights: np.ndarray
    message_weights: np.ndarray
    beliefs: np.ndarray
    expected: np.ndarray


class Objective:
    """The mean log likelihood of rows in the softmax parameters, with a log prior.

    Parameters
    ----------
    parameters : FlatTables
    rows : Rows
    counts : ndarray of shape (n_rows, n_classes)
        How often each class comes with each row.
    conditional : bool
        The mean is of ln P(c | e), else of ln P(c, e).
    smoothing : float
        Weight of the log prior, the sum of all ln theta.
    size : float
        What the sum is divided by.

    Attributes
    ----------
    evaluation : Evaluation
    messages : Messages or None
        None where there are none, so that no kernel for messages is compiled.
    """

    def __init__(self, parameters, rows, counts, conditional, smoothing, size):
        has_count = counts.any(axis=1)
        self.parameters = parameters
        self.rows = rows._replace(terms=rows.terms[has_count])
        self.counts = counts[has_count]
        self.size = size
        self.messages = rows.messages if rows.has_messages else None
        terms = Terms(parameters, self.rows)
        n_parameters = parameters.row_starts[-1]
        term_weights = np.empty_like(terms.logs)
        self.evaluation = Evaluation(
            conditional=conditional,
            smoothing=smoothing,
            size=size,
            row_starts=parameters.row_starts,
            lookup=parameters.lookup,
            terms=self.rows.terms,
            group_cells=rows.group_cells,
            counts=self.counts,
            reachable=terms.reachable,
            term_logs=terms.logs,
            message_logs=terms.message_logs,
            cells=terms.cells,
            product=terms.product,
            cell_logs=terms.cell_logs,
            log_theta=np.empty(n_parameters),
            theta=np.empty(n_parameters),
            scores=np.empty((BLOCK, counts.shape[1])),
            term_weights=term_weights,
            message_weights=term_weights[len(rows.group_cells) :],
            beliefs=np.zeros_like(terms.cells),
            expected=np.empty(n_parameters),
        )

    def evaluate(self, beta):
        """Return the objective at the softmax parameters `beta`, its gradient, and expected counts.

        The last are as in `Evaluation`.
        """
        gradient = np.empty_like(beta)
        # run by Python, kernel after kernel
        value = mean_objective.py_func(beta, self.evaluation, self.messages, gradient)
        return value, gradient, self.evaluation.expected.copy()

    def observed_counts(self):
        """How often each value and its parents' values are all observed, (n_parameters,)."""
        return observed_counts(self.parameters, self.rows, self.counts)


def log_joints(log_theta, parameters, rows):
    """Ln P(c, e) of each row and class, (n_rows, n_classes)."""
    terms = Terms(parameters, rows)
    terms.update(log_theta)
    scores = np.empty((len(rows.terms), terms.logs.shape[1]))
    sum_terms(terms.logs, rows.terms, scores)
    return scores


def error_rates(log_thetas, parameters, rows, counts, tie):
    """Error rate on each of `counts` (m, n_rows, n_classes) of each of `log_thetas`, (n_thetas, m).

    Predicted is the first class whose log probability is as high as any, but for `tie`. The rate is
    NaN where nothing is counted.
    """
    terms = Terms(parameters, rows)
    rates = np.empty((len(log_thetas), len(counts)))
    for log_theta, theta_rates in zip(log_thetas, rates, strict=True):
        terms.update(log_theta)
        count_errors(terms.logs, rows.terms, counts, tie, theta_rates)
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


@njit(inline="always", error_model="numpy")
def mean_objective(beta, evaluation, messages, gradient):
    """Return the objective at the softmax parameters `beta`; set its gradient.

    Parameters
    ----------
    beta : ndarray of shape (n_parameters,)
    evaluation : Evaluation
    messages : Messages or None
        Beside `evaluation`, as numba does not compile what an argument None rules out.
    gradient : ndarray of shape (n_parameters,)
        Set to Proposition 3 of Greiner et al. (2005), summed over the rows, over `size`.
    """
    # forwards: tables, terms, scores of the rows
    softmax_rows(beta, evaluation.row_starts, evaluation.log_theta, evaluation.theta)
    sum_factors(
        evaluation.log_theta,
        evaluation.lookup,
        evaluation.group_cells,
        evaluation.cell_logs,
        evaluation.term_logs,
    )
    if messages is not None:
        collect(
            messages,
            evaluation.reachable,
            evaluation.cell_logs,
            evaluation.cells,
            evaluation.product,
            evaluation.message_logs,
        )
    value = weigh_rows(
        evaluation.term_logs,
        evaluation.terms,
        evaluation.counts,
        evaluation.conditional,
        evaluation.scores,
        evaluation.term_weights,
    )
    # backwards: what each term, cell and parameter counts
    evaluation.beliefs[: len(evaluation.cell_logs)] = 0.0
    if messages is not None:
        distribute(
            messages,
            evaluation.reachable,
            evaluation.cells,
            evaluation.product,
            evaluation.message_weights,
            evaluation.beliefs,
        )
    log_prior = differentiate(
        evaluation.term_weights,
        evaluation.beliefs,
        evaluation.group_cells,
        evaluation.lookup,
        evaluation.row_starts,
        evaluation.log_theta,
        evaluation.theta,
        evaluation.smoothing,
        evaluation.size,
        evaluation.expected,
        gradient,
    )
    return (value + log_prior) / evaluation.size


@compiled(error_model="numpy")
def softmax_rows(beta, row_starts, log_theta, theta):
    """Set ln theta and theta: exp(beta) over its sum in each row of each table."""
    for row in range(row_starts.shape[0] - 1):
        start = row_starts[row]
        stop = row_starts[row + 1]
        # less the largest, so that no power overflows
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


@compiled(error_model="numpy")
def sum_factors(log_theta, lookup, group_cells, cell_logs, term_logs):
    """Set the logs of cells (n_cells or more, n_classes), and the terms of groups of factors."""
    for m in range(lookup.shape[0]):
        for c in range(lookup.shape[1]):
            cell_logs[m, c] = log_theta[lookup[m, c]]
    sum_terms(cell_logs, group_cells, term_logs)


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
def weigh_rows(term_logs, terms, counts, conditional, scores, weights):
    """Return the sum of log likelihoods of all rows; set `weights` to its derivatives by terms."""
    weights[:] = 0.0
    value = 0.0
    for start in range(0, len(counts), BLOCK):
        stop = min(start + BLOCK, len(counts))
        block_terms = terms[start:stop]
        sum_terms(term_logs, block_terms, scores)
        value += weigh_scores(scores, counts[start:stop], conditional)
        scatter_terms(weights, block_terms, scores)
    return value


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
        # P(c | e) is the softmax of the scores
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
def differentiate(
    weights,
    beliefs,
    group_cells,
    lookup,
    row_starts,
    log_theta,
    theta,
    smoothing,
    size,
    expected,
    gradient,
):
    """Set the expected counts, with `smoothing`, and the gradient; return the log prior.

    `weights` are the derivatives by terms, and `beliefs` (n_cells or more, n_classes) those by the
    logs of cells that messages read, to which those of groups of factors are added.
    """
    scatter_terms(beliefs, group_cells, weights)
    expected[:] = smoothing
    for m in range(lookup.shape[0]):
        for c in range(lookup.shape[1]):
            expected[lookup[m, c]] += beliefs[m, c]
    # N(d, f) - theta N(f), where N are the expected counts: Proposition 3, with both brackets split
    for row in range(row_starts.shape[0] - 1):
        start = row_starts[row]
        stop = row_starts[row + 1]
        total = 0.0
        for i in range(start, stop):
            total += expected[i]
        for i in range(start, stop):
            gradient[i] = (expected[i] - theta[i] * total) / size
    log_prior = 0.0
    if smoothing > 0:
        for i in range(len(log_theta)):
            log_prior += log_theta[i]
        log_prior *= smoothing
    return log_prior


@compiled(error_model="numpy")
def count_errors(term_logs, terms, counts, tie, rates):
    """Set the error rate of the classes that are predicted, on each of several `counts`."""
    scores = np.empty((terms.shape[0], counts.shape[2]))
    sum_terms(term_logs, terms, scores)
    for i in range(counts.shape[0]):
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
