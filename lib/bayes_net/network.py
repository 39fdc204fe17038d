"""A Bayesian network over discrete variables: its tables as one flat vector, and the clique tree for inference."""

from collections import namedtuple
from functools import cached_property
from math import prod

import numpy as np

from lib.bayes_net.messages import LOWEST
from lib.structures.graphs import check_parents, topological_order
from lib.validation import check_integer

LARGEST = 20_000_000  # entries of all tables, or of all messages
ROUNDING = 1e-6  # by which the sum of a row of probabilities may differ from 1

Parameters = namedtuple("Parameters", "row_starts lookup")


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
        self.shapes = [(*(sizes[p] for p in ps), sizes[v]) for v, ps in enumerate(self.parents)]
        counts = [prod(shape) for shape in self.shapes]
        if sum(counts) > LARGEST:
            v = max(range(len(counts)), key=counts.__getitem__)
            largest = (
                f"variable {v} with its {len(self.parents[v])} parents alone has {counts[v]:,}"
            )
            raise ValueError(
                f"structure must have at most {LARGEST:,} table entries; {largest} (use fewer parents)"
            )
        self.sizes = np.array(sizes, dtype=np.intp)
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        self.n_parameters = int(self.starts[-1])

    @cached_property
    def row_starts(self):
        """Where each row of each table begins in the flat vector, and the end of the last."""
        rows = map(np.arange, self.starts[:-1], self.starts[1:], self.sizes)
        return np.concatenate([*rows, self.starts[-1:]]).astype(np.intp)

    def check_parameters(self, beta):
        """Return `beta` as a flat vector of this network's parameters; ValueError unless all are finite."""
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
        """Return `theta` as a flat vector of tables; ValueError unless all rows are non-negative and sum to 1."""
        theta = self.check_parameters(theta)
        sums = np.add.reduceat(theta, self.row_starts[:-1])
        wrong = ~(np.abs(sums - 1) <= ROUNDING)
        if wrong.any() or theta.min() < 0:
            row = int(
                np.flatnonzero(wrong | (np.minimum.reduceat(theta, self.row_starts[:-1]) < 0))[0]
            )
            start, stop = self.row_starts[row : row + 2]
            v = int(np.searchsorted(self.starts, start, side="right")) - 1
            found = f"got {theta[start:stop]} in the table of variable {v}"
            raise ValueError(f"theta must have rows of probabilities, which sum to 1; {found}")
        return theta

    def normalised(self, numbers):
        """Flat probabilities in proportion to non-negative `numbers`, uniform where a row has none; kept > 0."""
        widths = np.diff(self.row_starts)
        totals = np.repeat(np.add.reduceat(numbers, self.row_starts[:-1]), widths)
        uniform = np.repeat(1.0 / widths, widths)
        return np.maximum(np.divide(numbers, totals, out=uniform, where=totals > 0), LOWEST)

    def log_softmax(self, beta):
        """Logarithms of `softmax`, for one or several vectors, (..., n_parameters)."""
        widths, starts = np.diff(self.row_starts), self.row_starts[:-1]
        beta = beta - np.repeat(np.maximum.reduceat(beta, starts, axis=-1), widths, axis=-1)
        totals = np.log(np.add.reduceat(np.exp(beta), starts, axis=-1))
        return np.maximum(beta - np.repeat(totals, widths, axis=-1), np.log(LOWEST))

    def softmax(self, beta):
        """Flat probabilities exp(beta) / sum of exp(beta) over each row, of shape (n_parameters,)."""
        return np.exp(self.log_softmax(beta))

    def tables(self, theta):
        """List the tables P(v | parents) of a flat vector, one array a variable, class first."""
        return [
            theta[a:b].reshape(s)
            for a, b, s in zip(self.starts[:-1], self.starts[1:], self.shapes, strict=True)
        ]

    def flat(self, tables):
        """Return the flat vector of a list of tables; ValueError unless each has the shape that its variable needs."""
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
    """Factors of a network and the bucket tree that sums variables out, as arrays for compiled loops.

    Each variable's table is a factor over its scope. With `by_class` the class is not a variable of
    the scopes but the last axis of every factor, so that the messages for all classes are computed
    side by side.
    """

    def __init__(self, network, by_class):
        self.network, self.by_class = network, by_class
        self._families = [(*ps, v) for v, ps in enumerate(network.parents)]
        self.scopes = [tuple(v for v in family if v or not by_class) for family in self._families]
        strides = [_strides(network.sizes[list(scope)]) for scope in self.scopes]
        self.steps = [
            dict(zip(scope, steps, strict=True))
            for scope, steps in zip(self.scopes, strides, strict=True)
        ]
        cells = [prod(int(network.sizes[v]) for v in scope) for scope in self.scopes]
        self.offsets = np.concatenate([[0], np.cumsum(cells)]).astype(np.intp)
        # Scopes and strides of factors in rows of equal length, for loops.
        self.padded = np.full((2, len(cells), max(1, *map(len, self.scopes))), -1, np.intp)
        for f, pair in enumerate(zip(self.scopes, strides, strict=True)):
            self.padded[:, f, : len(pair[0])] = pair

    @cached_property
    def lookup(self):
        """Which parameter each cell and class is, (n_cells, n_classes)."""
        network, blocks, columns = (
            self.network,
            [],
            int(self.network.sizes[0]) if self.by_class else 1,
        )
        for family, block in zip(
            self._families, network.tables(np.arange(network.n_parameters)), strict=True
        ):
            of_class = self.by_class and 0 in family
            block = (
                np.moveaxis(block, family.index(0), -1).reshape(-1, columns)
                if of_class
                else block.reshape(-1, 1)
            )
            blocks.append(np.broadcast_to(block, (len(block), columns)))
        return np.ascontiguousarray(np.concatenate(blocks), dtype=np.intp)

    @property
    def parameters(self):
        """What compiled loops need of the tables."""
        # a copy: what was unpickled is read-only
        return Parameters(np.array(self.network.row_starts), self.lookup)

    @cached_property
    def buckets(self):
        """Cliques in the order of elimination, each with factors, and earlier cliques' messages, that it multiplies.

        They go to the first of their variables that is summed out.
        """
        cliques = _elimination(self.scopes, self.network.sizes, self.lookup.shape[1])
        bucket = {clique[0]: b for b, clique in enumerate(cliques)}
        buckets = [(clique, [], []) for clique in cliques]
        for kind, scopes in (1, self.scopes), (2, [separator for _, *separator in cliques]):
            for number, scope in enumerate(scopes):
                if scope:
                    buckets[min(bucket[v] for v in scope)][kind].append(number)
        return buckets


def _strides(sizes):
    """Steps of each position in C order."""
    return np.concatenate([np.cumprod(sizes[:0:-1])[::-1], [1]]).astype(np.intp)[: len(sizes)]


def _elimination(scopes, sizes, n_columns):
    """Cliques in the order of elimination by least fill: each the variable summed out, then those left with it."""
    neighbours, cliques, cells = {}, [], 0
    for scope in scopes:
        for v in scope:
            neighbours.setdefault(v, set()).update(set(scope) - {v})
    while neighbours:
        v = min(
            neighbours,
            key=lambda v: (_fill(v, neighbours), prod(int(sizes[u]) for u in neighbours[v]), v),
        )
        around = neighbours.pop(v)
        for u in around:
            neighbours[u] |= around - {u}
            neighbours[u] -= {u, v}
        cliques.append((v, *sorted(around)))
        cells += prod(int(sizes[u]) for u in around)
        if cells * n_columns > LARGEST:
            needed = (
                f"variables {sorted(around)} would need a message of more than {LARGEST:,} numbers"
            )
            raise ValueError(
                f"structure is too entangled for exact inference: {needed} (give a sparser structure)"
            )
    return cliques


def _fill(v, neighbours):
    """Edges that eliminating v would add, counted twice."""
    return sum(len(neighbours[v] - neighbours[u]) - 1 for u in neighbours[v])
