"""Transitions of a state that is made up of two variables."""

import math

import numpy as np

from lib.base.validation import check_choice, check_integer


class FactoredTransitions:
    """Which tables describe how the variables of a state move, and how these make one matrix.

    Parameters
    ----------
    kind : {"product", "independent", "action"}
        "product": one table over all pairs of values. "independent": each variable has a table of
        its own and both move at each step. "action": at each step exactly one of the variables
        moves, the first one with a probability that is learned, and the other stays; which one it
        was is not seen.
    sizes : tuple of int
        Values of each variable; state i of the first and j of the second is i * sizes[1] + j.
        "product" takes any number of variables.

    Raises
    ------
    ValueError
        If the kind is none of these, or `sizes` are not numbers of at least 1, two of them unless
        it is "product".
    """

    def __init__(self, kind, sizes):
        self.kind = check_choice("kind", kind, ("product", "independent", "action"))
        numbers = sizes if np.iterable(sizes) else ()
        self.sizes = tuple(check_integer("sizes", size, 1) for size in numbers)
        if not self.sizes:
            raise ValueError(
                f"sizes must hold the number of values of each variable; got {sizes!r}"
            )
        if kind != "product" and len(self.sizes) != 2:
            raise ValueError(
                f"sizes must be of two variables for {kind!r} transitions; got {sizes!r}"
            )
        self.n_states = math.prod(self.sizes)
        # values of each variable that has a table of its own
        self._table_sizes = (self.n_states,) if kind == "product" else self.sizes

    def shapes(self):
        """Return the shapes of the tables, each of whose rows sums to 1."""
        shapes = [(size, size) for size in self._table_sizes]
        if self.kind == "action":
            shapes.append((1, 2))  # P(the first variable moves), P(the second one moves)
        return shapes

    def matrix(self, tables):
        """Return P(next state | state), (n_states, n_states)."""
        if self.kind == "product":
            return tables[0]
        if self.kind == "independent":
            return np.kron(tables[0], tables[1])
        first_moves, second_moves = self._joint_moves(tables)
        return first_moves + second_moves

    def _joint_moves(self, tables):
        """P(next state, which variable moves | state) of either variable, for kind "action"."""
        first, second, action = tables
        first_stays = np.eye(self.sizes[0])
        second_stays = np.eye(self.sizes[1])
        first_moves = action[0, 0] * np.kron(first, second_stays)
        second_moves = action[0, 1] * np.kron(first_stays, second)
        return first_moves, second_moves

    def counts(self, counts, tables):
        """Return expected counts of each table, from those of pairs of states.

        Parameters
        ----------
        counts : ndarray of shape (n_states, n_states)
            Expected numbers of transitions from each state to each.
        tables : list of ndarrays
            With which they were computed.

        Returns
        -------
        list of ndarrays
            Of the shapes of the tables.
        """
        if self.kind != "action":
            n_tables = len(self._table_sizes)
            return [self._marginal(counts, variable) for variable in range(n_tables)]
        # E step of the hidden choice: P(the first variable moved | both states)
        first_moves, second_moves = self._joint_moves(tables)
        total = first_moves + second_moves
        responsibility = np.divide(first_moves, total, out=np.zeros_like(total), where=total > 0)
        first_counts = counts * responsibility
        second_counts = counts - first_counts
        action = np.array([[first_counts.sum(), second_counts.sum()]])
        return [self._marginal(first_counts, 0), self._marginal(second_counts, 1), action]

    def _marginal(self, counts, variable):
        """Counts of pairs of values of one variable, summed over those of all others."""
        n_variables = len(self._table_sizes)
        # axes are the variables of the state, and then once more those of the next state
        axes = range(2 * n_variables)
        summed_axes = tuple(axis for axis in axes if axis % n_variables != variable)
        return counts.reshape(self._table_sizes * 2).sum(axis=summed_axes)
