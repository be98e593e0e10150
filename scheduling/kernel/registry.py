"""Registry of the schedulers in algorithms/.

The file NAME.py defines one subclass of BaseScheduler with this ``name``; no other registration is needed. It is
imported on demand: a missing package disables only the schedulers that need it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from scheduling import algorithms
from scheduling.kernel.menus import Unavailable, defined, file_of, imported, modules
from scheduling.kernel.parameters import UnknownName, parse_declared
from scheduling.kernel.scheduler import BaseScheduler

_RECORDERS = ("observed",)  # each has a folder of its own, and not a file in algorithms/


@cache
def names() -> tuple[str, ...]:
    """Names of all schedulers in alphabetical order, including unavailable ones."""
    return tuple(modules(algorithms))


def schedulers() -> Mapping[str, type[BaseScheduler]]:
    """Available schedulers as {name: class}, in alphabetical order."""
    return {name: found for name in names() if not isinstance(found := _imported(name), str)}


def unavailable() -> Mapping[str, str]:
    """Unavailable schedulers as {name: reason}, in alphabetical order."""
    return {name: found for name in names() if isinstance(found := _imported(name), str)}


def recorders() -> Mapping[str, type[BaseScheduler]]:
    """Schedulers that record what real clusters decided, as {name: class}: they cannot be selected."""
    return {name: scheduler_class(name) for name in _RECORDERS}


def scheduler_class(name: str) -> type[BaseScheduler]:
    """The class called `name`; UnknownName lists the names that would work."""
    if name in _RECORDERS:
        recorder: type[BaseScheduler] = defined(importlib.import_module(f"scheduling.{name}.scheduler"), BaseScheduler)[
            0
        ]
        return recorder
    if name not in names():
        raise UnknownName(f"unknown scheduler {name!r}; known: {', '.join(schedulers())}")
    found = _imported(name)
    if isinstance(found, str):
        raise Unavailable(f"scheduler {name!r} is not available: {found}")
    return found


def obstacle(name: str) -> str:
    """Reason why the scheduler that a run or a file names cannot be used any more; empty if it can."""
    if name not in names() and name not in _RECORDERS:
        return f"scheduler {name!r} is not available: no file {name}.py is installed with the schedulers"
    try:
        scheduler_class(name)
    except Unavailable as error:
        return str(error)
    return ""


@cache
def _imported(name: str) -> type[BaseScheduler] | str:
    """The class in the file of that name, or the reason why it is unavailable."""
    module = imported(algorithms, name, modules(algorithms)[name])
    if isinstance(module, str):
        return module
    found: list[type[BaseScheduler]] = defined(module, BaseScheduler)
    if [cls.name for cls in found] != [name]:
        has = ", ".join(cls.name for cls in found) or "none"
        return f"{file_of(module)} must define one scheduler, named {name!r}; it has {has}"
    if foreign := [code for code in vars(found[0]).get("reasons", ()) if not code.startswith(f"{name}.")]:
        return f"its own reason {foreign[0]!r} must begin with its name: {name}.{foreign[0]}"
    return found[0]


def build(name: str, given: Mapping[str, Any] | None = None) -> BaseScheduler:
    """Scheduler with parameters from `given` (text or values); UnknownName and ModelError state what would work."""
    cls = scheduler_class(name)
    return cls(parse_parameters(cls, given or {}))


def parse_parameters(cls: type[BaseScheduler], given: Mapping[str, Any]) -> Any:
    """`given` (strings as typed, or values) as cls.Parameters."""
    return parse_declared(f"scheduler {cls.name}", cls.Parameters, given)
