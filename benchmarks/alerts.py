"""The evaluation of alerts: a live run of the Philly window with a long queue, in the middle of its jobs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._memory import resident_mb
from benchmarks._stack import environment

TITLE = "evaluation of alerts, 24,134 Philly jobs, FIFO on 64 GPUs"
JOBS = 24_134
BATCHES = 40  # between two evaluations one batch of events is written
MAX_COLD_S, MAX_CHANGED_S, MAX_QUIET_S = 3.0, 0.25, 0.05


def run() -> list[Figure]:
    """Figures measured in processes and a database of their own."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
        env = environment(Path(folder)) | {"PYTHONPATH": str(settings.BASE_DIR)}
        for verb in ("prepare", "measure"):
            command = [sys.executable, "-c", f"from benchmarks.alerts import {verb}; {verb}()"]
            out = subprocess.run(command, env=env, capture_output=True, check=True).stdout
    figures = orjson.loads(out.splitlines()[-1])
    changed = figures["changed_s"]
    return [
        Figure("first evaluation of a worker", figures["cold_s"], "s", MAX_COLD_S),
        Figure("evaluation after new events, median", sorted(changed)[len(changed) // 2], "s", MAX_CHANGED_S),
        Figure("evaluation without new events", figures["quiet_s"], "s", MAX_QUIET_S),
        Figure("memory that the evaluation adds to a worker", figures["megabytes"], "MB"),
        Figure("open alerts", figures["alerts"], ""),
    ]


def prepare() -> None:
    """A live run that has reached the middle of its log, with the stored state that the twin makes of it."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from benchmarks import fifo
    from scheduling.kernel.registry import build
    from scheduling.kernel.simulation import Simulation
    from twin.eventlog import event_log, stored_states
    from twin.models import Run, Scenario
    from twin.runs.engine import Engine
    from twin.scenarios.store import store_generated

    jobs, _ = fifo.window(JOBS)
    spec, trace = store_generated("bench", fifo.cluster(), jobs, 1)
    parameters = {"model": "pd-ors"}
    scenario = Scenario.objects.create(
        name="bench", cluster=spec, trace=trace, scheduler="fifo", parameters=parameters, seed=1
    )
    made = Run.objects.create(scenario=scenario, mode=Run.LIVE, status=Run.RUNNING)
    engine = Engine(Simulation(fifo.cluster(), jobs, build("fifo", parameters), 1))
    half = jobs[len(jobs) // 2].arrival_ms
    while (batch := engine.batch(None)) and batch[0].at_ms < half:
        event_log.append(made.pk, 0, batch)
    stored_states.bring_up(made.pk)
    # what comes next is kept with another run until it is measured
    last_seq = Run.objects.get(pk=made.pk).last_seq
    later = Run.objects.create(scenario=scenario, status=Run.FINISHED, last_seq=last_seq)
    for _ in range(BATCHES):
        event_log.append(later.pk, 0, batch)
        batch = engine.batch(None)


def measure() -> None:
    """The measurement itself; prints JSON."""
    import django

    django.setup()
    from twin.alerts import evaluation
    from twin.models import Alert, EventBatch, Run
    from twin.models.run_modes import modes_where

    def seconds() -> float:
        began = time.perf_counter()
        assert evaluation.evaluate() == (1, 0)
        return time.perf_counter() - began

    before = resident_mb()
    cold_s, changed = seconds(), []
    made = Run.objects.get(mode__in=modes_where(paced=True))
    for batch in EventBatch.objects.exclude(run=made).order_by("first_seq"):
        EventBatch.objects.filter(pk=batch.pk).update(run=made)
        Run.objects.filter(pk=made.pk).update(last_seq=batch.last_seq, sim_ms=batch.last_ms)
        changed.append(seconds())
    quiet_s = min(seconds() for _ in range(10))
    megabytes = resident_mb() - before
    found = {"cold_s": cold_s, "changed_s": changed, "quiet_s": quiet_s, "megabytes": megabytes}
    print(orjson.dumps(found | {"alerts": Alert.objects.filter(ended_at=None).count()}).decode())
