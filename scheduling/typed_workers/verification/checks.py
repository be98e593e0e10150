"""Checks of bars: where they may be, and one at a time on each worker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from scheduling.typed_workers.verification.work import PARTS
from scheduling.typed_workers.verification.worker_types import declares_types, lane_types
from scheduling.verification.replay import CLOUD, Outcome
from scheduling.verification.rules import PS, WORKER, Row

TOLERANCE_MS = 2  # of one chunk: durations are rounded up
SHOWN = 20  # problems of one kind


class Checks:
    """Bars of a run and the problems found. A bar: job, role, server, start_ms, end_ms, count, lane, chunk, group."""

    def __init__(
        self, cluster: Row, jobs: Sequence[Row], outcome: Outcome, execution: Row, parameters: Row, problems: list[str]
    ) -> None:
        self.cluster, self.jobs, self.outcome, self.problems = cluster, jobs, outcome, problems
        self.in_chunks, self.may_use_cloud, self.fixed = (execution[flag] for flag in ("chunks", "cloud", "fixed"))
        self.storage = parameters.get("storage", "none")
        self.speed = 1.0 + (parameters.get("speed_augmentation") or 0.0)
        self.types = [lane_types(cluster, role) for role in (WORKER, PS)]  # [role][server][lane]
        self.untyped = not declares_types(cluster)
        self.counts: dict[str, int] = defaultdict(int)

    def problem(self, code: str, job: int | None, text: str) -> None:
        """Addition of a problem. code: of the constraint that is violated."""
        self.counts[code] += 1
        if self.counts[code] <= SHOWN:
            self.problems.append(f"{code}: {text}" if job is None else f"{code}: job {self.jobs[job]['id']}: {text}")

    def has_parts(self, job: int) -> bool:
        """True if the fields that determine the job's work are known."""
        missing = [part for part in PARTS if self.jobs[job].get(part) is None]
        if missing:
            self.problem("2k", job, f"runs without {', '.join(missing)}, so its work is unknown")
        return not missing

    def placed(self, bar: Sequence[int]) -> bool:
        """True if the bar is on a lane that may take it."""
        job, role, server, start_ms, end_ms, count, lane, chunk, _ = bar
        if server == CLOUD:
            if not (self.may_use_cloud and self.cluster["cloud"]):
                self.problem("2a", job, f"uses the cloud at {start_ms} ms, which this scheduler may not use")
            return True
        types = self.types[int(role == PS)]
        if server < 0 or not 0 <= lane < len(types[server]) or count != 1:
            self.problem(
                "2k",
                job,
                f"a bar at {start_ms} ms must be on one worker of a server, got server {server}, worker {lane}, "
                f"count {count}",
            )
            return False
        if role != PS and not self.untyped and types[server][lane] != self.jobs[job].get("worker_type"):
            self.problem(
                "2a",
                job,
                f"runs at {start_ms} ms on a worker of type {types[server][lane]}, not "
                f"{self.jobs[job].get('worker_type')}",
            )
        if self.in_chunks != (chunk >= 0) and role != PS:
            self.problem("2k", job, f"a bar at {start_ms} ms must {'name' if self.in_chunks else 'not name'} a chunk")
        if role == PS and not self.in_chunks:
            self.problem("2k", job, f"holds a parameter server at {start_ms} ms, which gangs do not have")
        for begin, back in self.cluster["servers"][server]["away"]:
            if start_ms < back and end_ms > begin:
                self.problem(
                    "2a", job, f"is at {max(start_ms, begin)} ms on server {self.name_of(server)}, which is unavailable"
                )
        return True

    def name_of(self, server: int) -> str:
        """Name of a server or of the cloud."""
        return "cloud" if server == CLOUD else str(self.cluster["servers"][server]["name"])

    def check_exclusive(self, role: int, server: int, lane: int, bars: list[list[int]]) -> None:
        """Check that the bars of a worker do not overlap."""
        bars.sort(key=lambda bar: bar[3])
        reached, holder = -1, -1
        for bar in bars:
            if bar[3] < reached:
                what, code = ("parameter server", "2f") if role == PS else ("worker", "2d")
                other = self.jobs[holder]["id"]
                self.problem(
                    code,
                    bar[0],
                    f"takes {what} {lane} of server {self.name_of(server)} at {bar[3]} ms, which job {other} holds",
                )
            if bar[4] > reached:
                reached, holder = bar[4], bar[0]

    def arrival_ms(self, job: int, server: int) -> int:
        """Earliest time of a chunk on the server."""
        row = self.jobs[job]
        delay = (
            row.get("cloud_upload_ms") if server == CLOUD else (row["upload_ms"][server] if row.get("upload_ms") else 0)
        )
        return int(row["arrival_ms"] + (delay or 0))
