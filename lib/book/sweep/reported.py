"""Numbers that the displayed texts of an executed chapter carry (see `lib.report`)."""

import math
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from lib.book.sweep.numbers import ESTIMATE, Number
from lib.book.sweep.sentences import MARK, citing_sentences, mark_name

# A name in braces, perhaps with a format behind it; not what is in double braces.
PLACEHOLDER = re.compile(r"(?<!\{)\{([^{}:!]+)(?:[:!][^{}]*)?\}")
SUMMARY = "summary"  # tag of the cell that says what was found


def reported_numbers(notebooks: dict[str, NotebookNode]) -> list[Number]:
    """Return the numbers that displayed texts of a chapter say, in reading order.

    A number of two runs is the same if the same sentence of the same cell says it: the first
    sentence of a text may be another one where its claim does not hold.

    Parameters
    ----------
    notebooks : dict of str to notebook
        The executed notebook of each run.
    """
    numbers = {}
    n_with_name = {}
    for run, notebook in notebooks.items():
        for cell in notebook.cells:
            is_main = SUMMARY in cell.metadata.get("tags", [])
            for name, sentence, estimate in _estimates_of(cell):
                key = (cell.get("id"), sentence, name)
                if key not in numbers:
                    n_with_name[name] = n_with_name.get(name, 0) + 1
                    suffix = f" ({n_with_name[name]})" if n_with_name[name] > 1 else ""
                    numbers[key] = Number(f"{name}{suffix}", sentence, {}, is_main)
                numbers[key].runs[run] = estimate
    return list(numbers.values())


def _estimates_of(cell: NotebookNode) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield name, sentence and estimate of each finite number in the texts that a cell displays."""
    for output in cell.get("outputs", []):
        metadata = output.get("metadata", {})
        template = metadata.get("report", {}).get("template", "")
        sentences = citing_sentences(_with_marks(template))
        for name, number in metadata.get("numbers", {}).items():
            fields = number if isinstance(number, dict) else {"value": number}
            estimate = {key: fields[key] for key in ESTIMATE if _is_finite(fields.get(key))}
            if name in sentences and "value" in estimate:
                yield name, _complete(sentences[name], name, fields.get("unit")), estimate


def _complete(sentence: str, name: str, unit: str | None) -> str:
    """Return a sentence with the unit of its number, and its name if it has no other words.

    A phrase such as "EM beats Winnow by 0.2 points" is one number to a sweep, as the words depend
    on the run.
    """
    marked = MARK
    if unit:
        marked += unit if unit.startswith("%") else f" {unit}"
        sentence = sentence.replace(MARK, marked)
    has_words = re.search(r"[^\W\d_]", sentence.replace(marked, ""))
    return sentence if has_words else f"{name.replace('_', ' ')}: {sentence}"


def _with_marks(template: str) -> str:
    """Return a template with the names of its numbers as `lib.book.sweep.sentences` has them."""
    marked = PLACEHOLDER.sub(lambda match: mark_name(match[1]), template)
    return marked.replace("{{", "{").replace("}}", "}")


def _is_finite(number) -> bool:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return is_number and math.isfinite(number)
