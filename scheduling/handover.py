"""From one world to the next in the middle of a run: servers, jobs to come, or the scheduler are others from some moment on.

What goes on and what does not (docs/decisions/0009):

- The same scheduler on the same cluster goes on exactly as it was; only jobs that are still to come are others.
- The same scheduler on another cluster keeps each plan, in the order of arrival, that fits beside those kept before it, if its
  class `keeps`. A plan that does not fit ends now as a whole.
- All other jobs that are open are offered to the scheduler as if they arrived now, in the order of arrival, with the work that is left.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from scheduling.lane_ledger import LaneLedger
from scheduling.ledger import Ledger, Overbooked
from scheduling.model import Cluster, Job, ModelError, Placement
from scheduling.registry import BaseScheduler
from scheduling.training import remaining


class Phase(NamedTuple):
    """What holds from the end of the instant `at_ms` on. Jobs that have arrived by then, and servers, keep their numbers."""

    at_ms: int
    cluster: Cluster
    jobs: Sequence[Job]
    scheduler: BaseScheduler  # not started
    said: Sequence[str]  # what has changed, in sentences


def check_phases(phases: Sequence[Phase], cluster: Cluster, jobs: Sequence[Job]) -> None:
    """ModelError where one cannot follow the other."""
    horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else None
    ends = 0
    for phase in phases:
        at_ms, changed = phase.at_ms, phase.cluster
        if at_ms <= ends or (horizon_ms is not None and at_ms >= horizon_ms):
            raise ModelError(f"a change at {at_ms} ms must come after {ends} ms and before the horizon ({horizon_ms} ms)")
        if (changed.slot_ms, changed.horizon_slots) != (cluster.slot_ms, cluster.horizon_slots):
            raise ModelError(f"a change at {at_ms} ms must leave slot_ms and horizon_slots as they are")
        names = [server.name for server in cluster.servers]
        if [server.name for server in changed.servers[: len(names)]] != names:
            raise ModelError(f"a change at {at_ms} ms must leave the servers their numbers; new ones come behind them")
        if [j.id for j in phase.jobs if j.arrival_ms <= at_ms] != [j.id for j in jobs if j.arrival_ms <= at_ms]:
            raise ModelError(f"a change at {at_ms} ms must leave the jobs that have arrived where they are")
        ends, cluster, jobs = at_ms, changed, phase.jobs


def goes_on(cluster: Cluster, scheduler: BaseScheduler, phase: Phase) -> bool:
    """Whether nothing but jobs to come changes, so that the scheduler's own state holds in the new world."""
    if cluster != phase.cluster or not same_scheduler(scheduler, phase.scheduler):
        return False
    return cluster.horizon_slots is not None or not scheduler.horizon  # a horizon of its own may move with the jobs


def same_scheduler(one: BaseScheduler, other: BaseScheduler) -> bool:
    """Whether they decide by the same rules."""
    return type(one) is type(other) and one.parameters == other.parameters


class Carried(NamedTuple):
    """What becomes of the open jobs."""

    kept: dict[int, list[Placement]]  # go on, with these bars from now on; the ledger holds them
    displaced: list[int]  # had a plan, which ends now
    offered: list[int]  # offered anew, the displaced among them, in order of arrival
    shares: list[tuple[int, float]]  # of those of them that are partly done: what is left of the record


def carry(
    now_ms: int, open_jobs: Iterable[int], finishes: Container[int], bars: Iterable[Placement], before: BaseScheduler, phase: Phase,
    ledger: Ledger | LaneLedger,
) -> Carried:  # fmt: skip
    """Tries the plans in the new world's empty ledger. finishes: jobs whose end is planned; bars: all that end after now."""
    plans: dict[int, list[Placement]] = {}
    for bar in bars:
        plans.setdefault(bar.job, []).append(bar)
    keeps = before.keeps and same_scheduler(before, phase.scheduler)
    carried = Carried({}, [], [], [])
    for job in sorted(open_jobs):
        plan = [bar if bar.start_ms >= now_ms else bar._replace(start_ms=now_ms) for bar in plans.get(job, ())]
        if plan and keeps and _fits(ledger, now_ms, job, plan):
            carried.kept[job] = plan
            continue
        share = before.work_left(now_ms, job, plan)
        if share < 1:
            carried.shares.append((job, share))
        if plan or job in finishes:
            carried.displaced.append(job)
        carried.offered.append(job)
    return carried


def with_shares(jobs: Sequence[Job], shares: Iterable[tuple[int, float]]) -> list[Job]:
    """The records with what is left of some; a share is of what the one before it left."""
    rows = list(jobs)
    for job, share in shares:
        rows[job] = remaining(rows[job], share)
    return rows


def _fits(ledger: Ledger | LaneLedger, now_ms: int, job: int, plan: list[Placement]) -> bool:
    try:
        ledger.replace(now_ms, {job: plan})
    except Overbooked:
        return False
    return True
