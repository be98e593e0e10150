"""Memory of a follower at the end of a day of a large cluster, which passes in minutes.

The real process, connector, differ, log and database; only the answers of Slurm's commands are generated, by this
process, and its clock is theirs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
from django.conf import settings

from benchmarks import Figure, Skip
from benchmarks._busy_slurm import BusySlurm
from benchmarks._memory import PEAK, PRESENT, resident_mb
from benchmarks._stack import bus, environment

TITLE = "memory of a follower: a day of 1,000 nodes, 5,000 waiting and 50,000 ended jobs"
NODES, WAITING, ENDED, RUN_S = 1_000, 5_000, 50_000, 1_800
DAY_S, STEP_S = 86_400, 60
NODES_EACH = 4  # every n-th poll asks for the nodes
MAX_MB = 150.0


def run() -> list[Figure]:
    """The follower is started, fed, and measured from outside."""
    if sys.platform != "linux":
        raise Skip("the memory of a process is read from /proc, which only Linux has")
    cluster = BusySlurm(int(time.time()), NODES, WAITING, ENDED, RUN_S)
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as name, bus(Path(name)) as url:
        env = environment(Path(name)) | {"PYTHONPATH": str(settings.BASE_DIR), "LAYER_URL": url}
        subprocess.run([sys.executable, str(settings.BASE_DIR / "manage.py"), "migrate", "-v0"], env=env, check=True)
        command = [sys.executable, "-c", "from benchmarks.follower_memory import follow; follow()"]
        with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            after_first, seconds = _feed(process, cluster)
            now, peak = resident_mb(PRESENT, process.pid), resident_mb(PEAK, process.pid)
            process.kill()
    return [
        Figure(f"resident at the end, {cluster.finished:,} jobs have ended", now, "MB", MAX_MB),
        Figure("resident at its highest", peak, "MB"),
        Figure("resident after the first poll", after_first, "MB"),
        Figure("poll of all jobs and nodes, with its processing, mean", seconds * 1_000 / (DAY_S / STEP_S), "ms"),
    ]


def _feed(process: subprocess.Popen[bytes], cluster: BusySlurm) -> tuple[float, float]:
    """Answers to the follower until the day is over: (MB after the first poll, seconds that the day took)."""
    assert process.stdin is not None
    assert process.stdout is not None
    until_s, polls, after_first, began = cluster.now_s + DAY_S, 0, 0.0, time.monotonic()
    while cluster.now_s < until_s:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the follower ended with exit code {process.wait()}")
        argv = orjson.loads(line)
        if argv[0] == "squeue":
            cluster.advance(STEP_S)
            polls += 1
            if polls == 3:
                after_first, began = resident_mb(PRESENT, process.pid), time.monotonic()
        body = cluster.answer(*argv).encode()
        process.stdin.write(b"%d %d\n" % (cluster.now_s, len(body)) + body)
        process.stdin.flush()
    return after_first, time.monotonic() - began


def follow() -> None:
    """The follower with commands that are asked for over its standard output and answered over its input."""
    import django

    django.setup()
    from django.core.management import call_command

    from twin.connectors import slurm
    from twin.infra import memory
    from twin.models import Connection

    now_ms = int(time.time() * 1_000)

    class Answered:
        """Replacement of Slurm's commands: a line out, a text back, with the cluster's time."""

        def __init__(self, *parameters: Any) -> None:
            self.spent_ms = dict.fromkeys(("squeue", "scontrol", "sdiag", "sacct", "id"), 0)

        def run(self, *argv: str) -> str:
            nonlocal now_ms
            sys.stdout.buffer.write(orjson.dumps(argv) + b"\n")
            sys.stdout.buffer.flush()
            now_s, size = map(int, sys.stdin.buffer.readline().split())
            now_ms = now_s * 1_000
            return sys.stdin.buffer.read(size).decode()

    def changes(connector: slurm.SlurmConnector) -> Any:
        poll = 0
        while True:
            poll += 1
            yield connector.snapshot(nodes=poll % NODES_EACH == 0)

    Connection.objects.create(name="bench", connector="slurm", parameters={})
    with (
        patch.object(memory, "EVERY_S", 0.0),  # a minute passes with each poll
        patch.multiple(slurm, Commands=Answered, _now_ms=lambda: now_ms),
        patch.object(slurm.SlurmConnector, "changes", changes),
    ):
        call_command("follower")
