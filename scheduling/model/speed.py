"""Speed of a job: one model of the time of its training, and the fields of every execution model that follow from it.

A worker takes a mini-batch at a time: it computes, sends the gradient to the parameter servers and receives the
parameters. This takes

    fixed + compute + 2 x gradient / rate

where the rate depends on the placement: external between servers, internal on one. Workers take mini-batches in
parallel, at most `most_workers` of them, so an epoch takes mini-batches / workers times as long. The models of the
papers are special cases (docs/speed.md):

    chunks    OASiS and A_online: N chunks of M mini-batches, tau (+ G) + 2 e / b
    samples   PD-ORS: K samples, tau + (gamma / F) 2 g / b each; a mini-batch is F / gamma samples, those of one worker
              while gamma workers share one parameter server
    machines  Harmony: W / m + T_net; an iteration is a mini-batch of each worker

The total time of computation and of exchange is that of the job's own fields. Counts are whole numbers, so a derived
mini-batch, sample or iteration may be a little longer than its share.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from scheduling.model.limits import MIN_REAL
from scheduling.model.training_models import NEEDS, transfer_ms
from scheduling.model.values import BANDWIDTH, Job, ModelError, with_bandwidth

REFERENCE_NIC = 1.1  # Gbps of comm_ms: that of Harmony's m4.2xlarge
INTERNAL = 10.0  # internal over external bandwidth, where a job states none
GANG = 16  # workers of a job of Harmony in the other models: the degree of parallelism of Fig. 9 of its paper
CHUNK_GB = 0.128  # OASiS
PER_EPOCH = 10  # iterations, as in Harmony's released sample scripts (9 to 25)
CHUNKS, SAMPLES, MACHINES = "chunks", "samples", "machines"
DEMANDS = ("worker", "ps")
FIELDS = {  # that state the speed, by source, in the order in which they are used
    CHUNKS: tuple(part for part in NEEDS["oasis"] if part not in DEMANDS),
    SAMPLES: tuple(part for part in NEEDS["pd-ors"] if part not in DEMANDS),
    MACHINES: ("comp_machine_ms", "comm_ms", "iterations"),
}
TIMES = {CHUNKS: "minibatch_ms", SAMPLES: "sample_ms", MACHINES: "comp_machine_ms"}
_BESIDE: Mapping[str, tuple[str, ...]] = {  # derived together with a source
    CHUNKS: (), SAMPLES: (), MACHINES: ("iterations_per_epoch", "input_gb", "model_gb")
}  # fmt: skip
_ROUNDING = 1e-9  # relative; a quotient that is an integer up to rounding is that integer


class Speed(NamedTuple):
    """Speed of a job, with the work of an epoch in mini-batches of one worker; there may be a part of one."""

    source: str  # CHUNKS, SAMPLES or MACHINES
    epochs: int
    minibatches: float  # in an epoch
    compute_ms: float  # of a mini-batch
    fixed_ms: float  # of a mini-batch
    gradient_mb: float  # sent once and received once in a mini-batch
    external_gbps: float | None  # None: unknown
    internal_gbps: float | None
    most_workers: int

    def minibatch_ms(self, gbps: float | None) -> float:
        """Time of a mini-batch at that rate; infinite where the gradient has no way."""
        return self.compute_ms + self.fixed_ms + exchange_ms(self.gradient_mb, gbps)

    def work_ms(self, gbps: float | None) -> float:
        """Time of all epochs with one worker at that rate."""
        return self.epochs * self.minibatches * self.minibatch_ms(gbps)

    def run_ms(self, workers: int, gbps: float | None) -> float:
        """Time of all epochs with n workers; those above `most_workers` have nothing to do."""
        return self.work_ms(gbps) / min(workers, self.most_workers)


def exchange_ms(gradient_mb: float, gbps: float | None) -> float:
    """Time to send a gradient and to receive as much."""
    if not gradient_mb:
        return 0.0
    return 2 * transfer_ms(gradient_mb, gbps) if gbps else math.inf


def source_of(job: Job) -> str | None:
    """Source of the job's speed: the first of FIELDS that the job has as a whole, one that is not derived first."""
    whole = [name for name, parts in FIELDS.items() if all(getattr(job, part) is not None for part in parts)]
    own = [name for name in whole if job.provenance.get(TIMES[name]) != "derived"]
    return next(iter(own or whole), None)


def speed_of(job: Job) -> Speed | None:
    """Speed of a job; None if it has none of the FIELDS as a whole."""
    source = source_of(job)
    return None if source is None else {CHUNKS: _chunks, SAMPLES: _samples, MACHINES: _machines}[source](job)


def completed(job: Job) -> Job:
    """Job with the fields of the other sources, where it lacks them. What a job states is never changed.

    The provenance of what is added is "derived". A source is left out if the job states another value of one of its
    fields, because the rest would not fit. A job without a known speed stays as it is.
    """
    speed = speed_of(job)
    if speed is None:
        return job
    found: dict[str, Any] = {}
    for source, derived in ((CHUNKS, as_chunks), (SAMPLES, as_samples), (MACHINES, as_machines)):
        if source != speed.source and any(getattr(job, part) is None for part in FIELDS[source]):
            values = derived(job, speed)
            if all(getattr(job, part) in (None, values.get(part)) for part in FIELDS[source]):
                found |= values
    return with_derived(job, found)


def with_derived(job: Job, values: Mapping[str, Any]) -> Job:
    """Job with those of the values that it lacks, and their provenance; a demand gets the derived bandwidth.

    The job alone if no job can have such values.
    """
    added = {name: value for name, value in values.items() if getattr(job, name) is None or name in DEMANDS}
    if not added:
        return job
    try:
        return replace(job, **added, provenance=_provenance(tuple(job.provenance.items()), tuple(added)))
    except ModelError:
        return job


def without_stale(job: Job, changed: Collection[str]) -> Job:
    """Job without the derived fields that do not fit if these fields get other values; `completed` derives them again.

    A source with a changed field of its own is kept: it then states another speed. So are jobs whose own source is
    derived, too, as those of a trace are.
    """
    source = source_of(job)
    if source is None or job.provenance.get(TIMES[source]) == "derived":
        return job
    own = {*FIELDS[source], *DEMANDS}
    stale: dict[str, Any] = {
        name: None
        for other, parts in FIELDS.items() if other != source and not (set(parts) - own) & set(changed)
        for name in (*parts, *_BESIDE[other])
        if name not in own and job.provenance.get(name) == "derived"
    }  # fmt: skip
    return replace(job, **stale) if stale else job


def restated(job: Job, **values: Any) -> Job:
    """Job with other values, and what follows from them."""
    return completed(replace(without_stale(job, values), **values))


def as_chunks(job: Job, speed: Speed) -> dict[str, Any]:
    """Fields of OASiS and A_online: as many chunks as workers, of whole mini-batches.

    Empty if no rate is known, and if an epoch is less than one mini-batch and takes less time than one exchange. Where
    an exchange at the bandwidth of the worker takes less time than at the external rate, a mini-batch computes longer,
    so that the total is the same.
    """
    own = job.worker[BANDWIDTH] / 1000 if job.worker else 0.0
    gbps = own or speed.external_gbps
    beside = speed.fixed_ms + exchange_ms(speed.gradient_mb, gbps)
    total = speed.minibatches * speed.minibatch_ms(speed.external_gbps or gbps)
    if not math.isfinite(total) or not math.isfinite(beside):
        return {}
    most = min(speed.minibatches, total / beside if beside else math.inf)
    chunks = max(1, min(speed.most_workers, _floor(most)))
    each = max(1, _floor(most / chunks))
    compute_ms = total / (chunks * each) - beside
    if compute_ms < -_ROUNDING * beside:
        return {}
    values: dict[str, Any] = {
        "epochs": speed.epochs, "num_chunks": chunks, "minibatches_per_chunk": each,
        "minibatch_ms": max(MIN_REAL, compute_ms), "gradient_mb": speed.gradient_mb,
    }  # fmt: skip
    if job.worker and not own and speed.gradient_mb and gbps:
        rate = max(1, round(gbps * 1000))
        values["worker"] = with_bandwidth(job.worker, rate)
        if job.ps:
            values["ps"] = with_bandwidth(job.ps, max(rate, job.ps[BANDWIDTH]))
    return values


def as_samples(job: Job, speed: Speed) -> dict[str, Any]:
    """Fields of PD-ORS: a global batch of one sample for each worker. Empty if no rate is known.

    A parameter server has as many workers as its bandwidth is enough for; of a job of Harmony it has all of them.
    """
    gbps = speed.external_gbps
    if not gbps:
        return {}
    batch = speed.most_workers
    ratio = job.workers_per_ps or (batch if speed.source == MACHINES else _workers_per_ps(job, batch))
    samples = max(1, _floor(speed.minibatches * batch / ratio))
    beside = ratio / batch * (speed.fixed_ms + exchange_ms(speed.gradient_mb, gbps))
    return {
        "epochs": speed.epochs, "num_samples": samples, "global_batch": batch,
        "sample_ms": max(MIN_REAL, speed.minibatches * speed.minibatch_ms(gbps) / samples - beside),
        "gradient_mb": speed.gradient_mb, "workers_per_ps": ratio, "external_gbps": gbps,
        "internal_gbps": speed.internal_gbps or INTERNAL * gbps,
    }  # fmt: skip


def as_machines(job: Job, speed: Speed) -> dict[str, Any]:
    """Fields of Harmony: an iteration of `most_workers` machines, each of which is one worker.

    comm_ms holds at REFERENCE_NIC. An iteration is a mini-batch of each chunk, or the samples of a global batch, unless
    the job states the number of its iterations.
    """
    workers = speed.most_workers
    units = (job.num_samples or 1) if speed.source == SAMPLES else speed.minibatches
    iterations = job.iterations or speed.epochs * max(1, -_floor(-units / workers))
    share = speed.epochs * speed.minibatches / iterations  # mini-batches in an iteration
    input_gb = workers * (job.chunk_mb / 1000 if job.chunk_mb else CHUNK_GB)
    return {
        "comp_machine_ms": share * (speed.compute_ms + speed.fixed_ms),
        "comm_ms": share / workers * exchange_ms(speed.gradient_mb, REFERENCE_NIC),
        "iterations": iterations, "iterations_per_epoch": max(1, -_floor(-iterations / speed.epochs)),
        "input_gb": input_gb, "model_gb": 2 * speed.gradient_mb / 1000,
    }  # fmt: skip


def _chunks(job: Job) -> Speed:
    epochs, chunks, each, compute_ms, gradient_mb = (getattr(job, part) for part in FIELDS[CHUNKS])
    gbps = job.worker[BANDWIDTH] / 1000 if job.worker else 0.0
    minibatches, fixed_ms = float(chunks * each), job.ps_update_ms or 0.0
    internal_gbps = None if job.provenance.get("internal_gbps") == "derived" else job.internal_gbps
    return Speed(CHUNKS, epochs, minibatches, compute_ms, fixed_ms, gradient_mb, gbps or None, internal_gbps, chunks)


def _samples(job: Job) -> Speed:
    assert job.num_samples is not None
    assert job.global_batch is not None
    assert job.sample_ms is not None
    assert job.workers_per_ps is not None
    each = job.global_batch / job.workers_per_ps  # samples of a mini-batch
    return Speed(
        SAMPLES, job.epochs or 1, job.num_samples / each, job.sample_ms * each, job.ps_update_ms or 0.0,
        job.gradient_mb or 0.0, job.external_gbps, job.internal_gbps, job.global_batch,
    )  # fmt: skip


def _machines(job: Job) -> Speed:
    """Speed in whole epochs: the last one is filled up, and the iterations are shorter by as much."""
    assert job.comp_machine_ms is not None
    assert job.comm_ms is not None
    assert job.iterations is not None
    per_epoch = min(job.iterations_per_epoch or PER_EPOCH, job.iterations)
    epochs = math.ceil(job.iterations / per_epoch)
    share = job.iterations / (epochs * per_epoch)
    return Speed(
        MACHINES, epochs, float(GANG * per_epoch), job.comp_machine_ms * share / GANG, 0.0,
        job.comm_ms * share * REFERENCE_NIC / 16, REFERENCE_NIC, None, GANG,
    )  # fmt: skip


def _workers_per_ps(job: Job, most: int) -> int:
    need, give = (demand[BANDWIDTH] if demand else 0 for demand in (job.worker, job.ps))
    return max(1, min(most, give // need if need else most))


@lru_cache(maxsize=1024)
def _provenance(known: Iterable[tuple[str, str]], added: tuple[str, ...]) -> Mapping[str, str]:
    """Provenance with the added fields; jobs with the same one share the object, as there may be a million of them."""
    return dict(known) | {f"{name}.bandwidth" if name in DEMANDS else name: "derived" for name in added}


def _floor(value: float) -> int:
    return math.floor(value * (1 + _ROUNDING) if value > 0 else value * (1 - _ROUNDING))
