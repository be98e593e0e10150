"""Formats of traces: the modules of twin/traces/importers, their titles, and which of them a file matches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType

from scheduling.kernel.menus import Menu, lacks


@dataclass(frozen=True)
class Match:
    """Result of the comparison of a file with a format: `fits`, or the sentence about what is missing."""

    format: str
    fits: bool
    why: str
    closeness: float  # 0..1, to name the nearest format when none fits


def _offered(module: ModuleType) -> list[tuple[str, ModuleType]] | str:
    return lacks(module, ("FORMAT", "TITLE", "sniff", "read")) or [(module.FORMAT, module)]


MENU: Menu[ModuleType] = Menu("format", "twin.traces.importers", _offered)
formats = MENU.available  # {name: module} of every format in twin/traces/importers
OTHER_TITLES = {"auto": "", "generated": "Generated workload", "mirror": "Live cluster"}  # not from files


def title_of(name: str) -> str:
    """Title of the format of a trace: of 'a + b' both titles; "" while it is not recognized."""
    known = {key: module.TITLE for key, module in formats().items()} | OTHER_TITLES
    title = " + ".join(known.get(one, one) for one in name.split(" + "))
    return title[:1].upper() + title[1:]


def titles_of(names: Iterable[str]) -> str:
    """Titles of formats, as the page of a trace lists them."""
    return "; ".join(formats()[name].TITLE for name in names)


def unit_of(name: str) -> str:
    """Unit of the numbers of a format that are times; "" where it has none, or states dates or units."""
    return str(getattr(formats()[name], "TIME_UNIT", ""))


def sniff(head: bytes) -> list[Match]:
    """Matches of all formats with the beginning of a file, matching formats first."""
    matches = []
    for name, module in formats().items():
        fits, why, closeness = module.sniff(head)
        matches.append(Match(name, fits, why, closeness))
    return sorted(matches, key=lambda match: (not match.fits, -match.closeness, match.format))
