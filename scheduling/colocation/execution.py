"""The co-location execution model: jobs share machines in groups whose computation and communication alternate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from scheduling.colocation import certificate
from scheduling.colocation.job_mapping import as_harmony
from scheduling.colocation.ledger import MachineLedger
from scheduling.kernel.execution_model import MAKESPAN, ExecutionModel, Outcome, share_of_lower_bound
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Certificate, Cluster, Job


@dataclass(frozen=True)
class Colocation(ExecutionModel):
    """Execution model of groups on dedicated machines."""

    fills: bool = False  # groups use all machines of a site as long as jobs run there

    name = "colocation"
    title = "Co-location"
    trainings = {name: "co-location"}
    supports = (name,)
    no_beliefs = "the times of its groups depend on the remaining iterations of each job"

    def ledger(self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> MachineLedger:
        return MachineLedger(scheduler.seen(cluster), jobs)

    def rules(self, scheduler: BaseScheduler, cluster: Cluster) -> dict[str, Any]:
        return asdict(self)

    def as_used(self, jobs: Sequence[Job]) -> Sequence[Job]:
        return [as_harmony(job) or job for job in jobs]

    def claim(self, scheduler: BaseScheduler, cluster: Cluster) -> str | None:
        return MAKESPAN

    def certify(
        self,
        scheduler: BaseScheduler,
        cluster: Cluster,
        jobs: Sequence[Job],
        outcome: Outcome,
        prices: np.ndarray | None,
    ) -> tuple[Certificate, dict[str, Any]]:
        found = certificate.certify(cluster, jobs, outcome.completions)
        plain = {
            "kind": found.kind,
            "achieved": found.achieved,
            "bound": found.bound,
            "ratio": share_of_lower_bound(found),
        }
        left_out = len(outcome.arrived) - len(outcome.completions)
        return found, plain | {"about": MAKESPAN, "jobs": len(outcome.completions), "left_out": left_out}


COLOCATION = Colocation()
