"""Jobs that run again: their submit time, the end of the attempt before, and details that stay known."""

from tests.twin.connectors.slurm.texts import NOW_S, read, running
from twin.connectors import facts
from twin.connectors._slurm.attempts import Attempts
from twin.connectors.facts import Attempt, Share

SUBMITTED, STARTED, NOW = (NOW_S - 100) * 1000, (NOW_S - 60) * 1000, NOW_S * 1000
EVEN = (Share("edge1", 0, 1, 2000),)


def polls(*rows):
    """The job after polls a second apart."""
    attempts = Attempts()
    return [attempts.settled(read(row, at_s=NOW_S + i), NOW + 1000 * i)[0] for i, row in enumerate(rows)]


def waiting_again(submitted_s, restarts="1"):
    return {"State": "PENDING", "Reason": "BeginTime", "SubmitTime": str(submitted_s), "RestartCnt": restarts}


COMPLETING = running(State="COMPLETING", RestartCnt="1", StartTime=str(NOW_S + 1), EndTime=str(NOW_S + 600))


def test_a_requeued_job_keeps_its_submit_time_and_its_first_attempt():
    _, completing, waiting, again = polls(
        running(),
        COMPLETING,
        waiting_again(NOW_S + 2),
        running(SubmitTime=str(NOW_S + 2), RestartCnt="1", StartTime=str(NOW_S + 3)),
    )
    first = Attempt(STARTED, NOW + 1000, EVEN, facts.REQUEUED, ended_after_ms=NOW)
    assert (completing.attempts, completing.state) == ((first,), facts.WAITING)
    assert (waiting.attempts, waiting.submitted_ms, waiting.restarts) == ((first,), SUBMITTED, 1)
    assert again.attempts == (first, Attempt(NOW + 3000, None, EVEN))
    assert (again.submitted_ms, again.resubmitted_ms) == (SUBMITTED, (NOW + 2000,))


def test_a_controller_that_goes_back_to_a_state_before_a_requeue_shows_the_same_job():
    *_, back, failed = polls(
        running(), waiting_again(NOW_S + 1), running(), waiting_again(NOW_S + 3), waiting_again(NOW_S + 3, restarts="2")
    )
    assert (back.submitted_ms, failed.resubmitted_ms) == (SUBMITTED, (NOW + 1000, NOW + 3000))


def test_a_failed_node_ends_the_attempt_when_the_job_is_submitted_again():
    attempts = Attempts()
    attempts.settled(read(running(), at_s=NOW_S), NOW)
    (job,) = attempts.settled(read(waiting_again(NOW_S + 3), at_s=NOW_S + 9), NOW + 9000)
    assert job.attempts == (Attempt(STARTED, NOW + 3000, EVEN, facts.REQUEUED, ended_after_ms=NOW),)


def test_a_job_requeued_and_cancelled_keeps_what_it_did():
    _, cancelled = polls(running(), running(State="CANCELLED", RestartCnt="1", StartTime="N/A", EndTime=str(NOW_S + 1)))
    assert (cancelled.state, [attempt.outcome for attempt in cancelled.attempts]) == (facts.ENDED, [facts.REQUEUED])


def test_a_number_used_again_is_another_job():
    _, other = polls(running(), running(SubmitTime=str(NOW_S), StartTime=str(NOW_S)))
    assert (other.submitted_ms, other.attempts) == (NOW, (Attempt(NOW, None, EVEN),))


def test_details_are_repeated_while_the_attempt_runs_and_forgotten_at_the_next():
    attempts, held = Attempts(), (Share("edge1", 1, 1, 2000, (3,)),)
    (job,) = attempts.settled(read(running()), NOW)
    assert attempts.detailed(job, held).attempts[0].shares == held
    (same,) = attempts.settled(read(running()), NOW)
    assert same.attempts[0].shares == held
    (ended,) = attempts.settled(read(running(State="COMPLETED", EndTime=str(NOW_S))), NOW)
    assert ended.attempts == (Attempt(STARTED, NOW, held, facts.COMPLETED),)
    (again,) = attempts.settled(read(running(RestartCnt="1", StartTime=str(NOW_S))), NOW)
    assert again.attempts[-1].shares == EVEN


def test_what_a_look_does_not_show_is_forgotten():
    attempts = Attempts()
    attempts.settled(read(running()), NOW)
    attempts.settled([], NOW)
    assert attempts.known == {}


def test_a_job_that_is_read_again_is_reported_again_and_was_seen_until_then():
    attempts, (fact,) = Attempts(), read(running())
    first = attempts.settled([fact], NOW)
    assert attempts.settled([fact], NOW + 5000)[0] is first[0]
    (again,) = attempts.settled(read(waiting_again(NOW_S + 9), at_s=NOW_S + 9), NOW + 9000)
    assert (again.attempts[0].ended_after_ms, again.attempts[0].ended_ms) == (NOW + 5000, NOW + 9000)
