"""Two runs of 100,000 jobs compared, from the logs to all that the page asks for, as the web server does it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._stack import environment

TITLE = "comparison of two runs of 100,000 jobs with one bar each"
JOBS, SERVERS, BATCH = 100_000, 100, 1_000
MAX_S = 2.0


def run() -> list[Figure]:
    """Figures measured in a process and a database of their own."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
        command = [sys.executable, "-c", "from benchmarks.compare import measure; measure()"]
        env = environment(Path(folder)) | {"PYTHONPATH": str(settings.BASE_DIR)}
        out = subprocess.run(command, env=env, capture_output=True, check=True).stdout
    found = orjson.loads(out.splitlines()[-1])
    return [
        Figure("fold of both logs (cached afterwards)", found["fold_s"], "s"),
        Figure("decisions and outcomes of both", found["read_s"], "s"),
        Figure("metrics, distributions, groups, differences, divergence", found["compare_s"], "s"),
        Figure("comparison with cached states", found["read_s"] + found["compare_s"], "s", MAX_S),
    ]


def measure() -> None:
    """The measurement itself; prints JSON."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from scheduling.model.values import Cluster, Job, Server, Utility
    from twin.analysis.comparison import Compared, side_of
    from twin.eventlog.stored_states import at
    from twin.models import Run, Scenario
    from twin.scenarios import store

    unit = (1_000, 1_000, 1_000, 1_000, 1_000)
    cluster = Cluster(
        "bench", 1_000, tuple(Server(f"s{i}", "edge" if i % 2 else "cloud", unit) for i in range(SERVERS))
    )
    utility = Utility(5, 0.1, 10)
    jobs = [
        Job(f"j{i}", i * 10, f"m{i % 7}", worker=unit, ps=unit, requested_workers=1 + i % 8, utility=utility)
        for i in range(JOBS)
    ]
    spec, trace = store.store_generated("bench", cluster, jobs, 0)
    scenario = Scenario.objects.create(name="bench", cluster=spec, trace=trace, scheduler="fifo")
    runs = [Run.objects.create(scenario=scenario, status=Run.FINISHED) for _ in range(2)]
    for shift, run in enumerate(runs):
        _write(run.pk, shift)
    store.jobs_of(trace.pk)
    began = time.perf_counter()
    states = [at(run.pk) for run in runs]
    folded = time.perf_counter()
    found = Compared([side_of(run, state, 2**62) for run, state in zip(runs, states, strict=True)])
    read = time.perf_counter()
    answer = (found.metrics, found.distributions, found.breakdowns, found.kinds, found.divergences)
    compared = time.perf_counter()
    divergence = answer[4][1]
    assert divergence is not None
    assert divergence.job == JOBS // 2
    print(orjson.dumps({"fold_s": folded - began, "read_s": read - folded, "compare_s": compared - read}).decode())


def _write(run_id: int, shift: int) -> None:
    """A log in which each job arrives, is started and completes a second later.

    From the middle on, the second run starts it later and elsewhere.
    """
    from scheduling.model.bars import Placement
    from scheduling.model.values import Event
    from twin.eventlog import event_log

    reason = {"workers": 1, "ps": 0, "waited_ms": 0}
    for first in range(0, JOBS, BATCH):
        events = []
        for job in range(first, first + BATCH):
            at_ms = job * 10
            late = shift if job >= JOBS // 2 else 0
            bars = [Placement(job, 0, (job + late) % SERVERS, at_ms + 5 * late, at_ms + 1_000, 1)]
            plan = {"scope": "job", "keys": [job], "jobs": [[job, bars[0].start_ms, at_ms + 1_000]], "bars": bars}
            happened: list[tuple[str, dict[str, Any]]] = [
                ("job_arrived", {"job": job}),
                ("decided", {"job": job, "kind": "started", "code": "in_order", "values": reason}),
                ("plan_changed", plan), ("job_completed", {"job": job, "utility": 1.0}),
            ]  # fmt: skip
            events += [Event(4 * job + i, at_ms, kind, data) for i, (kind, data) in enumerate(happened, 1)]
        event_log.append(run_id, 0, events)
