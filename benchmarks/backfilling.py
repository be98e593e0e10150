"""EASY and conservative backfilling on the window of the Philly trace that FIFO has (benchmarks/fifo.py)."""

from __future__ import annotations

from benchmarks import Figure, fifo

TITLE = "EASY and conservative backfilling, Philly window on 64 GPUs"
JOBS_PER_SECOND = {"easy": 10_000, "conservative": 3_000}
REPEATS = 3


def run() -> list[Figure]:
    jobs, source = fifo.window(fifo.JOBS)
    figures = []
    for name, target in JOBS_PER_SECOND.items():
        best = min(fifo.seconds(jobs, name) for _ in range(REPEATS))
        title = f"{name}, {fifo.JOBS:,} jobs ({source})"
        figures.append(Figure(title, fifo.JOBS / best, "jobs/s", target, at_least=True))
    return figures
