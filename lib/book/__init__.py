"""The book's driver: lists, runs and builds the chapters. It knows no model."""

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command, without what the environment would change in Python: paths, start-up files, options."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    if clean != os.environ:
        os.execve(sys.executable, sys.orig_argv, clean)
    from lib.book import cli

    cli.main()
