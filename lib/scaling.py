"""The old name of part of `lib.benchmarks`, until appendix/speed has the new one."""

from lib.benchmarks import growth, read_scaling

__all__ = ["growth", "read_scaling"]
