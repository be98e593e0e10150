"""Slow and obvious solutions of tiny PD-ORS instances, to compare the fast ones with. Shares no code with them.

`best_payoff` tries every placement of one job in every slot at given prices (PD-ORS, Problem 15);
`enumerated` tries every pair of schedules of two jobs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from scheduling.model.values import Cluster, Job

RESOURCES = 4  # PD-ORS does not count bandwidth


def sample_ms(job: Job, one_machine: bool) -> float:
    """Of one worker: tau + gamma / F * 2 g / b; 1 Gbps moves 0.125 MB a ms."""
    rate = 0.125 * (job.internal_gbps if one_machine else job.external_gbps)
    return job.sample_ms + job.workers_per_ps / job.global_batch * 2 * job.gradient_mb / rate


def utility(job: Job, duration: int) -> float:
    u = job.utility
    exponent = u.sensitivity * (duration - u.target_slots)
    return 0.0 if exponent > 700 else u.priority / (1 + math.exp(exponent))


def best_payoff(cluster: Cluster, job: Job, price: np.ndarray, free: np.ndarray) -> float:
    """Highest payoff of any schedule; -inf when there is none.

    price per whole unit and free thousandths, [slot, server, resource].
    """
    first = math.ceil(job.arrival_ms / cluster.slot_ms)
    samples = job.epochs * job.num_samples
    options = []
    for t in range(first, cluster.horizon_slots):
        cheapest: dict[tuple[bool, int], float] = {}
        for workers, one_machine, cost in _placements(cluster, job, price[t], free[t]):
            key = (one_machine, workers)
            cheapest[key] = min(cost, cheapest.get(key, math.inf))
        options.append([(n * cluster.slot_ms / sample_ms(job, mode), cost) for (mode, n), cost in cheapest.items()])
    best = -math.inf
    for combination in product(*([(0.0, 0.0), *own] for own in options)):
        if sum(done for done, _ in combination) >= samples * (1 - 1e-9):
            last = max(t for t, (done, _) in enumerate(combination) if done)
            best = max(best, utility(job, last) - sum(cost for _, cost in combination))
    return best


def enumerated(cluster: Cluster, jobs: Sequence[Job]) -> float:
    """The greatest total utility of at most two jobs."""
    room = np.array([[server.capacity[:RESOURCES] for server in cluster.servers]] * cluster.horizon_slots)
    first, second = (_schedules(cluster, job) for job in [*jobs, None][:2])
    best = 0.0
    for worth, held in first:
        fits = [other for other, more in second if (held + more <= room).all()]
        best = max(best, worth + max(fits, default=0.0))
    return best


def _schedules(cluster: Cluster, job: Job | None) -> list[tuple[float, np.ndarray]]:
    """(utility, thousandths held [slot, server, resource]) of every schedule, and of none."""
    shape = cluster.horizon_slots, len(cluster.servers), RESOURCES
    found = [(0.0, np.zeros(shape, dtype=np.int64))]
    if job is None:
        return found
    worker, ps = np.array(job.worker[:RESOURCES]), np.array(job.ps[:RESOURCES])
    ways: list[tuple[float, np.ndarray]] = [(0.0, np.zeros(shape[1:], dtype=np.int64))]  # samples done in a slot, held
    own = []
    for server in cluster.servers:
        most = [job.global_batch if role in server.roles else 0 for role in ("worker", "ps")]
        own.append([
            (w, s) for w in range(most[0] + 1) for s in range(most[1] + 1)
            if (w * worker + s * ps <= np.array(server.capacity[:RESOURCES])).all()
        ])  # fmt: skip
    for units in product(*own):
        workers, servers = sum(w for w, _ in units), sum(s for _, s in units)
        if 1 <= workers <= job.global_batch and workers <= servers * job.workers_per_ps:
            done = workers * cluster.slot_ms / sample_ms(job, sum(w + s > 0 for w, s in units) == 1)
            ways.append((done, np.array([w * worker + s * ps for w, s in units])))
    first = math.ceil(job.arrival_ms / cluster.slot_ms)
    for slots in product(*([ways] * (cluster.horizon_slots - first))):
        done = [samples for samples, _ in slots]
        if slots and sum(done) >= job.epochs * job.num_samples * (1 - 1e-9):
            held = np.zeros(shape, dtype=np.int64)
            held[first:] = [amounts for _, amounts in slots]
            found.append((utility(job, max(t for t, samples in enumerate(done) if samples)), held))
    return found


def _placements(cluster: Cluster, job: Job, price: np.ndarray, free: np.ndarray) -> Iterator[tuple[int, bool, float]]:
    """(workers, whether on one machine, cost) of every way to run in one slot."""
    worker, ps = np.array(job.worker[:RESOURCES]), np.array(job.ps[:RESOURCES])
    roles = [server.roles for server in cluster.servers]
    own = []  # per server: (workers, parameter servers, cost)
    for h in range(len(roles)):
        most = [job.global_batch if role in roles[h] else 0 for role in ("worker", "ps")]
        own.append([
            (w, s, float(((w * worker + s * ps) / 1000 * np.nan_to_num(price[h, :RESOURCES])).sum()))
            for w in range(most[0] + 1) for s in range(most[1] + 1)
            if (w * worker + s * ps <= free[h, :RESOURCES]).all()
        ])  # fmt: skip
    for chosen in product(*own):
        workers, servers = sum(w for w, _, _ in chosen), sum(s for _, s, _ in chosen)
        if 1 <= workers <= job.global_batch and workers <= servers * job.workers_per_ps:
            yield workers, sum(w + s > 0 for w, s, _ in chosen) == 1, sum(cost for _, _, cost in chosen)
