"""Products of a matrix of bits and matrices of numbers, by lookup of the sums of four rows ("the four Russians").

Matrices have eight columns, which are a vector of the processor (two in double precision). A
column's sums are added in the same order whatever the other columns and whatever the processor.
"""

import numpy as np

from lib.compiled import compiled

LANES = 8
_LOW = np.uint64(15)


def pack(rows):
    """Words (ceil(m / 16), s) of 16 bits of the rows (s, m), the first attribute lowest."""
    packed = np.zeros((len(rows), -(-rows.shape[1] // 16) * 2), np.uint8)
    packed[:, : -(-rows.shape[1] // 8)] = np.packbits(rows, axis=1, bitorder="little")
    return np.ascontiguousarray(packed.view("<u2").T)


@compiled()
def product(words, matrices):
    """Products (b, s, 8) of the bits (s, m) that `words` holds and each of the matrices (b, m, 8)."""
    m = matrices.shape[1]
    products = np.zeros((len(matrices), words.shape[1], LANES), matrices.dtype)
    sums, nothing = np.zeros((4, 16, LANES), matrices.dtype), np.zeros(LANES, matrices.dtype)
    for b in range(len(matrices)):
        for q in range(len(words)):
            for j in range(16):
                four, bit = sums[j >> 2], 1 << (j & 3)
                row = matrices[b, 16 * q + j] if 16 * q + j < m else nothing
                for low in range(bit):
                    _add(four[bit + low], four[low], row, nothing, nothing, nothing)
            for i in range(words.shape[1]):
                word = np.uint64(words[q, i])
                low = sums[0, word & _LOW], sums[1, (word >> np.uint64(4)) & _LOW]
                high = sums[2, (word >> np.uint64(8)) & _LOW], sums[3, word >> np.uint64(12)]
                _add(products[b, i], products[b, i], *low, *high)
    return products


@compiled()
def _add(t, s, a, b, c, d):
    """Set the vector t to s + a + b + c + d."""
    t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7] = (
        _lane(s, a, b, c, d, 0), _lane(s, a, b, c, d, 1), _lane(s, a, b, c, d, 2), _lane(s, a, b, c, d, 3),
        _lane(s, a, b, c, d, 4), _lane(s, a, b, c, d, 5), _lane(s, a, b, c, d, 6), _lane(s, a, b, c, d, 7),
    )  # fmt: skip


@compiled()
def _lane(s, a, b, c, d, i):
    return s[i] + ((a[i] + b[i]) + (c[i] + d[i]))
