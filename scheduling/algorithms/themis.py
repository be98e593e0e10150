"""Themis: finish-time fairness by partial auctions (Mahajan et al., NSDI 2020).

The finish-time fairness of a job is rho = T_SH / T_ID: the time from its arrival to its completion in the shared
cluster, divided by the time that it would take with an equal share of the cluster. T_ID is the time alone on the empty
cluster, times the mean number of jobs that were active since its arrival. Workers are allocated for leases. When leases
have ended or there is free capacity, the jobs without a lease are ordered by rho; the fraction 1 - f of them with the
greatest rho takes part in an auction of all free capacity (slotted/auction/partial_allocation.py). What is left goes to
the other jobs without a lease.

Not checked against the paper: its text was not available, only its abstract. The definitions of rho and T_ID, the
mechanism with hidden payments, the default of f and the length of a lease are as generally described.

Differs from the method as described: each job is an app, without a search for hyperparameters. A bid follows from the
record of the job: rho with w workers is (elapsed time + work left / speed of w workers) / T_ID. For a job without a
lease, rho is computed with all its workers from now on: without workers rho is infinite, and all such jobs would be
equal. A job whose lease has not ended does not bid for more. A winner keeps whole workers, at least one. What is left
goes to the other jobs in turn, the greatest rho first, and then to the winners, instead of at random. Where a gang on
one server is faster (training model PD-ORS), gangs are placed on one server if possible, and the auction is a
heuristic. Workers come with their parameter servers, and several resources limit them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement
from scheduling.model.decision import Decision, Reason, Verdict
from scheduling.model.values import Cluster, Job
from scheduling.reporting.quantities import counted
from scheduling.slotted.auction.partial_allocation import Auction, Bidder, share_left
from scheduling.slotted.auction.places import Places
from scheduling.slotted.gangs.packing import Packing, Units, workers_of
from scheduling.slotted.gangs.rates import GangParameters
from scheduling.slotted.reallocation import MAX_WORKERS, ReallocatingScheduler

REQUESTED, USABLE = "requested", "usable"
EPSILON = 1e-9  # bidders


@dataclass(frozen=True, slots=True)
class ThemisParameters(GangParameters):
    fairness: float = parameter(
        0.8,
        "Share of the jobs without a lease that are excluded from an auction: those treated best so far. 0: all jobs "
        "bid; near 1: only the job treated worst bids",
        low=0.0,
        high=1.0,
        title="Fairness knob f",
    )
    lease_slots: int = parameter(
        1, "Time for which a job keeps the workers that it got", low=1, high=10_000, unit="slots", title="Worker lease"
    )
    demand: str = parameter(
        REQUESTED,
        "Largest number of workers of a job: the number that it requests, or as many as it can use",
        choices={REQUESTED: "Requested workers", USABLE: "Usable workers"},
        title="Demand of a job",
    )
    payments: bool = parameter(
        True,
        "Winners give back some of their workers, so that no job gains by a dishonest bid",
        title="Hidden payments",
    )


def _gang(values: Any) -> str:
    return f"{counted(values['workers'], 'worker')} and {counted(values['ps'], 'parameter server')}"


def _rho(values: Any) -> str:
    return (
        f"With all its workers it would take {values['rho']:.3g} times as long as with 1/{values['jobs']:.3g} of the "
        "cluster"
    )


def _won(values: Any) -> str:
    more = values["workers"] - values["won"]
    left = f" It also got {counted(more, 'worker')} that no winner kept." if more > 0 else ""
    return (
        f"Holds {_gang(values)}: won {counted(values['won'], 'worker')} in an auction among "
        f"{counted(values['bidders'], 'job')}, {100 * values['part']:.3g} % of its fair share.{left} {_rho(values)}."
    )


class Themis(ReallocatingScheduler):
    """Themis over workers, which are allocated again when leases end."""

    name = "themis"
    title = "Themis"
    paper = (
        "Mahajan, Balasubramanian, Singhvi, Venkataraman, Akella, Phanishayee and Chawla: Themis: Fair and Efficient "
        "GPU Cluster Scheduling, NSDI 2020"
    )
    summary = (
        "Auctions free workers for short leases among the jobs that are furthest behind what they would reach with an "
        "equal share of the cluster."
    )
    uses = ("requested_workers",)
    Parameters = ThemisParameters
    reasons = {
        "themis.won": _won,
        "themis.left_over": lambda v: (
            f"Got {_gang(v)} that the auction left over. {_rho(v)}, a lower ratio than that of the jobs in the auction."
        ),
        "themis.lease_over": lambda v: (
            f"Preempted: its lease has ended, and the other jobs leave no capacity for its workers. {_rho(v)}. "
            "Completed work is kept."
        ),
    }

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.leases: dict[int, int] = {}  # slot in which the lease of a job with workers ends
        self.since: dict[int, tuple[int, float]] = {}  # of active jobs: time of entry in ms, and `active_ms` then
        self.active_ms = 0.0  # integral of the number of active jobs
        self.counted_ms = 0
        self.ideal: dict[int, float] = {}  # greatest speed of a job alone, in work per slot
        self.notes: dict[int, tuple[str, dict[str, Any]]] = {}  # of the newest allocation

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        self._count(now_ms)
        decision = super().on_arrival(now_ms, job)
        if job in self.shapes:
            self._know(job)
            self.since[job] = (now_ms, self.active_ms)
        return decision

    def on_completion(self, now_ms: int, job: int) -> Decision:
        self._count(now_ms)
        for book in (self.leases, self.since, self.ideal):
            book.pop(job, None)
        return super().on_completion(now_ms, job)

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        self._count(now_ms)
        decision = super().on_slot(now_ms, slot)
        ends = [self.leases[job] for job in self.held]
        if not ends or all(workers_of(self.held.get(job, ())) == self._most(job) for job in self.shapes):
            return decision
        wake_ms = min(ends) * self.cluster.slot_ms
        if decision.wake_ms is not None:
            wake_ms = min(wake_ms, decision.wake_ms)
        return replace(decision, wake_ms=wake_ms) if wake_ms > now_ms else decision

    def allocate(self, now_ms: int, slot: int) -> tuple[Mapping[int, Units], Sequence[Verdict]]:
        leased = {
            job: units
            for job, units in self.held.items()
            if self.leases[job] > slot and all(self.servers.open[server] for _, server, _ in units)
        }
        packing = Packing(self.servers)
        for job, units in leased.items():
            packing.take(self.shapes[job], units)
        rho = {job: self._rho(now_ms, job) for job in self.shapes if job not in leased}
        ranked = [self._bidder(now_ms, slot, job) for job in sorted(rho, key=lambda job: (-rho[job], job))]
        number = max(1, math.ceil((1 - self.parameters.fairness) * len(ranked) - EPSILON))
        auction = Auction(Places(packing, self.servers, self.local), ranked[:number])
        auction.run(self.parameters.payments)
        won = dict(auction.places.workers)
        share_left(auction.places, ranked[number:])
        share_left(auction.places, ranked[:number])
        places = self._as_before(leased, auction.places)
        if places is not auction.places:  # free capacity may be enough on other servers
            share_left(places, [*ranked[number:], *ranked[:number]])
        found = places.units()
        self.notes = {job: self._note(now_ms, job, rho[job], job in found, auction, won, number) for job in rho}
        self.leases = {job: self.leases[job] for job in leased}
        self.leases |= dict.fromkeys(found, slot + self.parameters.lease_slots)
        return leased | found, ()

    def _note(
        self, now_ms: int, job: int, rho: float, holds: bool, auction: Auction, won: Mapping[int, int], bidders: int
    ) -> tuple[str, dict[str, Any]]:
        """Code and numbers of the reason for the workers that a job without a lease got."""
        values = {"rho": rho, "jobs": self._contenders(now_ms, job)}
        if job in auction.parts:
            return "themis.won", values | {"bidders": bidders, "part": auction.parts[job], "won": won[job]}
        return ("themis.left_over" if holds else "themis.lease_over"), values

    def why(self, job: int, kind: str, units: Units) -> Reason:
        code, values = self.notes[job]
        workers = workers_of(units)
        if kind == "preempted":
            return Reason("themis.lease_over", {"rho": values["rho"], "jobs": values["jobs"]})
        return Reason(code, {"workers": workers, "ps": self.shapes[job].ps_of(workers), **values})

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        super().adopt_plans(now_ms, before, kept)
        if isinstance(before, Themis):
            self.active_ms, self.counted_ms = before.active_ms, before.counted_ms
            for job in kept:
                self._know(job)
                self.leases[job], self.since[job] = before.leases[job], before.since[job]
        self.counted_ms = now_ms

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "leases": sorted(self.leases.items()), "active_ms": self.active_ms, "counted_ms": self.counted_ms,
            "since": [(job, *entry) for job, entry in sorted(self.since.items())],
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.leases = {int(job): int(slot) for job, slot in state["leases"]}
        self.since = {int(job): (int(ms), float(active)) for job, ms, active in state["since"]}
        self.active_ms, self.counted_ms = float(state["active_ms"]), int(state["counted_ms"])
        for job in self.shapes:
            self._know(job)

    @property
    def local(self) -> bool:
        """True if a gang on one server is faster."""
        return self.training.name == "pd-ors"

    def _count(self, now_ms: int) -> None:
        self.active_ms += (now_ms - self.counted_ms) * len(self.shapes)
        self.counted_ms = now_ms

    def _know(self, job: int) -> None:
        """Greatest speed of an active job alone, with any number of workers up to its demand."""
        row, shape, most = self.jobs[job], self.shapes[job], self._most(job)
        places = Places(Packing(self.servers, everywhere=True), self.servers, self.local)
        best = 0.0
        while places.workers.get(job, 0) < most and places.grow(job, shape, most):
            best = max(best, self.training.per_slot(row, places.workers[job], places.on_one(job)))
        self.ideal[job] = best

    def _most(self, job: int) -> int:
        most, requested = min(self.shapes[job].most, MAX_WORKERS), self.jobs[job].requested_workers
        return min(most, requested) if requested and self.parameters.demand == REQUESTED else most

    def _contenders(self, now_ms: int, job: int) -> float:
        """Mean number of active jobs since the entry of a job, itself included."""
        entry_ms, active = self.since[job]
        return (self.active_ms - active) / (now_ms - entry_ms) if now_ms > entry_ms else float(len(self.shapes))

    def _rho(self, now_ms: int, job: int) -> float:
        """Finish-time fairness of a job with all its workers from now on."""
        slot_ms, speed = self.cluster.slot_ms, self.ideal[job]
        elapsed = (now_ms - self.jobs[job].arrival_ms) / slot_ms
        alone = self.training.work(self.jobs[job]) / speed
        return (elapsed + self._left_at(job, now_ms / slot_ms) / speed) / (alone * self._contenders(now_ms, job))

    def _bidder(self, now_ms: int, slot: int, job: int) -> Bidder:
        row, shape = self.jobs[job], self.shapes[job]
        assert row.worker is not None
        assert row.ps is not None
        total, ratio = self.servers.total, shape.need / shape.give
        demands = ((row.worker[r] + ratio * row.ps[r]) / total[r] for r in self.servers.limited if total[r])
        elapsed, left = (now_ms - row.arrival_ms) / self.cluster.slot_ms, max(EPSILON, self._left_at(job, slot))
        together, spread = (left / self.training.per_slot(row, 1, one_server) for one_server in (True, False))
        return Bidder(job, shape, self._most(job), elapsed, together, spread, max(EPSILON, max(demands, default=0.0)))

    def _as_before(self, leased: Mapping[int, Units], places: Places) -> Places:
        """The same numbers of workers, on their previous servers if these are as fast, else on free capacity."""
        found = places.units()
        stays = {
            job: units for job, units in self.held.items()
            if job in found and workers_of(units) == workers_of(found[job])
            and all(self.servers.open[server] for _, server, _ in units)
            and self.speed(job, units) >= self.speed(job, found[job])
        }  # fmt: skip
        if all(units == found[job] for job, units in stays.items()):
            return places
        packing = Packing(self.servers)
        for job, units in leased.items():
            packing.take(self.shapes[job], units)
        again = Places(packing, self.servers, self.local)
        for job, units in (*stays.items(), *((job, units) for job, units in found.items() if job not in stays)):
            if not again.put(job, self.shapes[job], units):
                return places
        return again
