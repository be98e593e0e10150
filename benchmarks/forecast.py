"""The forecast of 500 waiting jobs on a full cluster: the time it takes a worker, without the database."""

from __future__ import annotations

import time

import numpy as np

from benchmarks import Figure
from scheduling.forecast.forecasting import forecasts_of
from scheduling.forecast.values import ClusterState, Group, Node, Running, Waiting

TITLE = "Forecast of 500 waiting jobs"
WAITING = 500
SECONDS = 1.0
REPEATS = 3
MINUTE_MS = 60_000


def run() -> list[Figure]:
    figures = []
    for nodes, bound in ((100, SECONDS), (1_000, None)):
        of = cluster_state(nodes, WAITING)
        best = min(_seconds(of) for _ in range(REPEATS))
        figures.append(Figure(f"{WAITING} waiting, {len(of.running)} running, {nodes:,} nodes", best, "s", bound))
    return figures


def cluster_state(nodes: int, waiting: int) -> ClusterState:
    """Nodes of 8 GPUs and 64 CPUs in two queues, full; jobs of different sizes, limits and run times."""
    rng = np.random.default_rng(1)
    machines = tuple(Node(f"n{i}", (8, 64, 512_000), frozenset({"ab"[i % 2]})) for i in range(nodes))
    held: list[Running] = []
    for node in range(nodes):
        left = 8
        while left:
            gpus = min(left, int(rng.choice([1, 2, 4, 8])))
            end = int(rng.integers(1, 600)) * MINUTE_MS
            amounts = (gpus, gpus * 8, gpus * 60_000)
            held.append(Running(f"r{len(held)}", ((node, amounts),), end, end + int(rng.integers(0, 900)) * MINUTE_MS))
            left -= gpus
    queue = []
    for number in range(waiting):
        gpus, parts = int(rng.choice([1, 2, 4, 8])), int(rng.choice([1, 1, 1, 2, 4]))
        run = int(rng.integers(1, 600))
        amounts = (gpus, int(rng.integers(1, gpus * 8 + 1)), int(rng.integers(1, gpus * 64)) * 1_000)
        limit = (run + int(rng.integers(0, 900))) * MINUTE_MS
        to = frozenset({"ab"[number % 2]})
        queue.append(Waiting(f"w{number}", (Group(parts, amounts),), run * MINUTE_MS, limit, to))
    return ClusterState(0, machines, tuple(held), tuple(queue), cycle_ms=30_000)


def _seconds(of: ClusterState) -> float:
    began = time.process_time()
    assert len(forecasts_of(of)) == len(of.waiting)
    return time.process_time() - began
