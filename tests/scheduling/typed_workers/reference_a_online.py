"""A_online, chunk by chunk and event by event, as the paper says it: slow, and with nothing clever in it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from scheduling.model.values import Cluster, Job


@dataclass
class Chunk:
    job: int
    number: int
    key: int
    order: int
    work: int
    arrive: int
    share: float  # 1 / D
    left: int = 0
    spans: list[list[int]] = field(default_factory=list)


@dataclass
class Worker:
    server: int
    number: int
    kind: str
    away: tuple[tuple[int, int], ...]
    clock: int = 0
    queue: list[Chunk] = field(default_factory=list)


def run(worker: Worker, to: int, write: bool) -> list[tuple[Chunk, int]]:
    """Plays the worker until `to`; (chunk, what is left of it) of those that are not done then."""
    left = {id(c): c.left for c in worker.queue}
    clock = worker.clock
    while clock < to:
        gone = next((end for begin, end in worker.away if begin <= clock < end), None)
        if gone is not None:
            clock = min(gone, to)
            continue
        bounds = [to] + [begin for begin, _ in worker.away if begin > clock]
        waiting = [c for c in worker.queue if left[id(c)] and c.arrive <= clock]
        bounds += [c.arrive for c in worker.queue if left[id(c)] and c.arrive > clock]
        if not waiting:
            clock = min(bounds)
            continue
        best = min(waiting, key=lambda c: (c.key, c.order, c.number))
        until = min([clock + left[id(best)], *bounds])
        if write:
            if best.spans and best.spans[-1][1] == clock:
                best.spans[-1][1] = until
            else:
                best.spans.append([clock, until])
        left[id(best)] -= until - clock
        clock = until
    rest = [(c, left[id(c)]) for c in worker.queue if left[id(c)]]
    if write:
        worker.clock = to
        for chunk in worker.queue:
            chunk.left = left[id(chunk)]
        worker.queue = [c for c, _ in rest]
    return rest


def times(job: Job, speed: float) -> tuple[int, int]:
    rate = (job.worker[4] if job.worker else 0) / 1000
    exchange = 2 * 8 * (job.gradient_mb or 0) / rate if rate else 0.0
    count = job.epochs * job.minibatches_per_chunk / speed
    alone = job.minibatch_ms + (job.ps_update_ms or 0)
    return max(1, math.ceil(count * (alone + exchange) - 1e-6)), max(1, math.ceil(count * alone - 1e-6))


def workers_of(cluster: Cluster) -> list[Worker]:
    out = []
    for s, server in enumerate(cluster.servers):
        number = 0
        for kind, count in server.worker_lanes.items():
            for _ in range(count):
                out.append(Worker(s, number, kind, server.away))
                number += 1
    return out


def a_online(cluster: Cluster, jobs: list[Job], cloud: bool, storage: str = "none", speed: float = 1.0) -> dict:
    """{(job, chunk): (server or -2, worker, [[start, end], ...])}, rejected jobs missing."""
    workers = workers_of(cluster)
    placed: dict[tuple[int, int], tuple[int, int, Chunk]] = {}
    waiting: list[int] = []
    dispatched = [0]

    def mb(j: int) -> int:
        return round((jobs[j].chunk_mb or 0) * 1000)

    def done_ms(j: int) -> int | None:
        """When the job completes if nothing else comes."""
        ends = []
        for (job, _), (server, _, chunk) in placed.items():
            if job != j:
                continue
            if server == -2:
                ends.append(chunk.spans[-1][1])
            elif chunk.left:
                return None
            else:
                ends.append(chunk.spans[-1][1])
        return max(ends)

    def stored(now: int) -> dict[int, int]:
        used: dict[int, int] = {}
        for (job, _), (server, _, chunk) in placed.items():
            if server == -2:
                continue
            done = done_ms(job) if storage == "job" else (chunk.spans[-1][1] if not chunk.left else None)
            if done is None or done > now:
                used[server] = used.get(server, 0) + mb(job)
        return used

    def dispatch(j: int, now: int) -> bool:
        job = jobs[j]
        apart, together = times(job, speed)
        key, share = job.num_chunks * apart, 1 / job.num_chunks
        own = [w for w in workers if w.kind == job.worker_type]
        for w in workers:
            run(w, now, True)
        used = stored(now) if storage != "none" else {}
        free = {s: server.capacity[3] * 1000 - used.get(s, 0) for s, server in enumerate(cluster.servers)}
        may_cloud = cloud and job.cloud_upload_ms is not None
        plan: list[Worker | None] = []
        extra = {id(w): 0 for w in own}
        costs = {}
        for w in own:
            up = job.upload_ms[w.server]
            rest = run(w, now + up, False)
            ahead = sum(left for c, left in rest if c.key <= key)
            behind = math.fsum(c.share for c, _ in rest if c.key > key)
            costs[id(w)] = (up + ahead + apart) * 1000 + round(behind * (key * 1000.0))
        for d in range(job.num_chunks):
            options = [
                (costs[id(w)] + extra[id(w)] * apart * 1000, 0, i)
                for i, w in enumerate(own)
                if storage == "none" or free[w.server] >= mb(j)
            ]
            if may_cloud:
                options.append(((job.cloud_upload_ms + (together if d == 0 else apart)) * 1000, 1, 0))
            if not options:
                return False
            _, where, i = min(options)
            if where:
                plan += [None] * (job.num_chunks - d)
                break
            plan.append(own[i])
            extra[id(own[i])] += 1
            free[own[i].server] -= mb(j)
        whole = all(w is None for w in plan)
        for number, w in enumerate(plan):
            if w is None:
                start = now + job.cloud_upload_ms
                chunk = Chunk(j, number, key, dispatched[0], apart, start, share)
                chunk.spans = [[start, start + (together if whole else apart)]]
                placed[j, number] = (-2, -1, chunk)
            else:
                chunk = Chunk(j, number, key, dispatched[0], apart, now + job.upload_ms[w.server], share, apart)
                w.queue.append(chunk)
                placed[j, number] = (w.server, w.number, chunk)
        dispatched[0] += 1
        return True

    def release_times(now: int) -> int | None:
        """The next time at which storage is given back if nothing else comes."""
        ends: dict[int, list[int]] = {}
        for worker in workers:
            queue = [replace(c, spans=[list(s) for s in c.spans]) for c in worker.queue]
            run(replace(worker, queue=list(queue)), 1 << 40, True)
            for c in queue:
                ends.setdefault(c.job, []).append(c.spans[-1][1])
        for (job, _), (server, _, chunk) in placed.items():
            if server == -2 or not chunk.left:
                ends.setdefault(job, []).append(chunk.spans[-1][1])
        times = [max(own) for own in ends.values()] if storage == "job" else [ms for own in ends.values() for ms in own]
        return min(ms for ms in times if ms > now)

    def fits_empty(j: int) -> bool:
        if storage == "none" or not mb(j):
            return True
        servers = {w.server for w in workers if w.kind == jobs[j].worker_type}
        return sum(cluster.servers[s].capacity[3] * 1000 // mb(j) for s in servers) >= jobs[j].num_chunks

    now = 0
    arrivals = [(job.arrival_ms, j) for j, job in enumerate(jobs)]
    while arrivals or waiting:
        release = release_times(now) if waiting else None
        now = min(ms for ms in (release, arrivals[0][0] if arrivals else None) if ms is not None)
        while arrivals and arrivals[0][0] == now:
            _, j = arrivals.pop(0)
            own = [w for w in workers if w.kind == jobs[j].worker_type]
            may_cloud = cloud and jobs[j].cloud_upload_ms is not None
            if (not own and not may_cloud) or (not may_cloud and not fits_empty(j)):
                continue
            if not dispatch(j, now):
                waiting.append(j)
        for w in workers:
            run(w, now, True)
        for j in list(waiting):
            if dispatch(j, now):
                waiting.remove(j)
    for w in workers:
        run(w, 1 << 40, True)
    return {name: (server, number, [tuple(s) for s in chunk.spans]) for name, (server, number, chunk) in placed.items()}
