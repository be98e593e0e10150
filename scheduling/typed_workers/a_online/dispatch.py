"""A_greedy (A_online, Algorithm 2) for one job: each chunk's worker, the part in the cloud, and the cost (Eq. 5)."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from scheduling.model.values import Job
from scheduling.typed_workers import workers
from scheduling.typed_workers.haprf import NEVER, SCALE, Quotes, choose


class CloudCosts(NamedTuple):
    """Costs D Q in the cloud, in 1/1000 ms: constant, since the cloud has a worker for every chunk."""

    whole: int  # of the first chunk, which takes the whole job with it
    later: int  # of a later one, which takes all that are left, apart from the rest


class CloudPart(NamedTuple):
    """The chunks of a job in the cloud, which run all at once."""

    chunks: int = 0
    start_ms: int = 0
    end_ms: int = 0


NO_CLOUD = CloudCosts(NEVER, NEVER)


def cloud_costs(row: Job, times: workers.Times) -> CloudCosts:
    """Costs of a job in the cloud."""
    assert row.cloud_upload_ms is not None
    return CloudCosts((row.cloud_upload_ms + times.local) * SCALE, (row.cloud_upload_ms + times.remote) * SCALE)


def cloud_part(now_ms: int, row: Job, count: int, times: workers.Times) -> CloudPart:
    """`count` chunks dispatched to the cloud now: at the rate of one place (zeta = 1) only if they are a whole job."""
    if not count:
        return CloudPart()
    assert row.cloud_upload_ms is not None
    start_ms = now_ms + row.cloud_upload_ms
    return CloudPart(count, start_ms, start_ms + (times.local if count == row.num_chunks else times.remote))


def chosen(
    quotes: Quotes, work_ms: int, count: int, cloud: CloudCosts, server: np.ndarray, room: np.ndarray | None = None
) -> np.ndarray:
    """Worker of each chunk at the edge, in order; the other chunks go to the cloud, if there is one.

    server: of each worker. room: [server] chunks for which it has storage left; None where storage does not count.
    """
    if room is not None:
        return _fitting(quotes, work_ms, count, cloud, server, room.copy())
    if not len(quotes.total) or cloud.whole < int(quotes.total.min()):
        return np.arange(0)
    return choose(quotes.total, work_ms, count, cloud.later)


def _fitting(
    quotes: Quotes, work_ms: int, count: int, cloud: CloudCosts, server: np.ndarray, room: np.ndarray
) -> np.ndarray:
    """Dispatch that skips workers whose server is full."""
    heap = [(cost, worker_slot) for worker_slot, cost in enumerate(quotes.total.tolist())]
    heapq.heapify(heap)
    taken: list[int] = []
    while heap and len(taken) < count:
        cost, worker_slot = heap[0]
        if room[server[worker_slot]] < 1:
            heapq.heappop(heap)
            continue
        if cost > (cloud.later if taken else cloud.whole):
            break
        taken.append(worker_slot)
        room[server[worker_slot]] -= 1
        heapq.heapreplace(heap, (cost + work_ms * SCALE, worker_slot))
    return np.array(taken, dtype=np.int64)


def cost(
    row: Job, quotes: Quotes, upload: np.ndarray, worker_slots: np.ndarray, times: workers.Times, cloud: CloudPart
) -> dict[str, float]:
    """The sum of Q over the chunks and its four parts (Eq. 5), in ms of the average completion time of the job.

    upload: ms to each worker. workers: of each chunk at the edge.
    """
    assert row.num_chunks is not None
    found, counts = np.unique(worker_slots, return_counts=True)
    work_ms = times.remote
    waiting = float((quotes.ahead_ms[found] * counts).sum() + work_ms * (counts * (counts - 1) // 2).sum())
    parts = {
        "upload_ms": (float(upload[worker_slots].sum()) + cloud.chunks * (row.cloud_upload_ms or 0)) / row.num_chunks,
        "waiting_ms": waiting / row.num_chunks,
        "processing_ms": (work_ms * len(worker_slots) + cloud.chunks * (cloud.end_ms - cloud.start_ms))
        / row.num_chunks,
        "postponed_ms": work_ms * float(quotes.behind[worker_slots].sum()),
    }
    rounded = {name: round(ms, 3) for name, ms in parts.items()}
    return {"cost_ms": round(sum(parts.values()), 3), **rounded}
