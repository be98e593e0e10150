"""Memory of a process on Linux.

`getrusage` does not measure it: for a started process, it gives at least the peak of the process that started it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PRESENT, PEAK = "VmRSS", "VmHWM"


def resident_mb(field: str = PEAK, pid: int | None = None) -> float:
    """Resident memory of a process in MB, now (PRESENT) or at its peak (PEAK); pid None: of this one."""
    if sys.platform != "linux":
        raise RuntimeError("the memory of a process is read from /proc, which only Linux has")
    lines = Path(f"/proc/{pid or os.getpid()}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) * 1_024 / 1e6
