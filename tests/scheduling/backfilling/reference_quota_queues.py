"""Quota queues in plain loops over slots and jobs, on one server with GPUs only; it shares no code with scheduling/."""

from typing import NamedTuple

import numpy as np

from tests.scheduling import builders_slotted as small


class Request(NamedTuple):
    arrival: int  # slot
    gpus: int
    slots: int
    queue: str
    priority: float


class Rules(NamedTuple):
    quotas: dict[str, int]  # per cent
    other: int
    borrow: int
    cohorts: tuple[tuple[str, ...], ...]
    reclaim: bool
    by_priority: bool
    strict: bool

    def parameters(self):
        return {
            "quotas": ",".join(f"{queue}={percent}" for queue, percent in self.quotas.items()),
            "other_percent": self.other, "borrow_percent": self.borrow,
            "cohorts": ",".join("+".join(cohort) for cohort in self.cohorts),
            "reclaim": "any" if self.reclaim else "never", "order": "priority" if self.by_priority else "arrival",
            "strict": self.strict,
        }  # fmt: skip


def instance(seed):
    """(GPUs, requests by arrival, rules) at random; quotas add up to at most 100 %."""
    rng = np.random.default_rng(seed)
    gpus = int(rng.integers(4, 11))
    shares = rng.multinomial(10, [0.25] * 4) * 10
    rules = Rules(
        quotas={queue: int(share) for queue, share in zip("ab", shares, strict=False)}, other=int(shares[2]),
        borrow=int(rng.choice([0, 30, 100, 100])),
        cohorts=[(), (), (("a", "b"),), (("a", "c"), ("b",))][int(rng.integers(0, 4))],
        reclaim=bool(rng.random() < 0.7), by_priority=bool(rng.random() < 0.5), strict=bool(rng.random() < 0.4),
    )  # fmt: skip
    arrivals = np.sort(rng.integers(0, 15, size=int(rng.integers(2, 15)))).tolist()
    requests = [
        Request(arrival, int(rng.integers(1, gpus + 1) if rng.random() < 0.3 else rng.integers(1, 4)),
                int(rng.integers(1, 8)), str(rng.choice(list("abc"))), float(rng.integers(1, 4)))
        for arrival in arrivals
    ]  # fmt: skip
    return gpus, requests, rules


def as_jobs(gpus, requests):
    """(cluster, jobs) of an instance."""
    machines = small.cluster(small.worker_server("w", gpus), small.ps_server("s", 1_000), horizon=None)
    return machines, [
        small.job(f"j{i}", r.arrival * 1_000, workers=r.gpus, slots=r.slots, group=r.queue,
            utility=small.Utility(r.priority, 0.0, 1.0), worker=(1_000, 0, 0, 0, 0), ps=(0, 0, 0, 0, 0))
        for i, r in enumerate(requests)
    ]  # fmt: skip


class Queues:
    """One run. begun and left: slot of the newest start, and slots left then."""

    def __init__(self, gpus, requests, rules):
        self.gpus, self.requests, self.rules = gpus, requests, rules
        self.left = {job: request.slots for job, request in enumerate(requests)}
        self.begun, self.waiting, self.runs, self.rejected = {}, [], {}, set()

    def quota(self, queue):
        return self.rules.quotas.get(queue, self.rules.other) * self.gpus / 100

    def cohort(self, queue):
        """Queues of the same cohort, and their quota."""
        queues = sorted({request.queue for request in self.requests} | set(self.rules.quotas) | {"a", "b", "c"})
        if not self.rules.cohorts:
            return queues, self.gpus
        own = next((cohort for cohort in self.rules.cohorts if queue in cohort), (queue,))
        return own, sum(self.quota(one) for one in own)

    def used(self, queues, running):
        return sum(self.requests[job].gpus for job in running if self.requests[job].queue in queues)

    def key(self, job):
        return (-self.requests[job].priority if self.rules.by_priority else 0, job)

    def within(self, job, running):
        queue = self.requests[job].queue
        return self.used([queue], running) + self.requests[job].gpus <= self.quota(queue)

    def room(self, job, running):
        """Whether cohort and server have room."""
        queues, pool = self.cohort(self.requests[job].queue)
        gpus = self.requests[job].gpus
        return self.used(queues, running) + gpus <= pool and self.used("abc", running) + gpus <= self.gpus

    def allowed(self, job, running):
        queue = self.requests[job].queue
        most = self.quota(queue) + self.rules.borrow * self.gpus / 100
        return self.used([queue], running) + self.requests[job].gpus <= most and self.room(job, running)

    def victims(self, job):
        """Jobs to preempt for a job; [] if that does not do it."""
        running, found = set(self.begun), []
        mates, _ = self.cohort(self.requests[job].queue)

        def borrowing(other):
            queue = self.requests[other].queue
            mate = queue in mates and queue != self.requests[job].queue
            return mate and self.used([queue], running) > self.quota(queue)

        candidates = [other for other in running if borrowing(other)]
        candidates.sort(key=lambda other: (self.requests[other].priority, -self.begun[other], -other))
        for other in candidates:
            if not self.room(job, running) and borrowing(other):
                running.remove(other)
                found.append(other)
        if not self.room(job, running):
            return []
        for other in list(reversed(found))[1:]:
            if self.room(job, running | {other}):
                running.add(other)
                found.remove(other)
        return found

    def slot(self, now):
        """Starts of a slot: the best job that was not tried, again and again."""
        tried, stopped = set(), set()
        while True:
            heads = {}
            for job in sorted(self.waiting, key=self.key):
                request = self.requests[job]
                line = request.queue if self.rules.strict else (request.queue, request.gpus)
                heads.setdefault(line, job)
            firsts = {}
            for job in sorted((job for job in heads.values() if job not in tried | stopped), key=self.key):
                firsts.setdefault(self.requests[job].queue, job)
            if not firsts:
                return
            job = min(firsts.values(), key=lambda one: (not self.within(one, self.begun), self.key(one)))
            tried.add(job)
            if not self.allowed(job, self.begun):
                if not self.rules.reclaim or not self.within(job, self.begun):
                    continue
                victims = self.victims(job)
                if not victims:
                    continue
                for other in victims:
                    self.end(other, now)
                    self.waiting.append(other)
                    stopped.add(other)
            self.waiting.remove(job)
            self.begun[job] = now

    def end(self, job, now):
        begun = self.begun.pop(job)
        if now > begun:
            self.runs.setdefault(job, []).append((begun, now))
        self.left[job] -= now - begun

    def play(self):
        """{job: [(begin, end)]}, and the jobs that are rejected."""
        now = 0
        while now <= max(r.arrival for r in self.requests) or self.waiting or self.begun:
            for job in [job for job, begun in self.begun.items() if begun + self.left[job] == now]:
                self.end(job, now)
            for job, request in enumerate(self.requests):
                if request.arrival == now:
                    if self.allowed(job, ()):
                        self.waiting.append(job)
                    else:
                        self.rejected.add(job)
            self.slot(now)
            now += 1
        return self.runs, self.rejected
