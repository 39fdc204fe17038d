"""Bayesian networks with names, as read from a file in the Bayesian Interchange Format (BIF)."""

import gzip
import re
from pathlib import Path

import numpy as np

from lib.bayes_net.network import Network
from lib.validation import check_generator, check_integer

_BLOCK = re.compile(r"(variable|probability|network)\s+([^{]*?)\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_TYPE = re.compile(r"type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{([^}]*)\}")
_ROW = re.compile(r"(?:\(([^)]*)\)|(table))\s+([^;]*);")


class DiscreteNetwork:
    """Structure, tables and names of a Bayesian network over discrete variables.

    Parameters
    ----------
    parents : sequence of sequences of int
        Parents of each variable.
    tables : sequence of ndarrays
        P(v | parents) of each variable, of shape (size of each parent, ascending..., size of v).
    names : sequence of str, optional
        Of the variables; by default their numbers.
    values : sequence of sequences of str, optional
        Of each variable; by default their codes.

    Attributes
    ----------
    parents : tuple of tuples of int
    network : Network
    theta : ndarray of shape (n_parameters,)
        All tables, one after the other.

    Raises
    ------
    ValueError
        If `parents` has a cycle or a table another shape than the sizes make, or rows that do not sum to 1.
    """

    def __init__(self, parents, tables, names=None, values=None):
        sizes = [np.shape(table)[-1] for table in tables]
        self.network = Network(parents, sizes)
        self.parents = self.network.parents
        self.names = tuple(map(str, range(len(sizes))) if names is None else names)
        self.values = tuple(tuple(map(str, range(size))) for size in sizes) if values is None else values
        for name, table, shape in zip(self.names, tables, self.network.shapes, strict=True):
            if np.shape(table) != shape:
                raise ValueError(f"table of {name} must have shape {shape}; got {np.shape(table)}")
            if np.min(table) < 0 or np.abs(np.sum(table, axis=-1) - 1).max() > 1e-5:
                raise ValueError(f"table of {name} must have rows that are at least 0 and sum to 1")
        self.theta = self.network.normalised(self.network.flat(tables))

    @classmethod
    def read_bif(cls, path):
        """Read a file in the Bayesian Interchange Format, which may be compressed by gzip.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        DiscreteNetwork

        Raises
        ------
        ValueError
            If the file ends early, or a variable has no table, an unknown parent, or rows missing.
        """
        contents = Path(path).read_bytes()
        try:
            text = (gzip.decompress(contents) if contents[:2] == b"\x1f\x8b" else contents).decode()
        except EOFError:
            raise ValueError(f"{path} ends before its last block is complete") from None
        rest = _BLOCK.sub("", text).strip()
        if rest:
            raise ValueError(f"{path} ends before the block {rest[:40]!r} is complete, or that is none")
        blocks = _BLOCK.findall(text)  # kind, heading and body of each block in braces, which may hold more braces
        values = {name: _values(name, body) for kind, name, body in blocks if kind == "variable"}
        families = dict(_family(head, body, values) for kind, head, body in blocks if kind == "probability")
        without = [name for name in values if name not in families]
        if without or not values:
            raise ValueError(f"{path} has no probability of {', '.join(without) or 'any variable'}")
        number = {name: v for v, name in enumerate(values)}
        parents = [[number[p] for p in families[name][0]] for name in values]
        tables = [_table(name, *families[name], values) for name in values]
        tables = [np.transpose(table, [*np.argsort(ps), len(ps)]) for table, ps in zip(tables, parents, strict=True)]
        return cls(parents, tables, values, tuple(values.values()))

    def fitted(self, parents, codes, smoothing=1.0):
        """The network over the same variables with other parents, and tables learned from rows.

        Parameters
        ----------
        parents : sequence of sequences of int
        codes : ndarray of int, shape (n_samples, n_variables)
            Without missing values.
        smoothing : float, at least 0
            Added to each count.

        Returns
        -------
        DiscreteNetwork
        """
        network = Network(parents, self.network.sizes)
        counts = np.bincount(cells(network, codes).ravel(), minlength=network.n_parameters)
        return DiscreteNetwork(parents, network.tables(network.normalised(counts + smoothing)), self.names, self.values)

    def log_probability(self, codes):
        """Ln P(row) of each row of codes (n_samples, n_variables), (n_samples,)."""
        return np.log(self.theta)[cells(self.network, codes)].sum(axis=1)

    def sample(self, size, rng):
        """Rows drawn from the network, parents first.

        Parameters
        ----------
        size : int, at least 0
        rng : numpy.random.Generator

        Returns
        -------
        codes : ndarray of intp, shape (size, n_variables)
        """
        codes = np.zeros((check_integer("size", size, 0), len(self.parents)), dtype=np.intp)
        draws = check_generator("rng", rng).random((len(self.parents), size, 1))
        sums = [np.cumsum(table, axis=-1)[..., :-1] for table in self.network.tables(self.theta)]
        for v in self.network.order:
            codes[:, v] = (draws[v] > sums[v][tuple(codes[:, p] for p in self.parents[v])]).sum(axis=1)
        return codes


def cells(network, codes):
    """Which parameter of a `Network` each row of codes (n_samples, n_variables) takes of each variable, same shape."""
    families = enumerate(zip(network.parents, network.shapes, strict=True))
    columns = [np.ravel_multi_index(codes[:, [*parents, v]].T, shape) for v, (parents, shape) in families]
    return np.column_stack(columns) + network.starts[:-1]


def _values(name, body):
    match = _TYPE.search(body)
    values = tuple(value.strip() for value in match[2].split(",")) if match else ()
    if not match or len(values) != int(match[1]):
        raise ValueError(f"variable {name} must have a type and as many values as it says; got {body.strip()!r}")
    return values


def _family(head, body, values):
    """Child, from "( child | parent, parent )", with its parents and the body."""
    child, _, given = head.strip("() ").partition("|")
    names = [child.strip(), *(name.strip() for name in given.split(",") if name.strip())]
    for name in names:
        if name not in values:
            raise ValueError(f"probability of {names[0]} must be of declared variables; got {name!r}")
    return names[0], (names[1:], body)


def _table(child, parents, body, values):
    """Table of a child with its parents in the file's order."""
    table = np.full([*(len(values[p]) for p in parents), len(values[child])], np.nan)
    for given, plain, numbers in _ROW.findall(body):
        where = [] if plain else [value.strip() for value in given.split(",")]
        try:
            index = tuple(values[p].index(value) for p, value in zip(parents, where, strict=not plain))
            table[index] = np.array([float(x) for x in numbers.split(",")]).reshape(table[index].shape)
        except ValueError as error:
            raise ValueError(f"probability of {child}, row ({given}), cannot be read: {error}") from None
    if np.isnan(table).any():
        raise ValueError(f"probability of {child} must have a row for each value of its parents")
    return table
