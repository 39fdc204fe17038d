"""Numbers in words, for the cells of pictures and tables."""

import numpy as np


def plus_minus(values, errors):
    """Return "value ± error" for each pair; a dash where one is unknown.

    A line breaks before the sign only.
    """
    return [_plus_minus(value, error) for value, error in zip(values, errors, strict=True)]


def _plus_minus(value, error):
    if np.isnan(value):
        return "—"
    words = f"{value:.2f} ±\N{NO-BREAK SPACE}{error:.2f}"
    return words.replace("-", "−").replace("nan", "—")
