"""A job alone on the empty cluster: every scheduler runs every workload, and takes the same time where models agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.kernel.registry import build, schedulers
from scheduling.kernel.simulation import Simulation
from scheduling.model.speed import completed, speed_of
from scheduling.model.values import Cluster, Job, Server, Utility
from scheduling.slotted.pricing.prices import PriceParameters
from scheduling.workloads import ENDLESS, PROFILES, generate
from tests.cases import cases

SLOT_MS = 1_000
SERVERS = 12
NIC = 2.0  # Gbps of a machine, of a worker and of the external rate
CONTENDING = "naive_colocation"  # has a partition of the cluster, an eighth of it
SEQUENTIAL = "batch_sche"  # our interpretation: chunks of a job one after another on its cheapest workers


def alone_ms(name: str, cluster: Cluster, job: Job) -> int | None:
    """Completion time of the job under that scheduler; None if it is rejected or does not end."""
    known = {"estimate_from": "clairvoyant"} if issubclass(schedulers()[name].Parameters, PriceParameters) else {}
    simulation = Simulation(cluster, [replace(job, arrival_ms=0)], build(name, known), 1)
    return next((event.at_ms for event in simulation.events() if event.kind == "job_completed"), None)


def machines(horizon_slots: int) -> Cluster:
    """Machines of one GPU, each of which one worker fills, with room for a parameter server beside it."""
    servers = tuple(
        Server(f"s{i:02d}", "edge", (1_000, 4_000, 64_000, 500_000, 100_000), nic_gbps=NIC) for i in range(SERVERS)
    )
    return Cluster("c", SLOT_MS, servers, horizon_slots)


@st.composite
def stated_jobs(draw) -> Job:
    """Jobs of each source that last for 300 slots or so with all of their workers, and ask for all of them."""
    workers = draw(st.integers(1, SERVERS // 2))
    demands = {"worker": (1_000, 1_000, 1_000, 0, 2_000), "ps": (0, 1_000, 0, 0, 6_000)}
    shared = {"requested_workers": workers, "utility": Utility(100.0, 0.001, 100.0), "model_gb": 0.0, "input_gb": 0.0}
    gradient_mb = draw(st.floats(0.0, 50.0))
    kind = draw(st.sampled_from(("chunks", "samples")))
    if kind == "chunks":
        each = draw(st.integers(5, 40))
        return Job(
            "a", 0, epochs=3, num_chunks=workers, minibatches_per_chunk=each,
            minibatch_ms=draw(st.floats(80_000, 120_000)) / each, gradient_mb=gradient_mb,
            internal_gbps=NIC, ps_update_ms=draw(st.none() | st.floats(0, 50)), **demands, **shared,
        )  # fmt: skip
    samples = draw(st.integers(2_000, 4_000)) * workers
    return Job(
        "a", 0, epochs=3, num_samples=samples, global_batch=workers, workers_per_ps=draw(st.integers(1, 3)),
        sample_ms=draw(st.floats(80_000, 120_000)) * workers / samples, gradient_mb=gradient_mb / 10,
        external_gbps=NIC, internal_gbps=NIC, **demands, **shared,
    )  # fmt: skip


@settings(max_examples=cases(25, 5), deadline=None)
@given(stated_jobs())
def test_a_job_alone_takes_the_same_time_under_every_scheduler(job):
    """Within 1 %: one worker a machine, one rate for all placements, all workers at once, no memory limit, no cloud."""
    full = completed(job)
    want_ms = speed_of(job).run_ms(full.num_chunks, NIC)
    cluster = machines(horizon_slots=3 * round(want_ms / SLOT_MS))
    for name in schedulers():
        if name in (CONTENDING, SEQUENTIAL):
            continue
        found_ms = alone_ms(name, cluster, full)
        assert found_ms is not None, name
        assert found_ms == pytest.approx(want_ms, rel=0.01), name


@pytest.mark.slow
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_every_scheduler_runs_every_workload(profile):
    """Some jobs complete under each; none lacks a field."""
    horizon_slots = None if profile in ENDLESS else 600
    cluster, jobs = generate(profile, num_jobs=12, num_servers=40, seed=3, horizon_slots=horizon_slots)
    for name in schedulers():
        counts = {"job_completed": 0}
        for event in Simulation(cluster, jobs, build(name), 1).events():
            if event.kind == "decided":
                assert event.data["code"] not in ("missing_part", "no_worker_of_type"), (name, event)
            counts["job_completed"] += event.kind == "job_completed"
        assert counts["job_completed"], name
