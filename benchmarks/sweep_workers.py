"""A sweep of 40 runs with 1, 2 and 4 worker processes: what more processes bring on this machine."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks import Figure
from benchmarks._client import Client, wait
from benchmarks._demo import login_link
from benchmarks._stack import stack

RUNS, WORKERS = 40, (1, 2, 4)
TITLE = f"a sweep of {RUNS} runs of OASiS with 1, 2 and 4 worker processes, SQLite"
WORKLOAD = {"profile": "oasis", "jobs": 400, "servers": 80, "seed": 3}
MAX_WAIT_S = 600.0


def run() -> list[Figure]:
    """Figures of a fresh twin for each number of processes."""
    seconds = {}
    for workers in WORKERS:
        with tempfile.TemporaryDirectory(prefix="twin-bench-") as name:
            folder = Path(name)
            with stack(folder, "--workers", str(workers)) as (_, url):
                seconds[workers] = _sweep_s(Client(url, login_link(folder)))
    return [
        *(Figure(f"all {RUNS} runs, workers: {workers}", took, "s") for workers, took in seconds.items()),
        *(Figure(f"speed-up, workers: {workers}", seconds[1] / seconds[workers], "x") for workers in WORKERS[1:]),
    ]


def _sweep_s(client: Client) -> float:
    """Time from the request until the last run has finished; all must finish."""
    made = client.post("/api/workloads/", WORKLOAD)
    scenario = client.post("/api/scenarios/", {
        "name": "Busier and busier", "cluster": made["cluster"]["id"], "trace": made["trace"]["id"],
        "scheduler": "oasis", "edits": [{"verb": "scale_arrivals", "factor": 1.5}],
    })["id"]  # fmt: skip
    axes = [{"edit": 1, "field": "factor", "values": [round(1.01 + 0.01 * step, 2) for step in range(RUNS)]}]
    began = time.monotonic()
    sweep = client.post("/api/sweeps/", {"scenario": scenario, "name": f"{RUNS} runs", "axes": axes})["id"]

    wait(lambda: not client.json(f"/api/sweeps/{sweep}/")["active"], "all runs have ended", MAX_WAIT_S)
    took = time.monotonic() - began
    answer = client.json(f"/api/sweeps/{sweep}/")
    if (answer["finished"], answer["total"]) != (RUNS, RUNS):
        raise RuntimeError(f"{answer['finished']} of {answer['total']} runs finished")
    return took
