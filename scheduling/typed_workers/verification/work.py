"""Work of a chunk (Eq. 1), from the record of its job."""

from __future__ import annotations

import math

from scheduling.verification.rules import Row

PARTS = ("epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms")


def chunk_work(row: Row, speed: float = 1.0) -> tuple[int, int]:
    """ms of a chunk with a remote parameter server, and with a local one (Eq. 1)."""
    alone = row["minibatch_ms"] + (row.get("ps_update_ms") or 0)
    gbps = (row.get("worker") or {}).get("bandwidth") or 0
    exchange = 16 * (row.get("gradient_mb") or 0) / gbps if gbps else 0.0
    minibatches = row["epochs"] * row["minibatches_per_chunk"] / speed
    remote, local = (max(1, math.ceil(minibatches * ms - 1e-6)) for ms in (alone + exchange, alone))
    return remote, local


def share_per_ms(job: Row, local: bool, speed: float) -> float:
    """Share of the job's work that one worker does per ms; local: with a local parameter server."""
    each_ms = job["minibatch_ms"] + (job.get("ps_update_ms") or 0.0)
    rate = (job.get("worker") or {}).get("bandwidth") or 0
    if not local and job.get("gradient_mb") and rate:
        each_ms += 2 * 8 * job["gradient_mb"] / rate
    return float(1 / (job["num_chunks"] * max(1.0, job["epochs"] * job["minibatches_per_chunk"] * each_ms / speed)))
