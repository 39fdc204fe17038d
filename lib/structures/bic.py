"""Greedy search for the structure of highest Bayesian information criterion."""

import math

import numpy as np

from lib.structures.encoding import discrete_codes
from lib.structures.information import JointCounts
from lib.structures.tan import tree_parents
from lib.validation import check_integer

ADD, DELETE, REVERSE = range(3)
DECIMALS = 6


def bic_search(X, y, max_parents=2):
    """Parents of each variable in a structure that no single change improves, by Schwarz's criterion.

    From the best forest, in which no variable has two parents, the best addition, deletion or
    reversal of one link is made as long as the criterion

        BIC = log likelihood - (number of free parameters) / 2 * log(number of rows)

    rises. The class is a variable like the others: it may get parents, or have no link.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_attributes)
        Discrete columns; floats must be whole numbers. NaN and None are missing values.
    y : array of shape (n_samples,)
        The class of each row.
    max_parents : int, at least 0
        No variable gets more parents; any number from n_attributes on is no bound.

    Returns
    -------
    parents : tuple of tuples of int
        Variable 0 is the class, variable i the attribute in column i - 1.

    Raises
    ------
    ValueError
        If `max_parents` is out of range, `X` has fractions or infinity, `y` lacks a class, or the
        lengths differ.

    Notes
    -----
    This stands in for the general Bayesian network of Greiner et al. (2005), Appendix C. They used
    PowerConstructor, a program that tests conditional independence, which is not available. The two
    need not find the same structures.

    The forest is a maximum spanning tree of what each link by itself would add, without those that
    add nothing; each of its trees is directed away from its first variable. From no links at all, a
    search by single changes joins trees of links at bad places: a variable that is a child in its
    tree takes a parent in another one only as a second parent, as the reversals that would free it
    gain nothing and are not made. On UCI's SATIMAGE that search ends far below the best tree. From
    the forest, too, it ends in a local optimum, which may be worse than the other one, but not than
    the best tree, if no value is missing.

    Of changes equally good, to 6 decimals, an addition goes before a deletion before a reversal;
    then the lowest parent, then the lowest child is taken; of links equally good for the forest,
    the first one in the order of columns. Another order of the columns may lead to another local
    optimum.

    No link is added to a family whose table (of all combinations of values of variable and parents)
    would have more entries than there are rows to fill it.

    Missing values: what one parent adds to a family is the difference of the criterion with and
    without it, both in the rows where the variable, the parent and the other parents are observed.
    The rows of the two sides have to be the same: families judged each in its own rows, scaled to
    all, differ by chance more than by the penalty, and links between independent variables come up
    (Bodewes & Scutari 2021). Changes judged in different rows might lead in a circle: the search
    also ends at a structure it has seen before.

    References
    ----------
    Schwarz (1978); the search is that of Heckerman, Geiger & Chickering (1995), who name the best
    network of one parent at most, and a prior network, among the starts; the tree is that of Chow &
    Liu (1968), less the penalty.
    """
    return bic_from_codes(*discrete_codes(X, y), max_parents=max_parents)


def bic_from_codes(codes, sizes, max_parents=2, weights=None):
    """Like `bic_search`, from codes (n_samples, n + 1) with the class first and -1 for missing; sizes (n + 1,).

    With `weights` (n_samples,), a row counts as so many.
    """
    max_parents = check_integer("max_parents", max_parents, 0)
    counts, no_links = (
        JointCounts(codes, sizes, weights),
        np.zeros((len(sizes), len(sizes)), dtype=bool),
    )
    unlinked = Search(counts, max_parents, gain, no_links)
    return Search(unlinked.counts, max_parents, gain, _best_forest(unlinked.additions)).climb()


def _best_forest(gains):
    """Links of a best spanning tree, but for those of no gain, by which variable 0 and each tree's first one hang."""
    gains = gains.round(DECIMALS).clip(0)
    parents, children = tree_parents(gains), np.arange(1, len(gains))
    links = np.zeros(gains.shape, dtype=bool)
    links[parents, children] = gains[parents, children] > 0
    return links


def gain(counts, child, parent, others):
    """By how much `parent` raises the BIC of `child`, whose other parents are the frozenset `others`.

    It is -inf where the table would have more entries than there are rows.
    """
    family = others | {child, parent}
    n_rows = counts.n_rows(family)
    if math.prod(counts.sizes[v] for v in family) > n_rows:
        return -np.inf
    n_parameters = (
        math.prod(counts.sizes[v] for v in others)
        * (counts.sizes[child] - 1)
        * (counts.sizes[parent] - 1)
    )
    return counts.information(child, parent, others) - n_parameters / 2 * np.log(n_rows)


class Search:
    """A structure, and by how much each addition and deletion of a link (row: parent, column: child) would raise it.

    Parameters
    ----------
    counts : JointCounts
    max_parents : int
        No variable gets a parent if it has as many.
    gain : callable
        ``gain(counts, child, parent, others)`` is by how much a parent raises the score of a child
        that has others.
    links : ndarray of bool, shape (n_variables, n_variables)
        The structure to begin with.
    """

    def __init__(self, counts, max_parents, gain, links):
        self.counts, self.max_parents, self.gain, self.links = counts, max_parents, gain, links
        self.additions, self.deletions = np.full((2, *links.shape), -np.inf)
        self._update(range(len(links)))

    def parents(self):
        """Parents of each variable in the structure of now."""
        return tuple(tuple(np.flatnonzero(column).tolist()) for column in self.links.T)

    def climb(self):
        """Parents of each variable where no change is better than none, or one leads back."""
        seen = set()
        while self.parents() not in seen:
            seen.add(self.parents())
            self.step()
        return self.parents()

    def step(self):
        """Make the best change, if one is better than none."""
        gains = self._gains().round(DECIMALS)
        kind, parent, child = np.unravel_index(gains.argmax(), gains.shape)
        if gains[kind, parent, child] <= 0:
            return
        self.links[parent, child] = kind == ADD
        self.links[child, parent] = kind == REVERSE
        self._update([child, parent] if kind == REVERSE else [child])

    def _gains(self):
        """Gain of each addition, deletion and reversal, (3, n, n); -inf where it would make a cycle."""
        descendants = self.links  # along one or more links, by repeated squaring
        for _ in range(len(self.links).bit_length()):
            descendants = descendants | descendants @ descendants
        detour = descendants @ self.links
        reversals = self.deletions + self.additions.T
        additions = np.where(descendants.T, -np.inf, self.additions)
        return np.stack([additions, self.deletions, np.where(detour, -np.inf, reversals)])

    def _update(self, children):
        for child in children:
            parents = frozenset(np.flatnonzero(self.links[:, child]).tolist())
            self.additions[:, child] = self.deletions[:, child] = -np.inf
            for p in parents:
                self.deletions[p, child] = -self.gain(self.counts, child, p, parents - {p})
            if len(parents) < self.max_parents:
                for p in set(range(len(self.links))) - parents - {child}:
                    self.additions[p, child] = self.gain(self.counts, child, p, parents)
