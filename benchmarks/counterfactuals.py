"""Counterfactuals of every job of a run: the whole answer, from the log to its sentences."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._stack import environment

TITLE = "counterfactuals of all jobs of a run, 100 servers, calibrated"
MAX_MS = 200.0
BATCH = 500  # events
SEED = 1
CASES: tuple[
    tuple[str, str, int, int, int, dict[str, Any]], ...
] = (  # title, scheduler, slots, jobs, asked for every n-th job, parameters
    ("OASiS, T = 100, 200 jobs", "oasis", 100, 200, 1, {}),
    ("PD-ORS, T = 20, 100 jobs", "pd_ors", 20, 100, 1, {}),
    ("PD-ORS, T = 80, 200 jobs", "pd_ors", 80, 200, 1, {}),
    ("PD-ORS, T = 80, 1,000 jobs, every 5th", "pd_ors", 80, 1000, 5, {}),
    ("PD-ORS as in the paper, T = 20, 100 jobs", "pd_ors", 20, 100, 1, {"mode": "paper"}),
)
PROFILES = {"oasis": "oasis", "pd_ors": "pd-ors"}


def run() -> list[Figure]:
    """Figures measured in a process and a database of their own."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
        command = [sys.executable, "-c", "from benchmarks.counterfactuals import measure; measure()"]
        env = environment(Path(folder)) | {"PYTHONPATH": str(settings.BASE_DIR)}
        out = subprocess.run(command, env=env, capture_output=True, check=True).stdout
    figures = []
    for title, (took, searched) in orjson.loads(out.splitlines()[-1]).items():
        p50, p95 = np.percentile(took, [50, 95])
        figures.append(Figure(f"{title}: median", float(p50), "ms"))
        figures.append(Figure("p95", float(p95), "ms"))
        figures.append(Figure("max", max(took), "ms", MAX_MS))
        figures.append(Figure("searches completed in this time", 100 * searched, "%"))
    return figures


def measure() -> None:
    """The measurement itself; prints JSON."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    print(orjson.dumps({case[0]: answers(*case) for case in CASES}).decode())


def answers(
    title: str, name: str, slots: int, num_jobs: int, every: int, parameters: dict[str, Any]
) -> tuple[list[float], float]:
    """ms of the answer about each job of a stored run, the first of which reads it; the share searched to the end."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    from scheduling.kernel.registry import build
    from scheduling.kernel.simulation import Simulation
    from scheduling.workloads import generate
    from twin.eventlog import event_log
    from twin.models import Run, Scenario
    from twin.scenarios.store import store_generated

    cluster, jobs = generate(PROFILES[name], num_jobs=num_jobs, num_servers=100, seed=SEED, horizon_slots=slots)
    spec, trace = store_generated(title, cluster, jobs, SEED)
    scenario = Scenario.objects.create(
        name=title, cluster=spec, trace=trace, scheduler=name, parameters=parameters, seed=SEED
    )
    run = Run.objects.create(scenario=scenario, status=Run.FINISHED)
    events = list(Simulation(cluster, jobs, build(name, parameters), SEED).events())
    for first in range(0, len(events), BATCH):
        event_log.append(run.pk, 0, events[first : first + BATCH])
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(get_user_model().objects.get_or_create(username="bench", is_superuser=True)[0])
    address = f"/api/runs/{run.pk}/jobs/{{}}/counterfactuals/"
    client.get(address.format(0))  # reads the log
    took: list[float] = []
    rows: list[dict[str, Any]] = []
    for index in range(0, num_jobs, every):
        began = time.perf_counter()
        answer = client.get(address.format(index))
        took.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, answer.content
        rows += answer.json()["rows"]
    return took, sum(row["searched"] for row in rows) / len(rows)
