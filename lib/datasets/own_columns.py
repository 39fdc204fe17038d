"""The type of a column of text, by its values: numbers, dates or categories, or of no use."""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.datasets.table import category_order

NEARLY_ALL = 0.95  # share of values that makes a column one of numbers, or of dates
MANY_CATEGORIES = 50
FEW_NUMBERS = 10  # different whole numbers that may be codes
# Words that end the names of identifiers, and of codes
ID_WORDS = {"id", "index", "key", "no", "nr", "number", "record", "row", "uuid"}
CODE_WORDS = {"category", "class", "code", "group", "kind", "postcode", "type", "zip"}
# How dates are written, and what pandas calls it
DATE = r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?|(19|20)\d{6}"
DATE_FORMATS = {
    "year-month-day": "ISO8601",  # also 2024/12/31 and 20241231
    "day.month.year": "%d.%m.%Y",
    "month/day/year": "%m/%d/%Y",
    "day/month/year": "%d/%m/%Y",
}


class Remark(NamedTuple):
    """What was found in a column, or in the whole table if `column` is empty."""

    column: str
    found: str
    done: str


def typed_column(name, text, decimal):
    """Return the values of a column, and remarks.

    Parameters
    ----------
    name : str
    text : Series of str
        NaN where missing.
    decimal : {".", ","}

    Returns
    -------
    values : Series of float or category, or None
        None if the column is of no use: empty, constant, or an identifier of rows.
    remarks : list of Remark
    """
    present = text.dropna()
    if present.empty:
        return None, [Remark(name, "It is empty.", "Left out.")]
    dates = parse_dates(present)
    if dates:
        return _date_column(name, text, dates)
    numbers = parse_numbers(present, decimal)
    share_of_numbers = numbers.notna().mean()
    if share_of_numbers >= NEARLY_ALL and not _has_leading_zeros(present):
        return _number_column(name, text, numbers, decimal)
    values, remarks = _category_column(name, text)
    if share_of_numbers >= 0.5 and values is not None:
        remarks.append(_half_numbers(name, present[numbers.isna()]))
    return values, remarks


def parse_numbers(text, decimal):
    """Return numbers as floats and other text as NaN; 1,234 is 1234, and 12 % is 12."""
    group, point = (r"\.", ",") if decimal == "," else (",", r"\.")
    is_grouped = text.str.fullmatch(rf"[-+]?\d{{1,3}}({group}\d{{3}})+({point}\d+)?( ?%)?")
    plain = text.mask(is_grouped, text.str.replace(group, "", regex=True))
    plain = plain.str.replace(decimal, ".", regex=False).str.removesuffix("%")
    numbers = pd.to_numeric(plain, errors="coerce").astype(float)
    return numbers.where(np.isfinite(numbers))


def parse_dates(text):
    """Return text as times, for each way to write dates that fits nearly all of it."""
    if text.str.fullmatch(DATE).mean() < NEARLY_ALL:
        return {}
    dates = {}
    for order, date_format in DATE_FORMATS.items():
        written = text if date_format == "ISO8601" else text.str.split().str[0]  # no time of day
        times = pd.to_datetime(written, errors="coerce", format=date_format, utc=True)
        if times.notna().mean() >= NEARLY_ALL:
            dates[order] = times
    return dates


def examples(values):
    """Return up to three different values as text."""
    return ", ".join(repr(str(value)) for value in values.unique()[:3])


def _has_leading_zeros(text):
    """Whether text looks like codes: of one width, and some begin with 0."""
    return text.str.fullmatch(r"0\d+").any() and text.str.len().nunique() == 1


def _last_word(name):
    """The last word of a name such as customerID or customer_id, in small letters."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return words[-1].lower() if words else ""


def _half_numbers(name, texts):
    """Return a remark on text, most of which are numbers; `texts` are those that are none."""
    sentence = "Its numbers have leading zeros, as codes have."
    if len(texts):
        sentence = f"Most of its values are numbers, but not {examples(texts)}."
    done = "Read as categories; if it is a quantity, clean the values in the file."
    return Remark(name, sentence, done)


def _constant(name, n_missing, value):
    if n_missing == 0:
        return Remark(name, f"It is {value!r} in all rows.", "Left out.")
    sentence = f"It is {value!r} or empty ({n_missing} rows)."
    return Remark(
        name, sentence, "Left out; if empty means another value, write that into the file."
    )


def _number_column(name, text, numbers, decimal):
    """Return a column of numbers; None if it is constant, or identifies rows."""
    n_values = numbers.nunique()
    n_missing = len(text) - len(numbers)
    if n_values == 1:
        return None, [_constant(name, n_missing, f"{numbers.mean():g}")]
    remarks = _spelling_of_numbers(name, text.dropna(), numbers, decimal)
    if (numbers.dropna() % 1 == 0).all():
        is_running = numbers.is_monotonic_increasing or numbers.is_monotonic_decreasing
        if n_values == len(text):
            sentence = "Its whole numbers all differ, as those of an identifier do."
            if is_running or _last_word(name) in ID_WORDS:
                return None, [Remark(name, sentence, "Left out.")]
            remarks.append(Remark(name, sentence, "Kept; if it is one, remove it from the file."))
        elif _last_word(name) in CODE_WORDS or 2 < n_values <= FEW_NUMBERS:
            done = "Kept as numbers, so their order counts; write codes as text, such as c1."
            remarks.append(Remark(name, "Its whole numbers may be codes.", done))
        else:
            remarks += _repeated_identifier(name, n_values, len(text))
    return numbers.reindex(text.index), remarks


def _spelling_of_numbers(name, text, numbers, decimal):
    remarks = []
    texts = text[numbers.isna()]
    if len(texts):
        sentence = f"Values that are no numbers: {len(texts)} of {len(text)}, {examples(texts)}."
        remarks.append(Remark(name, sentence, "Read as numbers; these values count as missing."))
    plain = pd.to_numeric(text.str.replace(decimal, ".", regex=False), errors="coerce")
    is_spelled = plain.isna() & numbers.notna()
    if is_spelled.any():
        example = is_spelled.idxmax()
        sentence = f"Numbers that are written like {text[example]!r}: {is_spelled.sum()}."
        remarks.append(Remark(name, sentence, f"Read as numbers, such as {numbers[example]:g}."))
    return remarks


def _repeated_identifier(name, n_values, n_rows):
    """Return a remark if a column has many values that repeat, and the name of an identifier."""
    if _last_word(name) not in ID_WORDS or n_values * 10 < n_rows:
        return []
    sentence = "It has the name of an identifier, and values that repeat."
    done = "Kept; several rows of one person or thing make accuracies too high."
    return [Remark(name, sentence, done)]


def _date_column(name, text, dates):
    """Return dates as days since the first of them."""
    order, times = next(iter(dates.items()))
    days = (times - times.min()) / pd.Timedelta(days=1)
    sentence = f"Its values are dates: {' or '.join(dates)}."
    done = f"Read as {order}, in days since {times.min():%Y-%m-%d}."
    if times.isna().any():
        done += " Other values count as missing."
    return days.reindex(text.index), [Remark(name, sentence, done)]


def _category_column(name, text):
    """Return categories; None if there is one only, or if most rows have one of their own."""
    counts = text.value_counts()
    n_present = counts.sum()
    if len(counts) == 1:
        return None, [_constant(name, len(text) - n_present, counts.index[0])]
    share_of_unique = (counts == 1).sum() / n_present
    if share_of_unique >= 0.5:
        sentence = (
            f"{share_of_unique:.0%} of its values occur once, as in an identifier or free text."
        )
        return None, [Remark(name, sentence, "Left out.")]
    remarks = _repeated_identifier(name, len(counts), len(text))
    if len(counts) > MANY_CATEGORIES:
        sentence = f"It has {len(counts)} different values."
        remarks.append(
            Remark(name, sentence, "Kept; learners know little of rare values: join them.")
        )
    remarks += same_but_for_case(name, counts.index)
    categories = sorted(counts.index, key=category_order)
    return pd.Series(pd.Categorical(text, categories=categories), index=text.index), remarks


def same_but_for_case(name, values):
    """Return a remark if values differ only in capitals and blanks."""
    spellings = pd.Series(values).groupby(values.str.casefold().str.split().str.join(" "))
    if (spellings.size() == 1).all():
        return []
    sentence = "Some values differ only in capitals or blanks."
    return [Remark(name, sentence, "Kept as different values; if they are one, mend the file.")]
