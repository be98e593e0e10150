"""Plan for the waiting jobs of a real cluster: the changes that bring their order, or their nodes, to those of a run.

It is pure. A plan of the kind `order` hands the priorities that the jobs have now to the same jobs in another order, by
`nice`: jobs outside the plan keep their place among them. A plan of the kind `placement` keeps jobs that are to start
later from starting until then, by begin times that expire by themselves, and names the nodes of those to start now.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from scheduling.reporting.quantities import counted
from twin.actuators.facts import NICE, NODES, NOT_BEFORE, Change, WaitingJob

ORDER, PLACEMENT = "order", "placement"
PLAN_TYPES = (ORDER, PLACEMENT)
SOON_MS = 60_000  # a job that is to start within this time starts now
SECOND_MS = 1_000  # begin times are whole seconds
MIN_PRIORITY = 2  # that a plan gives: a cluster may show 1 for everything below
MAX_NICE = 2_147_483_645


@dataclass(frozen=True, slots=True)
class Wanted:
    """Start of a job in the run of the plan. start_ms: Unix ms of the cluster; None: it never starts."""

    key: str
    submitted_ms: int
    start_ms: int | None
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowed:
    """Jobs that a plan may change: those of these queues and accounts (empty: of all), at most max_jobs."""

    queues: Collection[str] = ()
    accounts: Collection[str] = ()
    max_jobs: int = 20


@dataclass(frozen=True)
class Plan:
    """Changes in the order in which they are made, and the reason for each job that is left as it is.

    order  keys of the plan's jobs by their present priority: if it has changed, the plan is out of date
    goal   the same keys in the order of their starts in the run
    until  {key: Unix ms} until when a begin time is renewed
    """

    changes: tuple[Change, ...]
    left_out: tuple[tuple[str, str], ...]
    order: tuple[str, ...]
    goal: tuple[str, ...]
    until: Mapping[str, int]


def plan(
    kind: str, waiting: Mapping[str, WaitingJob], wanted: Sequence[Wanted], allowed: Allowed, now_ms: int,
    lease_ms: int = 300_000,
) -> Plan:  # fmt: skip
    """The plan by which the waiting jobs start as in `wanted`. now_ms: Unix ms of the cluster.

    lease_ms: the longest time that a begin time lasts; it is renewed while the plan is carried out.
    """
    chosen: list[tuple[WaitingJob, Wanted]] = []
    left_out: list[tuple[str, str]] = []
    for one in sorted(wanted, key=lambda one: (one.start_ms is None, one.start_ms, _place(one, waiting))):
        job = waiting.get(one.key)
        why = _why_not(job, one, allowed, kind)
        if not why and len(chosen) == allowed.max_jobs:
            why = f"the plan is at its limit of {counted(allowed.max_jobs, 'job')}"
        if why or job is None:
            left_out.append((one.key, why))
        else:
            chosen.append((job, one))
    changes, until = (_order(chosen), {}) if kind == ORDER else _placement(chosen, now_ms, lease_ms)
    jobs = [job for job, _ in chosen]
    return Plan(tuple(changes), tuple(left_out), ranking(jobs), tuple(job.key for job in jobs), until)


def ranking(jobs: Sequence[WaitingJob]) -> tuple[str, ...]:
    """Keys by present priority, the first to start first; equal ones by the time of submission."""
    return tuple(job.key for job in sorted(jobs, key=_rank))


def _rank(job: WaitingJob) -> tuple[int, int, int, str]:
    return -job.priority, job.submitted_ms, len(job.key), job.key


def _place(one: Wanted, waiting: Mapping[str, WaitingJob]) -> tuple[int, int, int, str]:
    """Present rank of a job: those that start together in the run keep their order."""
    job = waiting.get(one.key)
    return (0, one.submitted_ms, len(one.key), one.key) if job is None else _rank(job)


def _why_not(job: WaitingJob | None, one: Wanted, allowed: Allowed, kind: str) -> str:
    """Reason why the plan leaves the job as it is; "" if it may change it."""
    if job is None or job.submitted_ms != one.submitted_ms:
        return "it no longer waits"
    if one.start_ms is None:
        return "the run never starts it"
    reasons = (
        (job.held, "it is held"),
        (not job.single, "it is part of an array or of a heterogeneous job"),
        (bool(job.depends_on), "it waits for another job"),
        (job.not_before_ms is not None, "it has a begin time"),
        (bool(allowed.queues) and job.queue not in allowed.queues, f"its queue {job.queue} is not allowed"),
        (bool(allowed.accounts) and job.account not in allowed.accounts, f"its account {job.account} is not allowed"),
        (kind == PLACEMENT and bool(job.nodes), f"it requires the nodes {job.nodes}"),
    )
    return next((why for applies, why in reasons if applies), "")


def _order(chosen: Sequence[tuple[WaitingJob, Wanted]]) -> list[Change]:
    """Changes of nice by which the present priorities go to the jobs in the wanted order."""
    jobs = [job for job, _ in chosen]
    changes = []
    for job, priority in zip(jobs, _priorities(jobs), strict=True):
        nice = job.nice + job.priority - priority
        if nice != job.nice and abs(nice) <= MAX_NICE:
            changes.append(Change(job.key, job.submitted_ms, NICE, job.nice, nice))
    return changes


def _priorities(jobs: Sequence[WaitingJob]) -> list[int]:
    """Falling priorities for the jobs in this order: those that they have, the highest first.

    Jobs of equal priority start by the time of their submission: where the plan requires another order, the later one
    in the plan gets one less. All are raised together where the last one would fall below what a cluster can store.
    """
    found: list[int] = []
    above: WaitingJob | None = None
    for job, most in zip(jobs, sorted((job.priority for job in jobs), reverse=True), strict=True):
        if above is None:
            found.append(most)
        else:
            earlier = _rank(above)[1:] < _rank(job)[1:]
            found.append(min(most, found[-1] - (0 if earlier else 1)))
        above = job
    lift = max(0, MIN_PRIORITY - found[-1]) if found else 0
    return [priority + lift for priority in found]


def _placement(
    chosen: Sequence[tuple[WaitingJob, Wanted]], now_ms: int, lease_ms: int
) -> tuple[list[Change], dict[str, int]]:  # fmt: skip
    """Begin times of jobs that start later, then the nodes of those that start now."""
    later: list[Change] = []
    now: list[Change] = []
    until: dict[str, int] = {}
    for job, one in chosen:
        assert one.start_ms is not None
        if one.start_ms > now_ms + SOON_MS:
            until[job.key] = one.start_ms
            later.append(Change(job.key, job.submitted_ms, NOT_BEFORE, None, lease_end(one.start_ms, now_ms, lease_ms)))
        elif len(one.nodes) == job.node_count:
            now.append(Change(job.key, job.submitted_ms, NODES, "", ",".join(one.nodes)))
    return later + now, until


def lease_end(until_ms: int, now_ms: int, lease_ms: int) -> int:
    """The begin time of a job that is to wait until until_ms, as far as one lease reaches, in whole seconds."""
    return min(until_ms, now_ms + lease_ms) // SECOND_MS * SECOND_MS
