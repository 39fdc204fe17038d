"""A Bayesian network over discrete variables: tables as one flat vector, and the junction tree."""

from functools import cached_property
from math import prod

import numpy as np

from lib.base.validation import check_integer, probability_divisors
from lib.bayes_net.likelihood import FlatTables
from lib.bayes_net.messages import LOWEST
from lib.structures.graphs import check_parents, topological_order

LARGEST = 20_000_000  # entries of all tables, or of all messages


class Network:
    """Structure and sizes of a Bayesian network; its parameters are one flat vector.

    The vector holds the variables in order, class first, each conditional probability table in C
    order: of shape (size of each parent..., size of the variable).

    Parameters
    ----------
    parents : sequence of sequences of int
        Parents of each variable; variable 0 is the class, variable i attribute i - 1. They are
        taken in ascending order, also in the tables.
    sizes : sequence of int, each at least 1
        Number of values of each variable.

    Raises
    ------
    ValueError
        If a size is out of range, `parents` is not a directed acyclic graph over the variables, or
        the tables are too large.
    """

    def __init__(self, parents, sizes):
        if np.ndim(sizes) != 1:
            raise ValueError(f"sizes must be a sequence of integers, one a variable; got {sizes!r}")
        sizes = [check_integer(f"size of variable {v}", size, 1) for v, size in enumerate(sizes)]
        self.parents = check_parents(parents, len(sizes))
        self.order = topological_order(self.parents)
        self.shapes = [
            (*(sizes[p] for p in family), sizes[v]) for v, family in enumerate(self.parents)
        ]
        n_entries = [prod(shape) for shape in self.shapes]
        if sum(n_entries) > LARGEST:
            v = max(range(len(sizes)), key=n_entries.__getitem__)
            n_parents = len(self.parents[v])
            detail = f"variable {v} with its {n_parents} parents alone has {n_entries[v]:,}"
            raise ValueError(
                f"structure must have at most {LARGEST:,} table entries; "
                f"{detail} (use fewer parents)"
            )
        self.sizes = np.array(sizes, dtype=np.intp)
        self.starts = np.concatenate([[0], np.cumsum(n_entries)]).astype(np.intp)
        self.n_parameters = int(self.starts[-1])

    @cached_property
    def row_starts(self):
        """Where each row of each table begins in the flat vector, and the end of the last."""
        rows = map(np.arange, self.starts[:-1], self.starts[1:], self.sizes)
        return np.concatenate([*rows, self.starts[-1:]]).astype(np.intp)

    def check_parameters(self, beta):
        """Return `beta` as a flat vector of parameters; ValueError unless all are finite."""
        if np.shape(beta) != (self.n_parameters,):
            raise ValueError(
                f"parameters must have shape ({self.n_parameters},); got {np.shape(beta)}"
            )
        # loops would be compiled again for what is read-only
        beta = np.require(beta, float, ["C", "W"])
        wrong = np.flatnonzero(~np.isfinite(beta))
        if len(wrong):
            raise ValueError(
                f"parameters must be finite numbers; got {beta[wrong[0]]} in place {wrong[0]}"
            )
        return beta

    def check_probabilities(self, theta):
        """Return `theta` as a flat vector of tables, with rows divided by their sums of nearly 1.

        ValueError unless all rows are non-negative and sum to 1, but for rounding.
        """
        theta = self.check_parameters(theta)
        starts = self.row_starts[:-1]

        def place(row):
            v = int(np.searchsorted(self.starts, starts[row], side="right")) - 1
            return f"row {row} of theta, in the table of variable {v},"

        divisors = probability_divisors(
            np.add.reduceat(theta, starts), np.minimum.reduceat(theta, starts), place
        )
        return theta / np.repeat(divisors, np.diff(self.row_starts))

    def normalised(self, numbers):
        """Flat tables in proportion to `numbers` of at least 0: uniform in rows of 0, never 0."""
        widths = np.diff(self.row_starts)
        totals = np.repeat(np.add.reduceat(numbers, self.row_starts[:-1]), widths)
        uniform = np.repeat(1.0 / widths, widths)
        return np.maximum(np.divide(numbers, totals, out=uniform, where=totals > 0), LOWEST)

    def log_softmax(self, beta):
        """Logarithms of `softmax`, for one or several vectors, (..., n_parameters)."""
        widths = np.diff(self.row_starts)
        starts = self.row_starts[:-1]
        # less the largest of each row, so that no power overflows
        beta = beta - np.repeat(np.maximum.reduceat(beta, starts, axis=-1), widths, axis=-1)
        totals = np.log(np.add.reduceat(np.exp(beta), starts, axis=-1))
        return np.maximum(beta - np.repeat(totals, widths, axis=-1), np.log(LOWEST))

    def softmax(self, beta):
        """Flat tables exp(beta) / sum of exp(beta) over each row, (n_parameters,)."""
        return np.exp(self.log_softmax(beta))

    def tables(self, theta):
        """List the tables P(v | parents) of a flat vector, one array a variable, class first."""
        return [
            theta[start:stop].reshape(shape)
            for start, stop, shape in zip(
                self.starts[:-1], self.starts[1:], self.shapes, strict=True
            )
        ]

    def flat(self, tables):
        """Return the flat vector of a list of tables; ValueError unless their shapes are right."""
        tables = list(tables)
        shapes = [np.shape(table) for table in tables]
        if shapes != self.shapes:
            raise ValueError(f"tables must have shapes {self.shapes}; got {shapes}")
        return np.concatenate([np.asarray(table, dtype=float).ravel() for table in tables])

    @cached_property
    def by_class(self):
        """Inference for each class at once, by factors over attributes with a column a class."""
        return Factors(self, by_class=True)

    @cached_property
    def with_class(self):
        """Inference with the class as one variable among the others."""
        return Factors(self, by_class=False)

    def __getstate__(self):
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("by_class", "with_class")
        }


class Factors:
    """Factors of a network and the bucket tree that sums variables out, as arrays.

    Each variable's table is a factor over its scope. With `by_class` the class is not a variable of
    the scopes but the last axis of every factor, so that the messages for all classes are computed
    side by side.

    Parameters
    ----------
    network : Network
    by_class : bool

    Attributes
    ----------
    scopes : list of tuple of int
        Variables of each factor.
    steps : list of dict
        How many cells apart two values of a variable are, for the variables of each factor.
    offsets : ndarray of intp, shape (n_factors + 1,)
        First cell of each factor, and the end.
    padded_scopes, padded_strides : ndarray of intp, shape (n_factors, longest scope)
        Scopes and steps in rows of the same length, filled with -1.
    """

    def __init__(self, network, by_class):
        self.network = network
        self.by_class = by_class
        self._families = [(*parents, v) for v, parents in enumerate(network.parents)]
        self.scopes = [tuple(v for v in family if v or not by_class) for family in self._families]
        strides = [_strides(network.sizes[list(scope)]) for scope in self.scopes]
        self.steps = [
            dict(zip(scope, steps, strict=True))
            for scope, steps in zip(self.scopes, strides, strict=True)
        ]
        n_cells = [prod(int(network.sizes[v]) for v in scope) for scope in self.scopes]
        self.offsets = np.concatenate([[0], np.cumsum(n_cells)]).astype(np.intp)
        shape = len(n_cells), max(1, *map(len, self.scopes))
        self.padded_scopes = np.full(shape, -1, np.intp)
        self.padded_strides = np.full(shape, -1, np.intp)
        for f, scope in enumerate(self.scopes):
            self.padded_scopes[f, : len(scope)] = scope
            self.padded_strides[f, : len(scope)] = strides[f]

    @cached_property
    def lookup(self):
        """Which parameter each cell and class is, (n_cells, n_classes)."""
        network = self.network
        n_columns = int(network.sizes[0]) if self.by_class else 1
        numbers = network.tables(np.arange(network.n_parameters))
        blocks = []
        for family, table in zip(self._families, numbers, strict=True):
            # the class last; a table without the class is the same in all columns
            if self.by_class and 0 in family:
                block = np.moveaxis(table, family.index(0), -1).reshape(-1, n_columns)
            else:
                block = table.reshape(-1, 1)
            blocks.append(np.broadcast_to(block, (len(block), n_columns)))
        return np.ascontiguousarray(np.concatenate(blocks), dtype=np.intp)

    @property
    def parameters(self):
        """The `FlatTables` that compiled loops read."""
        # a copy: what was unpickled is read-only
        return FlatTables(np.array(self.network.row_starts), self.lookup)

    @cached_property
    def buckets(self):
        """Buckets of the elimination: cliques, with the factors and earlier messages they multiply.

        Factors and messages go to the first of their variables that is summed out.
        """
        cliques = _eliminate(self.scopes, self.network.sizes, self.lookup.shape[1])
        bucket_of = {clique[0]: b for b, clique in enumerate(cliques)}
        factors = [[] for _ in cliques]
        messages = [[] for _ in cliques]
        for f, scope in enumerate(self.scopes):
            if scope:
                factors[min(bucket_of[v] for v in scope)].append(f)
        for b, (_, *separator) in enumerate(cliques):
            if separator:
                messages[min(bucket_of[v] for v in separator)].append(b)
        return list(zip(cliques, factors, messages, strict=True))


def _strides(sizes):
    """Steps of each position in C order."""
    return np.concatenate([np.cumprod(sizes[:0:-1])[::-1], [1]]).astype(np.intp)[: len(sizes)]


def _eliminate(scopes, sizes, n_columns):
    """Cliques in the order of elimination by least fill (Kjaerulff, 1990).

    Each clique is the variable that is summed out, then those left with it.
    """
    neighbours = {}
    for scope in scopes:
        for v in scope:
            neighbours.setdefault(v, set()).update(set(scope) - {v})

    def cost(v):
        n_cells = prod(int(sizes[u]) for u in neighbours[v])
        return _count_fill(v, neighbours), n_cells, v

    cliques = []
    n_cells = 0
    while neighbours:
        v = min(neighbours, key=cost)
        separator = neighbours.pop(v)
        # the separator becomes a clique of the graph without v
        for u in separator:
            neighbours[u] |= separator - {u}
            neighbours[u] -= {u, v}
        cliques.append((v, *sorted(separator)))
        n_cells += prod(int(sizes[u]) for u in separator)
        if n_cells * n_columns > LARGEST:
            detail = (
                f"variables {sorted(separator)} would need a message "
                f"of more than {LARGEST:,} numbers"
            )
            raise ValueError(
                f"structure is too entangled for exact inference: {detail} "
                "(give a sparser structure)"
            )
    return cliques


def _count_fill(v, neighbours):
    """Edges that eliminating v would add, counted twice."""
    return sum(len(neighbours[v] - neighbours[u]) - 1 for u in neighbours[v])
