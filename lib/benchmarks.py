"""Results of `make bench`, as the book shows them."""

import json
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).parents[1] / "data" / "benchmarks" / "speed.json"


def read_benchmarks(path=RESULTS):
    """Read what `make bench` has written.

    Returns
    -------
    rows : DataFrame
        job, ours, peer, unit, ratio, ratio_low, ratio_high, target, aim: one comparison a row.
    machine : dict
        What it ran on, with versions.

    Raises
    ------
    ValueError
        If there is no such file, or it is broken.
    """
    path = Path(path)
    if not path.exists():
        raise ValueError(f"no benchmark results at path={path}; `make bench` writes them")
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        return pd.DataFrame(results["rows"]), dict(results["machine"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"the benchmark results at path={path} are broken; `make bench` writes them anew") from error
