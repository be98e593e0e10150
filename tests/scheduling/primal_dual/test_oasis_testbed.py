"""The testbed of OASiS as the paper states it."""

from experiments._testbed import testbed as made
from scheduling.model.training_models import oasis_minibatch_ms

MINUTE_MS = 60_000


def test_jobs_are_those_that_the_paper_states():
    """12 jobs in the first 9 slots of 20 minutes, 40 minutes to 2 hours with the workers requested; 200 images."""
    for seed in range(10):
        cluster, jobs = made(seed)
        assert (len(jobs), cluster.slot_ms, cluster.horizon_slots) == (12, 20 * MINUTE_MS, 10)
        assert all(0 <= job.arrival_ms < 9 * cluster.slot_ms for job in jobs)
        for job in jobs:
            batches = job.num_chunks * job.minibatches_per_chunk
            assert (job.num_chunks, job.minibatches_per_chunk) in {(10, 2), (7, 3)}
            minutes = job.epochs * batches * oasis_minibatch_ms(job) / job.requested_workers / MINUTE_MS
            assert 40 <= minutes <= 120
            assert 4 <= job.epochs <= 30
            assert 1_000 <= job.worker[4] <= job.ps[4] <= 3_000
            assert job.minibatch_ms > 0
