"""A number of a chapter, as the runs of a sweep found it."""

from dataclasses import dataclass

ESTIMATE = ("value", "low", "high")


@dataclass(frozen=True)
class Number:
    """A number of a chapter, as each run found it.

    Parameters
    ----------
    name : str
    sentence : str
        The words around it, in plain text, with ▮ in its place and … for other numbers.
    runs : dict of str to dict
        By the name of each run that found it: its ``value``, and ``low`` and ``high`` if it has an
        interval.
    is_main : bool
        Whether the summary of the chapter says it.
    """

    name: str
    sentence: str
    runs: dict[str, dict[str, float]]
    is_main: bool = False

    @property
    def differs(self) -> bool:
        """Whether two runs found different values."""
        return len({estimate["value"] for estimate in self.runs.values()}) > 1
