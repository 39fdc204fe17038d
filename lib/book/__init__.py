"""The book's driver: lists, runs and builds the chapters. It knows no model."""

from lib.book.run.variables import command_environment

__all__ = ["command_environment"]
