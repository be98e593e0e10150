"""Rows of what can be chosen by name, also of what cannot be used, with the reason: lists of the API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from scheduling.kernel.menus import Menu

T = TypeVar("T")
Row = Mapping[str, Any]


def offered(
    available: Mapping[str, T], unavailable: Mapping[str, str], row: Callable[[T], Row], empty: Row, key: str = "name"
) -> list[Row]:  # fmt: skip
    """Rows in alphabetical order of the names.

    row: of an entry; empty: the same fields of one that cannot be used; key: the field with the name.
    """
    found = {name: {key: name, **row(entry), "unavailable": None} for name, entry in available.items()}
    found |= {name: {key: name, "title": name, **empty, "unavailable": why} for name, why in unavailable.items()}
    return [found[name] for name in sorted(found)]


def offered_by(menu: Menu[T], row: Callable[[T], Row], empty: Row, key: str = "name") -> list[Row]:
    """Rows of the entries of a menu."""
    return offered(menu.available(), menu.unavailable(), row, empty, key)
