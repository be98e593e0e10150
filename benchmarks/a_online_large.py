"""A_online on 1,000 servers of 8 workers, 5,000 jobs.

Time and memory, with parameter servers, metrics and log; the cost of a doubling.
"""

from __future__ import annotations

import subprocess
import sys

import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._memory import resident_mb

TITLE = "A_online, 5,000 jobs, 1,000 servers x 8 workers"
MAX_S, MAX_MB, MAX_GROWTH = 12.0, 1_000.0, 2.3
JOBS, HOURS = 5_000, 3_288.0


def run() -> list[Figure]:
    half, whole = (_measured("a_online", count) for count in (JOBS // 2, JOBS))
    edge = _measured("a_online_edge", JOBS)
    return [
        Figure("a_online: run, metrics and log", whole["seconds"], "s", MAX_S),
        Figure("a_online: one decision, p99", whole["p99_ms"], "ms"),
        Figure("a_online: time, 5,000 jobs / 2,500 jobs", whole["seconds"] / half["seconds"], "x", MAX_GROWTH),
        Figure("a_online: peak memory of the process", whole["mb"], "MB", MAX_MB),
        Figure("a_online_edge: run, metrics and log", edge["seconds"], "s", MAX_S),
        Figure("a_online_edge: peak memory of the process", edge["mb"], "MB", MAX_MB),
    ]


def _measured(scheduler: str, count: int) -> dict[str, float]:
    """Measurement in a separate process, so that its memory is counted alone."""
    command = [sys.executable, "-c", f"from benchmarks.a_online_large import measure; measure({scheduler!r}, {count})"]
    out = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, check=True).stdout
    found: dict[str, float] = orjson.loads(out.splitlines()[-1])
    return found


def measure(scheduler: str, count: int) -> None:
    """The measurement itself; prints JSON."""
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "twin.config.settings")
    import django

    django.setup()
    from benchmarks._typed_workers import play
    from scheduling.workloads import generate

    cluster, jobs = generate(
        "a-online", num_jobs=count, num_servers=1_000, seed=1, workers=8, span_hours=HOURS * count / JOBS
    )
    played = play(cluster, jobs, scheduler)
    mb = resident_mb()
    seconds = played.run_s + played.metrics_s
    print(orjson.dumps({"seconds": seconds, "p99_ms": played.p99_ms, "mb": mb, "bars": played.bars}).decode())
