"""Experiments of the papers, started by operators: parts in the background, stored tables, what holds."""
