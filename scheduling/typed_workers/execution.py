"""The typed-workers execution model: chunks or gangs on workers of one type, each running one bar at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from scheduling.kernel.beliefs.belief import Pace
from scheduling.kernel.execution_model import COMPLETION, ExecutionModel, Outcome, share_of_lower_bound
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import CHUNK, CLOUD, ROLE, SERVER, Role
from scheduling.model.values import Certificate, Cluster, Job
from scheduling.typed_workers import certificate, workers
from scheduling.typed_workers.ledger import WorkerLedger
from scheduling.typed_workers.metrics import slowdowns


class GangPace(Pace):
    """Pace of gangs: chunks of mini-batches, exchanged with remote parameter servers, to the millisecond."""

    step_ms = 1

    def total(self, row: Job) -> float:
        return 0.0 if workers.impossible(row) else float((row.num_chunks or 0) * workers.chunk_times(row).remote)

    def exact(self, row: Job) -> float:
        return 0.0 if workers.impossible(row) else (row.num_chunks or 0) * workers.exact_chunk_ms(row)

    def workers(self, row: Job) -> int:
        return workers.gang_size(row, row.num_chunks or 1)


@dataclass(frozen=True)
class TypedWorkers(ExecutionModel):
    """Typed workers; by default gangs on servers."""

    chunks: bool = False  # each chunk of a job is placed by itself, else gangs
    cloud: bool = False  # jobs may use the cloud without limit
    fixed: bool = False  # gangs have the size that the job asks for

    name = "typed_workers"
    title = "Typed workers"
    trainings = {name: "typed workers"}
    supports = (name,)
    uploads_to_servers = True
    no_beliefs = "it places each chunk of a job separately"

    def ledger(self, cluster: Cluster, jobs: Sequence[Job], scheduler: BaseScheduler) -> WorkerLedger:
        return WorkerLedger(cluster, jobs)

    def pace(self, scheduler: BaseScheduler, cluster: Cluster) -> Pace | None:
        return GangPace() if self.fixed else None

    def check_jobs(self, cluster: Cluster, jobs: Sequence[Job]) -> None:
        workers.check_uploads(cluster, jobs)

    def rules(self, scheduler: BaseScheduler, cluster: Cluster) -> dict[str, Any]:
        return asdict(self)

    def picture_data(self, cluster: Cluster, worker_types: Sequence[str | None]) -> dict[str, Any]:
        """The types of workers, the place of each job's in them (-1: none), and how many of each a server has."""
        worker_slots = workers.worker_slots(cluster, int(Role.WORKER))
        places = {kind: place for place, kind in enumerate(worker_slots.kinds)}
        counts = np.zeros((len(cluster.servers), len(worker_slots.kinds)), dtype=np.int64)
        np.add.at(counts, (worker_slots.server, worker_slots.kind), 1)
        of_job = [places.get(worker_slots.name(kind) or "", -1) for kind in worker_types]
        return {"typed_workers": {"types": worker_slots.kinds, "of_job": of_job, "workers": counts.tolist()}}

    def worker_slots(self, cluster: Cluster) -> np.ndarray:
        found = [workers.worker_slots(cluster, int(role)).server for role in (Role.WORKER, Role.PS)]
        return np.bincount(np.concatenate(found), minlength=len(cluster.servers))

    def mean_slowdown(
        self, clusters: Sequence[tuple[int, Cluster]], jobs: Callable[[], Sequence[Job]], times_ms: Mapping[int, int]
    ) -> float | None:
        return slowdowns(clusters, jobs(), times_ms)["mean_slowdown"]

    def alone_on(self, begin_ms: int, cluster: Cluster) -> Hashable:
        slots = workers.slots_alone(begin_ms, cluster)
        servers = {kind: slots.server[slots.of(kind)].tobytes() for kind in slots.kinds}
        return cluster.unlimited_cloud, frozenset(servers.items())

    def claim(self, scheduler: BaseScheduler, cluster: Cluster) -> str | None:
        return None if getattr(scheduler.parameters, "speed_augmentation", 0) else COMPLETION

    def certify(
        self,
        scheduler: BaseScheduler,
        cluster: Cluster,
        jobs: Sequence[Job],
        outcome: Outcome,
        prices: np.ndarray | None,
    ) -> tuple[Certificate, dict[str, Any]]:
        """edge_only: {kind, bound, ratio} of schedules without workers in the cloud, where this is one of them."""
        workers = outcome.bars[outcome.bars[:, ROLE] == Role.WORKER]
        # one gang is enough: it may finish before the time that its chunks, undivided, take alone
        gangs = not len(workers) or bool((workers[:, CHUNK] < 0).any())
        found = certificate.certify(cluster, jobs, outcome.completions, outcome.bars, gangs=gangs)
        left_out = len(outcome.arrived) - len(outcome.completions)
        plain = _plain(found) | {
            "achieved": found.achieved, "about": COMPLETION, "jobs": len(outcome.completions), "left_out": left_out,
            "gangs": gangs,
        }  # fmt: skip
        if cluster.unlimited_cloud and not _in_cloud(outcome.bars):
            edge = replace(cluster, unlimited_cloud=False)
            alone = certificate.certify(edge, jobs, outcome.completions, outcome.bars, gangs=gangs)
            plain["edge_only"] = _plain(alone)
        return found, plain | ({"coarse": True} if found.duals.get("coarse") else {})


def _plain(found: Certificate) -> dict[str, Any]:
    return {"kind": found.kind, "bound": found.bound, "ratio": share_of_lower_bound(found)}


def _in_cloud(bars: np.ndarray) -> bool:
    """True if a worker of a schedule is in the cloud."""
    return bool((bars[bars[:, ROLE] == Role.WORKER, SERVER] == CLOUD).any())


TYPED_WORKERS = TypedWorkers()
