"""Results of the benchmarks, as the book shows them."""

import json
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parents[1] / "data" / "benchmarks"
RESULTS = FOLDER / "speed.json"
PRECISION = FOLDER / "precision.json"
BUILDS = FOLDER / "builds.json"


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
    rows, about = _read(path, [], ["machine"], "make bench")
    return rows, about["machine"]


def read_precision(path=PRECISION):
    """Read what searches in float32 and in float64 give at every point of the published learning curves of EM.

    Returns
    -------
    rows : DataFrame
        chapter, n_attributes, n_hidden, difficulty, hidden_weights, size, learner, n_models, then of each arithmetic
        mean T (t32, t64), its pooled ratio (pooled32, pooled64) and mean accuracy (accuracy32, accuracy64), se: the
        standard error of t32, share_different: the part of the models whose accuracy differs at all, and of these the
        largest_change of accuracy and the largest likelihood_gap, a difference of log likelihoods per example.
    about : dict
        bounds of the differences in t and accuracy; difficulty: n_models and largest_difference of their B; machine;
        date.

    Raises
    ------
    ValueError
        If there is no such file, or it is broken.
    """
    columns = ["chapter", "n_attributes", "n_hidden", "difficulty", "hidden_weights", "size", "learner", "n_models"]
    columns += ["t32", "t64", "se", "pooled32", "pooled64", "accuracy32", "accuracy64"]
    columns += ["share_different", "largest_change", "likelihood_gap"]
    return _read(path, columns, ["bounds", "difficulty", "machine", "date"], "python -m tests.benchmarks.precision")


def read_builds(path=BUILDS):
    """Read how the notebooks' outputs compare under other builds of numpy and kernels of other processors.

    Returns
    -------
    rows : DataFrame
        variant, numpy, blas (libraries with versions), kernel (of the processor for which BLAS works), simd (numpy's
        optional vector code), chapters (number), compared and different (outputs), missing and words (of the different
        ones: only on one side, different in more than numbers), largest_relative (difference of a number), verdicts
        (that differ) and places (of the differences).
    about : dict
        cannot: variants for which the processor lacks something; machine, date.

    Raises
    ------
    ValueError
        If there is no such file, or it is broken.
    """
    columns = ["variant", "numpy", "blas", "kernel", "simd", "chapters", "compared", "different"]
    columns += ["missing", "words", "largest_relative", "verdicts", "places"]
    return _read(path, columns, ["cannot", "machine", "date"], "python -m tests.benchmarks.builds")


def _read(path, columns, about, command):
    path = Path(path)
    if not path.exists():
        raise ValueError(f"no benchmark results at path={path}; `{command}` writes them")
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        rows, told = pd.DataFrame(results["rows"]), {name: results[name] for name in about}
        if not {*columns} <= {*rows}:
            raise KeyError(*{*columns} - {*rows})
        return rows, told | {"machine": dict(told["machine"])}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"the benchmark results at path={path} are broken; `{command}` writes them anew") from error
