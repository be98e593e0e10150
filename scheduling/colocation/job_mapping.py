"""Mapping of a job between the papers' models: Harmony's fields from chunks or samples, and the reverse.

The total work of computation is the same on both sides, to the last float: iterations x comp_machine_ms = mini-batches
x their time. An iteration combines `gang` mini-batches, so that at that degree of parallelism it takes a worker's time
for one. Communication is one pull and one push of the gradient per iteration at REFERENCE_NIC; a group whose slowest
machine has another network takes proportionally longer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from scheduling.colocation.memory.usage import Data
from scheduling.model.training_models import NEEDS, transfer_ms
from scheduling.model.values import ZERO, Demand, Job, Server

REFERENCE_NIC = 1.1  # Gbps, of the paper's m4.2xlarge
REFERENCE_DISK = 1.2  # Gbps = 0.15 GB/s
# mini-batches in an iteration of a job that names no number of workers, and the paper's degree of parallelism in Fig. 9
GANG = 16
CHUNK_GB = 0.128  # OASiS
PER_EPOCH = 10  # iterations, as in the released sample scripts (9 to 25)
NATIVE = ("comp_machine_ms", "comm_ms", "iterations")
MAPPED = {name: tuple(part for part in parts if part not in ("worker", "ps")) for name, parts in NEEDS.items()}
SOURCES = (NATIVE, MAPPED["oasis"], MAPPED["pd-ors"])  # of Harmony's fields, in this order


class Facts(NamedTuple):
    """Properties of a job for Harmony: machine-ms and ms of one iteration, iterations in total and per epoch, data.

    demand: of one worker with its share of a parameter server, if a machine counts as the workers that it can hold;
    None = for one.
    """

    comp: float
    comm: float
    iterations: int
    per_epoch: int
    data: Data
    demand: Demand | None


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
    mapped = full.provenance.get("comp_machine_ms") == "derived"  # also when the fields were filled before
    return Facts(full.comp_machine_ms, full.comm_ms, full.iterations, per_epoch, data, _demand(job) if mapped else None)


def as_harmony(job: Job) -> Job | None:
    """Job with Harmony's fields: its own where it has them, or derived from chunks, or else from samples."""
    if all(getattr(job, part) is not None for part in NATIVE):
        return job
    if _has(job, "oasis"):
        return _from_chunks(job)
    return _from_samples(job) if _has(job, "pd-ors") else None


def for_others(job: Job, worker: Demand, ps: Demand, nic_gbps: float = REFERENCE_NIC) -> Job:
    """Job of Harmony with the fields of the other models.

    GANG chunks, each a worker that fills a machine; an epoch of theirs is one of its.

    With GANG workers and one parameter server for all of them a mini-batch takes them what an iteration takes Harmony
    on GANG machines.
    """
    assert job.comp_machine_ms is not None
    assert job.comm_ms is not None
    assert job.iterations is not None
    per_epoch = min(job.iterations_per_epoch or PER_EPOCH, job.iterations)
    epochs = math.ceil(job.iterations / per_epoch)
    each_ms = job.comp_machine_ms * job.iterations / (epochs * per_epoch * GANG)
    derived: dict[str, Any] = {
        "epochs": epochs, "num_chunks": GANG, "minibatches_per_chunk": per_epoch, "minibatch_ms": each_ms,
        "gradient_mb": job.comm_ms * nic_gbps / 16, "worker": worker, "ps": ps, "num_samples": GANG * per_epoch,
        "global_batch": GANG, "sample_ms": each_ms, "workers_per_ps": GANG, "internal_gbps": 10 * nic_gbps,
        "external_gbps": nic_gbps, "requested_workers": GANG, "chunk_mb": (job.input_gb or 0.0) * 1000 / GANG,
    }  # fmt: skip
    provenance = {**job.provenance, **dict.fromkeys(derived, "derived")}
    return replace(job, **derived, provenance=provenance)


def workers_on(demand: Demand | None, server: Server) -> float:
    """Speed of one machine for a job, in workers of the reference speed: as many as it holds, at least one."""
    if demand is None:
        return server.speed
    held = [server.capacity[r] // need for r, need in enumerate(demand) if need]
    return max(1, min(held, default=1)) * server.speed


def _has(job: Job, training: str) -> bool:
    return all(getattr(job, part) is not None for part in MAPPED[training])


def _from_chunks(job: Job) -> Job:
    assert job.epochs is not None
    assert job.num_chunks is not None
    assert job.minibatches_per_chunk is not None
    assert job.minibatch_ms is not None
    gang = min(job.requested_workers or GANG, job.num_chunks)
    minibatches = job.num_chunks * job.minibatches_per_chunk  # in an epoch
    each_ms = job.minibatch_ms + (job.ps_update_ms or 0.0)
    return _derived(job, gang, job.epochs * minibatches, minibatches, each_ms, job.num_chunks)


def _from_samples(job: Job) -> Job:
    assert job.epochs is not None
    assert job.num_samples is not None
    assert job.global_batch is not None
    assert job.sample_ms is not None
    return _derived(
        job,
        job.global_batch,
        job.epochs * job.num_samples,
        job.num_samples,
        job.sample_ms + (job.ps_update_ms or 0.0),
        job.global_batch,
    )


def _derived(job: Job, gang: int, units: int, per_epoch: int, each_ms: float, chunks: int) -> Job:
    """units: mini-batches or samples in all; `gang` of them make an iteration."""
    iterations = math.ceil(units / gang)
    gradient = job.gradient_mb or 0.0
    values: dict[str, Any] = {
        "comp_machine_ms": units * each_ms / iterations, "comm_ms": 2 * transfer_ms(gradient, REFERENCE_NIC),
        "iterations": iterations, "iterations_per_epoch": math.ceil(per_epoch / gang),
        "input_gb": job.input_gb if job.input_gb is not None
        else chunks * (job.chunk_mb / 1000 if job.chunk_mb else CHUNK_GB),
        "model_gb": job.model_gb if job.model_gb is not None else 2 * gradient / 1000,
    }  # fmt: skip
    provenance = {**job.provenance, **dict.fromkeys(values, "derived")}
    return replace(job, **values, provenance=provenance)


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
