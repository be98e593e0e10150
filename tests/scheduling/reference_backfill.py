"""EASY backfilling in plain loops over slots, servers and jobs; it shares no code with scheduling/.

Servers have GPUs, and room for any number of parameter servers. Jobs are considered one by one, in order of arrival.
"""

from typing import NamedTuple


class Request(NamedTuple):
    arrival: int  # slot
    workers: int
    gpus: int  # of one worker
    slots: int
    estimate: int


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


def easy(gpus, requests):
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
