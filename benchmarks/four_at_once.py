"""FIFO, SRTF, OASiS and Harmony on all jobs of the Philly window at once, beside the live demo.

Measured while they run: the answers of all pages and of their first requests, a cancel until the run has ended, and the
pace of the demo. TWIN_TRACES names the folder of the public traces; the row needs them.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from benchmarks import Figure, Skip
from benchmarks._client import Client, wait
from benchmarks._demo import OVER, login_link
from benchmarks._stack import stack

TITLE = "four schedulers at once on 24,134 Philly jobs, beside the live demo"
JOBS_FILE = "philly_derived/philly_2017-10-01_2017-10-15.csv"
CLUSTER_FILE = "philly_derived/philly_vc.csv"
SCHEDULERS = ("fifo", "srtf", "oasis", "harmony")
MAX_WATCHED_S = 60.0  # time for which the runs are watched
MAX_PAGE_S, MAX_CANCEL_S, MIN_PACE = 1.0, 2.0, 0.95
BETWEEN_S = 0.06  # between two requests: an account may send 1,200 in a minute (docs/api.md)


def run() -> list[Figure]:
    files = _files()
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder, stack(Path(folder), "--demo") as (_, url):
        client = Client(url, login_link(Path(folder)))
        demo = client.json("/api/runs/?size=1")["results"][0]["id"]
        runs = [_start(client, scenario) for scenario in _scenarios(client, files)]
        wait(lambda: all(client.json(f"/api/runs/{run}/")["status"] != "queued" for run in runs), "all four run")
        pace, seconds = _watch(client, demo, runs)
        cancel_s = _cancel(client, runs[-1])
        states = [client.json(f"/api/runs/{run}/") for run in runs[:-1]]
    worst = max(seconds, key=lambda path: max(seconds[path]))
    every = sorted(value for values in seconds.values() for value in values)
    return [
        Figure(f"slowest answer ({worst})", every[-1], "s", MAX_PAGE_S),
        Figure(f"median of {len(every)} answers", every[len(every) // 2], "s"),
        Figure("time from the cancellation of a run to its end", cancel_s, "s", MAX_CANCEL_S),
        Figure("pace of the demo, relative to its clock", pace, "x", MIN_PACE, at_least=True),
        Figure(
            "of the other three, ended when the measurement ended", sum(s["status"] in OVER for s in states), "runs"
        ),
    ]


def _scenarios(client: Client, files: list[Path]) -> Iterator[int]:
    trace = client.upload(files, format="auto", seed="1", name="Philly window")["id"]
    wait(lambda: client.json(f"/api/traces/{trace}/")["status"] == "ready", "the trace is imported")
    cluster = next(c["id"] for c in client.json("/api/clusters/?size=50")["results"] if c["trace"] == trace)
    for scheduler in SCHEDULERS:
        made = {"name": scheduler, "cluster": cluster, "trace": trace, "scheduler": scheduler, "horizon_slots": 2_000}
        yield client.post("/api/scenarios/", made)["id"]


def _start(client: Client, scenario: int) -> int:
    return int(client.post("/api/runs/", {"scenario": scenario, "mode": "batch"})["id"])


def _watch(client: Client, demo: int, runs: list[int]) -> tuple[float, dict[str, list[float]]]:
    """Pace of the demo against its clock, and seconds of each answer by path, until the runs end or MAX_WATCHED_S."""
    paths = ["/", "/traces/", "/clusters/", "/scenarios/", "/audit/", "/api/runs/?size=50", "/healthz/shared"]
    parts = ("snapshot/", "now/", "jobs/", "events/table/?size=50", "events/table/?size=50&job=7", "static/")
    paths += [path for run in runs for path in (f"/runs/{run}/", *(f"/api/runs/{run}/{part}" for part in parts))]
    seconds: dict[str, list[float]] = {path: [] for path in paths}
    began, began_ms, speed = time.monotonic(), *_clock(client, demo)
    while time.monotonic() - began < MAX_WATCHED_S:
        for path in paths:
            asked = time.perf_counter()
            client.get(path)
            seconds[path].append(time.perf_counter() - asked)
            time.sleep(BETWEEN_S)
        if all(client.json(f"/api/runs/{run}/")["status"] in OVER for run in runs):
            break
    passed_s = time.monotonic() - began
    return (_clock(client, demo)[0] - began_ms) / 1000 / passed_s / speed, seconds


def _clock(client: Client, demo: int) -> tuple[int, float]:
    run = client.json(f"/api/runs/{demo}/")
    return run["sim_ms"], run["clock_speed"]


def _cancel(client: Client, run: int) -> float:
    began = time.monotonic()
    client.post(f"/api/runs/{run}/cancel/", {})
    wait(lambda: client.json(f"/api/runs/{run}/")["status"] in OVER, "the run has ended")
    return time.monotonic() - began


def _files() -> list[Path]:
    for folder in (Path(os.environ.get("TWIN_TRACES", ".")), settings.BASE_DIR.parent / "shared" / "traces"):
        if (folder / JOBS_FILE).is_file():
            return [folder / JOBS_FILE, folder / CLUSTER_FILE]
    raise Skip("the public traces were not found; set TWIN_TRACES to their folder")
