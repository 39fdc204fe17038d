"""Notes of an experiment beside its result: blocks that were found, damaged or verified, and so on.

Nothing is printed, as the outputs of a notebook must not depend on it. Notes go to the logger
"lib.trials" or, where the options name a file for them, to that file as lines of JSON.
"""

import json
import logging
from contextlib import suppress

from lib.trials.options import current_options

LOG = logging.getLogger("lib.trials")
# Of each kind of note: its level, and its sentence with the names of its details.
KINDS = {
    "found": (logging.INFO, "{blocks} of {all} blocks found, not run again"),
    "verified": (logging.INFO, "{blocks} of {all} stored blocks run again, equal"),
    "damaged": (logging.WARNING, "{path} is damaged, run again"),
    "not stored": (logging.WARNING, "results are not stored: {why}"),
    "recorded": (logging.WARNING, "{experiment}: rows of {names} are not those recorded"),
    "other lib": (
        logging.ERROR,
        "lib is another in its processes than in the one that started them ({there} and {here}): "
        "start again",
    ),
    "absent": (logging.INFO, "{sets} could not be had; recorded rows stand in"),
    "outdated": (
        logging.WARNING,
        "rows of {names} were recorded with {differences}; `book record` makes them anew",
    ),
    "died": (logging.WARNING, "a worker process died; {blocks} blocks are left"),
}


def write_note(kind, name, **details):
    """Write a note of the experiment called `name`.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    name : str
    details
        What the sentence of this kind names.
    """
    level, sentence = KINDS[kind]
    message = f"{name}: {sentence.format(**details)}"
    file = current_options().notes
    if not file:
        LOG.log(level, message)
        return
    note = {"kind": kind, "message": message} | details
    # A note that cannot be written must not cost the result.
    with suppress(OSError), open(file, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(note) + "\n")
