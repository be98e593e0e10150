"""Dorm worked by hand; its program against all possibilities; and what holds for every schedule of it."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.reporting.reasons import sentence
from scheduling.slotted.solvers import program as solver
from scheduling.slotted.solvers.dorm_program import Demands, Pool, dominant_shares, fair_shares, share_out
from tests.cases import cases
from tests.scheduling.builders import random_away, with_away
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.rivals import (
    REFUSED,
    completed,
    cuts_of,
    decided,
    events_of,
    in_pieces,
    verified,
    workers,
    workload,
)

TWO_SERVERS = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=20)  # 4 GPUs


def demands(worker, ps=None, most=9, need=1, give=9, before=0):
    count = len(worker)
    full = [np.broadcast_to(np.array(value), count).astype(np.int64) for value in (most, need, give, before)]
    return Demands(np.array(worker), np.array(ps) if ps is not None else np.zeros_like(np.array(worker)), *full)


def drawn_demands(rng, count, least):
    """Random demands; a worker needs at least so much of each of two resources."""
    return Demands(
        rng.integers(least, 4, (count, 2)), rng.integers(0, 3, (count, 2)), rng.integers(1, 5, count),
        rng.integers(1, 3, count), rng.integers(2, 5, count), rng.integers(0, 3, count),
    )  # fmt: skip


def pool(jobs, capacity):
    """One large server that holds both roles."""
    room = [np.full(len(jobs.most), 1_000) for _ in range(2)]
    return Pool(np.array(capacity), *room)


def test_fair_shares_are_those_of_divisible_drf():
    """9 CPUs, 18 GB; (1, 4) and (3, 1) per worker: x / 4.5 = y / 3 and x + 3 y = 9 give x = 3, y = 2: 2/3 each."""
    jobs = demands([[1, 4], [3, 1]])
    total = np.array([9, 18])
    dominant = dominant_shares(jobs, total)
    assert dominant.tolist() == [4 / 18, 3 / 9]
    assert fair_shares(jobs, total, dominant) == pytest.approx([2 / 3, 2 / 3])


def test_fair_shares_go_on_where_there_is_room():
    """Two jobs want CPUs (10), one of them at most 2; the third memory alone, and has it all; the fourth nothing."""
    jobs = demands([[1, 0], [1, 0], [0, 1], [0, 0]], most=[2, 100, 100, 100])
    total = np.array([10, 20])
    assert fair_shares(jobs, total, dominant_shares(jobs, total)) == pytest.approx([0.2, 0.8, 1.0, 0.0])


def test_the_most_useful_job_gets_most_within_fairness():
    """10 CPUs and 10 GB; a's worker takes (2, 0), b's (1, 1), so fair shares are 1/2 each: 2.5 and 5 workers.

    Every worker of b instead of half a worker of a uses 1 GB more: [0, 10] is unfair by 1, [1, 8] by 0.6, [2, 6] by
    0.2.
    """
    jobs = demands([[2, 0], [1, 1]], most=10, give=10)
    machine = [pool(jobs, (10, 10))]
    assert share_out(jobs, machine, 1.0, 0, 0.0, 100, 60).workers.tolist() == [0, 10]
    assert share_out(jobs, machine, None, 0, 0.0, 100, 60).workers.tolist() == [0, 10]
    assert share_out(jobs, machine, 0.65, 0, 0.0, 100, 60).workers.tolist() == [1, 8]
    assert share_out(jobs, machine, 0.25, 0, 0.0, 100, 60).workers.tolist() == [2, 6]
    assert share_out(jobs, machine, 0.05, 0, 0.0, 100, 60).status == "infeasible"


def test_of_the_running_jobs_only_so_many_change():
    """a and b have 3 workers each of 6 CPUs; c comes. With no change allowed it gets none; with one, b's or a's."""
    jobs = demands([[2], [2], [2]], most=3, before=[3, 3, 0])
    machine = [pool(jobs, (12,))]
    assert share_out(jobs, machine, None, 0, 0.0, 100, 60).workers.tolist() == [3, 3, 0]
    # fair is 1/3: [3, 3, 0] is unfair by 2/3, [3, 2, 1] by 1/3
    fair = share_out(jobs, machine, 0.4, 1, 0.0, 100, 60).workers
    assert sorted(fair.tolist()) == [1, 2, 3]
    assert fair[2] >= 1
    assert share_out(jobs, machine, 0.4, 0, 0.0, 100, 60).status == "infeasible"


@pytest.mark.parametrize("seed", range(40))
def test_a_narrowed_program_stays_within_the_bounds_and_tells_its_gap(seed):
    """Against the whole program: never better, and no further from it than it says."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 7))
    jobs = drawn_demands(rng, count, 1)
    capacity = rng.integers(8, 20, 2)
    machine, changes = [pool(jobs, capacity)], int(rng.integers(0, 3))
    whole, narrowed = (share_out(jobs, machine, 1.0, changes, 0.0, 1_000, 60, narrow) for narrow in (False, True))
    if whole.workers is None:
        assert narrowed.workers is None
    elif narrowed.workers is not None:
        best, used = (
            ((n @ jobs.worker + -(-n * jobs.need // jobs.give) @ jobs.ps) / capacity).sum()
            for n in (whole.workers, narrowed.workers)
        )
        assert used <= best + 1e-9
        assert best <= used * (1 + narrowed.gap) + 1e-6
        runs = jobs.before > 0
        assert ((narrowed.workers != jobs.before) & runs).sum() <= changes


def test_a_job_that_needs_nothing_has_all_workers_it_can_use():
    jobs = demands([[0, 0], [1, 1]], most=[7, 9])
    assert share_out(jobs, [pool(jobs, (5, 9))], 1.0, 0, 0.0, 100, 60).workers.tolist() == [7, 5]


@pytest.mark.parametrize("seed", range(40))
def test_the_program_finds_the_best_of_all_possibilities(seed):
    """One shared server, exact gap: no vector of workers within the bounds uses more."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 4))
    jobs = drawn_demands(rng, count, 0)
    capacity = rng.integers(3, 12, 2)
    unfair, changes = float(rng.choice([0.2, 0.6, 2.0])), int(rng.integers(0, 3))
    answer = share_out(jobs, [pool(jobs, capacity)], unfair, changes, 0.0, 1_000, 60)
    dominant = dominant_shares(jobs, capacity)
    fair = fair_shares(jobs, capacity, dominant)
    runs = jobs.before > 0

    def used(numbers):
        ps = -(-numbers * jobs.need // jobs.give)
        load = numbers @ jobs.worker + ps @ jobs.ps
        allowed = (
            (load <= capacity).all() and np.abs(dominant * numbers - fair).sum() <= unfair + 1e-9
            and ((numbers != jobs.before) & runs).sum() <= changes
            and (numbers[dominant == 0] == jobs.most[dominant == 0]).all()
        )  # fmt: skip
        return (load / capacity).sum() if allowed else -1.0

    best = max(used(np.array(numbers)) for numbers in itertools.product(*(range(most + 1) for most in jobs.most)))
    if best < 0:
        assert answer.workers is None
        assert answer.status == "infeasible"
    else:
        assert used(answer.workers) == pytest.approx(best)


def test_a_job_alone_has_all_and_gives_room_to_the_next():
    """4 GPUs: a (8 worker-slots) has 4 of them; at 1 s b comes: the one running job may change, and 2 and 2 are fair.

    b is done at 2 s.
    """
    events = events_of(TWO_SERVERS, [job("a", workers=4, slots=2), job("b", 900, workers=2)], "dorm", theta1=0.01)
    assert workers(events, 0) == [(0, 1_000, 4), (1_000, 2_000, 2), (2_000, 3_000, 4)]
    assert workers(events, 1) == [(1_000, 2_000, 2)]
    first = next(e.data for e in events if e.kind == "decided")
    assert (first["kind"], first["code"]) == ("started", "shared_out")
    assert first["values"] == {"workers": 4, "ps": 2, "wanted": 4, "jobs": 1, "solver": "optimal", "gap": 0.0}
    assert sentence("shared_out", first["values"]) == (
        "Allocated 4 workers and 2 parameter servers; the solver assigned 4 workers, in an allocation of 1 job."
    )


def test_without_an_allocation_the_last_one_stays_and_the_reason_says_so():
    """No running job may change, and fairness wants b to have 2 of the 4 GPUs that a has: b waits until a is done."""
    events = events_of(
        TWO_SERVERS, [job("a", workers=4, slots=2), job("b", 900, workers=4)], "dorm", theta1=0.01, theta2=0.0
    )
    assert workers(events, 0) == [(0, 2_000, 4)]
    assert workers(events, 1) == [(2_000, 3_000, 4)]
    assert decided(events) == [
        (0, 0, "started", "shared_out"), (1_000, 1, "admitted", "allocation_kept"), (2_000, 1, "started", "shared_out"),
    ]  # fmt: skip
    values = next(e.data["values"] for e in events if e.data.get("code") == "allocation_kept")
    assert sentence("allocation_kept", values) == (
        "Queued: the solver found no allocation for 2 jobs. The last allocation, with 1 running, is kept. No "
        "allocation satisfies the bounds on unfairness and changes, so the last allocation is kept."
    )


@pytest.mark.parametrize(("status", "name"), [(1, "time"), (3, "failed"), (4, "limit")])
def test_a_solver_that_finds_nothing_is_reported_and_the_run_goes_on(monkeypatch, status, name):
    """It fails at the second of three events: b waits, a goes on, and at the third all is well again."""
    calls, real = [], solver.milp

    def milp(*args, **kwargs):
        calls.append(1)
        nothing = SimpleNamespace(status=status, x=None, mip_gap=None, mip_node_count=0)
        return nothing if len(calls) == 2 else real(*args, **kwargs)

    monkeypatch.setattr(solver, "milp", milp)
    events = events_of(TWO_SERVERS, [job("a", workers=4, slots=2), job("b", 900, workers=4)], "dorm")
    assert completed(events) == {0: 2_000, 1: 3_000}
    assert [e.data["values"]["solver"] for e in events if e.data.get("code") == "allocation_kept"] == [name]


def test_fairness_is_given_up_rather_than_idling_for_ever():
    """theta1 = 0 asks for shares of 1/2 of 3 GPUs, which no whole workers have."""
    machine = cluster(worker_server("w", gpus=3), ps_server("s"), horizon=None)
    events = events_of(machine, [job("a", workers=2), job("b", workers=2)], "dorm", theta1=0.0)
    assert len(completed(events)) == 2


def test_what_does_not_fit_the_servers_loses_workers():
    """Two servers of 3 GPUs hold 6 GPUs together, so 3 workers of 2 in the program's eyes; but one in each."""
    machine = cluster(worker_server("w0", gpus=3), worker_server("w1", gpus=3), ps_server("s"), horizon=None)
    big = {"worker": (2_000, 1_000, 1_000, 0, 1_000)}
    events = events_of(
        machine, [job("a", workers=1, slots=4, **big), job("b", workers=2, slots=2, **big)], "dorm", theta1=1.0
    )
    assert sum(n for start, _, n in workers(events, 0) + workers(events, 1) if start == 0) == 2
    assert len(completed(events)) == 2


def test_a_server_that_leaves_takes_its_jobs_along_until_it_returns():
    machines = with_away(TWO_SERVERS, {"w1": ((1_500, 2_500),)})
    events = events_of(machines, [job("a", workers=4, slots=2)], "dorm")
    assert workers(events, 0) == [(0, 1_000, 4), (1_000, 3_000, 2)]
    everything = with_away(TWO_SERVERS, dict.fromkeys(("w0", "w1", "s0"), ((1500, 2500),)))
    assert workers(events_of(everything, [job("a", workers=4, slots=2)], "dorm"), 0) == [
        (0, 1_000, 4),
        (3_000, 4_000, 4),
    ]


@pytest.mark.parametrize(("changes", "code"), REFUSED)
def test_it_refuses_what_can_never_run_and_goes_on(changes, code):
    events = events_of(TWO_SERVERS, [job("a", **changes), job("b")], "dorm")
    assert [row[1:] for row in decided(events)] == [(0, "rejected", code), (1, "started", "shared_out")]


@pytest.mark.parametrize(("world", "seed"), [("oasis", 0), ("oasis", 1), ("pd-ors", 0), ("pd-ors", 1)])
@pytest.mark.thorough
def test_generated_workloads_are_verified_with_and_without_absences(world, seed):
    machines, jobs = workload(world, num_jobs=12, num_servers=10, seed=seed)
    for machine in (machines, random_away(machines, np.random.default_rng(seed), 40)):
        events = verified(machine, jobs, "dorm", seed)
        assert any(event.kind == "plan_changed" for event in events)
        assert in_pieces(machine, jobs, "dorm", cuts_of(events, seed), seed) == events


@settings(max_examples=cases(15, 3))
@given(
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(1, 4), st.integers(1, 4)), max_size=7),
    st.sampled_from([None, 9]),
    st.lists(st.integers(1, 30), max_size=2),
)
def test_whoever_can_run_finishes_and_few_running_jobs_change_at_a_time(rows, horizon, cuts):
    machines = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=horizon)
    jobs = [job(f"j{i}", at, workers=n, slots=k) for i, (at, n, k) in enumerate(sorted(rows))]
    events = events_of(machines, jobs, "dorm")
    assert in_pieces(machines, jobs, "dorm", cuts) == events
    if horizon is None:
        assert len(completed(events)) == len(jobs)
    spans = {i: workers(events, i) for i in range(len(jobs))}
    for ms in sorted({start for own in spans.values() for start, _, _ in own}):
        before = {i: n for i, own in spans.items() for a, b, n in own if a < ms <= b and completed(events).get(i) != ms}
        after = {i: n for i, own in spans.items() for a, b, n in own if a <= ms < b}
        assert sum(after.get(i, 0) != n for i, n in before.items()) <= -(-len(before) // 10)
