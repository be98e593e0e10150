"""Conservative backfilling: worked by hand, against plain loops, and what it promises."""

import numpy as np
import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Server
from scheduling.verification.verify import verify
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.reference_backfill import as_jobs, conservative_starts, instance
from tests.scheduling.rivals import completed, cuts_of, decided, events_of, in_pieces, rows_of, workload

FOUR_GPUS = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=None)


def starts(events):
    return {e.data["keys"][0]: e.data["bars"][0].start_ms // 1_000 for e in events if e.kind == "plan_changed"}


def test_a_job_that_would_delay_the_second_in_the_queue_waits():
    """4 GPUs: a holds 2 until slot 4. b wants 4: slot 4 to 6. c wants 3 for 2 slots: slot 6 to 8. d (2 GPUs, 3 slots)
    ends in slot 4: it starts at once. e (1 GPU, 9 slots) would delay b: slot 6, besides c."""
    jobs = [
        job("a", 0, workers=2, slots=4), job("b", 100, workers=4, slots=2), job("c", 200, workers=3, slots=2),
        job("d", 300, workers=2, slots=3), job("e", 400, slots=9),
    ]  # fmt: skip
    events = events_of(FOUR_GPUS, jobs, "conservative")
    assert starts(events) == {0: 0, 3: 1, 1: 4, 2: 6, 4: 6}
    codes = {e.data["job"]: e.data["code"] for e in events if e.kind == "decided"}
    assert codes[3] == "conservative.backfilled"
    assert {codes[number] for number in (0, 1, 2, 4)} == {"conservative.in_turn"}


def test_it_differs_from_easy_where_the_second_job_would_be_delayed():
    """a: 3 GPUs until slot 4; b wants 2 from slot 4 on; c wants 3 after b; d (1 GPU for 20 slots) delays only c."""
    jobs = [
        job("a", 0, workers=3, slots=4), job("b", 100, workers=2, slots=2), job("c", 200, workers=4, slots=2),
        job("d", 300, slots=20),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "easy"))[3] == 1
    assert starts(events_of(FOUR_GPUS, jobs, "conservative")) == {0: 0, 1: 4, 2: 6, 3: 8}


def test_an_early_end_makes_reservations_earlier_in_the_order_of_the_queue():
    jobs = [
        job("a", 0, workers=4, slots=2, limit_ms=10_000), job("b", 100, workers=4, slots=1),
        job("c", 200, workers=2, slots=1), job("d", 300, workers=2, slots=1),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "conservative")) == {0: 0, 1: 2, 2: 3, 3: 3}


def test_a_quota_counts_reserved_jobs():
    jobs = [
        job("a", 0, workers=2, slots=3, user="ann"), job("b", 0, workers=2, slots=3, user="ann"),
        job("c", 0, workers=2, slots=3, user="bob"), job("d", 0, workers=1, slots=1, user="bob"),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "conservative", user_percent=50)) == {0: 0, 2: 0, 1: 3, 3: 3}


@pytest.mark.parametrize("first", range(0, 1_000, 100))
def test_starts_and_places_equal_plain_loops(first):
    for seed in range(first, first + 100):
        _compare(seed, over=seed % 4 == 0)


def _compare(seed, over):
    gpus, requests = instance(seed, over)
    expected, promised = conservative_starts(gpus, requests)
    events = list(Simulation(*as_jobs(gpus, requests), build("conservative"), 0).events())
    plans = {e.data["keys"][0]: e.data["bars"] for e in events if e.kind == "plan_changed"}
    found = {
        number: (bars[0].start_ms // 1_000, {bar.server: bar.count for bar in bars if bar.role == 0})
        for number, bars in plans.items()
    }
    assert found == expected
    assert over or all(found[number][0] <= slot for number, slot in promised.items()), "no job starts later"


@pytest.mark.parametrize("world", ["oasis", "pd-ors"])
@pytest.mark.parametrize("order", ["arrival", "fair-share", "shortest"])
def test_a_run_verifies_and_goes_on_the_same_after_a_restart(world, order):
    machines, jobs = workload(world, seed=5)
    parameters = {"order": order, "user_percent": 60}
    events = events_of(machines, jobs, "conservative", **parameters)
    assert completed(events)
    assert in_pieces(machines, jobs, "conservative", cuts_of(events, 5), **parameters) == events
    assert verify(**rows_of(machines, jobs, "conservative", **parameters)) == []


@pytest.mark.parametrize("seed", range(30))
def test_with_outages_every_job_that_can_run_completes(seed):
    rng = np.random.default_rng(seed)
    away = tuple((int(a), int(a) + int(rng.integers(1_000, 9_000))) for a in np.cumsum(rng.integers(9_001, 20_000, 3)))
    machines = cluster(
        worker_server("w0"), Server("w1", "edge", worker_server("w").capacity, ("worker",), away=away), ps_server("s0"),
        horizon=None,
    )  # fmt: skip
    jobs = [
        job(f"j{i}", int(ms), workers=int(rng.integers(1, 5)), slots=int(rng.integers(1, 6)))
        for i, ms in enumerate(np.sort(rng.integers(0, 30_000, 12)))
    ]
    events = events_of(machines, jobs, "conservative")
    assert len(completed(events)) == len(jobs)
    assert in_pieces(machines, jobs, "conservative", cuts_of(events, seed)) == events


def test_a_job_that_fits_nowhere_is_rejected():
    """Its workers fit, but no parameter server beside them."""
    small = cluster(Server("s", "edge", (4_000, 4_000, 8_000, 8_000, 40_000)), horizon=None)
    wide = job("a", workers=3, worker=(1_000, 1_000, 0, 0, 0), ps=(0, 2_000, 0, 0, 0))
    events = events_of(small, [wide, job("b", 10)], "conservative", model="oasis")
    assert decided(events)[0][2:] == ("rejected", "gang_fits_nowhere")
    assert completed(events) == {1: 2_000}
