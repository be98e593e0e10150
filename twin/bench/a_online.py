"""A_online on the paper's simulator, 300 jobs on 100 servers of 8 workers: with parameter servers, metrics and log; cost of a doubling."""

from __future__ import annotations

from scheduling.workloads import generate
from twin.bench import Figure
from twin.bench._lanes import Played, play

TITLE = "A_online, 300 jobs, 100 servers x 8 workers"
MOST_S, MOST_P99_MS, MOST_GROWTH = 1.0, 20.0, 2.3
REPEATS = 3
HOURS = 3_288.0


def run() -> list[Figure]:
    figures = []
    for scheduler in ("a_online", "a_online_edge"):
        single, double = (_best(scheduler, 300 * factor, HOURS * factor) for factor in (1, 2))
        figures += [
            Figure(f"{scheduler}: run, metrics and log", single.run_s + single.metrics_s, "s", MOST_S),
            Figure(f"{scheduler}: a decision, p99", single.p99_ms, "ms", MOST_P99_MS),
            Figure(f"{scheduler}: time of 600 jobs to that of 300", double.run_s / single.run_s, "x", MOST_GROWTH),
        ]
    return figures


def _best(scheduler: str, count: int, hours: float) -> Played:
    cluster, jobs = generate("a-online", num_jobs=count, num_servers=100, seed=1, workers=8, span_hours=hours)
    return min((play(cluster, jobs, scheduler) for _ in range(REPEATS)), key=lambda played: played.run_s)
