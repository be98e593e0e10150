"""The disk that holds VAR_DIR: whether it is full, and a reserve on it, freed so that the reason can be written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from django.conf import settings

RESERVE = 2**20  # bytes; some hundred pages of SQLite, while pausing a run takes about ten
MIN_FREE = 2 * RESERVE  # with less than this free, including the reserve, the disk counts as full


def full() -> str | None:
    """Sentence about a full disk; None while there is room."""
    try:
        disk = os.statvfs(settings.VAR_DIR)
        left = disk.f_bavail * disk.f_frsize + (RESERVE if _reserve().exists() else 0)
    except OSError:
        return None
    return _sentence() if left < MIN_FREE or (disk.f_files and not disk.f_favail) else None


def behind(error: Exception) -> str | None:
    """Sentence about the full disk that caused `error`; None for other causes."""
    full_disk = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in str(error)
    return _sentence() if full_disk else full()


def keep_reserve() -> None:
    """Creation of the reserve, also again, while the disk has more free space than it needs."""
    if _reserve().exists() or full():
        return
    try:
        with _reserve().open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, RESERVE)
    except OSError:
        release()


def release() -> None:
    """Release of the reserve."""
    _reserve().unlink(missing_ok=True)


def _reserve() -> Path:
    return settings.VAR_DIR / "reserve"


def _sentence() -> str:
    return f"the disk of {settings.VAR_DIR} is full"
