"""Forecast: starts and finishes of all waiting jobs, if running jobs end as predicted and no other job arrives.

The cluster is simulated from one end of a job to the next. Its scheduler knows time limits only, so they decide who is
backfilled, while jobs end after their predicted run times. It is EASY backfilling: jobs start in the order of priority;
the first one of each queue that does not fit gets a reservation by the limits (its nodes and its time), and a later job
may start if it ends by then or leaves the reserved amounts free. Nodes are taken in their order. Jobs that wait for a
licence, a dependency or a time are passed over and reserve nothing. What a job held is free one cycle of the scheduler
after it ended; the same passes before the first starts.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np

from scheduling.forecast.fitting import Fitting, fits
from scheduling.forecast.reservations import Reservation, Shares, Windows, reserve
from scheduling.forecast.values import (
    DEPENDENCY,
    LICENCE,
    NEVER,
    NO_LICENCE,
    NO_RESERVATION,
    NOW,
    PRIORITY,
    RESOURCES,
    TIME,
    TOO_LARGE,
    Amounts,
    ClusterState,
    Forecast,
    Waiting,
)

Placed = list[tuple[int, np.ndarray]]  # (kind, nodes) of each group of a job


def forecasts_of(of: ClusterState) -> list[Forecast]:
    """The forecast of every waiting job, in their order."""
    return SimulatedCluster(of).run()


class SimulatedCluster:
    """The cluster at a time of the forecast, and what has been found."""

    def __init__(self, of: ClusterState) -> None:
        self.of, self.jobs = of, of.waiting
        self.at_ms = of.now_ms
        self.fitting = Fitting(of.nodes, of.waiting)
        self.windows = Windows(of.nodes)
        self.shares = Shares(self.fitting.capacity.shape[1])
        self.licences = dict(of.licences)  # that are free
        self.used: dict[str, Mapping[str, int]] = {}  # job -> licences
        self.begun: set[str] = set()
        self.over: dict[str, int] = {}  # job -> when what it held was free
        self.open = {job.id for job in of.running} | {job.id for job in of.waiting}
        self.freed: dict[int, tuple[int, str]] = {}  # node -> when something was freed there last, and by which job
        self.events: list[tuple[int, str]] = [(of.now_ms + of.cycle_ms, "")]  # (ms, job that ends)
        self.found: list[Forecast | None] = [None] * len(of.waiting)
        self.started = 0
        for running in of.running:
            end_ms = max(running.end_ms, of.now_ms)
            nodes, amounts = _by_node(running.shares, self.fitting.capacity.shape[1])
            self._hold(running.id, nodes, amounts, max(running.limit_end_ms, end_ms), running.licences)
            heapq.heappush(self.events, (end_ms + of.cycle_ms, running.id))
        self.never = [self._never(number) for number in range(len(of.waiting))]
        self.waits = np.array([not why for why in self.never], dtype=bool)
        self.first_kind = np.array([kinds[0] for kinds in self.fitting.kinds], dtype=np.int64)
        self.first_count = np.array([job.groups[0].count for job in self.jobs], dtype=np.int64)
        self.limits = np.array([min(job.limit_ms, NEVER) for job in self.jobs], dtype=np.int64)
        queues = {(job.queues, job.reservation): number for number, job in enumerate(self.jobs)}
        self.reserving = np.array([bool(job.reservation) for job in self.jobs], dtype=bool)
        self.queue = np.array([queues[job.queues, job.reservation] for job in self.jobs], dtype=np.int64)
        self.eligible_ms = np.array([job.eligible_ms for job in self.jobs], dtype=np.int64)
        self.depends = {number for number, job in enumerate(self.jobs) if job.after}
        for ms in {job.eligible_ms for job in self.jobs} | set(self.windows.times):
            if of.now_ms < ms < NEVER:
                heapq.heappush(self.events, (ms, ""))

    def run(self) -> list[Forecast]:
        """Forecasts of all waiting jobs, from the cluster simulated until no event is left."""
        while self.events and self.waits.any():
            self.at_ms = self.events[0][0]
            while self.events and self.events[0][0] == self.at_ms:
                _, job = heapq.heappop(self.events)
                if job:
                    self._end(job)
            self._pass()
        return [found or self._without(number) for number, found in enumerate(self.found)]

    def _pass(self) -> None:
        """One pass of the scheduler: it looks at the jobs in their order, and starts those that may."""
        while True:
            self.depends -= {number for number in self.depends if self._met(number)}
            active = self.waits & (self.eligible_ms <= self.at_ms)
            active[sorted(self.depends)] = False
            self._walk(np.flatnonzero(active))
            if not any(self._met(number) for number in self.depends):
                return  # else another job depends on the start of one that has started

    def _walk(self, places: np.ndarray) -> None:
        """One walk through these jobs. Behind the first job of its queue that does not fit, few need a closer look."""
        reserved: dict[int, Reservation | None] = {}  # queue -> of its first job that does not fit
        while len(places):
            looked = self._worth_a_look(places, reserved)
            for place in np.flatnonzero(looked).tolist():
                number, queue = int(places[place]), int(self.queue[places[place]])
                if not self._has_licences(self.jobs[number]):
                    if queue in reserved or self._fits(number):
                        continue  # else the next one of its queue that does not fit is the first
                elif (nodes := self._place(number, reserved)) is not None:
                    self._start(number, nodes)
                elif queue not in reserved:
                    reserved[queue] = reserve(
                        number, self.jobs[number], self.at_ms, self.fitting, self.shares, self.windows
                    )
                else:
                    continue
                places = places[place + 1 :]
                break
            else:
                return

    def _worth_a_look(self, places: np.ndarray, reserved: Mapping[int, Reservation | None]) -> np.ndarray:
        """True [place] for jobs that may start, or that are the first of their queue that does not fit."""
        kinds, wanted = self.first_kind[places], self.first_count[places]
        looked = self.fitting.counts[kinds] >= wanted
        behind = np.isin(self.queue[places], list(reserved))
        short = np.flatnonzero(~looked & ~behind)
        _, first = np.unique(self.queue[places[short]], return_index=True)
        ends = self.at_ms + self.limits[places]
        exempt = ~behind | self.reserving[places]
        for kept in reserved.values():
            if kept is not None:
                left = self.fitting.counts - self.fitting.lost(kept.on, kept.spare)
                looked &= exempt | (ends <= kept.start_ms) | (left[kinds] >= wanted)
        looked[short[first]] = True
        return looked

    def _fits(self, number: int) -> bool:
        return bool(self.fitting.counts[self.first_kind[number]] >= self.first_count[number])

    def _place(self, number: int, reserved: Mapping[int, Reservation | None]) -> Placed | None:
        """Nodes of each group, if the job may start now; what it takes beside reservations is taken off them."""
        job = self.jobs[number]
        found: Placed = []
        until_ms = self.at_ms + self.limits[number]
        others = () if job.reservation else reserved.values()  # its nodes are reserved for it
        beside = [kept for kept in others if kept and until_ms > kept.start_ms]
        open_ = self.windows.open(job, self.at_ms, len(self.of.nodes))
        for group, kind in zip(job.groups, self.fitting.kinds[number], strict=True):
            if self.fitting.counts[kind] < group.count:
                return None
            fit = self.fitting.table[:, kind]
            if open_ is not None:
                fit = fit & open_
            needed = self.fitting.capacity if self.fitting.whole[kind] else self.fitting.demand[kind]
            for kept in beside:
                fit = fit & (~kept.on | fits(needed, kept.spare))
            for _, taken in found:
                fit = fit.copy()
                fit[taken] = False
            nodes = np.flatnonzero(fit)[: group.count]
            if len(nodes) < group.count:
                return None
            found.append((kind, nodes))
        for kept in beside:
            for kind, nodes in found:
                kept.spare[nodes] -= self.fitting.amounts(kind, nodes)
        return found

    def _start(self, number: int, placed: Placed) -> None:
        job = self.jobs[number]
        nodes = np.concatenate([nodes for _, nodes in placed])
        amounts = np.concatenate([self.fitting.amounts(kind, nodes) for kind, nodes in placed])
        run_ms = max(1, job.run_ms)
        self._hold(job.id, nodes, amounts, self.at_ms + max(int(self.limits[number]), run_ms), job.licences)
        finish_ms = self.at_ms + run_ms
        heapq.heappush(self.events, (finish_ms + self.of.cycle_ms, job.id))
        self.waits[number] = False
        self.found[number] = Forecast(
            job.id, self.at_ms, finish_ms, tuple(sorted(nodes.tolist())), *self._waited(job, nodes), self.started,
            job.eligible_ms,
        )  # fmt: skip
        self.started += 1

    def _waited(self, job: Waiting, nodes: np.ndarray) -> tuple[str, tuple[str, ...]]:
        """Reason why a job starts only now: the last condition that was met, and the jobs that met it."""
        if self.at_ms <= self.of.now_ms + self.of.cycle_ms:
            return NOW, ()
        if job.eligible_ms == self.at_ms:
            return TIME, ()
        if last := [one.id for one in job.after if self.over.get(one.id) == self.at_ms]:
            return DEPENDENCY, tuple(sorted(last))
        freed = [self.freed[node] for node in nodes.tolist() if node in self.freed]
        at_ms = max((ms for ms, _ in freed), default=0)
        return (RESOURCES, tuple(sorted({one for ms, one in freed if ms == at_ms}))) if freed else (PRIORITY, ())

    def _hold(
        self, job: str, nodes: np.ndarray, amounts: np.ndarray, limit_end_ms: int, licences: Mapping[str, int]
    ) -> None:
        self.fitting.take(nodes, amounts)
        self.shares.add(job, nodes, amounts, limit_end_ms)
        self.begun.add(job)
        if licences:
            self.used[job] = licences
            for name, number in licences.items():
                self.licences[name] = self.licences.get(name, NEVER) - number

    def _end(self, job: str) -> None:
        nodes, amounts = self.shares.pop(job)
        self.fitting.take(nodes, -amounts)
        self.freed.update(dict.fromkeys(nodes.tolist(), (self.at_ms, job)))
        self.open.discard(job)
        self.over[job] = self.at_ms
        for name, number in self.used.pop(job, {}).items():
            self.licences[name] += number

    def _has_licences(self, job: Waiting) -> bool:
        return all(self.licences.get(name, NEVER) >= number for name, number in job.licences.items())

    def _met(self, number: int) -> bool:
        """True if all that the job depends on has happened; what is not known any more has."""
        return all(one.id not in self.open or (one.start and one.id in self.begun) for one in self.jobs[number].after)

    def _never(self, number: int) -> str:
        """Reason why a job can never start; empty if it can start."""
        job = self.jobs[number]
        if job.blocked:
            return job.blocked
        if any(self.of.licences.get(name, NEVER) < needed for name, needed in job.licences.items()):
            return NO_LICENCE
        if job.reservation and all(closed.name != job.reservation for node in self.of.nodes for closed in node.closed):
            return NO_RESERVATION
        left = np.ones(len(self.of.nodes), dtype=bool)
        for group, kind in zip(job.groups, self.fitting.kinds[number], strict=True):
            nodes = np.flatnonzero(self.fitting.possible[:, kind] & left)[: group.count]
            if len(nodes) < group.count:
                return TOO_LARGE
            left[nodes] = False
        return ""

    def _without(self, number: int) -> Forecast:
        """The forecast of a job for which no start was found."""
        job = self.jobs[number]
        why = self.never[number]
        behind: tuple[str, ...] = ()
        if not why and number in self.depends:
            why, behind = DEPENDENCY, tuple(sorted(one.id for one in job.after if one.id in self.open))
        elif not why:
            why = RESOURCES if self._has_licences(job) else LICENCE
        return Forecast(job.id, None, None, (), why, behind)


def _by_node(shares: Sequence[tuple[int, Amounts]], resources: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct nodes of shares, and the sum of the amounts on each."""
    nodes = np.array([node for node, _ in shares], dtype=np.int64)
    amounts = np.array([amounts for _, amounts in shares], dtype=np.int64).reshape(len(nodes), resources)
    distinct, places = np.unique(nodes, return_inverse=True)
    total = np.zeros((len(distinct), resources), dtype=np.int64)
    np.add.at(total, places.ravel(), amounts)
    return distinct, total
