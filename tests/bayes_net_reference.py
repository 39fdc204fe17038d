"""Belief nets by enumeration: every quantity is a plain sum over all assignments.

A net is `parents` (a tuple of parents for each variable, the class being variable 0) and `tables`
(an array for each variable, P(v | parents), of shape (sizes of its parents..., its size)). A row
has a code for each variable; -1 is missing. Flat vectors hold the tables one after the other, each
in C order.
"""

import itertools
import math

import numpy as np

MISSING = -1


def sizes_of(tables):
    return tuple(table.shape[-1] for table in tables)


def table_shapes(parents, sizes):
    return [tuple(sizes[p] for p in family) + (sizes[v],) for v, family in enumerate(parents)]


def flat(tables):
    return np.concatenate([table.ravel() for table in tables])


def unflat(vector, parents, sizes):
    tables = []
    start = 0
    for shape in table_shapes(parents, sizes):
        stop = start + math.prod(shape)
        tables.append(np.reshape(vector[start:stop], shape))
        start = stop
    assert start == len(vector)
    return tables


def softmax(beta, parents, sizes):
    """theta_{d|f} = exp(beta_{d|f}) / sum over d' of exp(beta_{d'|f})."""
    tables = []
    for table in unflat(beta, parents, sizes):
        # less the largest, which cancels, so that no power overflows
        powers = np.exp(table - table.max(axis=-1, keepdims=True))
        tables.append(powers / powers.sum(axis=-1, keepdims=True))
    return tables


def completions(row, sizes):
    """All assignments to all variables that agree with what is observed in `row`."""
    choices = []
    for code, size in zip(row, sizes, strict=True):
        choices.append(range(size) if code == MISSING else [code])
    return itertools.product(*choices)


def family(parents, assignment, v):
    """Index of v's entry in its table: (values of the parents..., value of v)."""
    return tuple(assignment[p] for p in parents[v]) + (assignment[v],)


def joint(parents, tables, assignment):
    """P(assignment): the product over all variables of P(v | parents)."""
    entries = [table[family(parents, assignment, v)] for v, table in enumerate(tables)]
    return math.prod(float(entry) for entry in entries)


def evidence(parents, tables, row):
    """P(row)."""
    return math.fsum(joint(parents, tables, a) for a in completions(row, sizes_of(tables)))


def without_class(row):
    return (MISSING, *row[1:])


def posterior(parents, tables, row):
    """P(c | e) of every class; None if P(e) = 0."""
    n_classes = tables[0].shape[-1]
    joints = [evidence(parents, tables, (c, *row[1:])) for c in range(n_classes)]
    total = math.fsum(joints)
    return np.array(joints) / total if total > 0 else None


def family_posteriors(parents, tables, row):
    """P(d, f | row) of every entry of every table, flat."""
    sums = [np.zeros(table.shape) for table in tables]
    total = evidence(parents, tables, row)
    for assignment in completions(row, sizes_of(tables)):
        weight = joint(parents, tables, assignment) / total
        for v in range(len(parents)):
            sums[v][family(parents, assignment, v)] += weight
    return flat(sums)


def parent_posteriors(parents, tables, row):
    """P(f | row) of every entry of every table, the same for all d, flat."""
    posteriors = []
    for table in unflat(family_posteriors(parents, tables, row), parents, sizes_of(tables)):
        sums = table.sum(axis=-1, keepdims=True)
        posteriors.append(np.broadcast_to(sums, table.shape))
    return flat(posteriors)


def expected_counts(parents, tables, rows):
    return sum(family_posteriors(parents, tables, row) for row in rows)


def proposition_3(parents, tables, row):
    """[P(d, f | e, c) - P(d, f | e)] - theta_{d|f} [P(f | c, e) - P(f | e)], flat."""
    e = without_class(row)
    theta = flat(tables)
    families = family_posteriors(parents, tables, row) - family_posteriors(parents, tables, e)
    conditions = parent_posteriors(parents, tables, row) - parent_posteriors(parents, tables, e)
    return families - theta * conditions


def log_likelihood(parents, tables, rows):
    """Sum of ln P(c, e)."""
    return math.fsum(math.log(evidence(parents, tables, row)) for row in rows)


def log_conditional_likelihood(parents, tables, rows):
    """Sum of ln P(c | e)."""
    return math.fsum(math.log(posterior(parents, tables, row)[row[0]]) for row in rows)


def log_prior(tables, smoothing):
    """Of Dirichlet priors with parameters smoothing + 1, without their constants."""
    if smoothing == 0:
        return 0.0  # also where an entry is 0
    return smoothing * np.log(flat(tables)).sum()


def maximise(counts, parents, sizes, smoothing):
    """(count + smoothing) / (total + smoothing size); uniform where there is nothing to count."""
    tables = []
    for table in unflat(counts, parents, sizes):
        size = table.shape[-1]
        total = table.sum(axis=-1, keepdims=True) + smoothing * size
        shares = (table + smoothing) / np.where(total > 0, total, 1)
        tables.append(np.where(total > 0, shares, 1 / size))
    return tables


def ofe(parents, sizes, rows, smoothing):
    """Frequencies in the rows where the variable and all of its parents are observed."""
    counts = [np.zeros(shape) for shape in table_shapes(parents, sizes)]
    for row in rows:
        for v, count in enumerate(counts):
            entry = family(parents, row, v)
            if MISSING not in entry:
                count[entry] += 1
    return maximise(flat(counts), parents, sizes, smoothing)


def em_step(parents, tables, rows, smoothing):
    return maximise(expected_counts(parents, tables, rows), parents, sizes_of(tables), smoothing)


def forward(tables, row):
    """P(row) of a chain x1 -> x2 -> ... whose variables are all children of the class as well."""
    total = 0.0
    for c in range(len(tables[0])):
        is_possible = row[0] in (MISSING, c)
        message = np.array([tables[0][c] * is_possible])
        for table, code in zip(tables[1:], row[1:], strict=True):
            message = message @ np.atleast_2d(table[c])
            if code != MISSING:
                message = message * (np.arange(len(message)) == code)
        total += message.sum()
    return total


def random_parents(rng, n_variables, max_parents=2):
    """A random acyclic graph in a random order."""
    order = rng.permutation(n_variables)
    parents = [()] * n_variables
    for position, v in enumerate(order):
        k = rng.integers(0, min(position, max_parents) + 1)
        if k:
            choice = rng.choice(order[:position], k, replace=False)
            parents[v] = tuple(sorted(choice.tolist()))
    return tuple(parents)


def random_tables(rng, parents, sizes):
    """Tables whose distributions are uniform among all distributions."""
    return [rng.dirichlet(np.ones(shape[-1]), shape[:-1]) for shape in table_shapes(parents, sizes)]


def topological(parents):
    """The variables in an order in which each comes after its parents."""
    order = []
    while len(order) < len(parents):
        remaining_variables = [v for v in range(len(parents)) if v not in order]
        order += [v for v in remaining_variables if set(parents[v]) <= set(order)]
    return order


def sample(rng, parents, tables, size):
    """Complete rows, (size, n_variables)."""
    rows = np.empty((size, len(parents)), dtype=int)
    order = topological(parents)
    for row in rows:
        for v in order:
            condition = tuple(row[p] for p in parents[v])
            distribution = tables[v][condition]
            row[v] = rng.choice(len(distribution), p=distribution)
    return rows


def mask(rng, rows, share):
    """The rows with that share of the attributes missing at random."""
    is_missing = rng.random(rows.shape) < share
    is_missing[:, 0] = False
    return np.where(is_missing, MISSING, rows)
