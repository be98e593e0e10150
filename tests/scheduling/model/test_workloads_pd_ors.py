"""The generated PD-ORS workload keeps to the paper's ranges, and every scheduler's model sees the same work."""

import math

import numpy as np
import pytest

from scheduling.model.speed import completed
from scheduling.model.training_models import oasis_worker_slots, pd_ors_sample_ms
from scheduling.model.utility import utility_at
from scheduling.model.values import ModelError
from scheduling.slotted.workload_pd_ors import CAPACITY, DERIVED, HORIZON, SAMPLED, pd_ors
from scheduling.workloads import generate

SLOT = 3_600_000


def sampled(num_jobs=300, variant="calibrated", seed=1, slots=HORIZON, servers=10, **options):
    return pd_ors(variant, num_jobs, servers, seed, slots, SLOT, **options)


@pytest.mark.parametrize(("variant", "samples"), [("literal", (20_000, 500_000)), ("calibrated", (6_000, 150_000))])
def test_jobs_lie_in_the_paper_s_ranges(variant, samples):
    _, jobs = sampled(variant=variant)
    assert [job.id for job in (jobs[0], jobs[-1])] == ["j0001", "j0300"]
    for job in jobs:
        assert 50 <= job.epochs <= 200
        assert samples[0] <= job.num_samples <= samples[1]
        assert 1 <= job.global_batch <= 200
        assert 1e-5 <= job.sample_ms / SLOT <= 1e-4
        assert 30 <= job.gradient_mb <= 575
        assert 1 <= job.workers_per_ps <= 10
        assert 0.1 <= job.external_gbps <= 5
        assert job.internal_gbps == 10 * job.external_gbps
        assert job.worker[0] in range(0, 5_000, 1_000)
        assert job.ps[0] == 0
        assert all(
            1_000 <= d[1] <= 10_000 and 2_000 <= d[2] <= 32_000 and 5_000 <= d[3] <= 10_000
            for d in (job.worker, job.ps)
        )
        assert 1 <= job.requested_workers <= min(30, job.global_batch)
        assert 1 <= job.utility.priority <= 100
        assert 1 <= job.utility.target_slots <= 15
        assert job.arrival_ms % SLOT == 0
        assert 0 <= job.arrival_ms < HORIZON * SLOT
        assert {name for name, origin in job.provenance.items() if origin == "drawn"} == set(SAMPLED)
        assert {name for name, origin in job.provenance.items() if origin == "derived"} == set(DERIVED)
    assert jobs == sorted(jobs, key=lambda job: (job.arrival_ms, job.id))


def test_a_job_is_the_same_work_for_oasis():
    """OASiS rounds up to whole worker-slots; its chunks need no more bandwidth than a worker has."""
    for job in map(completed, sampled()[1]):
        work = job.epochs * job.num_samples * pd_ors_sample_ms(job, internal=False) / SLOT
        assert oasis_worker_slots(job, SLOT) == max(1, math.ceil(work - 1e-6))
        assert job.num_chunks <= job.global_batch
        assert job.minibatch_ms > 0
        assert job.worker[4] == round(job.external_gbps * 1000) <= job.ps[4]


def test_two_thirds_arrive_in_even_slots():
    """The paper counts slots from 1, so its even slots are ours at odd positions."""
    slots = np.array([job.arrival_ms // SLOT for job in sampled(3_000)[1]])
    assert (slots % 2 == 1).mean() == pytest.approx(2 / 3, abs=0.03)
    assert set(slots.tolist()) == set(range(HORIZON))


@pytest.mark.parametrize(("mix", "shares"), [("10/55/35", (0.10, 0.55, 0.35)), ("30/69/1", (0.30, 0.69, 0.01))])
def test_the_mixes(mix, shares):
    sensitivity = np.array([job.utility.sensitivity for job in sampled(3_000, mix=mix)[1]])
    found = (sensitivity == 0).mean(), ((sensitivity >= 0.01) & (sensitivity <= 1)).mean(), (sensitivity >= 4).mean()
    assert found == pytest.approx(shares, abs=0.03)


def test_calibrated_jobs_have_the_scale_of_the_paper_s_figure():
    """62 % can finish within 20 slots if alone, and 50 jobs are worth at most about 1,250; literal 33 % and 550."""

    def best(variant):
        worths = []
        for seed in range(12):
            for job in sampled(50, variant, seed)[1]:
                work = job.epochs * job.num_samples * pd_ors_sample_ms(job, internal=True)
                slots = max(1, math.ceil(work / (job.global_batch * SLOT)))
                worths.append(utility_at(job.utility, slots - 1) if slots <= HORIZON - job.arrival_ms // SLOT else 0.0)
        return np.count_nonzero(worths) / len(worths), sum(worths) / 12

    assert best("calibrated") == (pytest.approx(0.62, abs=0.04), pytest.approx(1_250, rel=0.1))
    assert best("literal") == (pytest.approx(0.33, abs=0.05), pytest.approx(530, rel=0.15))


def test_servers_are_18_mean_workers_each():
    cluster, jobs = sampled(3_000, servers=100)
    mean = np.mean([job.worker for job in jobs], axis=0)
    assert np.array(CAPACITY) / mean == pytest.approx(np.full(5, 18.0), rel=0.05)
    assert {(s.capacity, s.roles) for s in cluster.servers} == {(CAPACITY, ("worker", "ps"))}
    assert [s.name for s in cluster.servers[:2]] == ["h00", "h01"]
    assert sum(s.site == "edge" for s in cluster.servers) == 50
    spread = np.array([s.capacity for s in sampled(1, servers=100, spread=0.2)[0].servers])
    assert (spread >= 0.79 * np.array(CAPACITY)).all()
    assert (spread <= 1.21 * np.array(CAPACITY)).all()
    assert len({tuple(row) for row in spread.tolist()}) > 90


def test_a_trace_s_timestamps_are_mapped_onto_the_slots_and_its_classes_onto_sensitivities():
    """5 of 5 rows, 0 to 100 s onto 20 slots: 0, 10, 50, 99 and 100 s are slots 0, 2, 10, 19 and 19."""
    cluster, jobs = sampled(5, timestamps=[50, 0, 10, 100, 99], classes=[1, 0, 2, 3, 3])
    assert [job.arrival_ms // SLOT for job in jobs] == [0, 2, 10, 19, 19]
    sensitivity = [job.utility.sensitivity for job in jobs]
    assert sensitivity[0] == 0
    assert all(0.01 <= s <= 1 for s in sensitivity[1:3])
    assert all(4 <= s <= 6 for s in sensitivity[3:])
    assert {job.provenance["arrival_ms"] for job in jobs} == {"trace"}
    assert len(sampled(3, timestamps=range(9))[1]) == 3
    assert cluster == sampled(0)[0]


def test_a_seed_gives_the_same_workload_and_another_seed_another():
    assert sampled(20, seed=4) == sampled(20, seed=4)
    assert sampled(20, seed=4)[1] != sampled(20, seed=5)[1]
    assert sampled(20, seed=4)[0] == sampled(90, seed=4)[0]
    assert sampled(5, slots=1)[1][4].arrival_ms == 0


def test_it_is_a_profile():
    same = generate("pd-ors", num_jobs=9, num_servers=10, seed=1, horizon_slots=20, mix="30/69/1")
    cluster, jobs = sampled(9, mix="30/69/1")
    assert same == (cluster, [completed(job) for job in jobs])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mix": "1/2/3"}, "unknown mix '1/2/3'; known: 10/55/35, 30/69/1"),
        ({"spread": 1.0}, "spread must be a share from 0 to below 1, got 1.0"),
        ({"kappa": 0.0}, "kappa must be a finite number > 0, got 0.0"),
        ({"timestamps": [1.0]}, "2 jobs need as many finite timestamps, got 1 of 1"),
        ({"timestamps": [1.0, float("nan")]}, "2 jobs need as many finite timestamps, got 1 of 2"),
        (
            {"timestamps": [1.0, 2.0], "classes": [1, 4]},
            "classes must be one integer from 0 to 3 for each of the 2 timestamps",
        ),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ModelError, match=message):
        sampled(2, **options)
