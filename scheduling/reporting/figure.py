"""A measured number and its target, as benchmarks and experiments report it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured number and what it has to reach."""

    what: str
    value: float
    unit: str
    bound: float | None = None  # None: reported, not judged
    at_least: bool = False  # the value has to be >= bound; else <= bound

    @property
    def holds(self) -> bool | None:
        """True if the target is reached; None without a target."""
        if self.bound is None:
            return None
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def target(self) -> str:
        """The target in words."""
        if self.bound is None:
            return ""
        return " ".join((">=" if self.at_least else "<=", *in_words(self.bound, self.unit)))


def in_words(value: float, unit: str) -> tuple[str, str]:
    """Value and unit as people read them: a share in per cent."""
    return (plain(100 * value), "%") if unit == "share" else (plain(value), unit)


def plain(value: float) -> str:
    """A number as people read it: 1,234,567 or 12.3 or 0.123."""
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
