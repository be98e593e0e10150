"""Properties of a job for Harmony: its own, or those that follow from its chunks or samples (model/speed.py).

A group whose slowest machine has another network than REFERENCE_NIC communicates proportionally longer.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduling.colocation.memory.usage import Data
from scheduling.model.speed import (
    CHUNKS,
    FIELDS,
    GANG,
    MACHINES,
    PER_EPOCH,
    REFERENCE_NIC,
    SAMPLES,
    as_machines,
    speed_of,
    with_derived,
)
from scheduling.model.values import ZERO, Demand, Job, Server

__all__ = ["GANG", "NATIVE", "PER_EPOCH", "REFERENCE_DISK", "REFERENCE_NIC", "SOURCES", "Facts", "as_harmony", "facts"]
REFERENCE_DISK = 1.2  # Gbps = 0.15 GB/s, of the paper's m4.2xlarge
NATIVE = FIELDS[MACHINES]
SOURCES = (NATIVE, FIELDS[CHUNKS], FIELDS[SAMPLES])  # of Harmony's fields, any of which is enough


class Facts(NamedTuple):
    """Properties of a job for Harmony: machine-ms and ms of one iteration, iterations in total and per epoch, data.

    demand: of one worker with its share of a parameter server, if a machine counts as the workers that it can hold;
    None = for one. most: workers that the job can use; None = any number, as in the paper.
    """

    comp: float
    comm: float
    iterations: int
    per_epoch: int
    data: Data
    demand: Demand | None
    most: int | None = None


def facts(job: Job) -> Facts | None:
    """Properties of a job; None if it has neither Harmony's fields nor those of a model from which they follow."""
    full = as_harmony(job)
    if full is None:
        return None
    assert full.comp_machine_ms is not None
    assert full.comm_ms is not None
    assert full.iterations is not None
    per_epoch = full.iterations_per_epoch or PER_EPOCH
    data = Data(full.input_gb or 0.0, full.model_gb or 0.0, 1.0 / per_epoch)
    demand, most = None, None
    if full.provenance.get("comp_machine_ms") == "derived":  # also when the fields were filled before
        speed = speed_of(job)
        demand, most = _demand(job), speed.most_workers if speed is not None and speed.source != MACHINES else None
    return Facts(full.comp_machine_ms, full.comm_ms, full.iterations, per_epoch, data, demand, most)


def as_harmony(job: Job) -> Job | None:
    """Job with Harmony's fields: its own where it has them, else derived; None where nothing is known of its speed."""
    if all(getattr(job, part) is not None for part in NATIVE):
        return job
    speed = speed_of(job)
    return None if speed is None else with_derived(job, as_machines(job, speed))


def workers_on(demand: Demand | None, server: Server) -> float:
    """Speed of one machine for a job, in workers of the reference speed: as many as it holds, at least one."""
    if demand is None:
        return server.speed
    held = [server.capacity[r] // need for r, need in enumerate(demand) if need]
    return max(1, min(held, default=1)) * server.speed


def _demand(job: Job) -> Demand | None:
    """Demand of one worker and its part of a parameter server.

    Harmony takes the whole network of a machine, so it does not count.
    """
    if job.worker is None:
        return None
    share = job.workers_per_ps or 1
    amounts = zip(job.worker, job.ps or ZERO, strict=True)
    gpu, cpu, memory, storage, _ = (-(-(need * share + other) // share) for need, other in amounts)
    return (gpu, cpu, memory, storage, 0)
