"""Observed runs: what a real cluster did, as its mirror recorded it."""
