"""Run a chapter once for each combination of parameter values, and compare the runs.

`plan` makes the runs of what was typed, `page` writes what their claims say.
"""
