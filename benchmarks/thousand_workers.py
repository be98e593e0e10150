"""One ticker and one frame bus with 1,000 workers: processor time for 1,000 active runs and as many heartbeats."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._stack import environment
from twin.infra import broker

TITLE = "1,000 workers: one ticker, one frame bus, SQLite"
WORKERS = 1_000
MAX_TICK_MS, MAX_LIST_MS, MAX_BEAT_MS = 100.0, 100.0, 0.1
TIMES, BEATS = 5, 5_000


def run() -> list[Figure]:
    """Figures of processor time, measured in a process and a database of their own; load distorts them little."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder, ExitStack() as ending:
        path = Path(folder) / "bus.sock"
        bus = subprocess.Popen(broker.command(broker.find_server(), path, Path(folder)), stdout=subprocess.DEVNULL)
        ending.callback(bus.wait)
        ending.callback(bus.kill)
        broker.wait(f"unix://{path}")
        env = environment(Path(folder)) | {"PYTHONPATH": str(settings.BASE_DIR), "LAYER_URL": f"unix://{path}"}
        command = [sys.executable, "-c", "from benchmarks.thousand_workers import measure; measure()"]
        out = subprocess.run(command, env=env, capture_output=True, check=True).stdout
    found = orjson.loads(out.splitlines()[-1])
    return [
        Figure("iteration of the ticker, five a second", found["tick_ms"], "ms", MAX_TICK_MS),
        Figure("list of all processes", found["list_ms"], "ms", MAX_LIST_MS),
        Figure("heartbeat, on the frame bus", found["beat_ms"], "ms", MAX_BEAT_MS),
    ]


def measure() -> None:
    """The measurement itself; prints JSON."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    call_command("migrate", verbosity=0)
    from scheduling.workloads import generate
    from twin.infra import pubsub
    from twin.models import Run, Scenario
    from twin.processes import heartbeat
    from twin.scenarios.store import store_generated
    from twin.ticker import Ticker

    spec, trace = store_generated("bench", *generate("oasis", num_jobs=10, num_servers=8, seed=1), 1)
    scenario = Scenario.objects.create(name="bench", cluster=spec, trace=trace, scheduler="fifo", seed=1)
    lease = {"lease_owner": "elsewhere.example/1.1", "lease_until": timezone.now() + timedelta(seconds=25)}
    Run.objects.bulk_create(Run(scenario=scenario, status=Run.RUNNING, **lease) for _ in range(WORKERS))
    ticker = Ticker()
    ticker.checked_at = float("inf")  # without what it does every two seconds
    assert ticker.tick() == [], "all runs have workers"
    tick_ms = _processor_ms(ticker.tick)

    entry = {"kind": heartbeat.RUNS, "at": time.time(), "doing": ["run 1", time.time()], "fault": "", "parent": "h/1"}
    beat = orjson.dumps(
        entry | {"begun": 9, "memory": 10**8, "counters": [["tasks", ["advance_run", "success"], 5]] * 6}
    )
    client = pubsub.client()
    for number in range(WORKERS):
        client.hset(heartbeat.HASH, f"elsewhere/{number}", beat)
    list_ms = _processor_ms(lambda: heartbeat.processes())
    before = _bus_s()
    for _ in range(BEATS):
        client.hset(heartbeat.HASH, "elsewhere/1", beat)
    beat_ms = (_bus_s() - before) / BEATS * 1_000
    print(orjson.dumps({"tick_ms": tick_ms, "list_ms": list_ms, "beat_ms": beat_ms}).decode())


def _processor_ms(do: Callable[[], object]) -> float:
    """Processor time of this process for one call, in ms."""
    began = time.process_time()
    for _ in range(TIMES):
        do()
    return (time.process_time() - began) / TIMES * 1_000


def _bus_s() -> float:
    """Processor time of the server of the bus, in seconds."""
    from twin.infra import pubsub

    used = pubsub.client().info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])
