"""The event log: a run of a million placements written to SQLite in batches and read as the same events."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._stack import environment
from twin.infra.columns import pack, unpack

TITLE = "event log, 1,000,000 placements, SQLite"
ROWS, BARS = 1_000_000, 10  # placements in all, and of one plan
BATCH = 1_000  # events
ROWS_PER_SECOND = 500_000


def run() -> list[Figure]:
    """Figures measured in a process and a database of their own."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
        command = [sys.executable, "-c", "from benchmarks.event_log import measure; measure()"]
        env = environment(Path(folder)) | {"PYTHONPATH": str(settings.BASE_DIR)}
        out = subprocess.run(command, env=env, capture_output=True, check=True).stdout
    figures = orjson.loads(out.splitlines()[-1])
    return [
        Figure("written", ROWS / figures["write_s"], "rows/s", ROWS_PER_SECOND, at_least=True),
        Figure("read", ROWS / figures["read_s"], "rows/s", ROWS_PER_SECOND, at_least=True),
        Figure(
            "written and read",
            ROWS / (figures["write_s"] + figures["read_s"]),
            "rows/s",
            ROWS_PER_SECOND,
            at_least=True,
        ),
        Figure("database file per placement", figures["bytes"] / ROWS, "bytes"),
        Figure("bars in stored frames, per bar", figures["bars_bytes"] / ROWS, "bytes"),
    ]


def measure() -> None:
    """The measurement itself; prints JSON."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from scheduling.model.bars import Placement
    from scheduling.model.values import Cluster, Event, Server
    from twin.eventlog import event_log
    from twin.models import EventBatch, Run, Scenario
    from twin.scenarios.store import store_generated

    server = Server("s0", "edge", (8_000, 8_000, 8_000, 8_000, 8_000))
    spec, trace = store_generated("bench", Cluster("bench", 1_000, (server,)), [], 0)
    run = Run.objects.create(
        scenario=Scenario.objects.create(name="bench", cluster=spec, trace=trace, scheduler="fifo")
    )

    def events(first: int) -> list[Event]:
        made = []
        for job in range(first, first + BATCH):
            at_ms = job * 1_000
            bars = [Placement(job, k & 1, k, at_ms, at_ms + 60_000 + k, 3) for k in range(BARS)]
            plan = {"scope": "job", "keys": [job], "jobs": [[job, at_ms, at_ms + 60_009]], "bars": bars}
            made.append(Event(job + 1, at_ms, "plan_changed", plan))
        return made

    write_s = 0.0
    for first in range(0, ROWS // BARS, BATCH):
        batch = events(first)  # making them is the scheduler's time, not the log's
        began = time.perf_counter()
        event_log.append(run.pk, 0, batch)
        write_s += time.perf_counter() - began
    began = time.perf_counter()
    read = sum(len(event.data["bars"]) for some in event_log.after(run.pk, 0) for event in some)
    read_s = time.perf_counter() - began
    assert read == ROWS
    assert next(event_log.after(run.pk, 0)) == events(0)
    size = Path(settings.DATABASES["default"]["NAME"]).stat().st_size
    payloads = EventBatch.objects.values_list("payload", flat=True)
    bars_bytes = sum(map(bytes_of_bars, payloads.iterator(chunk_size=10)))
    print(orjson.dumps({"write_s": write_s, "read_s": read_s, "bytes": size, "bars_bytes": bars_bytes}).decode())


def bytes_of_bars(payload: bytes) -> int:
    """Bytes that the columns of bars take in a batch as it is stored and sent to browsers, with their descriptions."""
    _, columns = unpack(payload)
    bars = {name: column for name, column in columns.items() if name.startswith("bars_")}
    return len(pack(None, bars, compact=True)) - len(pack(None, {}))
