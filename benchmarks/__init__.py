"""The performance table: one row per file. A row defines TITLE and `run() -> list[Figure]`; the folder is the table.

Files whose name begins with _ are helpers. A row that cannot run here raises Skip with the reason; so does one whose
file cannot be used, which disables no other row. A file is imported when its row is needed, and not before: what it
imports could change what another row measures.
"""

from __future__ import annotations

import os
import platform
import sys
from types import ModuleType

from scheduling.kernel.menus import imported, lacks, modules
from scheduling.reporting.figure import Figure, plain

__all__ = ["Figure", "Skip", "machine", "names", "plain", "row"]


class Skip(RuntimeError):
    """Row that this machine cannot run; the message says what is missing."""


def names() -> list[str]:
    """Every row in this folder, in alphabetical order, including those that cannot be used."""
    return list(modules(sys.modules[__name__]))


def row(name: str) -> ModuleType:
    """The row of that name; Skip gives the reason why its file cannot be used."""
    package = sys.modules[__name__]
    module = imported(package, name, modules(package)[name])
    if isinstance(module, str):
        raise Skip(module)
    if missing := lacks(module, ("TITLE", "run")):
        raise Skip(missing)
    return module


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
