"""OASiS: admission and scheduling of asynchronous training jobs by resource prices (Algorithms 1 and 2).

When a job arrives, its best schedule is found at current prices; it is admitted if its utility exceeds what the
schedule costs, and then runs exactly so: as many workers and parameter servers in each slot as planned, on the servers
planned.

Differs from the paper:
- Price bounds: see pricing/prices.py. A schedule's least cost is found over worker-slots: see solvers/window.py.
- A worker with bandwidth 0 and no gradients needs one parameter server, not none.
- Servers that may hold both roles are divided: `worker_share` of them hold workers, the rest parameter servers. Servers
  with GPUs become worker servers first, spread evenly over the cluster's order.
- A cluster without a horizon gets one: see pricing/price_based.py.
- With the training model of PD-ORS (parameter `model`) a job runs at its external rate, with at most F workers, ceil(y
  / gamma) parameter servers, and no bandwidth; machines with both roles are divided as everywhere.
- A server may have known outages, in which it holds nothing. Price bounds still use the whole capacity.
- A completion slot counts from the arrival slot, the first slot that begins at or after the arrival.
- The decision about a rejected job includes a schedule with (nearly) the highest payoff; the paper needs none.
- Where a job is so large that need x workers exceeds CELLS (slotted/oasis/quote.py, far beyond the paper), its workers
  come in equal lots, and a job whose window has more than MAX_CURVE slots x workers runs with fewer workers at a time.
  No job takes more memory than that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.quotes import Deadline, PriceQuote
from scheduling.model.admission import Room, impossible, missing_part
from scheduling.model.bars import COUNT, JOB, ROLE, SERVER, Placement, Role
from scheduling.model.decision import Decision, Reason, Verdict
from scheduling.model.training_models import (
    LIMITS,
    NEEDS,
    TRAINING_MODELS,
    TRAINING_TITLES,
    as_oasis,
    oasis_minibatch_ms,
    oasis_worker_slots,
)
from scheduling.model.utility import arrival_slot, utility_at
from scheduling.model.values import RESOURCES, Cluster, Demand, Job
from scheduling.slotted.execution import Slotted
from scheduling.slotted.oasis.provable import PROVABLE, provable_bounds
from scheduling.slotted.oasis.quote import Quote, Units, most_at_once, no_capacity
from scheduling.slotted.oasis.roles import divide_roles
from scheduling.slotted.pricing.price_based import PriceBased
from scheduling.slotted.pricing.price_breakdown import Held, costs
from scheduling.slotted.pricing.prices import (
    MODES,
    PriceBook,
    PriceParameters,
    PriceParams,
    estimate,
)
from scheduling.slotted.solvers.window import Best, near_best
from scheduling.slotted.time_slots import (
    away_slots,
    bars_of,
    cells_of,
)


@dataclass(frozen=True, slots=True)
class OasisParameters(PriceParameters):
    """Parameters of OASiS."""

    price_mode: str = parameter(
        "marginal",
        "Marginal (default), literal (as printed in the paper), or provable (low enough for a proof of the "
        "competitive ratio)",
        choices=(*MODES, PROVABLE),
        title="Price floor",
    )
    model: str = parameter(
        "oasis",
        "Either oasis (chunks, bandwidth) or pd-ors (samples, no bandwidth)",
        choices=TRAINING_TITLES,
        title="Training model",
    )
    worker_share: float = parameter(
        0.5,
        "Share of the servers with both roles that are used for workers",
        low=0.0,
        high=1.0,
        title="Share of worker servers",
    )


class Oasis(PriceBased):
    """OASiS with one final decision per job, on arrival."""

    model = Slotted(supports=TRAINING_MODELS)
    name = "oasis"
    title = "OASiS"
    paper = "Bao, Peng, Wu, Li: Online Job Scheduling in Distributed Machine Learning Clusters, INFOCOM 2018"
    summary = (
        "Prices each resource by its utilization; admits a job if its utility exceeds the price of its best schedule."
    )
    needs = ("epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb", "worker", "ps", "utility")
    Parameters = OasisParameters

    def seen(self, cluster: Cluster) -> Cluster:
        return replace(cluster, servers=divide_roles(cluster.servers, self.parameters.worker_share))

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.training = self.parameters.model
        self.limits = LIMITS[self.training]
        self.needed = self.needs if self.training == "oasis" else (*NEEDS[self.training], "utility")
        self.rows = [self._converted(job) for job in jobs]
        divided = self.seen(cluster).servers
        self.fits = Room(self.seen(cluster), limits=self.limits)
        self.members = [
            np.array([i for i, s in enumerate(divided) if role in s.roles], dtype=np.int64) for role in ("worker", "ps")
        ]
        capacity = np.array([s.capacity for s in divided], dtype=np.int64).reshape(-1, len(RESOURCES))
        capacity[:, len(self.limits) :] = 0
        workers, ps = (capacity[members] for members in self.members)
        away = away_slots(divided, self.horizon, cluster.slot_ms)
        self.bounds = self._estimate(workers, ps)
        self.books = self._empty_books(workers, ps, away)

    def _empty_books(self, workers: np.ndarray, ps: np.ndarray, away: np.ndarray) -> tuple[PriceBook, PriceBook]:
        """Books of the slots of `away` [slot, server], at the current bounds. Capacities: [server, resource]."""
        bounds, slots, (hosts, ps_hosts) = self.bounds, len(away), self.members
        return (
            PriceBook(workers, slots, bounds.worker_floor, bounds.worker_ceiling, away[:, hosts]),
            PriceBook(ps, slots, bounds.ps_floor, bounds.ps_ceiling, away[:, ps_hosts]),
        )

    def _grow(self, horizon: int) -> None:
        away = away_slots(self.cluster.servers, horizon, self.cluster.slot_ms, self.horizon)
        workers, ps = (book.capacity.T for book in self.books)
        for book, more in zip(self.books, self._empty_books(workers, ps, away), strict=True):
            book.append(more)

    def _estimate(self, workers: np.ndarray, ps: np.ndarray) -> PriceParams:
        """Bounds from the sample. Capacities: thousandths, [server, resource]."""
        p, sample = self.parameters, self.rows[: self.sample]
        horizon, window = self._known_slots()
        if p.price_mode == PROVABLE:
            return provable_bounds(
                sample, workers, ps, self.cluster.slot_ms, horizon, window or horizon, self.training, p.floor_scale
            )
        return estimate(sample, workers, ps, self.cluster.slot_ms, horizon, p.price_mode, p.floor_scale, window)

    def _reprice(self) -> None:
        workers, ps = (book.capacity.T for book in self.books)
        bounds = self._estimate(workers, ps)
        if bounds == self.bounds:
            return
        self.bounds = bounds
        self.books[0].set_bounds(self.bounds.worker_floor, self.bounds.worker_ceiling)
        self.books[1].set_bounds(self.bounds.ps_floor, self.bounds.ps_ceiling)

    def _learn(self, arrived: int) -> bool:
        self.rows += [self._converted(job) for job in self.jobs[len(self.rows) : arrived]]
        return super()._learn(arrived)

    def record_changed(self, job: int) -> None:
        self.rows[job] = self._converted(self.jobs[job])

    def _decide(self, now_ms: int, job: int, record: Job) -> Decision:
        row = self.rows[job]
        reason, found = self._consider(now_ms, record)
        if found is None:
            return _rejected(job, reason)
        workers, ps, finish_slot = found
        for book, demand, units in zip(self.books, _demands(row), (workers, ps), strict=True):
            book.take(demand, units.slots, units.servers, units.counts)
        bars = self._bars(job, Role.WORKER, workers) + self._bars(job, Role.PS, ps)
        finish_ms = (finish_slot + 1) * self.cluster.slot_ms
        return Decision(plan={job: bars}, finishes={job: finish_ms}, verdicts=(Verdict(job, "admitted", reason),))

    def quote(self, now_ms: int, job: Job, most_workers: int | None = None) -> PriceQuote:
        self.deadline.left()
        quote = self._inspect(now_ms, job, most_workers)
        if isinstance(quote, Reason):
            return PriceQuote(False)
        found = quote.paying()
        return PriceQuote(False) if found is None else PriceQuote(True, found.cost, quote.first + found.last)

    def admits_later(self, job: Job, slots: Iterable[int]) -> Iterator[bool]:
        """Admission at later slots, without evaluating the servers again."""
        if self.ends_unknown:  # the window moves with the arrival
            yield from super().admits_later(job, slots)
            return
        quote = None
        for slot in slots:
            self.deadline.left()
            now_ms = slot * self.cluster.slot_ms
            if quote is None or not quote.put_off(slot):
                found = self._inspect(now_ms, replace(job, arrival_ms=now_ms), None)
                quote = None if isinstance(found, Reason) else found
            yield quote is not None and quote.paying() is not None

    def clone(self) -> Oasis:
        new = copy(self)
        new.books, new.deadline = (self.books[0].copy(), self.books[1].copy()), Deadline()
        new.rows = list(self.rows)
        return new

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        """Share of the W worker-slots that is still planned; plans can have a few more than the job needs."""
        planned_ms = sum(
            bar.count * (bar.end_ms - max(bar.start_ms, now_ms)) for bar in bars if bar.role == Role.WORKER
        )
        return min(1.0, planned_ms / self.cluster.slot_ms / oasis_worker_slots(self.rows[job], self.cluster.slot_ms))

    def _hold(self, bars: np.ndarray, sign: int = 1) -> None:
        slot_ms = self.cluster.slot_ms
        for role, (book, members) in enumerate(zip(self.books, self.members, strict=True)):
            place = np.full(len(self.cluster.servers), -1)
            place[members] = np.arange(len(members))
            own = bars[bars[:, ROLE] == role]
            rows, slots = cells_of(own, slot_ms)
            demands = np.array(
                [(self.rows[job].worker, self.rows[job].ps)[role] for job in own[:, JOB].tolist()], dtype=np.int64
            )
            amounts = demands.reshape(-1, len(RESOURCES)) * own[:, COUNT, None] * sign
            book.hold(slots, place[own[rows, SERVER]], amounts[rows])

    def _consider(
        self, now_ms: int, job: Job, most_workers: int | None = None
    ) -> tuple[Reason, tuple[Units, Units, int] | None]:
        """Decision about a job that arrives now, with workers, parameter servers and last slot if it is admitted."""
        quote = self._inspect(now_ms, job, most_workers)
        if isinstance(quote, Reason):
            return quote, None
        best = quote.best()
        found = best or near_best(quote.need, quote.utility, quote.curves, quote.least_unit)
        if found is None:
            return quote.no_capacity(), None
        workers, ps = quote.place(found)
        values = self._explain(quote.job, quote.first, found, workers, ps)
        if best is None:
            return Reason("payoff_not_positive", values), None
        return Reason("payoff_positive", values), (workers, ps, quote.first + best.last)

    def _inspect(self, now_ms: int, job: Job, most_workers: int | None) -> Reason | Quote:
        """Quote for a job that arrives now, or the reason why it cannot run."""
        first = self._submitted(now_ms)
        reason = impossible(job, self.needed, self.fits, self.training)
        row = self._converted(job)
        reason = reason or self._ends_too_late(row, first, most_workers)
        if reason is not None:
            return reason
        need = oasis_worker_slots(row, self.cluster.slot_ms)
        end = self._end(first)
        most = most_at_once(row, need, end - first, self.books[0], most_workers)
        if need > most * (end - first):  # not even on an empty cluster
            return no_capacity("worker", need, end - first)
        late = first - arrival_slot(job.arrival_ms, self.cluster.slot_ms)
        return Quote(row, need, most, first, end, self.books, self.training, late)

    def prices(self, slots: np.ndarray) -> np.ndarray:
        shown = np.full((len(slots), len(self.cluster.servers), len(RESOURCES)), np.nan)
        inside = (slots >= 0) & (slots < self.horizon)
        for book, members in zip(self.books, self.members, strict=True):
            shown[np.ix_(inside, members)] = book.prices(slots[inside])
        return shown

    def state(self) -> dict[str, Any]:
        books = {"workers": self.books[0].state(), "ps": self.books[1].state()}
        return books | {"arrived": self.arrived, "horizon": self.horizon}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._learn(state["arrived"])
        self._reach_saved(state, state["workers"], state["ps"])
        self.books[0].restore(state["workers"])
        self.books[1].restore(state["ps"])

    def _converted(self, job: Job) -> Job:
        """Job with the fields of OASiS."""
        return job if self.parameters.model == "oasis" else as_oasis(job)

    def _least(self, jobs: Sequence[Job], slot_ms: int) -> list[int]:
        return _least_slots([self._converted(job) for job in jobs], slot_ms)

    def _ends_too_late(self, job: Job, first: int, most_workers: int | None) -> Reason | None:
        """Reason why the job cannot end before the horizon even on an empty cluster."""
        assert job.num_chunks is not None
        left = max(0, self._end(first) - first)
        need = -(-oasis_worker_slots(job, self.cluster.slot_ms) // (most_workers or job.num_chunks))
        return Reason("too_late", {"need_slots": need, "left_slots": left}) if need > left else None

    def _explain(self, job: Job, first: int, best: Best, workers: Units, ps: Units) -> dict[str, Any]:
        """Numbers behind a decision; servers and resources by index, cost in utility."""
        utility = utility_at(job.utility, first + best.last - arrival_slot(job.arrival_ms, self.cluster.slot_ms))
        held = [
            Held(book, demand, units.slots, units.servers, units.counts, names)
            for book, demand, units, names in zip(self.books, _demands(job), (workers, ps), self.members, strict=True)
        ]
        values = {
            "utility": utility,
            "cost": best.cost,
            "payoff": utility - best.cost,
            "start_slot": int(workers.slots.min()),
            "finish_slot": first + best.last,
            "workers_peak": int(best.workers.max()),
        }
        return values | costs(held)

    def _bars(self, job: int, role: Role, units: Units) -> list[Placement]:
        return bars_of(job, role, units.slots, self.members[role][units.servers], units.counts, self.cluster.slot_ms)


def _demands(job: Job) -> tuple[Demand, Demand]:
    """Demands of a worker and of a parameter server, which `impossible` has checked to be there."""
    assert job.worker is not None
    assert job.ps is not None
    return job.worker, job.ps


def _rejected(job: int, reason: Reason) -> Decision:
    return Decision(verdicts=(Verdict(job, "rejected", reason),))


def _least_slots(rows: Sequence[Job], slot_ms: int) -> list[int]:
    """Slots of each job with all its workers, of those that can end."""
    able = [row for row in rows if missing_part(row, Oasis.needs) is None and math.isfinite(oasis_minibatch_ms(row))]
    return [-(-oasis_worker_slots(row, slot_ms) // (row.num_chunks or 1)) for row in able]
