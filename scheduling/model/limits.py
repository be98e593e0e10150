"""Limits of numbers, so that every sum of them is exact and every quotient finite."""

MAX_INT = 2**53  # of times in ms, sizes and counts: what files, browsers and floats hold exactly
MIN_REAL = 1e-9  # of times in ms, rates in Gbps and priorities, so that what is divided by them stays finite
MAX_SLOT_MS = 365 * 86_400_000  # a year
