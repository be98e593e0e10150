"""Quote of one job on the current cluster, with its best schedule [PD-ORS, Algorithms 2 to 4].

An option is a mode, on one machine or on several, and a number of workers; it does some of the work at a cost, in each
kind of slots. Options on one machine are exact; those on several begin as bounds and are evaluated when a plan would
use them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scheduling.model.decision import Reason
from scheduling.model.training_models import pd_ors_sample_ms
from scheduling.model.utility import arrival_slot, utility_at, utility_over
from scheduling.model.values import Job
from scheduling.slotted.pd_ors.job_view import View, counted
from scheduling.slotted.pd_ors.locality import PlacementSearch
from scheduling.slotted.pd_ors.lp_rounding import Rounding
from scheduling.slotted.pd_ors.multi_machine import Outside, Places
from scheduling.slotted.pd_ors.work import count_work
from scheduling.slotted.pricing.prices import PriceBook, grid_of
from scheduling.slotted.solvers.knapsack import SAFE, TOLERANCE, Options, Plan, best_plan, near_plan
from scheduling.slotted.solvers.multi_machine_lp import Relaxation
from scheduling.slotted.solvers.single_machine import internal_costs

MAX_UNITS = 100_000  # workers of one job in one slot
MAX_CURVE = 4_000_000  # slots of the window x workers: 32 MB for each of some arrays
SAME = 1e-9  # relative, of costs
MAX_EXTENDED = 4  # kinds of slots in which more workers are tried than the greedy placement holds
MAX_FURTHER = 3  # workers more


class Units(NamedTuple):
    """Positions of the units of one role: parallel arrays, one row per (slot, server)."""

    slots: np.ndarray
    servers: np.ndarray
    counts: np.ndarray


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


class Quote:
    """The options of one job in each slot of its window, `first` to the horizon, and the plans made of them."""

    def __init__(
        self, job: Job, first: int, slot_ms: int, book: PriceBook, hosts: Sequence[np.ndarray], kinds: np.ndarray,
        search: PlacementSearch, seed: Sequence[int], most_workers: int | None = None,
    ) -> None:  # fmt: skip
        """seed: of the job's draws. hosts: [server] whether it takes workers, and parameter servers.

        kinds: [slot], equal where the cluster's state is.
        """
        assert job.utility is not None
        assert job.global_batch is not None
        self.first, self.window, self.search = first, len(kinds) - first, search
        self.failures: Counter[str] = Counter()  # of solvers, by what happened
        self.tried: set[tuple[int, int]] = set()
        self.improved = 0
        samples = (job.epochs or 0) * (job.num_samples or 0)
        # worker-slots of the whole job in each mode
        self.slots_external, self.slots_internal = (
            samples * pd_ors_sample_ms(job, internal) / slot_ms for internal in (False, True)
        )
        enough = math.ceil(max(self.slots_external, self.slots_internal))
        most = int(min(
            most_workers or job.global_batch, enough, book.empty_room(counted(job.worker)), MAX_UNITS,
            max(1, MAX_CURVE // self.window),
        ))  # fmt: skip
        self.work = count_work(self.slots_external, self.slots_internal, most)
        late = first - arrival_slot(job.arrival_ms, slot_ms)  # slots since it arrived, when it is offered again
        self.utility = utility_over(job.utility, np.arange(late, late + self.window))
        _, begin, kind = np.unique(kinds[first:], return_index=True, return_inverse=True)
        # by the first slot of the kind: the numbers in `kinds` only mark equal slots
        order = np.argsort(begin)
        self.kind = np.argsort(order)[kind]
        self.view = View(job, most, first + begin[order], book, hosts, grid_of(utility_at(job.utility, 0)))
        self.outside = Outside(self.view)
        self._make_options()
        self.rounding: Rounding | None = None
        if search.rounding is not None:
            self.rounding = Rounding(self.view, search, seed, self.failures)

    def decide(self) -> tuple[Plan | None, Plan | None]:
        """Plan with the highest payoff if that is positive, and the plan that the decision reports."""
        return self._refined(*self._plans())

    def paying(self) -> Plan | None:
        """Plan with a positive payoff if `decide` finds one; mostly without refining, or a search for the best."""
        if self._never_pays():
            return None
        # the best is no worse, and refining makes none worse
        near = near_plan(self.work.need, self.utility, self.options)
        if near is not None and _pays(near):
            return near
        plan, found = self._plans()
        return plan if plan is not None and _pays(plan) else self._refined(plan, found)[0]

    def clear(self) -> bool | None:
        """True if `decide` finds a plan with a positive payoff, None if not quickly known; also after `put_off`."""
        if self._never_pays():
            return False
        if self.rounding is not None:  # draws depend on where the window begins
            return None
        near = near_plan(self.work.need, self.utility, self.options)
        return True if near is not None and _pays(near) else None

    def put_off(self, slot: int) -> bool:
        """Shift of the quote to an arrival in a later slot, before any plan.

        False where more workers might be tried then.
        """
        if self.view.most >= MAX_CURVE // self.window:
            return False
        skipped = slot - self.first
        self.first, self.window = slot, self.window - skipped
        self.utility, self.kind = self.utility[: self.window], self.kind[skipped:]
        self.options.skip(skipped)
        return True

    def schedule(self, plan: Plan) -> Schedule:
        """Servers of a plan."""
        held: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = ([], [])
        used = np.flatnonzero(plan.options >= 0)
        options, kinds = plan.options[used], self.kind[used]
        counts = self.workers[options]
        peak = np.zeros(self.view.kinds, dtype=np.int64)
        np.maximum.at(peak, kinds, counts)
        chosen = zip((self.first + used).tolist(), kinds.tolist(), options.tolist(), counts.tolist(), strict=True)
        for slot, kind, option, workers in chosen:
            if self.external[option]:
                places = self.outside.place(kind, workers, int(peak[kind]), self.options.full_cost[kind, option])
            else:
                machine = int(self.machine[kind, workers])
                places = Places({machine: workers}, {machine: int(self.view.ps_of[workers])})
            for role, units in zip(held, places, strict=True):
                role += [(slot, server, count) for server, count in sorted(units.items())]
        workers_held, ps_held = (Units(*np.array(rows, dtype=np.int64).reshape(-1, 3).T) for rows in held)
        external = int(self.external[options].sum())
        return Schedule(
            (workers_held, ps_held), self.first + int(used[0]), self.first + plan.last, plan.cost, int(counts.max()),
            len(used) - external, external,
        )  # fmt: skip

    def notes(self) -> dict[str, Any]:
        """Results of the solvers: numbers of cheaper placements and of failures, if any."""
        return {"refined": self.improved} | dict(sorted(self.failures.items()))

    def no_capacity(self) -> Reason:
        """Role without capacity: workers, if the work does not fit even without parameter servers."""
        free = np.minimum(self.view.room[0].sum(axis=1), self.view.most)[self.kind]
        done = np.maximum(self.work.external, self.work.internal)[free].sum()
        role = "worker" if done < self.work.need else "ps"
        need = math.ceil(min(self.slots_external, self.slots_internal))
        values = {"role": role, "need_worker_slots": need, "left_slots": self.window} | dict(
            sorted(self.failures.items())
        )
        return Reason("no_capacity", values)

    def _make_options(self) -> None:
        """Costs of all options in each kind of slots: exact on one machine, bounds for the others."""
        view = self.view
        inside, self.machine = internal_costs(view.pairs, view.unit[0], view.unit[1], view.ps_of)
        outside = self.outside.least
        inner, outer = inside.shape[1] - 1, outside.shape[1] - 1
        workers = np.concatenate((np.arange(1, inner + 1), np.arange(1, outer + 1)))
        external = np.repeat([False, True], [inner, outer])
        order = np.lexsort((external, workers))  # the order in which ties are resolved
        self.workers, self.external = workers[order], external[order]
        cost = np.concatenate((inside[:, 1:], outside[:, 1:]), axis=1)[:, order]
        gain = np.where(self.external, self.work.external[self.workers], self.work.internal[self.workers])
        cost[:, gain <= 0] = np.inf
        # where one machine is slower than several, what happens to be on one does less than planned
        known = self.outside.tight & (self.search.rounding is None) & (self.slots_internal <= self.slots_external)
        self.options = Options(self.kind, np.tile(gain, (view.kinds, 1)), cost, self.external, self._evaluate, known)

    def _never_pays(self) -> bool:
        """True if no plan pays even at the bounds of the costs."""
        bound, _ = self.options.bounds(self.work.need)
        return not (self.utility - bound * (1 - SAFE)).max() > TOLERANCE

    def _refined(self, plan: Plan | None, found: Plan | None) -> tuple[Plan | None, Plan | None]:
        """The plans with cheaper placements, where integer programs find some."""
        if self.search.refine and self.rounding is None:
            changed = self._refine(found) | self._extend(found)
            if changed:
                self.options.change(np.array(sorted(changed)))
                plan, found = self._plans()
                if self._refine(found) and found is not None:  # the same plan, for less
                    found = self._repriced(found)
                    plan = found if found.payoff > TOLERANCE else None
        return plan, found

    def _plans(self) -> tuple[Plan | None, Plan | None]:
        plan = best_plan(self.work.need, self.utility, self.options)
        return plan, plan or near_plan(self.work.need, self.utility, self.options)

    def _evaluate(self, kind: int) -> tuple[np.ndarray, np.ndarray]:
        """Gain and cost of the options of a kind with their placements on several machines."""
        workers = self.workers[self.external]
        costs = self.outside.nest(kind, self.view.most)[:, workers]
        gain, cost = self.options.gain[kind].copy(), self.options.full_cost[kind].copy()
        single = np.array([nested.single(self.view.ps_of) for nested in self.outside.greedy[kind].tries])[
            costs.argmin(axis=0)
        ]
        done = np.where(workers <= single, self.work.internal[workers], self.work.external[workers])
        gain[self.external] = done
        cost[self.external] = np.where(done > 0, costs.min(axis=0), np.inf)
        if self.rounding is not None:
            self._round(self.rounding, kind, gain, cost)
        return gain, cost

    def _round(self, rounding: Rounding, kind: int, gain: np.ndarray, cost: np.ndarray) -> None:
        """Replacement of the greedy placements by those of the paper."""
        option_of = np.zeros(self.view.most + 1, dtype=np.int64)
        option_of[self.workers[self.external]] = np.flatnonzero(self.external)
        least = self.outside.least[kind]
        worthless = (least >= self.utility[0]) | (self._inside_for(kind) <= least)  # in any plan
        cost[option_of[1:][worthless[1:]]] = np.inf
        known = cost[option_of]
        for workers, price, places in rounding.placements(kind, np.flatnonzero(~worthless)[1:].tolist(), known):
            option = option_of[workers]
            cost[option] = price
            if places is not None:
                gain[option] = self._rate(places)[workers]
                cost[option] = price if gain[option] > 0 else np.inf
                self.outside.solved[kind, workers] = places

    def _inside_for(self, kind: int) -> np.ndarray:
        """[workers] cost of the cheapest option on one machine that does at least what this number does on several."""
        gain, cost = self.options.gain[kind, ~self.external], self.options.full_cost[kind, ~self.external]
        order = np.argsort(gain, kind="stable")
        cheapest_from = np.append(np.minimum.accumulate(cost[order][::-1])[::-1], np.inf)
        found: np.ndarray = cheapest_from[np.searchsorted(gain[order], self.work.external)]
        return found

    def _rate(self, places: Places) -> np.ndarray:
        """Work of 0, 1, ... workers in a slot with this placement."""
        return self.work.internal if places.on_one_machine() else self.work.external

    def _refine(self, plan: Plan | None) -> set[int]:
        """Search for the cheapest placements of the options of a plan; the classes with cheaper ones."""
        if plan is None:
            return set()
        used = np.flatnonzero(plan.options >= 0)
        chosen = {(int(self.kind[t]), int(plan.options[t])) for t in used if self.external[plan.options[t]]}
        return {kind for kind, option in sorted(chosen) if self._solve(kind, option)}

    def _extend(self, plan: Plan | None) -> set[int]:
        """Trial of more workers in slots that the plan fills completely with greedy placement."""
        greedy = self.outside.greedy
        if plan is None:
            wanted = set(greedy)
        else:
            used = np.flatnonzero(plan.options >= 0)
            wanted = {
                int(k)
                for k, workers in zip(self.kind[used], self.workers[plan.options[used]], strict=True)
                if k in greedy and workers >= self.outside.reach(int(k))
            }
        changed = set()
        for kind in sorted(wanted)[:MAX_EXTENDED]:
            reach = self.outside.reach(kind)
            options = [
                o
                for y in range(reach + 1, reach + 1 + MAX_FURTHER)
                for o in np.flatnonzero(self.external & (self.workers == y))
            ]
            options = [o for o in options if self.outside.least[kind, self.workers[o]] < self.utility[0]]
            if options and self._fractions_fit(kind, reach + 1):
                for option in options:
                    if not self._solve(kind, int(option)):
                        break
                    changed.add(kind)
        return changed

    def _fractions_fit(self, kind: int, workers: int) -> bool:
        """True if that many workers fit when they may be split."""
        machines, ps = self.view.machines(kind), int(self.view.ps_of[workers])
        if (machines.free.sum(axis=0) < workers * self.view.alpha + ps * self.view.beta).any():
            return False
        status, relaxed = Relaxation(machines, self.search.solver_seconds).solve(workers, ps)
        if status in ("limit", "error"):
            self.failures[f"relaxation_{status}"] += 1
        return relaxed is not None

    def _solve(self, kind: int, option: int) -> bool:
        """True if there is a cheaper placement for an option; it then becomes the option's placement."""
        workers = int(self.workers[option])
        if (kind, workers) in self.tried:
            return False
        self.tried.add((kind, workers))
        known = float(self.options.full_cost[kind, option])
        if self.outside.least[kind, workers] >= known * (1 - SAME):
            return False
        found = self.search.cheapest(self.view.machines(kind), workers, int(self.view.ps_of[workers]), known)
        if found.status in ("limit", "error"):
            self.failures[f"solver_{found.status}"] += 1
        if found.workers is None or found.ps is None:
            return False
        return self._adopt(kind, option, Places(found.workers, found.ps), found.cost)

    def _adopt(self, kind: int, option: int, places: Places, cost: float) -> bool:
        """Adoption of a placement for an option, at its rate."""
        workers = int(self.workers[option])
        gain = float(self._rate(places)[workers])
        if gain < min(self.options.gain[kind, option], self.work.external[workers]) or gain <= 0:
            return False
        self.options.gain[kind, option], self.options.full_cost[kind, option] = gain, cost
        self.outside.solved[kind, workers] = places
        self.improved += 1
        return True

    def _repriced(self, plan: Plan) -> Plan:
        """Plan at the current costs of its options."""
        used = np.flatnonzero(plan.options >= 0)
        cost = float(self.options.full_cost[self.kind[used], plan.options[used]].sum())
        if self.options.gain[self.kind[used], plan.options[used]].sum() < self.work.need:
            return plan
        return Plan(plan.last, plan.options, cost, float(self.utility[plan.last] - cost))


def _pays(plan: Plan) -> bool:
    """True if the payoff is positive by more than the rounding error of sums."""
    return plan.payoff > SAME * plan.cost + TOLERANCE
