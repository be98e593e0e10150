"""Quantities of Kubernetes ("500m", "128Gi", "1e3") and its times as whole numbers."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache

from twin.connectors.facts import ConnectorError

_FORM = re.compile(r"(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)
_SUFFIXES = {
    **{letter: Fraction(1000) ** power for letter, power in zip("num", (-3, -2, -1), strict=True)},
    **{letter: Fraction(1000) ** power for power, letter in enumerate("kMGTPE", 1)},
    **{f"{letter}i": Fraction(1024) ** power for power, letter in enumerate("KMGTPE", 1)},
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(4096)
def thousandths(text: str | int | float) -> int:
    """A quantity in thousandths, rounded down: "500m" = 500, "2" = 2000, "1Ki" = 1024000."""
    found = _FORM.fullmatch(str(text))
    if not found:
        raise ConnectorError(
            f"a quantity must be a number with a suffix such as m, k, Gi or e3, got {str(text)[:40]!r}"
        )
    digits, exponent, suffix = found.groups()
    return int(Fraction(digits + (exponent or "")) * _SUFFIXES.get(suffix or "", 1) * 1000)


@lru_cache(4096)
def unix_ms(text: str | None) -> int | None:
    """A time of the API as Unix milliseconds; None where it has none."""
    if not text:
        return None
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, TypeError) as error:
        raise ConnectorError(f"a time must look like 2026-11-22T09:00:00Z, got {str(text)[:40]!r}") from error


def line(text: object, most: int = 200) -> str:
    """Text of the cluster in one printable line of at most that many characters."""
    words = " ".join("".join(c if c.isprintable() else " " for c in str(text or "")).split())
    return words if len(words) <= most else words[: most - 1] + "…"
