"""The greatest total utility of a small instance, by integer programming [OASiS, Problem 1; PD-ORS, Section III].

Clairvoyant and exact: whole workers and parameter servers on every server in every slot, for the jobs of one of the two
papers. With the training model of PD-ORS a job runs in a slot either on one server, at its internal rate, or on any, at
its external one (Fact 1). It shares no code with the schedulers and certificates that are compared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.model.training_models import LIMITS, NEEDS, oasis_worker_slots, pd_ors_sample_ms
from scheduling.model.utility import arrival_slot, utility_over
from scheduling.model.values import BANDWIDTH, RESOURCES, Cluster, Demand, Job
from scheduling.slotted.solvers.program import Program

COVERED = 1 - 1e-9  # of the work of a job, which is a sum of fractions

Held = list[list[tuple[np.ndarray, Demand]]]  # by slot: columns by server, and what a unit of them holds


@dataclass(frozen=True, slots=True)
class Optimum:
    """value: of the best schedule found. bound: no schedule exceeds it; both are equal if the search ended."""

    value: float
    bound: float


def optimum(
    cluster: Cluster, jobs: Sequence[Job], training: str, node_limit: int = 1_000_000, time_limit: float = 600.0
) -> Optimum:
    """Optimum for a cluster with a horizon and without outages; jobs lacking a training field have no utility."""
    assert cluster.horizon_slots is not None
    program = Program()
    held: Held = [[] for _ in range(cluster.horizon_slots)]
    for job in jobs:
        if all(getattr(job, part) is not None for part in (*NEEDS[training], "utility")):
            _add(program, cluster, job, training, held)
    if not program.num_columns:
        return Optimum(0.0, 0.0)
    capacity = np.array([server.capacity for server in cluster.servers], dtype=float)
    for units in held:
        for r, name in enumerate(RESOURCES):
            terms = [(columns, float(demand[r])) for columns, demand in units if demand[r]]
            if terms and name in LIMITS[training]:
                program.rows(terms, -np.inf, capacity[:, r])
    found = program.solve(mip_rel_gap=0.0, node_limit=node_limit, time_limit=time_limit)
    value = 0.0 if found.x is None else -float(found.fun)
    if found.status == 0:
        return Optimum(value, value)
    return Optimum(value, np.inf if found.mip_dual_bound is None else -float(found.mip_dual_bound))


def _add(program: Program, cluster: Cluster, job: Job, training: str, held: Held) -> None:
    """The columns and rows of one job: `ends` says in which slot it completes, at most once."""
    assert job.worker is not None
    assert job.ps is not None
    assert job.utility is not None
    first = arrival_slot(job.arrival_ms, cluster.slot_ms)
    window = np.arange(first, len(held))
    if not len(window):
        return
    ends = program.columns(0.0 * window, 1.0, utility_over(job.utility, window - first), integer=True)
    program.row([(ends, 1.0)], -np.inf, 1.0)
    modes = _modes(job, training, cluster.slot_ms)
    room = np.array([[float(role in server.roles) for server in cluster.servers] for role in ("worker", "ps")])
    work: list[tuple[np.ndarray, float]] = [(ends, -COVERED)]
    for t in window.tolist():
        runs = []  # in either mode, at most once
        for share, most, ratio, together in modes:
            workers, ps = (program.columns(0 * able, able * most, integer=True) for able in room)
            held[t] += [(workers, job.worker), (ps, job.ps)]
            work.append((workers, share))
            if together:
                here = program.columns(0 * room[0], 1.0, integer=True)
                program.rows([(workers, 1.0), (here, -most)], -np.inf, 0.0)
                program.rows([(workers, 1.0), (ps, -ratio)], -np.inf, 0.0)
            else:
                here = program.columns(np.zeros(1), 1.0, integer=True)
                program.row([(workers, 1.0), (here, -most)], -np.inf, 0.0)
                program.row([(workers, 1.0), (ps, -ratio)], -np.inf, 0.0)
            runs.append((here, 1.0))
        program.row([*runs, (ends[t - first :], -1.0)], -np.inf, 0.0)  # none after its completion
    program.row(work, 0.0, np.inf)


def _modes(job: Job, training: str, slot_ms: int) -> list[tuple[float, float, float, bool]]:
    """(work share of a worker in a slot, most workers, workers per parameter server, whether all on one server)."""
    assert job.worker is not None
    assert job.ps is not None
    if training == "oasis":
        need, give = float(job.worker[BANDWIDTH]), float(job.ps[BANDWIDTH])
        most = float(job.num_chunks or 0) if need <= give else 0.0
        return [(1.0 / oasis_worker_slots(job, slot_ms), most, give / need if need else most, False)]
    assert job.epochs is not None
    assert job.num_samples is not None
    shares = [slot_ms / (pd_ors_sample_ms(job, internal) * job.epochs * job.num_samples) for internal in (True, False)]
    most, ratio = float(job.global_batch or 0), float(job.workers_per_ps or 1)
    return [(share, most, ratio, together) for share, together in zip(shares, (True, False), strict=True)]
