"""Five amounts in one Python integer, so that "does it fit" is one subtraction, exact at any size.

Each resource has a field of 64 bits: 63 bits of amount and a guard bit above them. `GUARD | free` minus a demand keeps
all guard bits exactly when no resource goes below zero. About 0.1 microseconds, against 3 for five comparisons in a
loop or for numpy on five numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

FIELD = 64
GUARD = sum(1 << (FIELD * i + FIELD - 1) for i in range(5))
MASK = (1 << (FIELD - 1)) - 1
MAX_PACKED = (1 << (FIELD - 2)) - 1  # of an amount that is packed, so that sums of two cannot reach the guard


def pack(amounts: Sequence[int]) -> int:
    """Five amounts >= 0 as one integer."""
    first, second, third, fourth, fifth = amounts
    return first | second << FIELD | third << 2 * FIELD | fourth << 3 * FIELD | fifth << 4 * FIELD


def fields(limited: Sequence[bool]) -> int:
    """A mask that keeps the amounts of the resources that count, and drops the others."""
    return sum(MASK << (FIELD * position) for position, counts in enumerate(limited) if counts)


def unpack(packed: int) -> tuple[int, ...]:
    """The five amounts; guard bits are ignored."""
    return tuple((packed >> (FIELD * i)) & MASK for i in range(5))


def fits(free: int, need: int) -> bool:
    """True if `need` <= `free` in every resource; `free` carries its guard bits."""
    return (free - need) & GUARD == GUARD


def lesser(free: int, other: int) -> int:
    """The smaller amount of each resource; both carry their guard bits, and so does the result."""
    at_least = (free - (other & ~GUARD)) & GUARD  # set where free >= other
    mask = at_least - (at_least >> (FIELD - 1))  # all bits of the amounts where it is
    return GUARD | (other & mask) | (free & ~mask & ~GUARD)
