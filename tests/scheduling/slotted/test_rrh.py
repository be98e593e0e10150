"""RRH worked by hand; and what holds for every schedule of it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.model.values import Utility
from scheduling.reporting.reasons import sentence
from tests.cases import cases
from tests.scheduling.builders import random_away, with_away
from tests.scheduling.builders_slotted import ONE_SAMPLE, ONE_VCPU, cluster, job, ps_server, worker_server
from tests.scheduling.rivals import completed, cuts_of, decided, events_of, in_pieces, verified, workers, workload

TWO_SERVERS = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=20)  # 4 GPUs


def test_the_job_that_earns_most_per_slot_goes_first():
    """Both are always worth 5. a earns 5 / 1.02 / 2 = 2.45 a slot, b 5 / 1.01 / 1 = 4.95; waiting is free."""
    events = events_of(TWO_SERVERS, [job("a", workers=4, slots=2), job("b", workers=4, slots=1)], "rrh")
    assert decided(events) == [
        (0, 0, "admitted", "reward_exceeds_cost"), (0, 1, "admitted", "reward_exceeds_cost"),
        (0, 1, "started", "rewarding"), (1_000, 0, "started", "rewarding"),
    ]  # fmt: skip
    assert workers(events, 0) == [(1_000, 3_000, 4)]
    assert workers(events, 1) == [(0, 1_000, 4)]
    first = next(e.data["values"] for e in events if e.kind == "decided" and e.data["kind"] == "started")
    assert first == {"workers": 4, "ps": 2, "rest_slots": 1, "reward": pytest.approx(5 / 1.01)}


def test_a_job_that_costs_the_others_more_than_it_earns_is_refused():
    """a, worth 100 / (1 + e^-2) = 88.08 if done in slot 1, is worth 50 a slot later: b's 4.95 are less than 38.08."""
    events = events_of(
        TWO_SERVERS, [job("a", workers=4, slots=2, utility=Utility(100.0, 2.0, 2.0)), job("b", workers=4)], "rrh"
    )
    assert [row[1:3] for row in decided(events)] == [(0, "admitted"), (1, "rejected"), (0, "started")]
    refused = next(e.data["values"] for e in events if e.data.get("kind") == "rejected")
    cost = 100 / (1 + math.exp(-2)) - 50
    assert refused == {
        "value": pytest.approx(5 / 1.01), "cost": pytest.approx(cost), "threshold": 0.0, "rest_slots": 1,
        "beside": False,
    }  # fmt: skip
    assert sentence("reward_too_low", refused) == (
        "Rejected: needs 1 slot and does not fit in addition to the running jobs. Its discounted utility of 4.95 minus "
        "the loss of 38.08 to other jobs is not more than 0."
    )


def test_a_job_that_fits_beside_the_others_costs_nothing():
    events = events_of(
        TWO_SERVERS, [job("a", workers=2, slots=2, utility=Utility(100.0, 2.0, 2.0)), job("b", workers=2)], "rrh"
    )
    assert [row[2] for row in decided(events)] == ["admitted", "admitted", "started", "started"]
    assert [e.data["values"]["cost"] for e in events if e.data.get("kind") == "admitted"] == [0.0, 0.0]


def test_the_threshold_and_the_discount_are_parameters():
    """5 / 1.01 = 4.95 is not above 5; without a discount 5 is above 4.99."""
    assert decided(events_of(TWO_SERVERS, [job("a")], "rrh", threshold=5.0)) == [(0, 0, "rejected", "reward_too_low")]
    assert decided(events_of(TWO_SERVERS, [job("a")], "rrh", threshold=4.99, discount=0.0))[0][2] == "admitted"


def test_a_running_job_pauses_for_a_better_one_and_goes_on_with_the_work_left():
    """a earns about 0.95 a slot, b 4.95; a has done one of its 5 slots at 1 s and needs 4 more from 2 s on."""
    events = events_of(TWO_SERVERS, [job("a", workers=4, slots=5), job("b", 900, workers=4)], "rrh")
    assert decided(events) == [
        (0, 0, "admitted", "reward_exceeds_cost"), (0, 0, "started", "rewarding"),
        (1_000, 1, "admitted", "reward_exceeds_cost"), (1_000, 0, "preempted", "outbid"),
        (1_000, 1, "started", "rewarding"), (2_000, 0, "resumed", "rewarding"),
    ]  # fmt: skip
    assert workers(events, 0) == [(0, 1_000, 4), (2_000, 6_000, 4)]
    assert completed(events) == {1: 2_000, 0: 6_000}


def test_while_nothing_happens_the_order_stays():
    """b has less to do, so c waits until it is done, and nothing is planned in between."""
    falling = Utility(20.0, 0.1, 2.0)
    events = events_of(
        TWO_SERVERS,
        [job("b", workers=4, slots=2, utility=falling), job("c", workers=4, slots=3, utility=falling)],
        "rrh",
    )
    assert completed(events) == {0: 2_000, 1: 5_000}
    assert [e.at_ms for e in events if e.kind == "plan_changed"] == [0, 2_000]
    assert [e.data["utility"] for e in events if e.kind == "job_completed"][1] == pytest.approx(
        20 / (1 + math.exp(0.1 * (4 - 2)))
    )


def test_a_server_that_leaves_pauses_its_jobs_before_it_goes():
    machines = with_away(TWO_SERVERS, {"w1": ((1_500, 2_500),)})
    events = events_of(machines, [job("a", workers=4, slots=3)], "rrh")
    assert workers(events, 0) == [(0, 1_000, 4), (3_000, 5_000, 4)]
    assert [row[2:] for row in decided(events)][2:] == [("preempted", "server_gone"), ("resumed", "rewarding")]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"workers": 5}, "gang_too_large"),
        ({"requested_workers": None}, "missing_part"),
        ({"worker": (3_000, 0, 0, 0, 1_000)}, "fits_nowhere"),
        ({"utility": None}, "missing_part"),
        (
            {"utility": Utility(1.0, 2.0**53, 0.0), "slots": 2},
            "reward_too_low",
        ),  # worth nothing after slot 0: underflow
    ],
)
def test_it_refuses_what_can_never_run_or_earn_and_goes_on(changes, code):
    events = events_of(TWO_SERVERS, [job("a", **changes), job("b")], "rrh")
    assert [row[1:] for row in decided(events) if row[2] == "rejected"] == [(0, "rejected", code)]
    assert completed(events) == {1: 1_000}


def test_a_gang_that_no_order_can_place_is_refused():
    assert decided(events_of(ONE_VCPU, [job("a", **ONE_SAMPLE)], "rrh")) == [(0, 0, "rejected", "gang_fits_nowhere")]


@pytest.mark.parametrize("world", ["oasis", "pd-ors"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.thorough
def test_generated_workloads_are_verified_with_and_without_absences(world, seed):
    machines, jobs = workload(world, seed=seed)
    for machine in (
        machines,
        random_away(machines, np.random.default_rng(seed), 40),
        replace(machines, horizon_slots=None),
    ):
        events = verified(machine, jobs, "rrh", seed)
        assert completed(events)
        assert in_pieces(machine, jobs, "rrh", cuts_of(events, seed), seed) == events


@settings(max_examples=cases(60, 10))
@given(
    st.lists(
        st.tuples(st.integers(0, 9_000), st.integers(1, 4), st.integers(1, 5), st.sampled_from([0.0, 0.3, 3.0])),
        max_size=15,
    ),
    st.sampled_from([None, 12]),
    st.lists(st.integers(1, 40), max_size=3),
)
def test_gangs_are_whole_and_the_admitted_finish(rows, horizon, cuts):
    machines = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=horizon)
    jobs = [
        job(f"j{i}", at, workers=n, slots=k, utility=Utility(10.0, falls, 3.0))
        for i, (at, n, k, falls) in enumerate(sorted(rows))
    ]
    events = events_of(machines, jobs, "rrh")
    assert in_pieces(machines, jobs, "rrh", cuts) == events
    admitted = [job for _, job, kind, _ in decided(events) if kind == "admitted"]
    if horizon is None:
        assert sorted(completed(events)) == sorted(admitted)
    for index in range(len(jobs)):
        spans = workers(events, index)
        assert {n for _, _, n in spans} <= {jobs[index].requested_workers}
        assert all(start >= jobs[index].arrival_ms for start, _, _ in spans)
        if index in completed(events):
            assert sum(end - start for start, end, _ in spans) == jobs[index].minibatches_per_chunk * 1_000
