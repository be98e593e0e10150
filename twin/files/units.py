"""Conversion between whole units in files and thousandths in memory, exact in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from scheduling.model.limits import MAX_INT
from scheduling.model.values import RESOURCES, Demand, ModelError, shorten

__all__ = ["MAX_AMOUNT", "MAX_INT", "read_demand", "shorten", "to_thousandths", "to_whole", "write_demand"]

MAX_AMOUNT = 10**12  # thousandths: the sum over millions of servers stays within 64 bits


def to_thousandths(subject: str, name: str, value: Any) -> int:
    """A number of whole units with at most three decimals as an integer of thousandths."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"{subject}: {name} must be a number, got {shorten(repr(value))}")
    if not abs(value) < MAX_AMOUNT // 1000:
        raise ModelError(f"{subject}: {name} must be below {MAX_AMOUNT // 1000}, got {shorten(repr(value))}")
    if value < 0:
        raise ModelError(f"{subject}: {name} must be at least 0, got {value!r}")
    exact = Decimal(repr(value)) * 1000
    if exact != exact.to_integral_value():
        raise ModelError(f"{subject}: {name} must have at most three decimals, got {value!r}")
    return int(exact)


def to_whole(thousandths: int) -> int | float:
    """Thousandths as whole units: an integer where it is one."""
    return thousandths // 1000 if thousandths % 1000 == 0 else thousandths / 1000


def read_demand(subject: str, name: str, value: Any) -> Demand:
    """{"gpu": 1, "cpu": 4, ...} as thousandths; resources that are not named are 0."""
    if not isinstance(value, Mapping):
        raise ModelError(f"{subject}: {name} must be an object with {', '.join(RESOURCES)}, got {shorten(repr(value))}")
    unknown = [key for key in value if key not in RESOURCES]
    if unknown:
        raise ModelError(
            f"{subject}: {name} has no resource {shorten(repr(unknown[0]))}; known: {', '.join(RESOURCES)}"
        )
    gpu, cpu, memory, storage, bandwidth = (to_thousandths(subject, f"{name}.{r}", value.get(r, 0)) for r in RESOURCES)
    return gpu, cpu, memory, storage, bandwidth


def write_demand(demand: Demand) -> dict[str, int | float]:
    """The inverse of `read_demand`."""
    return {name: to_whole(amount) for name, amount in zip(RESOURCES, demand, strict=True)}
