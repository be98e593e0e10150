"""Run-time predictors: their numbers by hand, and backfilling that estimates by them."""

import pytest

from scheduling.model.values import Job
from scheduling.run_times import history, predictors
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.rivals import completed, cuts_of, events_of, in_pieces, workload

LEARNING = sorted(name for name, cls in predictors().items() if cls.learns)
FOUR_GPUS = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=None)


def row(user="ann", workers=1, limit_ms=None):
    return Job("j", 0, user=user, requested_workers=workers, limit_ms=limit_ms)


def learned(name, *run_times, **similar):
    made = predictors()[name]()
    for run_ms in run_times:
        made.observe(row(**similar), run_ms)
    return made


@pytest.mark.parametrize(
    ("name", "run_times", "expected"),
    [
        ("last-two", (7,), 7), ("last-two", (100, 20, 41), 30),
        ("similar-median", (5, 1, 9), 5), ("similar-median", (5, 1, 9, 8), 6),
        ("similar-median", (1_000_000, *range(1, 11)), 5),  # the oldest is forgotten
        ("similar-p90", (3,), 3), ("similar-p90", tuple(range(1, 11)), 9), ("similar-p90", tuple(range(1, 21)), 18),
        ("similar-p90", (10**9, *range(1, 21)), 18),
    ],
)  # fmt: skip
def test_the_prediction_of_similar_jobs(name, run_times, expected):
    assert learned(name, *run_times).predict(row()) == expected


@pytest.mark.parametrize("name", LEARNING)
def test_the_most_similar_group_that_has_jobs_decides(name):
    made = learned(name, 5_000, user="ann", workers=2, limit_ms=60_000)
    assert made.predict(row("ann", 2, 60_000)) == 5_000
    made.observe(row("ann", 8), 90_000)
    assert made.predict(row("ann", 2, 60_000)) == 5_000, "same user, size and limit"
    assert made.predict(row("ann", 2)) > 5_000, "same user"
    assert made.predict(row("bob", 8)) == 90_000, "same size"
    assert made.predict(row("bob", 3)) == made.predict(row("bob", 4)), "all jobs"
    assert made.predict(row("ann", 8, 1_000)) == 1_000, "never above the limit"


@pytest.mark.parametrize("name", LEARNING)
def test_without_a_job_that_has_ended_nothing_is_predicted(name):
    assert predictors()[name]().predict(row()) is None
    assert learned(name, 0).predict(row()) == 1, "0 is not a run time"


@pytest.mark.parametrize("name", LEARNING)
def test_the_state_is_restored(name):
    made, other = learned(name, *range(1, 30)), predictors()[name]()
    other.restore(made.state())
    assert other.history == made.history
    made.observe(row(), 500)
    other.observe(row(), 500)
    assert other.history == made.history


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(history, "MAX_KEYS", 10)
    made = predictors()["last-two"]()
    for number in range(100):
        made.observe(row(user=f"u{number}"), number)
    assert len(made.history) == 10
    assert made.predict(row(user="u99")) == 99


def test_backfilling_learns_that_a_user_asks_for_too_much():
    """ann asks for 50 slots and needs 1. After her first job that is known: c may pass b, which waits for slot 10."""
    long = {"limit_ms": 50_000, "user": "ann"}
    jobs = [
        job("first", 0, slots=1, **long), job("a", 3_000, workers=3, slots=7, user="bob"),
        job("b", 3_100, workers=4, slots=1, user="bob"), job("c", 3_200, slots=1, **long),
    ]  # fmt: skip

    def start(**parameters):
        return [
            e.data["bars"][0].start_ms // 1_000 for e in events_of(FOUR_GPUS, jobs, "easy", **parameters)
            if e.kind == "plan_changed" and e.data["keys"] == [3]
        ]  # fmt: skip

    assert start(estimates="last-two") == [4]
    assert start() == [11], "by its limit it would delay b"


@pytest.mark.parametrize("scheduler", ["easy", "conservative"])
@pytest.mark.parametrize("name", LEARNING)
def test_a_run_with_predictions_goes_on_the_same_after_a_restart(scheduler, name):
    machines, jobs = workload("oasis", seed=2)
    events = events_of(machines, jobs, scheduler, estimates=name)
    assert completed(events)
    assert in_pieces(machines, jobs, scheduler, cuts_of(events, 7), estimates=name) == events


@pytest.mark.parametrize("scheduler", ["easy", "conservative"])
def test_what_outlives_a_prediction_delays_reservations_but_loses_nothing(scheduler):
    """The first job of bob predicts 1 slot; the second runs for 20, and b waits for all of it."""
    jobs = [
        job("short", 0, slots=1, user="bob"), job("a", 2_000, workers=3, slots=20, user="bob"),
        job("b", 2_100, workers=4, user="cy"), job("c", 2_200, slots=3, user="cy"),
    ]  # fmt: skip
    events = events_of(FOUR_GPUS, jobs, scheduler, estimates="last-two")
    assert completed(events)[1] == 22_000
    assert completed(events)[2] == 23_000
    assert len(completed(events)) == 4
