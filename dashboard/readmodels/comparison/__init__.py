"""Comparison of runs, for the compare page and its downloads."""
