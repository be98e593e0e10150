"""Quota queues: queues with quotas that borrow idle quota from each other, as in Kueue and Volcano.

Each queue has a quota, a share of the cluster. A queue may hold more than its quota while the quotas of its cohort are
not used up, at most `borrow_percent` more. In each slot the first jobs of the queues are tried: those that stay within
the quota of their queue before those that borrow, then by the order of the queue. With `reclaim = any` a job that stays
within the quota of its queue but finds no room preempts jobs of queues of its cohort that borrow: of the lowest
priority first, of these the latest start first, while their queue borrows a resource that both jobs need; jobs that
turn out to be unnecessary, tried in reverse order, run on [Kueue, classic preemption].

Follows the documentation of Kueue: ClusterQueue with nominalQuota and borrowingLimit, cohorts, StrictFIFO (`strict`) or
BestEffortFIFO, reclaimWithinCohort Never or Any, and a quota of the cohort itself where all queues form one. In the
terms of Volcano's capacity plugin the quota is `deserved`, quota and limit are the `capability`, and every queue is
`reclaimable`.

Differs from these: a quota is one share of all resources, instead of an amount of each; a job needs room on servers as
well as quota, and starts as a whole; a preempted job keeps the work of its whole slots and its place in the queue.
Reclaiming is on by default (off in Kueue, on in Volcano). Not modelled: limits of lending, fair sharing of what is
borrowed, preemption within a queue, flavours, trees of cohorts.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.values import Cluster, Job
from scheduling.reporting.quantities import counted
from scheduling.slotted.backfill_lines import Key, Starts, has_room
from scheduling.slotted.gang_queue import Gang, GangQueue, Kind, Units
from scheduling.slotted.gangs.packing import Packing
from scheduling.slotted.gangs.rates import GangParameters
from scheduling.slotted.quotas.book import QuotaBook, cohorts_of, quotas_of, uses
from scheduling.slotted.reasons import since_arrival

QUEUE, USER = "queue", "user"
ARRIVAL, PRIORITY = "arrival", "priority"
NEVER, ANY = "never", "any"
Tries = Mapping[str, list[tuple[Key, Kind | None]]]  # of each queue, a heap of the first jobs of its lines


@dataclass(frozen=True, slots=True)
class QuotaParameters(GangParameters):
    queue_by: str = parameter(
        QUEUE,
        "Queue to which a job belongs: the one that its trace names, or its user",
        choices={QUEUE: "Queue in the trace", USER: "User"},
        title="Queues",
    )
    quotas: str = parameter(
        "", "Share of the cluster for each queue, for example prod=60,dev=40", unit="%", title="Quotas"
    )
    other_percent: int = parameter(
        25, "Share of the cluster for each queue that is not named", low=0, high=100, unit="%", title="Other quotas"
    )
    borrow_percent: int = parameter(
        100,
        "Largest share of the cluster that a queue may hold beyond its quota; 0: no borrowing",
        low=0,
        high=100,
        unit="%",
        title="Borrowing limit",
    )
    cohorts: str = parameter(
        "",
        "Queues that borrow from each other, for example prod+dev,lab+course; empty: all queues",
        title="Cohorts",
    )
    reclaim: str = parameter(
        ANY,
        "Borrowing jobs that a job within the quota of its queue may preempt",
        choices={NEVER: "None", ANY: "Any"},
        title="Reclaiming",
    )
    order: str = parameter(
        ARRIVAL,
        "Order of each queue: by arrival, or by priority (highest first), then by arrival",
        choices=(ARRIVAL, PRIORITY),
        title="Order of a queue",
    )
    strict: bool = parameter(
        False, "The first job of a queue that cannot start blocks the jobs behind it", title="Strict order"
    )

    def __post_init__(self) -> None:
        super(QuotaParameters, self).__post_init__()
        quotas_of(self.quotas)
        cohorts_of(self.cohorts)


def _within(values: Any) -> str:
    when = since_arrival(values["waited_ms"])
    return f"Started with {_gang(values)}, {when}, within the quota of {_queue(values)}, {values['percent']} %."


def _borrowing(values: Any) -> str:
    when = since_arrival(values["waited_ms"])
    return f"Started with {_gang(values)}, {when}; {_queue(values)} borrows beyond its quota of {values['percent']} %."


def _gang(values: Any) -> str:
    return f"{counted(values['workers'], 'worker')} and {counted(values['ps'], 'parameter server')}"


def _queue(values: Any) -> str:
    return f"queue {values['queue']}" if values["queue"] else "the queue of jobs without a queue name"


class QuotaQueues(GangQueue):
    """Queues, each in lines of one kind of gang: of a line only the first job has to be tried."""

    name = "quota_queues"
    title = "Quota queues"
    paper = "Kueue (ClusterQueue, cohorts) and Volcano (capacity plugin), documentation of these projects"
    summary = (
        "Gives each queue a share of the cluster; queues borrow what others leave idle, and preempt borrowers to get "
        "their share back."
    )
    Parameters = QuotaParameters
    reasons = {
        "quota_queues.within_quota": _within,
        "quota_queues.borrowing": _borrowing,
        "quota_queues.reclaimed": lambda v: (
            f"Preempted: {_queue(v)} borrows, and job {v['by']} needs this capacity within the quota of its own queue. "
            "Completed work is kept."
        ),
        "quota_queues.exceeds_quota": lambda v: (
            f"Rejected: its request of {_gang(v)} exceeds what {_queue(v)} may hold, {v['percent']} % of the cluster "
            f"and at most {v['borrow']} % borrowed in its cohort."
        ),
    }

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        self.lines: dict[str, dict[Kind | None, list[Key]]] = {}
        super().start(cluster, jobs, rng)
        own, servers = self.parameters, [server.capacity for server in cluster.servers]
        self.book = QuotaBook(
            [sum(column) for column in zip(*servers, strict=True)],
            self.training.fields,
            quotas_of(own.quotas),
            own.other_percent,
            own.borrow_percent,
            cohorts_of(own.cohorts),
        )

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        decision = super().on_arrival(now_ms, job)
        if decision is not NOTHING or self.book.ever(self._queue_of(job), self._amounts(job)):
            return decision
        queue = self._queue_of(job)
        quota = {"queue": queue, "percent": self.book.percent(queue), "borrow": self.parameters.borrow_percent}
        self._leave(job)
        values = quota | self.gangs.pop(job).values
        return Decision(verdicts=(Verdict(job, "rejected", Reason("quota_queues.exceeds_quota", values)),))

    def join(self, job: int) -> None:
        insort(self.lines.setdefault(self._queue_of(job), {}).setdefault(self._kind(job), []), self._key(job))

    def join_again(self, job: int) -> None:
        self.join(job)

    def queued(self) -> Sequence[int]:
        return sorted(job for kinds in self.lines.values() for keys in kinds.values() for _, job in keys)

    def freed(self) -> None:
        """Attempt to start jobs of all lines, in each slot with a change."""

    def hold(self, job: int, units: Units, begun_ms: int) -> None:
        super().hold(job, units, begun_ms)
        self.book.take(self._queue_of(job), self._amounts(job))

    def release(self, now_ms: int, job: int) -> Units:
        self.book.give(self._queue_of(job), self._amounts(job))
        return super().release(now_ms, job)

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        starts = Starts()
        tries = {queue: [(keys[0], kind) for kind, keys in kinds.items()] for queue, kinds in self.lines.items()}
        for heads in tries.values():
            heapq.heapify(heads)  # keys differ, so kinds are never compared
        order = self._order(tries)
        stopped: set[int] = set()  # those that lost their room wait for the next slot, before others of their line
        while order:
            _, key, queue = heapq.heappop(order)
            _, kind = heapq.heappop(tries[queue])
            if self.lines[queue][kind][0] != key:
                continue
            before = len(stopped)
            if self._try(starts, now_ms, key[1], stopped):
                keys = self.lines.get(queue, {}).get(kind)
                if keys and keys[0][1] not in stopped:
                    heapq.heappush(tries[queue], (keys[0], kind))
            if len(stopped) > before:
                order = self._order(tries)
            elif tries[queue]:
                heapq.heappush(order, self._next(tries, queue))
        decision = starts.decision()
        return replace(decision, wake_ms=now_ms + self.cluster.slot_ms) if stopped else decision

    def _order(self, tries: Tries) -> list[tuple[bool, Key, str]]:
        """Heap of the first jobs of the queues: those within their quotas before those that borrow."""
        order = [self._next(tries, queue) for queue, heads in tries.items() if heads]
        heapq.heapify(order)
        return order

    def _next(self, tries: Tries, queue: str) -> tuple[bool, Key, str]:
        key, _ = tries[queue][0]
        return not self.book.within(queue, self._amounts(key[1])), key, queue

    def _try(self, starts: Starts, now_ms: int, job: int, stopped: set[int]) -> bool:
        """Start of a waiting job, if quota and free capacity allow it; false if it keeps waiting."""
        queue, amounts, gang = self._queue_of(job), self._amounts(job), self.gangs[job]
        within = self.book.within(queue, amounts)
        units = None
        if self.book.allows(queue, amounts):
            units = _place(gang, self.packing)
            if units is None and not self.running and not self.away:
                self._leave(job)
                values = self.gangs.pop(job).values
                starts.verdicts.append(Verdict(job, "rejected", Reason("gang_fits_nowhere", values)))
                return True
        victims = self._victims(job) if units is None and within and self.parameters.reclaim == ANY else []
        for other in victims:
            self._preempt(starts, now_ms, other, job)
        if victims:
            stopped.update(victims)
            units = _place(gang, self.packing)
        if units is None:
            return False
        self._leave(job)
        starts.plan[job] = self._bars(now_ms, job, gang, units, starts.finishes)
        values = {"waited_ms": now_ms - self.jobs[job].arrival_ms, "queue": queue, **gang.values}
        code = "quota_queues.within_quota" if within else "quota_queues.borrowing"
        reason = Reason(code, values | {"percent": self.book.percent(queue)})
        starts.verdicts.append(Verdict(job, "resumed" if job in self.left else "started", reason))
        return True

    def _preempt(self, starts: Starts, now_ms: int, other: int, job: int) -> None:
        """Return of a running job to its queue, to make room for another; a job that would start now waits."""
        if other in starts.plan:
            del starts.plan[other]
            starts.finishes.pop(other, None)
            starts.verdicts = [verdict for verdict in starts.verdicts if verdict.job != other]
            self.release(now_ms, other)
            self.join(other)
            return
        self._stop(now_ms, other)
        starts.plan[other] = []
        values = {"queue": self._queue_of(other), "by": self.jobs[job].id}
        starts.verdicts.append(Verdict(other, "preempted", Reason("quota_queues.reclaimed", values)))

    def _victims(self, job: int) -> list[int]:
        """Jobs that are preempted so that this one fits within the quota of its queue; none if that does not do it."""
        queue, amounts, gang = self._queue_of(job), self._amounts(job), self.gangs[job]
        book, packing = self.book.copy(), copy(self.packing)
        packing.free, packing.full = list(packing.free), (set(), set())
        cohort, needed = book.cohort(queue), uses(amounts)
        candidates = sorted(
            (self._priority(other), -self.begun[other], -other)
            for other in self.running
            if self._queue_of(other) != queue
            and book.cohort(self._queue_of(other)) == cohort
            and book.borrowed(self._queue_of(other)) & needed
        )
        victims: list[int] = []
        for _, _, negative in candidates:
            other = -negative
            whose, held = self._queue_of(other), self._amounts(other)
            if not book.borrowed(whose) & needed & uses(held):
                continue
            book.give(whose, held)
            packing.put_back(self.gangs[other].shape, self.running[other])
            victims.append(other)
            if book.available(queue, amounts) and _fits(gang, packing):
                break
        else:
            return []
        for other in victims[-2::-1]:
            whose, held = self._queue_of(other), self._amounts(other)
            book.take(whose, held)
            packing.take(self.gangs[other].shape, self.running[other])
            if book.available(queue, amounts) and _fits(gang, packing):
                victims.remove(other)
            else:
                book.give(whose, held)
                packing.put_back(self.gangs[other].shape, self.running[other])
        return victims

    def _leave(self, job: int) -> None:
        """Removal of a job from its queue."""
        queue, kind = self._queue_of(job), self._kind(job)
        keys = self.lines[queue][kind]
        del keys[bisect_left(keys, self._key(job))]
        if not keys:
            del self.lines[queue][kind]
            if not self.lines[queue]:
                del self.lines[queue]

    def _queue_of(self, job: int) -> str:
        row = self.jobs[job]
        return (row.user if self.parameters.queue_by == USER else row.group) or ""

    def _kind(self, job: int) -> Kind | None:
        return None if self.parameters.strict else self.gangs[job].kind

    def _key(self, job: int) -> Key:
        return (-self._priority(job) if self.parameters.order == PRIORITY else 0.0), job

    def _priority(self, job: int) -> float:
        utility = self.jobs[job].utility
        return utility.priority if utility is not None else 0.0

    def _amounts(self, job: int) -> int:
        """Packed amounts of the whole gang."""
        gang = self.gangs[job]
        return gang.workers * gang.shape.worker + gang.ps * gang.shape.ps


def _place(gang: Gang, packing: Packing) -> Units | None:
    """Units that fit into what is free, which are reserved there; None if they do not fit."""
    if gang.workers > 1 and not has_room(packing, gang.shape.worker, gang.workers):
        return None  # sooner than by placing one after another
    placed = packing.place(gang.shape, gang.workers)
    return None if placed is None else [(role, server, number) for (role, server), number in placed.items()]


def _fits(gang: Gang, packing: Packing) -> bool:
    """True if the gang fits; nothing is reserved."""
    before = packing.positions[:]
    units = _place(gang, packing)
    if units is None:
        return False
    packing.put_back(gang.shape, units)
    packing.positions = before
    return True
