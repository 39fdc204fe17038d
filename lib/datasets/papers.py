"""Numbers as the papers print them, typed into data/paper."""

import pandas as pd

from lib.base.files import DATA
from lib.base.validation import check_choice

FOLDER = DATA / "paper"


def printed_table(name, **options):
    """Return a printed table.

    Parameters
    ----------
    name : str
        Of a file in data/paper, without ".csv"; README.md there says what is in each.
    options
        Of `pandas.read_csv`.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        If there is no such table.
    """
    check_choice("name", name, sorted(path.stem for path in FOLDER.glob("*.csv")))
    return pd.read_csv(FOLDER / f"{name}.csv", **options)
