"""The papers' experiments, one a file: the folder is the list. A file's name is the experiment's id in small letters.

A file defines TITLE, PAPER (the figure), CLAIM (what the paper says of it), SETTING (what is run here, and what is thinned) and
`run(ask) -> Table`; its keyword arguments, if any, are the grid. Files whose name begins with _ are helpers. An experiment that
cannot run here raises Skip with the reason.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from twin.bench import Figure, Skip

__all__ = ["Ask", "Figure", "Skip", "Table", "experiments"]


@dataclass(frozen=True)
class Ask:
    """What the caller wants of a run. tell: is called now and then with what is being done."""

    seeds: int | None = None  # None: as many as the experiment takes by itself
    arrivals: Path | None = None  # a trace whose arrivals are replayed where the paper replays one
    tell: Callable[[str], None] = lambda progress: None

    def seeds_or(self, number: int) -> range:
        """The seeds, from 0."""
        return range(self.seeds or number)


@dataclass(frozen=True)
class Table:
    """What came out: a figure for every cell, and the bands it is held against."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    checks: tuple[Figure, ...]

    @property
    def holds(self) -> bool:
        """Whether every band is kept."""
        return all(check.holds is not False for check in self.checks)


def experiments() -> Mapping[str, ModuleType]:
    """{id: module} of every experiment in this folder; ids that begin alike are in the order of their numbers."""
    names = [info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")]
    return {name.upper(): importlib.import_module(f"{__name__}.{name}") for name in sorted(names, key=_place)}


def _place(name: str) -> list[tuple[str, int]]:
    return [(letters, int(digits or 0)) for letters, digits in re.findall(r"(\D+)(\d*)", name)]
