"""PD-ORS: admission and scheduling by resource prices where workers and parameter servers share machines.

Algorithms 1-4 of Yu, Liu, Wu, Ji, Bentley, "Toward Efficient Online Scheduling for Distributed Machine Learning
Systems".

When a job arrives, its best schedule at current prices is found; it is admitted if its utility exceeds what the
schedule costs, and then runs exactly so. In each slot its units are on one machine (internal: fast) or on any
(external: slow).

Placements on several machines: in mode `production` a nested greedy, and integer programs for those that the plan uses
(2 passes: the plan is made again once if one got cheaper); in mode `paper` the linear relaxation, rounded at random,
and where no rounding is feasible the greedy or an integer program. If a solver fails or runs out of time, the best
known placement stays; the decision's numbers then say how often: `solver_limit` and `solver_error`, or
`relaxation_limit` and `relaxation_error` of a linear program.

Differs from the paper:
- Price bounds: see pd_ors/prices.py. Plans are made of worker counts per slot, not of samples: see
  solvers/knapsack.py. The work of short jobs is counted exactly, that of long ones in the finest parts that keep the
  programs small: see pd_ors/work.py.
- At least ceil(w / gamma) parameter servers accompany w workers; Problem (23) has no such row, so it would take
  none.
- An external placement that happens to be on one machine counts at the internal rate, which it has (Fact 1).
- A cluster without a horizon gets one: see pricing/price_based.py.
- A server may have known outages, in which it holds nothing. Servers with one role hold only that.
- The decision about a rejected job includes a schedule with (nearly) the highest payoff; the paper needs none.
- A job has at most MAX_UNITS workers in a slot, and fewer where its window has more than MAX_CURVE slots x workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.quotes import Deadline, PriceQuote
from scheduling.model.admission import Room, impossible, missing_part
from scheduling.model.bars import COUNT, JOB, ROLE, SERVER, Placement, Role
from scheduling.model.decision import Decision, Reason, Verdict
from scheduling.model.training_models import LIMITS, NEEDS, pd_ors_sample_ms, pd_ors_slots
from scheduling.model.utility import arrival_slot, utility_at
from scheduling.model.values import RESOURCES, Cluster, Job
from scheduling.slotted.execution import Slotted
from scheduling.slotted.pd_ors.job_view import COUNTED, counted
from scheduling.slotted.pd_ors.locality import PlacementSearch
from scheduling.slotted.pd_ors.prices import SharedPrices, estimate_shared
from scheduling.slotted.pd_ors.quote import Quote, Schedule
from scheduling.slotted.pricing.price_based import PriceBased
from scheduling.slotted.pricing.price_breakdown import Held, costs
from scheduling.slotted.pricing.prices import PriceBook, PriceParameters
from scheduling.slotted.time_slots import away_slots, bars_of, cells_of

ROLES = (Role.WORKER, Role.PS)
PLACEMENTS = ("production", "paper")


@dataclass(frozen=True, slots=True)
class PdOrsParameters(PriceParameters):
    """Parameters of PD-ORS."""

    mode: str = parameter(
        "production",
        "On several servers: production (greedy, then refined) or paper (rounded linear program)",
        choices=PLACEMENTS, title="Placement",
    )  # fmt: skip
    refine: bool = parameter(
        True,
        "Production: replace the chosen placements by the cheapest ones, found by integer programs",
        title="Refinement",
    )
    rounding_gain: float = parameter(
        1.0,
        "Paper: factor for fractions before rounding; above 1 favours completing the work, below 1 keeping to the "
        "capacities",
        low=0.01, high=10.0,
    )  # fmt: skip
    failure_probability: float | None = parameter(
        None, "Paper: delta; if given, the gain is G_delta: of Eq. (29), or of Eq. (30) if G_delta is above 1",
        type=float, low=1e-9, high=1.0,
    )  # fmt: skip
    tries: int = parameter(
        50,
        "Paper: random roundings per slot and number of workers (5,000 in the paper)",
        low=1,
        high=100_000,
        title="Roundings",
    )
    solver_seconds: float = parameter(
        2.0,
        "For one integer or linear program; afterwards the best known placement is used, and the decision "
        "reports it",
        low=0.0, high=3600.0, unit="s", title="Solver time limit",
    )  # fmt: skip
    first_feasible: int = parameter(
        5,
        "Paper: number of feasible roundings, of which the cheapest is used",
        low=1,
        high=1000,
        title="Feasible roundings",
    )


class PdOrs(PriceBased):
    """PD-ORS with one final decision per job, on arrival."""

    model = Slotted(supports=("pd-ors",))
    name = "pd_ors"
    title = "PD-ORS"
    paper = (
        "Yu, Liu, Wu, Ji, Bentley: Toward Efficient Online Scheduling for Distributed "
        "Machine Learning Systems, TNSE 2022"
    )
    summary = (
        "Prices each resource by its utilization; packs workers and parameter servers "
        "on one server where this is cheaper."
    )
    needs = (*NEEDS["pd-ors"], "utility")
    Parameters = PdOrsParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.fits = Room(cluster, limits=LIMITS["pd-ors"])
        capacity = np.array([s.capacity for s in cluster.servers], dtype=np.int64).reshape(-1, len(RESOURCES))
        capacity[:, COUNTED:] = 0  # no price and no limit
        p = self.parameters
        self.bounds = self._estimate(capacity)
        away = away_slots(cluster.servers, self.horizon, cluster.slot_ms)
        self.book = PriceBook(capacity, self.horizon, self.bounds.floor, self.bounds.ceiling, away)
        self.kinds = np.zeros(self.horizon, dtype=np.int64)
        self.known_kinds: dict[bytes, int] = {}
        self._sort(np.arange(self.horizon))
        self.hosts = [np.array([role in s.roles for s in cluster.servers], dtype=bool) for role in ("worker", "ps")]
        paper = (p.rounding_gain, p.failure_probability, p.tries, p.first_feasible) if p.mode == "paper" else None
        self.search = PlacementSearch(p.refine, p.solver_seconds, paper, self.deadline)
        self.seed = int(rng.integers(2**63))  # of the random draws for a job, so that a decision can be repeated

    def _grow(self, horizon: int) -> None:
        away = away_slots(self.cluster.servers, horizon, self.cluster.slot_ms, self.horizon)
        self.book.append(PriceBook(self.book.capacity.T, len(away), self.bounds.floor, self.bounds.ceiling, away))
        self.kinds = np.concatenate([self.kinds, np.zeros(len(away), dtype=np.int64)])
        self._sort(np.arange(self.horizon, horizon))

    def _estimate(self, capacity: np.ndarray) -> SharedPrices:
        """Bounds from the sample. capacity: thousandths, [server, resource]."""
        p, sample = self.parameters, self.jobs[: self.sample]
        horizon, window = self._known_slots()
        return estimate_shared(sample, capacity, self.cluster.slot_ms, horizon, p.price_mode, p.floor_scale, window)

    def _least(self, jobs: Sequence[Job], slot_ms: int) -> list[int]:
        able = [job for job in jobs if missing_part(job, self.needs) is None]
        return [_least_slots(job, job.global_batch or 1, slot_ms) for job in able]

    def _reprice(self) -> None:
        bounds = self._estimate(self.book.capacity.T)
        if bounds == self.bounds:
            return
        self.bounds = bounds
        self.book.set_bounds(self.bounds.floor, self.bounds.ceiling)

    def _decide(self, now_ms: int, job: int, row: Job) -> Decision:
        reason, schedule = self._consider(now_ms, row)
        if schedule is None:
            return Decision(verdicts=(Verdict(job, "rejected", reason),))
        for demand, units in zip((row.worker, row.ps), schedule.units, strict=True):
            self.book.take(counted(demand), units.slots, units.servers, units.counts)
        self._sort(np.unique(schedule.units[0].slots))
        slot_ms = self.cluster.slot_ms
        bars = [
            bar
            for role, units in zip(ROLES, schedule.units, strict=True)
            for bar in bars_of(job, role, *units, slot_ms)
        ]
        finish_ms = (schedule.last + 1) * slot_ms
        return Decision(plan={job: bars}, finishes={job: finish_ms}, verdicts=(Verdict(job, "admitted", reason),))

    def quote(self, now_ms: int, job: Job, most_workers: int | None = None) -> PriceQuote:
        self.deadline.left()
        quote = self._inspect(now_ms, job, most_workers)
        plan = None if isinstance(quote, Reason) else quote.paying()
        return (
            PriceQuote(False)
            if plan is None
            else PriceQuote(True, plan.cost, arrival_slot(now_ms, self.cluster.slot_ms) + plan.last)
        )

    def admits_later(self, job: Job, slots: Iterable[int]) -> Iterator[bool]:
        """Admission at later slots, mostly without evaluating the machines again."""
        if self.ends_unknown:  # the window moves with the arrival
            yield from super().admits_later(job, slots)
            return
        quote = None
        for slot in slots:
            self.deadline.left()
            now_ms = slot * self.cluster.slot_ms
            moved = replace(job, arrival_ms=now_ms)
            if quote is None or not quote.put_off(slot):
                found = self._inspect(now_ms, moved, None)
                quote = None if isinstance(found, Reason) else found
            answer = False if quote is None or self._ends_too_late(moved, slot, None) else quote.clear()
            yield self.quote(now_ms, moved).admitted if answer is None else answer

    def clone(self) -> PdOrs:
        new = copy(self)
        new.book, new.kinds, new.known_kinds = self.book.copy(), self.kinds.copy(), self.known_kinds.copy()
        new.deadline = Deadline()
        new.search = replace(self.search, deadline=new.deadline, known={})
        return new

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        """Share of the samples that the plan still trains; plans can have a few more than the job needs."""
        row = self.jobs[job]
        edges = sorted({max(ms, now_ms) for bar in bars for ms in (bar.start_ms, bar.end_ms)})
        samples = 0.0
        for begin, end in pairwise(edges):
            standing = [bar for bar in bars if bar.start_ms <= begin < bar.end_ms]
            internal = len({bar.server for bar in standing}) == 1
            workers = sum(bar.count for bar in standing if bar.role == Role.WORKER)
            samples += workers * (end - begin) / pd_ors_sample_ms(row, internal)
        return min(1.0, samples / ((row.epochs or 1) * (row.num_samples or 1)))

    def _hold(self, bars: np.ndarray, sign: int = 1) -> None:
        touched = []
        for role in ROLES:
            own = bars[bars[:, ROLE] == role]
            rows, slots = cells_of(own, self.cluster.slot_ms)
            held, of_bar = np.unique(own[:, JOB], return_inverse=True)
            units = [
                counted(job.ps if role == Role.PS else job.worker) for job in map(self.jobs.__getitem__, held.tolist())
            ]
            amounts = np.array(units, dtype=np.int64).reshape(-1, len(RESOURCES))[of_bar] * own[:, COUNT, None] * sign
            self.book.hold(slots, own[rows, SERVER], amounts[rows])
            touched.append(slots)
        self._sort(np.unique(np.concatenate(touched)))

    def _consider(self, now_ms: int, job: Job, most_workers: int | None = None) -> tuple[Reason, Schedule | None]:
        """Decision about a job that arrives now, with its schedule if it is admitted."""
        quote = self._inspect(now_ms, job, most_workers)
        if isinstance(quote, Reason):
            return quote, None
        plan, found = quote.decide()
        if found is None:
            return quote.no_capacity(), None
        schedule = quote.schedule(found)
        values = self._explain(job, schedule) | quote.notes()
        if plan is None:
            return Reason("payoff_not_positive", values), None
        return Reason("payoff_positive", values), schedule

    def prices(self, slots: np.ndarray) -> np.ndarray:
        shown = np.full((len(slots), len(self.cluster.servers), len(RESOURCES)), np.nan)
        inside = (slots >= 0) & (slots < self.horizon)
        shown[inside] = self.book.prices(slots[inside])
        return shown

    def state(self) -> dict[str, Any]:
        return {"book": self.book.state(), "arrived": self.arrived, "horizon": self.horizon}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._learn(state["arrived"])
        self._reach_saved(state, state["book"])
        self.book.restore(state["book"])
        self._sort(np.arange(self.horizon))

    def _sort(self, slots: np.ndarray) -> None:
        """Kinds of slots: in slots of one kind every machine has the same free capacity."""
        for t in slots.tolist():
            state = self.book.free[:COUNTED, t].tobytes() + self.book.away[t].tobytes()
            self.kinds[t] = self.known_kinds.setdefault(blake2b(state, digest_size=16).digest(), len(self.known_kinds))

    def _inspect(self, now_ms: int, job: Job, most_workers: int | None) -> Reason | Quote:
        """Options of a job that arrives now, or the reason why it has none."""
        first = self._submitted(now_ms)
        reason = impossible(job, self.needs, self.fits, "pd-ors") or self._ends_too_late(job, first, most_workers)
        if reason is not None:
            return reason
        seed = (self.seed, *job.id.encode())
        kinds = self.kinds[: self._end(first)]
        return Quote(job, first, self.cluster.slot_ms, self.book, self.hosts, kinds, self.search, seed, most_workers)

    def _ends_too_late(self, job: Job, first: int, most_workers: int | None) -> Reason | None:
        """Reason why the job cannot end before the horizon even on an empty cluster."""
        left = max(0, self._end(first) - first)
        need = _least_slots(job, most_workers or job.global_batch or 1, self.cluster.slot_ms)
        return Reason("too_late", {"need_slots": need, "left_slots": left}) if need > left else None

    def _explain(self, job: Job, schedule: Schedule) -> dict[str, Any]:
        """Numbers behind a decision; servers and resources by index, cost in utility."""
        utility = utility_at(job.utility, schedule.last - arrival_slot(job.arrival_ms, self.cluster.slot_ms))
        names = np.arange(len(self.cluster.servers))
        held = [
            Held(self.book, counted(demand), *units, names)
            for demand, units in zip((job.worker, job.ps), schedule.units, strict=True)
        ]
        values = {
            "utility": utility,
            "cost": schedule.cost,
            "payoff": utility - schedule.cost,
            "start_slot": schedule.start,
            "finish_slot": schedule.last,
            "workers_peak": schedule.workers_peak,
            "internal_slots": schedule.internal_slots,
            "external_slots": schedule.external_slots,
        }
        return values | costs(held)


def _least_slots(job: Job, workers: int, slot_ms: int) -> int:
    """Slots that the job takes with n workers at the better of its rates."""
    return min(pd_ors_slots(job, workers, internal, slot_ms) for internal in (True, False))
