"""Registry of the schedulers in algorithms/.

The file NAME.py defines one subclass of BaseScheduler with this ``name``; no other registration is needed. It is
imported on demand: a missing package disables only the schedulers that need it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from scheduling import algorithms
from scheduling.kernel.parameters import UnknownName, parse_declared
from scheduling.kernel.scheduler import BaseScheduler

ELSEWHERE = ("observed",)  # they record decisions of real clusters and cannot be selected; each has a folder of its own


class Unavailable(UnknownName):
    """Error for a scheduler that cannot be used; the message gives the reason and a remedy."""


@cache
def names() -> tuple[str, ...]:
    """Names of all schedulers in alphabetical order, including unavailable ones."""
    return tuple(sorted({info.name for info in pkgutil.iter_modules(algorithms.__path__)}))


def schedulers() -> Mapping[str, type[BaseScheduler]]:
    """Available schedulers as {name: class}, in alphabetical order."""
    return {name: found for name in names() if not isinstance(found := _imported(name), str)}


def unavailable() -> Mapping[str, str]:
    """Unavailable schedulers as {name: reason}, in alphabetical order."""
    return {name: found for name in names() if isinstance(found := _imported(name), str)}


def scheduler_class(name: str) -> type[BaseScheduler]:
    """The class called `name`; UnknownName lists the names that would work."""
    if name in ELSEWHERE:
        return _defined(importlib.import_module(f"scheduling.{name}.scheduler"))[0]
    if name not in names():
        raise UnknownName(f"unknown scheduler {name!r}; known: {', '.join(names())}")
    found = _imported(name)
    if isinstance(found, str):
        raise Unavailable(f"scheduler {name!r} is not available: {found}")
    return found


@cache
def _imported(name: str) -> type[BaseScheduler] | str:
    """The class in the file of that name, or the reason why it is unavailable."""
    folders = [
        folder for folder in algorithms.__path__ if any(info.name == name for info in pkgutil.iter_modules([folder]))
    ]
    if len(folders) > 1:
        return f"two files define this name: {' and '.join(f'{folder}/{name}.py' for folder in folders)}; rename one"
    own = f"{algorithms.__name__}.{name}"
    try:
        module = importlib.import_module(own)
    except (Exception, SystemExit) as error:
        if isinstance(error, ImportError) and (package := _foreign(error)) is not None:
            return needs_package(package, error)
        return f"its file cannot be imported: {type(error).__name__}: {error}"
    found = _defined(module)
    if [cls.name for cls in found] != [name]:
        has = ", ".join(cls.name for cls in found) or "none"
        return f"its file must define one scheduler, named {name!r}; it has {has}"
    if foreign := [code for code in vars(found[0]).get("reasons", ()) if not code.startswith(f"{name}.")]:
        return f"its own reason {foreign[0]!r} must begin with its name: {name}.{foreign[0]}"
    return found[0]


def needs_package(package: str, error: Exception) -> str:
    """Reason why something cannot be used without a package, with the remedy."""
    why = f"it needs the package {package}, which cannot be imported ({error})"
    return f"{why}: pip install -r requirements.txt installs it"


def _defined(module: ModuleType) -> list[type[BaseScheduler]]:
    """The schedulers that a module defines itself."""
    return [
        value for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, BaseScheduler) and value.__module__ == module.__name__
        and "name" in vars(value)
    ]  # fmt: skip


def _foreign(error: ImportError) -> str | None:
    """Name of the missing package; None if it is this package, whose file has an error."""
    package = (error.name or "").partition(".")[0]
    return None if package in ("", __name__.partition(".")[0]) else package


def build(name: str, given: Mapping[str, Any] | None = None) -> BaseScheduler:
    """Scheduler with parameters from `given` (text or values); UnknownName and ModelError state what would work."""
    cls = scheduler_class(name)
    return cls(parse_parameters(cls, given or {}))


def parse_parameters(cls: type[BaseScheduler], given: Mapping[str, Any]) -> Any:
    """`given` (strings as typed, or values) as cls.Parameters."""
    return parse_declared(f"scheduler {cls.name}", cls.Parameters, given)
