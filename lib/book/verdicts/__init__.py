"""What decides a claim, fixed before its results, and what was decided."""
