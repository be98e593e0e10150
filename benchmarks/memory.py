"""Memory of the whole stack while only the demo runs: the sum of PSS over all its processes."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks import Figure, Skip
from benchmarks._stack import process_tree, proportional_bytes, stack

TITLE = "memory of the whole stack, demo running"
SETTLE_S = 15.0  # the demo is under way, both pool children have worked
MAX_MB = 600.0


def run() -> list[Figure]:
    if sys.platform != "linux":
        raise Skip("PSS is read from /proc, which only Linux has")
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder, stack(Path(folder), "--demo") as (process, _):
        time.sleep(SETTLE_S)
        pids = process_tree(process.pid)
        total = sum(map(proportional_bytes, pids))
    return [Figure(f"PSS of {len(pids)} processes", total / 1e6, "MB", MAX_MB)]
