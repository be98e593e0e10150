"""Forecasts of a live cluster: stored, scored when jobs start and end, across runs, one worker at a time."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from tests.twin.mirror.builders import EPOCH, S, at, ended, job, polled, running
from tests.twin.mirror.builders_stored import following
from twin.connectors.constraints import Asked, Constraints
from twin.mirror.forecasts import forecast_task, learning, scores
from twin.mirror.forecasts.learning import Learned
from twin.models import Connection, Forecast, Forecasting, Score
from twin.processes import bounded_process
from twin.runs import lease

pytestmark = pytest.mark.django_db
ASKED_MS = 600 * S
BEGAN = EPOCH % 3_600_000  # the log begins with the hour of the oldest open job


def first(second=3_601):
    held = running("1", 3_600, gpus=4, limit_ms=ASKED_MS, user="ann")
    return polled(second, held, job("2", gpus=4, submitted_ms=at(3_590), limit_ms=ASKED_MS, user="ann", queue="edge"))


@pytest.fixture
def connection():
    """A connection in whose newest poll job 1 runs on the only node of the queue of job 2."""
    made = Connection.objects.create(name="lab", connector="slurm")
    applied(made, first())
    return made


def applied(connection, snapshot):
    """The follower has a poll, and lets its run go."""
    one = following(connection, snapshot)
    one.apply(snapshot)
    lease.release(one.write.run)


def seen(connection, snapshot):
    applied(connection, snapshot)
    forecast_task.forecast(connection.pk)
    return Forecasting.objects.get(pk=connection.pk)


def test_a_waiting_job_is_forecast_by_its_limit_where_nothing_has_ended(connection):
    kept = seen(connection, first())
    (row,) = kept.rows
    assert row["start_ms"] == 3_600 * S + ASKED_MS + BEGAN
    assert (row["job"], row["why"], row["waits_for"], row["servers"]) == (1, "resources", ["1"], [0])
    assert (row["low_ms"], row["system_ms"], row["never"], kept.error) == (None, None, "", "")
    assert kept.ends == [{"job": 0, "finish_ms": row["start_ms"]}]


def test_each_method_is_stored_at_submission_and_scored_at_start_and_end(connection):
    Forecasting.objects.create(connection=connection, estimates={"2": at(4_200)})
    seen(connection, first())
    methods = set(Forecast.objects.values_list("method", flat=True))
    assert methods == {"twin", "system", "limit", "last-two", "similar-median", "similar-p90"}
    done = ended(running("1", 3_600, gpus=4, limit_ms=ASKED_MS, user="ann"), 3_620)
    second = running("2", 3_622, gpus=4, submitted_ms=at(3_590), limit_ms=ASKED_MS, user="ann", queue="edge")
    seen(connection, polled(3_625, done, second))
    row = Score.objects.get(method="system", what="start")
    assert (row.real_ms, row.predicted_ms, row.lead) == (at(3_622), at(4_200), 0)
    assert Forecast.objects.filter(scored=True).count() == 6
    kept = seen(connection, polled(3_700, ended(second, 3_650)))
    assert not Forecast.objects.exists()
    finish = Score.objects.filter(what="finish", method="twin").get()
    assert finish.real_ms == at(3_650)
    assert kept.rows == []


def test_what_has_ended_is_what_the_next_forecast_believes(connection):
    seen(connection, first())
    done = ended(running("1", 3_600, gpus=4, limit_ms=ASKED_MS, user="ann"), 3_620)
    second = running("2", 3_620, gpus=4, submitted_ms=at(3_590), limit_ms=ASKED_MS, user="ann", queue="edge")
    third = job("3", gpus=4, submitted_ms=at(3_621), limit_ms=ASKED_MS, user="ann", queue="edge")
    kept = seen(connection, polled(3_625, done, second, third))
    (row,) = kept.rows
    assert row["start_ms"] == 3_640 * S + BEGAN, "job 1 ran for 20 s, so job 2 will"
    assert row["waits_for"] == ["2"]


def test_a_forecast_that_takes_too_long_is_stated_and_repeated_after_a_pause(connection, monkeypatch):
    monkeypatch.setattr(forecast_task, "send", Mock())
    before = seen(connection, first())
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: "late")
    forecast_task.work(connection.pk)
    after = Forecasting.objects.get(pk=connection.pk)
    assert (after.error, after.rows) == ("it took longer than 120 s", before.rows)
    requests, clock = forecast_task.Requests(), [100.0]
    monkeypatch.setattr(forecast_task.time, "monotonic", lambda: clock[0])
    assert requests.refresh() == [connection.pk]
    applied(connection, polled(3_630, running("1", 3_600, gpus=4)))
    clock[0] += forecast_task.FAILED_EVERY_S - 1
    assert requests.refresh() == []
    clock[0] += 1
    assert requests.refresh() == [connection.pk]
    monkeypatch.setattr(bounded_process, "run", lambda work, **limits: work() or "done")
    forecast_task.work(connection.pk)
    assert Forecasting.objects.get(pk=connection.pk).error == ""


def test_forecasts_are_requested_when_the_log_has_grown_and_not_too_often(connection, monkeypatch):
    sent = []
    monkeypatch.setattr(forecast_task, "send", lambda task, key, **how: sent.append(key))
    requests, clock = forecast_task.Requests(), [100.0]
    monkeypatch.setattr(forecast_task.time, "monotonic", lambda: clock[0])
    assert requests.refresh() == [connection.pk]
    applied(connection, polled(3_630, running("1", 3_600, gpus=4)))
    clock[0] += forecast_task.EVERY_S - 1
    assert requests.refresh() == []
    clock[0] += 1
    assert requests.refresh() == [connection.pk]
    clock[0] += forecast_task.EVERY_S + 1
    assert requests.refresh() == [], "nothing has changed"
    clock[0] += forecast_task.QUIET_EVERY_S
    assert requests.refresh() == [connection.pk]
    Connection.objects.update(wanted=Connection.PAUSED)
    clock[0] += forecast_task.QUIET_EVERY_S
    assert requests.refresh() == []


def test_occasions_are_the_submission_the_quarters_and_each_hour():
    learned, hour = Learned(), learning.HOUR_MS
    assert learned.due("a", 0, 4 * hour) == "submission"
    assert learned.due("a", hour - 1, None) == ""
    assert learned.due("a", hour, None) == "25 %"
    assert learned.due("a", hour + 1, None) == "hour"
    assert learned.due("a", 3 * hour, None) == "75 %", "50 % was passed meanwhile"
    assert learned.due("never", 0, None) == "submission"
    assert learned.due("never", hour, None) == "hour"


def test_what_was_learned_survives_a_restart():
    learned = Learned()
    learned.see(running("1", 5, user="ann"))
    learned.see(ended(running("0", 0, user="ann"), 4))
    learned.see(job("2"))
    learned.due("2", 7, 8)
    again = learning.unpack(learned.pack())
    assert again.pack() == learned.pack()
    assert learning.unpack(b"").pack() == Learned().pack()


def test_a_job_teaches_once_and_only_with_a_run_time_that_says_something():
    learned = Learned()
    for _ in range(2):
        learned.see(ended(running("1", 0), 10))
    learned.see(ended(running("2", 0), 10, outcome="node_fail"))
    learned.see(ended(job("3"), 10, outcome="cancelled"))
    assert list(learned.tournament.predictors["similar-p90"].history[()]) == [10 * S]


def test_the_cycle_is_the_usual_pause_between_an_end_and_the_next_start():
    learned = Learned()
    learned.see(ended(running("1", 0), 10))
    for number, (start, end) in enumerate([(13, 20), (22, 30), (33, 40)]):
        learned.see(ended(running(f"n{number}", start), end))
    assert learned.pauses == [3 * S, 2 * S, 3 * S]
    assert learned.cycle_ms == 3_000


def test_a_band_exists_once_enough_forecasts_have_come_true(connection):
    assert scores.newest_bands(connection.pk).around(0) is None
    Score.objects.bulk_create(
        Score(connection=connection, what="start", method="twin", lead=0, made_ms=0, predicted_ms=0, real_ms=n * S)
        for n in range(100)
    )
    low, high = scores.newest_bands(connection.pk).around(0)
    assert (low, round(high / S)) == (0, 95), "of the 50 newest, rank 46 of 50 to 99 s"
    scores.forget(connection.pk, 8 * 86_400_000)
    assert not Score.objects.exists()


def test_the_band_of_a_job_with_a_begin_time_does_not_begin_before_it(connection):
    begin_ms = at(5_000)
    constraints = Constraints(jobs={"2": Asked(eligible_ms=begin_ms)})
    Forecasting.objects.create(connection=connection, constraints=constraints.plain())
    Score.objects.bulk_create(
        Score(connection=connection, what="start", method="twin", lead=0, made_ms=0, predicted_ms=2_000 * S, real_ms=0)
        for _ in range(20)
    )
    (row,) = seen(connection, first()).rows
    assert (row["start_ms"], row["low_ms"]) == (begin_ms - EPOCH + BEGAN,) * 2
    assert Forecast.objects.get(method="twin").low_ms == begin_ms
