"""The performance table: one row a file. A row defines TITLE and `run() -> list[Figure]`; the folder is the table.

Files whose name begins with _ are helpers. A row that cannot run here raises Skip with the reason.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import platform
from types import ModuleType

from scheduling.reporting.figure import Figure, plain

__all__ = ["Figure", "Skip", "machine", "names", "plain", "row"]


class Skip(RuntimeError):
    """Row that this machine cannot run; the message says what is missing."""


def names() -> list[str]:
    """Every row in this folder, in alphabetical order."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def row(name: str) -> ModuleType:
    """The row of that name; Skip where a package is missing that it measures."""
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        raise Skip(f"{error}: pip install -r requirements.txt installs it") from error


def machine() -> dict[str, str | int]:
    """Description of the machine of the measurements."""
    return {
        "name": platform.node(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
