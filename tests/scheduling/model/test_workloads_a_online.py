"""The workload of A_online: Table II, the ranges of Section V, the testbed, and what is refused."""

import numpy as np
import pytest

from scheduling.model.values import ModelError
from scheduling.typed_workers import workers as typed
from scheduling.typed_workers.workload import HOUR_MS, TABLE_II
from scheduling.workloads import generate

HOURS = range(1, 5)


def test_jobs_and_workers_are_as_the_paper_says():
    cluster, jobs = generate("a-online", num_jobs=300, num_servers=100, seed=1)
    assert {(job.model, job.num_chunks, job.minibatches_per_chunk) for job in jobs} == set(TABLE_II)
    assert all(
        20 <= job.epochs <= 60 and 30 <= job.gradient_mb <= 575 and 10 <= job.ps_update_ms <= 100 for job in jobs
    )
    assert all(0.001 <= job.minibatch_ms / HOUR_MS <= 0.05 for job in jobs)
    assert {ms // HOUR_MS for job in jobs for ms in job.upload_ms} == set(HOURS)
    assert all(10 <= job.cloud_upload_ms / HOUR_MS <= 15 and len(job.upload_ms) == 100 for job in jobs)
    rates = {(job.worker_type, job.worker[4]) for job in jobs}
    assert len(rates) == len({kind for kind, _ in rates}), "one rate for each type"
    workers, ps = (typed.worker_slots(cluster, role) for role in (0, 1))
    assert 8 <= len(workers.kinds) <= 10
    assert 8 <= len(ps.kinds) <= 10
    assert len(ps.server) == 2 * len(workers.server)
    assert set(np.bincount(workers.server).tolist()) == {2, 8}
    assert [job.arrival_ms for job in jobs] == sorted(job.arrival_ms for job in jobs)
    assert {job.arrival_ms % HOUR_MS for job in jobs} == {0}
    assert cluster.horizon_slots is None
    assert cluster.unlimited_cloud


def test_another_number_of_jobs_leaves_the_cluster_and_the_same_seed_repeats_all():
    one, two = (generate("a-online", num_jobs=count, num_servers=20, seed=3) for count in (10, 30))
    assert one[0] == two[0]
    assert generate("a-online", num_jobs=10, num_servers=20, seed=3) == one
    assert generate("a-online", num_jobs=10, num_servers=20, seed=4) != one


def test_load_divides_the_span_and_workers_and_arrivals_can_be_given():
    last = [generate("a-online", num_jobs=100, num_servers=4, seed=1, load=load)[1][-1].arrival_ms for load in (1, 2)]
    assert last[1] == pytest.approx(last[0] / 2, abs=2 * HOUR_MS)
    cluster, jobs = generate(
        "a-online", num_jobs=2, num_servers=4, seed=1, workers=3, arrivals=[7_200_000, 3_600_000, 9_000_000]
    )
    assert [job.arrival_ms for job in jobs] == [3_600_000, 7_200_000]
    assert jobs[0].provenance["arrival_ms"] == "trace"
    assert all(sum(server.worker_lanes.values()) == 3 for server in cluster.servers)


def test_the_testbed_is_filled_exactly():
    """12 cores and 16 GB: 1 GPU worker (3 GB), 2 CPU workers (3 cores, 2 GB), 3 parameter servers (2 CPUs, 3 GB)."""
    cluster, jobs = generate("a-online", num_jobs=30, num_servers=100, seed=1, preset="testbed")
    assert len(cluster.servers) == 8
    assert all((s.worker_lanes, s.ps_lanes) == ({"gpu": 1, "cpu": 2}, {"ps": 3}) for s in cluster.servers)
    cpu = next(job for job in jobs if job.worker_type == "cpu")
    gpu = next(job for job in jobs if job.worker_type == "gpu")
    used = [gpu.worker[r] + 2 * cpu.worker[r] + 3 * gpu.ps[r] for r in range(3)]
    assert used == list(cluster.servers[0].capacity[:3])


@pytest.mark.parametrize(
    ("options", "message"),
    [({"preset": "real"}, "unknown preset 'real'; known: simulator, testbed"),
     ({"load": 0.0}, "load must be from 1e-06"),
     ({"gang_share": 1.5}, "gang_share must be from 0 to 1"), ({"workers": 0}, "workers must be from 1 to 1000"),
     ({"span_hours": float("nan")}, "span_hours must be from")],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ModelError, match=message):
        generate("a-online", num_jobs=1, num_servers=2, seed=1, **options)
