"""The models, learners and experiments of the book, and the command that builds it."""

from lib.base import sources as sources  # first: it reads the source that keys are made of
