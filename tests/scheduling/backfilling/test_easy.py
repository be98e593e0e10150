"""EASY backfilling: worked by hand, against plain loops, and what it promises."""

import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Utility
from tests.cases import cases
from tests.scheduling.backfilling.reference_backfill import INSTANCES, as_jobs, easy_starts, instance
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.rivals import decided, events_of

FOUR_GPUS = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=None)


def starts(events):
    return {e.data["keys"][0]: e.data["bars"][0].start_ms // 1_000 for e in events if e.kind == "plan_changed"}


def codes(events):
    return {e.data["job"]: e.data["code"] for e in events if e.kind == "decided"}


def test_a_short_job_passes_the_reserved_one_and_a_long_one_waits():
    """4 GPUs: a holds 3 until slot 4. b wants 4 and is reserved slot 4. c (1 GPU, 4 slots) would end in slot 5 and
    needs a reserved GPU; d (1 GPU, 3 slots) ends in slot 4."""
    jobs = [
        job("a", 0, workers=3, slots=4),
        job("b", 500, workers=4, slots=1),
        job("c", 600, slots=4),
        job("d", 700, slots=3),
    ]
    events = events_of(FOUR_GPUS, jobs, "easy")
    assert starts(events) == {0: 0, 3: 1, 1: 4, 2: 5}
    assert codes(events) == {0: "easy.in_turn", 1: "easy.in_turn", 2: "easy.in_turn", 3: "easy.backfilled"}


def test_a_long_job_may_use_what_the_reservation_leaves():
    """b wants 2 of the 4 GPUs from slot 4 on; c (1 GPU, 9 slots) takes one of the other two now."""
    jobs = [job("a", 0, workers=3, slots=4), job("b", 500, workers=2, slots=9), job("c", 600, slots=9)]
    assert starts(events_of(FOUR_GPUS, jobs, "easy")) == {0: 0, 2: 1, 1: 4}


def test_the_time_limit_is_the_estimate():
    """d could end before the reservation, but its user asked for more."""
    jobs = [
        job("a", 0, workers=3, slots=4), job("b", 500, workers=4, slots=1),
        job("d", 700, slots=3, limit_ms=10_000), job("e", 800, slots=3, limit_ms=3_000),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "easy")) == {0: 0, 3: 1, 1: 4, 2: 5}
    assert starts(events_of(FOUR_GPUS, jobs, "easy", estimates="actual")) == {0: 0, 2: 1, 1: 4, 3: 5}


def test_a_job_that_ends_before_its_limit_makes_the_reservation_earlier():
    jobs = [job("a", 0, workers=3, slots=2, limit_ms=9_000), job("b", 500, workers=4), job("c", 600, slots=5)]
    assert starts(events_of(FOUR_GPUS, jobs, "easy")) == {0: 0, 1: 6, 2: 1}
    jobs[2] = job("c", 600, slots=20)
    assert starts(events_of(FOUR_GPUS, jobs, "easy")) == {0: 0, 1: 2, 2: 3}


def test_with_an_interval_jobs_are_backfilled_in_its_first_slot_only():
    """4 GPUs: a holds 3 until slot 9 by its limit. b wants 4. c arrives in slot 1 and d in slot 4: both could start at
    once, and start in slots 3 and 6. In turn jobs start in any slot: b when a ends."""
    jobs = [
        job("a", 0, workers=3, slots=8, limit_ms=9_000), job("b", 500, workers=4, slots=1),
        job("c", 600, slots=1), job("d", 3_500, slots=1),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "easy")) == {0: 0, 2: 1, 3: 4, 1: 8}
    events = events_of(FOUR_GPUS, jobs, "easy", backfill_ms=3_000)
    assert starts(events) == {0: 0, 2: 3, 3: 6, 1: 8}
    assert codes(events)[2] == "easy.backfilled"


@pytest.mark.parametrize("seed", range(60))
def test_an_interval_delays_only_what_is_backfilled(seed):
    gpus, requests = instance(seed)
    machines, jobs = as_jobs(gpus, requests)
    plain, slow = (events_of(machines, jobs, "easy", **own) for own in ({}, {"backfill_ms": 4_000}))
    assert set(starts(slow)) == set(starts(plain)), "the same jobs run"
    for number, slot in starts(slow).items():
        if codes(slow)[number] == "easy.backfilled":
            assert slot % 4 == 0
    assert starts(events_of(machines, jobs, "easy", backfill_ms=1_000)) == starts(plain)


@pytest.mark.parametrize(("order", "first"), [("arrival", 1), ("utility", 2), ("shortest", 3)])
def test_the_order_decides_who_is_next(order, first):
    jobs = [
        job("a", 0, workers=4, slots=2), job("b", 100, workers=4, slots=5),
        job("c", 200, workers=4, slots=4, utility=Utility(99.0, 0.0, 1.0)), job("d", 300, workers=4, slots=3),
    ]  # fmt: skip
    own = starts(events_of(FOUR_GPUS, jobs, "easy", order=order))
    assert own[first] == 2
    assert min(slot for number, slot in own.items() if number not in (0, first)) > 2


def test_fair_share_prefers_the_user_who_used_less():
    jobs = [
        job("a", 0, workers=4, slots=2, user="ann"), job("b", 100, workers=4, user="ann"),
        job("c", 200, workers=4, user="bob"),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "easy")) == {0: 0, 1: 2, 2: 3}
    assert starts(events_of(FOUR_GPUS, jobs, "easy", order="fair-share")) == {0: 0, 2: 2, 1: 3}


def test_usage_is_forgotten():
    """ann used 8 GPU-slots long ago, bob 4 just now."""
    jobs = [
        job("a", 0, workers=4, slots=2, user="ann"), job("b", 600_000, workers=4, user="bob"),
        job("c", 600_100, workers=4, user="bob"), job("d", 600_200, workers=4, user="ann"),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "easy", order="fair-share", half_life_ms=60_000)) == {
        0: 0,
        1: 600,
        3: 601,
        2: 602,
    }
    assert starts(events_of(FOUR_GPUS, jobs, "easy", order="fair-share")) == {0: 0, 1: 600, 2: 601, 3: 602}


def test_a_quota_holds_jobs_of_a_user_back_and_reserves_nothing_for_them():
    jobs = [
        job("a", 0, workers=2, slots=3, user="ann"), job("b", 0, workers=2, slots=3, user="ann"),
        job("c", 0, workers=2, slots=3, user="bob"),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "easy", user_percent=50)) == {0: 0, 2: 0, 1: 3}
    events = events_of(FOUR_GPUS, [job("x", 0, workers=3, user="ann"), *jobs], "easy", user_percent=50)
    assert decided(events)[0] == (0, 0, "rejected", "easy.exceeds_quota")
    queues = [
        job("a", 0, workers=2, slots=3, group="q"),
        job("b", 0, slots=1, group="q"),
        job("c", 0, slots=1, group="p"),
    ]
    assert starts(events_of(FOUR_GPUS, queues, "easy", queue_percent=50)) == {0: 0, 2: 0, 1: 3}


def test_a_job_that_outlives_its_limit_delays_the_reservation_one_slot_at_a_time():
    jobs = [job("a", 0, workers=3, slots=4, limit_ms=1_000), job("b", 0, workers=4), job("c", 2_500, slots=1)]
    assert starts(events_of(FOUR_GPUS, jobs, "easy")) == {0: 0, 2: 3, 1: 4}


@INSTANCES
def test_starts_and_places_equal_plain_loops(first):
    for seed in range(first, first + cases(100, 20)):
        _compare(seed, over=seed % 4 == 0)


def _compare(seed, over):
    gpus, requests = instance(seed, over)
    expected, made = easy_starts(gpus, requests)
    simulation = Simulation(*as_jobs(gpus, requests), build("easy"), 0)
    found, promised = {}, {}
    for event in simulation.events():
        if event.kind == "plan_changed":
            bars = event.data["bars"]
            found[event.data["keys"][0]] = bars[0].start_ms // 1_000, {b.server: b.count for b in bars if b.role == 0}
        kept = simulation.scheduler.reservation
        if kept is not None:
            promised.setdefault(kept.job, kept.slot)
    assert found == expected
    for number, slot in promised.items():
        assert slot in [reserved.slot for _, reserved in made if reserved.job == number]
        assert over or found[number][0] <= slot, "a reservation is never delayed"
