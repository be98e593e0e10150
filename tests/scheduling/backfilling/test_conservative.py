"""Conservative backfilling: worked by hand, against plain loops, and what it promises."""

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Server
from tests.cases import cases
from tests.scheduling.backfilling.reference_backfill import INSTANCES, as_jobs, conservative_starts, instance
from tests.scheduling.builders import with_away
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.rivals import completed, decided, events_of

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


def test_a_server_that_is_unavailable_at_the_start_gets_no_reservation():
    """w0 returns at slot 3: of three jobs of 2 GPUs two run after each other on w1, and the third on w0."""
    machines = with_away(FOUR_GPUS, {"w0": ((0, 3_000),)})
    jobs = [job(name, 0, workers=2, slots=2) for name in "abc"]
    assert starts(events_of(machines, jobs, "conservative")) == {0: 0, 1: 2, 2: 3}


def test_a_quota_counts_reserved_jobs():
    jobs = [
        job("a", 0, workers=2, slots=3, user="ann"), job("b", 0, workers=2, slots=3, user="ann"),
        job("c", 0, workers=2, slots=3, user="bob"), job("d", 0, workers=1, slots=1, user="bob"),
    ]  # fmt: skip
    assert starts(events_of(FOUR_GPUS, jobs, "conservative", user_percent=50)) == {0: 0, 2: 0, 1: 3, 3: 3}


@INSTANCES
def test_starts_and_places_equal_plain_loops(first):
    for seed in range(first, first + cases(100, 20)):
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


def test_a_job_that_fits_nowhere_is_rejected():
    """Its workers fit, but no parameter server beside them."""
    small = cluster(Server("s", "edge", (4_000, 4_000, 8_000, 8_000, 40_000)), horizon=None)
    wide = job("a", workers=3, worker=(1_000, 1_000, 0, 0, 0), ps=(0, 2_000, 0, 0, 0))
    events = events_of(small, [wide, job("b", 10)], "conservative", model="oasis")
    assert decided(events)[0][2:] == ("rejected", "gang_fits_nowhere")
    assert completed(events) == {1: 2_000}
