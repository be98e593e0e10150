"""The newest plan of each job, and what every ledger does with plans: all of one or nothing.

A ledger says what else a bar must obey (`_check_place`), and holds and gives back what bars need: amounts of resources (ledger.py),
or lanes (lane_ledger.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from scheduling.model import Cluster, Job, Placement, Role

_TRANSFER = int(Role.TRANSFER)
_INTEGERS = {int}


class Overbooked(ValueError):
    """A plan breaks a rule of the cluster; the message names job, server, resource, time range and amounts."""


class JobPlans(ABC):
    """It belongs to the simulation: every plan passes it, so no scheduler is trusted."""

    def __init__(self, cluster: Cluster, jobs: Sequence[Job]) -> None:
        self._cluster, self._jobs = cluster, jobs
        self._horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else None
        self._plans: dict[int, list[Placement]] = {}  # the newest plan of each job that is not over

    def replace(self, now_ms: int, plan: Mapping[int, list[Placement]]) -> list[Placement]:
        """Makes `plan` the future of the jobs it names and returns the bars that it takes from them.

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

    def forget(self, job: int) -> None:
        """The job is over and so are its bars."""
        self._plans.pop(job, None)

    def bars(self, now_ms: int) -> list[Placement]:
        """All bars that end after now, job by job: enough to rebuild the ledger."""
        return [bar for job in sorted(self._plans) for bar in self._plans[job] if bar.end_ms > now_ms]

    def rebuild(self, now_ms: int, bars: Iterable[Placement]) -> None:
        """In an empty ledger: hold the `bars` of a ledger at now_ms."""
        for bar in bars:
            self._take(now_ms, bar)
            self._plans.setdefault(bar.job, []).append(bar)

    @abstractmethod
    def _check_place(self, bar: Placement) -> None:
        """Refuses a bar by every rule but that of what is free."""

    @abstractmethod
    def _take(self, now_ms: int, bar: Placement) -> None:
        """Holds what the bar needs; Overbooked when it is not free."""

    @abstractmethod
    def _give(self, now_ms: int, bar: Placement) -> None:
        """The inverse, from now_ms on."""

    def _check(self, now_ms: int, job: int, bar: Placement) -> None:
        if {*map(type, bar)} != _INTEGERS:
            self._refuse(bar, "must be integers")
        if bar.job != job or not 0 <= job < len(self._jobs):
            self._refuse(bar, f"must name the job in whose plan it stands, {job} of {len(self._jobs)}")
        if not 0 <= bar.role <= _TRANSFER:
            self._refuse(bar, f"must have a role from 0 to {_TRANSFER}")
        if not now_ms <= bar.start_ms < bar.end_ms:
            self._refuse(bar, f"must start at or after now ({now_ms} ms) and end later")
        if self._horizon_ms is not None and bar.end_ms > self._horizon_ms:
            self._refuse(bar, f"must end by the horizon ({self._horizon_ms} ms)")
        self._check_place(bar)

    def _refuse(self, bar: Placement, rule: str) -> NoReturn:
        known = isinstance(bar.job, int) and 0 <= bar.job < len(self._jobs)
        job = self._jobs[bar.job].id if known else bar.job
        raise Overbooked(f"job {job}: bar {tuple(bar)} {rule}")
