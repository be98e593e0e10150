"""Sentences of reasons: the declaration of an execution model, and the names that sentences share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.model.values import RESOURCE_UNITS, RESOURCES

UNIT = dict(zip(RESOURCES, RESOURCE_UNITS, strict=True))
ROLE = {"worker": "worker", "ps": "parameter server"}
Values = Mapping[str, Any]  # the numbers of a reason


def no_ending(values: Values, servers: Sequence[str]) -> str:
    return ""


@dataclass(frozen=True)
class Sentences:
    """Sentences of one execution model, by the code of the reason.

    ending: what follows each; servers: names by index.
    """

    owner: str  # the execution model, or "common"
    by_code: Mapping[str, Callable[[Values], str]]
    ending: Callable[[Values, Sequence[str]], str] = no_ending


def by_code(declared: Sequence[Sentences]) -> dict[str, Sentences]:
    """Owner of each code; ValueError where two declare it, since a code has one meaning."""
    found: dict[str, Sentences] = {}
    for one in declared:
        for code in one.by_code:
            if code in found:
                raise ValueError(f"reason {code!r} must be declared once; {found[code].owner} and {one.owner} both do")
            found[code] = one
    return found
