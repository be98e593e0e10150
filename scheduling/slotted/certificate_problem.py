"""Problem that a certificate bounds: tasks of arrived jobs, and capacities of servers by slot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.model.admission import Room, missing_part
from scheduling.model.training_models import EPSILON, LIMITS, NEEDS, oasis_worker_slots, pd_ors_sample_ms
from scheduling.model.utility import arrival_slot, utility_at, utility_over
from scheduling.model.values import BANDWIDTH, RESOURCES, Cluster, Job, Utility
from scheduling.slotted.solvers.single_machine import pair_room

MIN_SLOTS = 100  # of a cluster without a horizon
UNIT = 1000  # thousandths in a whole unit


@dataclass(frozen=True)
class Task:
    """Job in the form of the bounds: `need` worker-slots from slot `first` on, in each slot in one of two ways.

    near: workers at the full rate, which is that of `need`. far: workers at the rate `slow` of it. With PD-ORS the near
    ones are on one machine, the far ones anywhere; otherwise all workers are near.

    uses: the same more exactly, (work, workers, workers that their parameter servers could serve) of each way. With
    PD-ORS parameter servers are whole. Every use of a slot is at least a mixture of these and of nothing.
    """

    job: int
    first: int
    need: float
    near: float
    far: float
    slow: float
    utility: Utility
    window: int  # slots from `first` to the horizon
    later: float  # f_i of a completion after the horizon, where the cluster has none
    worker: np.ndarray  # whole units of each resource
    ps: np.ndarray  # of the parameter servers of one worker, as a fraction
    uses: tuple[tuple[float, float, float], ...]

    @property
    def worth(self) -> np.ndarray:
        """[window] f_i of a completion in slot first, first + 1, ....

        Computed on demand: all of them would fill the memory.
        """
        return utility_over(self.utility, np.arange(self.window))

    @property
    def shortest(self) -> int:
        """Slots that it runs with all its workers."""
        return max(1, math.ceil(self.need / self.most - EPSILON))

    @property
    def most(self) -> float:
        """Work that it can do in one slot."""
        return max(self.near, self.far * self.slow)

    @property
    def steps(self) -> tuple[tuple[float, float], ...]:
        """(work, price) of a slot in the order in which it is bought; price: of a unit, in prices of a worker.

        `near` at the full rate, and what more workers add who are far: each near one is replaced by `far / near`.
        """
        more = self.far * self.slow - self.near
        if more <= EPSILON:
            return ((self.near, 1.0),)
        far = (more, (self.far - self.near) / more)
        return ((self.near, 1.0), far) if self.near else (far,)


# pools of servers: that may hold workers, parameter servers, or any of them
WORKERS, PARAMETER_SERVERS, BOTH = range(3)


@dataclass(frozen=True)
class Problem:
    """Tasks that a schedule could finish, and the capacity of the cluster: capacity[slot, pool, resource] in units."""

    tasks: tuple[Task, ...]
    capacity: np.ndarray
    servers: np.ndarray  # [server, resource] whole units
    away: np.ndarray  # [slot, server] whether it is unavailable
    hosts: tuple[np.ndarray, np.ndarray]  # [server] may it hold workers, parameter servers
    counted: tuple[int, ...]  # resources that servers run out of

    @property
    def slots(self) -> int:
        return len(self.capacity)

    @property
    def pools(self) -> tuple[int, ...]:
        """Pools that can bind, by position: of all servers if some take both roles, the others if some take one."""
        workers, ps = self.hosts
        if not (workers & ps).any():
            return (0, 1)
        return (2,) if (workers == ps).all() else (0, 1, 2)


def problem(
    cluster: Cluster, jobs: Sequence[Job], arrived: Sequence[int], training: str, horizon: int | None = None
) -> Problem:
    """Relaxed problem of the jobs (by index) that have arrived. horizon: slots to consider if the cluster has none."""
    slots = cluster.horizon_slots or horizon or _far(cluster, jobs, arrived, training)
    limits = LIMITS[training]
    room = Room(cluster, limits=limits)
    workers, ps = (np.array([role in s.roles for s in cluster.servers], dtype=bool) for role in ("worker", "ps"))
    amounts = np.array([s.capacity for s in cluster.servers], dtype=float).reshape(-1, len(RESOURCES)) / UNIT
    both = amounts[workers & ps]
    tasks = []
    for index in arrived:
        task = _task(cluster, jobs[index], index, training, slots, room, both)
        if task is not None:
            tasks.append(task)
    away = np.zeros((slots, len(cluster.servers)), dtype=bool)
    for i, server in enumerate(cluster.servers):
        for begin, end in server.away:
            away[begin // cluster.slot_ms : -(-end // cluster.slot_ms), i] = True
    there = (~away).astype(float)
    capacity = np.stack([there @ (amounts * pool[:, None]) for pool in (workers, ps, workers | ps)], axis=1)
    counted = tuple(r for r, name in enumerate(RESOURCES) if name in limits)
    return Problem(tuple(tasks), capacity, amounts, away, (workers, ps), counted)


def _task(
    cluster: Cluster, job: Job, index: int, training: str, slots: int, room: Room, both: np.ndarray
) -> Task | None:
    """Task of a job; None if no schedule can finish it. both: amounts of the servers that may hold either role."""
    if missing_part(job, (*NEEDS[training], "utility")) is not None:
        return None
    assert job.worker is not None
    assert job.ps is not None
    assert job.utility is not None
    if room.refuses("worker", job.worker) is not None or room.refuses("ps", job.ps) is not None:
        return None
    far, slow = 0.0, 1.0
    if training == "oasis":
        if job.worker[BANDWIDTH] > job.ps[BANDWIDTH] or (job.gradient_mb and not job.worker[BANDWIDTH]):
            return None
        need = float(oasis_worker_slots(job, cluster.slot_ms))
        near = _places(room, job, job.num_chunks or 1)
        uses = [(near, near, near)]
        share = job.worker[BANDWIDTH] / job.ps[BANDWIDTH] if job.ps[BANDWIDTH] else 0.0
    else:
        assert job.epochs is not None
        assert job.num_samples is not None
        share = 1.0 / (job.workers_per_ps or 1)
        near_ms, far_ms = (pd_ors_sample_ms(job, internal) for internal in (True, False))
        need = job.epochs * job.num_samples * min(near_ms, far_ms) / cluster.slot_ms
        near = _places(room, job, job.global_batch or 1)
        group = job.workers_per_ps or 1
        uses = _with_whole_ps(int(near), group, 1.0)
        if near_ms < far_ms:
            inside = _on_one_server(both, job, int(near), room.limited)
            uses = _with_whole_ps(inside, group, 1.0) + _with_whole_ps(int(near), group, near_ms / far_ms)
            far, slow = near, near_ms / far_ms
            near = _on_one(both, np.array(job.worker) + share * np.array(job.ps), room.limited, far)
            if far * slow <= near:
                far, slow = 0.0, 1.0
    first = arrival_slot(job.arrival_ms, cluster.slot_ms)
    window = max(0, slots - first)
    later = 0.0 if cluster.horizon_slots else utility_at(job.utility, window)
    worker, ps = np.array(job.worker) / UNIT, share * np.array(job.ps) / UNIT
    ways = tuple(use for use in uses if use[0] > 0)
    task = Task(index, first, max(need, EPSILON), near, far, slow, job.utility, window, later, worker, ps, ways)
    return task if later or task.shortest <= window else None


def _places(room: Room, job: Job, most: int) -> float:
    """Workers that fit together on the empty cluster, at most n."""
    assert job.worker is not None
    return float(min(most, room.places("worker", job.worker, most)))


def _on_one(servers: np.ndarray, demand: np.ndarray, limited: Sequence[int], most: float) -> float:
    """Workers with their share of parameter servers that fit on one empty server, at most n."""
    wanted = [r for r in limited if demand[r] > 0]
    if not len(servers) or not wanted:
        return most if len(servers) else 0.0
    fits = np.floor((servers[:, wanted] * UNIT / demand[wanted]).min(axis=1) + EPSILON)
    return float(min(most, fits.max()))


def _on_one_server(both: np.ndarray, job: Job, most: int, limited: Sequence[int]) -> int:
    """Workers with whole parameter servers that fit on one empty server, at most n."""
    if not len(both):
        return 0
    wanted = list(limited)
    free = np.rint(both[:, None, wanted] * UNIT).astype(np.int64).transpose(2, 1, 0)  # [resource, 1, server]
    worker, ps = (np.array(demand, dtype=np.int64)[wanted] for demand in (job.worker, job.ps))
    return int(pair_room(free, worker, ps, job.workers_per_ps or 1, most).max())


def _with_whole_ps(workers: int, group: int, rate: float) -> list[tuple[float, float, float]]:
    """Corners of the lower hull of 0, 1, ... workers with their parameter servers, one for each group of workers.

    (work, workers, workers that the parameter servers could serve) each.
    """
    whole = workers // group * group
    counts = [(count, -(-count // group) * group) for count in sorted({whole, workers}) if count]
    return [(count * rate, float(count), float(served)) for count, served in counts]


def _far(cluster: Cluster, jobs: Sequence[Job], arrived: Sequence[int], training: str) -> int:
    """Slots to consider without a horizon: up to the last arrival and as long again, at least MIN_SLOTS."""
    last = max((arrival_slot(jobs[i].arrival_ms, cluster.slot_ms) for i in arrived), default=0)
    return max(MIN_SLOTS, 2 * last)
