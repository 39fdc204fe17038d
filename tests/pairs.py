"""Cases of a parametrised test in which each value of each factor occurs, not each combination."""


def pairs(*factors):
    """As many tuples as the longest factor has values; shorter ones begin again.

    Where two factors have as many values, name the combinations that matter instead: these always
    come together.
    """
    n = max(map(len, factors))
    columns = [[values[i % len(values)] for i in range(n)] for values in map(list, factors)]
    return list(zip(*columns, strict=True))
