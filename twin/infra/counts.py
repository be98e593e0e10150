"""Counts with their noun, as scheduling.reporting.quantities writes them."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 node`, `1,200 nodes`."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"
