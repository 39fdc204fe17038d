"""Compilation by numba that needs no folder."""

from numba import config, njit

config.SLP_VECTORIZE = 1  # eight sums side by side become one of vectors


def compiled(**options):
    """Return numba's njit with these options, which keeps what it compiles on disk, where it finds a folder."""

    def compile(function):
        try:
            return njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # no folder can be written, neither beside the file nor in the user's home
            return njit(nogil=True, **options)(function)

    return compile


@compiled()
def assign(target, source):
    """Copy a vector into another; for `target[:] = source` numba compiles how its error is worded, for seconds."""
    for i in range(len(target)):
        target[i] = source[i]
