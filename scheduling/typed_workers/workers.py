"""Typed workers of A_online (Section III), each a worker of its server, and data chunks that do not move.

Eq. (1): a mini-batch takes m + G + 2q/b, and m + G when workers and parameter server share one place, the cloud. Both
follow from the job alone, never from the worker, since a worker serves a job exactly when their types are equal.

Ours: a cluster whose servers declare no workers at all gets those of the paper's simulator, where workers are the GPUs
and parameter servers the CPUs of a machine, all of one type; there, any job's type fits. Where no server has a GPU,
workers are the CPUs. Where a job says nothing, it
uploads in no time, its parameter server takes no time to update, and it cannot use the cloud.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scheduling.model.decision import Reason
from scheduling.model.limits import MAX_INT
from scheduling.model.training_models import transfer_ms
from scheduling.model.values import BANDWIDTH, CPU, GPU, Cluster, Job, ModelError, Server

PARTS = ("epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms")  # of a job; without one its work is unknown
ANY = "any"  # the type of every worker where no server declares workers
MAX_WORK_MS = 1 << 43  # of a job on one worker, 278 years: 1,000 times it, and sums over a queue, fit 63 bits
ROUNDING = 1e-6  # ms; a product that is an integer up to rounding is that integer


@dataclass(frozen=True)
class WorkerSlots:
    """Typed workers of a role, in the order of servers and, within one, of its declared types: which breaks ties."""

    server: np.ndarray  # [worker] index of the server
    number: np.ndarray  # [worker] 0-based within server and role
    kind: np.ndarray  # [worker] place of its type in `kinds`
    kinds: tuple[str, ...]

    def of(self, kind: str | None) -> np.ndarray:
        """Workers that serve that type, ascending."""
        if self.kinds == (ANY,):
            return np.arange(len(self.server))
        if kind not in self.kinds:
            return np.arange(0)
        return np.flatnonzero(self.kind == self.kinds.index(kind))

    def name(self, kind: str | None) -> str | None:
        """Type under which jobs of that type share workers: one for all where workers are not declared."""
        return ANY if self.kinds == (ANY,) else kind


def declared(cluster: Cluster) -> bool:
    """True if any server declares workers."""
    return any(server.worker_lanes or server.ps_lanes for server in cluster.servers)


def counted(cluster: Cluster) -> int | None:
    """Resource of which a whole unit is a worker where no server declares workers, by its place; None if one does."""
    if declared(cluster):
        return None
    return GPU if any(server.capacity[GPU] >= 1000 for server in cluster.servers) else CPU


def slot_counts(server: Server, role: int, resource: int | None) -> Mapping[str, int]:
    """{type: workers} of a server for a role (0 worker, 1 parameter server). resource: as `counted` says."""
    if ("worker", "ps")[role] not in server.roles:
        return {}
    if resource is None:
        return server.ps_lanes if role else server.worker_lanes
    return {ANY: server.capacity[CPU if role else resource] // 1000}


def worker_slots(cluster: Cluster, role: int, servers: Sequence[int] | None = None) -> WorkerSlots:
    """The workers of a role (0 worker, 1 parameter server), of those servers only when they are given."""
    resource = counted(cluster)
    rows: list[tuple[int, int, int]] = []
    kinds: dict[str, int] = {}
    for index in range(len(cluster.servers)) if servers is None else servers:
        number = 0
        for kind, count in slot_counts(cluster.servers[index], role, resource).items():
            place = kinds.setdefault(kind, len(kinds))
            rows += [(index, number + i, place) for i in range(count)]
            number += count
    on, numbers, of_kinds = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return WorkerSlots(on, numbers, of_kinds, (ANY,) if resource is not None else tuple(kinds))


def slots_alone(begin_ms: int, cluster: Cluster) -> WorkerSlots:
    """The workers that a job has alone in the phase that begins then: servers that are removed have none."""
    kept = [
        index
        for index, server in enumerate(cluster.servers)
        if not any(left <= begin_ms and back >= MAX_INT for left, back in server.away)
    ]
    return worker_slots(cluster, 0, kept)


class Times(NamedTuple):
    """Time of a chunk, in ms: with a remote parameter server (zeta = 0), and with a local one (zeta = 1)."""

    remote: int
    local: int


def chunk_times(job: Job, speed: float = 1.0) -> Times:
    """E B (m + G + 2q/b) and E B (m + G), rounded up to whole ms; `speed` is 1 + epsilon of the speed augmentation."""
    assert job.epochs is not None
    assert job.minibatches_per_chunk is not None
    each_ms, exchange_ms = _minibatch_ms(job)
    count = job.epochs * job.minibatches_per_chunk / speed
    remote = math.ceil(count * (each_ms + exchange_ms) - ROUNDING)
    return Times(max(1, remote), max(1, math.ceil(count * each_ms - ROUNDING)))


def exact_chunk_ms(job: Job) -> float:
    """Time of a chunk with a remote parameter server in ms, not rounded."""
    assert job.epochs is not None
    assert job.minibatches_per_chunk is not None
    return job.epochs * job.minibatches_per_chunk * sum(_minibatch_ms(job))


def _minibatch_ms(job: Job) -> tuple[float, float]:
    """(time of a mini-batch, time of its exchange with a remote parameter server)."""
    assert job.minibatch_ms is not None
    rate = job.worker[BANDWIDTH] / 1000 if job.worker else 0.0
    exchange_ms = 2 * transfer_ms(job.gradient_mb, rate) if job.gradient_mb and rate else 0.0
    return job.minibatch_ms + (job.ps_update_ms or 0.0), exchange_ms


def impossible(job: Job) -> Reason | None:
    """Reason why the work of the job is unknown or impossible, or None."""
    found = judged(job)
    return found if isinstance(found, Reason) else None


def judged(job: Job) -> Reason | Times:
    """Time of a chunk, or the reason why the work of the job is unknown or impossible."""
    for part in PARTS:
        if getattr(job, part) is None:
            return Reason("missing_part", {"part": part})
    if job.gradient_mb and job.worker is not None and not job.worker[BANDWIDTH]:
        return Reason("missing_part", {"part": "worker.bandwidth"})
    assert job.num_chunks is not None
    times = chunk_times(job)
    work_ms = job.num_chunks * times.remote
    return Reason("too_much_work", {"work_ms": work_ms, "most_ms": MAX_WORK_MS}) if work_ms > MAX_WORK_MS else times


def uploads(job: Job, servers: np.ndarray) -> np.ndarray:
    """[server asked] ms until a chunk of the job is there. The job gives one delay per server, or none."""
    if job.upload_ms is None:
        return np.zeros(len(servers), dtype=np.int64)
    return np.array(job.upload_ms, dtype=np.int64)[servers]


def gang_size(job: Job, available: int) -> int:
    """requested_workers, at least 1, at most the chunks and the workers of its type."""
    return max(1, min(job.requested_workers or 1, job.num_chunks or 1, available))


def check_uploads(cluster: Cluster, jobs: Sequence[Job]) -> None:
    """Check of the upload delays; ModelError about the first job whose delays are not one per server."""
    count = len(cluster.servers)
    for job in jobs:
        if job.upload_ms is not None and len(job.upload_ms) != count:
            raise ModelError(
                f"job {job.id}: upload_ms must hold one delay per server of the cluster, {count:,}, "
                f"got {len(job.upload_ms):,}"
            )


def alone_ms(job: Job, upload_ms: np.ndarray, cloud: bool) -> int | None:
    """Completion time of a job alone in the empty system; None if it has no worker and no cloud.

    upload_ms: to each worker of its type. The least over the whole job in the cloud, and the D-th of what its workers
    can have done.
    """
    assert job.num_chunks is not None
    times, chunks = chunk_times(job), job.num_chunks
    best = job.cloud_upload_ms + times.local if cloud and job.cloud_upload_ms is not None else None
    if len(upload_ms):
        least = np.sort(upload_ms)
        if len(least) >= chunks and least[chunks - 1] <= least[0] + times.remote:
            edge = int(least[chunks - 1]) + times.remote
        else:  # the least time by which the workers can have done all chunks
            low, high = int(least[0]) + times.remote, int(least[0]) + chunks * times.remote
            while low < high:
                middle = (low + high) // 2
                if (np.maximum(middle - least, 0) // times.remote).sum() >= chunks:
                    high = middle
                else:
                    low = middle + 1
            edge = low
        best = edge if best is None else min(best, edge)
    return best
