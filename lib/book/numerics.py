"""What other arithmetic does to the results, in words and a table, from what was measured (see `lib.benchmarks`)."""

from lib.benchmarks import read_builds, read_precision
from lib.book.project import Project
from lib.claims import literal, markdown_table

HEADS = ("numerical libraries", "numpy", "BLAS kernels", "outputs", "different", "largest difference", "verdicts")


def numbers(project: Project, profile: str) -> str:
    """Return how results compare between float32 and float64, and between builds of numpy, as MyST text."""
    return f"{_precision()}\n\n{_builds()}"


def _precision() -> str:
    rows, about = read_precision()
    bounds = about["bounds"]
    t, accuracy = ((rows[f"{name}32"] - rows[f"{name}64"]).abs() for name in ("t", "accuracy"))
    beyond = int(((t > bounds["t"]) | (accuracy > bounds["accuracy"])).sum())
    verdict = "every point is within it" if not beyond else f"{beyond} of them are not"
    return (
        f"EM searches large samples in single precision. All {len(rows)} points of the published learning curves of EM "
        f"and its variants were computed in double precision as well ({about['date']}). The bound was set before: a "
        f"difference of {bounds['t']} in mean $T$ and of {bounds['accuracy']} in mean accuracy; {verdict}. The largest "
        f"differences are {t.max():.4f} in $T$ and {accuracy.max():.5f} in accuracy. The difficulty of a model, held "
        f"to 0.01 around its target, changes by {about['difficulty']['largest_difference']:.0e} at most."
    )


def _builds() -> str:
    rows, about = read_builds()
    cells = [
        (
            literal(row["variant"]),
            row["numpy"],
            literal(row["kernel"]),
            str(row["compared"]),
            str(row["different"]),
            f"{row['largest_relative']:.1g}" if row["different"] else "none",
            str(row["verdicts"]),
        )
        for row in rows.to_dict("records")
    ]
    return (
        "Everything that the chapters print with their defaults (text, tables, glued numbers, claims) was compared "
        f"with what is stored in the notebooks, under other numerical libraries ({about['date']}). A difference in the "
        "last digit shown counts. The largest difference is relative to the number; counts of iterations, and what is "
        "near zero, may differ by much. The last column has the verdicts that differ.\n\n"
        + markdown_table(HEADS, cells)
    )
