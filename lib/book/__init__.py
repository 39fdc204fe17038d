"""The book's driver: lists, runs and builds the chapters. It knows no model."""

from lib.book.cli import main

__all__ = ["main"]
