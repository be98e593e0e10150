"""A set of shadows: every scheduler on six hours of a live cluster with 1,000 jobs, as background workers do it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from heapq import heappop, heappush
from pathlib import Path

import numpy as np
import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._stack import environment

TITLE = "set of shadows: 1,000 jobs in 6 hours on 20 nodes of 8 GPUs"
JOBS, NODES, GPUS, SPAN_S, LOAD, SEED = 999, 20, 8, 21_600, 0.85, 1
EPOCH_MS = 1_795_000_000_000
MAX_S = 180.0  # of processor time: 90 s of two cores


def run() -> list[Figure]:
    """Figures measured in a process and a database of their own."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
        command = [sys.executable, "-c", "from benchmarks.shadows import measure; measure()"]
        env = environment(Path(folder)) | {"PYTHONPATH": str(settings.BASE_DIR)}
        out = subprocess.run(command, env=env, capture_output=True, check=True).stdout
    found = orjson.loads(out.splitlines()[-1])
    slowest = max(found["shadows"], key=lambda name: found["shadows"][name])
    return [
        Figure("processor time of the set", found["total_s"], "s", MAX_S),
        Figure("shadows, actual and predicted durations", len(found["shadows"]), "shadows", 26, at_least=True),
        Figure("of which: cutting the window", found["cut_s"], "s"),
        Figure(f"of which: the slowest, {slowest}", found["shadows"][slowest], "s"),
        Figure("slot", found["slot_ms"] / 1_000, "s"),
        Figure("failed shadows", found["failed"], "shadows", 0),
    ]


def measure() -> None:
    """The measurement itself; prints JSON."""
    import django

    django.setup()
    from django.core.management import call_command

    from twin.connectors.facts import ENDED, Attempt, JobFact, NodeFact, Share, Snapshot
    from twin.mirror import stored
    from twin.models import Connection, Shadow
    from twin.runs import lease
    from twin.studies.shadows import sets, task

    call_command("migrate", verbosity=0)
    nodes = tuple(NodeFact(f"n{i}", gpus=GPUS, cpus=64, memory_mb=256_000) for i in range(NODES))
    connection = Connection.objects.create(name="lab", connector="slurm")
    first = Snapshot(EPOCH_MS, (), nodes)
    run, _ = stored.begin(connection, first)
    held = lease.take(run.pk, simulated=False)
    assert held is not None
    mirror = stored.load(connection)
    writer = stored.Writer(held, mirror)
    facts = []
    for number, (arrival, start, end, node, gpus) in enumerate(_schedule()):
        share = Share(f"n{node}", gpus=gpus, cpus=4 * gpus, memory_mb=16_000 * gpus)
        times = [EPOCH_MS + second * 1_000 for second in (arrival, start, end)]
        facts.append(JobFact(
            f"{number}", times[0], ENDED, outcome="completed", attempts=(Attempt(times[1], times[2], (share,)),),
            gpus=gpus, cpus=4 * gpus, memory_mb=16_000 * gpus, limit_ms=3 * (times[2] - times[1]),
            user=f"u{number % 20}", ended_ms=times[2],
        ))  # fmt: skip
    writer(mirror.apply(first), mirror.log_ms)
    last_ms = max(fact.ended_ms or 0 for fact in facts)
    writer(mirror.apply(Snapshot(last_ms, tuple(facts), nodes)), mirror.log_ms)
    Connection.objects.update(health={"seen_ms": last_ms})
    connection = Connection.objects.select_related("run").get()
    began = time.process_time()
    of = sets.request(connection, 24 * sets.HOUR_MS)
    task.prepare(of.pk)
    cut_s = time.process_time() - began
    each = {}
    for shadow in of.shadows.all():
        begun = time.process_time()
        task.compute(shadow.pk)
        each[f"{shadow.scheduler}, {shadow.durations}"] = round(time.process_time() - begun, 2)
    total_s = time.process_time() - began
    of.refresh_from_db()
    print(orjson.dumps({
        "total_s": total_s, "cut_s": cut_s, "shadows": each, "slot_ms": of.facts["slot_ms"], "jobs": of.facts["jobs"],
        "failed": of.shadows.exclude(status=Shadow.DONE).count(),
    }).decode())  # fmt: skip


def _schedule() -> list[tuple[int, int, int, int, int]]:
    """(arrival, start, end in s, node, GPUs) of each job; each goes to the first node with that number of free GPUs."""
    rng = np.random.default_rng(SEED)
    gpus = rng.choice([1, 2, 4, 8], p=[0.6, 0.2, 0.1, 0.1], size=JOBS).tolist()
    raw = rng.lognormal(0, 1.3, size=JOBS)
    runs = np.maximum(5, raw / (raw * gpus).sum() * SPAN_S * NODES * GPUS * LOAD).astype(int).tolist()
    arrivals = sorted(rng.integers(1, SPAN_S, size=JOBS).tolist())
    free, now = [GPUS] * NODES, 0
    ends: list[tuple[int, int, int]] = []
    found = []
    for arrival, run_s, need in zip(arrivals, runs, gpus, strict=True):
        now = max(now, arrival)
        while True:
            while ends and ends[0][0] <= now:
                _, node, given = heappop(ends)
                free[node] += given
            node = next((place for place in range(NODES) if free[place] >= need), -1)
            if node >= 0:
                break
            now = ends[0][0]
        free[node] -= need
        heappush(ends, (now + run_s, node, need))
        found.append((arrival, now, now + run_s, node, need))
    return found
