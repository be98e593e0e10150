"""SRTF and Tiresias-L on the window of the Philly trace that FIFO has (benchmarks/fifo.py).

Jobs a second, with placements and log.
"""

from __future__ import annotations

from benchmarks import Figure, fifo
from benchmarks._typed_workers import play

TITLE = "SRTF and Tiresias-L, Philly window on 64 GPUs, with placements and full log"
TARGETS = (
    ("srtf", 4_000, 17_000),
    ("srtf", 8_000, 10_000),
    ("tiresias_l", 4_000, 12_000),
    ("tiresias_l", 8_000, 8_000),
)
REPEATS = 3


def run() -> list[Figure]:
    jobs, source = fifo.window(max(count for _, count, _ in TARGETS))
    figures = []
    for scheduler, count, least in TARGETS:
        best = min(play(fifo.cluster(), jobs[:count], scheduler, metrics=False).run_s for _ in range(REPEATS))
        figures.append(Figure(f"{scheduler}, {count:,} jobs ({source})", count / best, "jobs/s", least, at_least=True))
    return figures
