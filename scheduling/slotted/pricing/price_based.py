"""Base of the schedulers that decide about each job on its arrival, by prices of resources: OASiS and PD-ORS."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Cluster, Decision, Job, Placement, Reason
from scheduling.slotted.pricing.prices import sample_size
from scheduling.slotted.time_slots import check_known, check_size, whole_slots


class PriceBased(BaseScheduler):
    """One final decision per job. `sample`: number of jobs from which the price bounds are estimated now."""

    quotes = True
    keeps_plans = final = believes = True
    horizon: int
    sample: int

    @abstractmethod
    def _reprice(self) -> None:
        """Estimates the price bounds from the first `sample` jobs."""

    @abstractmethod
    def _decide(self, now_ms: int, job: int, record: Job) -> Decision:
        """Decision about a job that is submitted now with the work of that record."""

    @abstractmethod
    def _consider(self, now_ms: int, job: Job, most_workers: int | None = None) -> tuple[Reason, Any]:
        """Decision about a job that arrives now, with its schedule if it is admitted, otherwise None."""

    @abstractmethod
    def _hold(self, bars: np.ndarray, sign: int = 1) -> None:
        """Holds these bars, in the column order of Placement; sign -1: frees them."""

    def check(self, cluster: Cluster) -> None:
        if cluster.horizon_slots is not None:  # a horizon of its own is known only with the jobs
            check_size(self.name, cluster, cluster.horizon_slots)
        else:
            check_known(self.name, self.parameters.estimate_from)

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        repriced = self._learn(job + 1)
        return replace(self._decide(now_ms, job, self.jobs[job]), repriced=repriced)

    def on_overrun(self, now_ms: int, job: int, rest: Job) -> Decision:
        """The job is offered again: what its plan held behind its end may be promised to others."""
        return self._decide(now_ms, job, rest)

    def on_early_end(self, now_ms: int, job: int, bars: Sequence[Placement]) -> None:
        cut = [bar._replace(start_ms=max(bar.start_ms, now_ms)) for bar in bars]
        self._hold(whole_slots({job: cut}, self.cluster.slot_ms, self.horizon), -1)

    def explain(self, now_ms: int, job: Job, most_workers: int | None = None) -> Reason:
        """Rates that depend on the global batch stay those of the job's own, whatever `most_workers` is."""
        return self._consider(now_ms, job, most_workers)[0]

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        arrived = sum(job.arrival_ms <= now_ms for job in self.jobs)
        self._learn(arrived)
        if kept:
            self.assume(whole_slots(kept, self.cluster.slot_ms, self.horizon), arrived)

    def assume(self, bars: np.ndarray, arrived: int) -> None:
        self._learn(arrived)
        self._hold(bars)

    def _learn(self, arrived: int) -> bool:
        """Estimates the bounds again when the number of arrived jobs has doubled; true if it did."""
        size = sample_size(self.parameters.estimate_from, arrived, len(self.jobs))
        if size == self.sample:
            return False
        self.sample = size
        self._reprice()
        return True
