"""The one speed model: derived fields keep the work, the shares of computation and exchange, and the workers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scheduling.model.speed import (
    CHUNKS,
    FIELDS,
    MACHINES,
    REFERENCE_NIC,
    SAMPLES,
    Speed,
    completed,
    restated,
    source_of,
    speed_of,
)
from scheduling.model.training_models import oasis_minibatch_ms, pd_ors_sample_ms
from scheduling.model.values import Job
from scheduling.typed_workers.workers import exact_chunk_ms
from scheduling.workloads import generate
from tests.cases import cases

WORKER, PS = (1_000, 2_000, 4_000, 0, 1_100), (0, 1_000, 1_000, 0, 3_300)
counts = st.integers(1, 60)
times = st.floats(0.5, 1e5)
sizes = st.floats(0.0, 600.0)
updates = st.none() | st.floats(0.0, 200.0)
bandwidths = st.integers(100, 5_000)


@st.composite
def chunk_jobs(draw) -> Job:
    """Jobs of OASiS and A_online."""
    bandwidth = draw(bandwidths)
    return Job(
        "a", 0, epochs=draw(counts), num_chunks=draw(counts), minibatches_per_chunk=draw(counts),
        minibatch_ms=draw(times), gradient_mb=draw(sizes), ps_update_ms=draw(updates),
        worker=(*WORKER[:4], bandwidth), ps=(*PS[:4], bandwidth * draw(st.integers(1, 5))),
    )  # fmt: skip


@st.composite
def sample_jobs(draw) -> Job:
    """Jobs of PD-ORS; the external rate is the bandwidth of a worker."""
    bandwidth = draw(bandwidths)
    return Job(
        "a", 0, epochs=draw(counts), num_samples=draw(st.integers(1, 5_000)), global_batch=draw(st.integers(1, 200)),
        sample_ms=draw(times), gradient_mb=draw(sizes), workers_per_ps=draw(st.integers(1, 10)),
        external_gbps=bandwidth / 1000, internal_gbps=bandwidth / 100, ps_update_ms=draw(updates),
        worker=(*WORKER[:4], bandwidth), ps=(*PS[:4], bandwidth),
    )  # fmt: skip


@st.composite
def machine_jobs(draw) -> Job:
    """Jobs of Harmony."""
    return Job(
        "a", 0, comp_machine_ms=draw(times), comm_ms=draw(times), iterations=draw(st.integers(1, 900)),
        iterations_per_epoch=draw(st.none() | counts), worker=WORKER, ps=PS,
    )  # fmt: skip


jobs = st.one_of(chunk_jobs(), sample_jobs(), machine_jobs())


def works_ms(job: Job, nic: float) -> dict[str, float]:
    """Worker-ms of the whole job by the formula of each paper, where all of its workers run."""
    most = min(job.num_chunks, speed_of(job).most_workers)
    return {
        "oasis": job.epochs * job.num_chunks * job.minibatches_per_chunk * oasis_minibatch_ms(job),
        "pd-ors": job.epochs * job.num_samples * pd_ors_sample_ms(job, internal=False),
        "a_online": job.num_chunks * exact_chunk_ms(job),
        "harmony": job.iterations
        * (job.comp_machine_ms + speed_of(job).most_workers * job.comm_ms * REFERENCE_NIC / nic),
        "most": most,
    }


@settings(max_examples=cases(400, 50))
@given(jobs)
def test_every_family_counts_the_same_work_from_the_same_job(job):
    """The models agree where a machine's network is the worker's bandwidth and all workers run."""
    full = completed(job)
    assume(full.minibatch_ms is not None)
    nic = full.external_gbps
    assert all(getattr(full, part) is not None for parts in FIELDS.values() for part in parts)
    work = speed_of(job).work_ms(nic)
    found = works_ms(full, nic)
    for name in ("oasis", "pd-ors", "a_online", "harmony"):
        assert found[name] == pytest.approx(work, rel=1e-6), name


@settings(max_examples=cases(200, 30))
@given(jobs)
def test_completion_changes_nothing_that_a_job_states_and_happens_once(job):
    full = completed(job)
    assert source_of(full) == source_of(job)
    assert speed_of(full) == speed_of(job)
    assert completed(full) is full
    for name in (part for parts in FIELDS.values() for part in parts):
        if getattr(job, name) is not None:
            assert getattr(full, name) == getattr(job, name)
            assert name not in full.provenance
        elif getattr(full, name) is not None:
            assert full.provenance[name] == "derived"


@settings(max_examples=cases(200, 30))
@given(jobs)
def test_no_source_gives_a_job_more_workers_than_it_can_use(job):
    full, most = completed(job), speed_of(job).most_workers
    assert (full.num_chunks or 1) <= most
    assert full.global_batch == most
    assert speed_of(job).run_ms(10 * most, 1.0) == speed_of(job).run_ms(most, 1.0)


@given(sample_jobs())
def test_computation_of_samples_stays_computation(job):
    """E K tau machine-ms under Harmony, whatever the other fields hold; the update of a server belongs to it."""
    speed, full = speed_of(job), completed(job)
    updates_ms = speed.epochs * speed.minibatches * speed.fixed_ms
    assert full.iterations * full.comp_machine_ms == pytest.approx(
        job.epochs * job.num_samples * job.sample_ms + updates_ms, rel=1e-9
    )


def test_the_special_cases_by_hand():
    chunks = Job("a", 0, epochs=2, num_chunks=8, minibatches_per_chunk=5, minibatch_ms=700.0, gradient_mb=11.0,
                 ps_update_ms=20.0, worker=WORKER, ps=PS)  # fmt: skip
    assert speed_of(chunks) == Speed(CHUNKS, 2, 40.0, 700.0, 20.0, 11.0, 1.1, None, 8)
    assert speed_of(chunks).minibatch_ms(1.1) == pytest.approx(700 + 20 + 160)
    full = completed(chunks)
    assert (full.num_samples, full.global_batch, full.workers_per_ps) == (106, 8, 3)  # 40 x 8 / 3
    assert full.sample_ms == pytest.approx(40 * 880 / 106 - 3 / 8 * 180)
    assert (full.iterations, full.iterations_per_epoch, full.comp_machine_ms) == (10, 5, 8 * 720.0)
    assert full.comm_ms == pytest.approx(160)
    samples = Job("a", 0, epochs=3, num_samples=400, global_batch=20, sample_ms=10.0, gradient_mb=5.5, workers_per_ps=4,
                  external_gbps=1.1, internal_gbps=11.0, worker=WORKER, ps=PS)  # fmt: skip
    assert speed_of(samples) == Speed(SAMPLES, 3, 80.0, 50.0, 0.0, 5.5, 1.1, 11.0, 20)
    full = completed(samples)
    assert (full.num_chunks, full.minibatches_per_chunk, full.minibatch_ms) == (20, 4, 50.0)
    assert (full.iterations, full.comp_machine_ms, full.comm_ms) == (60, 200.0, pytest.approx(80 * 4 / 20))
    machines = Job("a", 0, comp_machine_ms=1_600.0, comm_ms=40.0, iterations=100)
    assert speed_of(machines) == Speed(MACHINES, 10, 160.0, 100.0, 0.0, pytest.approx(2.75), 1.1, None, 16)


def test_the_source_is_what_the_job_states():
    own = Job("a", 0, epochs=1, num_samples=9, global_batch=3, sample_ms=1.0, gradient_mb=0.0, workers_per_ps=1,
              external_gbps=1.0, internal_gbps=9.0)  # fmt: skip
    assert source_of(completed(own)) == SAMPLES
    assert source_of(replace(completed(own), provenance={})) == CHUNKS, "the first one, if all are stated"
    assert source_of(Job("a", 0)) is None
    assert completed(Job("a", 0)) == Job("a", 0)


def test_a_source_that_contradicts_what_the_job_states_is_left_out():
    job = Job("a", 0, epochs=1, num_chunks=4, minibatches_per_chunk=1, minibatch_ms=9.0, gradient_mb=1.0,
              global_batch=64, worker=WORKER, ps=PS)  # fmt: skip
    full = completed(job)
    assert (full.global_batch, full.sample_ms) == (64, None)
    assert full.comp_machine_ms is not None


def test_iterations_that_a_trace_states_are_kept():
    job = Job("a", 0, epochs=2, num_chunks=4, minibatches_per_chunk=10, minibatch_ms=9.0, gradient_mb=1.1, iterations=7,
              worker=WORKER, ps=PS)  # fmt: skip
    full = completed(job)
    assert (full.iterations, full.iterations_per_epoch) == (7, 4)
    assert full.iterations * full.comp_machine_ms == pytest.approx(80 * 9.0)
    assert full.iterations * full.comm_ms == pytest.approx(80 / 4 * 16)


def test_a_gradient_without_a_way_gives_no_chunks():
    job = Job("a", 0, epochs=1, num_chunks=4, minibatches_per_chunk=1, minibatch_ms=9.0, gradient_mb=1.0)
    assert math.isinf(speed_of(job).minibatch_ms(None))
    assert completed(job).sample_ms is None


def test_an_epoch_of_less_than_an_exchange_has_no_chunks():
    """2 samples of a mini-batch of 20: 20 ms of computation and 16 of exchange, where a mini-batch exchanges 160 ms."""
    job = Job("a", 0, epochs=1, num_samples=2, global_batch=20, sample_ms=10.0, gradient_mb=10.0, workers_per_ps=1,
              external_gbps=1.0, internal_gbps=9.0, worker=(0, 0, 0, 0, 1_000), ps=PS)  # fmt: skip
    full = completed(job)
    assert (full.num_chunks, full.minibatch_ms) == (None, None)
    assert (full.comp_machine_ms, full.comm_ms) == (20.0, pytest.approx(16 / 20 / 1.1))


def test_bandwidth_is_derived_where_a_demand_has_none():
    job = Job("a", 0, epochs=1, num_samples=90, global_batch=3, sample_ms=1.0, gradient_mb=2.0, workers_per_ps=1,
              external_gbps=2.0, internal_gbps=9.0, worker=(1_000, 0, 0, 0, 0), ps=(0, 0, 0, 0, 0))  # fmt: skip
    full = completed(job)
    assert (full.worker, full.ps) == ((1_000, 0, 0, 0, 2_000), (0, 0, 0, 0, 2_000))
    assert full.provenance["worker.bandwidth"] == "derived"


def test_another_value_brings_what_follows_from_it():
    _, (job, *_) = generate("oasis", num_jobs=2, num_servers=4, seed=1)
    twice = restated(job, epochs=2 * job.epochs)
    assert twice.iterations == 2 * job.iterations
    assert (twice.num_samples, twice.comp_machine_ms) == (job.num_samples, job.comp_machine_ms)
    slower = restated(job, minibatch_ms=3 * job.minibatch_ms)
    assert slower.comp_machine_ms == pytest.approx(3 * job.comp_machine_ms)
    assert slower.sample_ms > job.sample_ms
    assert restated(job, sample_ms=5.0).sample_ms == 5.0, "it states another speed for PD-ORS alone"
    assert restated(job, sample_ms=5.0).minibatch_ms == job.minibatch_ms
    assert restated(job, requested_workers=3) == replace(job, requested_workers=3)


def test_values_that_no_job_can_have_are_not_derived():
    job = Job("a", 0, epochs=1, num_chunks=2**30, minibatches_per_chunk=2**10, minibatch_ms=1e-9, gradient_mb=0.0,
              worker=WORKER, ps=PS)  # fmt: skip
    assert completed(job) is job, "it would have 2^68 samples"
