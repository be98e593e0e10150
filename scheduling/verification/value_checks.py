"""Checks of plain values, of which the schema of files is built.

A check is a function of a value that gives None, or the rule that the value breaks. No check may fail, whatever the
value is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduling.model.bars import STORED_NAMES, WIDTH
from scheduling.model.limits import MAX_INT
from scheduling.model.values import shorten

_SCALARS = frozenset((int, str, bool, type(None)))

Check = Callable[[Any], str | None]
Row = Mapping[str, Any]


def whole(least: int = 0, most: int = MAX_INT) -> Check:
    """An integer, and no boolean."""
    rule = f"an integer from {least} to {'2^53' if most == MAX_INT else most}"
    return lambda value: None if type(value) is int and least <= value <= most else rule


def real(least: float, most: float) -> Check:
    """A finite number."""
    rule = f"a number from {least:g} to {most:g}"
    return lambda value: None if type(value) in (int, float) and least <= value <= most else rule


def one_of(names: Sequence[str]) -> Check:
    """Check for one of these strings."""
    rule = f"one of {', '.join(names)}"
    return lambda value: None if isinstance(value, str) and value in names else rule


def many(check: Check, rule: str) -> Check:
    """A list of such values."""
    return lambda value: None if isinstance(value, list) and all(check(item) is None for item in value) else rule


def fixed(check: Check, length: int, rule: str) -> Check:
    """A list of n such values."""
    each = many(check, rule)
    return lambda value: each(value) if not isinstance(value, list) or len(value) == length else rule


def absent_or(check: Check) -> Check:
    """Check for null or such a value."""
    return lambda value: None if value is None else _also(check(value), "null")


def row(needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None, open_: bool = False) -> Check:
    """An object with these keys, and others too where it is open."""
    may = optional or {}
    names, rules = ", ".join((*needed, *may)), (*needed.items(), *may.items())

    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"an object with {names}" if names else "an object without keys"
        found = 0
        for key, rule in rules:
            if key in value:
                found += 1
                if (broken := rule(value[key])) is not None:
                    return f"an object whose {key} is {broken}, not {shorten(repr(value[key]))}"
            elif key in needed:
                return f"an object that has {key}"
        if found < len(value) and not open_:
            other = next(key for key in value if key not in needed and key not in may)
            return f"an object with {names or 'no keys'} and nothing else ({shorten(repr(other))})"
        return None

    return check


def text(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "text"


def number(value: Any) -> str | None:
    return None if type(value) in (int, float) and -1e300 < value < 1e300 else "a number"


def boolean(value: Any) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def anything(value: Any) -> str | None:
    return None


def plain(value: Any) -> str | None:
    """Numbers, strings, and lists of them: the values of a reason."""
    kind = type(value)
    if kind in _SCALARS or (kind is float and -1e300 < value < 1e300):
        return None
    if kind is list:
        for item in value:
            if plain(item) is not None:
                break
        else:
            return None
    return "numbers, strings, or lists of them"


def named(check: Check) -> Check:
    """An object of such values under any names."""
    rule = "an object with names and values"
    return lambda value: (
        None if isinstance(value, dict) and all(check(item) is None for item in value.values()) else rule
    )


def interval(value: Any) -> str | None:
    holds = isinstance(value, list) and len(value) == 2 and all(whole()(ms) is None for ms in value)
    return None if holds and value[0] < value[1] else "[from_ms, to_ms]"


def bars(value: Any) -> str | None:
    """Check for bars of a plan: an integer for each of STORED_NAMES, -1 for none, and the server -2 for the cloud."""
    holds = isinstance(value, list) and all(
        isinstance(bar, list) and len(bar) == WIDTH and all(type(n) is int and -2 <= n <= MAX_INT for n in bar)
        for bar in value
    )
    return None if holds else f"lists of {WIDTH} integers: {', '.join(STORED_NAMES)}"


def job_share(value: Any) -> str | None:
    """Check for a job (index) and the remaining share of its work."""
    holds = isinstance(value, list) and len(value) == 2 and type(value[0]) is int and value[0] >= 0
    holds = holds and number(value[1]) is None and 0 <= value[1] < 1
    return None if holds else "[job, remaining share of its work, at least 0 and below 1]"


def triples(value: Any) -> str | None:
    """Check for lists of three integers."""
    holds = isinstance(value, list) and all(
        isinstance(row, list) and len(row) == 3 and all(type(n) is int and -2 <= n <= MAX_INT for n in row)
        for row in value
    )
    return None if holds else "lists of three integers"


def keys(value: Any) -> str | None:
    """Jobs, or workers as lists of three integers."""
    holds = isinstance(value, list) and all(type(key) is int and key >= 0 for key in value)
    return None if holds or triples(value) is None else "a list of jobs, or of [role, server, worker]"


def slots(value: Any) -> str | None:
    holds = value == "all" or (
        isinstance(value, list) and bool(value) and all(type(slot) is int and slot >= 0 for slot in value)
    )
    return None if holds else '"all" or a list of slots'


def prices(value: Any) -> str | None:
    holds = isinstance(value, list) and all(
        price is None or (type(price) in (int, float) and price >= 0) for price in value
    )
    return None if holds else "a list of prices >= 0 and nulls"


def _also(rule: str | None, other: str) -> str | None:
    return None if rule is None else f"{other} or {rule}"
