"""Slowdowns of jobs of typed workers, worked by hand."""

from dataclasses import replace

import pytest

from scheduling.model.limits import MAX_INT
from scheduling.typed_workers.metrics import slowdowns
from tests.scheduling.builders_typed_workers import job, machine, world

JOBS = [job(name, at, 100, chunks=4, upload=(0, 0), cloud=20) for name, at in (("a", 0), ("b", 999), ("c", 1_000))]
JCT = {0: 480, 1: 480, 2: 480}


def test_jobs_are_measured_by_the_cluster_in_which_they_arrive():
    """Alone, in the cloud: 20 + 100 = 120 ms. On one worker: 4 x 100 = 400 ms."""
    cloud, none = world(machine(), cloud=True), world(machine())
    assert slowdowns([(0, cloud)], JOBS, JCT)["mean_slowdown"] == pytest.approx(4)
    found = slowdowns([(0, cloud), (1_000, none)], JOBS, JCT)
    assert found["mean_slowdown"] == pytest.approx((4 + 4 + 1.2) / 3)
    assert found["median_slowdown"] == pytest.approx(4)


def test_a_removed_server_has_no_worker_for_a_job_alone():
    """Two workers: 2 rounds, 200 ms; with one of them removed for good: 400 ms. An outage does not count."""
    first, second = machine("s0"), machine("s1")
    removed = replace(second, away=((1_000, MAX_INT),))
    failed = replace(second, away=((1_000, 9_000),))
    both = world(first, second)
    assert slowdowns([(0, both), (1_000, world(first, failed))], JOBS, JCT)["mean_slowdown"] == pytest.approx(2.4)
    found = slowdowns([(0, both), (1_000, world(first, removed))], JOBS, JCT)["mean_slowdown"]
    assert found == pytest.approx((2.4 + 2.4 + 1.2) / 3)
