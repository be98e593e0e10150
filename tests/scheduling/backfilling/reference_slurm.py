"""Slurm's main and backfill scheduler in plain loops over jobs, servers and intervals; no code of scheduling/ is used.

Each worker is on a server of its own. Times are slots of 10 s, so that a step of Slurm's outlook (30 s) has 3 slots.
"""

from typing import NamedTuple

import numpy as np

from scheduling.model.values import Server, Utility
from tests.scheduling import builders_slotted as small

SLOT_MS, STEP = 10_000, 3
MAIN, INTERVAL, RESOLUTION, WINDOW, DEPTH = 2, 3, 4, 60, 6
PARAMETERS = {
    "order": "utility", "spread": True, "main_ms": MAIN * SLOT_MS, "backfill_ms": INTERVAL * SLOT_MS,
    "resolution_ms": RESOLUTION * SLOT_MS, "window_ms": WINDOW * SLOT_MS, "depth": DEPTH,
}  # fmt: skip


class Request(NamedTuple):
    arrival: int  # slot
    workers: int
    need: tuple[int, int]  # GPUs, CPUs of one worker
    slots: int
    estimate: int
    queue: str
    priority: int


def instance(seed):
    """(GPUs and CPUs of each server, {queue: servers}, requests by arrival) at random; some outlive their estimates."""
    rng = np.random.default_rng(seed)
    servers = [(int(rng.integers(1, 5)), int(rng.integers(2, 9))) for _ in range(int(rng.integers(2, 6)))]
    some = sorted(rng.choice(len(servers), size=int(rng.integers(1, len(servers) + 1)), replace=False).tolist())
    queues = {"all": list(range(len(servers))), "some": some}
    requests = []
    for arrival in np.sort(rng.integers(0, 30, size=int(rng.integers(3, 16)))).tolist():
        queue = "some" if rng.random() < 0.4 else "all"
        largest = [max(servers[place][part] for place in queues[queue]) for part in (0, 1)]
        need = (int(rng.integers(1, largest[0] + 1)), int(rng.integers(1, largest[1] + 1)))
        able = sum(servers[place][0] >= need[0] and servers[place][1] >= need[1] for place in queues[queue])
        slots = int(rng.integers(1, 13))
        estimate = int(rng.integers(1, 25)) if seed % 4 == 0 else slots + int(rng.integers(0, 20))
        workers = int(rng.integers(1, able + 1)) if able else 1
        requests.append(Request(arrival, workers, need, slots, estimate, queue, int(rng.integers(1, 6))))
    return servers, queues, requests


def as_jobs(servers, queues, requests):
    """(cluster, jobs) of an instance."""
    made = [
        Server(
            f"w{i}", "edge", (gpus * 1_000, cpus * 1_000, 0, 0, 0), ("worker",),
            queues=tuple(name for name, places in queues.items() if i in places),
        )
        for i, (gpus, cpus) in enumerate(servers)
    ]  # fmt: skip
    machines = small.cluster(*made, small.ps_server("s", 1_000), horizon=None, slot_ms=SLOT_MS)
    return machines, [
        small.job(
            f"j{i}", r.arrival * SLOT_MS, workers=r.workers, slots=r.slots, minibatch_ms=float(SLOT_MS),
            limit_ms=r.estimate * SLOT_MS, worker=(r.need[0] * 1_000, r.need[1] * 1_000, 0, 0, 0), ps=(0, 0, 0, 0, 0),
            group=r.queue, utility=Utility(float(r.priority), 0.0, 1.0),
        )
        for i, r in enumerate(requests)
    ]  # fmt: skip


class Reference:
    """The cluster while it is played."""

    def __init__(self, servers, queues, requests):
        self.capacity, self.queues, self.requests = servers, queues, requests
        self.free = [list(amounts) for amounts in servers]
        self.waiting, self.running, self.starts = [], {}, {}  # running: job -> (slot, servers)

    def fits(self, request, server, free):
        return all(there >= need for there, need in zip(free[server], request.need, strict=True))

    def choose(self, request, allowed, free):
        """Servers of the workers in order, or None."""
        usable = [server for server in sorted(allowed) if self.fits(request, server, free)]
        if len(usable) < request.workers:
            return None
        runs = []
        for server in usable:
            if runs and runs[-1][-1] == server - 1:
                runs[-1].append(server)
            else:
                runs.append([server])

        def room(server):
            return free[server][1] // request.need[1]

        chosen = []
        while len(chosen) < request.workers:
            left, best = request.workers - len(chosen), None
            for run in runs:
                enough, total = len(run) >= left, sum(room(server) for server in run)
                if (
                    best is None
                    or (enough and (not best[0] or total < best[1]))
                    or (not enough and not best[0] and total > best[1])
                ):
                    best = enough, total, run
            run = best[2]
            runs.remove(run)
            chosen += [min(run, key=lambda server: (room(server), server))] if left == 1 else run[:left]
        return chosen

    def begin(self, job, servers, slot):
        for server in servers:
            for part in (0, 1):
                self.free[server][part] -= self.requests[job].need[part]
        self.waiting.remove(job)
        self.running[job] = self.starts[job] = slot, servers

    def ordered(self):
        return sorted(self.waiting, key=lambda job: (-self.requests[job].priority, job))

    def main(self, slot):
        ended, closed = set(), set()
        for job in self.ordered():
            request = self.requests[job]
            if request.queue in ended:
                continue
            servers = self.choose(request, set(self.queues[request.queue]) - closed, self.free)
            if servers is None:
                ended.add(request.queue)
                closed |= set(self.queues[request.queue])
            else:
                self.begin(job, servers, slot)

    def end_of(self, job, slot):
        """Expected end of a running job: its estimate, and one slot more whenever that is over."""
        return max(self.running[job][0] + self.requests[job].estimate, slot + 1)

    def expected(self, request, allowed, slot):
        """(slot, servers) where and when running jobs leave room, as Slurm's select plugin looks ahead."""
        servers = self.choose(request, allowed, self.free)
        if servers is not None:
            return slot, servers
        free = [list(amounts) for amounts in self.free]
        ends = sorted((self.end_of(job, slot), job) for job in self.running)
        place, window, barrier = 0, STEP, None
        while place < len(ends):
            last = following = None
            while place < len(ends):
                end, job = ends[place]
                place += 1
                if not allowed & set(self.running[job][1]):
                    continue
                if barrier is None:
                    barrier = end + window - end % window
                last = end
                for server in self.running[job][1]:
                    for part in (0, 1):
                        free[server][part] += self.requests[job].need[part]
                following = ends[place][0] if place < len(ends) else None
                if following is None or following > barrier + window:
                    break
            if last is None:
                return None
            window *= 2
            while following is not None and following > barrier + window:
                window *= 2
            servers = self.choose(request, allowed, free)
            if servers is not None:
                return max(last, slot + 1), servers
        return None

    def backfill(self, slot):
        """reserved: [slot of the window] servers that are reserved then."""
        first, last = slot // RESOLUTION * RESOLUTION, (slot + WINDOW) // RESOLUTION * RESOLUTION
        reserved = {at: frozenset() for at in range(first, last)}
        for job in self.ordered()[:DEPTH]:
            request, start = self.requests[job], slot
            while start is not None:
                bounds = [first, *(at for at in range(first + 1, last) if reserved[at] != reserved[at - 1]), last]
                allowed, later = set(self.queues[request.queue]), None
                whole = set(allowed)
                for begin, end, after in zip(bounds, bounds[1:], [*bounds[2:], None], strict=False):
                    if end <= start:
                        continue
                    if later is None and after is not None:
                        following = whole - reserved[end]
                        if not following <= allowed - reserved[begin]:
                            later = end
                    if begin > start + request.estimate:
                        break
                    allowed -= reserved[begin]
                found = self.expected(request, allowed, slot) if allowed else None
                if found is not None:
                    at = max(start, found[0])
                    if at <= slot:
                        self.begin(job, found[1], slot)
                        break
                    if later is None or at <= later:
                        begin = at // RESOLUTION * RESOLUTION
                        end = max((at + request.estimate) // RESOLUTION * RESOLUTION, begin + RESOLUTION)
                        span = [each for each in range(begin, end) if each in reserved]
                        if not any(reserved[each] & set(found[1]) for each in span):
                            if at <= slot + WINDOW:
                                for each in span:
                                    reserved[each] |= set(found[1])
                            break
                        later = at
                start = later


def slurm_starts(servers, queues, requests):
    """{job: (slot, servers)}"""
    of = Reference(servers, queues, requests)
    slot, main_at, backfill_at, wanted, postponed = 0, None, None, False, False
    fits = [of.choose(r, set(queues[r.queue]), [list(amounts) for amounts in servers]) is not None for r in requests]
    while slot <= 2_000 and len(of.starts) < sum(fits):
        for job, (begin, places) in list(of.running.items()):
            if begin + requests[job].slots == slot:
                del of.running[job]
                wanted = postponed = True
                for server in places:
                    for part in (0, 1):
                        of.free[server][part] += requests[job].need[part]
        came = [job for job, request in enumerate(requests) if request.arrival == slot and fits[job]]
        of.waiting += came
        wanted, postponed = wanted or bool(came), postponed or bool(came)
        before = len(of.starts)
        if wanted and (main_at is None or slot - main_at >= MAIN):
            main_at, wanted = slot, False
            of.main(slot)
        if postponed and (backfill_at is None or slot - backfill_at >= INTERVAL):
            backfill_at, postponed = slot, False
            of.backfill(slot)
        postponed = postponed or len(of.starts) > before
        slot += 1
    return {job: (slot, sorted(places)) for job, (slot, places) in of.starts.items()}
