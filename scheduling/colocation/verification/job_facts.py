"""Facts of a job that groups need, from its record: work per iteration, iterations, data and demand."""

from __future__ import annotations

import math
from typing import Any

from scheduling.colocation.verification.machines import NIC
from scheduling.verification.rules import Row

CHUNKS = ("epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb")
SAMPLES = (
    "epochs",
    "num_samples",
    "global_batch",
    "sample_ms",
    "gradient_mb",
    "workers_per_ps",
    "internal_gbps",
    "external_gbps",
)
NATIVE = ("comp_machine_ms", "comm_ms", "iterations")
CHUNK_GB = 0.128  # of a chunk whose size is unknown


def facts_of(job: Row) -> dict[str, Any] | None:
    """Machine-ms and ms of an iteration, iterations, data in GB, demand of a worker, and the most workers.

    Without Harmony's own fields they follow from chunks or samples: from those that are not derived, else from chunks.
    With the most workers, an iteration is a mini-batch of each chunk or a global batch.
    """
    chunks, samples = _has(job, CHUNKS), _has(job, SAMPLES)
    of_samples = samples and (not chunks or (_derived(job, "minibatch_ms") and not _derived(job, "sample_ms")))
    most = (job["global_batch"] if of_samples else job["num_chunks"]) if chunks or samples else None
    if _has(job, NATIVE):
        mapped = _derived(job, "comp_machine_ms")
        return {
            "comp": job["comp_machine_ms"], "comm": job["comm_ms"], "iterations": job["iterations"],
            "demand": _demand(job) if mapped else None, "most": most if mapped else None,
            "per_epoch": job.get("iterations_per_epoch") or 10, "input": job.get("input_gb") or 0.0,
            "model": job.get("model_gb") or 0.0,
        }  # fmt: skip
    if most is None:
        return None
    epochs, update = job["epochs"], job.get("ps_update_ms") or 0.0
    if of_samples:
        exchanges = job["num_samples"] * job["workers_per_ps"] / most  # of an epoch
        compute, per_epoch = job["num_samples"] * job["sample_ms"], math.ceil(job["num_samples"] / most)
    else:
        exchanges, per_epoch = most * job["minibatches_per_chunk"], job["minibatches_per_chunk"]
        compute = exchanges * job["minibatch_ms"]
    iterations = job.get("iterations") or epochs * per_epoch
    given = {"input": job.get("input_gb"), "model": job.get("model_gb")}
    if given["input"] is None:
        given["input"] = most * ((job.get("chunk_mb") or 0) / 1000 or CHUNK_GB)
    if given["model"] is None:
        given["model"] = job["gradient_mb"] / 500
    return {
        "comp": epochs * (compute + exchanges * update) / iterations,
        "comm": epochs * exchanges * 16 * job["gradient_mb"] / NIC / most / iterations,
        "iterations": iterations, "demand": _demand(job), "most": most, "per_epoch": math.ceil(iterations / epochs),
        **given,
    }  # fmt: skip


def _has(job: Row, parts: tuple[str, ...]) -> bool:
    return all(job.get(part) is not None for part in parts)


def _derived(job: Row, part: str) -> bool:
    return bool((job.get("provenance") or {}).get(part) == "derived")


def _demand(job: Row) -> list[int] | None:
    """Demand of one worker with its part of a parameter server: thousandths of GPU, vCPU, memory and storage."""
    ratio, worker, ps = job.get("workers_per_ps") or 1, job.get("worker"), job.get("ps") or {}
    if worker is None:
        return None
    amounts = [
        (round(1000 * (worker.get(r) or 0)), round(1000 * (ps.get(r) or 0)))
        for r in ("gpu", "cpu", "memory", "storage")
    ]
    return [math.ceil(own + other / ratio) for own, other in amounts]
