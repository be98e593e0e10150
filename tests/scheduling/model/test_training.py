"""Work, gang and parameter servers of a job by both training models, utility, and what the empty cluster can hold."""

import math

import numpy as np
import pytest

from scheduling.model.admission import UNLIMITED, Room
from scheduling.model.training_models import (
    gang_size,
    oasis_minibatch_ms,
    oasis_ps,
    oasis_worker_slots,
    pd_ors_ps,
    pd_ors_sample_ms,
    pd_ors_slots,
)
from scheduling.model.utility import arrival_slot, duration_slots, utility_at, utility_over
from scheduling.model.values import Utility
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server


def test_a_minibatch_of_oasis_is_its_computation_and_two_transfers():
    """100 MB at 1 Gbps take 800 ms each way."""
    assert oasis_minibatch_ms(job("a", gradient_mb=100.0)) == 1_000 + 2 * 800


def test_worker_slots_are_rounded_up_but_not_for_a_rounding_error():
    """3 epochs x 5 chunks x 7 mini-batches x 100 ms = 10.5 slots of 1 s.

    3 x 0.1 s is 0.30000000000000004 s, still 3 slots of 0.1 s.
    """
    assert (
        oasis_worker_slots(job("a", epochs=3, num_chunks=5, minibatches_per_chunk=7, minibatch_ms=100.0), 1_000) == 11
    )
    assert oasis_worker_slots(job("a", epochs=3, minibatch_ms=1_000 * (0.1 + 0.2)), 300) == 3
    assert oasis_worker_slots(job("a", minibatch_ms=0.001), 1_000) == 1


@pytest.mark.parametrize(("workers", "ps"), [(1, 1), (2, 1), (3, 2), (4, 2)])
def test_oasis_needs_a_ps_for_each_two_workers_at_half_its_bandwidth(workers, ps):
    assert oasis_ps(job("a"), workers) == ps


def test_a_sample_of_pd_ors():
    """10 ms + 4 / 8 x 2 x 8 ms (1 MB at 1 Gbps): 18 ms outside, 10.8 ms inside at 10 Gbps; 100 samples by 2 workers."""
    row = job(
        "a",
        sample_ms=10.0,
        workers_per_ps=4,
        global_batch=8,
        gradient_mb=1.0,
        internal_gbps=10.0,
        external_gbps=1.0,
        num_samples=100,
    )
    assert pd_ors_sample_ms(row, internal=False) == 18.0
    assert pd_ors_sample_ms(row, internal=True) == pytest.approx(10.8)
    assert (pd_ors_slots(row, 2, False, 100), pd_ors_slots(row, 2, True, 100)) == (9, 6)  # 900 and 540 ms
    assert [pd_ors_ps(row, w) for w in (1, 4, 5)] == [1, 1, 2]


@pytest.mark.parametrize(("requested", "most", "gang"), [(4, 8, 4), (9, 8, 8), (1, 8, 1)])
def test_the_gang_is_the_request_within_its_limit(requested, most, gang):
    assert gang_size(job("a", requested_workers=requested), most) == gang


def test_utility_falls_from_the_priority_to_nothing():
    steep = Utility(80.0, 5.0, 3.0)
    assert utility_at(steep, 3) == 40.0
    assert utility_at(steep, 0) == pytest.approx(80 / (1 + math.exp(-15)))
    assert utility_at(steep, 10_000) == 0.0  # exp(49,985) would overflow
    assert utility_at(Utility(80.0, 0.0, 3.0), 10_000) == 40.0
    durations = np.array([0, 1, 3, 50, 10_000])
    np.testing.assert_allclose(
        utility_over(steep, durations), [utility_at(steep, d) for d in durations.tolist()], rtol=1e-14
    )


def test_a_job_may_use_the_slot_that_begins_at_or_after_its_arrival():
    assert [arrival_slot(ms, 1_000) for ms in (0, 1, 1_000, 1_001)] == [0, 1, 1, 2]
    assert [duration_slots(done, 500, 1_000) for done in (2_000, 2_001, 4_000)] == [0, 1, 2]


def test_room_counts_units_over_the_servers_of_a_role():
    """3 and 2 GPUs at 2 a unit: one each; in a world without GPUs the 8 vCPUs of each decide."""
    machines = cluster(worker_server("w0", 3), worker_server("w1", 2), ps_server("s0"))
    demand = (2_000, 1_000, 0, 0, 0)
    assert Room(machines).places("worker", demand, 99) == 2
    assert Room(machines, limits=("cpu",)).places("worker", demand, 99) == 16
    assert Room(machines).places("ps", (0, 0, 0, 0, 0), 1) == UNLIMITED


def test_each_amount_may_exist_and_yet_no_server_has_them_all():
    machines = cluster(worker_server("w0", 4), worker_server("w1", 0))
    reason = Room(machines, {"worker": [0, 1], "ps": []}).refuses("worker", (4_000, 9_000, 0, 0, 0))
    assert reason is not None
    assert (reason.code, reason.values["resource"]) == ("fits_nowhere", "cpu")
