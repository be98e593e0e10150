"""SRTF and Tiresias-L with everything sorted again at every event: slow and simple."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from scheduling.model.values import Cluster, Job
from tests.scheduling.typed_workers.reference_a_online import times, workers_of


@dataclass
class Gang:
    job: int
    size: int
    left: int
    data: set[int] = field(default_factory=set)
    held: list[tuple[int, int]] = field(default_factory=list)
    work: int = 0  # when its workers begin
    first: int | None = None
    stopped: int | None = None
    executed: int = 0
    queue: int = 0


def simulate(
    cluster: Cluster, jobs: list[Job], order: str, limits: tuple[int, ...] = (), knob: float = 0.0, overhead: int = 0
) -> dict[int, list[tuple[int, int, int, int, int]]]:
    """{job: sorted [(role, server, worker, start, end)]}; order: srtf | tiresias, limits in worker-ms."""
    workers = workers_of(cluster)
    gangs: dict[int, Gang] = {}
    out: dict[int, list[tuple[int, int, int, int, int]]] = {}

    def ran(gang: Gang, now: int) -> int:
        return max(0, now - gang.work) if gang.held else 0

    def key(gang: Gang, now: int) -> tuple:
        if order == "srtf":
            return gang.left - ran(gang, now), gang.job
        if gang.held:
            return gang.queue, 0, gang.first, gang.job
        return gang.queue, 1, math.inf if gang.first is None else gang.first, gang.job

    def stop(gang: Gang, now: int) -> None:
        for server, number in gang.held:
            if min(now, gang.work) > began[gang.job]:
                out[gang.job].append((2, server, number, began[gang.job], min(now, gang.work)))
            if now > gang.work:
                out[gang.job].append((0, server, number, gang.work, now))
        gang.left -= ran(gang, now)
        gang.executed += ran(gang, now)
        if now >= gang.work:
            gang.data |= {server for server, _ in gang.held}
        gang.held, gang.stopped = [], now

    def decide(kind: str, now: int) -> None:
        for gang in gangs.values():
            if any(a <= now < b for s, _ in gang.held for a, b in cluster.servers[s].away):
                stop(gang, now)
        own = sorted((g for g in gangs.values() if jobs[g.job].worker_type == kind), key=lambda g: key(g, now))
        there = [w for w in workers if w.kind == kind and not any(a <= now < b for a, b in w.away)]
        room, taken = len(there), []
        for gang in own:
            if gang.size <= room:
                room -= gang.size
                taken.append(gang)
        for gang in own:
            if gang.held and gang not in taken:
                stop(gang, now)
        for gang in taken:
            if gang.held:
                continue
            held = {number for g in gangs.values() for number in g.held if jobs[g.job].worker_type == kind}
            upload = jobs[gang.job].upload_ms
            free = [(w.server, w.number) for w in there if (w.server, w.number) not in held]
            if any(upload):
                free.sort(key=lambda at: (at[0] not in gang.data, upload[at[0]], at[0], at[1]))
            gang.held = free[: gang.size]
            load = overhead if gang.first is not None else 0
            if any(upload):
                load += max((upload[s] for s, _ in gang.held if s not in gang.data), default=0)
            began[gang.job], gang.work = now, now + load
            gang.first = now if gang.first is None else gang.first

    began: dict[int, int] = {}
    arrivals = [(job.arrival_ms, j) for j, job in enumerate(jobs)]
    changes = sorted({(ms, s) for s, server in enumerate(cluster.servers) for pair in server.away for ms in pair if ms})

    def move(gang: Gang) -> int | None:
        if order == "srtf":
            return None
        if gang.held:
            if gang.queue == len(limits):
                return None
            at = gang.work + max(0, math.ceil(limits[gang.queue] / gang.size) - gang.executed)
            return at if at < gang.work + gang.left else None
        if knob and gang.queue and gang.stopped is not None:
            return gang.stopped + max(1, math.ceil(knob * gang.executed))
        return None

    while arrivals or gangs:
        finishing = [(g.work + g.left, 0, g.job) for g in gangs.values() if g.held]
        moving = [(at, 3, g.job) for g in gangs.values() if (at := move(g)) is not None]
        options = finishing + moving + [(at, 2, j) for at, j in arrivals[:1]] + [(at, 1, s) for at, s in changes[:1]]
        if not options:
            break
        now, what, which = min(options)
        if what == 0:
            gang = gangs.pop(which)
            stop(gang, now)
            decide(jobs[which].worker_type, now)
        elif what == 1:
            changes.pop(0)
            leaving = any(a == now for a, _ in cluster.servers[which].away)
            kinds = []
            for w in workers:
                if w.server == which and w.kind not in kinds:
                    kinds.append(w.kind)
            if leaving:
                for gang in list(gangs.values()):
                    if any(s == which for s, _ in gang.held):
                        stop(gang, now)
            for kind in kinds:
                decide(kind, now)
        elif what == 2:
            arrivals.pop(0)
            job = jobs[which]
            available = sum(w.kind == job.worker_type for w in workers)
            if not available:
                continue
            size = max(1, min(job.requested_workers or 1, job.num_chunks, available))
            gangs[which] = Gang(which, size, -(-job.num_chunks * times(job, 1.0)[0] // size))
            out[which] = []
            decide(job.worker_type, now)
        else:
            due = [g for g in gangs.values() if move(g) == now]
            for gang in due:
                if gang.held:
                    gang.queue += 1
                else:
                    gang.queue, gang.executed = 0, 0
            for kind in {jobs[g.job].worker_type for g in due}:
                decide(kind, now)
    return {job: merged(bars) for job, bars in out.items() if bars}


def merged(bars: list[tuple[int, int, int, int, int]]) -> list[tuple[int, int, int, int, int]]:
    done: list[tuple[int, int, int, int, int]] = []
    for bar in sorted(bars):
        if done and done[-1][:3] == bar[:3] and done[-1][4] == bar[3]:
            done[-1] = (*done[-1][:4], bar[4])
        else:
            done.append(bar)
    return done
