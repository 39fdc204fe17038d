"""The old name of part of `lib.benchmarks`, until no chapter uses it."""

from lib.benchmarks import growth, plan, read_scaling

__all__ = ["growth", "plan", "read_scaling"]
