"""Counts with their noun, in the form of scheduling.reporting.quantities."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 node`, `1,200 nodes`."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"
