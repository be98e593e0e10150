"""The slotted execution model: plans of jobs in time slots, packed on servers by resource, with prices per slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.kernel.execution_model import UTILITY, ExecutionModel, Outcome
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.training_models import LIMITS, training_model_of
from scheduling.model.values import Certificate, Cluster, Job, Placement
from scheduling.slotted import certificate
from scheduling.slotted.ledger import SlottedLedger
from scheduling.slotted.price_events import price_event, slots_of


@dataclass(frozen=True)
class Slotted(ExecutionModel):
    """Slotted execution; jobs train as in OASiS unless its field says otherwise."""

    supports: tuple[str, ...] = ("oasis",)

    name = "slotted"
    title = "Slots"
    trainings = {"oasis": "OASiS (slotted)", "pd-ors": "PD-ORS (slotted)"}

    def ledger(self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> SlottedLedger:
        return SlottedLedger(scheduler.seen(cluster), jobs, self.packs(scheduler, cluster))

    def packs(self, scheduler: BaseScheduler, cluster: Cluster) -> tuple[str, ...]:
        return LIMITS[self.training(scheduler, cluster)]

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
        task = certificate.problem(cluster, jobs, outcome.arrived, training, horizon=outcome.horizon)
        found = certificate.certify(task, outcome.utility, None if prices is None else prices[: task.slots])
        certificate.recheck(task, found, prices)
        return found, {**certificate.plain(found), "about": UTILITY, "jobs": len(outcome.arrived), "slots": task.slots}

    def price_event(self, scheduler: BaseScheduler, slots: Sequence[int]) -> dict[str, Any] | None:
        return price_event(scheduler, slots, all_slots=scheduler.horizon)

    def touched_slots(self, bars: Sequence[Placement], now_ms: int, slot_ms: int) -> list[int]:
        return slots_of(bars, now_ms, slot_ms)


SLOTTED = Slotted()
