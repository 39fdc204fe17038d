"""What other arithmetic does to the results, in words and a table, from what was measured (see `lib.benchmarks`)."""

from lib.benchmarks import read_builds, read_precision
from lib.book.pages import render
from lib.book.project import Project


def numbers(project: Project, profile: str) -> str:
    """Return how results compare between float32 and float64, and between builds of numpy, as MyST text."""
    points, about = read_precision()
    builds, measured = read_builds()
    gaps = {name: (points[f"{name}32"] - points[f"{name}64"]).abs() for name in ("t", "accuracy")}
    beyond = [gap > about["bounds"][name] for name, gap in gaps.items()]
    return render(
        "numbers.md",
        n_points=len(points),
        n_beyond=int((beyond[0] | beyond[1]).sum()),
        largest={name: gap.max() for name, gap in gaps.items()},
        about=about,
        builds=builds.to_dict("records"),
        date=measured["date"],
    )
