"""The least total completion time of a tiny A_online instance, by trial of all orders of jobs and places of chunks.

Shares no code with the scheduler.

Each chunk stays on one worker, preempted at will; or it is in the cloud, apart, or the whole job is there, together.
Parameter servers bind nobody. It is exact: a schedule completes its jobs in some order, and a worker that always
serves, of the chunks that have reached it, one of the job that is first in this order (earliest due date first) meets
the completion of every job that any other use of the worker meets.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations
from typing import NamedTuple

from scheduling.model.values import Cluster, Job
from tests.scheduling.typed_workers.reference_a_online import times, workers_of

CLOUD = -1


class Work(NamedTuple):
    """A job as the workers see it; chunks of a job are alike."""

    arrival_ms: int
    ready_ms: dict[int, int]  # by worker of its type: the ms at which its chunks have reached the worker
    chunk_ms: int  # on a worker
    apart_ms: float  # in the cloud without some of its chunks; from arrival to completion, with the upload
    together_ms: float  # in the cloud as a whole
    chunks: int

    def places(self) -> list[tuple[int, ...]]:
        """Each choice of a place for every chunk."""
        options = [*self.ready_ms, *([CLOUD] if self.apart_ms < float("inf") else [])]
        return list(combinations_with_replacement(options, self.chunks))


def optimum(cluster: Cluster, jobs: list[Job]) -> float:
    """Sum of completion - arrival."""
    rows = [_work(cluster, job) for job in jobs]
    return min(_best(order, {}, float("inf")) for order in permutations(rows))


def _work(cluster: Cluster, job: Job) -> Work:
    apart, together = times(job, 1.0)
    cloud = cluster.unlimited_cloud and job.cloud_upload_ms is not None
    upload = job.cloud_upload_ms if cloud else float("inf")
    workers = enumerate(workers_of(cluster))
    ready = {w: job.arrival_ms + job.upload_ms[one.server] for w, one in workers if one.kind == job.worker_type}
    return Work(job.arrival_ms, ready, apart, upload + apart, upload + together, job.num_chunks)


def _best(order: tuple[Work, ...], busy: dict[int, frozenset[int]], limit: float) -> float:
    """Least total of the jobs in this order, with workers kept busy by earlier jobs; the limit if none is less."""
    if not order:
        return 0.0
    first, rest = order[0], order[1:]
    for places in first.places():
        taken, duration = dict(busy), 0.0
        if all(place == CLOUD for place in places):
            duration = first.together_ms
        else:
            for place in places:
                if place == CLOUD:
                    duration = max(duration, first.apart_ms)
                else:
                    used, end = _served(taken.get(place, frozenset()), first.ready_ms[place], first.chunk_ms)
                    taken[place] = used
                    duration = max(duration, end - first.arrival_ms)
        if duration < limit:
            limit = min(limit, duration + _best(rest, taken, limit - duration))
    return limit


def _served(busy: frozenset[int], ready_ms: int, work_ms: int) -> tuple[frozenset[int], int]:
    """The ms in which the worker is busy with one more chunk, which gets the first free ones; and its end."""
    free, at_ms = [], ready_ms
    while len(free) < work_ms:
        if at_ms not in busy:
            free.append(at_ms)
        at_ms += 1
    return busy | frozenset(free), at_ms
