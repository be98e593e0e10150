"""A proved lower bound on the makespan of jobs that share whole machines, whoever groups them.

Two facts of the model (Harmony Section IV), of which the greater wins; time counts from the first arrival:

    work     the computation of the jobs that arrive at or after a given time, spread over all machines without a gap,
             begins at that time at the earliest
    longest  a job alone on all machines: per iteration its computation and then its communication at the fastest
             network card

What memory, profiling, moves and contention add only makes schedules longer, so the bound stays valid. It ignores
sites: all machines count as one pool. It is no bound on utility or on the completion times of single jobs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.colocation.job_mapping import REFERENCE_NIC, facts, workers_on
from scheduling.model.values import BANDWIDTH, Certificate, Cluster, Demand, Job, Server

BOUND_TYPES = ("machine_work", "longest_job")
SAFE = 1 - 1e-9  # sums in floating point: rounded down by this


def certify(cluster: Cluster, jobs: Sequence[Job], completions: Mapping[int, int]) -> Certificate:
    """Certificate for the jobs in `completions` ({job: ms of the actual or planned completion}).

    In ms from the first arrival to the last end.
    """
    counted = sorted(completions, key=lambda job: (jobs[job].arrival_ms, job))
    if not counted:
        return Certificate(BOUND_TYPES[0], 0.0, 0.0)
    known = [facts(jobs[job]) for job in counted]
    begins = np.array([jobs[job].arrival_ms - jobs[counted[0]].arrival_ms for job in counted], dtype=float)
    work = np.array([one.comp * one.iterations if one else 0.0 for one in known])
    power, counts = _powers(cluster, [one.demand if one else None for one in known])
    fastest = max(nic_gbps(server) for server in cluster.servers)
    talk = np.array([one.comm * one.iterations * REFERENCE_NIC / fastest if one else 0.0 for one in known])
    bounds = (_work(begins, work, power, counts), float((begins + work / (power @ counts) + talk).max()))
    best = int(np.argmax(bounds))
    achieved = float(max(completions.values()) - jobs[counted[0]].arrival_ms)
    return Certificate(BOUND_TYPES[best], achieved, bounds[best] * SAFE)


def nic_gbps(server: Server) -> float:
    """Network card of a server in Harmony's model."""
    return server.nic_gbps or server.capacity[BANDWIDTH] / 1000 or REFERENCE_NIC


def _powers(cluster: Cluster, demands: Sequence[Demand | None]) -> tuple[np.ndarray, np.ndarray]:
    """Power [job, kind] of machines, in workers of the reference speed, and the number of machines of each kind."""
    kinds: dict[tuple[Any, ...], list[Server]] = {}
    for server in cluster.servers:
        if "worker" in server.roles:
            kinds.setdefault((server.capacity, server.speed), []).append(server)
    rows = {demand: [workers_on(demand, members[0]) for members in kinds.values()] for demand in set(demands)}
    return np.array([rows[demand] for demand in demands], dtype=float), np.array(
        [len(members) for members in kinds.values()]
    )


def _work(begins: np.ndarray, work: np.ndarray, power: np.ndarray, counts: np.ndarray) -> float:
    """Work bound, with m_j the most that one machine is worth to job j, and q_h = max_j power_jh / m_j.

    sum_j work_j / m_j <= T sum_h q_h.
    """
    most = power.max(axis=1)
    room = float((power / most[:, None]).max(axis=0) @ counts)
    still = np.cumsum((work / most)[::-1])[::-1]  # of the jobs that arrive at or after each
    return float((begins + still / room).max())
