"""Sentences about unknown names: the nearest known name, and all of them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from scheduling.model.values import shorten

SIMILARITY = 0.55  # of two names, from which on one is taken for the other: 'at' for 'at_ms'


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """`unknown key 'worker_count'; did you mean 'worker'? known: epochs, worker`."""
    near = nearest(name, known)
    hint = f"did you mean {near!r}? known" if near else "known"
    return f"unknown {what} {shorten(name)!r}; {hint}: {', '.join(known)}"


def nearest(name: str, known: Sequence[str]) -> str:
    """The known name most similar to the name, or to its part before a dot; '' if none is similar."""
    lower = name.lower()
    for word in (lower, lower.partition(".")[0]):
        if found := get_close_matches(word, known, 1, SIMILARITY):
            return found[0]
    return ""
