"""What an experiment has to tell besides its result: blocks found, damaged, verified; workers that died.

Nothing is printed, as the outputs of a notebook must not depend on it. Notes go to the logger
"lib.trials" or, where the context names a file for them, as lines of JSON to that file.
"""

import json
import logging
from contextlib import suppress

from lib.trials.context import current

LOG = logging.getLogger("lib.trials")
KINDS = {
    "found": (logging.INFO, "{blocks} of {all} blocks found, not run again"),
    "verified": (logging.INFO, "{blocks} of {all} stored blocks run again, equal"),
    "damaged": (logging.WARNING, "{path} is damaged, run again"),
    "not stored": (logging.WARNING, "results are not stored: {why}"),
    "recorded": (logging.WARNING, "{experiment}: rows of {names} are not those recorded"),
    "read": (
        logging.WARNING,
        "{path} was read, which no key holds: read it in a cell and let trials use its contents, or put it into data/",
    ),
    # the driver knows whether it is
    "opened": (logging.INFO, "{path} was read, which may be in no key"),
    "other lib": (
        logging.ERROR,
        "lib is another in its processes than in the one that started them ({there} and {here}): start again",
    ),
    "absent": (logging.INFO, "{sets} could not be had; recorded rows stand in"),
    "outdated": (
        logging.WARNING,
        "rows of {names} were recorded with {differences}; `book record` makes them anew",
    ),
    "died": (logging.WARNING, "a worker process died; {blocks} blocks are left"),
}


def tell(kind, name, **details):
    """Note something of the experiment called `name`; `kind` is one of `KINDS` and says which details it has."""
    level, sentence = KINDS[kind]
    message = f"{name}: {sentence.format(**details)}"
    file = current().notes
    if not file:
        LOG.log(level, message)
        return
    # nothing is worth more than the result
    with suppress(OSError), open(file, "a", encoding="utf-8") as lines:
        lines.write(json.dumps({"kind": kind, "message": message} | details) + "\n")
