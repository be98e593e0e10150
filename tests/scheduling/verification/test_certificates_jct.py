"""Bounds on the total completion time: never above the optimum, whatever the duals; A_online against the optimum."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from scheduling.kernel.execution_model import Outcome, share_of_lower_bound
from scheduling.kernel.registry import build
from scheduling.model.bars import CLOUD, SERVER
from scheduling.model.values import Certificate, Cluster, Job, ModelError, Server
from scheduling.typed_workers.certificate import certify, isolated, recheck
from scheduling.typed_workers.workers import chunk_times
from scheduling.workloads import generate
from tests.scheduling.builders_typed_workers import bars_of, job, machine, run, world
from tests.scheduling.typed_workers.oracle_a_online import optimum


def tiny(seed):
    """1 to 3 jobs of 1 or 2 chunks on 1 to 3 workers of one type, with or without the cloud."""
    rng = np.random.default_rng(seed)
    servers = [
        Server(f"s{i}", "edge", (0, 0, 0, 0, 0), worker_lanes={"a": 1}, ps_lanes={"x": 1})
        for i in range(int(rng.integers(1, 4)))
    ]
    jobs = [
        Job(
            f"j{i}", int(at_ms), epochs=1, num_chunks=int(rng.integers(1, 3)), minibatches_per_chunk=1,
            minibatch_ms=float(rng.integers(1, 7)), worker_type="a", ps_type="x",
            upload_ms=tuple(rng.integers(0, 4, size=len(servers)).tolist()), cloud_upload_ms=int(rng.integers(4, 12)),
            gradient_mb=float(rng.choice([0.0, 0.125])), worker=(0, 0, 0, 0, 2_000),
        )
        for i, at_ms in enumerate(sorted(rng.integers(0, 8, size=int(rng.integers(1, 4))).tolist()))
    ]  # fmt: skip
    return Cluster("tiny", 1, tuple(servers), None, unlimited_cloud=bool(seed % 2)), jobs


def outcome(cluster, jobs, name):
    events = run(cluster, jobs, name)
    return {e.data["job"]: e.at_ms for e in events if e.kind == "job_completed"}, bars_of(events)


def total(jobs, completions):
    return sum(at_ms - jobs[number].arrival_ms for number, at_ms in completions.items())


def freely_moving(cluster, jobs):
    """Least total completion time if work may move between edge workers at every ms, one worker a chunk: exhaustive."""
    in_cloud = [row.cloud_upload_ms + chunk_times(row).local if cluster.unlimited_cloud else None for row in jobs]
    last_ms = max(row.arrival_ms for row in jobs)

    @cache
    def rest(now, left):
        """Total of what is still to come; left: of each job the ms that each of its chunks needs, the longest first."""
        open_jobs = [j for j, chunks in enumerate(left) if any(chunks)]
        if not open_jobs:
            return 0
        if now < last_ms and all(jobs[j].arrival_ms > now for j in open_jobs):
            return rest(now + 1, left)
        waiting = sum(1 for j in open_jobs if jobs[j].arrival_ms <= now)
        choices = []  # a worker serves any job that has reached it, or none
        for w in range(len(cluster.servers)):
            choices.append([None, *(j for j in open_jobs if now >= jobs[j].arrival_ms + jobs[j].upload_ms[w])])
        found = []
        for served in {tuple(sorted(j for j in chosen if j is not None)) for chosen in product(*choices)}:
            after = [list(chunks) for chunks in left]
            for j in set(served):
                for place in range(
                    min(served.count(j), len(after[j]))
                ):  # the longest first is best where work can move
                    after[j][place] = max(0, after[j][place] - 1)
            if served or now < last_ms + 4:
                found.append(rest(now + 1, tuple(tuple(sorted(chunks, reverse=True)) for chunks in after)))
        return waiting + min(found)

    totals = []
    for clouds in product(*([False] if ms is None else [False, True] for ms in in_cloud)):
        work = tuple(
            () if cloud else (chunk_times(row).remote,) * row.num_chunks
            for row, cloud in zip(jobs, clouds, strict=True)
        )
        totals.append(rest(0, work) + sum(ms for ms, cloud in zip(in_cloud, clouds, strict=True) if cloud))
    return min(totals)


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 68), marks=pytest.mark.slow)], ids=["8", "60"])
@pytest.mark.thorough
def test_against_the_optimum(seeds):
    """Both bounds hold, A_online is within 1.1 of the optimum on average, the certificate says so nearly as well."""
    ratios, proved = [], []
    for seed in seeds:
        cluster, jobs = tiny(seed)
        name = "a_online" if cluster.unlimited_cloud else "a_online_edge"
        completions, bars = outcome(cluster, jobs, name)
        best = optimum(cluster, jobs)
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


@pytest.mark.parametrize("seeds", [range(1, 17, 2), pytest.param(range(17, 77, 2), marks=pytest.mark.slow)],
                         ids=["8", "30"])  # fmt: skip
@pytest.mark.thorough
def test_a_schedule_without_the_cloud_is_bounded_among_such_schedules(seeds):
    """Never above the optimum without the cloud; the bound with the cloud is no greater."""
    for seed in seeds:
        cluster, jobs = tiny(seed)
        assert cluster.unlimited_cloud
        completions, bars = outcome(cluster, jobs, "a_online_edge")
        scheduler = build("a_online_edge", {})
        done = Outcome(range(len(jobs)), completions, 0.0, bars, 1)
        found, plain = scheduler.model.certify(scheduler, cluster, jobs, done, None)
        best = optimum(replace(cluster, unlimited_cloud=False), jobs)
        assert plain["edge_only"]["bound"] <= best + 1e-6
        assert plain["bound"] == found.bound <= plain["edge_only"]["bound"]


def test_the_bound_without_the_cloud_is_greater_where_the_cloud_would_help():
    """Eight jobs of 50 ms at 0 on one worker: 50 + 100 + ... + 400 = 1,800 ms; in the cloud each would take 70 ms."""
    cluster = world(machine(workers=1), cloud=True)
    jobs = [job(name, 0, 50, chunks=1, cloud=20) for name in "abcdefgh"]
    completions, bars = outcome(cluster, jobs, "a_online_edge")
    scheduler = build("a_online_edge", {})
    _, plain = scheduler.model.certify(scheduler, cluster, jobs, Outcome(range(8), completions, 0.0, bars, 1), None)
    assert plain["achieved"] == 1_800
    assert plain["bound"] <= 8 * 70
    assert 0.85 * 1_800 <= plain["edge_only"]["bound"] <= 1_800


def test_a_schedule_with_the_cloud_states_no_bound_of_edge_servers():
    cluster = world(machine(workers=1), cloud=True)
    jobs = [job(name, 3, 50, chunks=3, cloud=20) for name in "abc"]
    completions, bars = outcome(cluster, jobs, "a_online")
    scheduler = build("a_online", {})
    _, plain = scheduler.model.certify(scheduler, cluster, jobs, Outcome(range(3), completions, 0.0, bars, 1), None)
    assert (bars[:, SERVER] == CLOUD).any()
    assert "edge_only" not in plain


def test_jobs_alone_are_optimal_and_certified_so():
    """One job of three chunks of 5 ms on two workers: 10 ms; in the cloud it would be 20 + 5."""
    cluster = world(machine(workers=2), cloud=True)
    jobs = [job("a", 3, 5, chunks=3, cloud=20)]
    found = certify(cluster, jobs, *outcome(cluster, jobs, "a_online"))
    assert (found.kind, found.achieved, found.bound, share_of_lower_bound(found)) == ("jct_iso", 10.0, 10.0, 1.0)
    assert isolated(cluster, jobs, [0], gangs=True) == 8.0, "15 ms spread over both workers"


def test_the_work_of_a_gang_is_spread_over_no_more_workers_than_it_has_chunks():
    """One chunk of 5 ms on four workers takes 5 ms; a worker that is reached later takes less of the work."""
    four, two = world(machine(workers=4)), world(machine("s0"), machine("s1"))
    assert isolated(four, [job("a", 3, 5)], [0], gangs=True) == 5.0
    assert isolated(four, [job("a", 3, 5, chunks=2)], [0], gangs=True) == 5.0
    assert isolated(two, [replace(job("a", 0, 5, chunks=3), upload_ms=(0, 9))], [0], gangs=True) == 12.0, (
        "9 + 3 / 2 each"
    )
    assert isolated(two, [replace(job("a", 0, 5, chunks=3), upload_ms=(0, 30))], [0], gangs=True) == 15.0


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 200), marks=pytest.mark.slow)], ids=["40", "160"])
@pytest.mark.thorough
def test_no_bound_of_gangs_exceeds_the_optimum_of_work_that_moves_freely(seeds):
    """Every preemptive schedule in whole ms is tried; with whole chunks is one of them, so its optimum is no less."""
    tight = 0
    for seed in seeds:
        cluster, jobs = tiny(seed)
        jobs = [replace(row, minibatch_ms=min(row.minibatch_ms, 3.0)) for row in jobs[:2]]
        best = freely_moving(cluster, jobs)
        completions, bars = outcome(cluster, jobs, "a_online" if cluster.unlimited_cloud else "a_online_edge")
        assert best <= optimum(cluster, jobs) + 1e-6, "the greater freedom"
        bound = isolated(cluster, jobs, range(len(jobs)), gangs=True)
        assert bound <= best
        tight += bound == best
        gang, gang_bars = outcome(cluster, [replace(row, requested_workers=2) for row in jobs], "srtf")
        assert certify(cluster, jobs, gang, gang_bars, gangs=True).bound <= best + 1e-6
        assert certify(cluster, jobs, completions, bars, gangs=True).bound <= best + 1e-6
    assert tight >= len(seeds) // 5


def test_a_crowd_is_bounded_by_its_load():
    """40 equal jobs at once on one worker: the bound by load wins and is near the 820 x 5 ms of any order."""
    cluster = world(machine())
    jobs = [job(f"j{i}", 0, 5) for i in range(40)]
    found = certify(cluster, jobs, *outcome(cluster, jobs, "a_online_edge"))
    assert (found.kind, found.achieved) == ("jct_lb", 4_100.0)
    assert 0.9 <= share_of_lower_bound(found) <= 1


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
    assert 0.8 <= share_of_lower_bound(found) <= 1


def test_many_jobs_get_a_coarser_bound_that_says_so(monkeypatch):
    cluster, jobs = generate("a-online", num_jobs=60, num_servers=6, seed=2)
    completions, bars = outcome(cluster, jobs, "a_online")
    fine = certify(cluster, jobs, completions, bars)
    monkeypatch.setattr("scheduling.typed_workers.certificate.MAX_FINE_JOBS", 10)
    coarse = certify(cluster, jobs, completions, bars)
    assert "coarse" not in fine.duals
    assert coarse.duals["coarse"]
    assert 0.8 * fine.bound <= coarse.bound <= fine.achieved
    assert recheck(cluster, jobs, sorted(completions), coarse) == coarse.bound
