"""Types of machines of a site, and the throughput of a job on each: Gavel's throughput matrix.

Machines are of one type if they have the same capacity, speed, network and disk; the bandwidth of a machine counts
only where it is stated as its network. The throughput is in iterations per ms of the job alone on as many machines of
the type as its workers fill, by the times of an iteration of [Harmony, Eq. (1) and (2)]: computation is shared by the
machines and their speed, communication takes the slowest network of the type.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

from scheduling.colocation.job_mapping import GANG, REFERENCE_NIC, Facts
from scheduling.colocation.memory.usage import USABLE, machines_needed
from scheduling.colocation.site_pool import Pool
from scheduling.model.values import BANDWIDTH, MEMORY, Job, Server

MIN_ITERATION_MS = 1e-6  # of an iteration, as for groups


class MachineType(NamedTuple):
    """Type of machines: its servers (indices, ascending), one of them as an example, and its slowest network."""

    servers: list[int]
    example: Server
    nic_gbps: float

    @property
    def memory_gb(self) -> float:
        return self.example.capacity[MEMORY] / 1000

    @property
    def usable_gb(self) -> float:
        """Memory of a machine for the data of jobs."""
        return USABLE * self.memory_gb


class Fit(NamedTuple):
    """A job on a type: machines, and iterations per ms; both 0 where it cannot run."""

    machines: int
    rate: float


NO_FIT = Fit(0, 0.0)


def types_of(pool: Pool) -> list[MachineType]:
    """Types of the machines of a site, in the order of their first servers."""
    found: dict[object, list[int]] = {}
    for server in pool.servers:
        row = pool.rows[server]
        found.setdefault((row.capacity[:BANDWIDTH], row.speed, row.nic_gbps, row.disk_gbps), []).append(server)
    return [MachineType(own, pool.rows[own[0]], min(pool.nic[server] for server in own)) for own in found.values()]


def available_by_type(types: list[MachineType], available: Collection[int]) -> list[int]:
    """Available machines of each type."""
    return [sum(server in available for server in one.servers) for one in types]


def least_machines(one: MachineType, known: Facts) -> int:
    """Machines of a type that hold the data of a job in memory."""
    return max(1, math.ceil(sum(machines_needed(known.data, one.memory_gb, 0.0, 0.0)) - 1e-9))


def fit(one: MachineType, job: Job, known: Facts, count: int, requested: int = 0) -> Fit:
    """The job on machines of a type, of which `count` are available.

    requested: machines of every job; 0: as many as hold the workers of the job, GANG where it does not name them. A job
    that requests more than there are takes all of them; its memory has to fit, since nothing is spilled.
    """
    per_machine = 1
    if known.demand is not None:
        held = [one.example.capacity[r] // need for r, need in enumerate(known.demand) if need]
        per_machine = max(1, min(held, default=1))
    workers = job.requested_workers or GANG
    machines = max(least_machines(one, known), min(requested or -(-workers // per_machine), count))
    if machines > count:
        return NO_FIT
    comp_ms = known.comp / (machines * per_machine * one.example.speed)
    comm_ms = known.comm * REFERENCE_NIC / one.nic_gbps
    return Fit(machines, 1 / max(comp_ms + comm_ms, MIN_ITERATION_MS))
