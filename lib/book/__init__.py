"""The book's driver: lists, runs and builds the chapters. It knows no model."""

from lib.book.variables import fixed_environment

__all__ = ["fixed_environment"]
