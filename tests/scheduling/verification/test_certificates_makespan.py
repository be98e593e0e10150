"""The makespan of groups is never below its bound; numbers by hand."""

from dataclasses import replace

import pytest

from scheduling.colocation.certificate import BOUND_TYPES, certify
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from scheduling.model.values import Cluster, Job, Server
from scheduling.workloads import generate

MACHINE = Server("m0", "edge", (0, 8_000, 32_000, 0, 1_100), nic_gbps=1.1)
CLUSTER = Cluster("c", 60_000, (MACHINE, replace(MACHINE, name="m1")))


def job(id_, arrival_ms, comp_ms, comm_ms, iterations):
    return Job(id_, arrival_ms, comp_machine_ms=comp_ms, comm_ms=comm_ms, iterations=iterations, iterations_per_epoch=1)


def bound(jobs, cluster=CLUSTER):
    found = certify(cluster, jobs, dict.fromkeys(range(len(jobs)), 10**9))
    return found.kind, round(found.bound, 3)


def test_work_is_spread_over_all_machines():
    """2 x 10 x 100 ms on two machines."""
    assert bound([job("a", 0, 100, 1, 10), job("b", 0, 100, 1, 10)]) == ("machine_work", 1_000.0)


def test_what_arrives_late_cannot_begin_before():
    assert bound([job("a", 0, 100, 1, 10), job("b", 5_000, 100, 0, 10)]) == ("machine_work", 5_500.0)


def test_a_job_alone_computes_and_communicates_in_turn():
    """10 iterations of 100 / 2 + 70 ms; a card twice as fast halves the 70."""
    assert bound([job("a", 0, 100, 70, 10)]) == ("longest_job", 1_200.0)
    fast = replace(CLUSTER, servers=(MACHINE, replace(MACHINE, name="m1", nic_gbps=2.2)))
    assert bound([job("a", 0, 100, 70, 10)], fast) == ("longest_job", 850.0)


def test_a_faster_machine_counts_for_more():
    fast = replace(CLUSTER, servers=(MACHINE, replace(MACHINE, name="m1", speed=3.0)))
    assert bound([job("a", 0, 100, 0, 10), job("b", 0, 100, 0, 10)], fast) == ("machine_work", 500.0)


def test_without_an_end_nothing_is_claimed():
    assert certify(CLUSTER, [job("a", 0, 100, 1, 10)], {}).bound == 0


@pytest.mark.parametrize("name", ["harmony", "isolated", "naive_colocation", "oracle"])
@pytest.mark.parametrize("seed", range(3))
def test_no_scheduler_is_below_the_bound(name, seed):
    cluster, jobs = generate("harmony", num_jobs=5, num_servers=16, seed=seed)
    ends = {e.data["job"]: e.at_ms for e in simulate(cluster, jobs, build(name), seed) if e.kind == "job_completed"}
    assert len(ends) == 5 or name == "naive_colocation", "only naive co-location cannot spill, so some jobs fit nowhere"
    found = certify(cluster, jobs, ends)
    assert found.kind in BOUND_TYPES
    assert 0 < found.bound <= found.achieved
