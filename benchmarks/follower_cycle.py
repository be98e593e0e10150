"""A cycle of the follower by parts: a real slurmctld with 1,000 nodes and 5,000 waiting jobs, of which some are new.

Every cycle asks for the nodes as well; between two polls of the nodes, those parts are missing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._pixels import load_figure
from benchmarks._slurm import NODES, slurm
from benchmarks._stack import bus, environment

TITLE = "a cycle of the follower: 1,000 nodes, 5,000 waiting jobs, 5 new ones"
ALL_NODES, WAITING, FRESH, CYCLES = 1_000, 5_000, 5, 100
MAX_MS = 250  # of the calls, the reading of their answers and all that follows, to poll each second (polling.py)
PARTS = (
    ("squeue", "squeue"),
    ("scontrol", "scontrol show node"),
    ("sdiag", "sdiag"),
    ("read", "reading of the answers"),
    ("differ", "differ"),
    ("write", "transaction and frame"),
    ("whole", "whole cycle"),
    ("first", "first cycle: all jobs and nodes are new"),
)


def run() -> list[Figure]:
    """Figures measured in a process and a database of their own."""
    with (
        tempfile.TemporaryDirectory(prefix="twin-bench-") as name,
        slurm(Path(name) / "slurm", absent=ALL_NODES - NODES) as cluster,
        bus(Path(name)) as url,
    ):
        cluster.fill(WAITING)
        command = [sys.executable, "-c", "from benchmarks.follower_cycle import measure; measure()"]
        env = cluster.environment | environment(Path(name)) | {"PYTHONPATH": str(settings.BASE_DIR)}
        env |= {"LAYER_URL": url}
        with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdout.readline()
            for _ in range(CYCLES):
                cluster.submit(FRESH)
                process.stdin.write(b"\n")
                process.stdin.flush()
                process.stdout.readline()
            process.stdin.close()
            found = orjson.loads(process.stdout.read())
    figures = []
    for key, what in PARTS:
        p50 = float(np.median(found[key]))
        figures.append(Figure(f"{what}, p50", p50, "ms", MAX_MS if key == "whole" else None))
    whole = found["whole"]
    return [*figures, Figure(f"whole cycle, p99 of {len(whole)}", float(np.percentile(whole, 99)), "ms"), load_figure()]


def measure() -> None:
    """Cycles on demand: one after each line of the input; prints a line after each, and all times at the end."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from twin.connectors.base import build
    from twin.mirror import stored
    from twin.mirror.following import Following
    from twin.models import Connection

    connector = build("slurm", {})
    of = Connection.objects.create(name="bench", connector="slurm", parameters={})
    run, mirror = stored.begin(of, connector.snapshot())
    parts: dict[str, list[float]] = {key: [] for key, _ in PARTS}

    def timed(part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timing(*args: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*args)
            finally:
                parts[part][-1] += (time.perf_counter() - began) * 1_000

        return timing

    writer = timed("write", stored.Writer(run, mirror))
    following = Following(connector, mirror, writer, stopped=lambda seconds: False)
    mock.patch.object(type(mirror), "apply", timed("differ", type(mirror).apply)).start()
    for line in range(CYCLES + 1):
        if line and not sys.stdin.readline():
            break
        for times in parts.values():
            times.append(0.0)
        began = time.perf_counter()
        snapshot = connector.snapshot()
        read_ms = (time.perf_counter() - began) * 1_000
        following.apply(snapshot)
        parts["whole"][-1] = (time.perf_counter() - began) * 1_000
        for call, ms in snapshot.calls.items():
            parts[call][-1] = ms
        parts["read"][-1] = read_ms - sum(snapshot.calls.values())
        print(flush=True)
    parts = {key: times[1:] for key, times in parts.items()} | {"first": parts["whole"][:1]}
    print(orjson.dumps(parts).decode())
