"""Training models: the speed of a job under each paper's model, as functions of plain numbers.

Rates: 1 Gbps moves 125 MB/s (decimal), so a transfer of x MB takes 8 x / Gbps ms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scheduling.model.limits import MIN_REAL
from scheduling.model.values import BANDWIDTH, RESOURCES, ROLES, Cluster, Job, with_bandwidth

TRAINING_MODELS = ("oasis", "pd-ors")
TRAINING_TITLES = {"oasis": "OASiS", "pd-ors": "PD-ORS"}
LIMITS = {"oasis": RESOURCES, "pd-ors": RESOURCES[:4]}  # what a server runs out of: PD-ORS does not count bandwidth
NEEDS = {
    "oasis": ("worker", "ps", "epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb"),
    "pd-ors": ("worker", "ps", "epochs", "num_samples", "global_batch", "sample_ms", "gradient_mb", "workers_per_ps",
               "internal_gbps", "external_gbps"),
}  # fmt: skip
COMMON_NEEDS = tuple(part for part in NEEDS["oasis"] if part in NEEDS["pd-ors"])
PARTS = {part for parts in NEEDS.values() for part in parts}  # of some training model
MAX_GANG = 1_000_000  # workers that start together; no cluster holds more, unless a worker needs nothing
EPSILON = 1e-9  # worker-slots; a product that is an integer up to rounding is that integer


def training_model_of(cluster: Cluster) -> str:
    """Training model of a cluster: PD-ORS if all servers take both roles, else OASiS."""
    return "pd-ors" if all(len(server.roles) == len(ROLES) for server in cluster.servers) else "oasis"


def needs_of(needs: Sequence[str], training: str) -> tuple[str, ...]:
    """Needed fields of a scheduler with several training models under one of them: the model's, and its own others."""
    return (*NEEDS[training], *(part for part in needs if part not in PARTS))


def transfer_ms(megabytes: float, gbps: float) -> float:
    """Milliseconds to move `megabytes` at `gbps`."""
    return 8.0 * megabytes / gbps


def oasis_minibatch_ms(job: Job) -> float:
    """tau + 2 e / b of OASiS (Section III): compute one mini-batch, push gradients, pull parameters.

    Ours: plus the time of a parameter update, where the job states one (G of A_online).
    """
    assert job.minibatch_ms is not None
    assert job.gradient_mb is not None
    assert job.worker is not None
    alone_ms = job.minibatch_ms + (job.ps_update_ms or 0.0)
    if job.gradient_mb == 0:
        return alone_ms
    bandwidth = job.worker[BANDWIDTH]
    return alone_ms + 2 * transfer_ms(job.gradient_mb, bandwidth / 1000) if bandwidth else math.inf


def oasis_worker_slots(job: Job, slot_ms: int) -> int:
    """W = ceil(E N M (tau + 2 e / b)): worker-slots that finish the job."""
    assert job.epochs is not None
    assert job.num_chunks is not None
    assert job.minibatches_per_chunk is not None
    minibatches = job.epochs * job.num_chunks * job.minibatches_per_chunk
    return max(1, math.ceil(minibatches * oasis_minibatch_ms(job) / slot_ms - EPSILON))


def oasis_ps(job: Job, workers: int) -> int:
    """ceil(y b / B): parameter servers that y workers need (OASiS constraint 6), in exact integers."""
    assert job.worker is not None
    assert job.ps is not None
    need, give = workers * job.worker[BANDWIDTH], job.ps[BANDWIDTH]
    if need == 0:
        return 1 if workers else 0
    return -(-need // give)


def pd_ors_sample_ms(job: Job, internal: bool) -> float:
    """tau + (gamma / F) (2 g / b) of PD-ORS (Eq. 1): ms of one worker for one sample.

    internal: all workers and parameter servers share one machine (PD-ORS, Fact 1). Ours: with the time of a parameter
    update, where the job states one, for each exchange.
    """
    assert job.sample_ms is not None
    assert job.gradient_mb is not None
    assert job.global_batch is not None
    assert job.workers_per_ps is not None
    rate = job.internal_gbps if internal else job.external_gbps
    assert rate is not None
    exchange_ms = 2 * transfer_ms(job.gradient_mb, rate) + (job.ps_update_ms or 0.0)
    return job.sample_ms + job.workers_per_ps / job.global_batch * exchange_ms


def pd_ors_slots(job: Job, workers: int, internal: bool, slot_ms: int) -> int:
    """Slots that a fixed gang of `workers` needs for all E K samples."""
    assert job.epochs is not None
    assert job.num_samples is not None
    work = job.epochs * job.num_samples * pd_ors_sample_ms(job, internal)
    return max(1, math.ceil(work / (workers * slot_ms) - EPSILON))


def pd_ors_ps(job: Job, workers: int) -> int:
    """ceil(w / gamma): parameter servers of w workers."""
    assert job.workers_per_ps is not None
    return -(-workers // job.workers_per_ps)


def as_oasis(job: Job) -> Job:
    """Job for OASiS with the training model of PD-ORS: N = F, W = ceil(V delta_e), no bandwidth.

    A job that lacks a part has no chunks.
    """
    if any(getattr(job, part) is None for part in NEEDS["pd-ors"]):
        return replace(job, num_chunks=None)
    assert job.epochs is not None
    assert job.num_samples is not None
    assert job.global_batch is not None
    assert job.worker is not None
    assert job.ps is not None
    each_ms = job.epochs * job.num_samples * pd_ors_sample_ms(job, internal=False) / job.global_batch
    return replace(
        job, epochs=1, num_chunks=job.global_batch, minibatches_per_chunk=1, minibatch_ms=max(MIN_REAL, each_ms),
        gradient_mb=0.0, ps_update_ms=None, worker=with_bandwidth(job.worker, 0), ps=with_bandwidth(job.ps, 0),
    )  # fmt: skip


def remaining(job: Job, share: float) -> Job:
    """Job with that share, up to 1, of its work, in every model.

    One epoch of as many mini-batches, samples or iterations as are left.

    Counts are rounded up: what was done of a mini-batch (of each chunk), of a sample or of an iteration is done again.
    """
    if share >= 1:
        return job
    epochs = job.epochs or 1

    def left(count: int | None) -> int | None:
        return None if count is None else max(1, math.ceil(count * share - EPSILON))

    def of_epochs(count: int | None) -> int | None:
        return None if count is None else left(count * epochs)

    return replace(
        job, epochs=None if job.epochs is None else 1, minibatches_per_chunk=of_epochs(job.minibatches_per_chunk),
        num_samples=of_epochs(job.num_samples), iterations=left(job.iterations),
    )  # fmt: skip


def most_workers(job: Job, training: str | None) -> int | None:
    """Workers that the job may have at a time: its chunks (OASiS), or its global batch (PD-ORS)."""
    return job.global_batch if training == "pd-ors" else job.num_chunks


def gang_size(job: Job, most: int | None) -> int:
    """requested_workers, at least 1 and at most `most` (chunks of OASiS, global batch of PD-ORS) and MAX_GANG."""
    return max(1, min(job.requested_workers or 1, most or MAX_GANG, MAX_GANG))
