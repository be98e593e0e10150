"""DRF worked by hand; and what holds for every schedule of it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.algorithms.drf import Drf
from scheduling.model.bars import Placement
from scheduling.model.values import Job, Server, Utility
from scheduling.reporting.reasons import sentence
from tests.cases import cases
from tests.scheduling.builders import random_away, with_away
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.rivals import (
    REFUSED,
    bars_of,
    completed,
    cuts_of,
    decided,
    events_of,
    in_pieces,
    verified,
    workers,
    workload,
)

TWO_SERVERS = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"))
ONE = Server("one", "edge", (0, 9_000, 18_000, 0, 0))


def task(name, worker, ps=(0, 0, 0, 0, 0), **changes):
    """A job of PD-ORS whose worker does a sample in 1 s, and has 18 to do: 18 worker-slots."""
    fields = {"epochs": 1, "num_samples": 18, "global_batch": 9, "workers_per_ps": 9, "sample_ms": 1_000.0,
              "gradient_mb": 0.0, "internal_gbps": 1.0, "external_gbps": 1.0,
              "utility": Utility(10.0, 0.0, 1.0)}  # fmt: skip
    return Job(name, 0, worker=worker, ps=ps, **(fields | changes))


def test_the_example_of_the_paper():
    """Ghodsi et al., Section 4.1: 9 CPUs and 18 GB; A wants (1 CPU, 4 GB), B (3 CPUs, 1 GB).

    A gets 3 tasks and B 2: 12/18 and 6/9.

    A has 18 worker-slots: 6 slots with 3 workers. B had 2 workers for 6 slots and has 6 worker-slots left: 3 workers, 2
    slots.
    """
    events = events_of(
        cluster(ONE, horizon=20), [task("A", (0, 1_000, 4_000, 0, 0)), task("B", (0, 3_000, 1_000, 0, 0))], "drf"
    )
    assert workers(events, 0) == [(0, 6_000, 3)]
    assert workers(events, 1) == [(0, 6_000, 2), (6_000, 8_000, 3)]
    assert completed(events) == {0: 6_000, 1: 8_000}
    started = [e.data["values"] for e in events if e.kind == "decided"]
    assert started == [
        {"workers": 3, "ps": 1, "jobs": 2, "share": 12 / 18, "resource": "memory"},
        {"workers": 2, "ps": 1, "jobs": 2, "share": 6 / 9, "resource": "cpu"},
    ]
    assert sentence("fair_share", started[0]) == (
        "Allocated 3 workers and 1 parameter server, 66.67 % of all memory: its share among 2 "
        "jobs by dominant resource fairness."
    )
    assert "66.67 % of all vCPU:" in sentence("fair_share", started[1])
    assert "50.00 % of all GPU:" in sentence("fair_share", started[1] | {"share": 0.5, "resource": "gpu"})


def test_shares_change_when_a_job_comes_and_when_one_goes():
    """4 GPUs. a (8 worker-slots) has all 4; from 1 s on a and b have 2 each.

    b (2 worker-slots) is done at 2 s; a has 4 - 2 = 2 left.
    """
    events = events_of(TWO_SERVERS, [job("a", 0, workers=4, slots=2), job("b", 600, workers=2, slots=1)], "drf")
    assert workers(events, 0) == [(0, 1_000, 4), (1_000, 2_000, 2), (2_000, 3_000, 4)]
    assert workers(events, 1) == [(1_000, 2_000, 2)]
    assert bars_of(events)[1] == [Placement(1, 0, 1, 1_000, 2_000, 2), Placement(1, 1, 2, 1_000, 2_000, 1)]
    assert decided(events) == [(0, 0, "started", "fair_share"), (1_000, 1, "started", "fair_share")]


def test_nothing_is_planned_again_for_a_job_that_keeps_its_gang():
    """a can use 1 worker, and stays on w0 while b comes and goes."""
    events = events_of(TWO_SERVERS, [job("a", 0, workers=1, slots=5), job("b", 900, workers=1)], "drf")
    assert [(e.at_ms, *e.data["keys"]) for e in events if e.kind == "plan_changed"] == [(0, 0), (1_000, 1)]
    assert bars_of(events)[1][0].server == 1


def test_the_last_to_come_waits_and_the_first_is_preempted_for_nobody():
    """1 GPU for three jobs of equal arrival: the share of each is 0 before the first worker, so order decides."""
    events = events_of(
        cluster(worker_server("w", gpus=1), ps_server("s")), [job("a", slots=2), job("b"), job("c")], "drf"
    )
    assert completed(events) == {0: 2_000, 1: 3_000, 2: 4_000}
    assert {code for _, _, kind, code in decided(events) if kind == "started"} == {"fair_share"}


def test_a_small_job_takes_the_place_of_a_large_one_and_gives_it_back():
    """b arrives when a's one worker holds 2 of 3 GPUs: now a is first again, c (1 GPU) second; b finds no room."""
    machine = cluster(worker_server("w", gpus=3), ps_server("s"))
    big = {"worker": (2_000, 1_000, 1_000, 0, 1_000)}
    jobs = [job("a", 0, slots=3, **big), job("b", 1_000, slots=1, **big), job("c", 1_000, slots=4)]
    events = events_of(machine, jobs, "drf")
    assert workers(events, 0) == [(0, 3_000, 1)]
    assert workers(events, 2) == [(1_000, 5_000, 1)]
    assert workers(events, 1) == [(3_000, 4_000, 1)]


def test_who_stood_on_a_server_that_leaves_waits_or_takes_the_place_of_another():
    """a and c stand on w0, b and d on w1, which leaves within slot 2 and returns at 4 s: a and b share w0 meanwhile."""
    machines = with_away(TWO_SERVERS, {"w1": ((2_500, 4_000),)})
    events = events_of(machines, [job(name, workers=1, slots=4) for name in "abcd"], "drf")
    assert workers(events, 0) == [(0, 4_000, 1)]
    assert workers(events, 1) == [(0, 2_000, 1), (2_000, 4_000, 1)]
    assert workers(events, 2) == [(0, 2_000, 1), (4_000, 6_000, 1)]
    assert [row for row in decided(events) if row[2] != "started"] == [
        (2_000, 2, "preempted", "no_share"), (2_000, 3, "preempted", "server_gone"),
        (4_000, 2, "resumed", "fair_share"), (4_000, 3, "resumed", "fair_share"),
    ]  # fmt: skip


def test_in_the_world_of_pd_ors_the_work_is_kept_in_samples_and_one_server_is_faster():
    """100 samples of 100 ms; 1 MB both ways: 1 ms at 16 Gbps, 100 ms at 0.16. One server: 10,100 ms, two: 20,000 ms."""
    shared = {"num_samples": 100, "global_batch": 1, "sample_ms": 100.0, "gradient_mb": 1.0, "workers_per_ps": 1,
              "internal_gbps": 16.0, "external_gbps": 0.16}  # fmt: skip
    big = Server("big", "edge", (0, 2_000, 0, 0, 0))
    alone = events_of(
        cluster(big, horizon=None), [task("a", (0, 1_000, 0, 0, 0), (0, 1_000, 0, 0, 0), **shared)], "drf"
    )
    assert completed(alone) == {0: 11_000}
    halves = [replace(big, name=name, capacity=(0, 1_000, 0, 0, 0)) for name in ("h0", "h1")]
    apart = events_of(
        cluster(*halves, horizon=None), [task("a", (0, 1_000, 0, 0, 0), (0, 1_000, 0, 0, 0), **shared)], "drf"
    )
    assert completed(apart) == {0: 20_000}


def test_what_the_horizon_cuts_off_is_worth_nothing():
    events = events_of(cluster(worker_server("w"), ps_server("s"), horizon=3), [job("a", slots=5), job("b")], "drf")
    assert [e.data["utility"] for e in events if e.kind == "job_completed"] == [5.0]
    assert decided(events)[-1] == (3_000, 0, "unfinished", "horizon")


@pytest.mark.parametrize(("changes", "code"), REFUSED)
def test_it_refuses_what_can_never_run_and_goes_on(changes, code):
    events = events_of(TWO_SERVERS, [job("a", **changes), job("b")], "drf")
    assert [row[1:] for row in decided(events)] == [(0, "rejected", code), (1, "started", "fair_share")]


def test_a_worker_that_leaves_no_room_for_its_parameter_server_is_refused():
    machine = cluster(Server("one", "edge", (0, 1_000, 0, 0, 0)))
    events = events_of(machine, [task("a", (0, 1_000, 0, 0, 0), (0, 500, 0, 0, 0))], "drf")
    assert [(e.data["code"], e.data["values"]) for e in events if e.kind == "decided"] == [
        ("gang_fits_nowhere", {"workers": 1, "ps": 1})
    ]


def test_a_worker_that_needs_nothing_takes_no_end_of_workers():
    """It has at most MAX_WORKERS of them."""
    events = events_of(
        cluster(ONE, horizon=None), [task("a", (0, 0, 0, 0, 0), num_samples=2_000, global_batch=10**6)], "drf"
    )
    assert workers(events, 0) == [(0, 2_000, 1_000)]


@pytest.mark.parametrize("world", ["oasis", "pd-ors"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.thorough
def test_generated_workloads_are_verified_with_and_without_absences(world, seed):
    machines, jobs = workload(world, seed=seed)
    for machine in (machines, random_away(machines, np.random.default_rng(seed), 40)):
        events = verified(machine, jobs, "drf", seed)
        assert completed(events)
        assert in_pieces(machine, jobs, "drf", cuts_of(events, seed), seed) == events


@settings(max_examples=cases(60, 10))
@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 5), st.integers(1, 6)), max_size=15),
    st.sampled_from([None, 12]),
    st.lists(st.integers(1, 40), max_size=3),
)
def test_nobody_has_two_workers_more_than_another_could_use(rows, horizon, cuts):
    """All workers are alike here, so fairness is a difference of at most one while the poorer job could use more."""
    machines = cluster(worker_server("w0"), worker_server("w1", gpus=3), ps_server("s0"), horizon=horizon)
    jobs = [job(f"j{i}", at, workers=n, slots=k) for i, (at, n, k) in enumerate(sorted(rows))]
    events = events_of(machines, jobs, "drf")
    assert in_pieces(machines, jobs, "drf", cuts) == events
    ends = completed(events)
    at = {
        (bar.job, ms): 0
        for bars in bars_of(events).values()
        for bar in bars
        for ms in range(bar.start_ms, bar.end_ms, 1_000)
    }
    for bars in bars_of(events).values():
        for bar in bars:
            if bar.role == 0:
                for ms in range(bar.start_ms, bar.end_ms, 1_000):
                    at[bar.job, ms] += bar.count
    for ms in range(0, max(ends.values(), default=0), 1_000):
        active = [i for i, row in enumerate(jobs) if row.arrival_ms <= ms < ends.get(i, 10**9)]
        counts = {i: at.get((i, ms), 0) for i in active}
        for poor in active:
            if counts[poor] < jobs[poor].num_chunks:
                assert all(counts[rich] <= counts[poor] + 1 for rich in active)
        assert sum(counts.values()) == min(5, sum(jobs[i].num_chunks for i in active))
    if horizon is None:
        assert len(ends) == len(jobs)
    for i in ends:
        assert (
            sum((end - start) // 1_000 * n for start, end, n in workers(events, i))
            >= jobs[i].num_chunks * jobs[i].minibatches_per_chunk
        )


def test_only_jobs_that_get_workers_cost_anything_in_a_filling(monkeypatch):
    """Of a long queue only the first jobs have room; the shares of the others are never computed."""
    asked = []
    demands = Drf._demands
    monkeypatch.setattr(Drf, "_demands", lambda self, job, total: asked.append(job) or demands(self, job, total))
    jobs = [task(f"j{number}", (0, 3_000, 1_000, 0, 0), num_samples=3) for number in range(60)]
    events = events_of(cluster(ONE, horizon=200), jobs, "drf")
    assert len(completed(events)) == 60
    fillings = {e.at_ms for e in events if e.kind == "decided"}
    assert len(asked) <= 2 * 3 * len(fillings), "three jobs at a time, for their shares and for the reasons"
