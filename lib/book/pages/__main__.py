"""Starts jupyter-book with this interpreter: ``python -m lib.book.pages build .``."""

from jupyter_book.cli.main import main

if __name__ == "__main__":
    main()
