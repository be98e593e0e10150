"""Memory of a process on Linux.

`getrusage` is no measure of it: a process that another one has started counts the peak of that other one as its own.
"""

from __future__ import annotations

import os
from pathlib import Path

PRESENT, PEAK = "VmRSS", "VmHWM"


def resident_mb(field: str = PEAK, pid: int | None = None) -> float:
    """Resident memory in MB, now (PRESENT) or at most (PEAK), of a process; pid None: of this one."""
    lines = Path(f"/proc/{pid or os.getpid()}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) * 1_024 / 1e6
