"""Bayesian networks with names, as read from a file in the Bayesian Interchange Format (BIF)."""

import numpy as np

from lib.base.validation import check_generator, check_integer, check_real, probability_divisors
from lib.bayes_net import bif_format
from lib.bayes_net.network import Network


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
        If `parents` has a cycle, a table has another shape than the sizes make or rows that do not
        sum to 1, or the names or values are not as many as those of the tables, or names repeat.
    """

    def __init__(self, parents, tables, names=None, values=None):
        sizes = [np.shape(table)[-1] for table in tables]
        self.network = Network(parents, sizes)
        self.parents = self.network.parents
        if names is None:
            names = map(str, range(len(sizes)))
        if values is None:
            values = tuple(tuple(map(str, range(size))) for size in sizes)
        self.names = tuple(names)
        self.values = values
        if len(self.names) != len(sizes) or len(set(self.names)) < len(sizes):
            raise ValueError(
                f"names must be {len(sizes)} different names, one of each table; got {self.names}"
            )
        if [len(values) for values in self.values] != sizes:
            raise ValueError(
                f"values must be as many as the tables have, {sizes}; got {self.values}"
            )
        for name, table, shape in zip(self.names, tables, self.network.shapes, strict=True):
            _check_table(name, table, shape)
        self.theta = self.network.normalised(self.network.flat(tables))

    @classmethod
    def read_bif(cls, path):
        """Read a file in the Interchange Format for Bayesian networks (BIF) of JavaBayes.

        Comments, properties and any text between the blocks are skipped. Names may be in quotes,
        and are parted by commas or blanks; the number of a variable's states, or the states that
        are known, decides where a name has blanks or brackets, as ``(0,5]``. Of a probability
        block, ``table`` lists all cells, with the states of the child slowest and those of the last
        parent fastest; a row replaces that of the table; ``default`` stands for rows that are not
        given. Rows whose sum rounding to three decimals or more explains are divided by it.

        Parameters
        ----------
        path : str or Path
            Of text in UTF-8, or else Latin-1, which may be compressed by gzip.

        Returns
        -------
        DiscreteNetwork

        Raises
        ------
        ValueError
            If the file ends early or is no such file; a variable, a probability block or a row is
            there twice or missing; a row has a wrong number of entries, one outside of [0, 1], or
            another sum than 1; a name is unknown; or parents form a cycle. The message names the
            file, the variable and the row.

        References
        ----------
        Cozman: The Interchange Format for Bayesian Networks, version 0.15,
        https://www.cs.cmu.edu/~javabayes/Home/node7.html.
        """
        states, families, tables = bif_format.read_bif(path)
        number = {name: v for v, name in enumerate(states)}
        parents = [[number[parent] for parent in family] for family in families.values()]
        # `Network` has parents in ascending order, the file in its own
        ascending = []
        for family, table in zip(parents, tables.values(), strict=True):
            ascending.append(np.transpose(table, [*np.argsort(family), len(family)]))
        return cls(parents, ascending, tuple(states), tuple(map(tuple, states.values())))

    def fitted(self, parents, codes, smoothing=1.0):
        """Return a network of the same variables with other parents, and tables learned from rows.

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

        Raises
        ------
        ValueError
            If `smoothing` is out of range or `parents` has a cycle.
        """
        smoothing = check_real("smoothing", smoothing, 0)
        network = Network(parents, self.network.sizes)
        counts = np.bincount(find_entries(network, codes).ravel(), minlength=network.n_parameters)
        tables = network.tables(network.normalised(counts + smoothing))
        return DiscreteNetwork(parents, tables, self.names, self.values)

    def log_probability(self, codes):
        """Ln P(row) of each row of codes (n_samples, n_variables), (n_samples,)."""
        return np.log(self.theta)[find_entries(self.network, codes)].sum(axis=1)

    def sample(self, size, rng):
        """Draw rows from the network, parents first.

        Parameters
        ----------
        size : int, at least 0
        rng : numpy.random.Generator

        Returns
        -------
        codes : ndarray of intp, shape (size, n_variables)
        """
        size = check_integer("size", size, 0)
        codes = np.zeros((size, len(self.parents)), dtype=np.intp)
        draws = check_generator("rng", rng).random((len(self.parents), size, 1))
        tables = self.network.tables(self.theta)
        for v in self.network.order:
            # a value's number is that of the cumulated probabilities below the draw
            cumulated = np.cumsum(tables[v], axis=-1)[..., :-1]
            rows = cumulated[tuple(codes[:, p] for p in self.parents[v])]
            codes[:, v] = (draws[v] > rows).sum(axis=1)
        return codes


def _check_table(name, table, shape):
    """Raise ValueError unless a table has the shape and rows that sum to 1, but for rounding."""
    if np.shape(table) != shape:
        raise ValueError(f"table of {name} must have shape {shape}; got {np.shape(table)}")
    probability_divisors(
        np.sum(table, axis=-1),
        np.min(table, axis=-1),
        lambda *row: f"row {row} of the table of {name}" if row else f"table of {name}",
    )


def find_entries(network, codes):
    """Return the parameter of each variable's table that each row takes.

    Both `codes` and the result have the shape (n_samples, n_variables).
    """
    columns = []
    for v, (parents, shape) in enumerate(zip(network.parents, network.shapes, strict=True)):
        columns.append(np.ravel_multi_index(codes[:, [*parents, v]].T, shape))
    return np.column_stack(columns) + network.starts[:-1]
