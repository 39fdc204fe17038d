"""The models, learners and experiments of the book, and the command that builds it."""

from lib import (
    sources as sources,  # first: all other modules of lib are compiled from what it has read
)
