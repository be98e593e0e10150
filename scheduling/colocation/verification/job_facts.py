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


def facts_of(job: Row) -> dict[str, Any] | None:
    """Machine-ms and ms of an iteration, iterations, data in GB, and the demand of one of its workers."""
    given = {"input": job.get("input_gb"), "model": job.get("model_gb")}
    if all(job.get(part) is not None for part in NATIVE):
        return {
            "comp": job["comp_machine_ms"], "comm": job["comm_ms"], "iterations": job["iterations"],
            "demand": _demand(job) if (job.get("provenance") or {}).get("comp_machine_ms") == "derived" else None,
            "per_epoch": job.get("iterations_per_epoch") or 10, "input": given["input"] or 0.0,
            "model": given["model"] or 0.0,
        }  # fmt: skip
    if all(job.get(part) is not None for part in CHUNKS):
        chunks = job["num_chunks"]
        gang, units = (
            min(job.get("requested_workers") or 16, chunks),
            job["epochs"] * chunks * job["minibatches_per_chunk"],
        )
        each_ms = job["minibatch_ms"]
    elif all(job.get(part) is not None for part in SAMPLES):
        chunks = gang = job["global_batch"]
        units, each_ms = job["epochs"] * job["num_samples"], job["sample_ms"]
    else:
        return None
    iterations, gradient = math.ceil(units / gang), job["gradient_mb"]
    if given["input"] is None:
        given["input"] = chunks * ((job.get("chunk_mb") or 0) / 1000 or 0.128)
    if given["model"] is None:
        given["model"] = gradient / 500
    return {
        "comp": units * (each_ms + (job.get("ps_update_ms") or 0.0)) / iterations, "comm": 16 * gradient / NIC,
        "iterations": iterations, "demand": _demand(job), "per_epoch": math.ceil(units / job["epochs"] / gang), **given,
    }  # fmt: skip


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
