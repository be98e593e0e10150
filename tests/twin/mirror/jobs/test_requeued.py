"""Jobs that Slurm queues again: one job in the log, with the attempts that the accounting says.

Slurm gives such a job a new submit time. A follower may have been away then, so it knows neither the times before nor
the attempts that it did not see.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduling.model.bars import Placement
from tests.twin.mirror.builders import EPOCH, Log, S, Scripted, at, attempt, ended, job, polled, running
from tests.twin.mirror.builders_stored import follow
from twin.connectors.facts import COMPLETED, NODE_FAIL, REQUEUED, RUNNING, WAITING, ConnectorError
from twin.eventlog.batch_codec import BarRows
from twin.mirror.drift import LoggedState, compare
from twin.mirror.following import Following

FIRST = attempt(5, 12, outcome=NODE_FAIL)  # by the accounting
SECOND = attempt(30, 40, node="cloud1", outcome=COMPLETED)


def waiting_again(**fields):
    """As a connector that knows nothing of the job's past shows it: with its new submit time."""
    return job("1", WAITING, **{"submitted_ms": at(15), "restarts": 1, "reason": "BeginTime"} | fields)


def running_again(**fields):
    return running("1", 30, node="cloud1", submitted_ms=at(15), restarts=1, **fields)


def accounted(*attempts, **fields):
    """What the accounting says of the job."""
    last = attempts[-1]
    over = {"state": "ended", "ended_ms": last.ended_ms, "outcome": last.outcome} if last.ended_ms else {}
    stated = {"resubmitted_ms": (at(15),), "restarts": len(attempts) - 1, "complete_history": True}
    return job("1", attempts=attempts, **{"state": RUNNING} | over | stated | fields)


WHOLE = accounted(FIRST, SECOND)


class Accounting(Scripted):
    """A cluster whose accounting knows of an end after 15 s."""

    settled_ms = 15 * S

    def __init__(self, *answers, accounting=()):
        super().__init__(*answers, accounting=accounting)
        self.questions = []

    def accounted(self, keys):
        self.questions.append(tuple(keys))
        yield from (fact for fact in self.accounting if fact.key in keys)


def spans(known):
    return [(each.started_ms, each.ended_ms, each.outcome, each.shares[0].node) for each in known.attempts]


def as_accounted(fact=WHOLE):
    return [(each.started_ms, each.ended_ms, each.outcome, each.shares[0].node) for each in fact.attempts]


# One job, though its submit time has changed.


def test_a_job_whose_restart_was_seen_stays_the_same_when_a_new_follower_sees_its_new_submit_time():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(14, job("1", restarts=1)))  # COMPLETING: one restart more, and still the old submit time
    log.apply(polled(16, waiting_again()))
    assert len(log.mirror.jobs) == 1
    log.apply(polled(31, running_again()))
    assert [known.name for known in log.mirror.jobs] == ["1"]
    assert log.mirror.jobs[0].fact.submitted_ms == at(0)
    assert log.mirror.open == {0}


def test_an_end_from_the_accounting_is_that_of_the_job_though_only_its_new_submit_time_was_polled():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(20, waiting_again()))
    log.apply(polled(400, WHOLE))
    (known,) = log.mirror.jobs
    assert (spans(known), known.fact.outcome, log.mirror.open) == (as_accounted(), COMPLETED, set())


def test_a_job_that_was_first_seen_after_its_requeue_is_the_one_of_the_accounting():
    log = Log()
    log.apply(polled(20, waiting_again()))
    log.apply(polled(400, WHOLE))
    (known,) = log.mirror.jobs
    assert spans(known) == as_accounted()
    assert known.fact.submitted_ms == at(0)
    arrivals = [event.data["submitted_ms"] for event in log.events if event.kind == "job_arrived"]
    assert arrivals == [15 * S, 0]


def test_a_controller_that_forgets_a_requeue_shows_the_same_job():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(20, waiting_again()))
    log.apply(polled(25, running("1", 5)))
    assert len(log.mirror.jobs) == 1


def test_a_job_that_was_lost_goes_on_when_it_is_shown_again():
    log = Log()
    log.apply(polled(10, job("1", restarts=1, attempts=(replace(FIRST, outcome=REQUEUED),))))
    log.apply(polled(20))
    assert log.mirror.jobs[0].fact.outcome == "lost"
    log.apply(polled(31, running_again()))
    (known,) = log.mirror.jobs
    assert (known.fact.state, log.mirror.open) == (RUNNING, {0})


@pytest.mark.parametrize(
    "other",
    [
        job("1", submitted_ms=at(15)),  # never queued again
        replace(ended(running("1", 16, submitted_ms=at(15)), 18), complete_history=True),
    ],
)
def test_a_number_used_again_is_another_job(other):
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(20, other))
    assert [known.name for known in log.mirror.jobs] == ["1", "1~2"]


def test_a_number_used_again_after_a_final_end_is_another_job():
    log = Log()
    log.apply(polled(10, job("1", restarts=1)))
    log.apply(polled(11, replace(ended(running("1", 5), 9), restarts=1)))
    log.apply(polled(90, running("1", 80, submitted_ms=at(70), restarts=1)))
    assert [known.name for known in log.mirror.jobs] == ["1", "1~2"]


def test_a_number_used_again_that_is_first_seen_after_its_own_requeue_is_another_job():
    """The cluster had forgotten the first job, so it cannot have queued that one again."""
    log = Log()
    log.apply(polled(10, ended(running("1", 5), 9)))
    log.apply(polled(400))
    log.apply(polled(500, waiting_again(submitted_ms=at(450))))
    assert [known.name for known in log.mirror.jobs] == ["1", "1~2"]


def test_a_completed_job_that_a_user_queues_again_is_the_same():
    log = Log()
    log.apply(polled(10, ended(running("1", 5), 9)))
    log.apply(polled(500, waiting_again(submitted_ms=at(450))))  # it was listed until then, or nobody looked
    assert [known.name for known in log.mirror.jobs] == ["1"]


def test_an_incomplete_poll_does_not_tell_that_a_job_is_forgotten():
    log = Log()
    log.apply(polled(10, ended(running("1", 5), 9)))
    log.apply(replace(polled(400), complete=False))
    log.apply(polled(500, waiting_again(submitted_ms=at(450))))
    assert [known.name for known in log.mirror.jobs] == ["1"]


def test_a_job_of_another_user_is_another_job():
    log = Log()
    log.apply(polled(10, replace(ended(running("1", 5), 9), user="ada")))
    log.apply(polled(500, waiting_again(submitted_ms=at(450), user="bob")))
    assert [known.name for known in log.mirror.jobs] == ["1", "1~2"]


@pytest.mark.parametrize("outcome", [NODE_FAIL, REQUEUED])
def test_a_failed_job_that_the_cluster_has_forgotten_is_not_queued_again(outcome):
    log = Log()
    log.apply(polled(10, ended(running("1", 5), 9, outcome)))
    log.apply(polled(400))
    log.apply(polled(500, waiting_again(submitted_ms=at(450))))
    assert [known.name for known in log.mirror.jobs] == ["1", "1~2"]


@pytest.mark.parametrize("complete", [True, False])
def test_a_number_used_again_after_the_controller_lost_its_state_is_another_job(complete):
    """The new job was submitted, and requeued, after a poll had missed the old one."""
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(400))
    log.apply(replace(polled(420), complete=complete))
    log.apply(polled(500, waiting_again(submitted_ms=at(450))))
    assert [(known.name, known.fact.outcome) for known in log.mirror.jobs] == [("1", "lost"), ("1~2", "")]
    assert log.mirror.open == {1}


def test_a_uid_of_the_cluster_decides_whatever_times_and_restarts_say():
    log = Log()
    log.apply(polled(10, running("a/job/b", 5, uid="x")))
    log.apply(polled(20, running("a/job/b", 15, uid="y", submitted_ms=at(14), restarts=1)))  # deleted, created, failed
    assert [(known.name, known.fact.outcome) for known in log.mirror.jobs] == [("a/job/b", "lost"), ("a/job/b~2", "")]
    log.apply(polled(30, running("a/job/b", 15, uid="y", submitted_ms=at(16))))  # its oldest pod is gone
    assert len(log.mirror.jobs) == 2


def test_two_objects_with_one_name_are_two_jobs_in_any_order():
    """A deleted job whose pods still run, and its successor, of the same second."""
    old, new = running("a/job/b", 5, uid="x"), job("a/job/b", uid="y", restarts=1)
    for order in ((old, new), (new, old)):
        log = Log()
        log.apply(polled(10, old))
        log.apply(polled(20, *order))
        assert log.mirror.open == {0, 1}
        log.apply(polled(30, *reversed(order)))
        assert (len(log.mirror.jobs), log.mirror.open) == (2, {0, 1})


def test_a_requeued_job_that_ended_in_the_run_before_is_past_under_every_submit_time():
    log = Log()
    log.mirror.past = {("1", at(0)): 1, ("1", at(15)): 1}
    assert log.apply(polled(50, ended(running_again(), 49), nodes=None)) == []


# Its attempts are those of the accounting.


def test_the_end_that_was_not_seen_becomes_exact_while_the_job_waits():
    connector = Accounting(polled(10, running("1", 5)), *(polled(n, waiting_again()) for n in (20, 30, 36)))
    connector.accounting = [replace(accounted(FIRST), state=WAITING, outcome="", ended_ms=None, restarts=1)]
    following, events, _ = follow(connector, 4)
    assert spans(following.mirror.jobs[0]) == as_accounted(accounted(FIRST))
    assert following.mirror.jobs[0].fact.state == WAITING
    assert connector.questions == [("1",)], "once, when the accounting is settled"
    bars = [data["bars"] for _, kind, data in events if kind == "plan_changed"]
    assert [(bar.start_ms, bar.end_ms) for bar in bars[-1]] == [(5 * S, 12 * S)]


def test_an_exact_end_is_not_replaced_by_what_later_polls_estimate():
    guess = replace(attempt(5, 20, outcome=REQUEUED), ended_after_ms=at(10))
    again = waiting_again(submitted_ms=at(0), resubmitted_ms=(at(15),), attempts=(guess,))
    log = Log()
    log.apply(polled(20, again))
    log.write(log.mirror.accounted([replace(accounted(FIRST), state=WAITING, outcome="", ended_ms=None)]))
    assert spans(log.mirror.jobs[0]) == as_accounted(accounted(FIRST))
    assert log.apply(polled(21, again)) == []
    log.apply(polled(31, replace(running_again(), attempts=(guess, attempt(30, node="cloud1")))))
    assert spans(log.mirror.jobs[0])[0] == as_accounted(accounted(FIRST))[0]


def test_a_first_attempt_of_no_time_that_no_poll_has_seen_is_taken_from_the_accounting():
    none = attempt(5, 5, outcome=NODE_FAIL)
    over = ended(running_again(), 40)
    polls = [polled(second, over) for second in (41, 56, 57)]
    connector = Accounting(polled(31, running_again()), *polls, accounting=[accounted(none, SECOND)])
    following, _, _ = follow(connector, len(polls))
    (known,) = following.mirror.jobs
    assert spans(known) == as_accounted(accounted(none, SECOND))
    assert following.mirror.uncertain == set()
    assert following.mirror.apply(polled(60, over)) == [], "the queue shows the end for some minutes"


def test_an_accounting_that_knows_only_the_failed_attempt_ends_nothing():
    """The record of the next attempt comes some seconds later than that of the failure."""
    connector = Accounting(
        polled(10, running("1", 5)), polled(31, running_again()), polled(50),
        accounting=[accounted(FIRST, resubmitted_ms=())],
    )  # fmt: skip
    connector.history = lambda since_ms, until_ms: iter(connector.accounting)
    following, _, _ = follow(connector, 2)
    (known,) = following.mirror.jobs
    assert (known.fact.state, len(known.attempts)) == (RUNNING, 2)
    connector.accounting = [WHOLE]
    following.apply(polled(66))
    assert (spans(known), known.fact.outcome) == (as_accounted(), COMPLETED)


def test_an_attempt_of_which_the_accounting_has_no_record_stays():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(40, ended(running_again(), 39)))
    only = replace(accounted(SECOND), submitted_ms=at(15), resubmitted_ms=())
    log.write(log.mirror.accounted([only]))
    (known,) = log.mirror.jobs
    assert [each.started_ms for each in known.attempts] == [at(5), at(30)]
    assert (known.fact.restarts, known.attempts[1].ended_ms) == (1, at(40))


def test_an_accounting_that_never_answers_is_asked_less_and_less_often_and_at_last_no_more():
    again = waiting_again()
    connector = Accounting(polled(10, running("1", 5)), *(polled(second, again) for second in range(20, 7200, 5)))

    def refused(keys):
        connector.questions.append(keys)
        raise ConnectorError("slurmdbd: does not answer")

    connector.accounted = refused
    following, _, _ = follow(connector, 1430)
    assert 4 <= len(connector.questions) <= 10
    assert following.mirror.uncertain == set()


def test_jobs_that_ran_once_are_not_asked_for():
    connector = Accounting(
        *(polled(second, running("1", 5)) for second in (10, 30)), polled(40, ended(running("1", 5), 35))
    )
    follow(connector, 8)
    assert connector.questions == []


def test_an_end_that_the_accounting_corrects_is_corrected_in_the_log():
    connector = Accounting(
        polled(10, running("1", 5)), *(polled(second) for second in (20, 36, 52, 80, 120)), accounting=[]
    )
    following, events, _ = follow(connector, 3)
    assert following.mirror.jobs[0].fact.outcome == "lost"
    connector.accounting = [replace(accounted(attempt(5, 12, outcome=COMPLETED)), resubmitted_ms=())]
    for second in (52, 80, 120):
        following.apply(polled(second))
    assert following.mirror.jobs[0].fact.outcome == COMPLETED
    assert [data["values"]["outcome"] for _, kind, data in events if kind == "decided" and data["kind"] == "ended"] == [
        "lost", COMPLETED,
    ]  # fmt: skip
    assert [data["ended_ms"] for _, kind, data in events if kind == "job_completed"] == [36 * S, 12 * S]


def test_the_log_of_a_job_with_a_later_known_attempt_differs_in_nothing_from_the_accounting():
    log = Log()
    log.apply(polled(31, running_again()))
    over = ended(running_again(), 40)
    log.apply(polled(41, over))
    log.write(log.mirror.accounted([WHOLE]))
    logged = LoggedState()
    for event in log.events:
        bars = [list(bar) for bar in event.data["bars"]] if event.kind == "plan_changed" else []
        data = {**event.data, "bars": BarRows(0, len(bars))} if event.kind == "plan_changed" else event.data
        logged.feed(
            [(event.seq, event.at_ms, event.kind, data)],
            np.asarray(bars, dtype=np.int64).reshape(-1, len(Placement._fields)),
        )
    assert compare(logged, polled(42, over), [WHOLE], EPOCH, 0)[1] == []


def test_following_asks_after_a_restart_too():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(20, waiting_again()))
    connector = Accounting(polled(21, waiting_again()), accounting=[replace(accounted(FIRST), state=WAITING)])
    following = Following(connector, log.mirror, lambda events, ms: log.write(events), stopped=lambda seconds: True)
    following.apply(polled(21, waiting_again()))
    following.apply(polled(36, waiting_again()))
    assert spans(log.mirror.jobs[0]) == as_accounted(accounted(FIRST))
