"""The forecast in plain loops over times, jobs and nodes; it shares no code with scheduling/forecast but the values."""

import numpy as np

from scheduling.forecast.values import NEVER, After, Closed, ClusterState, Group, Node, Running, Waiting


def cluster_state(seed, rich=True):
    """A small cluster at random. rich: with licences, dependencies, reservations of nodes, gangs and the rest."""
    rng = np.random.default_rng(seed)
    queues = ("a", "b")
    now = 1_000
    nodes = []
    for i in range(int(rng.integers(1, 5))):
        closed = ()
        if rich and rng.random() < 0.2:
            begin = int(rng.integers(900, 1_040))
            closed = (Closed(begin, begin + int(rng.integers(5, 60)), str(rng.choice(["maint", "course"]))),)
        on = frozenset(rng.choice(queues, size=int(rng.integers(1, 3)), replace=False).tolist())
        nodes.append(Node(f"n{i}", (int(rng.integers(0, 5)), int(rng.integers(1, 9))), on, rng.random() > 0.1, closed))
    free = [list(node.capacity) for node in nodes]
    over = 2 if rich and rng.random() < 0.2 else 0  # so much more than its capacity may be held of a node
    running = []
    for i in range(int(rng.integers(0, 6))):
        shares = []
        for n in rng.permutation(len(nodes))[: int(rng.integers(1, 3))].tolist():
            amounts = tuple(int(rng.integers(0, max(f, 0) + over + 1)) for f in free[n])
            if any(amounts):
                free[n] = [f - a for f, a in zip(free[n], amounts, strict=True)]
                shares.append((n, amounts))
        if shares:
            end = now + int(rng.integers(-3, 30))
            licences = {"sw": 1} if rich and rng.random() < 0.3 else {}
            limit = NEVER if rng.random() < 0.1 else end + int(rng.integers(0, 40))
            running.append(Running(f"r{i}", tuple(shares), end, limit, licences))
    waiting = []
    count = int(rng.integers(1, 10))
    for i in range(count):
        groups = tuple(
            Group(int(rng.integers(1, 3)), (int(rng.integers(0, 4)), int(rng.integers(0, 6))))
            for _ in range(2 if rich and rng.random() < 0.15 else 1)
        )
        run = int(rng.integers(0, 25))
        more = {}
        if rich:
            after = []
            if rng.random() < 0.2:
                known = [job.id for job in running] + [f"w{j}" for j in range(count) if j != i] + ["gone"]
                after.append(After(str(rng.choice(known)), bool(rng.random() < 0.4)))
            more = {
                "after": tuple(after), "exclusive": bool(rng.random() < 0.15),
                "licences": {"sw": int(rng.integers(1, 4))} if rng.random() < 0.25 else {},
                "eligible_ms": now + int(rng.integers(-5, 30)) if rng.random() < 0.2 else 0,
                "reservation": "course" if rng.random() < 0.1 else "",
                "only": frozenset({"n0"}) if rng.random() < 0.08 else frozenset(),
                "not_on": frozenset({"n1"}) if rng.random() < 0.08 else frozenset(),
                "blocked": "held" if rng.random() < 0.05 else "",
            }  # fmt: skip
        sent = [["a"], ["b"], ["a", "b"]][int(rng.integers(0, 3))]
        limit = NEVER if rng.random() < 0.05 else max(1, run) + int(rng.integers(0, 40))
        waiting.append(Waiting(f"w{i}", groups, run, limit, frozenset(sent), **more))
    return ClusterState(now, tuple(nodes), tuple(running), tuple(waiting), {"sw": 2}, int(rng.integers(0, 3)))


def forecast(of):
    """{job: (start, finish, nodes)}; None instead of those where a job has none."""
    state = _State(of)
    for job in of.running:
        state.hold(job.id, list(job.shares), max(job.end_ms, of.now_ms), max(job.limit_end_ms, job.end_ms, of.now_ms),
                   job.licences)  # fmt: skip
    waits = [job for job in of.waiting if state.ever(job)]
    moments = {of.now_ms + of.cycle_ms} | {job.eligible_ms for job in of.waiting}
    moments |= {ms for node in of.nodes for closed in node.closed for ms in closed[:2]}
    times = sorted(ms for ms in moments if ms > of.now_ms or ms == of.now_ms + of.cycle_ms)
    found = {job.id: None for job in of.waiting}
    while waits:
        coming = times + [end + of.cycle_ms for _, end, _, _ in state.held.values()]
        if not coming:
            break
        now = min(coming)
        times = [ms for ms in times if ms != now]
        for name in [name for name, (_, end, _, _) in state.held.items() if end + of.cycle_ms == now]:
            state.release(name)
        again = True
        while again:
            heads, unmet = {}, [job for job in waits if not state.met(job)]
            for job in list(waits):
                if job.eligible_ms > now or job in unmet or not state.licensed(job):
                    continue
                shares = state.place(job, now, heads)
                if shares is not None:
                    end = now + max(1, job.run_ms)
                    state.hold(job.id, shares, end, now + max(job.limit_ms, job.run_ms, 1), job.licences)
                    waits.remove(job)
                    found[job.id] = (now, end, tuple(sorted(n for n, _ in shares)))
                elif (job.queues, job.reservation) not in heads:
                    heads[job.queues, job.reservation] = state.reserve(job, now)
            again = any(state.met(job) for job in unmet)  # by the start of another one
    return found


class _State:
    def __init__(self, of):
        self.of, self.held, self.begun = of, {}, set()
        self.open = {job.id for job in (*of.running, *of.waiting)}
        self.licences = dict(of.licences)

    def hold(self, name, shares, end, limit_end, licences):
        self.held[name] = shares, end, limit_end, licences
        self.begun.add(name)
        for key, number in licences.items():
            self.licences[key] -= number

    def release(self, name):
        _, _, _, licences = self.held.pop(name)
        self.open.discard(name)
        for key, number in licences.items():
            self.licences[key] += number

    def free(self, node, by=None):
        """What is free on a node now, or at a later time if all jobs run to their limits."""
        found = list(self.of.nodes[node].capacity)
        for shares, _, limit_end, _ in self.held.values():
            for n, amounts in shares:
                if n == node and (by is None or limit_end > by):
                    found = [f - a for f, a in zip(found, amounts, strict=True)]
        return found

    def takes(self, job, node):
        """Whether a node may run the job at some time."""
        if not node.available or not node.queues & job.queues:
            return False
        if job.reservation and job.reservation not in [closed.name for closed in node.closed]:
            return False
        return (not job.only or node.name in job.only) and node.name not in job.not_on

    def fits(self, job, group, node, free):
        capacity = list(self.of.nodes[node].capacity)
        if job.exclusive and free != capacity:
            return False
        enough = all(a <= f or not a for a, f in zip(group.amounts, free, strict=True))
        return self.takes(job, self.of.nodes[node]) and enough

    def needs(self, job, group, node):
        return self.of.nodes[node].capacity if job.exclusive else group.amounts

    def ever(self, job):
        if job.blocked or any(self.of.licences[key] < number for key, number in job.licences.items()):
            return False
        left = list(range(len(self.of.nodes)))
        for group in job.groups:
            good = [n for n in left if self.fits(job, group, n, list(self.of.nodes[n].capacity))][: group.count]
            if len(good) < group.count:
                return False
            left = [n for n in left if n not in good]
        return True

    def met(self, job):
        return all(one.id not in self.open or (one.start and one.id in self.begun) for one in job.after)

    def licensed(self, job):
        return all(self.licences[key] >= number for key, number in job.licences.items())

    def may_begin(self, job, node, now):
        for closed in self.of.nodes[node].closed:
            inside = closed.from_ms <= now < closed.to_ms
            if closed.name == job.reservation:
                if not inside:
                    return False
            elif now < closed.to_ms and now + job.limit_ms > closed.from_ms:
                return False
        return True

    def place(self, job, now, heads):
        beside = [head for head in heads.values() if head and now + job.limit_ms > head["start"]]
        beside = [] if job.reservation else beside
        taken = []
        for group in job.groups:
            good = []
            for n in range(len(self.of.nodes)):
                if n in [t for t, _ in taken] or not self.fits(job, group, n, self.free(n)):
                    continue
                if not self.may_begin(job, n, now):
                    continue
                needed = self.needs(job, group, n)
                if all(n not in h["spare"] or all(a <= s for a, s in zip(needed, h["spare"][n], strict=True))
                       for h in beside):  # fmt: skip
                    good.append(n)
            if len(good) < group.count:
                return None
            taken += [(n, self.needs(job, group, n)) for n in good[: group.count]]
        for head in beside:
            for n, amounts in taken:
                if n in head["spare"]:
                    head["spare"][n] = [s - a for s, a in zip(head["spare"][n], amounts, strict=True)]
        return taken

    def ready(self, job, group, node, now):
        """The first time at which a node has room for a part by the limits, and may run it."""
        times = sorted({now} | {max(now, limit_end) for _, _, limit_end, _ in self.held.values()})
        at = None
        for ms in times:
            if at is None and ms < NEVER:
                free = self.free(node, ms) if ms > now else self.free(node)
                at = ms if self.fits(job, group, node, free) else None
        if at is None:
            return None
        for closed in sorted(self.of.nodes[node].closed):
            if closed.name == job.reservation:
                if at >= closed.to_ms:
                    return None
                at = max(at, closed.from_ms)
            elif at < closed.to_ms and at + job.limit_ms > closed.from_ms:
                at = closed.to_ms
        return at

    def reserve(self, job, now):
        chosen, start = [], now
        for group in job.groups:
            ready = [(self.ready(job, group, n, now), n) for n in range(len(self.of.nodes))
                     if n not in [c for c, _ in chosen]]  # fmt: skip
            ready = sorted(row for row in ready if row[0] is not None)[: group.count]
            if len(ready) < group.count:
                return None
            start = max([start, *(ms for ms, _ in ready)])
            chosen += [(n, self.needs(job, group, n)) for _, n in ready]
        spare = {}
        for n, amounts in chosen:
            spare[n] = [f - a for f, a in zip(self.free(n, start), amounts, strict=True)]
        return {"start": start, "spare": spare}
