"""The command ``book``, or ``python -m lib.book``."""

import os
import sys

from lib.book.run.variables import command_environment


def main() -> None:
    """Run the command in the environment of `lib.book.run.variables.command_environment`."""
    environment = command_environment()
    if os.environ != environment:
        # Python and the numerical libraries read their variables only when they start.
        os.execve(sys.executable, sys.orig_argv, environment)
    try:
        from lib.book import cli
    except ModuleNotFoundError as error:
        sys.exit(
            f"{error}; the book needs more than the learners: "
            "`make env`, or pip install --editable '.[book]'"
        )
    cli.main()


if __name__ == "__main__":
    main()
