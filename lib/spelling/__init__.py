"""Context-sensitive spelling correction: which word of a confusion set belongs into a context."""

from lib.spelling.bayes import ContextBayes, InterpolatedBayes
from lib.spelling.contexts import contexts, join_words
from lib.spelling.winspell import WinSpell

__all__ = ["ContextBayes", "InterpolatedBayes", "WinSpell", "contexts", "join_words"]
