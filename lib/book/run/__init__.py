"""Notebooks in, executed notebooks out: all that runs a chapter, and is part of its key."""
