"""Limited storage of servers (A_online, Section VI): the stored chunks, and until when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scheduling.model.values import STORAGE, Cluster, Job
from scheduling.typed_workers.haprf import Shard

# until when a chunk is kept
TITLES = {"none": "None", "job": "Until the job ends", "chunk": "Until the chunk ends"}
_KB = 1_000  # of a MB: storage is counted in whole kB


class Storage:
    """Storage of the servers, and the chunks in it. kind: one of TITLES."""

    def __init__(self, cluster: Cluster, jobs: Sequence[Job], kind: str) -> None:
        self.jobs, self.kind = jobs, kind
        self.capacity = np.array([server.capacity[STORAGE] for server in cluster.servers], dtype=np.int64) * _KB
        self.stored: dict[int, np.ndarray] = {}  # job -> [server] kB that it holds until it is done

    def size(self, row: Job) -> int:
        """kB of a chunk, where storage counts."""
        return round((row.chunk_mb or 0) * _KB) if self.kind != "none" else 0

    def most(self, row: Job, servers: np.ndarray) -> int | None:
        """Chunks of the job for which these servers have room when they are empty; None if storage does not count."""
        size = self.size(row)
        return int((self.capacity[np.unique(servers)] // size).sum()) if size else None

    def room(self, now_ms: int, row: Job, worker_slots: Iterable[tuple[np.ndarray, Shard]]) -> np.ndarray | None:
        """[server] chunks of the job for which it has room now. worker_slots: (their servers, shard) of every type."""
        size = self.size(row)
        return (self.capacity - self._used(now_ms, worker_slots)) // size if size else None

    def keep(self, job: int, servers: np.ndarray) -> None:
        """Storage of chunks of the job on these servers from now on."""
        if self.kind == "job" and len(servers):
            self.stored[job] = np.bincount(servers, minlength=len(self.capacity)) * self.size(self.jobs[job])

    def drop(self, job: int) -> bool:
        """Removal of a job that has ended; true if that freed storage."""
        return self.stored.pop(job, None) is not None

    def state(self) -> list[list[Any]]:
        """Plain lists and arrays."""
        return [[job, array] for job, array in sorted(self.stored.items())]

    def restore(self, state: Iterable[Sequence[Any]]) -> None:
        """The inverse of `state`."""
        self.stored = {int(job): np.asarray(array) for job, array in state}

    def _used(self, now_ms: int, worker_slots: Iterable[tuple[np.ndarray, Shard]]) -> np.ndarray:
        """[server] kB in use."""
        used = np.zeros(len(self.capacity), dtype=np.int64)
        if self.kind == "job":
            for array in self.stored.values():
                used += array
            return used
        for server, shard in worker_slots:
            at, job, _ = shard.unfinished(now_ms)
            if len(job):
                jobs, place = np.unique(job, return_inverse=True)
                sizes = np.array([self.size(self.jobs[j]) for j in jobs.tolist()], dtype=np.int64)
                np.add.at(used, server[at], sizes[place])
        return used
