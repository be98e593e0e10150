"""The slotted execution model: plans of jobs in time slots, packed on servers by resource, with prices per slot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.kernel.beliefs.belief import Pace
from scheduling.kernel.execution_model import UTILITY, ExecutionModel, Outcome
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement
from scheduling.model.training_models import (
    LIMITS,
    NEEDS,
    TRAINING_TITLES,
    gang_size,
    most_workers,
    oasis_minibatch_ms,
    oasis_worker_slots,
    pd_ors_sample_ms,
    training_model_of,
)
from scheduling.model.values import Certificate, Cluster, Job
from scheduling.slotted import certificate
from scheduling.slotted.certificate_problem import problem
from scheduling.slotted.ledger import SlottedLedger
from scheduling.slotted.pricing.price_events import price_event, slots_of


class SlotPace(Pace):
    """Pace of true work in slots of slot_ms: worker-slots, or samples at their slower rate."""

    def __init__(self, training: str, slot_ms: int) -> None:
        self.training, self.step_ms = training, slot_ms

    def total(self, row: Job) -> float:
        if self.training != "oasis" or not math.isfinite(self.exact(row)) or not self._known(row):
            return self.exact(row)
        return float(oasis_worker_slots(row, self.step_ms) * self.step_ms)

    def exact(self, row: Job) -> float:
        if not self._known(row):
            return 0.0
        if self.training == "oasis":
            minibatches = (row.epochs or 0) * (row.num_chunks or 0) * (row.minibatches_per_chunk or 0)
            return minibatches * oasis_minibatch_ms(row)
        return (row.epochs or 0) * (row.num_samples or 0) * _slower_ms(row)

    def workers(self, row: Job) -> int:
        return gang_size(row, most_workers(row, self.training))

    def speed(self, row: Job, one_server: bool) -> float:
        return 1.0 if self.training == "oasis" else _slower_ms(row) / pd_ors_sample_ms(row, one_server)

    def _known(self, row: Job) -> bool:
        return all(getattr(row, part) is not None for part in NEEDS[self.training])


def _slower_ms(row: Job) -> float:
    """Time of a sample where it is longer: in one place, or between several."""
    return max(pd_ors_sample_ms(row, internal) for internal in (True, False))


@dataclass(frozen=True)
class Slotted(ExecutionModel):
    """Slotted execution; jobs train as in OASiS unless its field says otherwise."""

    supports: tuple[str, ...] = ("oasis",)

    name = "slotted"
    title = "Slotted"
    trainings = {"oasis": "slotted (jobs train by chunks)", "pd-ors": "slotted (jobs train by samples)"}

    def ledger(self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> SlottedLedger:
        return SlottedLedger(scheduler.seen(cluster), jobs, self.packs(scheduler, cluster))

    def packs(self, scheduler: BaseScheduler, cluster: Cluster) -> tuple[str, ...]:
        return LIMITS[self.training(scheduler, cluster)]

    def pace(self, scheduler: BaseScheduler, cluster: Cluster) -> Pace:
        return SlotPace(self.training(scheduler, cluster), cluster.slot_ms)

    def rules(self, scheduler: BaseScheduler, cluster: Cluster) -> dict[str, Any]:
        return {"training": self.training(scheduler, cluster)}

    def training(self, scheduler: BaseScheduler, cluster: Cluster) -> str:
        """Training model in use: of several, by the scheduler's parameter `model`, or by the servers' roles."""
        if len(self.supports) == 1:
            return self.supports[0]
        return getattr(scheduler.parameters, "model", None) or training_model_of(cluster)

    def claim(self, scheduler: BaseScheduler, cluster: Cluster) -> str | None:
        return UTILITY

    def certify(
        self,
        scheduler: BaseScheduler,
        cluster: Cluster,
        jobs: Sequence[Job],
        outcome: Outcome,
        prices: np.ndarray | None,
    ) -> tuple[Certificate, dict[str, Any]]:
        training = self.training(scheduler, cluster)
        task = problem(cluster, jobs, outcome.arrived, training, horizon=outcome.horizon)
        found = certificate.certify(task, outcome.utility, None if prices is None else prices[: task.slots])
        certificate.recheck(task, found, prices)
        about = {"about": UTILITY, "jobs": len(outcome.arrived), "slots": task.slots}
        return found, {**certificate.plain(found), **about, "training": TRAINING_TITLES[training]}

    def price_event(self, scheduler: BaseScheduler, slots: Sequence[int]) -> dict[str, Any] | None:
        return price_event(scheduler, slots, all_slots=scheduler.horizon)

    def touched_slots(self, bars: Sequence[Placement], now_ms: int, slot_ms: int) -> list[int]:
        return slots_of(bars, now_ms, slot_ms)


SLOTTED = Slotted()
