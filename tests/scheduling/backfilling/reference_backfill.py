"""EASY and conservative backfilling in plain loops over slots, servers and jobs; they share no code with scheduling/.

Servers have GPUs, and room for any number of parameter servers. Jobs are considered one by one, in order of arrival.
"""

from typing import NamedTuple

import numpy as np
import pytest

from tests.scheduling import builders_slotted as small

# first seeds of 100 random instances each: of 1,000, the tests without the slow ones play 200
INSTANCES = pytest.mark.parametrize(
    "first", [0, 100, *(pytest.param(first, marks=pytest.mark.slow) for first in range(200, 1_000, 100))]
)


class Request(NamedTuple):
    arrival: int  # slot
    workers: int
    gpus: int  # of one worker
    slots: int
    estimate: int


def instance(seed, over=False):
    """(GPUs of each server, requests by arrival) at random; over: jobs may outlive their estimates."""
    rng = np.random.default_rng(seed)
    gpus = rng.integers(1, 5, size=int(rng.integers(1, 4))).tolist()
    requests = []
    for arrival in np.sort(rng.integers(0, 20, size=int(rng.integers(2, 14)))).tolist():
        size = 2 if max(gpus) >= 2 and rng.random() < 0.3 else 1
        workers = int(rng.integers(1, sum(amount // size for amount in gpus) + 1))
        slots = int(rng.integers(1, 9))
        estimate = int(rng.integers(1, 9)) if over else slots + int(rng.integers(0, 6)) * int(rng.integers(0, 2))
        requests.append(Request(arrival, workers, size, slots, estimate))
    return gpus, requests


def as_jobs(gpus, requests):
    """(cluster, jobs) of an instance."""
    servers = [small.worker_server(f"w{i}", g) for i, g in enumerate(gpus)]
    machines = small.cluster(*servers, small.ps_server("s", 1_000), horizon=None)
    return machines, [
        small.job(f"j{i}", r.arrival * 1_000, workers=r.workers, slots=r.slots, limit_ms=r.estimate * 1_000,
            worker=(r.gpus * 1_000, 0, 0, 0, 0), ps=(0, 0, 0, 0, 0))
        for i, r in enumerate(requests)
    ]  # fmt: skip


class Reserved(NamedTuple):
    job: int
    slot: int
    units: dict[int, int]  # server -> workers


class Pool:
    """Free GPUs of the servers, and the server at which the next search begins."""

    def __init__(self, free, pointer=0):
        self.free, self.pointer = list(free), pointer

    def place(self, request, limits=None):
        """{server: workers}, taken; None, with nothing taken, if they do not fit. limits: further free amounts."""
        free, pointer, units = list(self.free), self.pointer, {}
        limits = list(limits) if limits is not None else [10**9] * len(free)
        for _ in range(request.workers):
            for step in range(len(free)):
                server = (pointer + step) % len(free)
                if free[server] >= request.gpus and limits[server] >= request.gpus:
                    break
            else:
                return None
            free[server] -= request.gpus
            limits[server] -= request.gpus
            units[server] = units.get(server, 0) + 1
            pointer = (server + 1) % len(free)
        self.free, self.pointer = free, pointer
        return units


def easy_starts(gpus, requests):
    """({job: (slot, {server: workers})}, [reservations in the order in which they were made])"""
    pool, starts, made = Pool(gpus), {}, []
    reserved, spare, queue, running = None, [], [], {}
    slot, last = 0, max(r.arrival for r in requests) + sum(r.slots for r in requests)
    while slot <= last:
        ended = [job for job, (begin, _) in running.items() if begin + requests[job].slots == slot]
        for job in ended:
            for server, count in running.pop(job)[1].items():
                pool.free[server] += count * requests[job].gpus
        came = [job for job, request in enumerate(requests) if request.arrival == slot]
        queue += came
        if ended or came:
            overdue = any(begin + requests[job].estimate <= slot for job, (begin, _) in running.items())
            before = reserved
            if ended or overdue:
                reserved = None
            for job in list(queue):
                request = requests[job]
                if reserved is not None and job == reserved.job:
                    continue
                if reserved is None:
                    units = pool.place(request)
                    if units is None:
                        reserved, spare = reserve(job, requests, pool, running, slot, before)
                        made.append((slot, reserved))
                        continue
                else:
                    long = slot + request.estimate > reserved.slot
                    units = pool.place(request, spare if long else None)
                    if units is None:
                        continue
                    if long:
                        spare = [free - units.get(server, 0) * request.gpus for server, free in enumerate(spare)]
                queue.remove(job)
                running[job] = starts[job] = slot, units
        slot += 1
    return starts, made


def reserve(job, requests, pool, running, slot, before):
    """The earliest reservation, and what is free then besides it; the one before where it is as early."""

    def ends(other):
        return max(running[other][0] + requests[other].estimate, slot + 1)

    def free_at(at):
        free = list(pool.free)
        for other, (_, units) in running.items():
            if ends(other) <= at:
                for server, count in units.items():
                    free[server] += count * requests[other].gpus
        return free

    def besides(free, units):
        return [amount - units.get(server, 0) * requests[job].gpus for server, amount in enumerate(free)]

    kept = None
    if before is not None and before.job == job and min(besides(free_at(before.slot), before.units)) >= 0:
        kept = before, besides(free_at(before.slot), before.units)
    for at in sorted({ends(other) for other in running}):
        if kept is not None and at >= before.slot:
            return kept
        later = Pool(free_at(at))
        units = later.place(requests[job])
        if units is not None:
            return Reserved(job, at, units), later.free
    raise AssertionError("the job does not fit the empty cluster")


def conservative_starts(gpus, requests):
    """({job: (slot, {server: workers})}, {job: first reserved slot}), on a grid of slots x servers."""
    length = 4 * (max(r.arrival for r in requests) + sum(max(r.slots, r.estimate) for r in requests) + 1)
    free = [list(gpus) for _ in range(length)]
    reserved, first, starts, running, until = {}, {}, {}, {}, {}

    def mark(job, begin, end, units, sign):
        for slot in range(begin, end):
            for server, count in units.items():
                free[slot][server] += sign * count * requests[job].gpus

    def earliest(job, slot):
        request = requests[job]
        for begin in range(slot, length):
            units, left = {}, request.workers
            for server in range(len(gpus)):
                room = min(free[at][server] for at in range(begin, min(length, begin + request.estimate)))
                count = min(left, room // request.gpus)
                if count:
                    units[server] = count
                    left -= count
            if not left:
                return begin, units
        raise AssertionError("the job does not fit the empty cluster")

    def book(job, begin, units):
        reserved[job] = begin, units
        mark(job, begin, begin + requests[job].estimate, units, -1)

    def unbook(job):
        begin, units = reserved.pop(job)
        mark(job, begin, begin + requests[job].estimate, units, 1)
        return begin, units

    calls = {request.arrival for request in requests}
    for slot in range(length // 4 + sum(r.slots for r in requests)):
        early = False
        ended = [job for job, (begin, _) in running.items() if begin + requests[job].slots == slot]
        if not ended and slot not in calls:
            continue
        for job in ended:
            _, units = running.pop(job)
            if until[job] > slot:
                mark(job, slot, until[job], units, 1)
                early = True
        if any(until[job] <= slot for job in running):
            waiting = sorted(reserved)
            for job in waiting:
                unbook(job)
            for job, (_, units) in running.items():
                if until[job] <= slot:
                    mark(job, slot, slot + 1, units, -1)
                    until[job] = slot + 1
            for job in waiting:
                book(job, *earliest(job, slot))
        elif early:
            for job in sorted(reserved):
                if reserved[job][0] > slot:
                    before = unbook(job)
                    book(job, *min(earliest(job, slot), before, key=lambda found: found[0] - 0.5 * (found is before)))
        for job, request in enumerate(requests):
            if request.arrival == slot:
                book(job, *earliest(job, slot))
                first[job] = reserved[job][0]
        for job in sorted(job for job, (begin, _) in reserved.items() if begin <= slot):
            running[job] = starts[job] = reserved.pop(job)
            until[job] = slot + requests[job].estimate
        calls.update(sorted(begin for begin, _ in reserved.values())[:1])
    return starts, first
