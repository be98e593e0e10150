"""Live runs: the clock says what is due, the ticker asks for it, operators pause, pace and step."""

from datetime import timedelta

import pytest
from django.utils import timezone

from twin import control, engine, eventlog, runner, ticker
from twin.models import AuditEntry, Run

from .conftest import messages, work
from .test_runner import undisturbed


@pytest.fixture
def run(make_scenario, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        return control.start_run(make_scenario(), mode=Run.LIVE, speed=1.0)


def turn_to(run, sim_ms):
    """Sets the clock of a run, as if the time had passed."""
    Run.objects.filter(pk=run.pk).update(clock_sim_ms=sim_ms, clock_wall=timezone.now())


def test_only_what_is_due_happens(run):
    work()
    run.refresh_from_db()
    first_arrival = next(job.arrival_ms for job in runner.scenarios.of_run(run)[1])
    assert run.next_event_ms == first_arrival > 0
    assert [e.kind for batch in eventlog.after(run.pk, 0) for e in batch] == ["run_started"]
    turn_to(run, first_arrival)
    runner.advance(run.pk)
    run.refresh_from_db()
    assert run.sim_ms == first_arrival
    assert run.next_event_ms > first_arrival


def test_a_live_run_ends_with_the_log_of_a_batch_run(run):
    work()
    while Run.objects.get(pk=run.pk).status == Run.RUNNING:
        turn_to(run, Run.objects.get(pk=run.pk).next_event_ms)
        engine.forget()
        runner.advance(run.pk)
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    assert list(eventlog.canonical(run.pk)) == undisturbed(run)


def test_the_ticker_asks_when_the_next_event_is_due_and_not_before(run):
    work()
    beat = ticker.Ticker()
    assert beat.tick() == []
    turn_to(run, Run.objects.get(pk=run.pk).next_event_ms)
    assert beat.tick() == [run.pk]
    assert beat.tick() == []  # asked for already
    work()
    turn_to(run, Run.objects.get(pk=run.pk).next_event_ms)
    assert beat.tick() == [run.pk]


def test_the_ticker_takes_up_a_run_whose_worker_is_gone(make_run):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(
        status=Run.RUNNING, lease_owner="gone.example/1.1", lease_until=timezone.now() - timedelta(seconds=1)
    )
    assert ticker.Ticker().tick() == [run.pk]
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED


def test_the_ticker_asks_again_for_a_run_whose_message_was_lost(make_run, monkeypatch):
    run = make_run()
    beat = ticker.Ticker()
    assert beat.tick() == []  # its message may be on the way
    monkeypatch.setattr(ticker, "ASK_AGAIN_S", 0.0)
    assert beat.tick() == [run.pk]


def test_the_ticker_asks_at_its_start_for_runs_that_nobody_works_on(make_run):
    """A broker that was started again is empty; nobody waits 5 s for that."""
    left, busy, over = make_run(), make_run(), make_run()
    Run.objects.filter(pk=busy.pk).update(lease_owner="busy.example/1.1", lease_until=timezone.now() + timedelta(seconds=9))
    Run.objects.filter(pk=over.pk).update(status=Run.FINISHED)
    beat = ticker.Ticker()
    assert beat.begin() == [left.pk]
    assert beat.tick() == []  # asked for already
    assert messages() == [("twin.tasks.advance_run", left.pk)]


def test_the_ticker_leaves_a_run_that_is_being_worked_on(make_run):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(lease_owner="busy.example/1.1", lease_until=timezone.now() + timedelta(seconds=9))
    assert ticker.Ticker().tick() == []


def test_a_clock_that_ran_on_while_nobody_worked_is_set_back_to_the_next_event(run):
    work()
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(clock_wall=timezone.now() - timedelta(days=30))
    ticker.resume_clocks()
    assert Run.objects.get(pk=run.pk).clock_sim_ms == run.next_event_ms


def test_pausing_stops_the_clock_and_resuming_goes_on_from_there(run):
    work()
    turn_to(run, 5_000)
    control.pause(run)
    work()
    run.refresh_from_db()
    assert run.status == Run.PAUSED
    stands = control.clock_of(run).now_ms(timezone.now() + timedelta(hours=1))
    assert 5_000 <= stands < 60_000
    control.resume(run)
    work()
    run.refresh_from_db()
    assert (run.status, run.wanted, run.clock_sim_ms) == (Run.RUNNING, Run.RUNNING, stands)


def test_a_step_goes_to_the_next_event_and_stays_paused(run):
    work()
    control.pause(run)
    work()
    before = Run.objects.get(pk=run.pk)
    control.step(run)
    work()
    run.refresh_from_db()
    assert (run.status, run.sim_ms, run.clock_sim_ms) == (Run.PAUSED, before.next_event_ms, before.next_event_ms)
    assert run.last_seq > before.last_seq


def test_a_new_speed_counts_from_the_moment_it_is_set(run):
    turn_to(run, 7_000)
    control.set_speed(run, 3_600.0)
    run.refresh_from_db()
    assert run.clock_speed == 3_600.0
    assert 7_000 <= run.clock_sim_ms < 60_000


def test_a_cancelled_run_keeps_its_log(run):
    work()
    control.cancel(run)
    work()
    run.refresh_from_db()
    assert (run.status, run.last_seq) == (Run.CANCELLED, 1)
    control.delete(run)
    assert not Run.objects.filter(pk=run.pk).exists()


def test_verbs_that_do_not_apply_say_why(run, make_run):
    with pytest.raises(control.Refused, match="pause the run before stepping it"):
        control.step(run)
    with pytest.raises(control.Refused, match="cancel it before deleting it"):
        control.delete(run)
    with pytest.raises(control.Refused, match="speed must be above 0"):
        control.set_speed(run, 0)
    with pytest.raises(control.Refused, match="is a batch run"):
        control.set_speed(make_run(), 2.0)
    Run.objects.filter(pk=run.pk).update(status=Run.FINISHED)
    with pytest.raises(control.Refused, match="it is finished"):
        control.pause(run)


def test_a_scenario_with_an_unknown_scheduler_is_refused_with_the_names_that_exist(make_scenario):
    scenario = make_scenario()
    scenario.scheduler = "fifoo"
    with pytest.raises(ValueError, match=r"unknown scheduler 'fifoo'; known: .*fifo"):
        control.start_run(scenario)


def test_every_verb_leaves_an_audit_entry(run, django_user_model):
    user = django_user_model.objects.create(username="ada")
    control.pause(run, user)
    control.resume(run, user)
    control.cancel(run, user)
    assert list(AuditEntry.objects.order_by("id").values_list("action", "subject", "user__username")) == [
        ("run.start", f"run {run.pk}", None),
        ("run.pause", f"run {run.pk}", "ada"),
        ("run.resume", f"run {run.pk}", "ada"),
        ("run.cancel", f"run {run.pk}", "ada"),
    ]
    messages()


def test_the_demo_is_one_live_run_that_begins_anew_when_it_has_finished(db):
    from twin import demo

    first = demo.ensure()
    assert demo.ensure() == first
    assert (first.mode, first.scenario.scheduler) == (Run.LIVE, "oasis")
    assert first.scenario.trace.job_count > 0
    Run.objects.filter(pk=first.pk).update(status=Run.CANCELLED)
    assert demo.ensure() == first  # an operator's wish
    Run.objects.filter(pk=first.pk).update(status=Run.FINISHED)
    ended = {first.pk}
    for _ in range(4):
        newest = demo.ensure()
        assert newest.pk not in ended
        ended.add(newest.pk)
        Run.objects.filter(pk=newest.pk).update(status=Run.FINISHED)
    demo.ensure()
    assert Run.objects.count() == 4  # three to look at, and the one that runs
