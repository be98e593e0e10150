"""Slices of runs: cut anywhere, killed anywhere, the log is the one of an undisturbed run."""

from itertools import chain
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from scheduling.kernel.registry import build
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.kernel.simulation import simulate
from scheduling.reporting.metrics import summarize
from scheduling.slotted.execution import SLOTTED
from tests.twin.runtime.builders import undisturbed
from tests.twin.runtime.queues import messages, work
from twin.eventlog import event_log
from twin.models import AuditEntry, Checkpoint, Run
from twin.processes import shutdown
from twin.runs import engine, runner
from twin.scenarios import store
from twin.ticker import Ticker


@pytest.fixture
def small(monkeypatch):
    """Batches of a few events, a checkpoint every ten, a slice after each batch."""
    monkeypatch.setattr(engine, "BATCH_EVENTS", 4)
    monkeypatch.setattr(engine, "STRIDE", 2)
    monkeypatch.setattr(engine, "CHECKPOINT_EVENTS", 10)
    monkeypatch.setattr(runner, "MAX_SLICE_S", 0.0)


@pytest.mark.parametrize("scheduler", ["fifo", "oasis"])
def test_a_batch_run_writes_the_log_of_the_kernel(make_run, scheduler):
    run = make_run(scheduler=scheduler)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED, run.message
    lines = list(event_log.canonical(run.pk))
    assert lines == undisturbed(run)
    assert run.last_seq == len(lines)
    assert run.end_ms == run.sim_ms
    assert run.metrics == summarize(chain.from_iterable(event_log.after(run.pk, 0)), *store.of_run(run))
    assert run.decision_ms["count"] > 0


@pytest.mark.parametrize("scheduler", ["fifo", "oasis"])
def test_slices_on_changing_workers_write_the_same_log(make_run, small, scheduler):
    run = make_run(scheduler=scheduler)
    runner.enqueue(run.pk)
    slices = 0
    while work_one():
        engine.forget()  # the next slice is another process's
        slices += 1
    run.refresh_from_db()
    assert run.status == Run.FINISHED, run.message
    assert slices > 5
    assert list(event_log.canonical(run.pk)) == undisturbed(run)


def work_one():
    """One task, whatever it enqueues stays."""
    for _, key in messages()[:1]:
        runner.advance(key)
        return True
    return False


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_a_worker_killed_between_checkpoints_loses_nothing(make_run, small, lost):
    """The checkpoint is removed `lost` slices before the end of the log: the rest is replayed, dropped by number."""
    run = make_run(scheduler="oasis")
    kept = None
    for number in range(6):
        runner.advance(run.pk)
        if number == 5 - lost:
            kept = Checkpoint.objects.filter(run=run).first()
    Checkpoint.objects.filter(run=run, seq__gt=kept.seq).delete()
    engine.forget()
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now(), lease_owner="gone.example/1.1")
    runner.enqueue(run.pk)
    work()
    assert list(event_log.canonical(run.pk)) == undisturbed(run)


def test_a_task_delivered_twice_adds_nothing_twice(make_run, small):
    run = make_run()
    runner.enqueue(run.pk)
    runner.enqueue(run.pk)
    work()
    assert list(event_log.canonical(run.pk)) == undisturbed(run)


def test_a_worker_that_stops_hands_the_run_on(make_run, monkeypatch):
    monkeypatch.setattr(engine, "BATCH_EVENTS", 4)
    run = make_run()
    shutdown.ask()
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.lease_until) == (Run.RUNNING, None)
    assert ("twin.tasks.advance_run", run.pk) in messages()


def test_a_scheduler_that_raises_fails_the_run_with_its_words(make_run, monkeypatch):
    class Broken(BaseScheduler):
        model = SLOTTED
        name = "broken"

        def on_arrival(self, now_ms, job):
            raise RuntimeError("no idea what to do with job 0")

    monkeypatch.setattr("twin.scenarios.phase_rules.build", lambda name, given: Broken())
    run = make_run()
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.message) == (Run.FAILED, "RuntimeError: no idea what to do with job 0")


def test_a_log_that_a_replay_does_not_reach_says_so(make_run):
    """The code changed under a run: better an end with a reason than a log of two halves that do not fit."""
    run = make_run()
    last = list(simulate(*store.of_run(run), _scheduler(run), run.scenario.seed))[-1]
    Run.objects.filter(pk=run.pk).update(last_seq=last.seq + 5, sim_ms=last.at_ms)
    runner.advance(run.pk)
    run.refresh_from_db()
    assert run.status == Run.FAILED
    assert f"a replay of the scenario at event {last.seq}" in run.message


def _scheduler(run):
    return build(run.scenario.scheduler, run.scenario.parameters)


def test_a_full_disk_holds_the_run_up_and_room_completes_it(make_run, small, layer, monkeypatch):
    """SQLite's own page limit stands for the disk: the error is the real one."""
    run = make_run(scheduler="oasis", jobs=40)
    runner.advance(run.pk)
    pages = connection.cursor().execute("PRAGMA page_count").fetchone()[0]
    connection.cursor().execute(f"PRAGMA max_page_count = {pages}")
    try:
        for _ in range(200):
            runner.advance(run.pk)
            run.refresh_from_db()
            if run.held_since is not None:
                break
    finally:
        connection.cursor().execute("PRAGMA max_page_count = 1073741823")
    assert (run.status, run.wanted) == (Run.QUEUED, Run.RUNNING)
    assert "database or disk is full" in run.message
    ticker = Ticker()
    ticker.tick()
    monkeypatch.setattr("twin.ticker.REQUEST_AGAIN_S", 0.0)
    assert run.pk in ticker.tick(), "asked for again by itself"
    work()
    run.refresh_from_db()
    assert (run.status, run.message, run.held_since) == (Run.FINISHED, "", None)
    assert list(event_log.canonical(run.pk)) == undisturbed(run)
    assert "database or disk is full" in AuditEntry.objects.get(action="run.held").detail["reason"]


@pytest.mark.parametrize("where", ["start", "on_arrival"])
def test_an_error_of_the_files_of_a_scheduler_fails_its_run(make_run, monkeypatch, where):
    """It is no error of the database, which would hold the run up and have it tried again for ever."""

    def missing(*_):
        Path("/nowhere/table.csv").read_text()

    run = make_run(scheduler="fifo")
    monkeypatch.setattr(type(_scheduler(run)), where, missing)
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.held_since) == (Run.FAILED, None)
    assert run.message == (
        "SchedulerFailed: FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/table.csv'"
    )


def test_a_pause_that_came_too_late_does_not_stay(make_run, monkeypatch):
    """The operator pauses while the last batch is written: the run has finished, and nothing is wanted of it."""
    from twin.runs import commands

    run = make_run()
    monkeypatch.setattr(runner, "_metrics", lambda r: commands.pause(Run.objects.get(pk=r.pk)) and {})
    runner.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.wanted) == (Run.FINISHED, Run.RUNNING)


def test_a_verb_that_comes_when_the_run_has_just_ended_is_refused(make_run, monkeypatch):
    from twin.runs import commands
    from twin.runs.commands import control

    run = make_run()
    applied = control.active

    def ends_then(run, verb):
        applied(run, verb)
        Run.objects.filter(pk=run.pk).update(status=Run.FINISHED)

    monkeypatch.setattr(control, "active", ends_then)
    monkeypatch.setattr(
        control, "clock_of", lambda run: monkeypatch.setattr(control, "active", applied) or runner._clock(run)
    )
    with pytest.raises(commands.Refused, match=rf"cannot pause run {run.pk}: it is finished; choose an active run"):
        commands.pause(run)
    run.refresh_from_db()
    assert run.wanted == Run.RUNNING
