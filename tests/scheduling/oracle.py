"""Slow and obvious solutions of tiny OASiS instances, to compare the fast ones with. Shares no code with them.

`optimum` (a MILP) and `enumerated` (every combination of schedules) give the greatest utility of all jobs by
[OASiS, Problem 1]; `best_payoff` tries every schedule of one job at given prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import lil_matrix

from scheduling.model.values import Cluster, Job

Unit = tuple[int, ...]


def worker_slots(job: Job, slot_ms: int) -> int:
    """W, the worker-slots that finish the job."""
    exchange_ms = 2 * 8 * job.gradient_mb / (job.worker[4] / 1000) if job.gradient_mb else 0.0
    return math.ceil(
        job.epochs * job.num_chunks * job.minibatches_per_chunk * (job.minibatch_ms + exchange_ms) / slot_ms - 1e-9
    )


def utility(job: Job, duration: int) -> float:
    u = job.utility
    return u.priority / (1 + math.exp(min(700, u.sensitivity * (duration - u.target_slots))))


def first_slot(job: Job, slot_ms: int) -> int:
    return math.ceil(job.arrival_ms / slot_ms)


def optimum(cluster: Cluster, jobs: Sequence[Job]) -> float:
    """The greatest total utility of any schedule, by HiGHS."""
    slots = cluster.horizon_slots
    columns: dict[tuple, int] = {}
    gain: list[float] = []

    def column(key: tuple, value: float = 0.0) -> int:
        if key not in columns:
            columns[key] = len(gain)
            gain.append(value)
        return columns[key]

    rows: list[tuple[dict[int, float], float]] = []  # sum of column * factor <= bound
    held: dict[tuple[int, int, int], dict[int, float]] = {}
    hosts = {role: [h for h, s in enumerate(cluster.servers) if role in s.roles] for role in ("worker", "ps")}
    for i, job in enumerate(jobs):
        first = first_slot(job, cluster.slot_ms)
        window = range(first, slots)
        ends = {t: column(("end", i, t), utility(job, t - first)) for t in window}
        rows.append((dict.fromkeys(ends.values(), 1.0), 1))
        work = dict.fromkeys(ends.values(), float(worker_slots(job, cluster.slot_ms)))
        for t in window:
            y = [column(("y", i, h, t)) for h in hosts["worker"]]
            z = [column(("z", i, k, t)) for k in hosts["ps"]]
            work.update(dict.fromkeys(y, -1.0))
            later = {ends[e]: -float(job.num_chunks) for e in window if e >= t}
            rows.append((dict.fromkeys(y, 1.0) | later, 0))
            rows.append((dict.fromkeys(y, float(job.worker[4])) | dict.fromkeys(z, -float(job.ps[4])), 0))
            rows.append((dict.fromkeys(z, 1.0) | dict.fromkeys(y, -1.0), 0))
            for servers, cells, demand in ((hosts["worker"], y, job.worker), (hosts["ps"], z, job.ps)):
                for h, cell in zip(servers, cells, strict=True):
                    for r in range(5):
                        held.setdefault((h, t, r), {})[cell] = float(demand[r])
        rows.append((work, 0))
    rows += [(use, cluster.servers[h].capacity[r]) for (h, _, r), use in held.items()]
    if not gain:
        return 0.0
    matrix = lil_matrix((len(rows), len(gain)))
    for number, (factors, _) in enumerate(rows):
        for cell, factor in factors.items():
            matrix[number, cell] = factor
    constraints = LinearConstraint(matrix.tocsr(), ub=[bound for _, bound in rows])
    result = milp(-np.array(gain), constraints=constraints, integrality=np.ones(len(gain)), options={"mip_rel_gap": 0})
    assert result.success, result.message
    return float(-result.fun)


def enumerated(cluster: Cluster, jobs: Sequence[Job]) -> float:
    """The same by trying every combination of schedules."""
    slots = cluster.horizon_slots
    free = np.array([[s.capacity for s in cluster.servers]] * slots)  # [slot, server, resource]
    choices = [list(_schedules(cluster, job, free)) for job in jobs]

    def best(i: int, left: np.ndarray) -> float:
        if i == len(jobs):
            return 0.0
        value = best(i + 1, left)  # rejected
        for worth, held in choices[i]:
            if (held <= left).all():
                value = max(value, worth + best(i + 1, left - held))
        return value

    return best(0, free)


def best_payoff(cluster: Cluster, job: Job, price: np.ndarray, free: np.ndarray) -> tuple[float, int]:
    """Highest payoff of any schedule and its earliest completion slot; (-inf, -1) when there is none.

    price per whole unit and free thousandths, [slot, server, resource].
    """
    found = (-math.inf, -1)
    for worth, held in _schedules(cluster, job, free):
        last = int(np.flatnonzero(held.any(axis=(1, 2)))[-1])
        payoff = worth - float((held / 1000 * np.where(held > 0, price, 0.0)).sum())
        if payoff > found[0] + 1e-9 or (payoff > found[0] - 1e-9 and last < found[1]):
            found = (max(payoff, found[0]), last)
    return found


def _schedules(cluster: Cluster, job: Job, free: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    """(utility, thousandths held [slot, server, resource]) of every schedule that is not wasteful."""
    need, first = worker_slots(job, cluster.slot_ms), first_slot(job, cluster.slot_ms)
    options = [list(_placements(cluster, job, free[t])) for t in range(first, cluster.horizon_slots)]
    for combination in product(*options):
        counts = [workers for workers, _ in combination]
        if sum(counts) != need:  # to hold more than is needed never pays
            continue
        last = max(t for t, n in enumerate(counts) if n)
        held = np.zeros_like(free)
        for t, (_, own) in enumerate(combination):
            held[first + t] = own
        yield utility(job, last), held


def _placements(cluster: Cluster, job: Job, free: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """(workers, thousandths held [server, resource]) of every way to run in one slot."""
    demand = np.array([job.worker if "worker" in s.roles else job.ps for s in cluster.servers])
    is_worker = np.array(["worker" in s.roles for s in cluster.servers])
    for counts in product(*(range(_room(free[h], demand[h], job.num_chunks) + 1) for h in range(len(cluster.servers)))):
        units = np.array(counts)
        workers, ps = int(units[is_worker].sum()), int(units[~is_worker].sum())
        if workers > job.num_chunks or ps > workers or workers * job.worker[4] > ps * job.ps[4]:
            continue
        yield workers, units[:, None] * demand


def _room(free: np.ndarray, demand: np.ndarray, most: int) -> int:
    return int(min([most, *(f // d for f, d in zip(free, demand, strict=True) if d)]))
