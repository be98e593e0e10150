"""The scheduler of a real cluster: it has a name and a model for the twin, and decides elsewhere."""

from __future__ import annotations

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Cluster, ModelError
from scheduling.observed.execution import OBSERVED


class ObservedScheduler(BaseScheduler):
    name = "observed"
    title = "Real cluster"
    paper = "the cluster's own scheduler"
    summary = "What a real cluster did, mirrored by a connector. It cannot be simulated."
    model = OBSERVED
    uses = ("requested_workers", "worker")

    def check(self, cluster: Cluster) -> None:
        raise ModelError(f"scheduler {self.name} records a real cluster and cannot be simulated; choose another one")
