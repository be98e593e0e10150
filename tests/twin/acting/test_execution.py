"""Plans are carried out as approved or undone completely, wherever the acting process is killed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.twin.acting.builders import Killed, MemoryCluster, NeverWaits, S, actor, approved, connection
from twin.acting import execution, rules
from twin.acting.actor import Actor
from twin.acting.journal import Journal
from twin.acting.plan import ORDER, PLACEMENT, Wanted
from twin.actuators.facts import NODES, NOT_BEFORE, ActuatorError, WaitingJob
from twin.models import ActingRule, Connection, JournalEntry, Proposal

pytestmark = pytest.mark.django_db

SUBMITTED = 1_795_000_000_000
JOBS = tuple(WaitingJob(str(number), SUBMITTED, 100 * (5 - number), node_count=1) for number in range(1, 5))


def wanted(*keys: str, minutes: float = 10) -> list[Wanted]:
    """The jobs in this order: the first one now, the others later."""
    now_ms = time.time_ns() // 1_000_000
    return [
        Wanted(key, SUBMITTED, now_ms + round(place * minutes * 60 * S), (f"n{place}",))
        for place, key in enumerate(keys)
    ]


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster(*JOBS)


@pytest.fixture
def lab() -> Connection:
    return connection()


def states(proposal: Proposal) -> list[str]:
    return list(proposal.entries.values_list("state", flat=True))


def order(cluster: MemoryCluster) -> list[str]:
    return [job.key for job in sorted(cluster.jobs.values(), key=lambda job: -job.priority)]


def test_an_approved_order_is_made_seen_and_kept(lab, cluster):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    process = actor(lab, cluster)
    process.step()
    proposal.refresh_from_db()
    assert (proposal.status, states(proposal), order(cluster)) == ("applied", ["verified"] * 4, ["4", "3", "2", "1"])
    cluster.jobs.clear()  # all have started
    process.held_at = float("-inf")
    process.step()
    proposal.refresh_from_db()
    assert (proposal.status, states(proposal)) == ("ended", ["ended"] * 4)


def test_an_undone_plan_leaves_the_jobs_as_they_were(lab, cluster):
    proposal = approved(lab, cluster, PLACEMENT, wanted("4", "3", "2", "1"))
    process = actor(lab, cluster)
    process.step()
    assert [job.value(NOT_BEFORE) is None for job in cluster.jobs.values()] == [False, False, False, True]
    assert cluster.jobs["4"].nodes == "n0"
    Proposal.objects.update(undo_wanted=True)
    process.step()
    proposal.refresh_from_db()
    assert (proposal.status, proposal.message) == ("undone", "Undo: an operator requested it.")
    assert (states(proposal), cluster.jobs) == (["undone"] * 4, {job.key: job for job in JOBS})


def test_a_refused_permission_takes_back_nothing_else(lab, cluster):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    cluster.refuses = "Invalid user id for job 4"
    actor(lab, cluster).step()
    proposal.refresh_from_db()
    assert (proposal.status, proposal.message) == ("undone", "Undo: Invalid user id for job 4.")
    assert (cluster.calls, states(proposal)) == ([], ["undone", "skipped", "skipped", "skipped"])


def test_an_effect_that_is_missing_is_noticed_after_the_first_job(lab, cluster):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    cluster.ignores = True
    actor(lab, cluster).step()
    proposal.refresh_from_db()
    assert proposal.message == "Undo: job 4 has nice 0 instead of -300."
    assert len(cluster.calls) == 1


def test_an_order_that_does_not_come_about_is_taken_back(lab, cluster, monkeypatch):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    real = MemoryCluster.waiting

    def waiting(self, keys=None):
        found = real(self, keys)
        return {key: replace(job, priority=1) for key, job in found.items()} if self.calls else found

    monkeypatch.setattr(MemoryCluster, "waiting", waiting)
    actor(lab, cluster).step()
    proposal.refresh_from_db()
    assert (proposal.status, proposal.message) == ("undone", "Undo: job 1 is still ahead of job 4 in the queue.")
    assert all(job.nice == 0 for job in cluster.jobs.values())


def test_a_job_that_has_changed_since_is_skipped(lab, cluster):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    cluster.jobs["3"] = replace(cluster.jobs["3"], nice=7)
    cluster.jobs["2"] = replace(cluster.jobs["2"], held=True)
    del cluster.jobs["1"]
    actor(lab, cluster).step()
    assert [(entry.key, entry.state, entry.message) for entry in proposal.entries.all()] == [
        ("4", "verified", ""),
        ("3", "skipped", "The job has nice 7; the plan expects 0."),
        ("2", "skipped", "The job is held now."),
        ("1", "skipped", "The job no longer waits."),
    ]


def test_a_job_that_starts_while_its_change_is_sent_is_skipped(lab, cluster, monkeypatch):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    apply = MemoryCluster.apply

    def start_first(self, change):
        if change.key == "2" and self.jobs.pop("2", None):
            raise ActuatorError("Job is no longer pending execution for job 2")
        apply(self, change)

    monkeypatch.setattr(MemoryCluster, "apply", start_first)
    actor(lab, cluster).step()
    proposal.refresh_from_db()
    assert (proposal.status, order(cluster)) == ("applied", ["4", "3", "1"]), proposal.message
    assert proposal.entries.get(key="2").state == "skipped"
    assert proposal.entries.get(key="2").message == "The job no longer waits."


def test_a_queue_in_another_order_refuses_the_plan(lab, cluster):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    cluster.jobs["1"] = replace(cluster.jobs["1"], priority=1)
    actor(lab, cluster).step()
    proposal.refresh_from_db()
    assert (proposal.status, cluster.calls) == ("refused", [])
    assert proposal.message == (
        "Not started: job 2 is now ahead of job 1, unlike when the plan was made; make a new plan."
    )


@pytest.mark.parametrize("change", ["stopped", "level", "file"])
def test_stop_all_plans_and_a_lower_level_undo_a_plan(lab, cluster, change, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    process = actor(lab, cluster)
    process.step()
    if change == "stopped":
        rules.stop(lab, True)
    elif change == "level":
        rules.change(lab, {"level": rules.PROPOSE})
    else:
        rules.stop_file().touch()
    process.held_at = float("-inf")
    process.step()
    proposal.refresh_from_db()
    assert (proposal.status, cluster.jobs) == ("undone", {job.key: job for job in JOBS})


def test_what_somebody_else_has_set_since_is_left(lab, cluster):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    process = actor(lab, cluster)
    process.step()
    cluster.jobs["4"] = replace(cluster.jobs["4"], nice=50)
    Proposal.objects.update(undo_wanted=True)
    process.step()
    assert cluster.jobs["4"].nice == 50
    first = proposal.entries.get(key="4")
    assert (first.state, first.message) == ("left", "Somebody has set nice to 50.")


def test_slow_calls_take_a_plan_back(lab, cluster, monkeypatch):
    monkeypatch.setattr(execution, "SLOW_MS", 0.0)
    monkeypatch.setattr(execution, "SLOW_FACTOR", 0.0)
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    actor(lab, cluster).step()
    proposal.refresh_from_db()
    assert proposal.status == "undone"
    assert "the controller is overloaded" in proposal.message
    assert cluster.jobs == {job.key: job for job in JOBS}


def test_begin_times_are_renewed_until_the_start_and_run_out_without_an_acting_process(lab, cluster, monkeypatch):
    proposal = approved(lab, cluster, PLACEMENT, wanted("4", "3"))
    process = actor(lab, cluster)
    process.step()
    first_ms = cluster.jobs["3"].not_before_ms
    real = time.time_ns()
    monkeypatch.setattr(
        time, "time_ns", lambda: real + 200_000 * 1_000_000
    )  # 200 s later: a third of the lease is left
    process.held_at = float("-inf")
    process.step()
    assert cluster.jobs["3"].not_before_ms == pytest.approx(first_ms + 200 * S, abs=2 * S)
    assert states(proposal) == ["verified", "verified"]
    monkeypatch.setattr(time, "time_ns", lambda: real + 600_000 * 1_000_000)  # nobody renewed it
    assert cluster.waiting()["3"].not_before_ms is None
    process.held_at = float("-inf")
    process.step()
    assert [(entry.field, entry.state) for entry in proposal.entries.all()] == [
        (NOT_BEFORE, "ended"),
        (NODES, "verified"),
    ]


def test_a_begin_time_that_somebody_sets_while_it_is_renewed_is_left(lab, cluster, monkeypatch):
    proposal = approved(lab, cluster, PLACEMENT, wanted("4", "3"))
    process = actor(lab, cluster)
    process.step()
    real = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: real + 200_000 * 1_000_000)
    apply, theirs_ms = MemoryCluster.apply, real // 1_000_000 + 10_000_000

    def apply_then_theirs(self, change):
        apply(self, change)
        self.jobs["3"] = replace(self.jobs["3"], not_before_ms=theirs_ms)

    monkeypatch.setattr(MemoryCluster, "apply", apply_then_theirs)
    for _ in range(2):
        process.held_at = float("-inf")
        process.step()
    assert cluster.jobs["3"].not_before_ms == theirs_ms
    assert [(entry.key, entry.state) for entry in proposal.entries.all()] == [("3", "left"), ("4", "verified")]


@contextmanager
def killed_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> Iterator[Callable[[], int]]:
    """Ends the process after so many steps: writes of the journal, and calls of the cluster before and after."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1
        if count > steps:
            raise Killed

    def counted(function):
        def run(*args, **given):
            step()
            found = function(*args, **given)
            step()
            return found

        return run

    with monkeypatch.context() as patch:
        for owner, name in ((Journal, "write"), (Journal, "status"), (Journal, "begin"), (MemoryCluster, "apply")):
            patch.setattr(owner, name, counted(getattr(owner, name)))
        yield lambda: count


@pytest.mark.parametrize("kind", [ORDER, PLACEMENT])
@pytest.mark.parametrize("also_undo", [False, True])
@pytest.mark.thorough
def test_killed_between_any_two_steps_the_cluster_is_as_it_was_or_as_planned(lab, monkeypatch, kind, also_undo):
    """Every step of a plan of four jobs, and of its undo."""
    before, planned = {job.key: job for job in JOBS}, {}

    def play(cluster: MemoryCluster) -> None:
        process = actor(lab, cluster)
        process.step()
        planned.update(planned or cluster.jobs)
        if also_undo:
            Proposal.objects.filter(status="applied").update(undo_wanted=True)
            process.step()

    whole = MemoryCluster(*JOBS)
    approved(lab, whole, kind, wanted("4", "3", "2", "1"))
    with killed_after(monkeypatch, 10_000) as count:
        play(whole)
        total = count()
    assert total > 20
    for steps in range(total):
        JournalEntry.objects.all().delete()
        Proposal.objects.all().delete()
        cluster = MemoryCluster(*JOBS)
        proposal = approved(lab, cluster, kind, wanted("4", "3", "2", "1"))
        with killed_after(monkeypatch, steps), pytest.raises(Killed):
            play(cluster)
        actor(lab, cluster).step()  # the one that is started in its place
        proposal.refresh_from_db()
        assert proposal.status in ("applied", "undone"), f"killed after step {steps}"
        if proposal.status == "undone":
            assert cluster.jobs == before, f"killed after step {steps}"
        else:
            assert {key: (job.nice, job.nodes, job.not_before_ms is None) for key, job in cluster.jobs.items()} == {
                key: (job.nice, job.nodes, job.not_before_ms is None) for key, job in planned.items()
            }, f"killed after step {steps}"


def test_a_lease_from_before_the_clock_was_set_back_is_taken(lab, cluster, monkeypatch):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    with monkeypatch.context() as clock:
        clock.setattr("django.utils.timezone.now", lambda: datetime.now(UTC) + timedelta(minutes=5))
        Actor(lab, cluster, NeverWaits())._take()
    assert not rules.actor_running(rules.of(lab)), "its sign of life is from a time to come"
    ActingRule.objects.update(lease_owner="elsewhere.example/1.1")
    new = Actor(lab, cluster, NeverWaits())
    new.step()
    proposal.refresh_from_db()
    assert (proposal.status, rules.actor_running(rules.of(lab))) == ("applied", True)
    third = Actor(lab, cluster, NeverWaits())
    third._take()
    assert third.execution is None, "the new lease is in force"


def test_a_process_that_lost_its_lease_calls_nothing(lab, cluster):
    proposal = approved(lab, cluster, ORDER, wanted("4", "3", "2", "1"))
    old = actor(lab, cluster)
    old._take()
    new = actor(lab, cluster)
    new._take()
    with pytest.raises(Exception, match="another acting process"):
        old.step()
    assert cluster.calls == []
    new.step()
    proposal.refresh_from_db()
    assert proposal.status == "applied"
