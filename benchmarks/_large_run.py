"""The child process of large_run.py: it writes a run of many jobs to the log, batch by batch, as a worker does.

python -m benchmarks._large_run JOBS   prints the number of the run
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

import django

SERVERS, BARS = 2_000, 20  # servers of the cluster; bars of a job, each on a server of its own
STEP_MS = 1_000  # between two arrivals
BATCH = 1_000  # jobs whose events are written at a time
EVENTS = 4  # of a job


class _Row(NamedTuple):
    at_ms: int
    order: int  # of rows at the same time
    kind: str
    data: dict[str, Any]


def make_run(count: int) -> int:
    """A finished run of n generated jobs; the bars of jobs that overlap are on different servers."""
    from django.utils import timezone

    from scheduling.model.bars import Placement
    from scheduling.model.values import Cluster, Event, Job, Server
    from twin.eventlog import event_log
    from twin.models import Run, Scenario
    from twin.scenarios.store import store_generated

    def events(first: int) -> list[Event]:
        rows: list[_Row] = []
        for job in range(first, min(first + BATCH, count)):
            at_ms = job * STEP_MS
            until_ms = at_ms + 60_000 + job % 40 * STEP_MS
            place = job * BARS % SERVERS
            bars = [Placement(job, 0, place + k, at_ms, until_ms - k, 1) for k in range(BARS)]
            reason = {"job": job, "kind": "started", "code": "in_order"}
            plan = {"scope": "job", "keys": [job], "jobs": [[job, at_ms, until_ms]], "bars": bars}
            rows.append(_Row(at_ms, 0, "job_arrived", {"job": job}))
            rows.append(_Row(at_ms, 1, "decided", {**reason, "values": {"waited_ms": 0, "workers": BARS, "ps": 0}}))
            rows.append(_Row(at_ms, 2, "plan_changed", plan))
            waiting.append(_Row(until_ms, 3, "job_completed", {"job": job, "utility": 1.0}))
        ends = (first + BATCH) * STEP_MS if first + BATCH < count else 2**62
        rows += [row for row in waiting if row.at_ms < ends]
        waiting[:] = [row for row in waiting if row.at_ms >= ends]
        rows.sort(key=lambda row: (row.at_ms, row.order))
        return [Event(seq, row.at_ms, row.kind, row.data) for seq, row in enumerate(rows, start=first_seq[0])]

    waiting: list[_Row] = []
    first_seq = [1]
    cluster = Cluster("large", 60_000, tuple(Server(f"s{i:04d}", "edge", (8_000,) * 5) for i in range(SERVERS)))
    jobs = [Job(f"job-{i:07d}", i * STEP_MS, worker=(1_000,) * 5, epochs=1) for i in range(count)]
    spec, trace = store_generated("large bench", cluster, jobs, 1)
    scenario = Scenario.objects.create(name="large bench", cluster=spec, trace=trace, scheduler="fifo")
    run = Run.objects.create(scenario=scenario, status=Run.RUNNING, wanted=Run.RUNNING, started_at=timezone.now())
    for first in range(0, count, BATCH):
        batch = events(first)
        event_log.append(run.pk, 0, batch)
        first_seq[0] += len(batch)
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(status=Run.FINISHED, end_ms=run.sim_ms, finished_at=timezone.now())
    return int(run.pk)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "twin.config.settings")
    django.setup()
    print(make_run(int(sys.argv[1])))
