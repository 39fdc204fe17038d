"""Imported by the server that kernels are forked from: what numba reads before the first call of what it compiled."""

from numba.core.registry import cpu_target

cpu_target.target_context.refresh()
