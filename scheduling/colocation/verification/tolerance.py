"""Comparison of recomputed metrics."""

CLOSE = 1e-6  # relative, of values that are recomputed


def near(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * max(abs(one), abs(other)) + 1e-9
