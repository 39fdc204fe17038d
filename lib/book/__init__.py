"""The book's driver: lists, runs and builds the chapters. It knows no model."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; Ctrl-C ends it with exit code 130, even before all of its modules are loaded."""
    try:
        from lib.book import cli
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    cli.main()
