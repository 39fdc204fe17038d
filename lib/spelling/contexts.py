"""From tokens to sparse boolean features: words nearby and collocations."""

import itertools

import numpy as np
from scipy import sparse

from lib.base.validation import at_least_one, check_integer

# where the tokens of a collocation stand, from the place of the word
COLLOCATIONS = ((-1,), (1,), (-2, -1), (-1, 1), (1, 2))
REACH = 2  # of the collocations on either side
GAP = "_"  # the place of the word itself, which no token is


def contexts(tokens, words, window=10, columns=None, tags=None):
    """Make features of the contexts of some words: words nearby, and tokens right beside.

    Parameters
    ----------
    tokens : sequence of str
        As `lib.datasets.texts.tokenize` gives them: in lower case, with punctuation marks.
    words : sequence of str, at least one
        The confusion set, such as ("passed", "past"). Each is one token; for {"maybe", "may be"}
        `join_words` makes one token of each "may" and "be" first.
    window : int, at least 0
        A context word is one of so many *words* before or after; marks do not count, and sentences
        do not end it.
    columns : dict of str to int, optional
        The column of each feature. An empty one is filled; from one that is not, no other feature
        is taken, so that new text gets the columns of that read before. A context word is named as
        it is written; a collocation has an underscore in place of the word: "the _", "_ of", "in
        the _", "the _ of", "_ of the".
    tags : dict of str to sequence of str, optional
        Possible parts of speech of tokens, as `lib.datasets.texts.read_tags` finds them. In each place a
        collocation then has the token or any of its tags: "DET _", "_ to VERB".

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
    reports it, section 3.2.3: collocations of words or of tags by dictionary look-up.
    """
    window = check_integer("window", window, 0)
    words = set(_texts("words", words))
    tokens = _texts("tokens", tokens)
    at_least_one("words", list(words))
    for word in sorted(words.difference(tokens)):
        if " " in word:
            raise ValueError(
                f"words must each be one token; got {word!r}, which is none of the tokens: "
                "`join_words` joins its parts"
            )
    columns = {} if columns is None else columns
    may_add = not columns
    tags = {} if tags is None else tags
    padding = [""] * REACH  # so that each token has neighbours on both sides
    tokens = [*padding, *tokens, *padding]
    word_places = [place for place, token in enumerate(tokens) if token[:1].isalnum()]
    indptr = [0]
    indices = []
    for rank, place in enumerate(word_places):
        if tokens[place] not in words:
            continue
        neighbours = word_places[max(0, rank - window) : rank]
        neighbours += word_places[rank + 1 : rank + 1 + window]
        features = [tokens[neighbour] for neighbour in neighbours]
        for offsets in COLLOCATIONS:
            features += _collocations(tokens, place, offsets, tags)
        if may_add:
            for feature in features:
                columns.setdefault(feature, len(columns))
        indices += sorted({columns[feature] for feature in features if feature in columns})
        indptr.append(len(indices))
    if len(indptr) == 1:
        raise ValueError(
            f"words must occur among the tokens; none of {', '.join(sorted(words))} does"
        )
    ones = np.ones(len(indices), dtype=np.uint8)
    shape = (len(indptr) - 1, len(columns))
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


def _collocations(tokens, place, offsets, tags):
    """The tokens around a place, or their tags, with a gap for the token at it: "the _ of"."""
    first = min(*offsets, 0)
    last = max(*offsets, 0)
    choices = []
    for i in range(first, last + 1):
        token = tokens[place + i]
        choices.append((token, *tags.get(token, ())) if i in offsets else (GAP,))
    return map(" ".join, itertools.product(*choices))


def join_words(tokens, words):
    """Make one token of each run of tokens that is a word of several parts, such as "may be".

    Parameters
    ----------
    tokens : sequence of str
    words : sequence of str
        Parts are separated by one space; words of one part change nothing.

    Returns
    -------
    list of str
        A new list; where words overlap, the first in the text is joined, of those that begin
        together the longest.
    """
    tokens = _texts("tokens", tokens)
    words = [word.split(" ") for word in _texts("words", words) if " " in word]
    words.sort(key=len, reverse=True)
    joined = []
    place = 0
    while place < len(tokens):
        size = 1
        for word in words:
            if tokens[place] == word[0] and tokens[place : place + len(word)] == word:
                size = len(word)
                break
        joined.append(" ".join(tokens[place : place + size]))
        place += size
    return joined
