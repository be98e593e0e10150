"""A cluster in memory that an actuator changes, a plan for it, and an acting process that dies where a test wants."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace

from django.utils import timezone

from twin.acting import rules
from twin.acting.actor import Actor
from twin.acting.plan import Allowed, Wanted, plan
from twin.acting.planning_task import rows
from twin.actuators.base import Actuator
from twin.actuators.facts import NICE, ActuatorError, Change, WaitingJob
from twin.models import ActingRule, Connection, Proposal

S = 1_000


class Killed(BaseException):
    """The end of a process by kill -9."""


class MemoryCluster(Actuator):
    """Waiting jobs in memory. begin times that are over are none, as on a real cluster."""

    name, title = "memory", "Memory"

    def __init__(self, *jobs: WaitingJob) -> None:
        super().__init__()
        self.jobs = {job.key: job for job in jobs}
        self.calls: list[Change] = []
        self.refuses = ""
        self.ignores = False  # takes the change, and does nothing

    def account(self) -> str:
        return "tester"

    def waiting(self, keys: Sequence[str] | None = None) -> dict[str, WaitingJob]:
        now_ms = time.time_ns() // 1_000_000
        for key, job in self.jobs.items():
            if job.not_before_ms is not None and job.not_before_ms <= now_ms:
                self.jobs[key] = replace(job, not_before_ms=None)
        return {key: job for key, job in self.jobs.items() if keys is None or key in keys}

    def apply(self, change: Change) -> None:
        if self.refuses:
            raise ActuatorError(self.refuses)
        self.calls.append(change)
        job = self.jobs[change.key]
        if self.ignores:
            return
        if change.field == NICE:
            job = replace(job, priority=job.priority + job.nice - change.after)
        self.jobs[change.key] = replace(job, **{change.field: change.after})

    @staticmethod
    def command(change: Change) -> str:
        return f"set {change.key} {change.field}={change.after}"


def connection(level: int = rules.PLACE) -> Connection:
    made = Connection.objects.create(name="lab", connector="slurm", health={"last_look_at": time.time() + 1_000})
    rules.change(made, {"level": level, "calibrated": False})
    return made


def approved(made: Connection, cluster: MemoryCluster, kind: str, wanted: Sequence[Wanted]) -> Proposal:
    """A plan for the cluster as it is now, approved."""
    now_ms = time.time_ns() // 1_000_000
    rule = rules.of(made)
    found = plan(kind, cluster.waiting(), wanted, Allowed(rule.queues, rule.accounts, rule.max_jobs), now_ms)
    content = {
        "rows": rows(found, cluster.waiting(), list(wanted), cluster, {}),
        "order": list(found.order), "goal": list(found.goal),
        "left_out": [list(pair) for pair in found.left_out], "left_out_count": len(found.left_out),
    }  # fmt: skip
    return Proposal.objects.create(
        connection=made, scheduler="fifo", kind=kind, status=Proposal.APPROVED, plan=content, digest="d",
        planned_at=timezone.now(), approved_at=timezone.now(),
    )  # fmt: skip


class NeverWaits(threading.Event):
    """A stop event that is not set: waiting for it takes no time."""

    def wait(self, timeout: float | None = None) -> bool:
        return False


def actor(made: Connection, cluster: MemoryCluster) -> Actor:
    """A new acting process; one before it is gone."""
    ActingRule.objects.filter(connection=made).update(lease_until=None)
    return Actor(made, cluster, NeverWaits())
