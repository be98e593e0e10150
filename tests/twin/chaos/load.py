"""The work of a twin while faults happen: runs, live runs, forks, sweeps and imports, asked for as users do."""

from __future__ import annotations

import json
import random

from tests.twin.chaos.client import Client
from tests.twin.runtime.stack import Stack, wait_until

AT_ONCE = 3  # pieces of work that are not done yet
KINDS = ("run", "fork", "sweep", "import", "live")
JOBS_OF_A_FILE = 6_000
OPEN = (
    "select count(*) from twin_run where mode <> 'mirror' and status in ('queued', 'running', 'paused')",
    "select count(*) from twin_trace where status in ('queued', 'parsing')",
)

# scenarios of several execution models, each of a second or less; the last one is for forks and sweeps
PREPARE = """
import json
from scheduling.workloads import generate
from twin.models import Scenario
from twin.runs import commands
from twin.scenarios.store import store_generated
made = []
for profile, jobs, servers, scheduler in (
    ("oasis", 500, 60, "oasis"), ("pd-ors", 150, 40, "pd_ors"), ("a-online", 150, 20, "a_online"),
    ("harmony", 60, 60, "harmony"), ("oasis", 600, 40, "fifo"),
):
    spec, trace = store_generated(scheduler, *generate(profile, num_jobs=jobs, num_servers=servers, seed=5), 5)
    made.append(Scenario.objects.create(name=scheduler, cluster=spec, trace=trace, scheduler=scheduler, seed=5).pk)
print(json.dumps(made))
"""


class Load:
    """Work that is asked for in turn, a new piece as long as fewer than AT_ONCE are open."""

    def __init__(self, stack: Stack, client: Client, seed: int) -> None:
        self.stack = stack
        self.client, self.chance = client, random.Random(seed)
        self.scenarios: list[int] = json.loads(stack.manage(PREPARE))
        self.asked: dict[str, int] = dict.fromkeys(KINDS, 0)
        self.parents: list[int] = []  # runs that can be forked
        self.files: dict[int, bytes] = {}  # what was uploaded, by trace

    def top_up(self) -> None:
        while self.open() < AT_ONCE:
            kind = KINDS[sum(self.asked.values()) % len(KINDS)]
            getattr(self, f"_{'import_' if kind == 'import' else kind}")()
            self.asked[kind] += 1

    def open(self) -> int:
        """Number of runs and imports that are not over."""
        return sum(self.stack.sql(statement)[0][0] for statement in OPEN)

    def _run(self) -> None:
        made = self.client.post("/api/runs/", {"scenario": self.chance.choice(self.scenarios)})
        self.parents.append(made["id"])

    def _live(self) -> None:
        """A run against the clock: 600 simulated seconds a second, so that it lasts for some seconds."""
        speed = self.chance.choice((20_000.0, 40_000.0))
        self.client.post("/api/runs/", {"scenario": self.scenarios[-1], "mode": "live", "speed": speed})

    def _fork(self) -> None:
        parent = self.client.post("/api/runs/", {"scenario": self.scenarios[-1]})
        at_ms = self.chance.choice((600_000, 3_600_000, 36_000_000))
        begun = "select count(*) from twin_run where id = ? and last_seq > 0 and sim_ms >= ?"
        wait_until(lambda: self.stack.sql(begun, parent["id"], at_ms) == [(1,)], "the parent has reached the fork", 180)
        edit = {"verb": "scale_arrivals", "factor": self.chance.choice((0.5, 2, 3)), "at_ms": at_ms}
        self.client.post(f"/api/runs/{parent['id']}/forks/", {"at_ms": at_ms, "edits": [edit], "start": True})

    def _sweep(self) -> None:
        axes = [{"parameter": "backfill", "values": [True, False]}]
        self.client.post("/api/sweeps/", {"scenario": self.scenarios[-1], "axes": axes, "seeds": [1, 2]})

    def _import_(self) -> None:
        number = self.asked["import"]
        content = accounting(JOBS_OF_A_FILE, number)
        made = self.client.upload("/api/traces/", f"jobs-{number}.txt", content, seed=number, name=f"upload {number}")
        self.files[made["id"]] = content


def accounting(jobs: int, seed: int) -> bytes:
    """A file as sacct prints it."""
    chance = random.Random(seed)
    lines = ["JobID|JobName|Partition|User|State|Submit|Start|End|Elapsed|AllocTRES|NCPUS|NNodes|ReqMem"]
    for number in range(jobs):
        minutes, gpus = number // 60, chance.choice((1, 2, 4, 8))
        day, hour, minute = 1 + minutes // 1_440, minutes // 60 % 24, minutes % 60
        submit = f"2026-03-{day:02}T{hour:02}:{minute:02}:{number % 60:02}"
        end = f"2026-04-{day:02}T{chance.randrange(24):02}:00:00"
        lines.append(
            f"{number + 1}|train|gpu|u{chance.randrange(40)}|COMPLETED|{submit}|{submit}|{end}|01:00:00|"
            f"billing=8,cpu=8,gres/gpu={gpus},mem=32G,node=1|8|1|32G"
        )
    return "\n".join(lines).encode() + b"\n"
