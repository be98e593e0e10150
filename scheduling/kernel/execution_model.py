"""The execution model: by which rules the jobs of a run hold servers.

A scheduler names its model. Each model has its own folder: slotted, typed_workers, colocation, and observed, which
records what a real cluster did. What may differ between schedulers of one model is a field of the model: `model =
TypedWorkers(fixed=True)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduling.kernel.beliefs.belief import Pace
from scheduling.kernel.ledger import Ledger
from scheduling.model.bars import Placement
from scheduling.model.values import Certificate, Cluster, Job

if TYPE_CHECKING:
    from scheduling.kernel.scheduler import BaseScheduler

UTILITY, COMPLETION, MAKESPAN = "utility", "completion", "makespan"  # what a certificate can be about


@dataclass(frozen=True)
class Outcome:
    """Known part of a schedule: arrived jobs (by index), completions of completing jobs, total utility so far."""

    arrived: Sequence[int]
    completions: Mapping[int, int]
    utility: float  # earned and promised
    bars: np.ndarray  # int64 [bar, 9], the columns of Placement; the bars that are valid now
    horizon: int  # slots to consider where the cluster has no horizon


class ExecutionModel(ABC):
    """Execution model with the rules that its fields select; it has no state."""

    name: str  # as files state it
    title: str  # as printed on screen
    trainings: Mapping[str, str]  # {name: as printed in comparisons} of the models by which its jobs train (`training`)
    supports: tuple[str, ...]  # those of them that a scheduler of this model can be asked for
    records: bool = False  # whether its runs record what was decided elsewhere, and cannot be simulated
    uploads_to_servers: bool = False  # whether a job states its upload time to each server of the cluster
    no_beliefs: str = (
        ""  # why its schedulers cannot run on beliefs, after "cannot run on predicted run times, because "
    )

    @abstractmethod
    def ledger(self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> Ledger:
        """An empty ledger: it checks every plan of the scheduler."""

    def packs(self, scheduler: BaseScheduler, cluster: Cluster) -> tuple[str, ...]:
        """Resources of a server that bars take and can exhaust; the others have no utilization."""
        return ()

    @abstractmethod
    def rules(self, scheduler: BaseScheduler, cluster: Cluster) -> dict[str, Any]:
        """Rules of this scheduler's jobs in addition to the model's name, as plain data for the files."""

    def pace(self, scheduler: BaseScheduler, cluster: Cluster) -> Pace | None:
        """Pace of the true work of this scheduler's jobs; None where plans of jobs do not determine it."""
        return None

    def check_jobs(self, cluster: Cluster, jobs: Sequence[Job]) -> None:
        """Check of all jobs of a scenario before it begins; ModelError if they do not suit the cluster."""
        return

    def as_used(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """The jobs with every field that this model derives from others."""
        return jobs

    def picture_data(self, cluster: Cluster, worker_types: Sequence[str | None]) -> dict[str, Any]:
        """Data of the model's charts besides the events, as plain data. worker_types: of each job."""
        return {}

    def worker_slots(self, cluster: Cluster) -> np.ndarray | None:
        """[server] typed workers and parameter servers; None where the model does not count them."""
        return None

    def training(self, scheduler: BaseScheduler, cluster: Cluster) -> str:
        """Training model of the jobs, one of `supports`: metrics of two runs are ranked only if it is the same."""
        return self.name

    def mean_slowdown(
        self, clusters: Sequence[tuple[int, Cluster]], jobs: Callable[[], Sequence[Job]], times_ms: Mapping[int, int]
    ) -> float | None:
        """Slowdown of these JCTs, by job; None where the time of a job alone is unknown.

        clusters: (start in ms, cluster) of each phase. jobs: called only where they are needed.
        """
        return None

    def alone_on(self, begin_ms: int, cluster: Cluster) -> Hashable:
        """Everything of the cluster of a phase on which the time of a job alone depends; None where it is unknown."""
        return None

    @abstractmethod
    def claim(self, scheduler: BaseScheduler, cluster: Cluster) -> str | None:
        """Subject of a certificate of such a run; None if no bound exists."""

    @abstractmethod
    def certify(
        self,
        scheduler: BaseScheduler,
        cluster: Cluster,
        jobs: Sequence[Job],
        outcome: Outcome,
        prices: np.ndarray | None,
    ) -> tuple[Certificate, dict[str, Any]]:
        """Best certificate and its plain data, rechecked.

        prices: [slot, server, resource] of the scheduler, if any.

        Only where `claim` is not None. ModelError when a certificate does not prove what it says.
        """

    def proof(
        self,
        scheduler: BaseScheduler,
        cluster: Cluster,
        jobs: Sequence[Job],
        outcome: Outcome,
        prices: np.ndarray | None = None,
    ) -> tuple[Certificate, dict[str, Any]] | None:
        """Result of `certify` where a bound can be proved, else None."""
        if self.claim(scheduler, cluster) is None:
            return None
        return self.certify(scheduler, cluster, jobs, outcome, prices)

    def price_event(self, scheduler: BaseScheduler, slots: Sequence[int]) -> dict[str, Any] | None:
        """Data of a `priced` event for these slots; None where the model has no prices."""
        return None

    def touched_slots(self, bars: Sequence[Placement], now_ms: int, slot_ms: int) -> list[int]:
        """Slots whose prices these bars may change."""
        return []


def share_of_lower_bound(certificate: Certificate) -> float:
    """The share of optimal that a lower bound proves, bound / achieved, rounded down to four decimals."""
    return int(min(1.0, certificate.bound / certificate.achieved) * 10_000) / 10_000 if certificate.achieved else 1.0
