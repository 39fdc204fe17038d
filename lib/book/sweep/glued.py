"""Numbers of chapters that glue them out of sight for their text cells to cite.

A chapter whose outputs carry their numbers has none of these (see `lib.book.sweep.reported`). This
module goes with the last chapter that glues.
"""

import itertools
import math
import re

from nbformat import NotebookNode

from lib.book.pages.unknown import GLUED_TEXT, INTERVAL, find_glued
from lib.book.sweep.numbers import ESTIMATE, Number
from lib.book.sweep.sentences import citing_sentences, mark_name

# A number that is cited by MyST-NB's role {glue:text}`name:format`; the group is its name.
CITED = re.compile(r"\{glue:text\}`(\w+)[^`]*`")

# A number with an interval behind it, whose ends are numbers with names of their own:
# {glue:text}`mean` points [{glue:text}`low`, {glue:text}`high`]. The groups are the three names.
BOUNDED = re.compile(
    rf"""
    {CITED.pattern}
    [^`{{\[]*  # words in between, such as a unit, but no other role or bracket
    {INTERVAL.pattern}
    """,
    re.VERBOSE,
)

# A number as it was glued, perhaps as text: 0.7, 0.7 [0.6, 0.8], or 0.7 [0.6, 0.8] (30 trials).
# Commas, which also separate thousands, are removed before.
ESTIMATE_TEXT = re.compile(
    r"""
    (\S+)                          # the value
    (?: [ ]\[ (\S+)[ ](\S+) \] )?  # its interval
    (?: [ ][\[(] .* )?             # a remark in brackets
    """,
    re.VERBOSE,
)


def glued_numbers(notebooks: dict[str, NotebookNode]) -> list[Number]:
    """Return the numbers that text cells of a chapter cite, by the executed notebook of each run.

    The sentence of a number is the first that cites it in the last text that does.
    """
    numbers_by_run = {run: _numbers_in(notebook) for run, notebook in notebooks.items()}
    texts = []
    for notebook in notebooks.values():
        texts += [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    sentences = {}
    for text in texts:
        without_intervals = INTERVAL.sub("", text)
        sentences |= citing_sentences(
            CITED.sub(lambda cited: mark_name(cited[1]), without_intervals)
        )

    bound_names = _bound_names(texts)
    numbers = []
    for name, sentence in sentences.items():
        runs = {}
        for run, glued in numbers_by_run.items():
            if name in glued:
                bounds = [glued.get(bound, []) for bound in bound_names.get(name, ())]
                runs[run] = _estimate([glued[name], *bounds])
        if runs:
            numbers.append(Number(name, sentence, runs))
    return numbers


def _numbers_in(notebook: NotebookNode) -> dict[str, list[float]]:
    """Return what a notebook has glued as numbers: by name the value, or value, low and high."""
    numbers = {}
    for name, representations in find_glued(notebook.cells).items():
        text = str(representations.get(GLUED_TEXT + "plain", ""))
        text = text.strip("'").replace(",", "").replace("−", "-")
        match = ESTIMATE_TEXT.fullmatch(text)
        if not match:
            continue
        try:
            estimate = [float(number) for number in match.groups() if number]
        except ValueError:  # a word
            continue
        if all(math.isfinite(number) for number in estimate):
            numbers[name] = estimate
    return numbers


def _bound_names(texts: list[str]) -> dict[str, tuple[str, str]]:
    """Return for each number that is cited with an interval the names of the interval's ends."""
    bound_names = {}
    for text in texts:
        for name, low, high in BOUNDED.findall(text):
            bound_names[name] = (low, high)
    return bound_names


def _estimate(numbers: list[list[float]]) -> dict[str, float]:
    """Return a number as a dict of its value and, if both are known, the ends of its interval.

    Parameters
    ----------
    numbers : list of list of float
        What was glued under the name of the number, and under those of its ends, if it is cited
        with an interval: one number each, or three if it was glued with an interval.
    """
    estimate = list(itertools.chain.from_iterable(numbers))
    if len(estimate) != len(ESTIMATE):
        return {"value": estimate[0]}
    return dict(zip(ESTIMATE, estimate, strict=True))
