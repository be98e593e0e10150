"""`manage.py up` on a data folder that an earlier start has filled: from the command to the first page."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks import Figure
from benchmarks._stack import stack

TITLE = "restart of bin/up, to the first page"
MAX_S = 5.0


def run() -> list[Figure]:
    seconds = []
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
        for _ in range(2):
            began = time.monotonic()
            with stack(Path(folder), "--demo"):
                seconds.append(time.monotonic() - began)
    return [Figure("first start, packages installed", seconds[0], "s"), Figure("second start", seconds[1], "s", MAX_S)]
