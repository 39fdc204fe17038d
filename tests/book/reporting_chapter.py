"""A chapter in the form of the book: its cells display all that it says."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

TITLE = """\
# Who climbs?

EM fits a *hidden variable*; see [Grove & Roth, 1997](../references.md#groveroth1997).
"""
PARAMETERS = "n_models: int = 3  # models drawn [2..2000]\n"
IMPORTS = """\
import matplotlib.pyplot as plt
import pandas as pd
import matplotlib_inline.backend_inline
matplotlib_inline.backend_inline.set_matplotlib_formats("svg", "png")
from lib import report
from lib.claims import Claims

plt.rcParams["svg.hashsalt"] = "book"
claims = Claims(paper="greiner2005")"""
SECTION = """\
## The experiment

What [the figure below](#fig-climb) shows, [the table](#tbl-climb) counts; [no figure](#fig-none)
is words. A CIA model again, and EM; `[code](#fig-climb)`, [another chapter](curves.ipynb).

<details><summary>More</summary>

A fold with $x^2$.

</details>
"""
EXPERIMENT = '''\
def climb(n_models):
    """Count the models that climb. What is counted does not matter here."""
    return list(range(n_models))'''
FIGURE = """\
_, axes = plt.subplots(figsize=(3, 2))
axes.plot(climb(n_models))
caption = "It *climbs*, as [a table](#tbl-climb) says. A line."
report.figure(axes, caption, name="fig-climb", alt="A line.")"""
TABLE = """\
frame = pd.DataFrame({"models": climb(n_models), "share": [0.5, 0.25, 0.125]})
report.table(frame, "Models that climb. Rows are models.", name="tbl-climb")"""
CLAIM = """\
claim = claims.claim("it-climbs", "It climbs.", quote="it climbs")
claim.test(
    "climbing",
    statistic="mean",
    estimate=(3.0, 2.0, 4.0, 3),
    region=(0, float("inf")),
    margin=0.5,
    unit="models",
)
claims.show()"""
SOLUTION = """\
report.table(frame[:1], "One model of those that climb.", name="tbl-one")
report.text("[The table](#tbl-one) has one; see [another chapter](curves.ipynb).")"""
SUMMARY = '''\
report.text("""
## What we found

Of {n} models all climb: see [the figure](#fig-climb) and
[Greiner, 2005](../references.md#greiner2005).

- One in [another chapter](curves.ipynb).
""", n=n_models, name="all-climb")'''


def code(source, *tags):
    metadata = {"tags": list(tags)}
    if "remove-input" in tags:
        metadata["jupyter"] = {"source_hidden": True}
    return new_code_cell(source, metadata=metadata)


def reporting_chapter():
    return new_notebook(
        cells=[
            new_markdown_cell(TITLE),
            code(PARAMETERS, "parameters"),
            code(IMPORTS, "hide-input"),
            new_markdown_cell(SECTION),
            code(EXPERIMENT, "hide-input"),
            code(FIGURE, "hide-input", "lead"),
            code(TABLE, "remove-input"),
            new_markdown_cell("## Claims"),
            code(CLAIM, "hide-input"),
            new_markdown_cell("## Exercises\n\n1. How many is one?"),
            code(SOLUTION, "hide-cell"),
            code(SUMMARY, "remove-input", "summary"),
            new_markdown_cell("## Take home\n\nClimb.\n\n## References\n\nAll works."),
        ],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
    )
