"""Checks of bars: where they may be, and one at a time on each worker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from scheduling.model.bars import END, JOB, START
from scheduling.typed_workers.verification.work import PARTS
from scheduling.typed_workers.verification.worker_types import declares_types, slot_types
from scheduling.verification.replay import CLOUD, Outcome
from scheduling.verification.rules import PS, WORKER, Row

TOLERANCE_MS = 2  # of one chunk: durations are rounded up
MAX_SHOWN = 20  # problems of one kind


class Checks:
    """Bars of a run and the problems found. A bar: job, role, server, start_ms, end_ms, count, worker, chunk, group."""

    def __init__(
        self, cluster: Row, jobs: Sequence[Row], outcome: Outcome, execution: Row, parameters: Row, problems: list[str]
    ) -> None:
        self.cluster, self.jobs, self.outcome, self.problems = cluster, jobs, outcome, problems
        self.in_chunks, self.may_use_cloud, self.fixed = (execution[flag] for flag in ("chunks", "cloud", "fixed"))
        self.storage = parameters.get("storage", "none")
        self.speed = 1.0 + (parameters.get("speed_augmentation") or 0.0)
        self.types = [slot_types(cluster, role) for role in (WORKER, PS)]  # [role][server][worker]
        self.untyped = not declares_types(cluster)
        self.counts: dict[str, int] = defaultdict(int)

    def problem(self, rule: str, job: int | None, text: str) -> None:
        """Addition of a problem. rule: name of the rule that is violated."""
        self.counts[rule] += 1
        if self.counts[rule] <= MAX_SHOWN:
            self.problems.append(f"{rule}: {text}" if job is None else f"{rule}: job {self.jobs[job]['id']}: {text}")

    def has_parts(self, job: int) -> bool:
        """True if the fields that determine the job's work are known."""
        missing = [part for part in PARTS if self.jobs[job].get(part) is None]
        if missing:
            self.problem("form of bars", job, f"runs without {', '.join(missing)}, so its work is unknown")
        return not missing

    def placed(self, bar: Sequence[int]) -> bool:
        """True if the bar is on a worker that may take it."""
        job, role, server, start_ms, end_ms, count, worker_slot, chunk, _ = bar
        if server == CLOUD:
            if not (self.may_use_cloud and self.cluster["cloud"]):
                self.problem(
                    "allowed worker", job, f"uses the cloud at {start_ms} ms, which this scheduler may not use"
                )
            return True
        types = self.types[int(role == PS)]
        if server < 0 or not 0 <= worker_slot < len(types[server]) or count != 1:
            self.problem(
                "form of bars",
                job,
                f"a bar at {start_ms} ms must be on one worker of a server, got server {server}, worker {worker_slot}, "
                f"count {count}",
            )
            return False
        if role != PS and not self.untyped and types[server][worker_slot] != self.jobs[job].get("worker_type"):
            self.problem(
                "allowed worker",
                job,
                f"runs at {start_ms} ms on a worker of type {types[server][worker_slot]}, not "
                f"{self.jobs[job].get('worker_type')}",
            )
        if self.in_chunks != (chunk >= 0) and role != PS:
            self.problem(
                "form of bars", job, f"a bar at {start_ms} ms must {'name' if self.in_chunks else 'not name'} a chunk"
            )
        if role == PS and not self.in_chunks:
            self.problem("form of bars", job, f"holds a parameter server at {start_ms} ms, which gangs do not have")
        for begin, back in self.cluster["servers"][server]["away"]:
            if start_ms < back and end_ms > begin:
                self.problem(
                    "allowed worker",
                    job,
                    f"is at {max(start_ms, begin)} ms on server {self.name_of(server)}, which is unavailable",
                )
        return True

    def name_of(self, server: int) -> str:
        """Name of a server or of the cloud."""
        return "cloud" if server == CLOUD else str(self.cluster["servers"][server]["name"])

    def check_exclusive(self, role: int, server: int, worker_slot: int, bars: list[list[int]]) -> None:
        """Check that the bars of a worker do not overlap."""
        bars.sort(key=lambda bar: bar[START])
        reached, holder = -1, -1
        for bar in bars:
            if bar[START] < reached:
                what, rule = (
                    ("parameter server", "exclusive parameter server") if role == PS else ("worker", "exclusive worker")
                )
                other = self.jobs[holder]["id"]
                self.problem(
                    rule,
                    bar[JOB],
                    f"takes {what} {worker_slot} of server {self.name_of(server)} at {bar[START]} ms, which job "
                    f"{other} holds",
                )
            if bar[END] > reached:
                reached, holder = bar[END], bar[JOB]

    def arrival_ms(self, job: int, server: int) -> int:
        """Earliest time of a chunk on the server."""
        row = self.jobs[job]
        delay = (
            row.get("cloud_upload_ms") if server == CLOUD else (row["upload_ms"][server] if row.get("upload_ms") else 0)
        )
        return int(row["arrival_ms"] + (delay or 0))
