"""Processor cores of this machine, and their load."""

from __future__ import annotations

import os


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def overload() -> float:
    """Load average of the last minute per core, at least 1: how many times slower a process is than when it runs alone.

    1.0 on systems without a load average.
    """
    try:
        waiting = os.getloadavg()[0]
    except (AttributeError, OSError):
        return 1.0
    return max(1.0, waiting / (os.cpu_count() or 1))
