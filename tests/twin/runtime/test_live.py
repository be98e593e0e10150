"""Live runs: the clock says what is due, the ticker asks for it, operators pause, pace and step."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from scheduling.workloads import generate
from tests.twin.runtime.builders import undisturbed
from tests.twin.runtime.queues import messages, work
from twin import ticker
from twin.analysis.situation import situation
from twin.eventlog import event_log
from twin.models import AuditEntry, Run, Scenario
from twin.runs import commands, engine, runner
from twin.scenarios import store


@pytest.fixture
def run(make_scenario, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        return commands.start_run(make_scenario(), mode=Run.LIVE, speed=1.0)


HOUR_MS = 3_600_000


def turn_to(run, sim_ms):
    """Sets the clock of a run, as if the time had passed."""
    Run.objects.filter(pk=run.pk).update(clock_sim_ms=sim_ms, clock_wall=timezone.now())


def test_only_what_is_due_happens(run):
    work()
    run.refresh_from_db()
    first_arrival = next(job.arrival_ms for job in runner.store.of_run(run)[1])
    assert run.next_event_ms == first_arrival > 0
    assert [e.kind for batch in event_log.after(run.pk, 0) for e in batch] == ["run_started"]
    turn_to(run, first_arrival)
    runner.advance(run.pk)
    run.refresh_from_db()
    assert run.sim_ms == first_arrival
    assert run.next_event_ms > first_arrival


def test_the_situation_between_two_events_is_that_of_the_clock(run, monkeypatch):
    """The time of the situation moves in steps of a second of real time, so that its readers share one result, and
    never reaches the next event. While the run is paused, it is the exact time of the clock.
    """
    work()
    turn_to(run, Run.objects.get(pk=run.pk).next_event_ms)
    runner.advance(run.pk)
    run.refresh_from_db()
    assert run.next_event_ms - run.sim_ms > 60_000
    Run.objects.filter(pk=run.pk).update(clock_speed=10.0)

    def shown() -> int:
        return situation(Run.objects.get(pk=run.pk)).shown["sim_ms"]

    with monkeypatch.context() as frozen:
        for past_ms, step_ms in ((9_999, 0), (25_000, 20_000)):
            frozen.setattr("twin.analysis.situation.now_ms", lambda run, past_ms=past_ms: run.sim_ms + past_ms)
            assert shown() == run.sim_ms + step_ms
    Run.objects.filter(pk=run.pk).update(wanted=Run.PAUSED)
    for past_ms in (9_999, 25_000):
        turn_to(run, run.sim_ms + past_ms)
        assert shown() == run.sim_ms + past_ms
    turn_to(run, run.next_event_ms + HOUR_MS)
    assert shown() == run.next_event_ms - 1


def test_pages_hear_of_the_next_event_unless_it_is_due_soon(run, monkeypatch):
    """Between two events a page shows the time of the clock, but no time after the next event that the page knows."""
    work()
    said = []
    monkeypatch.setattr(runner.pubsub, "publish", lambda channel, message: said.append((channel, message)))
    turn_to(run, Run.objects.get(pk=run.pk).next_event_ms)
    runner.advance(run.pk)
    next_ms = Run.objects.get(pk=run.pk).next_event_ms
    nexts = [message for _, message in said if isinstance(message, dict) and message.get("type") == "next"]
    assert nexts == [{"type": "next", "at_ms": next_ms}]
    Run.objects.filter(pk=run.pk).update(clock_speed=1e9)
    said.clear()
    turn_to(run, next_ms)
    runner.advance(run.pk)
    assert said
    assert not any(isinstance(message, dict) and message.get("type") == "next" for _, message in said)


def test_a_live_run_ends_with_the_log_of_a_batch_run(run):
    work()
    while Run.objects.get(pk=run.pk).status == Run.RUNNING:
        turn_to(run, Run.objects.get(pk=run.pk).next_event_ms)
        engine.forget()
        runner.advance(run.pk)
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    assert list(event_log.canonical(run.pk)) == undisturbed(run)


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
    monkeypatch.setattr(ticker, "REQUEST_AGAIN_S", 0.0)
    assert beat.tick() == [run.pk]


def test_the_ticker_asks_at_its_start_for_runs_that_nobody_works_on(make_run):
    """A broker that was started again is empty; nobody waits 5 s for that."""
    left, busy, over = make_run(), make_run(), make_run()
    Run.objects.filter(pk=busy.pk).update(
        lease_owner="busy.example/1.1", lease_until=timezone.now() + timedelta(seconds=9)
    )
    Run.objects.filter(pk=over.pk).update(status=Run.FINISHED)
    beat = ticker.Ticker()
    assert beat.begin() == [left.pk]
    assert beat.tick() == []  # asked for already
    assert messages() == [("twin.tasks.advance_run", left.pk)]


def test_the_ticker_leaves_a_run_that_is_being_worked_on(make_run):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(
        lease_owner="busy.example/1.1", lease_until=timezone.now() + timedelta(seconds=9)
    )
    assert ticker.Ticker().tick() == []


def test_a_live_run_that_nobody_worked_on_goes_on_from_the_moment_where_it_was(run):
    work()
    run.refresh_from_db()
    due = run.next_event_ms
    ago = timezone.now() - timedelta(seconds=90)
    Run.objects.update(clock_sim_ms=due, clock_wall=ago, clock_speed=3_600.0, progressed_at=ago - timedelta(seconds=5))
    runner.advance(run.pk)
    run.refresh_from_db()
    assert due <= run.sim_ms < due + 10 * HOUR_MS, "90 s at this pace are 90 hours"
    assert run.clock_sim_ms == due
    entry = AuditEntry.objects.get(action="run.held", subject=f"run {run.pk}")
    assert (entry.detail["reason"], entry.detail["clock_ms"]) == (runner.AWAY, due)
    assert 90 <= entry.detail["seconds"] < 100
    assert run.message.startswith("resumed after 9")
    assert run.held_since is None
    runner.advance(run.pk)
    assert AuditEntry.objects.filter(action="run.held").count() == 1, "it is away once"


def test_a_live_run_whose_slices_are_slow_keeps_its_clock(run):
    """It is behind its clock, and was worked on a moment ago."""
    work()
    run.refresh_from_db()
    ago = timezone.now() - timedelta(seconds=90)
    Run.objects.update(clock_sim_ms=run.next_event_ms, clock_wall=ago, progressed_at=timezone.now())
    runner.advance(run.pk)
    assert Run.objects.get(pk=run.pk).clock_wall == ago
    assert not AuditEntry.objects.filter(action="run.held").exists()


def test_a_new_live_run_that_waited_for_its_first_slice_begins_at_its_beginning(run):
    Run.objects.update(clock_wall=timezone.now() - timedelta(seconds=60), clock_speed=1e9)
    work()
    run.refresh_from_db()
    assert run.clock_sim_ms == 0
    assert AuditEntry.objects.filter(action="run.held").count() == 1


def test_pausing_stops_the_clock_and_resuming_goes_on_from_there(run):
    work()
    turn_to(run, 5_000)
    commands.pause(run)
    work()
    run.refresh_from_db()
    assert run.status == Run.PAUSED
    stands = commands.clock_of(run).now_ms(timezone.now() + timedelta(hours=1))
    assert 5_000 <= stands < 60_000
    commands.resume(run)
    work()
    run.refresh_from_db()
    assert (run.status, run.wanted, run.clock_sim_ms) == (Run.RUNNING, Run.RUNNING, stands)


def test_a_step_goes_to_the_next_event_and_stays_paused(run):
    work()
    commands.pause(run)
    work()
    before = Run.objects.get(pk=run.pk)
    commands.step(run)
    work()
    run.refresh_from_db()
    assert (run.status, run.sim_ms, run.clock_sim_ms) == (Run.PAUSED, before.next_event_ms, before.next_event_ms)
    assert run.last_seq > before.last_seq


def test_a_step_processes_a_whole_instant(make_scenario, django_capture_on_commit_callbacks):
    """Three jobs arrive at one time: after the step, no event of that time is left."""
    cluster, jobs = generate("oasis", num_jobs=3, num_servers=4, seed=3)
    spec, trace = store.store_generated("at once", cluster, [replace(job, arrival_ms=5_000) for job in jobs], 3)
    scenario = Scenario.objects.create(name="at once", cluster=spec, trace=trace, scheduler="fifo", seed=3)
    with django_capture_on_commit_callbacks(execute=True):
        run = commands.start_run(scenario, mode=Run.LIVE, speed=1.0)
    work()
    commands.pause(run)
    work()
    commands.step(run)
    work()
    run.refresh_from_db()
    assert run.sim_ms == 5_000 < run.next_event_ms
    kinds = [event.kind for batch in event_log.after(run.pk, 0) for event in batch]
    assert kinds.count("job_arrived") == 3


def test_a_new_speed_counts_from_the_moment_it_is_set(run):
    turn_to(run, 7_000)
    commands.set_speed(run, 3_600.0)
    run.refresh_from_db()
    assert run.clock_speed == 3_600.0
    assert 7_000 <= run.clock_sim_ms < 60_000


def test_a_cancelled_run_keeps_its_log(run):
    work()
    commands.cancel(run)
    assert (run.status, run.last_seq) == (Run.CANCELLED, 1), "at once, without a worker"
    commands.delete(run)
    assert not Run.objects.filter(pk=run.pk).exists()


def test_verbs_that_do_not_apply_say_why(run, make_run):
    with pytest.raises(commands.Refused, match="pause the run before stepping it"):
        commands.step(run)
    with pytest.raises(commands.Refused, match="cancel it before deleting it"):
        commands.delete(run)
    with pytest.raises(commands.Refused, match="speed must be above 0"):
        commands.set_speed(run, 0)
    with pytest.raises(commands.Refused, match="is not live"):
        commands.set_speed(make_run(), 2.0)
    Run.objects.filter(pk=run.pk).update(status=Run.FINISHED)
    with pytest.raises(commands.Refused, match="it is finished"):
        commands.pause(run)


def test_a_scenario_with_an_unknown_scheduler_is_refused_with_the_names_that_exist(make_scenario):
    scenario = make_scenario()
    scenario.scheduler = "fifoo"
    with pytest.raises(ValueError, match=r"scheduler 'fifoo' is not available: .*; known: .*fifo"):
        commands.start_run(scenario)


def test_every_verb_leaves_an_audit_entry(run, django_user_model):
    user = django_user_model.objects.create(username="ada")
    commands.pause(run, user)
    commands.resume(run, user)
    commands.cancel(run, user)
    assert list(AuditEntry.objects.order_by("id").values_list("action", "subject", "user__username")) == [
        ("run.start", f"run {run.pk}", None),
        ("run.pause", f"run {run.pk}", "ada"),
        ("run.resume", f"run {run.pk}", "ada"),
        ("run.cancel", f"run {run.pk}", "ada"),
    ]
    messages()
