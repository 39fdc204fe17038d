"""Numbers in words: the one place that rounds, writes minus signs and keeps intervals unbroken."""

import math
import re

import numpy as np

MINUS = "\N{MINUS SIGN}"
SPACE = "\N{NO-BREAK SPACE}"
UNKNOWN = "—"
INFINITE = "∞"

MAX_DECIMALS = 6
ROUNDING = 1e-12
DIGITS = 9  # significant digits of numbers in JSON
NO_SIGN_OF_ZERO = re.compile(r"^[-+](?=0*\.?0*(?:%|$))")  # of a number that is 0 as it is printed


def number_words(value, spec: str = "") -> str:
    """Return a number as it is printed, any other value as text.

    Parameters
    ----------
    value : object
        NaN and None are "—", an infinite number is "∞", True is "yes".
    spec : str
        A format, such as ".2f", "+.1f" or ".1%". By default an integer has commas between
        thousands, and any other number three significant digits.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return format(value, spec)
    if math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return INFINITE if value > 0 else MINUS + INFINITE
    if not spec:
        spec = "," if isinstance(value, int) else _three_digits(value)
    words = format(value, spec)
    return NO_SIGN_OF_ZERO.sub("", words).replace("-", MINUS)


def _three_digits(value: float) -> str:
    """Return the format of a number with three significant digits, without an exponent."""
    if value == 0:
        return ".0f"
    magnitude = math.floor(math.log10(abs(value)))
    decimals = min(max(2 - magnitude, 0), MAX_DECIMALS)
    return f",.{decimals}f"


def decimals_for(value: float, low: float, high: float) -> int:
    """Return how many decimals of an estimate its interval supports.

    The half-width of the interval has one significant digit, or two if the first is 1 or 2. An end
    that is not 0 is not printed as 0, since the sign of an end decides. Without a finite half-width
    the value has two significant digits.
    """
    half_widths = [abs(end - value) for end in (low, high) if math.isfinite(end)]
    # less is rounding, as in a mean of equal values
    least = ROUNDING * max(1, abs(value))
    half_widths = [width for width in half_widths if width > least]
    if half_widths:
        width = sum(half_widths) / len(half_widths)
        magnitude = math.floor(math.log10(width))
        leading_digit = width / 10**magnitude
        decimals = -magnitude + (leading_digit < 3)
    elif math.isfinite(value) and value != 0:
        decimals = 1 - math.floor(math.log10(abs(value)))
    else:
        decimals = 0
    return min(max(decimals, decimals_to_show(low, high)), MAX_DECIMALS)


def decimals_to_show(*ends: float) -> int:
    """Return how many decimals print no end that is not 0 as 0."""
    decimals = 0
    for end in ends:
        if math.isfinite(end) and end != 0:
            # 0.5 of the last decimal is the least that is not rounded to 0
            decimals = max(decimals, math.ceil(-math.log10(2 * abs(end))))
    return decimals


def interval_words(low: float, high: float, spec: str = "") -> str:
    """Return an interval that does not break, such as "[0.10, 0.27]"."""
    spec = spec.replace("%", "f") if spec.endswith("%") else spec
    return f"[{number_words(low, spec)},{SPACE}{number_words(high, spec)}]"


def estimate_words(value: float, low: float, high: float, spec: str = "") -> str:
    """Return "value [low, high]", all in the same format.

    By default that is as many decimals as the interval supports. An interval without width is left
    out, as is one that says nothing because both of its ends are infinite or unknown.
    """
    spec = spec or f",.{decimals_for(value, low, high)}f"
    words = number_words(value, spec)
    if not has_interval(value, low, high):
        return words
    factor = 100 if spec.endswith("%") else 1
    return f"{words}{SPACE}{interval_words(factor * low, factor * high, spec)}"


def has_interval(value: float, low: float, high: float) -> bool:
    """Return whether an interval says something: it has a width, and an end that is finite."""
    has_width = high - low > ROUNDING * max(1, abs(value))
    return has_width and (math.isfinite(low) or math.isfinite(high))


def listing(items, word: str = "and") -> str:
    """Return items as a list in a sentence, such as "2, 3 and 5"; numbers as `number_words`."""
    *first_items, last_item = [number_words(item) for item in items]
    if not first_items:
        return last_item
    return f"{', '.join(first_items)} {word} {last_item}"


def singular(unit: str) -> str:
    """Return a unit for the number 1: "random models" are a "random model".

    Of a unit such as "families of data sets" the first noun is changed.
    """
    noun, of, complement = unit.partition(" of ")
    for plural_end, singular_end in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if noun.endswith(plural_end):
            noun = noun.removesuffix(plural_end) + singular_end
            break
    return noun + of + complement


def json_number(value) -> float | int | str | None:
    """Return a number as strict JSON can have it, with nine significant digits.

    NaN is None, an infinite number is text; what is no number is text, too.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | int):
        return value
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return None
    if math.isinf(value):
        return number_words(value)
    return float(f"{value:.{DIGITS}g}")
