"""Faults of every kind in a seeded order while a twin works: afterwards all is as if nothing had happened.

CHAOS_FAULTS sets the number of faults for each database, and CHAOS_SEED repeats a plan.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.twin.chaos import checks
from tests.twin.chaos.client import Client
from tests.twin.chaos.cluster import PostingCluster
from tests.twin.chaos.faults import Faults, hold, logs_of
from tests.twin.chaos.load import Load
from tests.twin.chaos.plan import Fault, planned
from tests.twin.chaos.services import Clock, Postgres, program_of, small_disk
from tests.twin.runtime.stack import Stack, wait_until

pytestmark = pytest.mark.slow
FAULTS = int(os.environ.get("CHAOS_FAULTS", "12"))
SEED = int(os.environ.get("CHAOS_SEED", "18"))
HUNG_S, LOCK_WAIT_S = 8.0, 1.0
CALM_S = 180.0  # after a fault: all processes back and well
END_S = 600.0  # after the last one: all work done
TOKEN = """
from dashboard.auth import tokens
from dashboard.auth.login_links import account
print(tokens.create("chaos", ["operate", "ingest:lab"], None, account("operator"))[1])
"""


@pytest.mark.parametrize("database", ["SQLite", "PostgreSQL"])
def test_after_all_faults_everything_is_as_if_nothing_had_happened(database, capsys):
    with ExitStack() as ending, capsys.disabled():
        folder = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="twin-chaos-")))
        faults = _twin(database, folder, ending)
        steps = planned(SEED, FAULTS, faults.possible())
        print(f"\n{database}, CHAOS_SEED={SEED} CHAOS_FAULTS={FAULTS}: {Counter(map(_kind, _flat(steps)))}")
        for (kind, target), why in faults.missing().items():
            print(f"not made here: {kind} {target}: {why}")
        _disturb(faults, steps, folder)


def _twin(database: str, folder: Path, ending: ExitStack) -> Faults:
    """A twin on a disk of its own."""
    postgres = None
    if database == "PostgreSQL":
        if program_of("initdb") is None:
            pytest.skip("PostgreSQL is not installed: no initdb")
        folder.chmod(0o755)
        (folder / "postgres").mkdir()
        postgres = Postgres(folder / "postgres")
        ending.callback(postgres.crash)
    home = folder / "twin"
    home.mkdir()
    disk = ending.enter_context(small_disk(home, 160 + FAULTS))
    compiler = shutil.which("cc") or shutil.which("gcc")
    clock = Clock(folder, compiler) if compiler else None
    env = {"HUNG_S": str(HUNG_S), "DATABASE_LOCK_WAIT_S": str(LOCK_WAIT_S), **(clock.env if clock else {})}
    env["SHADOWS_EVERY_S"] = "0"  # runs that the twin would begin by itself at the end
    if postgres is not None:
        env["DATABASE_URL"] = postgres.url
    stack = Stack(home, **env).up()
    ending.callback(stack.down)
    return Faults(stack, disk, clock, postgres)


def _disturb(faults: Faults, steps: list[tuple[Fault, ...]], folder: Path) -> None:
    stack = faults.stack
    client = Client(stack.url, stack.manage(TOKEN).strip())
    load, cluster = Load(stack, client, SEED), PostingCluster(Client(stack.url, client.token), SEED)
    cluster.begin()
    client.post("/api/connections/", {"name": "lab", "connector": "push", "parameters": {"source": "lab"}})
    began = time.monotonic()
    for number, step in enumerate(steps, start=1):
        load.top_up()
        print(
            f"{time.monotonic() - began:6.0f} s  step {number} of {len(steps)}: {', '.join(map(str, step))}", flush=True
        )
        with ExitStack() as happening:
            for fault in step:
                happening.enter_context(faults.happens(fault))
                hold(fault.seconds / len(step))
        wait_until(stack.healthy, f"the twin is well after step {number}: {', '.join(map(str, step))}", CALM_S)
    disturbed_s = time.monotonic() - began
    wait_until(lambda: load.open() == 0, "all runs and imports are over", END_S)
    cluster.end()
    ended = sum(job.ended_ms > 0 for job in cluster.jobs.values())
    wait_until(lambda: _completed(stack) >= ended, "the follower has seen the end of every job", END_S)
    runs = checks.check_runs(stack)
    imports = checks.check_imports(stack, load, folder)
    followed = checks.check_followed(stack, cluster)
    repeated = client.repeated + cluster.client.repeated
    print(
        f"{FAULTS} faults in {disturbed_s:.0f} s: {len(runs)} of {len(runs)} runs finished, their logs and metrics as "
        f"undisturbed ({sum(row['fork'] for row in runs)} forks, {sum(row['mode'] == 'live' for row in runs)} live, "
        f"{load.asked['sweep']} sweeps); {len(imports)} of {len(imports)} imports complete; {len(followed)} jobs of "
        f"the live cluster from {cluster.posted} events, each once; {repeated} requests repeated; "
        f"{logs_of(stack.folder).count('Traceback')} tracebacks in the logs"
    )


def _completed(stack: Stack) -> int:
    return int(stack.manage(checks.COMPLETED))


def _kind(fault: Fault) -> str:
    return fault.kind


def _flat(steps: list[tuple[Fault, ...]]) -> list[Fault]:
    return [fault for step in steps for fault in step]
