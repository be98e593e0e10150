"""Base of the schedulers that decide about each job on its arrival, by prices of resources: OASiS and PD-ORS."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import END, Placement
from scheduling.model.decision import Decision, Reason
from scheduling.model.utility import arrival_slot
from scheduling.model.values import Cluster, Job
from scheduling.slotted.pricing.prices import CLAIRVOYANT, sample_size
from scheduling.slotted.time_slots import (
    check_size,
    in_whole_slots,
    last_arrival,
    most_slots,
    own_horizon,
    slots_ahead,
    whole_slots,
)

MIN_SAMPLE = 4  # jobs; with fewer, no more are expected, so that a first job is admitted to an empty cluster


class PriceBased(BaseScheduler):
    """One final decision per job.

    A cluster without a horizon gets one: `clairvoyant`, one that lets FINISH_SHARE of all jobs finish however late they
    arrive; from `history`, each job has a window of `ahead` slots, by the jobs that have arrived, and the horizon grows
    with the submissions: it is the end of the last window so far.
    """

    quotes = True
    keeps_plans = final = believes = True
    horizon: int  # slots that have prices
    arrived: int  # number of jobs that have arrived
    sample: int  # number of jobs, the first ones, from which the price bounds are estimated
    longest: int  # slots of the longest of the arrived jobs with all its workers

    @abstractmethod
    def _least(self, jobs: Sequence[Job], slot_ms: int) -> list[int]:
        """Slots of each job with all its workers, of those that can end."""

    @abstractmethod
    def _reprice(self) -> None:
        """Estimate of the price bounds from the first `sample` jobs."""

    @abstractmethod
    def _decide(self, now_ms: int, job: int, record: Job) -> Decision:
        """Decision about a job that is submitted now with the work of that record."""

    @abstractmethod
    def _consider(self, now_ms: int, job: Job, most_workers: int | None = None) -> tuple[Reason, Any]:
        """Decision about a job that arrives now, with its schedule if it is admitted, otherwise None."""

    @abstractmethod
    def _hold(self, bars: np.ndarray, sign: int = 1) -> None:
        """Reservation of these bars, in the column order of Placement; with sign -1, their release."""

    @abstractmethod
    def _grow(self, horizon: int) -> None:
        """Addition of the empty slots from the current horizon to a later one."""

    def check(self, cluster: Cluster) -> None:
        if cluster.horizon_slots is not None:  # a horizon of its own is known only with the jobs
            check_size(self.name, cluster, cluster.horizon_slots)

    def check_jobs(self, cluster: Cluster, jobs: Sequence[Job]) -> None:
        super().check_jobs(cluster, jobs)
        check_size(self.name, cluster, self.horizon_for(cluster, jobs))

    def horizon_for(self, cluster: Cluster, jobs: Sequence[Job]) -> int:
        if cluster.horizon_slots is not None:
            return cluster.horizon_slots
        least = self._least(jobs, cluster.slot_ms)
        if self.clairvoyant:
            return own_horizon(jobs, least, cluster.slot_ms)
        return last_arrival(jobs, cluster.slot_ms) + slots_ahead(max(least, default=1))

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.horizon = self.horizon_for(cluster, jobs)
        self.ends_unknown = cluster.horizon_slots is None and not self.clairvoyant
        self.arrived, self.longest = 0, 1
        self.sample = sample_size(self.parameters.estimate_from, 0, len(jobs))

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        repriced = self._learn(job + 1)
        return replace(self._decide(now_ms, job, self.jobs[job]), repriced=repriced)

    def on_overrun(self, now_ms: int, job: int, rest: Job) -> Decision:
        """Decision about the remaining work: what the plan held after its end may be promised to others."""
        return self._decide(now_ms, job, rest)

    def on_early_end(self, now_ms: int, job: int, bars: Sequence[Placement]) -> None:
        cut = [bar._replace(start_ms=max(bar.start_ms, now_ms)) for bar in bars]
        self._hold(whole_slots({job: cut}, self.cluster.slot_ms, self.horizon), -1)

    def explain(self, now_ms: int, job: Job, most_workers: int | None = None) -> Reason:
        """Reason of the decision. Rates that depend on the global batch stay those of the job, for any limit."""
        return self._consider(now_ms, job, most_workers)[0]

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        arrived = sum(job.arrival_ms <= now_ms for job in self.jobs)
        self._learn(arrived)
        if kept:
            self._reach(max(bar.end_ms for bars in kept.values() for bar in bars))
            self._hold(whole_slots(kept, self.cluster.slot_ms, self.horizon))

    def with_record(self, job: int, record: Job) -> None:
        """New estimate of the price bounds if the job is in their sample; clairvoyant bounds stay unchanged."""
        if job >= self.sample or self.clairvoyant or self.jobs[job] == record:
            return
        self.jobs = [*self.jobs[:job], record, *self.jobs[job + 1 :]]
        self.record_changed(job)
        self._reprice()

    @property
    def clairvoyant(self) -> bool:
        """True if the price bounds are estimated from all jobs of the scenario."""
        return bool(self.parameters.estimate_from == CLAIRVOYANT)

    def assume(self, bars: np.ndarray, arrived: int) -> None:
        self._learn(arrived)
        self._reach(int(bars[:, END].max(initial=0)))
        # a plan that was kept by an edit in the middle of a slot holds the whole slot
        self._hold(in_whole_slots(bars, self.cluster.slot_ms, self.horizon))

    def _submitted(self, now_ms: int) -> int:
        """First slot of a job that is submitted now; an unknown end of the slots moves to the end of its window."""
        first = arrival_slot(now_ms, self.cluster.slot_ms)
        self._reach((first + slots_ahead(self.longest)) * self.cluster.slot_ms)
        return first

    def _reach(self, until_ms: int) -> None:
        """Growth of the horizon up to that time, if its end is unknown, as far as memory allows."""
        horizon = min(-(-until_ms // self.cluster.slot_ms), most_slots(self.cluster))
        if self.ends_unknown and horizon > self.horizon:
            self._grow(horizon)
            self.horizon = horizon

    def _reach_saved(self, state: Mapping[str, Any], *books: Mapping[str, Any]) -> None:
        """Growth of the horizon to that of a saved state; one of an older version states the slots in use only."""
        used = max((int(slot) + 1 for book in books for slot in book["slots"]), default=0)
        self._reach(state.get("horizon", used) * self.cluster.slot_ms)

    def _end(self, first: int) -> int:
        """End of the window of a job that is offered in slot `first`."""
        return min(self.horizon, first + slots_ahead(self.longest)) if self.ends_unknown else self.horizon

    def _known_slots(self) -> tuple[int, int | None]:
        """Horizon for the estimate, and the slots in which the jobs of the sample came; None for the whole horizon.

        Jobs are assumed to go on coming as they did; MIN_SAMPLE of them are needed to know how.
        """
        if self.clairvoyant:
            return self.horizon, None
        sample, slot_ms = self.jobs[: self.sample], self.cluster.slot_ms
        last = last_arrival(sample, slot_ms)
        ahead = slots_ahead(max(self._least(sample, slot_ms), default=1))
        horizon = last + ahead if self.ends_unknown else self.horizon
        return horizon, None if len(sample) < MIN_SAMPLE else min(horizon, last + 1)

    def _learn(self, arrived: int) -> bool:
        """New estimate of the bounds when the number of arrived jobs has doubled; true if it did."""
        self.longest = max([self.longest, *self._least(self.jobs[self.arrived : arrived], self.cluster.slot_ms)])
        self.arrived = max(self.arrived, arrived)
        size = sample_size(self.parameters.estimate_from, self.arrived, len(self.jobs))
        if size == self.sample:
            return False
        self.sample = size
        self._reprice()
        return True
