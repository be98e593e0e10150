"""Values of query parameters: refused with the rule and the value, never replaced by another."""

from __future__ import annotations

from collections.abc import Mapping

from scheduling.model.values import ModelError, shorten
from scheduling.reporting.quantities import counted


def number(asked: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    """An integer of the query; ModelError for one out of its bounds. The default is moved within them."""
    text = asked.get(name, "")
    if text == "":
        return min(max(default, low), high)
    try:
        value = int(text)
    except ValueError:
        raise ModelError(f"{name} must be an integer, got {shorten(repr(text))}") from None
    if value < low:
        raise ModelError(f"{name} must be at least {low:,}, got {value:,}")
    if value > high:
        raise ModelError(f"{name} must be at most {high:,}, got {value:,}")
    return value


def moment_of(asked: Mapping[str, str], newest_ms: int) -> int:
    """The simulated time `at_ms` that the query asks for: the newest by default, and for a later one."""
    return min(number(asked, "at_ms", newest_ms, 0, 2**62), newest_ms)


def page_of(asked: Mapping[str, str], count: int, size: int) -> int:
    """The number of a page of `size` rows of `count`; ModelError if there is none with this number."""
    pages = max(1, -(-count // size))
    page = number(asked, "page", 1, 1, 2**53)
    if page > pages:
        raise ModelError(
            f"page must be from 1 to {pages:,}, got {page:,}: the filters leave {counted(count, 'job')}, "
            f"{size:,} on a page"
        )
    return page


def sort_of(asked: Mapping[str, str], known: tuple[str, ...]) -> tuple[str, bool]:
    """(column, whether descending) of `sort`; ModelError for a column that cannot be sorted by."""
    text = asked.get("sort") or "index"
    if text.removeprefix("-") not in known:
        raise ModelError(
            f"sort must be one of {', '.join(known)}, with the prefix - for descending order, got {shorten(repr(text))}"
        )
    return text.removeprefix("-"), text.startswith("-")
