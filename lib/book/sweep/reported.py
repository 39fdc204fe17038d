"""Numbers that the outputs of an executed chapter carry in their metadata (see `lib.report`)."""

import math
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from lib.book.sweep.numbers import ESTIMATE, Number
from lib.book.sweep.sentences import citing_sentences, mark_name

# A name in braces, perhaps with an index or a format behind it; not what is in double braces.
PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)[^{}]*\}")
SUMMARY = "summary"  # tag of the cell that says what was found


def reported_numbers(notebooks: dict[str, NotebookNode]) -> list[Number]:
    """Return the numbers that displayed sentences of a chapter say, in reading order.

    Parameters
    ----------
    notebooks : dict of str to notebook
        The executed notebook of each run.
    """
    numbers = {}
    n_with_name = {}
    for run, notebook in notebooks.items():
        for text, is_main in _texts_in(notebook):
            template = text["report"]["template"]
            sentences = citing_sentences(_with_marks(template))
            for name, estimate in _estimates(text["numbers"]):
                key = (text["report"].get("name") or template, name)
                # the number of the list that a sentence cites has the name of the list
                sentence = sentences.get(name.partition(" ")[0])
                if key not in numbers and sentence:
                    n_with_name[name] = n_with_name.get(name, 0) + 1
                    suffix = f" ({n_with_name[name]})" if n_with_name[name] > 1 else ""
                    numbers[key] = Number(f"{name}{suffix}", sentence, {}, is_main)
                if key in numbers:
                    numbers[key].runs[run] = estimate
    return list(numbers.values())


def _texts_in(notebook: NotebookNode) -> Iterator[tuple[dict, bool]]:
    """Yield the metadata of each displayed text, and whether it is in the summary."""
    for cell in notebook.cells:
        is_summary = SUMMARY in cell.metadata.get("tags", [])
        for output in cell.get("outputs", []):
            metadata = output.get("metadata", {})
            if metadata.get("report", {}).get("template"):
                yield {"numbers": {}, **metadata}, is_summary


def _with_marks(template: str) -> str:
    """Return a template with the names of its numbers as `lib.book.sweep.sentences` has them."""
    marked = PLACEHOLDER.sub(lambda match: mark_name(match[1]), template)
    return marked.replace("{{", "{").replace("}}", "}")


def _estimates(numbers: dict) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name and the estimate of each finite number; those of a list are counted."""
    for name, number in numbers.items():
        if isinstance(number, list):
            named_numbers = [(f"{name} {i}", element) for i, element in enumerate(number, start=1)]
        else:
            named_numbers = [(name, number)]
        for full_name, element in named_numbers:
            fields = element if isinstance(element, dict) else {"value": element}
            estimate = {key: fields[key] for key in ESTIMATE if _is_finite(fields.get(key))}
            if "value" in estimate:
                yield full_name, estimate


def _is_finite(number) -> bool:
    return isinstance(number, int | float) and math.isfinite(number)
