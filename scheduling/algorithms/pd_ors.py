"""PD-ORS: admission and scheduling by resource prices where workers and parameter servers share machines (000, Algorithms 1-4).

When a job arrives, its best schedule at current prices is found; it is admitted if its utility exceeds what the schedule costs,
and then runs exactly so. In each slot its units stand on one machine (internal: fast) or on any (external: slow).

Placements on several machines: in mode `production` a nested greedy, and integer programs for those that the plan uses (2 passes:
the plan is made again once if one got cheaper); in mode `paper` the linear relaxation, rounded at random, and where no rounding
is feasible the greedy or an integer program. A solver that fails or runs out of time leaves what was known; the decision's numbers
then say how often: `solver_time_limit`, `solver_error`.

Differs from the paper:
- Price bounds: see prices_pd_ors.py. Plans are made of worker counts per slot, not of samples: see solvers/knapsack.py; work is
  counted in 1 / Q external worker-slots (specification 1.5, A16), at most MOST_WORK of them.
- At least ceil(w / gamma) parameter servers stand beside w workers; Problem (23) has no such row, so it would take none (A14).
- An external placement that happens to stand on one machine counts at the internal rate, which it has (Fact 1).
- A cluster without a horizon gets one that lets FINISH_SHARE of the jobs finish however late they arrive.
- A server may be away for known times; it then holds nothing. Servers with one role hold only that.
- A rejected job is told a schedule with (nearly) the highest payoff, though the paper needs none.
- A job has at most MOST_UNITS workers in a slot, and fewer where its window has more than MOST_CURVE slots x workers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from scheduling.admission import Room, impossible, missing_part
from scheduling.model import RESOURCES, Cluster, Decision, Demand, Job, ModelError, Placement, Reason, Role, Verdict
from scheduling.prices import MODES, UNIT, PriceBook
from scheduling.prices_pd_ors import estimate_shared
from scheduling.registry import BaseScheduler, Parameters, parameter
from scheduling.solvers.external import Nested, apart, first_units, least_costs, nested_greedy
from scheduling.solvers.external_exact import Machines, cheapest
from scheduling.solvers.external_lp import Relaxation
from scheduling.solvers.internal import internal_costs, pair_room
from scheduling.solvers.knapsack import TOLERANCE, Options, Plan, best_plan, near_plan
from scheduling.solvers.rounding import gain as gain_of
from scheduling.solvers.rounding import packing_width, round_off
from scheduling.training import EPSILON, LIMITS, NEEDS, pd_ors_sample_ms, pd_ors_slots
from scheduling.utility import arrival_slot, utility_at, utility_over

PLACEMENTS = ("production", "paper")
DEAREST = 10  # cells that an explanation names
MOST_UNITS = 100_000  # workers of one job in one slot
MOST_CURVE = 4_000_000  # slots of the window x workers: 32 MB for each of some arrays
MOST_WORK = 4000  # states of the work done, Wcap of the specification
FINEST = 8  # parts of a worker-slot that are counted at most
FINISH_SHARE = 95  # percent of the jobs that can finish behind the last arrival, in a horizon of our own
SOLVER_SECONDS = 2.0  # for one placement; then the greedy one stays
SAME = 1e-9  # relative, of costs
MOST_EXTENDED = 4  # kinds of slots in which more workers are tried than the greedy placement holds
MOST_FURTHER = 3  # workers more
MOST_CELLS = 60_000_000  # prices that are kept, slots x servers x resources: 480 MB for each array over them
GRID = 2.0**-50  # of the job's utility: costs are multiples of it, so that their sums are exact and ties are true
COUNTED = len(LIMITS["pd-ors"])  # resources that a server runs out of, the first of RESOURCES


@dataclass(frozen=True, slots=True)
class PdOrsParameters(Parameters):
    """What an operator can set."""

    price_mode: str = parameter(
        "marginal", "how the price floor is found: marginal (default) or literal, as printed", choices=MODES
    )
    floor_scale: float = parameter(
        1.0, "multiplies the price floor; 100 / x runs with U / L at x % of its true value", low=1e-12, high=1e12
    )
    mode: str = parameter(
        "production", "placement on several machines: production (greedy, then refined) or paper (linear program, rounded)",
        choices=PLACEMENTS,
    )  # fmt: skip
    refine: bool = parameter(True, "production: replaces the chosen placements by the cheapest ones, found by integer programs")
    rounding_gain: float = parameter(
        1.0, "paper: what fractions are multiplied by before they are rounded; above 1 favours covering the work, below 1 capacities",
        low=0.01, high=10.0,
    )  # fmt: skip
    failure_probability: float | None = parameter(
        None, "paper: delta; when given, the gain is the paper's G_delta instead: Eq. (29), or Eq. (30) if rounding_gain is above 1",
        type=float, low=1e-9, high=1.0,
    )  # fmt: skip
    tries: int = parameter(
        50, "paper: roundings drawn for each slot and number of workers (5000 in the paper)", low=1, high=100_000
    )
    first_feasible: int = parameter(5, "paper: the cheapest of so many feasible roundings is taken", low=1, high=1000)


class Units(NamedTuple):
    """Where units of one role stand: parallel arrays, one row per (slot, server)."""

    slots: np.ndarray
    servers: np.ndarray
    counts: np.ndarray


class Places(NamedTuple):
    """{server: count} in one slot."""

    workers: dict[int, int]
    ps: dict[int, int]


class PdOrs(BaseScheduler):
    """Decides each job once, on arrival; the decision is final."""

    name = "pd_ors"
    title = "PD-ORS"
    paper = "Zhang, Ji, Liu et al.: Online Scheduling of Heterogeneous Distributed Machine Learning Jobs, MobiHoc 2020"
    summary = "Prices each resource by how full it is; packs workers with their parameter servers on one machine where that pays."
    needs = (*NEEDS["pd-ors"], "utility")
    limits = LIMITS["pd-ors"]
    worlds = ("pd-ors",)
    Parameters = PdOrsParameters
    horizon: int

    def check(self, cluster: Cluster) -> None:
        if cluster.horizon_slots is not None:  # one of our own is not known before the jobs are
            _check_size(cluster, cluster.horizon_slots)

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.horizon = cluster.horizon_slots or own_horizon(jobs, cluster.slot_ms)
        _check_size(cluster, self.horizon)
        self.fits = Room(cluster, limits=self.limits)
        capacity = np.array([s.capacity for s in cluster.servers], dtype=np.int64).reshape(-1, len(RESOURCES))
        capacity[:, COUNTED:] = 0  # no price and no limit
        self.bounds = estimate_shared(
            jobs, capacity, cluster.slot_ms, self.horizon, self.parameters.price_mode, self.parameters.floor_scale
        )
        away = _away_slots(cluster, self.horizon)
        self.book = PriceBook(capacity, self.horizon, self.bounds.floor, self.bounds.ceiling, away)
        self.kinds = np.zeros(self.horizon, dtype=np.int64)
        self.known_kinds: dict[bytes, int] = {}
        self._sort(np.arange(self.horizon))
        self.hosts = [np.array([role in s.roles for s in cluster.servers], dtype=bool) for role in ("worker", "ps")]

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        row = self.jobs[job]
        first = arrival_slot(now_ms, self.cluster.slot_ms)
        reason = impossible(row, self.needs, self.fits, "pd-ors") or self._hopeless(row, first)
        if reason is not None:
            return _rejected(job, reason)
        quote = Quote(
            row, first, self.horizon, self.cluster.slot_ms, self.book, self.hosts, self.kinds, self.parameters, self.rng
        )
        plan, found = quote.decide()
        if found is None:
            return _rejected(job, quote.no_capacity())
        schedule = quote.schedule(found)
        values = self._explain(row, first, schedule) | quote.notes()
        if plan is None:
            return _rejected(job, Reason("payoff_not_positive", values))
        for demand, units in zip(quote.demands, schedule.units, strict=True):
            self.book.take(demand, units.slots, units.servers, units.counts)
        self._sort(np.unique(schedule.units[0].slots))
        bars = self._bars(job, Role.WORKER, schedule.units[0]) + self._bars(job, Role.PS, schedule.units[1])
        finish_ms = (schedule.last + 1) * self.cluster.slot_ms
        verdict = Verdict(job, "admitted", Reason("payoff_positive", values))
        return Decision(plan={job: bars}, finishes={job: finish_ms}, verdicts=(verdict,))

    def prices(self, slots: np.ndarray) -> np.ndarray:
        shown = np.full((len(slots), len(self.cluster.servers), len(RESOURCES)), np.nan)
        inside = (slots >= 0) & (slots < self.horizon)
        shown[inside] = self.book.prices(slots[inside])
        return shown

    def state(self) -> dict[str, Any]:
        return {"book": self.book.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.book.restore(state["book"])
        self._sort(np.arange(self.horizon))

    def _sort(self, slots: np.ndarray) -> None:
        """Slots in which every machine has the same room are of one kind."""
        for t in slots.tolist():
            state = self.book.free[:COUNTED, t].tobytes() + self.book.away[t].tobytes()
            self.kinds[t] = self.known_kinds.setdefault(blake2b(state, digest_size=16).digest(), len(self.known_kinds))

    def _hopeless(self, job: Job, first: int) -> Reason | None:
        """Why the job cannot end before the horizon even on an empty cluster."""
        left = max(0, self.horizon - first)
        need = _least_slots(job, self.cluster.slot_ms)
        return Reason("too_late", {"need_slots": need, "left_slots": left}) if need > left else None

    def _explain(self, job: Job, first: int, schedule: Schedule) -> dict[str, Any]:
        """The numbers behind a decision; servers and resources by index, cost in utility."""
        utility = utility_at(job.utility, schedule.last - first)
        rows: list[np.ndarray] = []
        by_role = []
        for units, demand in zip(schedule.units, (job.worker, job.ps), strict=True):
            price = self.book.price[:COUNTED, units.slots, units.servers]  # [resource, cell]
            cost = price * (np.array(demand)[:COUNTED, None] / UNIT) * units.counts
            by_role.append([*map(float, cost.sum(axis=1)), *[0.0] * (len(RESOURCES) - COUNTED)])
            resources, cells = np.nonzero(cost)
            found = (units.servers[cells], resources, units.slots[cells], price[resources, cells], cost[resources, cells])
            rows.append(np.column_stack(found))
        cells = np.concatenate(rows)
        dearest = cells[np.lexsort((cells[:, 1], cells[:, 0], cells[:, 2], -cells[:, 4]))[:DEAREST]]
        return {
            "utility": utility,
            "cost": schedule.cost,
            "payoff": utility - schedule.cost,
            "start_slot": schedule.start,
            "finish_slot": schedule.last,
            "workers_peak": schedule.workers_peak,
            "internal_slots": schedule.internal_slots,
            "external_slots": schedule.external_slots,
            "cost_by_resource": [w + p for w, p in zip(*by_role, strict=True)],
            "cost_by_role": [sum(by_role[0]), sum(by_role[1])],
            "cells": [[int(s), int(r), int(t), float(p), float(c)] for s, r, t, p, c in dearest],
        }

    def _bars(self, job: int, role: Role, units: Units) -> list[Placement]:
        """One bar per stretch of consecutive slots with the same count on a server, by server and time."""
        order = np.lexsort((units.slots, units.servers))
        slots, servers, counts = units.slots[order], units.servers[order], units.counts[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (servers[1:] != servers[:-1]) | (counts[1:] != counts[:-1]) | (slots[1:] != slots[:-1] + 1)
        starts = np.flatnonzero(new)
        ends = np.append(starts[1:], len(order)) - 1
        slot_ms = self.cluster.slot_ms
        return [
            Placement(job, int(role), int(servers[a]), int(slots[a]) * slot_ms, (int(slots[b]) + 1) * slot_ms, int(counts[a]))
            for a, b in zip(starts, ends, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A plan with its places. Slots count from the beginning of the run."""

    units: tuple[Units, Units]  # workers, parameter servers
    start: int
    last: int
    cost: float
    workers_peak: int
    internal_slots: int
    external_slots: int


class Work(NamedTuple):
    """A job's work in the units that plans count."""

    need: int
    external: np.ndarray  # done by 0, 1, ... workers in a slot
    internal: np.ndarray


def count_work(external: float, internal: float, most: int) -> Work:
    """Work of `external` worker-slots at the external rate, `internal` at the internal one, for up to `most` workers."""
    whole = math.ceil(external - EPSILON)
    parts = min(FINEST, MOST_WORK // whole) if 0 < whole <= MOST_WORK else MOST_WORK / max(whole, 1)
    workers = np.arange(most + 1)
    return Work(
        max(1, math.ceil(parts * external - EPSILON)),
        np.floor(parts * workers + EPSILON),
        np.floor(parts * workers * (external / internal) + EPSILON),
    )


class Quote:
    """What one job would pay for each option, a mode and a number of workers, in each slot of its window."""

    def __init__(
        self, job: Job, first: int, horizon: int, slot_ms: int, book: PriceBook, hosts: Sequence[np.ndarray], kinds: np.ndarray,
        parameters: PdOrsParameters, rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """hosts: [server] whether it takes workers, and parameter servers; kinds: [slot], equal where the cluster's state is."""
        assert job.worker is not None
        assert job.ps is not None
        assert job.utility is not None
        assert job.global_batch is not None
        assert job.workers_per_ps is not None
        self.job, self.first, self.horizon, self.book, self.hosts = job, first, horizon, book, hosts
        self.parameters, self.rng = parameters, rng
        self.solved: dict[tuple[int, int], Places] = {}  # (kind, workers) -> where they stand instead of the greedy placement
        self.tried: set[tuple[int, int]] = set()
        self.failures: Counter[str] = Counter()  # of solvers, by what happened
        self.improved = 0
        self.demands = _counted(job.worker), _counted(job.ps)
        samples = (job.epochs or 0) * (job.num_samples or 0)
        # worker-slots of the whole job in each mode
        self.slots_external, self.slots_internal = (
            samples * pd_ors_sample_ms(job, internal) / slot_ms for internal in (False, True)
        )
        enough = math.ceil(max(self.slots_external, self.slots_internal))
        window = horizon - first
        self.most = int(min(job.global_batch, enough, book.empty_room(self.demands[0]), MOST_UNITS, max(1, MOST_CURVE // window)))
        self.group = min(job.workers_per_ps, self.most)  # workers per parameter server
        self.ps_of = -(-np.arange(self.most + 1) // max(1, self.group))
        self.work = count_work(self.slots_external, self.slots_internal, self.most)
        self.utility = utility_over(job.utility, np.arange(window))
        worth = utility_at(job.utility, 0)
        self.grid = GRID * 2.0 ** math.ceil(math.log2(worth)) if worth > 0 else GRID
        self.wanted = [r for r in range(COUNTED) if self.demands[0][r] or self.demands[1][r]]
        self.alpha, self.beta = (np.array([demand[r] for r in self.wanted], dtype=np.int64) for demand in self.demands)
        self._look(kinds[first:horizon])

    def _look(self, kinds: np.ndarray) -> None:
        """Costs of all options in the window, once for each kind of slot: exact on one machine, bounds for the others."""
        _, begin, kind = np.unique(kinds, return_index=True, return_inverse=True)
        order = np.argsort(begin)  # by the first slot of the kind: the numbers in `kinds` tell what equals what, no more
        self.kind, begin = np.argsort(order)[kind], begin[order]
        slots, book = self.first + begin, self.book
        self.unit = [np.rint(book.unit_cost(demand, slots) / self.grid) * self.grid for demand in self.demands]
        present = ~book.away[slots]
        self.room = [
            np.where(present & hosts, book.room(demand, slots, most), 0)
            for demand, hosts, most in zip(self.demands, self.hosts, (self.most, int(self.ps_of[-1])), strict=True)
        ]
        self.free = book.free[np.array(self.wanted, dtype=np.int64)[:, None], slots]
        both = present & self.hosts[0] & self.hosts[1]
        pairs = np.where(both, pair_room(self.free, self.alpha, self.beta, self.group, self.most), 0)
        inside, self.machine = internal_costs(pairs, self.unit[0], self.unit[1], self.ps_of)
        outside = self.least = least_costs(self.unit[0], self.unit[1], self.room[0], self.room[1], self.ps_of)
        inner, outer = inside.shape[1] - 1, outside.shape[1] - 1
        workers = np.concatenate((np.arange(1, inner + 1), np.arange(1, outer + 1)))
        external = np.repeat([False, True], [inner, outer])
        order = np.lexsort((external, workers))  # the order in which ties are resolved
        self.workers, self.external = workers[order], external[order]
        cost = np.concatenate((inside[:, 1:], outside[:, 1:]), axis=1)[:, order]
        gain = np.where(self.external, self.work.external[self.workers], self.work.internal[self.workers])
        cost[:, gain <= 0] = np.inf
        self.nested: dict[int, tuple[Nested, ...]] = {}
        known = self._apart()
        self.options = Options(self.kind, np.tile(gain, (len(slots), 1)), cost, self.external, self._evaluate, known)

    def _apart(self) -> np.ndarray:
        """[kind] whether the bounds of the cost on several machines are what a placement costs."""
        reach = np.isfinite(self.least).sum(axis=1) - 1
        (unit_w, unit_p), (room_w, room_p) = self.unit, self.room
        found = apart(
            self.free, self.alpha.tolist(), self.beta.tolist(), unit_w, unit_p, room_w, room_p, reach, self.ps_of[reach]
        )  # fmt: skip
        self.orders = found[1:]
        slower = self.slots_internal > self.slots_external  # then what happens to stand on one machine does less than planned
        return found[0] & (self.parameters.mode == "production") & (not slower)

    def decide(self) -> tuple[Plan | None, Plan | None]:
        """The plan with the highest payoff if that is positive, and the plan to tell about."""
        need = self.work.need
        plan = best_plan(need, self.utility, self.options)
        found = plan or near_plan(need, self.utility, self.options)
        if self.parameters.mode == "production" and self.parameters.refine:
            changed = self._refine(found) | self._extend(found)
            if changed:
                self.options.change(np.array(sorted(changed)))
                plan = best_plan(need, self.utility, self.options)
                found = plan or near_plan(need, self.utility, self.options)
                if self._refine(found) and found is not None:  # the same plan, for less
                    found = self._repriced(found)
                    plan = found if found.payoff > TOLERANCE else None
        return plan, found

    def notes(self) -> dict[str, Any]:
        """What the solvers did: placements made cheaper, and failures, if there were any."""
        return {"refined": self.improved} | {f"solver_{what}": times for what, times in sorted(self.failures.items())}

    def _refine(self, plan: Plan | None) -> set[int]:
        """Looks for the cheapest placements of the options of a plan; the kinds for which there are cheaper ones."""
        if plan is None:
            return set()
        used = np.flatnonzero(plan.options >= 0)
        chosen = {(int(self.kind[t]), int(plan.options[t])) for t in used if self.external[plan.options[t]]}
        return {kind for kind, option in sorted(chosen) if self._solve(kind, option)}

    def _extend(self, plan: Plan | None) -> set[int]:
        """Tries more workers in slots that the plan fills up, as the greedy placement sees it (specification 3.4, ii)."""
        if plan is None:
            wanted = set(self.nested)
        else:
            used = np.flatnonzero(plan.options >= 0)
            wanted = {
                int(k)
                for k, workers in zip(self.kind[used], self.workers[plan.options[used]], strict=True)
                if k in self.nested and workers >= self._reach(int(k))
            }
        changed = set()
        for kind in sorted(wanted)[:MOST_EXTENDED]:
            reach = self._reach(kind)
            options = [
                o for y in range(reach + 1, reach + 1 + MOST_FURTHER) for o in np.flatnonzero(self.external & (self.workers == y))
            ]
            options = [o for o in options if self.least[kind, self.workers[o]] < self.utility[0]]
            if options and self._fractions_fit(kind, reach + 1):
                for option in options:
                    if not self._solve(kind, int(option)):
                        break
                    changed.add(kind)
        return changed

    def _reach(self, kind: int) -> int:
        return max(nested.reach for nested in self.nested[kind])

    def _fractions_fit(self, kind: int, workers: int) -> bool:
        """Whether that many workers fit if they may be split."""
        machines, ps = self._machines(kind), int(self.ps_of[workers])
        if (machines.free.sum(axis=0) < workers * self.alpha + ps * self.beta).any():
            return False
        return Relaxation(machines, warm=False).solve(workers, ps) is not None

    def _solve(self, kind: int, option: int) -> bool:
        """Whether there is a cheaper placement for an option; if so, it is the option's from now on."""
        workers = int(self.workers[option])
        if (kind, workers) in self.tried:
            return False
        self.tried.add((kind, workers))
        known = float(self.options.full_cost[kind, option])
        if self.least[kind, workers] >= known * (1 - SAME):
            return False
        found = cheapest(self._machines(kind), workers, int(self.ps_of[workers]), known, SOLVER_SECONDS)
        if found.status in ("time_limit", "error"):
            self.failures[found.status] += 1
        if found.workers is None or found.ps is None:
            return False
        return self._adopt(kind, option, Places(found.workers, found.ps), found.cost)

    def _adopt(self, kind: int, option: int, places: Places, cost: float) -> bool:
        """Takes a placement for an option, at the rate that it has."""
        workers = int(self.workers[option])
        one = len({*places.workers, *places.ps}) == 1
        gain = float((self.work.internal if one else self.work.external)[workers])
        if gain < min(self.options.gain[kind, option], self.work.external[workers]) or gain <= 0:
            return False
        self.options.gain[kind, option], self.options.full_cost[kind, option] = gain, cost
        self.solved[kind, workers] = places
        self.improved += 1
        return True

    def _repriced(self, plan: Plan) -> Plan:
        """The plan at the costs that its options have now."""
        used = np.flatnonzero(plan.options >= 0)
        cost = float(self.options.full_cost[self.kind[used], plan.options[used]].sum())
        if self.options.gain[self.kind[used], plan.options[used]].sum() < self.work.need:
            return plan
        return Plan(plan.last, plan.options, cost, float(self.utility[plan.last] - cost))

    def _machines(self, kind: int) -> Machines:
        (unit_w, unit_p), (room_w, room_p) = self.unit, self.room
        return Machines(self.free[:, kind].T, self.alpha, self.beta, unit_w[kind], unit_p[kind], room_w[kind], room_p[kind])

    def _evaluate(self, kind: int) -> tuple[np.ndarray, np.ndarray]:
        """Gain and cost of the options of a kind with their placements on several machines."""
        workers = self.workers[self.external]
        costs = self._nest(kind, self.most)[:, workers]
        gain, cost = self.options.gain[kind].copy(), self.options.full_cost[kind].copy()
        single = np.array([nested.single(self.ps_of) for nested in self.nested[kind]])[costs.argmin(axis=0)]
        done = np.where(workers <= single, self.work.internal[workers], self.work.external[workers])
        gain[self.external] = done
        cost[self.external] = np.where(done > 0, costs.min(axis=0), np.inf)
        if self.parameters.mode == "paper":
            self._round(kind, gain, cost)
        return gain, cost

    def _nest(self, kind: int, most: int) -> np.ndarray:
        """Makes the greedy placements of a kind for up to `most` workers: their costs, [try, workers]."""
        ps_of = self.ps_of[: most + 1]
        unit, room = [u[kind] for u in self.unit], [r[kind] for r in self.room]
        orders = [
            np.argsort(np.where(r > 0, u, np.inf), kind="stable")[: np.count_nonzero(r)] for u, r in zip(unit, room, strict=True)
        ]
        free, alpha, beta = self.free[:, kind].T.tolist(), self.alpha.tolist(), self.beta.tolist()
        tries = [nested_greedy(free, alpha, beta, orders[0].tolist(), orders[1].tolist(), self.group, most)]
        costs = tries[0].costs(unit[0], unit[1], ps_of)[None]
        if (costs[0] > self.least[kind, : most + 1]).any():  # otherwise it is the cheapest
            spare = room[0][orders[1]] == 0  # machines on which no worker fits
            if spare.any() and not spare.all():
                aside = np.concatenate((orders[1][spare], orders[1][~spare])).tolist()
                tries.append(nested_greedy(free, alpha, beta, orders[0].tolist(), aside, self.group, most))
                costs = np.vstack((costs, tries[1].costs(unit[0], unit[1], ps_of)))
        self.nested[kind] = tuple(tries)
        return costs

    def _round(self, kind: int, gain: np.ndarray, cost: np.ndarray) -> None:
        """The paper's placements: the relaxation, rounded; where no rounding is feasible, the repair (A19) stays.

        The repair is the greedy placement, or, where that fails, an integer program.
        """
        machines, p = self._machines(kind), self.parameters
        relaxation = Relaxation(machines)
        hosts = relaxation.hosts
        room = np.concatenate((machines.worker_room[hosts], machines.ps_room[hosts]))
        rows = len(self.alpha) * len(self.book.capacity[0]) + 1
        width = packing_width(machines.free, self.alpha, self.beta, self.most)
        for option in np.flatnonzero(self.external).tolist():
            workers = int(self.workers[option])
            if self.least[kind, workers] >= self.utility[0]:  # worth nothing in any plan
                cost[option] = np.inf
                continue
            ps = int(self.ps_of[workers])
            scale = p.rounding_gain
            if p.failure_probability is not None and scale > 1:
                scale = gain_of(p.failure_probability, min(workers, ps), 2, cover=True)
            elif p.failure_probability is not None:
                scale = gain_of(p.failure_probability, width, rows, cover=False)
            relaxed = relaxation.solve(workers, ps)
            if relaxed is None:  # not even fractions fit
                cost[option] = np.inf
                continue
            found = round_off(
                relaxed, scale, workers, self.most, self.group, machines.free[hosts], self.alpha, self.beta,
                relaxation.cost, room, p.tries, p.first_feasible, self.rng,
            )  # fmt: skip
            if found is not None:
                places = Places(*({int(h): int(c) for h, c in zip(hosts, own, strict=True) if c} for own in found[1:]))
                price = found.cost
            elif np.isfinite(cost[option]):
                continue
            else:
                repaired = cheapest(machines, workers, ps, np.inf, SOLVER_SECONDS)
                if repaired.status in ("time_limit", "error"):
                    self.failures[repaired.status] += 1
                if repaired.workers is None or repaired.ps is None:
                    continue
                places, price = Places(repaired.workers, repaired.ps), repaired.cost
            one = len({*places.workers, *places.ps}) == 1
            gain[option] = float((self.work.internal if one else self.work.external)[workers])
            cost[option] = price if gain[option] > 0 else np.inf
            self.solved[kind, workers] = places

    def _outside(self, kind: int, workers: int) -> Places:
        """Where workers and parameter servers stand on several machines."""
        if (kind, workers) in self.solved:
            return self.solved[kind, workers]
        ps = int(self.ps_of[workers])
        if kind not in self.nested:
            self._nest(kind, int(self.peak[kind]))
        unit = self.unit[0][kind], self.unit[1][kind]
        costs = np.array([nested.costs(*unit, self.ps_of[: workers + 1]) for nested in self.nested[kind]])
        best = int(costs[:, workers].argmin())
        option = np.flatnonzero(self.external & (self.workers == workers))[0]
        if costs[best, workers] <= self.options.full_cost[kind, option]:
            return Places(*self.nested[kind][best].place(workers, ps))
        rows = zip(self.orders, self.room, (workers, ps), strict=True)  # cheaper, as `apart` fills up
        return Places(*(first_units([(int(h), int(room[kind, h])) for h in order[kind]], wanted) for order, room, wanted in rows))

    def schedule(self, plan: Plan) -> Schedule:
        """The servers of a plan."""
        held: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = ([], [])
        external = 0
        used = np.flatnonzero(plan.options >= 0).tolist()
        counts = self.workers[plan.options[used]]
        self.peak = np.zeros(len(self.options.gain), dtype=np.int64)
        np.maximum.at(self.peak, self.kind[used], counts)
        for t, workers in zip(used, counts.tolist(), strict=True):
            option = int(plan.options[t])
            ps = int(self.ps_of[workers])
            if self.external[option]:
                external += 1
                placed = self._outside(int(self.kind[t]), workers)
            else:
                machine = int(self.machine[self.kind[t], workers])
                placed = Places({machine: workers}, {machine: ps})
            for role, units in zip(held, placed, strict=True):
                role += [(self.first + t, server, count) for server, count in sorted(units.items())]
        workers_held, ps_held = (Units(*np.array(rows, dtype=np.int64).reshape(-1, 3).T) for rows in held)
        return Schedule(
            (workers_held, ps_held), self.first + used[0], self.first + plan.last, plan.cost, int(counts.max()),
            len(used) - external, external,
        )  # fmt: skip

    def no_capacity(self) -> Reason:
        """Which role ran out: the workers, if there is no room for the work even without parameter servers."""
        free = np.minimum(self.room[0].sum(axis=1), self.most)[self.kind]
        done = np.maximum(self.work.external, self.work.internal)[free].sum()
        role = "worker" if done < self.work.need else "ps"
        need = math.ceil(min(self.slots_external, self.slots_internal))
        return Reason("no_capacity", {"role": role, "need_worker_slots": need, "left_slots": self.horizon - self.first})


def _counted(demand: Demand) -> Demand:
    """The demand without what servers do not run out of."""
    return (*demand[:COUNTED], *[0] * (len(demand) - COUNTED))  # type: ignore[return-value]


def _least_slots(job: Job, slot_ms: int) -> int:
    """Slots that the job takes with all its workers at the better of its rates."""
    return min(pd_ors_slots(job, job.global_batch or 1, internal, slot_ms) for internal in (True, False))


def _away_slots(cluster: Cluster, slots: int) -> np.ndarray:
    """[slot, server] whether the server is away for any part of the slot."""
    away = np.zeros((slots, len(cluster.servers)), dtype=bool)
    for i, server in enumerate(cluster.servers):
        for begin, end in server.away:
            away[begin // cluster.slot_ms : -(-end // cluster.slot_ms), i] = True
    return away


def _rejected(job: int, reason: Reason) -> Decision:
    return Decision(verdicts=(Verdict(job, "rejected", reason),))


def own_horizon(jobs: Sequence[Job], slot_ms: int) -> int:
    """Slots up to the last arrival, and as many more as FINISH_SHARE percent of the jobs need with all their workers."""
    least = [_least_slots(job, slot_ms) for job in jobs if missing_part(job, PdOrs.needs) is None]
    last = max((arrival_slot(job.arrival_ms, slot_ms) for job in jobs), default=0)
    return last + max(1, math.ceil(np.percentile(least, FINISH_SHARE)) if least else 1)


def _check_size(cluster: Cluster, horizon: int) -> None:
    cells = horizon * len(cluster.servers) * len(RESOURCES)
    if cells > MOST_CELLS:
        most = MOST_CELLS // (len(cluster.servers) * len(RESOURCES))
        raise ModelError(
            f"scheduler pd_ors: {horizon} slots of {len(cluster.servers)} servers are {cells:,} prices, more than {MOST_CELLS:,}; "
            f"set horizon_slots to at most {most}, or lengthen the slot of {cluster.slot_ms} ms"
        )
