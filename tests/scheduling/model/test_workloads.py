"""The generated OASiS workload keeps to the paper's ranges."""

import statistics

import pytest

from scheduling.model.training_models import oasis_worker_slots
from scheduling.model.values import ModelError
from scheduling.slotted.workload_oasis import OASIS_PARTS
from scheduling.workloads import SLOT_MS, generate


def test_jobs_lie_in_the_paper_s_ranges():
    cluster, jobs = generate("oasis", num_jobs=300, num_servers=100, seed=1)
    assert (len(jobs), cluster.slot_ms, cluster.horizon_slots) == (300, 3_600_000, 100)
    assert [job.id for job in (jobs[0], jobs[-1])] == ["j0001", "j0300"]
    for job in jobs:
        assert 50 <= job.epochs <= 200
        assert 5 <= job.num_chunks <= 100
        assert 10 <= job.minibatches_per_chunk <= 100
        assert 1e-5 <= job.minibatch_ms / SLOT_MS <= 1e-3
        assert 30 <= job.gradient_mb <= 575
        assert job.worker[0] in (0, 1000, 2000, 3000, 4000)
        assert job.ps[0] == 0
        assert 100 <= job.worker[4] <= 5000 <= job.ps[4] <= 20_000
        assert 1 <= job.requested_workers <= min(30, job.num_chunks)
        assert 1 <= job.utility.priority <= 100
        assert 1 <= job.utility.target_slots <= 15
        assert 0 <= job.arrival_ms < 50 * SLOT_MS
        assert {name for name, origin in job.provenance.items() if origin == "drawn"} == set(OASIS_PARTS)
        assert {origin for name, origin in job.provenance.items() if name not in OASIS_PARTS} == {"derived"}
        assert all(getattr(job, part) is not None for part in OASIS_PARTS)
    assert jobs == sorted(jobs, key=lambda job: (job.arrival_ms, job.id))


def test_a_tenth_is_insensitive_and_a_third_critical():
    _, jobs = generate("oasis", num_jobs=2000, num_servers=2, seed=5)
    sensitivities = [job.utility.sensitivity for job in jobs]
    assert sensitivities.count(0) / 2000 == pytest.approx(0.10, abs=0.02)
    assert sum(s >= 4 for s in sensitivities) / 2000 == pytest.approx(0.35, abs=0.03)
    assert sum(0 < s <= 1 for s in sensitivities) / 2000 == pytest.approx(0.55, abs=0.03)


def test_calibrated_jobs_take_about_seven_slots_and_literal_ones_seldom_fit():
    def shortest(variant):
        _, jobs = generate("oasis", variant=variant, num_jobs=500, num_servers=2, seed=2)
        return [-(-oasis_worker_slots(job, SLOT_MS) // job.num_chunks) for job in jobs]

    assert 5 <= statistics.median(shortest("calibrated")) <= 10
    assert sum(slots <= 100 for slots in shortest("literal")) / 500 < 0.3  # even alone from slot 0


def test_servers_take_one_role_on_both_sites():
    cluster, _ = generate("oasis", num_jobs=0, num_servers=100, seed=1)
    workers = [s for s in cluster.servers if s.roles == ("worker",)]
    ps = [s for s in cluster.servers if s.roles == ("ps",)]
    assert (len(workers), len(ps)) == (50, 50)
    assert (cluster.servers[0].name, ps[0].name) == ("w00", "p00")
    for side in (workers, ps):
        assert sum(s.site == "edge" for s in side) == 25
    assert all(s.capacity[0] >= 1000 for s in workers)
    assert all(s.capacity[0] == 0 for s in ps)
    assert all(20_000 <= s.capacity[4] <= 50_000 for s in cluster.servers)


def test_a_seed_gives_the_same_workload_and_another_seed_another():
    assert generate("oasis", num_jobs=20, seed=4) == generate("oasis", num_jobs=20, seed=4)
    assert generate("oasis", num_jobs=20, seed=4)[1] != generate("oasis", num_jobs=20, seed=5)[1]
    assert generate("oasis", num_jobs=20, seed=4)[0] == generate("oasis", num_jobs=90, seed=4)[0]


def test_wrong_names_are_answered_with_the_right_ones():
    with pytest.raises(ModelError, match="unknown profile 'oaisis'; known: oasis"):
        generate("oaisis", num_jobs=1)
    with pytest.raises(ModelError, match="unknown variant 'exact'; known: calibrated, literal"):
        generate("oasis", variant="exact", num_jobs=1)
    with pytest.raises(ModelError, match="servers of a workload must be at least 2, got 1"):
        generate("oasis", num_jobs=1, num_servers=1)
