"""EM's step of many runs at once, compiled: `lib.latent_class.em.em_step`, but for rounding.

Both steps of EM multiply a matrix of bits by a matrix of numbers: the E step the rows by the log
odds of the attributes, the M step the rows' transpose by the posteriors. Such a product needs no
multiplication: a row of it is the sum of the numbers' rows for which there is a 1.

Sums are looked up, four rows at a time ("the four Russians": Arlazarov, Dinic, Kronrod & Faradzev,
1970). Four rows have 16 sums, one for each pattern of four bits; these are tabulated, and then each
row of bits finds the sum of its pattern with one addition in place of four. A machine word of 16
bits takes four tables.

The numbers have eight columns (`LANES`), those of eight runs of EM side by side, which the
processor adds as one vector; more runs are more blocks of eight columns. A column's sums are added
in the same order whatever the other columns and whatever the processor, so that a run's result does
not depend on the runs beside it.
"""

import numpy as np

from lib.base import arrays
from lib.base.compiled import assign, compiled

LANES = 8
WORD_BITS = 16
EDGE = 1e-10  # no probability, and no mass of a hidden value, is nearer to 0
SAFE_EXPONENT = 80.0  # of a number beside which 1 is nothing, and which is no infinity
GROUP = 8  # normalisers of at most k exp(80) each, so that their product is a number
_PATTERN = np.uint64(15)


def pack_bits(rows):
    """Pack rows (s, m) of 0 and 1 into words (ceil(m / 16), s), the first attribute lowest."""
    n_words = -(-rows.shape[1] // WORD_BITS)
    packed = np.zeros((len(rows), 2 * n_words), np.uint8)
    packed_bytes = np.packbits(rows, axis=1, bitorder="little")
    packed[:, : packed_bytes.shape[1]] = packed_bytes
    return np.ascontiguousarray(packed.view("<u2").T)


@compiled()
def multiply_bits(words, blocks):
    """Multiply the bits (s, m) in `words` by each of the matrices `blocks` (b, m, 8): (b, s, 8)."""
    n_rows = words.shape[1]
    products = np.zeros((len(blocks), n_rows, LANES), blocks.dtype)
    # of four attributes each, the sums for each pattern of their bits
    tables = np.zeros((4, 16, LANES), blocks.dtype)
    for b in range(len(blocks)):
        for q in range(len(words)):
            _tabulate_sums(blocks[b], q * WORD_BITS, tables)
            for i in range(n_rows):
                word = np.uint64(words[q, i])
                _add_vectors(
                    products[b, i],
                    products[b, i],
                    tables[0, word & _PATTERN],
                    tables[1, (word >> np.uint64(4)) & _PATTERN],
                    tables[2, (word >> np.uint64(8)) & _PATTERN],
                    tables[3, word >> np.uint64(12)],
                )
    return products


@compiled()
def _tabulate_sums(matrix, first, tables):
    """Fill tables (4, 16, 8) with the sums of the rows of `matrix` from `first` on, in fours.

    The sum for a pattern is that for the pattern without its highest bit, and one row more.
    """
    zeros = np.zeros(LANES, matrix.dtype)
    for j in range(WORD_BITS):
        table = tables[j // 4]
        bit = 1 << (j % 4)
        row = matrix[first + j] if first + j < len(matrix) else zeros
        for pattern in range(bit):
            _add_vectors(table[bit + pattern], table[pattern], row, zeros, zeros, zeros)


@compiled()
def _add_vectors(total, base, a, b, c, d):
    """Set `total` to base + (a + b) + (c + d).

    All eight lanes are read before one is written: LLVM then makes vectors of them, which it does
    not of a loop over arrays that might overlap.
    """
    lane_0 = base[0] + ((a[0] + b[0]) + (c[0] + d[0]))
    lane_1 = base[1] + ((a[1] + b[1]) + (c[1] + d[1]))
    lane_2 = base[2] + ((a[2] + b[2]) + (c[2] + d[2]))
    lane_3 = base[3] + ((a[3] + b[3]) + (c[3] + d[3]))
    lane_4 = base[4] + ((a[4] + b[4]) + (c[4] + d[4]))
    lane_5 = base[5] + ((a[5] + b[5]) + (c[5] + d[5]))
    lane_6 = base[6] + ((a[6] + b[6]) + (c[6] + d[6]))
    lane_7 = base[7] + ((a[7] + b[7]) + (c[7] + d[7]))
    total[0] = lane_0
    total[1] = lane_1
    total[2] = lane_2
    total[3] = lane_3
    total[4] = lane_4
    total[5] = lane_5
    total[6] = lane_6
    total[7] = lane_7


class PackedSample:
    """A sample as `em_steps` needs it: its bits, by row and by column, in batches.

    The posteriors of a batch stay in the processor's cache.

    Parameters
    ----------
    rows : (s, m) uint8 of 0 and 1
    counts : (s,)
        How often each row occurs.
    dtype : {"float32", "float64"}
        Arithmetic of log odds and posteriors.
    n_runs, n_hidden : int
        Runs of EM at a time, and values of the hidden variable.

    Attributes
    ----------
    batches : list of (words of the rows, words of the columns, counts)
        The rows have a leading 1, for the constant of the log odds and the mass of a hidden value.
    totals : (m + 1,) float64
        Sum of the counts, and of those of the rows in which each attribute is 1.
    all_single : bool
        Whether all counts are 1.
    """

    def __init__(self, rows, counts, dtype, n_runs, n_hidden):
        self.dtype = np.dtype(dtype)
        self.all_single = (counts == 1).all()
        self.batches = []
        self.totals = np.zeros(rows.shape[1] + 1)
        n_posteriors = -(-n_runs // LANES) * LANES * (n_hidden - 1)
        row_bytes = n_posteriors * self.dtype.itemsize + 2 * rows.shape[1]
        for batch in arrays.row_batches(len(rows), row_bytes, arrays.CACHE):
            batch_rows = np.insert(rows[batch], 0, 1, axis=1)
            batch_counts = counts[batch].astype(float)
            self.totals += batch_counts @ batch_rows
            self.batches.append((pack_bits(batch_rows), pack_bits(batch_rows.T), batch_counts))


def em_steps(sample, weights, probabilities):
    """Make one step of `em_step` in each of r runs.

    Everything is relative to the first hidden value: the k - 1 log odds of the others are one
    product of the rows, and the sums of their posteriors one of the columns. Those of the first
    hidden value are what remains of the totals.

    Parameters
    ----------
    sample : PackedSample
    weights : (r, k)
    probabilities : (r, k, m)

    Returns
    -------
    weights, probabilities : updated
    log_likelihoods : (r,), of the parameters passed in
    """
    n_runs, n_hidden, _ = probabilities.shape
    n_others = n_hidden - 1
    logs = np.log(_likelihood_terms(weights, probabilities))
    coefficients, log_likelihoods = _relative_coefficients(logs, sample.totals)
    coefficients = coefficients.astype(sample.dtype)
    posterior_sums = np.zeros(coefficients.shape)
    for row_words, column_words, counts in sample.batches:
        odds = multiply_bits(row_words, coefficients)
        odds = odds.reshape(-1, n_others, len(counts), LANES)
        if odds.max() > SAFE_EXPONENT:
            excess = np.maximum(odds.max(axis=1) - SAFE_EXPONENT, 0)
            odds -= excess[:, None]
            log_likelihoods += (counts @ excess).ravel()[:n_runs]
        np.exp(odds, out=odds)
        # where counts are 1, the logarithm of the product of several normalisers is enough
        products = _normalise_odds(odds, GROUP if sample.all_single else 1)
        log_likelihoods += (counts[: products.shape[1]] @ np.log(products)).ravel()[:n_runs]
        posteriors = odds
        if not sample.all_single:
            posteriors *= counts[:, None]
        posterior_sums += multiply_bits(column_words, posteriors.reshape(-1, len(counts), LANES))
    weights, probabilities = _maximise(posterior_sums, sample.totals, n_runs, n_hidden)
    return weights, probabilities, log_likelihoods


@compiled(error_model="numpy")
def _likelihood_terms(weights, probabilities):
    """Factors of P(row, z), whose logarithms are summed, (r, k, m + n + 1) with n = ceil(m / 4).

    These are P(1) / P(0) of each of m attributes, products of the P(0) of four attributes each, as
    few logarithms take less time, and the weight.
    """
    n_runs, n_hidden, m = probabilities.shape
    n = -(-m // 4)
    terms = np.empty((n_runs, n_hidden, m + n + 1))
    absent = np.ones(4 * n)
    for i in range(n_runs):
        for z in range(n_hidden):
            odds = terms[i, z, :m]
            for j in range(m):
                present = min(max(probabilities[i, z, j], EDGE), 1 - EDGE)
                absent[j] = 1 - present
                odds[j] = present / absent[j]
            products = terms[i, z, m:]
            for j in range(n):
                products[j] = absent[j] * absent[n + j] * absent[2 * n + j] * absent[3 * n + j]
            products[n] = max(weights[i, z], EDGE)
    return terms


@compiled()
def _relative_coefficients(logs, totals):
    """Coefficients of the log odds against the first hidden value, and its own log likelihood.

    Parameters
    ----------
    logs : (r, k, m + n + 1)
        Of `_likelihood_terms`.
    totals : (m + 1,)

    Returns
    -------
    coefficients : (b (k - 1), m + 1, 8)
        The constant and the coefficient of each attribute, for blocks of eight runs.
    log_joint : (r,)
        Sum over rows of log P(row, z = 0).
    """
    n_runs, n_hidden, _ = logs.shape
    m = len(totals) - 1
    n_blocks = -(-n_runs // LANES)
    coefficients = np.zeros((n_blocks, n_hidden - 1, m + 1, LANES))
    log_joint = np.zeros(n_runs)
    for i in range(n_runs):
        block = i // LANES
        lane = i % LANES
        first = logs[i, 0]
        constant = first[m:].sum()
        log_joint[i] = constant * totals[0]
        for j in range(m):
            log_joint[i] += first[j] * totals[j + 1]
        for z in range(1, n_hidden):
            coefficients[block, z - 1, 0, lane] = logs[i, z, m:].sum() - constant
            for j in range(m):
                coefficients[block, z - 1, j + 1, lane] = logs[i, z, j] - first[j]
    return coefficients.reshape(-1, m + 1, LANES), log_joint


@compiled(error_model="numpy")
def _normalise_odds(odds, group):
    """Make posteriors of odds (b, k - 1, s, 8) in place, dividing by 1 + their sum over k - 1.

    Returns
    -------
    products : (b, ceil(s / group), 8)
        Of the normalisers of `group` rows, fewer in the last ones.
    """
    n_blocks, n_others, n_rows, _ = odds.shape
    n_products = -(-n_rows // group)
    # the rows of a chunk one after the other, as long loops are made into vectors
    size = n_rows * LANES
    chunk = n_products * LANES
    odds = odds.reshape(n_blocks, n_others, size)
    products = np.ones((n_blocks, chunk))
    normalisers = np.empty(chunk, odds.dtype)
    for b in range(n_blocks):
        for start in range(0, size, chunk):
            stop = min(start + chunk, size)
            normaliser = normalisers[: stop - start]
            for i in range(len(normaliser)):
                normaliser[i] = 1
            for other in range(n_others):
                values = odds[b, other, start:stop]
                for i in range(len(normaliser)):
                    normaliser[i] += values[i]
            product = products[b]
            for i in range(len(normaliser)):
                product[i] *= normaliser[i]
            for other in range(n_others):
                values = odds[b, other, start:stop]
                for i in range(len(normaliser)):
                    values[i] /= normaliser[i]
    return products.reshape(n_blocks, n_products, LANES)


@compiled(error_model="numpy")
def _maximise(posterior_sums, totals, n_runs, n_hidden):
    """M step: weights (r, k) and probabilities (r, k, m) from sums of posteriors.

    These are (b (k - 1), m + 1, 8), without those of the first hidden value.
    """
    m = len(totals) - 1
    weights = np.empty((n_runs, n_hidden))
    probabilities = np.empty((n_runs, n_hidden, m))
    sums = np.empty((n_hidden, m + 1))
    for i in range(n_runs):
        block = i // LANES * (n_hidden - 1)
        lane = i % LANES
        assign(sums[0], totals)
        for z in range(1, n_hidden):
            for j in range(m + 1):
                sums[z, j] = posterior_sums[block + z - 1, j, lane]
                sums[0, j] -= sums[z, j]
        for z in range(n_hidden):
            mass = max(sums[z, 0], EDGE)
            weights[i, z] = mass / totals[0]
            for j in range(m):
                probabilities[i, z, j] = sums[z, j + 1] / mass
    return weights, probabilities
