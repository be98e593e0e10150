"""The papers' experiments, one per file: the folder is the list.

A file's name says paper, figure and topic, and is the experiment's id.

A file defines TITLE, PAPER (the figure), CLAIM (what the paper says of it), SETTING (what is run here, and what is
thinned), CHARTS, SEEDS (how many it takes by itself), NEEDS (packages without which it cannot run, if any, which it
imports only when it runs), and `run(options)`, a generator whose keyword arguments, if any, are the grid. It
yields its parts once, which do not depend on each other: {title: function without arguments}. It gets their values
under the same titles, and returns a Table. A part gives plain data, so that it can be computed in another process and
stored. Files whose name begins with _ are helpers. An experiment that cannot run here raises Skip with the reason.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

from scheduling.kernel.menus import Menu, lacks, needs_package
from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import shorten
from scheduling.reporting.figure import Figure

__all__ = [
    "MENU", "Arrivals", "Chart", "Figure", "Options", "Part", "Skip", "Steps", "Table", "Values", "code_digest",
    "experiment", "full_name", "names", "part_titles", "part_value", "run", "table_of_parts", "unavailable",
]  # fmt: skip

Part = Callable[[], Any]  # gives plain data: numbers, texts, lists, and dicts with texts as keys
Values = Mapping[str, Any]  # what parts gave, by their titles
Steps = Generator[Mapping[str, Part], Values, "Table"]
Spread = tuple[float, float] | None

HERE = Path(__file__).parent
LIBRARIES = ("numpy", "scipy", "highspy")


class Skip(RuntimeError):
    """Experiment that cannot run here; the message says what is missing."""


@dataclass(frozen=True)
class Arrivals:
    """Arrivals of a trace, which are replayed where the paper replays one."""

    name: str
    timestamps: Sequence[float]  # ms
    classes: Sequence[int]  # scheduling class of each job, 0 to 3


@dataclass(frozen=True)
class Options:
    """Options of a run."""

    seeds: int | None = None  # None: as many as the experiment takes by itself
    arrivals: Arrivals | None = None

    def seeds_or(self, number: int) -> range:
        """The seeds, from 0."""
        return range(self.seeds or number)


@dataclass(frozen=True)
class Chart:
    """A chart of a table: lines over the first column if it has numbers, otherwise groups of bars."""

    y: str  # what is drawn
    unit: str = ""
    columns: tuple[str, ...] = ()  # none: all but the first
    rows: tuple[str, ...] = ()  # by the first column; none: all
    turned: bool = False  # a series for each row instead of each column
    variant: str = ""  # only rows with this variant: those named "10, literal" are 10 then
    levels: tuple[tuple[str, float], ...] = ()  # that the paper states: (words, value)


@dataclass(frozen=True)
class Table:
    """Result of an experiment: a value for every cell, and the bands of the checks."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    checks: tuple[Figure, ...]
    # smallest and largest value over the seeds, of the cells of `rows`; empty: of none
    spread: tuple[tuple[Spread, ...], ...] = ()

    @property
    def holds(self) -> bool:
        """True if every value is within its band."""
        return all(check.holds is not False for check in self.checks)


def _offered(module: ModuleType) -> list[tuple[str, ModuleType]] | str:
    return lacks(module, ("PAPER", "TITLE", "run")) or [(module.__name__.rpartition(".")[2], module)]


MENU: Menu[ModuleType] = Menu("experiment", __name__, _offered)


def names() -> list[str]:
    """The id of every experiment that can be used, in alphabetical order: by paper, then by figure."""
    return list(MENU.names())


def full_name(beginning: str) -> str:
    """The one id that is `beginning` or begins so; UnknownName when it is none or several."""
    known = names()
    matches = [beginning] if beginning in known else [name for name in known if name.startswith(beginning)]
    if len(matches) > 1:
        raise UnknownName(
            f"experiment {shorten(repr(beginning))} matches {len(matches)} experiments: {', '.join(matches)}; "
            "specify one"
        )
    if not matches and beginning not in MENU.unavailable():
        raise UnknownName(f"unknown experiment {shorten(repr(beginning))}; known: {', '.join(known)}{MENU.notice()}")
    return matches[0] if matches else beginning


def experiment(beginning: str) -> ModuleType:
    """The experiment of that id; a unique beginning of it is enough."""
    return MENU.named(full_name(beginning))


@cache
def unavailable(name: str) -> str:
    """Reason why the experiment cannot run here: a package that it needs is missing; "" if it can run."""
    for package in getattr(experiment(name), "NEEDS", ()):
        try:
            importlib.import_module(package)
        except Exception as error:  # a damaged package may raise anything
            return needs_package(package, error)
    return ""


def run(beginning: str, options: Options, report: Callable[[str], None] = lambda title: None, **grid: Any) -> Table:
    """The table of an experiment, part after part. report: called with the title of each part before it begins."""
    steps = _steps(beginning, options, **grid)
    values = {}
    for title, part in next(steps).items():
        report(title)
        values[title] = plain_data(part())
    return _end(steps, values)


def part_titles(name: str, options: Options) -> list[str]:
    """Titles of the parts of an experiment, in their order; Skip if it cannot run here."""
    return list(next(_steps(name, options)))


def part_value(name: str, options: Options, title: str) -> Any:
    """Computation of one part."""
    return plain_data(next(_steps(name, options))[title]())


def table_of_parts(name: str, options: Options, values: Values) -> Table:
    """The table of an experiment whose parts gave these values."""
    steps = _steps(name, options)
    next(steps)
    return _end(steps, values)


def _steps(name: str, options: Options, **grid: Any) -> Steps:
    """The generator of an experiment; Skip if it cannot run here."""
    if why := unavailable(full_name(name)):
        raise Skip(why)
    steps: Steps = experiment(name).run(options, **grid)
    return steps


def plain_data(value: Any) -> Any:
    """The value as it is after it was stored."""
    return json.loads(json.dumps(value))


@cache
def code_digest(name: str) -> str:
    """Digest of the code behind an experiment: its own file, the helpers, the core, and the versions of libraries."""
    return hashlib.sha256(_core() + (HERE / f"{name}.py").read_bytes()).hexdigest()


@cache
def _core() -> bytes:
    digest = hashlib.sha256()
    for file in (*sorted(HERE.glob("_*.py")), *sorted((HERE.parent / "scheduling").rglob("*.py"))):
        digest.update(file.relative_to(HERE.parent).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    for library in LIBRARIES:
        digest.update(f"{library} {_version(library)}\0".encode())
    return digest.digest()


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def _end(steps: Steps, values: Values) -> Table:
    try:
        steps.send(values)
    except StopIteration as end:
        table: Table = end.value
        return table
    raise RuntimeError("an experiment yields its parts once")
