"""Seeds of trials: a chapter's seed and the purpose of a random number decide the number."""

import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Seeds:
    """A place in the tree of seeds; integers and words lead to the places below it.

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
        key = list(self.key)
        for word in purpose:
            key.append(zlib.crc32(word.encode()) if isinstance(word, str) else int(word))
        return np.random.SeedSequence(self.entropy, spawn_key=tuple(key))

    def rng(self, *purpose):
        """Return a new numpy.random.Generator for a purpose."""
        return np.random.default_rng(self.sequence(*purpose))

    def integer(self, *purpose):
        """Return an integer from 0 to 2^31 - 1 for a purpose, as scikit-learn's `random_state`."""
        return int(self.rng(*purpose).integers(2**31))

    def below(self, *purpose):
        """Return the `Seeds` below this place for a purpose."""
        return Seeds(self.entropy, self.sequence(*purpose).spawn_key)

    @property
    def number(self):
        """Number of the trial whose seeds these are.

        Only for the seeds that `lib.trials.run` hands to a trial with `n_trials`.
        """
        return self.key[-1]
