"""The papers' experiments, one a file: the folder is the list.

A file's name says paper, figure and topic, and is the experiment's id.

A file defines TITLE, PAPER (the figure), CLAIM (what the paper says of it), SETTING (what is run here, and what is
thinned) and `run(options) -> Table`; its keyword arguments, if any, are the grid. Files whose name begins with _ are
helpers. An experiment that cannot run here raises Skip with the reason.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from benchmarks import Figure, Skip
from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import shorten

__all__ = ["Figure", "Options", "Options", "Skip", "Table", "experiment", "full_name", "names"]


@dataclass(frozen=True)
class Options:
    """Options of a run. report: called now and then with the current step."""

    seeds: int | None = None  # None: as many as the experiment takes by itself
    arrivals: Path | None = None  # a trace whose arrivals are replayed where the paper replays one
    report: Callable[[str], None] = lambda progress: None

    def seeds_or(self, number: int) -> range:
        """The seeds, from 0."""
        return range(self.seeds or number)


@dataclass(frozen=True)
class Table:
    """Result of an experiment: a value for every cell, and the bands of the checks."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    checks: tuple[Figure, ...]

    @property
    def holds(self) -> bool:
        """True if every value is within its band."""
        return all(check.holds is not False for check in self.checks)


def names() -> list[str]:
    """The id of every experiment in this folder, in alphabetical order: by paper, then by figure."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def full_name(beginning: str) -> str:
    """The one id that is `beginning` or begins so; UnknownName when it is none or several."""
    known = names()
    matches = [beginning] if beginning in known else [name for name in known if name.startswith(beginning)]
    if len(matches) > 1:
        raise UnknownName(
            f"experiment {shorten(repr(beginning))} matches {len(matches)} experiments: {', '.join(matches)}; "
            "specify one"
        )
    if not matches:
        raise UnknownName(f"unknown experiment {shorten(repr(beginning))}; known: {', '.join(known)}")
    return matches[0]


def experiment(beginning: str) -> ModuleType:
    """The experiment of that id; a unique beginning of it is enough."""
    return importlib.import_module(f"{__name__}.{full_name(beginning)}")
