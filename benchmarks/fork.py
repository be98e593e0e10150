"""A fork in the middle of a finished run of 10,000 jobs: until its log is there, and until its first new event."""

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

TITLE = "fork in the middle of a run of 10,000 jobs, 200 servers"
JOBS, SERVERS, SLOTS, SEED, TIMES = 10_000, 200, 300, 3, 5
MAX_S = 1.0


def run() -> list[Figure]:
    """Figures measured in a process and a database of their own."""
    figures = []
    for scheduler in ("fifo", "oasis"):
        with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
            command = [sys.executable, "-c", f"from benchmarks.fork import measure; measure({scheduler!r})"]
            env = environment(Path(folder)) | {"PYTHONPATH": str(settings.BASE_DIR)}
            out = subprocess.run(command, env=env, capture_output=True, check=True).stdout
        found = orjson.loads(out.splitlines()[-1])
        figures.append(Figure(f"{scheduler}: fork with its past, median", float(np.median(found["made"])), "s", MAX_S))
        figures.append(Figure("time to its first new event", float(np.median(found["goes_on"])), "s"))
        figures.append(Figure("events in its past", found["past"], "events"))
    return figures


def measure(scheduler: str) -> None:
    """The measurement itself; prints JSON."""
    import django

    django.setup()
    from django.core.management import call_command

    from scheduling.workloads import generate
    from twin.models import Run, Scenario
    from twin.runs import commands, runner
    from twin.scenarios.store import store_generated

    call_command("migrate", verbosity=0)
    cluster, jobs = generate("oasis", num_jobs=JOBS, num_servers=SERVERS, seed=SEED, horizon_slots=SLOTS)
    spec, trace = store_generated("fork", cluster, jobs, SEED)
    scenario = Scenario.objects.create(name="fork", cluster=spec, trace=trace, scheduler=scheduler, seed=SEED)
    parent = _played_out(runner, commands.start_run(scenario))
    made, goes_on, past = [], [], 0
    for n in range(TIMES):
        at_ms = parent.sim_ms // 2 + n * 1_000_003
        edits = [{"verb": "fail_servers", "servers": cluster.servers[n].name, "at_ms": at_ms}]
        began = time.perf_counter()
        _, run = commands.fork_and_start(parent.pk, at_ms, "", edits, True)
        made.append(time.perf_counter() - began)
        assert run is not None
        past = run.last_seq
        while Run.objects.get(pk=run.pk).last_seq == past:
            runner.advance(run.pk)
        goes_on.append(time.perf_counter() - began)
        commands.discard(run)
    print(orjson.dumps({"made": made, "goes_on": goes_on, "past": past}).decode())


def _played_out(runner: Any, run: Any) -> Any:
    while run.status not in (run.FINISHED, run.FAILED):
        runner.advance(run.pk)
        run.refresh_from_db()
    return run
