"""The book's driver: lists, runs and builds the chapters. It knows no model."""

__all__ = ["main"]


def main() -> None:
    """Run the command."""
    from lib.book import cli

    cli.main()
