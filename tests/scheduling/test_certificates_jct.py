"""Bounds on the total completion time: never above the optimum, however the duals are chosen; and A_online held against the optimum."""

from dataclasses import replace

import numpy as np
import pytest

from scheduling.certificates_jct import certify, isolated, ratio, recheck
from scheduling.model import Certificate, Cluster, Job, ModelError, Server
from scheduling.workloads import generate
from tests.scheduling.oracle_a_online import optimum
from tests.scheduling.test_a_online import bars_of, job, machine, run, world


def tiny(seed):
    """1 to 3 jobs of 1 or 2 chunks on 1 to 3 workers of one type, with or without the cloud."""
    rng = np.random.default_rng(seed)
    servers = [
        Server(f"s{i}", "edge", (0, 0, 0, 0, 0), worker_lanes={"a": 1}, ps_lanes={"x": 1}) for i in range(int(rng.integers(1, 4)))
    ]
    jobs = [
        Job(
            f"j{i}", int(at_ms), epochs=1, num_chunks=int(rng.integers(1, 3)), minibatches_per_chunk=1, minibatch_ms=float(rng.integers(1, 7)),
            worker_type="a", ps_type="x", upload_ms=tuple(rng.integers(0, 4, size=len(servers)).tolist()),
            cloud_upload_ms=int(rng.integers(4, 12)), gradient_mb=float(rng.choice([0.0, 0.125])), worker=(0, 0, 0, 0, 2_000),
        )
        for i, at_ms in enumerate(sorted(rng.integers(0, 8, size=int(rng.integers(1, 4))).tolist()))
    ]  # fmt: skip
    return Cluster("tiny", 1, tuple(servers), None, unlimited_cloud=bool(seed % 2)), jobs


def outcome(cluster, jobs, name):
    events = run(cluster, jobs, name)
    return {e.data["job"]: e.at_ms for e in events if e.kind == "job_completed"}, bars_of(events)


def total(jobs, completions):
    return sum(at_ms - jobs[number].arrival_ms for number, at_ms in completions.items())


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 68), marks=pytest.mark.slow)], ids=["8", "60"])
def test_against_the_optimum(seeds):
    """Both bounds hold, A_online is within 1.1 of the optimum on average, and the certificate says so nearly as well."""
    ratios, proved = [], []
    for seed in seeds:
        cluster, jobs = tiny(seed)
        name = "a_online" if cluster.unlimited_cloud else "a_online_edge"
        completions, bars = outcome(cluster, jobs, name)
        best = optimum(cluster, jobs, max(completions.values()))
        found = certify(cluster, jobs, completions, bars)
        assert found.bound <= best + 1e-6 <= found.achieved + 2e-6
        assert found.achieved == total(jobs, completions)
        assert recheck(cluster, jobs, sorted(completions), found) == found.bound
        rng = np.random.default_rng(seed)
        edges = np.arange(0, 30, int(rng.integers(1, 5)))
        some = {
            "edges": edges,
            "beta": {"a": rng.uniform(0, 1, (len(edges) - 1, len(cluster.servers)))},
            "a": rng.uniform(0, 20, len(jobs)),
        }
        assert recheck(cluster, jobs, sorted(completions), Certificate("jct_lb", 0.0, 0.0, some)) <= best + 1e-6
        gang, gang_bars = outcome(cluster, [replace(job, requested_workers=2) for job in jobs], "srtf")
        moved = certify(cluster, jobs, gang, gang_bars, gangs=True)
        assert moved.bound <= total(jobs, gang) + 1e-6
        ratios.append(found.achieved / best)
        proved.append(found.achieved / found.bound)
    assert np.mean(ratios) <= 1.1
    assert max(ratios) <= 1.5
    assert np.mean(proved) <= 1.25


def test_jobs_alone_are_optimal_and_certified_so():
    """One job of three chunks of 5 ms on two workers: 10 ms; in the cloud it would be 20 + 5."""
    cluster = world(machine(workers=2), cloud=True)
    jobs = [job("a", 3, 5, chunks=3, cloud=20)]
    found = certify(cluster, jobs, *outcome(cluster, jobs, "a_online"))
    assert (found.kind, found.achieved, found.bound, ratio(found)) == ("jct_iso", 10.0, 10.0, 1.0)
    assert isolated(cluster, jobs, [0], gangs=True) == 7.0, "spread over both workers"


def test_a_crowd_is_bounded_by_its_load():
    """40 equal jobs at once on one worker: the bound by load wins and is near the 820 x 5 ms of any order."""
    cluster = world(machine())
    jobs = [job(f"j{i}", 0, 5) for i in range(40)]
    found = certify(cluster, jobs, *outcome(cluster, jobs, "a_online_edge"))
    assert (found.kind, found.achieved) == ("jct_lb", 4_100.0)
    assert 0.9 <= ratio(found) <= 1


def test_duals_that_are_none_are_refused():
    cluster, jobs = tiny(3)
    bad = {"edges": np.arange(3), "beta": {"a": np.full((2, len(cluster.servers)), -1.0)}, "a": [1.0] * len(jobs)}
    with pytest.raises(ModelError, match="beta of type a must be >= 0"):
        recheck(cluster, jobs, [0], Certificate("jct_lb", 0.0, 0.0, bad))
    with pytest.raises(ModelError, match="edges must ascend"):
        recheck(cluster, jobs, [0], Certificate("jct_lb", 0.0, 0.0, bad | {"edges": np.array([2, 1])}))


def test_a_realistic_run():
    """40 jobs with the cloud: nearly all is proved."""
    cluster, jobs = generate("a-online", num_jobs=40, num_servers=20, seed=1, span_hours=500)
    found = certify(cluster, jobs, *outcome(cluster, jobs, "a_online"))
    assert 0.8 <= ratio(found) <= 1
