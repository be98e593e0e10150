"""Memory of long-lived processes."""

from __future__ import annotations

import ctypes


def give_back() -> bool:
    """Returns freed memory to the system, which glibc keeps after a peak; False where the C library cannot."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError, TypeError):
        return False
