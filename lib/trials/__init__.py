"""Trials: seeded, in blocks, run anywhere with the same results, stored and resumed."""
