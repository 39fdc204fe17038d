"""From tokens to sparse boolean features: words nearby and collocations."""

import numpy as np
from scipy import sparse

from lib.validation import at_least_one, check_integer

COLLOCATIONS = ((-1,), (1,), (-2, -1), (-1, 1), (1, 2))
GAP = "_"  # the place of the word itself, which no token is


def contexts(tokens, words, window=10, columns=None):
    """Features of the contexts of some words: which words stand nearby, and which tokens beside.

    Parameters
    ----------
    tokens : sequence of str
        As `lib.texts.tokenize` gives them: in lower case, with punctuation marks.
    words : sequence of str, at least one
        The confusion set, such as ("passed", "past"). Each is one token; for {"maybe", "may be"}
        make one token of each "may" and "be" in `tokens` first.
    window : int, at least 0
        A context word is one of so many *words* before or after; marks do not count, and sentences
        do not end it.
    columns : dict of str to int, optional
        The column of each feature. An empty one is filled; from one that is not, no other feature
        is taken, so that new text gets the columns of that read before. A context word is named as
        it is written; a collocation has an underscore in place of the word: "the _", "_ of", "in
        the _", "the _ of", "_ of the".

    Returns
    -------
    csr_array of shape (n_occurrences, n_features), uint8
        A row for each token that is one of the words, in their order.

    Raises
    ------
    ValueError
        If none of the words occurs, one of them is several tokens, or an argument is out of range.

    References
    ----------
    Golding & Roth (1996), "Applying Winnow to context-sensitive spelling correction", as the survey
    reports it, section 3.2.3. Theirs has parts of speech as well.
    """
    window = check_integer("window", window, 0)
    words, tokens = set(_texts("words", words)), _texts("tokens", tokens)
    at_least_one("words", list(words))
    columns = {} if columns is None else columns
    for word in sorted(words.difference(tokens)):
        if " " in word:
            raise ValueError(
                f"words must each be one token; got {word!r}, which is none of the tokens: join its parts"
            )
    column = columns.get if columns else lambda name: columns.setdefault(name, len(columns))
    tokens = ["", "", *tokens, "", ""]  # so that each has two on both sides
    places = [i for i, token in enumerate(tokens) if token[:1].isalnum()]
    indptr, indices = [0], []
    for rank, place in enumerate(places):
        if tokens[place] in words:
            near = places[max(0, rank - window) : rank] + places[rank + 1 : rank + 1 + window]
            names = [tokens[i] for i in near] + [
                _collocation(tokens, place, beside) for beside in COLLOCATIONS
            ]
            indices += sorted({column(name) for name in names} - {None})
            indptr.append(len(indices))
    if len(indptr) == 1:
        raise ValueError(
            f"words must occur among the tokens; none of {', '.join(sorted(words))} does"
        )
    ones, shape = np.ones(len(indices), dtype=np.uint8), (len(indptr) - 1, len(columns))
    return sparse.csr_array((ones, np.array(indices, np.int32), np.array(indptr, np.int32)), shape)


def _texts(name, values):
    """Return a sequence of str as a list, or raise ValueError; one str is none."""
    if isinstance(values, str):
        raise ValueError(f"{name} must be a sequence of str; got one str, {values[:50]!r}")
    values = list(values)
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a sequence of str; got {value!r} among them")
    return values


def _collocation(tokens, place, beside):
    """The tokens beside a place with a gap for that at it: "the _ of"."""
    return " ".join(
        tokens[place + i] if i in beside else GAP
        for i in range(min(*beside, 0), max(*beside, 0) + 1)
    )
