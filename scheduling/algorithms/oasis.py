"""OASiS: admission and scheduling of asynchronous training jobs by resource prices (Algorithms 1 and 2).

When a job arrives, its best schedule is found at current prices; it is admitted if its utility exceeds what the
schedule costs, and then runs exactly so: as many workers and parameter servers in each slot as planned, on the servers
planned.

Differs from the paper:
- Price bounds: see prices.py. A schedule's least cost is found over worker-slots: see solvers/window.py.
- A worker with bandwidth 0 and no gradients needs one parameter server, not none.
- Servers that may hold both roles are divided: `worker_share` of them hold workers, the rest parameter servers. Servers
  with GPUs become worker servers first, spread evenly over the cluster's order.
- A cluster without a horizon gets one that lets slots.FINISH_SHARE of the jobs finish however late they arrive.
- With the training model of PD-ORS (parameter `model`) a job runs at its external rate, with at most F workers, ceil(y
  / gamma) parameter servers, and no bandwidth; machines with both roles are divided as everywhere.
- A server may have known outages, in which it holds nothing. Price bounds still use the whole capacity.
- A completion slot counts from the arrival slot, the first slot that begins at or after the arrival.
- The decision about a rejected job includes a schedule with (nearly) the highest payoff; the paper needs none.
- Where a job is so large that need x workers exceeds CELLS (far beyond the paper), its workers come in equal lots,
  and a job whose window has more than MAX_CURVE slots x workers runs with fewer workers at a time. No job takes more
  memory than that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.quotes import Deadline, PriceQuote
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.admission import Room, impossible, missing_part
from scheduling.model.training_models import (
    BANDWIDTH,
    LIMITS,
    NEEDS,
    TRAINING_MODELS,
    as_oasis,
    oasis_minibatch_ms,
    oasis_ps,
    oasis_worker_slots,
    pd_ors_ps,
)
from scheduling.model.utility import arrival_slot, utility_at, utility_over
from scheduling.model.values import RESOURCES, Cluster, Decision, Demand, Job, Placement, Reason, Role, Server, Verdict
from scheduling.slotted.execution import Slotted
from scheduling.slotted.price_breakdown import Held, costs
from scheduling.slotted.prices import (
    HISTORY,
    PriceBook,
    PriceParameters,
    PriceParams,
    estimate,
    grid_of,
    sample_size,
    window_slots,
)
from scheduling.slotted.solvers.slot_cost import fill, marginal_costs, prefix, relaxed_marginals
from scheduling.slotted.solvers.window import Best, best_completion, near_best
from scheduling.slotted.time_slots import (
    away_slots,
    bars_of,
    cells_of,
    check_known,
    check_size,
    own_horizon,
    whole_slots,
)

MAX_UNITS = 100_000  # workers of one job in one slot
MAX_CURVE = 16_000_000  # slots of the window x workers: 128 MB for each of some arrays
MAX_KEPT = 1_000_000  # the same, of curves for all slots at once
CELLS = 4_000_000  # worker-slots x workers that are planned worker by worker


@dataclass(frozen=True, slots=True)
class OasisParameters(PriceParameters):
    """Parameters of OASiS."""

    model: str = parameter(
        "oasis", "training model: oasis (chunks, bandwidth) or pd-ors (samples, no bandwidth)", choices=TRAINING_MODELS
    )
    worker_share: float = parameter(0.5, "share of servers with both roles that host workers", low=0.0, high=1.0)


class Units(NamedTuple):
    """Positions of the units of one role: parallel arrays, one row per (slot, server)."""

    slots: np.ndarray
    servers: np.ndarray  # position within the role's book
    counts: np.ndarray
    cost: np.ndarray  # of one unit there


class Oasis(BaseScheduler):
    """OASiS with one final decision per job, on arrival."""

    model = Slotted(supports=TRAINING_MODELS)
    name = "oasis"
    title = "OASiS"
    paper = "Bao, Peng, Wu, Li: Online Job Scheduling in Distributed Machine Learning Clusters, INFOCOM 2018"
    summary = (
        "Prices each resource by its utilization; admits a job if its utility exceeds the price of its best schedule."
    )
    needs = ("epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb", "worker", "ps", "utility")
    quotes = True
    keeps_plans = final = True
    Parameters = OasisParameters
    horizon: int

    def check(self, cluster: Cluster) -> None:
        if cluster.horizon_slots is not None:  # a horizon of its own is known only with the jobs
            check_size(self.name, cluster, cluster.horizon_slots)
        else:
            check_known(self.name, self.parameters.estimate_from)

    def seen(self, cluster: Cluster) -> Cluster:
        return replace(cluster, servers=divide_roles(cluster.servers, self.parameters.worker_share))

    def horizon_for(self, cluster: Cluster, jobs: Sequence[Job]) -> int:
        rows = jobs if self.parameters.model == "oasis" else [as_oasis(job) for job in jobs]
        return self._horizon(cluster, rows)

    @staticmethod
    def _horizon(cluster: Cluster, rows: Sequence[Job]) -> int:
        return cluster.horizon_slots or own_horizon(rows, _least_slots(rows, cluster.slot_ms), cluster.slot_ms)

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.training = self.parameters.model
        self.limits = LIMITS[self.training]
        self.needed = self.needs if self.training == "oasis" else (*NEEDS[self.training], "utility")
        self.rows = [self._converted(job) for job in jobs]
        self.horizon = self._horizon(cluster, self.rows)
        check_size(self.name, cluster, self.horizon)
        divided = self.seen(cluster).servers
        self.fits = Room(self.seen(cluster), limits=self.limits)
        self.members = [
            np.array([i for i, s in enumerate(divided) if role in s.roles], dtype=np.int64) for role in ("worker", "ps")
        ]
        capacity = np.array([s.capacity for s in divided], dtype=np.int64).reshape(-1, len(RESOURCES))
        capacity[:, len(self.limits) :] = 0
        workers, ps = (capacity[members] for members in self.members)
        away = away_slots(divided, self.horizon, cluster.slot_ms)
        self.sample = sample_size(self.parameters.estimate_from, 0, len(jobs))
        self.bounds = self._estimate(workers, ps)
        self.books = (
            PriceBook(
                workers, self.horizon, self.bounds.worker_floor, self.bounds.worker_ceiling, away[:, self.members[0]]
            ),
            PriceBook(ps, self.horizon, self.bounds.ps_floor, self.bounds.ps_ceiling, away[:, self.members[1]]),
        )

    def _estimate(self, workers: np.ndarray, ps: np.ndarray) -> PriceParams:
        """Bounds from the sample. Capacities: thousandths, [server, resource]."""
        p, slot_ms, sample = self.parameters, self.cluster.slot_ms, self.rows[: self.sample]
        window = None
        if p.estimate_from == HISTORY:
            window = window_slots(sample, _least_slots(sample, slot_ms), self.horizon, slot_ms)
        return estimate(sample, workers, ps, slot_ms, self.horizon, p.price_mode, p.floor_scale, window)

    def _learn(self, arrived: int) -> bool:
        """Estimates the bounds again when the number of arrived jobs has doubled; true if it did."""
        size = sample_size(self.parameters.estimate_from, arrived, len(self.jobs))
        if size == self.sample:
            return False
        self.sample = size
        workers, ps = (book.capacity.T for book in self.books)
        self.bounds = self._estimate(workers, ps)
        self.books[0].set_bounds(self.bounds.worker_floor, self.bounds.worker_ceiling)
        self.books[1].set_bounds(self.bounds.ps_floor, self.bounds.ps_ceiling)
        return True

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        repriced, row = self._learn(job + 1), self.rows[job]
        reason, found = self._consider(now_ms, self.jobs[job])
        if found is None:
            return replace(_rejected(job, reason), repriced=repriced)
        workers, ps, finish_slot = found
        for book, demand, units in zip(self.books, _demands(row), (workers, ps), strict=True):
            book.take(demand, units.slots, units.servers, units.counts)
        bars = self._bars(job, Role.WORKER, workers) + self._bars(job, Role.PS, ps)
        finish_ms = (finish_slot + 1) * self.cluster.slot_ms
        return Decision(
            plan={job: bars}, finishes={job: finish_ms}, verdicts=(Verdict(job, "admitted", reason),), repriced=repriced
        )

    def explain(self, now_ms: int, job: Job, most_workers: int | None = None) -> Reason:
        return self._consider(now_ms, job, most_workers)[0]

    def quote(self, now_ms: int, job: Job, most_workers: int | None = None) -> PriceQuote:
        self.deadline.left()
        quote = self._inspect(now_ms, job, most_workers)
        if isinstance(quote, Reason):
            return PriceQuote(False)
        found = quote.paying()
        return PriceQuote(False) if found is None else PriceQuote(True, found.cost, quote.first + found.last)

    def admits_later(self, job: Job, slots: Iterable[int]) -> Iterator[bool]:
        """Admission at later slots, without evaluating the servers again."""
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
        return new

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        """Share of the W worker-slots that is still planned; plans can have a few more than the job needs."""
        planned_ms = sum(
            bar.count * (bar.end_ms - max(bar.start_ms, now_ms)) for bar in bars if bar.role == Role.WORKER
        )
        return min(1.0, planned_ms / self.cluster.slot_ms / oasis_worker_slots(self.rows[job], self.cluster.slot_ms))

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        arrived = sum(job.arrival_ms <= now_ms for job in self.jobs)
        self._learn(arrived)
        if kept:
            self.assume(whole_slots(kept, self.cluster.slot_ms, self.horizon), arrived)

    def assume(self, bars: np.ndarray, arrived: int) -> None:
        self._learn(arrived)
        slot_ms = self.cluster.slot_ms
        for role, (book, members) in enumerate(zip(self.books, self.members, strict=True)):
            place = np.full(len(self.cluster.servers), -1)
            place[members] = np.arange(len(members))
            own = bars[bars[:, 1] == role]
            rows, slots = cells_of(own, slot_ms)
            demands = np.array(
                [(self.rows[job].worker, self.rows[job].ps)[role] for job in own[:, 0].tolist()], dtype=np.int64
            )
            amounts = demands.reshape(-1, len(RESOURCES)) * own[:, 5:6]
            book.hold(slots, place[own[rows, 2]], amounts[rows])

    def _consider(
        self, now_ms: int, job: Job, most_workers: int | None = None
    ) -> tuple[Reason, tuple[Units, Units, int] | None]:
        """Decision about a job that arrives now, with workers, parameter servers and last slot if it is admitted."""
        quote = self._inspect(now_ms, job, most_workers)
        if isinstance(quote, Reason):
            return quote, None
        best = best_completion(quote.need, quote.utility, quote.curves, quote.least_unit)
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
        first = arrival_slot(now_ms, self.cluster.slot_ms)
        reason = impossible(job, self.needed, self.fits, self.training)
        row = self._converted(job)
        reason = reason or self._hopeless(row, first, most_workers)
        if reason is not None:
            return reason
        need = oasis_worker_slots(row, self.cluster.slot_ms)
        most = most_at_once(row, need, self.horizon - first, self.books[0], most_workers)
        if need > most * (self.horizon - first):  # not even on an empty cluster
            return no_capacity("worker", need, self.horizon - first)
        late = first - arrival_slot(job.arrival_ms, self.cluster.slot_ms)
        return Quote(row, need, most, first, self.horizon, self.books, self.training, late)

    def prices(self, slots: np.ndarray) -> np.ndarray:
        shown = np.full((len(slots), len(self.cluster.servers), len(RESOURCES)), np.nan)
        inside = (slots >= 0) & (slots < self.horizon)
        for book, members in zip(self.books, self.members, strict=True):
            shown[np.ix_(inside, members)] = book.prices(slots[inside])
        return shown

    def state(self) -> dict[str, Any]:
        return {"workers": self.books[0].state(), "ps": self.books[1].state(), "sample": self.sample}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._learn(state["sample"])
        self.books[0].restore(state["workers"])
        self.books[1].restore(state["ps"])

    def _converted(self, job: Job) -> Job:
        """Job with the fields of OASiS."""
        return job if self.training == "oasis" else as_oasis(job)

    def _hopeless(self, job: Job, first: int, most_workers: int | None) -> Reason | None:
        """Reason why the job cannot end before the horizon even on an empty cluster."""
        assert job.num_chunks is not None
        left = max(0, self.horizon - first)
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


class Quote:
    """Costs of one job: cost curves over its window, in lots of workers (one worker, unless the job is huge)."""

    def __init__(
        self, job: Job, need: int, most: int, first: int, horizon: int, books: tuple[PriceBook, PriceBook],
        training: str = "oasis", late: int = 0,
    ) -> None:  # fmt: skip
        """need: worker-slots, at most `most` per slot. training: the training model, for parameter servers.

        late: slots since the job arrived, when it is offered again.
        """
        assert job.worker is not None
        assert job.ps is not None
        assert job.utility is not None
        self.job, self.first, self.horizon, self.books = job, first, horizon, books
        self.demands: tuple[Demand, Demand] = (job.worker, job.ps)
        self.worker_slots, self.most = need, most
        self.lot = 1
        while self.lot < most and -(-need // self.lot) * (most // self.lot) > CELLS:
            self.lot += 1
        self.need = -(-need // self.lot)
        if training == "oasis":
            self.ps = np.array([oasis_ps(job, y) for y in range(self.most + 1)])  # parameter servers of y workers
            self.ratio = job.worker[BANDWIDTH] / job.ps[BANDWIDTH] if job.ps[BANDWIDTH] else 0.0
        else:
            self.ps = np.array([pd_ors_ps(job, y) for y in range(self.most + 1)])
            self.ratio = 1 / (job.workers_per_ps or 1)
        self.utility = utility_over(job.utility, np.arange(late, late + horizon - first))
        self.grid = grid_of(utility_at(job.utility, 0))
        worker, ps = (
            np.rint(b.least_cost(d) / self.grid) * self.grid for b, d in zip(books, self.demands, strict=True)
        )
        self.least_unit = float(worker + self.ratio * ps) * self.lot
        self.known: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}

    def put_off(self, slot: int) -> bool:
        """Moves the quote to an arrival in a later slot.

        False if more workers might be tried then or curves are large.
        """
        window = self.horizon - self.first
        if self.most >= MAX_CURVE // window or window * self.most > MAX_KEPT:
            return False
        if (self.first, self.horizon) not in self.known:
            self.curves(0, window)
        cost, relaxed = self.known[self.first, self.horizon]
        skipped = slot - self.first
        self.first, self.utility = slot, self.utility[: window - skipped]
        self.known = {(slot, self.horizon): (cost[skipped:], relaxed[skipped:])}
        return True

    def curves(self, first: int, past: int) -> tuple[np.ndarray, np.ndarray]:
        """Cost of 0, 1, ... lots of workers with their parameter servers in slots first..past of the window."""
        wanted = self.first + first, self.first + past
        if wanted in self.known:
            return self.known[wanted]
        whole = self.known.get((self.first, self.horizon))
        if whole is not None:
            return whole[0][first:past], whole[1][first:past]
        window = slice(*wanted)
        worker, ps = (
            marginal_costs(self._unit_cost(book, demand, window), book.room(demand, window, most), most)
            for book, demand, most in zip(self.books, self.demands, (self.most, int(self.ps[-1])), strict=True)
        )
        cost = prefix(worker) + prefix(ps)[:, self.ps]
        relaxed = relaxed_marginals(worker, ps, self.ratio)
        if self.lot > 1:
            cost = cost[:, :: self.lot]
            lots = cost.shape[1] - 1
            relaxed = relaxed[:, : lots * self.lot].reshape(len(relaxed), lots, self.lot).sum(axis=2)
        self.known[wanted] = cost, relaxed
        return cost, relaxed

    def paying(self) -> Best | None:
        """A completion with a positive payoff, if there is one."""
        return best_completion(self.need, self.utility, self.curves, self.least_unit, soon=True)

    def place(self, best: Best) -> tuple[Units, Units]:
        """The servers of the chosen schedule, cheapest first in every slot."""
        used = np.flatnonzero(best.workers)
        slots = used + self.first
        workers = best.workers[used] * self.lot
        placed = []
        for book, demand, counts in zip(self.books, self.demands, (workers, self.ps[workers]), strict=True):
            unit = self._unit_cost(book, demand, slots)
            rows, servers, taken = fill(unit, book.room(demand, slots, int(counts.max())), counts)
            placed.append(Units(slots[rows], servers, taken, unit[rows, servers]))
        return placed[0], placed[1]

    def _unit_cost(self, book: PriceBook, demand: Demand, slots: slice | np.ndarray) -> np.ndarray:
        return np.rint(book.unit_cost(demand, slots) / self.grid) * self.grid

    def no_capacity(self) -> Reason:
        """Role without capacity: the workers, if there is no room for the work even without parameter servers."""
        window = slice(self.first, self.horizon)
        room = self.books[0].room(self.demands[0], window, self.most).sum(axis=1)
        free = int(np.minimum(room, self.most).sum())
        role = "worker" if free < self.worker_slots else "ps"
        return no_capacity(role, self.worker_slots, self.horizon - self.first)


def most_at_once(job: Job, need: int, slots: int, book: PriceBook, limit: int | None = None) -> int:
    """Workers that the job can have in one slot of its window; limit: instead of its chunks."""
    assert job.worker is not None
    assert job.num_chunks is not None
    return int(min(limit or job.num_chunks, need, book.empty_room(job.worker), MAX_UNITS, max(1, MAX_CURVE // slots)))


def no_capacity(role: str, need: int, slots: int) -> Reason:
    """Reason: `need` worker-slots do not fit into the remaining slots."""
    return Reason("no_capacity", {"role": role, "need_worker_slots": need, "left_slots": slots})


def divide_roles(servers: Sequence[Server], worker_share: float) -> tuple[Server, ...]:
    """Cluster in which each server has one role: of those with both the first `worker_share`, GPUs first, host workers.

    Within each kind the choice is spread evenly over the order given, so that no site or rack is left out.
    """
    both = [i for i, s in enumerate(servers) if len(s.roles) > 1]
    wanted = math.ceil(worker_share * len(both))
    with_gpu = [i for i in both if servers[i].capacity[0] > 0]
    without = [i for i in both if servers[i].capacity[0] == 0]
    of_gpu = min(wanted, len(with_gpu))
    workers = set(_spread(with_gpu, of_gpu)) | set(_spread(without, wanted - of_gpu))
    return tuple(
        s if len(s.roles) == 1 else replace(s, roles=("worker",) if i in workers else ("ps",))
        for i, s in enumerate(servers)
    )


def _spread(items: Sequence[int], count: int) -> list[int]:
    """Selection of `count` items at even distances, including the first one."""
    return [item for k, item in enumerate(items) if -(-(k + 1) * count // len(items)) > -(-k * count // len(items))]


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
