"""Harmony over whole runs: slots, sites, memory that runs out, servers that leave, utilization, its baselines."""

from dataclasses import replace

import numpy as np
import pytest

from scheduling.colocation import subtasks
from scheduling.colocation.workload import harmony
from scheduling.reporting.metrics import summarize
from scheduling.reporting.reasons import sentence
from scheduling.workloads import generate
from tests.scheduling.builders_colocation import A, B, job, machines
from tests.scheduling.colocation.grouped import SCHEDULERS, events_of, groups_at, verified
from tests.scheduling.rivals import completed, decided


def test_with_quantise_everything_is_decided_when_a_slot_begins():
    """Slots of 7 s: b comes at 25 s and begins at 28; a ends at 60 s, and what it leaves is dealt with at 63."""
    cluster = replace(machines(2), slot_ms=7_000)
    events = events_of(cluster, [job("a", *A, 6), job("b", *B, 6, arrival_s=25)], "harmony", {"quantise": True})
    assert [(at, index) for at, index, kind, _ in decided(events) if kind == "started"] == [(0, 0), (28_000, 1)]
    assert completed(events)[0] == 60_000
    assert sorted({e.at_ms for e in events if e.kind == "grouped"}) == [0, 28_000, 63_000, 91_000]
    # until 63 s b goes on at the group's pace: 3.5 iterations of 10 s, then 2.5 more, which it makes as fast alone
    assert completed(events)[1] == 88_000


def test_a_server_that_leaves_does_not_wait_for_the_slot():
    cluster = replace(machines(2, away={1: ((20_000, 900_000),)}), slot_ms=7_000)
    assert completed(events_of(cluster, [job("a", *A, 10)], "harmony", {"quantise": True})) == {0: 164_000}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_of_the_cloud_no_more_machines_are_used_than_its_pool_has(name):
    edge = machines(1, memory_gb=2)
    cloud = tuple(
        replace(edge.servers[0], name=f"c{i}", site="cloud", capacity=(0, 8_000, 64_000, 0, 1_100)) for i in range(6)
    )
    cluster = replace(edge, servers=(*edge.servers, *cloud))
    jobs = [job("large", 4, 2, 3, model_gb=30.0), job("other", 4, 2, 3, model_gb=30.0)]
    for most in (3, 100):
        parameters = {"cloud_pool": most, **({"partitions": 1} if name == "naive_colocation" else {})}
        events = events_of(cluster, jobs, name, parameters)
        used = {s for e in events if e.kind == "grouped" for s in e.data["servers"]}
        assert len(completed(events)) == 2
        assert used == set(range(1, 1 + min(most, 6)))
        verified(cluster, jobs, name, parameters)
    own = {"gavel": "gavel.no_type", "naive_colocation": "naive_colocation.partition_too_small"}
    code = own.get(name, "memory_too_small")
    assert {d[3] for d in decided(events_of(cluster, jobs, name, {"cloud_pool": 0}))} == {code}


def test_the_states_of_a_job_are_logged_with_its_group():
    """Two jobs are measured beside each other, then placed; their groups say so."""
    jobs = [job("a", *A, 10, input_gb=3.0), job("b", *B, 10, input_gb=3.0, model_gb=1.0)]
    events = events_of(machines(2), jobs, "harmony", {"profiling": "online"})
    first, later = [e.data for e in events if e.kind == "grouped" and e.data["jobs"]][:2]
    assert (first["jobs"], first["profiling"]) == ([0, 1], [1, 1])
    assert set(later["profiling"]) == {0}
    assert first["memory_gb"] == [pytest.approx(1.5 * 3 / 2), pytest.approx(1.5 * 4 / 2)]
    assert first["memory_used"] == pytest.approx((1.5 * 7 + 1.5 * 0.05 * 1.0) / 2 / 27.2)


def test_ratios_climb_an_epoch_at_a_time_and_nothing_else_is_said():
    """40 GB on two machines: from the least ratio without garbage collection, one step per epoch of 10 iterations."""
    jobs = [job("a", 16, 2, 400, input_gb=60.0)]
    events = events_of(machines(2), jobs, "harmony")
    logged = [
        (e.at_ms, e.data["disk_ratios"][0], e.data["pace_ms"][0])
        for e in events
        if e.kind == "grouped" and e.data["jobs"]
    ]
    assert sum(e.kind == "regrouped" for e in events) == 2  # at its arrival and at its end
    assert len(logged) > 3
    (begin, ratio, pace), (first, next_ratio, _) = logged[:2]
    assert first == begin + int(np.ceil(10 * pace - 1e-6))
    assert next_ratio == pytest.approx(ratio - 0.1)
    best = min(pace for _, _, pace in logged)
    assert logged[-1][2] == pytest.approx(best, rel=0.006)
    verified(machines(2), jobs, "harmony")


def test_memory_that_runs_out_costs_the_epoch_of_the_whole_group():
    """Fixed ratios do not look ahead. Two jobs of 40 GB without spilling fill two machines 2.2 times."""
    jobs = [job("a", *A, 30, input_gb=20.0), job("b", *B, 30, arrival_s=155, input_gb=40.0)]
    events = events_of(machines(2), jobs, "harmony", {"memory": "fixed", "disk_ratio": 0.0})
    lost = [
        (e.at_ms, e.data["job"], e.data["values"])
        for e in events
        if e.kind == "decided" and e.data["code"] == "out_of_memory"
    ]
    assert [(at, index, values["iterations"]) for at, index, values in lost] == [(155_000, 0, 10.0)]
    assert lost[0][2]["lost"] == pytest.approx(5.5)
    assert set(completed(events)) == {0, 1}
    verified(machines(2), jobs, "harmony", {"memory": "fixed", "disk_ratio": 0.0})


def test_a_server_that_leaves_takes_nothing_but_its_part():
    """Two machines until 20 s, then one: two iterations of 10 s, then eight of 18 s."""
    cluster = machines(2, away={1: ((20_000, 900_000),)})
    assert completed(events_of(cluster, [job("a", *A, 10)], "harmony")) == {0: 164_000}


def test_when_all_servers_leave_the_jobs_wait_for_them():
    cluster = machines(2, away={0: ((20_000, 50_000),), 1: ((20_000, 50_000),)})
    events = events_of(cluster, [job("a", *A, 6)], "harmony")
    assert [(at, kind) for at, _, kind, _ in decided(events)[1:]] == [
        (0, "started"),
        (20_000, "paused"),
        (50_000, "resumed"),
    ]
    assert completed(events) == {0: 90_000}


def test_the_horizon_cuts_what_is_not_done():
    events = events_of(replace(machines(2), horizon_slots=25), [job("a", *A, 6), job("b", *B, 2)], "harmony")
    assert completed(events) == {1: 20_000}
    assert decided(events)[-1] == (25_000, 0, "unfinished", "horizon")


def test_eq_1_holds_for_the_groups_of_whole_runs():
    """Against the subtasks, for every group there ever was, of its own workload and of another paper's."""
    errors = []
    workloads = [harmony("calibrated", 40, 50, seed, None, 60_000) for seed in range(4)]
    workloads += [generate("oasis", num_jobs=30, num_servers=20, seed=seed, horizon_slots=2_000) for seed in range(2)]
    for cluster, jobs in workloads:
        seen = set()
        for event in events_of(cluster, jobs, "harmony"):
            if event.kind == "grouped" and event.data["jobs"]:
                comp, comm = event.data["comp_ms"], event.data["comm_ms"]
                key = (*comp, *comm)
                if key not in seen and max(comm) > 0:
                    seen.add(key)
                    errors.append(abs(subtasks.mean_iteration_ms(comp, comm) / event.data["iteration_ms"] - 1))
    assert len(errors) > 100
    assert max(errors) <= 0.005


def test_the_makespans_are_as_the_utilizations_of_the_cpus():
    """Both schedulers do the same work, so their makespans are inversely proportional to their CPU utilizations.

    The CPU utilizations are computed from those of the logged groups, by Eq. (3).
    """
    cluster, jobs = harmony("calibrated", 80, 100, 1, None, 60_000)
    measured = {}
    for name in ("isolated", "harmony"):
        events = events_of(cluster, jobs, name)
        makespan = summarize(events, cluster, jobs)["makespan_ms"]
        busy, standing = 0.0, {}
        for event in events:
            if event.kind == "grouped":
                since, data = standing.get(event.data["group"], (0, None))
                if data is not None:
                    busy += data["cpu_utilization"] * data["machines"] * (event.at_ms - since)
                standing[event.data["group"]] = event.at_ms, event.data
        measured[name] = makespan, busy / makespan / 100
    ratio = measured["isolated"][0] / measured["harmony"][0]
    assert ratio == pytest.approx(measured["harmony"][1] / measured["isolated"][1], rel=0.05)
    assert 1.45 <= ratio <= 1.75


@pytest.mark.parametrize("name", ["harmony", "isolated", "oracle", "gavel"])
def test_the_cpus_are_used_for_the_work_of_the_jobs_and_nothing_else(name):
    """Comparison of the CPU utilization with a value that is computed without the groups in the log.

    The value is the sum over all jobs of iterations x computation time on one machine, divided by
    (machines x makespan).
    """
    cluster, jobs = harmony("calibrated", 20, 16, 3, None, 60_000)
    found = summarize(events_of(cluster, jobs, name), cluster, jobs)
    assert found["completed"] == len(jobs)
    work = sum(job.iterations * job.comp_machine_ms for job in jobs)
    expected = work / (len(cluster.servers) * found["makespan_ms"])
    assert found["groups"]["cpu_utilization"] == pytest.approx(expected, rel=1e-5)


def test_isolated_jobs_get_machines_where_their_cpus_are_used_best():
    """Of 6 machines a (10 s on one machine, 1 s sent) and b (10 s, 3 s) share 4 and 2: a gains more by the fifth."""
    events = events_of(
        machines(6), [job("a", 10, 1, 5), job("b", 10, 3, 5), job("c", 1, 1, 1)], "isolated", {"at_once": 2}
    )
    used = {data["jobs"][0]: data["machines"] for data in groups_at(events, 0).values()}

    def cpu(first, second):
        return sum(m * comp / (comp + m * comm) for m, comp, comm in ((first, 10, 1), (second, 10, 3)))

    best = max(range(1, 6), key=lambda first: cpu(first, 6 - first))
    assert used == {0: best, 1: 6 - best}


def test_naive_partitions_are_filled_in_turn():
    jobs = [job(f"j{i}", 2, 2, 5) for i in range(5)]
    events = events_of(machines(5), jobs, "naive_colocation", {"partitions": 2, "jobs": 2})
    standing = groups_at(events, 0)
    assert [(g["servers"], g["jobs"]) for _, g in sorted(standing.items())] == [([0, 1, 2], [0, 2]), ([3, 4], [1, 3])]
    assert standing[0]["iteration_ms"] is None


@pytest.mark.parametrize("forced", [False, True])
def test_a_job_too_large_for_every_naive_partition_is_told_the_largest_one(forced):
    """1.5 x 60 GB fit the 4 x 32 x 0.85 GB of all machines, and not the half of them that is a partition."""
    parameters = {"partitions": 2, "forced": forced}
    cluster, jobs = machines(4), [job("large", 4, 4, 3, input_gb=60.0), job("small", *A, 3)]
    events = events_of(cluster, jobs, "naive_colocation", parameters)
    refused = next(e.data for e in events if e.kind == "decided" and e.data["kind"] == "rejected")
    assert refused["job"] == 0
    assert sentence(refused["code"], refused["values"]) == (
        "Rejected: needs 90 GB of memory, and spilling to disk is disabled; the largest partition has 54.4 GB."
    )
    assert list(completed(events)) == [1]


def test_the_largest_naive_partition_is_the_one_with_the_most_memory():
    """Two machines of 8 GB come first; the two of 32 GB hold the job."""
    cluster = machines(4)
    less = tuple(replace(s, capacity=(0, 8_000, 8_000, 0, 1_100)) for s in cluster.servers[:2])
    mixed = replace(cluster, servers=(*less, *cluster.servers[2:]))
    events = events_of(mixed, [job("a", *A, 3, input_gb=30.0)], "naive_colocation", {"partitions": 2})
    assert list(completed(events)) == [0]
    assert groups_at(events, 0)[1]["servers"] == [2, 3]
