"""Greedy search for the structure of highest Bayesian information criterion."""

import math

import numpy as np

from lib.base.validation import check_integer
from lib.structures.encoding import discrete_codes
from lib.structures.information import JointCounts
from lib.structures.tan import tree_parents

ADD, DELETE, REVERSE = range(3)
DECIMALS = 6


def bic_search(X, y, max_parents=2):
    """Parents of each variable in a structure whose BIC no change of one link improves.

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
        If `max_parents` is out of range, `X` has fractions or infinity, `y` lacks a label, or the
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

    Of changes that are equally good, to 6 decimals, an addition is preferred to a deletion, and a
    deletion to a reversal; then the lowest parent is preferred, then the lowest child. Of links
    that are equally good for the forest, the first one in the order of columns is. Another order of
    the columns may lead to another local optimum.

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
    """Search like `bic_search`, from the codes of the class and the attributes.

    Parameters
    ----------
    codes : ndarray of int, shape (n_samples, n + 1)
        The class in column 0, the n attributes in the others; -1 is a missing value.
    sizes : array of int, shape (n + 1,)
        Number of values of each.
    max_parents : int, at least 0
    weights : ndarray of shape (n_samples,), optional
        How many rows each one stands for.

    Returns
    -------
    parents : tuple of tuples of int
    """
    max_parents = check_integer("max_parents", max_parents, 0)
    counts = JointCounts(codes, sizes, weights)
    no_links = np.zeros((len(sizes), len(sizes)), dtype=bool)
    gains = Search(counts, max_parents, gain, no_links).additions
    return Search(counts, max_parents, gain, _best_forest(gains)).climb()


def _best_forest(gains):
    """Return the links of a maximum spanning tree without those that gain nothing.

    Each tree that is left is directed away from its first variable.
    """
    gains = gains.round(DECIMALS).clip(0)
    parents = tree_parents(gains)
    children = np.arange(1, len(gains))
    links = np.zeros(gains.shape, dtype=bool)
    links[parents, children] = gains[parents, children] > 0
    return links


def gain(counts, child, parent, other_parents):
    """Return by how much `parent` raises the BIC of `child`.

    It is -inf where the table would have more entries than there are rows.

    Parameters
    ----------
    counts : JointCounts
    child, parent : int
    other_parents : frozenset of int
        Those that the child has without `parent`.
    """
    family = other_parents | {child, parent}
    n_rows = counts.n_rows(family)
    if math.prod(counts.sizes[v] for v in family) > n_rows:
        return -np.inf
    # The table of P(child | other parents) has (size - 1) parameters for each joint value of the
    # parents; one more parent multiplies the number of these by its size
    n_joint_values = math.prod(counts.sizes[v] for v in other_parents)
    n_parameters = n_joint_values * (counts.sizes[child] - 1) * (counts.sizes[parent] - 1)
    return counts.information(child, parent, other_parents) - n_parameters / 2 * np.log(n_rows)


class Search:
    """Greedy search by changes of one link (Heckerman, Geiger & Chickering 1995, section 7).

    Parameters
    ----------
    counts : JointCounts
    max_parents : int
        No variable gets a parent if it has as many.
    gain : callable
        ``gain(counts, child, parent, other_parents)`` is by how much a parent raises the score of a
        child that has other parents.
    links : ndarray of bool, shape (n_variables, n_variables)
        The structure to begin with: ``links[p, c]`` says whether p is a parent of c.

    Attributes
    ----------
    links : ndarray of bool, shape (n_variables, n_variables)
        The present structure.
    additions, deletions : ndarray of shape (n_variables, n_variables)
        By how much the score would rise with the link from row to column, and without it; -inf
        where there is no such change.
    """

    def __init__(self, counts, max_parents, gain, links):
        self.counts = counts
        self.max_parents = max_parents
        self.gain = gain
        self.links = links
        self.additions = np.full(links.shape, -np.inf)
        self.deletions = np.full(links.shape, -np.inf)
        self._update(range(len(links)))

    def parents(self):
        """Parents of each variable in the present structure."""
        return tuple(tuple(np.flatnonzero(column).tolist()) for column in self.links.T)

    def climb(self):
        """Parents of each variable where no change raises the score, or one leads back."""
        visited = set()
        while self.parents() not in visited:
            visited.add(self.parents())
            self.step()
        return self.parents()

    def step(self):
        """Make the best change, if one raises the score."""
        gains = self._gains().round(DECIMALS)
        kind, parent, child = np.unravel_index(gains.argmax(), gains.shape)
        if gains[kind, parent, child] <= 0:
            return
        self.links[parent, child] = kind == ADD
        self.links[child, parent] = kind == REVERSE
        self._update([child, parent] if kind == REVERSE else [child])

    def _gains(self):
        """Gain of each addition, deletion and reversal, (3, n, n); -inf where it makes a cycle."""
        # Row a, column b: whether b is reached from a along one or more links; each squaring
        # doubles the number of links
        descendants = self.links
        for _ in range(len(self.links).bit_length()):
            descendants = descendants | descendants @ descendants
        # A reversal makes a cycle if a second path, of two or more links, leads to the child
        has_second_path = descendants @ self.links
        additions = np.where(descendants.T, -np.inf, self.additions)
        reversals = np.where(has_second_path, -np.inf, self.deletions + self.additions.T)
        return np.stack([additions, self.deletions, reversals])

    def _update(self, children):
        """Compute the gains of `children` again: those of all others depend on other families."""
        for child in children:
            parents = frozenset(np.flatnonzero(self.links[:, child]).tolist())
            self.additions[:, child] = -np.inf
            self.deletions[:, child] = -np.inf
            for p in parents:
                self.deletions[p, child] = -self.gain(self.counts, child, p, parents - {p})
            if len(parents) < self.max_parents:
                for p in set(range(len(self.links))) - parents - {child}:
                    self.additions[p, child] = self.gain(self.counts, child, p, parents)
