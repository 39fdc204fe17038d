"""Run a chapter once for each combination of parameter values, and compare the runs.

`plan` makes the runs of what was typed, `compare` finds where their claims and numbers differ,
`page` writes what comes of it.
"""
