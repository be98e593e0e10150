"""The newest plan of each job, and what every ledger does with plans: all of one or nothing.

A ledger may check where a bar is (`_check_place`), and reserves and releases what bars need: amounts of resources
(slotted/ledger.py), or workers (typed_workers/ledger.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from scheduling.model.bars import CLOUD, NONE, Placement, Role
from scheduling.model.decision import WorkerPlan
from scheduling.model.values import Cluster, Job

_TRANSFER = int(Role.TRANSFER)
_INTEGERS = {int}


class Overbooked(ValueError):
    """Error: a plan breaks a rule of the cluster. The message names job, server, resource, time range and amounts."""


class Ledger(ABC):
    """Ledger of the simulation: it checks every plan, so no scheduler is trusted."""

    def __init__(self, cluster: Cluster, jobs: Sequence[Job]) -> None:
        self._cluster, self._jobs = cluster, jobs
        self._horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else None
        self._roles = [("worker" in s.roles, "ps" in s.roles) for s in cluster.servers]
        self._plans: dict[int, list[Placement]] = {}  # the newest plan of each job that is not over

    def replace(self, now_ms: int, plan: Mapping[int, list[Placement]]) -> list[Placement]:
        """Replacement of the plans of the jobs in `plan`; the bars that it takes from them.

        All of it or nothing: Overbooked leaves everything as it was.
        """
        dropped = [bar for job in plan for bar in self._plans.get(job, ()) if bar.end_ms > now_ms]
        for bar in dropped:
            self._give(now_ms, bar)
        taken: list[Placement] = []
        try:
            for job, bars in plan.items():
                for bar in bars:
                    self._check(now_ms, job, bar)
                    self._take(now_ms, bar)
                    taken.append(bar)
        except Overbooked:
            for bar in taken:
                self._give(now_ms, bar)
            for bar in dropped:
                self._take(now_ms, bar)
            raise
        self._plans.update(plan)
        return dropped

    def replace_workers(self, now_ms: int, plan: WorkerPlan) -> None:
        """Replacement of the plans of the workers in `plan`; Overbooked in models with plans of jobs only."""
        raise Overbooked("this execution model does not accept plans of workers, only of jobs")

    def forget(self, job: int) -> None:
        """Removal of a completed job and its bars."""
        self._plans.pop(job, None)

    def bars(self, now_ms: int) -> list[Placement]:
        """Bars that end after now, job by job: enough to rebuild the ledger."""
        return [bar for job in sorted(self._plans) for bar in self._plans[job] if bar.end_ms > now_ms]

    def rebuild(self, now_ms: int, bars: Iterable[Placement]) -> None:
        """Restoration of an empty ledger from the `bars` of a ledger at now_ms."""
        for bar in bars:
            self._take(now_ms, bar)
            self._plans.setdefault(bar.job, []).append(bar)

    @abstractmethod
    def _take(self, now_ms: int, bar: Placement) -> None:
        """Reservation of the bar's demand; Overbooked if it is not free."""

    @abstractmethod
    def _give(self, now_ms: int, bar: Placement) -> None:
        """The inverse, from now_ms on."""

    def _check(self, now_ms: int, job: int, bar: Placement) -> None:
        """Check of all rules except free capacity."""
        if {*map(type, bar)} != _INTEGERS:
            self._refuse(bar, "must be integers")
        owner, role, _, start_ms, end_ms, _, _, _, _ = bar
        if owner != job or not 0 <= job < len(self._jobs):
            self._refuse(bar, f"must name the job of its plan, {job} of {len(self._jobs):,}")
        if not 0 <= role <= _TRANSFER:
            self._refuse(bar, f"must have a role from 0 to {_TRANSFER}")
        if not now_ms <= start_ms < end_ms:
            self._refuse(bar, f"must start at or after now ({now_ms} ms) and end later")
        if self._horizon_ms is not None and end_ms > self._horizon_ms:
            self._refuse(bar, f"must end by the horizon ({self._horizon_ms} ms)")
        self._check_place(bar)

    def _check_place(self, bar: Placement) -> None:
        """Check of the server: one that accepts the role, the unlimited cloud, or intentionally none."""
        _, role, server, _, _, count, _, _, _ = bar
        if count < 1:
            self._refuse(bar, "must have a count >= 1")
        if server < 0:
            if server != NONE and not (server == CLOUD and self._cluster.unlimited_cloud):
                self._refuse(bar, "must be on a server of the cluster")
            return
        if server >= len(self._roles):
            self._refuse(bar, f"must be on one of the {len(self._roles):,} servers")
        if role != _TRANSFER and not self._roles[server][role]:
            taken = self._cluster.servers[server].roles
            self._refuse(bar, f"must be on a server that accepts its role; {self._name(bar)} accepts {taken}")

    def _name(self, bar: Placement) -> str:
        return self._cluster.servers[bar.server].name

    def _refuse(self, bar: Placement, rule: str) -> NoReturn:
        known = isinstance(bar.job, int) and 0 <= bar.job < len(self._jobs)
        job = self._jobs[bar.job].id if known else bar.job
        raise Overbooked(f"job {job}: bar {tuple(bar)} {rule}")
