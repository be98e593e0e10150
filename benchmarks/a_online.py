"""A_online on the paper's simulator, 300 jobs on 100 servers of 8 workers.

With parameter servers, metrics and log; the cost of a doubling.
"""

from __future__ import annotations

from itertools import pairwise

from benchmarks import Figure
from benchmarks._typed_workers import Played, play
from scheduling.workloads import generate

TITLE = "A_online, 300 jobs, 100 servers x 8 workers"
MAX_S, MAX_P99_MS, MAX_GROWTH = 1.0, 20.0, 2.3
REPEATS = 5
SIZES = (300, 600, 1_200)  # jobs, on the same servers for as much longer
HOURS = 3_288.0  # of 300 jobs


def run() -> list[Figure]:
    figures = []
    for scheduler in ("a_online", "a_online_edge"):
        played = _played(scheduler)
        single = min(played[SIZES[0]], key=lambda one: one.run_s + one.metrics_s)
        figures += [
            Figure(f"{scheduler}: run, metrics and log", single.run_s + single.metrics_s, "s", MAX_S),
            Figure(f"{scheduler}: one decision, p99", single.p99_ms, "ms", MAX_P99_MS),
        ]
        for half, whole in pairwise(SIZES):
            cost = min(one.cpu_s for one in played[whole]) / min(one.cpu_s for one in played[half])
            bars = played[whole][0].bars / played[half][0].bars
            figures += [
                Figure(f"{scheduler}: time, {whole:,} jobs / {half:,} jobs", cost, "x", MAX_GROWTH),
                Figure(f"{scheduler}: bars, {whole:,} jobs / {half:,} jobs", bars, "x"),
            ]
    return figures


def _played(scheduler: str) -> dict[int, list[Played]]:
    """Runs of every size in alternation, so that a slow minute of the machine affects all sizes alike."""
    workloads = {
        count: generate(
            "a-online", num_jobs=count, num_servers=100, seed=1, workers=8, span_hours=HOURS * count / SIZES[0]
        )
        for count in SIZES
    }
    found: dict[int, list[Played]] = {count: [] for count in SIZES}
    for _ in range(REPEATS):
        for count, (cluster, jobs) in workloads.items():
            found[count].append(play(cluster, jobs, scheduler))
    return found
