"""Phases: changes of servers, future jobs or the scheduler in the middle of a run.

What continues and what does not (docs/decisions/0009):

- The same scheduler on the same cluster continues exactly as it was; only future jobs differ.
- The same scheduler on another cluster keeps each plan, in the order of arrival, that fits beside those kept before
  it, if its class `keeps_plans`. A plan that does not fit ends now as a whole.
- All other open jobs are resubmitted to the scheduler as if they arrived now, in the order of arrival, with their
  remaining work.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from scheduling.kernel.ledger import Ledger, Overbooked
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement
from scheduling.model.training_models import remaining
from scheduling.model.values import Cluster, Job, ModelError


class Phase(NamedTuple):
    """Cluster, jobs and scheduler from the end of the instant `at_ms` on. Arrived jobs and servers keep indices."""

    at_ms: int
    cluster: Cluster
    jobs: Sequence[Job]
    scheduler: BaseScheduler  # not started
    sentences: Sequence[str]  # what has changed; `said` in the event of the log


def check_phases(phases: Sequence[Phase], cluster: Cluster, jobs: Sequence[Job], after_ms: int = 0) -> None:
    """Check of the order of phases: ModelError where one cannot follow another.

    The first one begins after `after_ms`.
    """
    horizon_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else None
    ends = after_ms
    for phase in phases:
        at_ms, changed = phase.at_ms, phase.cluster
        if at_ms <= ends or (horizon_ms is not None and at_ms >= horizon_ms):
            raise ModelError(
                f"a change at {at_ms} ms must come after {ends} ms and before the horizon ({horizon_ms} ms)"
            )
        if (changed.slot_ms, changed.horizon_slots) != (cluster.slot_ms, cluster.horizon_slots):
            raise ModelError(f"a change at {at_ms} ms must not change slot_ms or horizon_slots")
        names = [server.name for server in cluster.servers]
        if [server.name for server in changed.servers[: len(names)]] != names:
            raise ModelError(f"a change at {at_ms} ms must not renumber servers; append new ones at the end")
        if [j.id for j in phase.jobs if j.arrival_ms <= at_ms] != [j.id for j in jobs if j.arrival_ms <= at_ms]:
            raise ModelError(f"a change at {at_ms} ms must not move jobs that have arrived")
        ends, cluster, jobs = at_ms, changed, phase.jobs


def continues(cluster: Cluster, scheduler: BaseScheduler, phase: Phase) -> bool:
    """True if only future jobs change, so that the scheduler's own state remains valid."""
    if cluster != phase.cluster or not same_scheduler(scheduler, phase.scheduler):
        return False
    return cluster.horizon_slots is not None or not scheduler.clairvoyant  # its own horizon depends on all jobs


def same_scheduler(one: BaseScheduler, other: BaseScheduler) -> bool:
    """True if both decide by the same rules."""
    return type(one) is type(other) and one.parameters == other.parameters


class Carried(NamedTuple):
    """Outcome of the open jobs at a hand-over."""

    kept: dict[int, list[Placement]]  # continue, with these bars from now on; the ledger holds them
    displaced: list[int]  # had a plan, which ends now
    offered: list[int]  # resubmitted, including the displaced ones, in order of arrival
    # [job, share]: remaining share of the work of the last submission, of resubmitted jobs that are partly done
    shares: list[tuple[int, float]]


def carry(
    now_ms: int, open_jobs: Iterable[int], finishes: Container[int], bars: Iterable[Placement], before: BaseScheduler,
    phase: Phase, ledger: Ledger,
) -> Carried:  # fmt: skip
    """Trial of the plans in the empty ledger of the next phase.

    finishes: jobs with a planned end; bars: all that end after now.
    """
    plans: dict[int, list[Placement]] = {}
    for bar in bars:
        plans.setdefault(bar.job, []).append(bar)
    keeps_plans = before.keeps_plans and same_scheduler(before, phase.scheduler)
    carried = Carried({}, [], [], [])
    for job in sorted(open_jobs):
        plan = [bar if bar.start_ms >= now_ms else bar._replace(start_ms=now_ms) for bar in plans.get(job, ())]
        if plan and keeps_plans and _fits(ledger, now_ms, job, plan):
            carried.kept[job] = plan
            continue
        share = before.remaining_work(now_ms, job, plan)
        if share < 1:
            carried.shares.append((job, share))
        if plan or job in finishes:
            carried.displaced.append(job)
        carried.offered.append(job)
    return carried


def with_shares(jobs: Sequence[Job], shares: Iterable[tuple[int, float]]) -> list[Job]:
    """Job records with the remaining work of some; a share applies to what the one before it left."""
    rows = list(jobs)
    for job, share in shares:
        rows[job] = remaining(rows[job], share)
    return rows


def _fits(ledger: Ledger, now_ms: int, job: int, plan: list[Placement]) -> bool:
    try:
        ledger.replace(now_ms, {job: plan})
    except Overbooked:
        return False
    return True
