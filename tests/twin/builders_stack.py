"""A run on a stack of processes, and what its log must be whatever happened to them."""

from __future__ import annotations

from functools import cache

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from scheduling.workloads import generate
from tests.twin.runtime.stack import Stack, wait_until
from twin.eventlog.event_log import event_line

WORKLOAD = {"variant": "calibrated", "num_jobs": 3_000, "num_servers": 100, "seed": 11}


START = f"""
from scheduling.workloads import generate
from twin.models import Scenario
from twin.runs import commands
from twin.scenarios.store import store_generated
cluster, jobs = generate("oasis", **{WORKLOAD!r})
spec, trace = store_generated("faults", cluster, jobs, 11)
scenario = Scenario.objects.create(name="faults", cluster=spec, trace=trace, scheduler="oasis", seed=11)
print(commands.start_run(scenario).pk)
"""


CANONICAL = """
import sys
from twin.eventlog import event_log
sys.stdout.flush()
for line in event_log.canonical({run}):
    sys.stdout.buffer.write(line)
"""


def row(stack: Stack, run: int) -> dict[str, object]:
    names = ("status", "wanted", "message", "last_seq", "lease_owner")
    return dict(zip(names, stack.sql(f"select {', '.join(names)} from twin_run where id = ?", run)[0], strict=True))


@cache
def undisturbed() -> str:
    """The log that the run of START has when nothing happens to its processes."""
    cluster, jobs = generate("oasis", **WORKLOAD)
    return b"".join(map(event_line, simulate(cluster, jobs, build("oasis"), WORKLOAD["seed"]))).decode()


def completes(stack: Stack, run: int) -> None:
    wait_until(lambda: row(stack, run)["status"] in ("finished", "failed", "paused"), "the run ends")
    assert (row(stack, run)["status"], row(stack, run)["message"]) == ("finished", "")
    assert stack.manage(CANONICAL.format(run=run)) == undisturbed()
