"""Memory of long-lived processes."""

from __future__ import annotations

import ctypes
import resource
import time
from pathlib import Path

EVERY_S = 60.0

_given_back_at = 0.0


def give_back() -> bool:
    """Return of freed memory to the system, which glibc keeps after a peak; False where the C library cannot."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError, TypeError):
        return False


def give_back_at_times() -> None:
    """The same once a minute at most: between two tasks, or while a process waits."""
    global _given_back_at
    now = time.monotonic()
    if now - _given_back_at >= EVERY_S:
        _given_back_at = now
        give_back()


def resident() -> int:
    """Resident bytes of this process; 0 where the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0
