"""Messages about a run that waits."""

import os
from datetime import timedelta

import pytest
from django.utils import timezone

from twin.models import Run
from twin.processes import heartbeat
from twin.processes.vitals import Vitals
from twin.runs import lease
from twin.runs.activity import activity


@pytest.fixture
def run(make_run):
    """Made a minute ago."""
    found = make_run()
    Run.objects.update(created_at=timezone.now() - timedelta(seconds=60))
    found.refresh_from_db()
    return found


def taken(run, seconds):
    """The run, which its worker took so long ago."""
    held = lease.take(run.pk)
    held.leased_at = timezone.now() - timedelta(seconds=seconds)
    return held


def process(kind, doing="", silent_s=0.0, name="host/1", **more):
    return heartbeat.Process(name, kind, silent_s, doing, 5.0, **{"supervised": True, **more})


def worker(doing="", silent_s=0.0, name="host/1"):
    return process(heartbeat.RUNS, doing, silent_s, name)


DISPATCHER = heartbeat.dispatcher(heartbeat.RUNS)
OTHERS = [process(DISPATCHER, name="host/8"), process(heartbeat.TICKER, name="host/9")]


@pytest.mark.parametrize(
    ("processes", "why"),
    [
        (None, "the broker does not answer"),
        ([], f"there is no worker for runs and no {DISPATCHER} and no ticker"),
        (OTHERS, "there is no worker for runs"),
        (
            [worker("run 3", silent_s=60), *OTHERS],
            "the worker for runs (process 1) has not answered for 60 s; it is replaced if it does not recover",
        ),
        ([worker("run 3"), *OTHERS], "the only worker is busy with run 3"),
        ([worker("run 4"), worker("run 3"), *OTHERS], "all workers are busy with run 3, run 4"),
        ([worker("run 4"), worker(), *OTHERS], "queued for an idle worker"),
        (
            [worker(), OTHERS[0], process(heartbeat.TICKER, silent_s=4, name="host/9")],
            "the ticker (process 9) has not answered for 4 s; it is replaced if it does not recover",
        ),
        (
            [worker(), OTHERS[1], process(DISPATCHER, name="host/8", fault="has not taken any of the 3 waiting tasks")],
            f"the {DISPATCHER} (process 8) has not taken any of the 3 waiting tasks; it is replaced",
        ),
    ],
)
def test_a_run_that_nobody_works_on_waits(run, processes, why):
    found = activity(run, Vitals(processes))
    assert (found["state"], found["text"]) == ("waiting", f"waiting for a worker for 60 s: {why}")


def test_a_run_that_waits_while_the_disk_is_full_waits_for_that(run):
    found = activity(run, Vitals([worker(), *OTHERS], disk_full="the disk of /var is full"))
    assert (found["state"], found["text"]) == (
        "held", "waiting: the disk of /var is full. No data are lost; the run resumes automatically.",
    )  # fmt: skip


def test_a_run_with_long_decisions_waits_for_the_workers_for_them(run):
    run.slow = True
    long = [process(heartbeat.LONG, f"run {number}", name=f"host/{number}") for number in (98, 99)]
    long.append(process(heartbeat.dispatcher(heartbeat.LONG), name="host/97"))
    text = activity(run, Vitals([worker(), *long, *OTHERS]))["text"]
    assert text == "waiting for a worker for 60 s: all workers for long decisions are busy with run 98, run 99"


def test_a_run_does_not_wait_for_itself(run):
    busy = [worker(f"run {run.pk}"), worker("run 99"), *OTHERS]
    assert activity(run, Vitals(busy))["text"] == "waiting for a worker for 60 s: a worker is about to take it"


def test_while_the_database_is_locked_that_is_the_reason(run):
    locked = Vitals([worker(f"run {run.pk}"), *OTHERS], timezone.now() - timedelta(seconds=12))
    for held in (None, lease.take(run.pk)):
        found = activity(held or run, locked)
        assert (found["state"], found["text"]) == (
            "held", "waiting: the database has been locked for 12 s. No data are lost; the run resumes automatically.",
        )  # fmt: skip
    moment = Vitals([worker(), *OTHERS], timezone.now() - timedelta(seconds=1))
    assert "locked" not in activity(run, moment)["text"], "everybody who writes has it for a moment"


def test_a_run_that_was_just_made_does_not_wait_yet(make_run):
    assert activity(make_run(), Vitals([])) is None


def test_a_long_decision_and_a_worker_that_hangs_stall_the_run(run):
    held = taken(run, 60)
    assert activity(held, Vitals([]))["text"].startswith("no event for 60 s: its worker is computing one decision")
    owner = held.lease_owner.rpartition(".")[0]
    assert activity(held, Vitals([worker("run 1", name=owner)]))["state"] == "stalled"
    hung = activity(held, Vitals([worker("run 1", silent_s=14, name=owner)]))
    assert hung["text"] == (
        f"stalled: the worker for runs (process {os.getpid()}) has not answered for 14 s; "
        "it is replaced if it does not recover"
    )
    held.wanted = Run.PAUSED
    assert activity(held, Vitals([]))["state"] == "pausing"
    held.progressed_at = timezone.now()
    held.wanted = Run.RUNNING
    assert activity(held, Vitals([])) is None


@pytest.mark.parametrize(("taken_s", "event_s", "silent_s"), [(0, 50, None), (40, 50, 40), (50, 40, 40), (50, 0, None)])
def test_a_decision_counts_from_the_last_event_or_from_when_the_worker_took_the_run(run, taken_s, event_s, silent_s):
    run.progressed_at = timezone.now() - timedelta(seconds=event_s)
    run.save()
    found = activity(taken(run, taken_s), Vitals([]))
    assert (found and found["text"].partition(":")[0]) == (silent_s and f"no event for {silent_s} s")


def test_a_batch_run_that_waited_long_for_its_worker_is_not_stalled_when_it_gets_one(run):
    assert activity(run, Vitals([]))["state"] == "waiting"
    assert activity(lease.take(run.pk), Vitals([])) is None


def test_a_live_run_with_rare_events_is_not_stalled_while_its_next_event_is_processed(make_run):
    run = make_run(mode=Run.LIVE)
    ago = timezone.now() - timedelta(seconds=100)
    Run.objects.update(status=Run.RUNNING, created_at=ago, clock_wall=ago, progressed_at=ago, next_event_ms=0)
    assert activity(lease.take(run.pk), Vitals([])) is None


def test_a_live_run_waits_only_for_what_is_due(make_run):
    run = make_run(mode=Run.LIVE)
    run.status, run.clock_wall, run.clock_speed = Run.RUNNING, timezone.now() - timedelta(seconds=100), 10.0
    run.created_at, run.next_event_ms = run.clock_wall, 2_000_000
    assert activity(run, Vitals([])) is None, "its next event is 100 s ahead"
    run.next_event_ms = 600_000
    assert activity(run, Vitals(None))["text"] == "waiting for a worker for 40 s: the broker does not answer"


def test_a_promoted_run_that_catches_up_waits_since_it_was_made_or_has_progressed(make_run):
    """It has the clock of its parent, at 20 h; its next event was due 18 h before it was made."""
    run = make_run(mode=Run.LIVE)
    now = timezone.now()
    run.status, run.clock_wall, run.clock_sim_ms, run.clock_speed = Run.RUNNING, now, 20 * 3_600_000, 1.0
    run.next_event_ms = 2 * 3_600_000
    assert activity(run, Vitals([])) is None
    for what, seconds in (("created_at", 90), ("progressed_at", 40)):
        setattr(run, what, now - timedelta(seconds=seconds))
        run.clock_wall = now - timedelta(seconds=90)
        text = f"waiting for a worker for {seconds} s: the broker does not answer"
        assert activity(run, Vitals(None))["text"] == text


@pytest.mark.parametrize(
    ("status", "wanted"), [(Run.PAUSED, Run.PAUSED), (Run.FINISHED, Run.RUNNING), (Run.CANCELLED, Run.CANCELLED)]
)
def test_a_run_at_rest_or_over_does_nothing(run, status, wanted):
    run.status, run.wanted = status, wanted
    assert activity(run, Vitals([])) is None
