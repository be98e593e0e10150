"""The child process of browser_stream.py: it creates a run without work of its own, then plays its worker.

python -m benchmarks._feed RUN              prints the number of a new run
python -m benchmarks._feed SECONDS ID RATE  publishes RATE events a second, as a worker does, for that run
"""

from __future__ import annotations

import os
import sys
import time

import django

FRAMES_PER_S = 50
JOBS = 2_000
SLOT_MS = 60_000


def make_run() -> int:
    """A finished run with an empty log: nobody else will write to it."""
    from scheduling.workloads import generate
    from twin.models import Run, Scenario
    from twin.scenarios.store import store_generated

    cluster, jobs = generate("oasis", num_jobs=JOBS, num_servers=100, seed=1)
    spec, trace = store_generated("stream bench", cluster, jobs, 1)
    scenario = Scenario.objects.create(name="stream bench", cluster=spec, trace=trace, scheduler="fifo")
    return Run.objects.create(scenario=scenario, status=Run.FINISHED).pk


def publish(run: int, seconds: float, rate: int) -> None:
    """`rate` events a second; the simulated time of an event is the wall clock at which it was published, in ms."""
    from scheduling.model.bars import Placement
    from scheduling.model.values import Event
    from twin.eventlog.batch_codec import encode
    from twin.infra import pubsub

    seq = 0
    began = time.perf_counter()
    for batch in range(int(seconds * FRAMES_PER_S)):
        wait = began + batch / FRAMES_PER_S - time.perf_counter()
        if wait > 0:
            time.sleep(wait)
        now = int(time.time() * 1000)
        events = []
        for _ in range(rate // FRAMES_PER_S // 4):
            job = (seq // 4) % JOBS
            bar = Placement(job, 0, job % 100, now, now + SLOT_MS, 1)
            for kind, data in (
                ("job_arrived", {"job": job}),
                (
                    "decided",
                    {
                        "job": job,
                        "kind": "started",
                        "code": "in_order",
                        "values": {"waited_ms": 0, "workers": 1, "ps": 0},
                    },
                ),
                ("plan_changed", {"scope": "job", "keys": [job], "jobs": [[job, now, now + SLOT_MS]], "bars": [bar]}),
                ("job_completed", {"job": job, "utility": 1.0}),
            ):
                seq += 1
                events.append(Event(seq, now, kind, data))
        pubsub.publish(pubsub.run_channel(run), encode(events))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "twin.config.settings")
    django.setup()
    if len(sys.argv) == 2:
        print(make_run())
    else:
        publish(int(sys.argv[2]), float(sys.argv[1]), int(sys.argv[3]))
