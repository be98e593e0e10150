"""Re-planning: admission and scheduling as in OASiS, without its two final steps.

Ours. OASiS rejects a job on arrival if its best schedule does not pay then, and never changes a plan. Here a job waits
until it pays, and plans change:

- Quotes are those of OASiS (slotted/oasis/quote.py) with a discount for near slots (slotted/replanning/lead_quote.py).
- In each slot that begins with waiting jobs, they are offered in the order of utility density, the best utility that a
  job can still have, divided by the cost of its remaining work at the price floor.
- With new arrivals two more candidates are tried: all jobs that are not denser than the densest arrival planned again,
  and those of them without a promise. Denser jobs keep their plans (warm start): they would be planned first. The
  candidate with the highest total utility of all plans is taken; of equal ones the first, which changes least.
- No new plan moves a promised finish later (parameter `promise`): the job is planned again by then, at any cost, or the
  candidate is dropped. Without a promise a job can lose its plan; it keeps its work, and waits.
- A waiting job is rejected when it would not pay on an empty cluster: by today's price bounds it never will.

The scheduler knows no job before its arrival. A cluster without a horizon gets that of pricing/price_based.py: jobs
wait at most until the end of the last window that an arrival has opened so far. Utility against OASiS, limits:
docs/papers/replanning.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from scheduling.algorithms.oasis import Oasis, OasisParameters
from scheduling.kernel.parameters import parameter
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement, Role
from scheduling.model.decision import NOTHING, Decision, Reason, Verdict
from scheduling.model.utility import arrival_slot
from scheduling.model.values import Cluster
from scheduling.slotted.oasis.quote import most_at_once
from scheduling.slotted.replanning.lead_quote import LeadQuote
from scheduling.slotted.replanning.plans import OpenJob, Plan, jobs_of, rows_of, state_of
from scheduling.slotted.replanning.reasons import REASONS, given, moved, never_pays, withdrawn

START, FIRST_PLAN, NEVER = "start", "arrival", "never"


@dataclass(frozen=True, slots=True)
class ReplanningParameters(OasisParameters):
    """Parameters of the re-planning scheduler."""

    promise: str = parameter(
        START,
        "Time from which no new plan moves the planned finish of a job later: start (its start), arrival (its first "
        "plan), or never (a job can lose its plan at any time)",
        choices={START: "From its start", FIRST_PLAN: "From its first plan", NEVER: "Never"},
        title="Promise of the planned finish",
    )
    lead_slots: int = parameter(
        10,
        "Number of slots ahead over which prices rise to the full price; 1: the prices of OASiS",
        low=1,
        high=1000,
        unit="slots",
        title="Slots with a discount",
    )


class Candidate(NamedTuple):
    """New plans of some jobs, and how much more utility all plans have with them."""

    gain: float
    plans: Mapping[int, Plan | None]


class Replanning(Oasis):
    """Re-planning of unfinished jobs, by utility density."""

    name = "replanning"
    title = "Re-planning"
    paper = "Our scheduler, with the prices of OASiS (Bao, Peng, Wu, Li, INFOCOM 2018)"
    summary = (
        "Prices resources as OASiS does, lets jobs wait until their utility exceeds their cost, and plans unfinished "
        "jobs again as others arrive."
    )
    reasons = REASONS
    Parameters = ReplanningParameters
    final = quotes = believes = False
    no_beliefs = "its promises assume the work that is stated"

    def start(self, cluster: Cluster, jobs: Sequence[Any], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.open: dict[int, OpenJob] = {}
        self.fresh: list[int] = []  # arrived since the last slot

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        repriced, horizon = self._learn(job + 1), self.horizon
        found = self._inspect(now_ms, self.jobs[job], None)
        if isinstance(found, Reason):
            return Decision(verdicts=(Verdict(job, "rejected", found),), repriced=repriced)
        self.open[job] = OpenJob(found.worker_slots)
        self.fresh.append(job)
        return Decision(repriced=repriced) if repriced or self.horizon > horizon else NOTHING

    def on_completion(self, now_ms: int, job: int) -> Decision:
        self.open.pop(job, None)
        return NOTHING

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        verdicts = self._reject_unpayable(now_ms, slot)
        fresh = [job for job in self.fresh if job in self.open]
        self.fresh = []
        waiting = [job for job, own in self.open.items() if own.plan is None]
        if not waiting:
            return Decision(verdicts=tuple(verdicts)) if verdicts else NOTHING
        self._promise(now_ms)
        orders = self._orders(now_ms, slot, waiting, fresh)
        found = [made for order in orders if (made := self._candidate(now_ms, slot, order)) is not None]
        best = max(found, key=lambda made: made.gain)  # of equal ones the first; the first never fails
        plan, finishes = self._adopt(now_ms, best, verdicts)
        waits = any(own.plan is None for own in self.open.values()) and slot + 1 < self.horizon
        wake_ms = (slot + 1) * self.cluster.slot_ms if waits else None
        return Decision(plan, finishes, tuple(verdicts), wake_ms)

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        """Share of the W worker-slots that is not done."""
        own = self.open[job]
        return max(0.0, 1.0 - own.worked_ms(now_ms) / self.cluster.slot_ms / own.need)

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        super().adopt_plans(now_ms, before, kept)
        if isinstance(before, Replanning):
            self.open |= {job: before.open[job] for job in kept}

    def state(self) -> dict[str, Any]:
        return super().state() | state_of(self.open) | {"fresh": list(self.fresh)}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.open = jobs_of(state)
        self.fresh = [int(job) for job in state["fresh"]]

    def _reject_unpayable(self, now_ms: int, slot: int) -> list[Verdict]:
        """Rejections of the waiting jobs that never pay, whatever the others do."""
        verdicts = []
        for job in [job for job, own in self.open.items() if own.plan is None]:
            quote = self._quote(now_ms, slot, job)
            if isinstance(quote, Reason) or (most := quote.bound()) <= 0:
                reason = quote if isinstance(quote, Reason) else never_pays(most)
                verdicts.append(Verdict(job, "rejected", reason))
                del self.open[job]
        return verdicts

    def _promise(self, now_ms: int) -> None:
        """Promises of the planned finishes that are due."""
        if self.parameters.promise == NEVER:
            return
        for job, own in self.open.items():
            due = self.parameters.promise == FIRST_PLAN or own.worked_ms(now_ms)
            if due and own.plan is not None and own.promised is None:
                self.open[job] = replace(own, promised=own.plan.finish)

    def _orders(self, now_ms: int, slot: int, waiting: Collection[int], fresh: Collection[int]) -> list[list[int]]:
        """Jobs to plan again, in order: the waiting ones, and with new arrivals two more sets."""
        density = {job: self._density(now_ms, slot, job) for job in (self.open if fresh else waiting)}
        sets = [list(waiting)]
        if fresh:
            most = max(density[job] for job in fresh)
            again = [job for job, own in self.open.items() if own.plan is None or density[job] <= most]
            sets += [again, [job for job in again if self.open[job].promised is None]]
        orders = [sorted(jobs, key=lambda job: (-density[job], job)) for jobs in sets]
        return [order for i, order in enumerate(orders) if order not in orders[:i]]

    def _candidate(self, now_ms: int, slot: int, order: Sequence[int]) -> Candidate | None:
        """Plans of these jobs, one after another, beside the plans of the others; None if a promise does not hold.

        The books are as before afterwards.
        """
        old = [plan for job in order if (plan := self.open[job].plan) is not None]
        released = rows_of(plan.rest(now_ms) for plan in old)
        self._hold(released, -1)
        made: dict[int, Plan | None] = {}
        for job in order:
            plan = made[job] = self._plan(now_ms, slot, job)
            if plan is not None:
                self._hold(rows_of([plan.bars]))
            elif self.open[job].promised is not None:
                break
        new = [plan for plan in made.values() if plan is not None]
        self._hold(rows_of(plan.bars for plan in new), -1)
        self._hold(released)
        if any(plan is None and self.open[job].promised is not None for job, plan in made.items()):
            return None
        return Candidate(sum(plan.worth for plan in new) - sum(plan.worth for plan in old), made)

    def _plan(self, now_ms: int, slot: int, job: int) -> Plan | None:
        """Best plan from this slot on; None if none pays, or none keeps the promise."""
        quote = self._quote(now_ms, slot, job)
        if isinstance(quote, Reason):
            return None
        best = quote.best() if self.open[job].promised is None else quote.at_any_cost()
        if best is None:
            return None
        workers, ps = quote.place(best)
        bars = self._bars(job, Role.WORKER, workers) + self._bars(job, Role.PS, ps)
        return Plan(bars, slot + best.last, float(quote.utility[best.last]))

    def _quote(self, now_ms: int, slot: int, job: int) -> LeadQuote | Reason:
        """Quote for the remaining work from this slot on, or the reason why it does not end in time at all."""
        own, row = self.open[job], self.rows[job]
        end = self._end(slot) if own.promised is None else own.promised + 1
        left = own.need - own.worked_ms(now_ms) // self.cluster.slot_ms
        most = most_at_once(row, left, end - slot, self.books[0]) if end > slot else 1
        if left > most * (end - slot):
            return Reason("too_late", {"need_slots": -(-left // most), "left_slots": max(0, end - slot)})
        late = slot - arrival_slot(self.jobs[job].arrival_ms, self.cluster.slot_ms)
        return LeadQuote(row, left, most, slot, end, self.books, self.training, late, self.parameters.lead_slots)

    def _density(self, now_ms: int, slot: int, job: int) -> float:
        """Best utility of the job from now on, divided by the cost of its remaining work at the price floor."""
        quote = self._quote(now_ms, slot, job)
        return 0.0 if isinstance(quote, Reason) else quote.density()

    def _adopt(
        self, now_ms: int, best: Candidate, verdicts: list[Verdict]
    ) -> tuple[dict[int, list[Placement]], dict[int, int]]:
        """Plans and finishes that the candidate changes; its verdicts are appended."""
        changed = {}
        for job, new in best.plans.items():
            own = self.open[job]
            old = own.plan.rest(now_ms) if own.plan else []
            if sorted(old) != sorted(new.bars if new else []):
                changed[job] = own, old, new
        self._hold(rows_of(old for _, old, _ in changed.values()), -1)
        plan: dict[int, list[Placement]] = {}
        finishes: dict[int, int] = {}
        for job, (own, _, new) in changed.items():
            self.open[job] = own.with_plan(new, now_ms)
            plan[job] = new.bars if new else []
            if new:
                finishes[job] = (new.finish + 1) * self.cluster.slot_ms
            verdict = self._verdict(job, own, new, best.gain, begun=own.worked_ms(now_ms) > 0)
            verdicts += [verdict] if verdict else []
        self._hold(rows_of(plan.values()))
        return plan, finishes

    def _verdict(self, job: int, own: OpenJob, new: Plan | None, gain: float, begun: bool) -> Verdict | None:
        """Verdict on a change of plan; None if the job finishes when it would have."""
        if new is None:
            assert own.plan is not None
            return Verdict(job, "preempted" if begun else "postponed", withdrawn(own.plan, gain))
        if own.plan is None:
            return Verdict(job, "resumed" if begun else "admitted", given(new, self.cluster.slot_ms))
        if own.plan.finish == new.finish:
            return None
        return Verdict(job, "moved", moved(own.plan, new, gain))
