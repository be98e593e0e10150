"""Schedulers that can replay a window, with their parameters, and the reasons why the others cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scheduling.kernel.beliefs.knowledge import cannot_believe
from scheduling.kernel.registry import build, schedulers
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.training_models import training_model_of
from scheduling.model.values import Cluster
from twin.analysis.suitability import Demands
from twin.files.job_table import JobTable
from twin.studies.races import obstacle, trained_by

MAX_JOBS_ORACLE = 100  # its search takes minutes beyond them


@dataclass(frozen=True)
class Entrant:
    """A scheduler with its parameters; reason: why it is left out, empty if it is not.

    cannot_believe: why it is left out on beliefs only.
    """

    scheduler: type[BaseScheduler]
    parameters: dict[str, Any]
    reason: str = ""
    cannot_believe: str = ""


def entrants(cluster: Cluster, table: JobTable) -> list[Entrant]:
    """All schedulers, by title. Slotted ones train by the model of the cluster, so that they can be ranked."""
    demands, training = Demands(table), training_model_of(cluster)
    found = []
    for cls in schedulers().values():
        parameters = trained_by(cls, training)
        scheduler = build(cls.name, parameters)
        reason = _too_slow(cls, len(table)) or obstacle(scheduler, cluster, [table])
        if not reason and demands.unfit(scheduler, cluster).jobs == len(table):
            reason = "none of the jobs fits on a node"
        found.append(Entrant(cls, parameters, reason, cannot_believe(scheduler, cluster)))
    return sorted(found, key=lambda entrant: entrant.scheduler.title)


def _too_slow(cls: type[BaseScheduler], jobs: int) -> str:
    if cls.name == "oracle" and jobs > MAX_JOBS_ORACLE:
        return f"its search takes minutes with more than {MAX_JOBS_ORACLE:,} jobs, and the window has {jobs:,}"
    return ""
