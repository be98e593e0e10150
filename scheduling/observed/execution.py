"""The execution model of a real cluster: bars record what happened. Nothing is planned, priced or proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.kernel.execution_model import ExecutionModel, Outcome
from scheduling.kernel.ledger import Ledger
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Certificate, Cluster, Job, ModelError


class Observed(ExecutionModel):
    name = "observed"
    title = "Real cluster"
    trainings = {"observed": "a real cluster"}
    supports = ("observed",)
    records = True

    def ledger(self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> Ledger:
        raise ModelError(
            f"scheduler {scheduler.name} records a real cluster and cannot be simulated; choose another one"
        )

    def packs(self, scheduler: BaseScheduler, cluster: Cluster) -> tuple[str, ...]:
        return ("gpu", "cpu", "memory")

    def rules(self, scheduler: BaseScheduler, cluster: Cluster) -> dict[str, Any]:
        return {}

    def claim(self, scheduler: BaseScheduler, cluster: Cluster) -> str | None:
        return None

    def certify(
        self,
        scheduler: BaseScheduler,
        cluster: Cluster,
        jobs: Sequence[Job],
        outcome: Outcome,
        prices: np.ndarray | None,
    ) -> tuple[Certificate, dict[str, Any]]:
        raise ModelError(f"scheduler {scheduler.name}: no bound is proved for a real cluster")


OBSERVED = Observed()
