"""Seeds of trials: every random number of a chapter hangs on its seed and on the name of what it is for."""

import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Seeds:
    """A place in the tree of seeds; numbers and words lead to the places below it.

    Parameters
    ----------
    entropy : int, at least 0
        A chapter's seed.
    key : tuple of int
        The spawn key of this place, such as the number of a trial.
    """

    entropy: int
    key: tuple = ()

    def sequence(self, *purpose):
        """Return the numpy.random.SeedSequence for a purpose: integers, or text by its CRC-32."""
        words = (
            zlib.crc32(word.encode()) if isinstance(word, str) else int(word) for word in purpose
        )
        return np.random.SeedSequence(self.entropy, spawn_key=(*self.key, *words))

    def rng(self, *purpose):
        """Return a new numpy.random.Generator for a purpose."""
        return np.random.default_rng(self.sequence(*purpose))

    def below(self, *purpose):
        """Return the Seeds of a purpose."""
        return Seeds(self.entropy, self.sequence(*purpose).spawn_key)

    @property
    def number(self):
        """Number of the trial, where `lib.trials.run` made these seeds."""
        return self.key[-1]
