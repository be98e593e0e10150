"""Ended jobs from sacct's rows, with all their attempts."""

import pytest

from tests.twin.connectors.slurm.texts import TOKEN
from twin.connectors import facts
from twin.connectors._slurm.accounting import COLUMNS, jobs_of, read_records
from twin.connectors.facts import Attempt, ConnectorError, Share

PLAIN = {
    "JobID": "21", "State": "COMPLETED", "Submit": "1000", "Start": "1010", "End": "1100", "TimelimitRaw": "5",
    "NNodes": "1", "NodeList": "edge2", "ReqTRES": "billing=1,cpu=1,gres/gpu=2,mem=2000M,node=1",
    "AllocTRES": "billing=1,cpu=1,gres/gpu=2,mem=2000M,node=1", "Partition": "edge", "User": "ann",
    "Account": "physics", "Priority": "7", "Reason": "None", "Reservation": "",
}  # fmt: skip


def jobs(*rows):
    text = "".join("".join((PLAIN | row)[column] + TOKEN.column for column in COLUMNS) + "\n" for row in rows)
    return list(jobs_of(read_records(text, TOKEN, 100)))


def test_a_job_with_one_attempt():
    (job,) = jobs({})
    assert (job.key, job.state, job.outcome, job.restarts, job.complete_history) == (
        "21",
        facts.ENDED,
        facts.COMPLETED,
        0,
        True,
    )
    assert (job.submitted_ms, job.ended_ms, job.limit_ms, job.gpus, job.memory_mb) == (
        1_000_000,
        1_100_000,
        300_000,
        2,
        2000,
    )
    assert job.attempts == (Attempt(1_010_000, 1_100_000, (Share("edge2", 2, 1, 2000),), facts.COMPLETED),)


@pytest.mark.parametrize("state", ["REQUEUED", "NODE_FAIL", "PREEMPTED"])
def test_a_requeued_job_is_one_job_though_its_submit_time_has_changed(state):
    (job,) = jobs(
        {"State": state, "End": "1020"},
        {"Submit": "1024", "Start": "1150", "End": "1200", "NodeList": "edge3", "State": "FAILED"},
    )
    assert (job.submitted_ms, job.restarts, job.outcome) == (1_000_000, 1, facts.FAILED)
    assert job.resubmitted_ms == (1_024_000,)
    assert [(attempt.started_ms, attempt.ended_ms, attempt.outcome) for attempt in job.attempts] == [
        (1_010_000, 1_020_000, state.lower()), (1_150_000, 1_200_000, facts.FAILED),
    ]  # fmt: skip


def test_a_number_used_again_is_another_job():
    first, second = jobs({}, {"Submit": "1150", "Start": "1160", "End": "1170"})
    assert [(job.submitted_ms, job.restarts) for job in (first, second)] == [(1_000_000, 0), (1_150_000, 0)]
    first, second = jobs({"State": "NODE_FAIL"}, {"Submit": "9000000", "Start": "9000001", "End": "9000002"})
    assert (first.outcome, second.outcome) == (facts.NODE_FAIL, facts.COMPLETED)


def test_a_job_that_was_cancelled_while_it_waited_has_no_attempt():
    (job,) = jobs({"State": "CANCELLED by 1000", "Start": "1100", "NodeList": "None assigned", "AllocTRES": ""})
    assert (job.outcome, job.attempts, job.ended_ms, job.gpus) == (facts.CANCELLED, (), 1_100_000, 2)


def test_tasks_members_and_what_still_runs():
    rows = (
        {"JobID": "5_[3-4%1]", "State": "CANCELLED"},
        {"JobID": "6+1"},
        {"JobID": "7_2", "State": "RUNNING", "End": "Unknown"},
    )
    assert [(job.key, job.state, job.gang) for job in jobs(*rows)] == [
        ("5_3", facts.ENDED, None), ("5_4", facts.ENDED, None), ("6+1", facts.ENDED, "6+0"),
        ("7_2", facts.RUNNING, None),
    ]  # fmt: skip
    (running,) = jobs(rows[2])
    assert (running.attempts[0].ended_ms, running.attempts[0].outcome, running.ended_ms) == (None, "", None)


def test_the_end_of_a_task_whose_start_is_not_accounted_yet_is_no_record():
    """Seen on 22.05 after a restart of slurmctld: without the start, the task 73_1 is listed as job 76."""
    early = {"JobID": "76", "Partition": "", "ReqTRES": "", "TimelimitRaw": "", "Priority": "0"}
    assert [job.key for job in jobs(early, {})] == ["21"]


@pytest.mark.parametrize("key", ["21", "21_[1-5]"])
@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "NODE_FAIL"])
def test_a_record_that_lacks_the_start_of_a_job_that_ran_is_no_record(state, key):
    """Seen on 22.05: slurmctld was killed before it reported the start of the job; an array is its last task then."""
    assert jobs({"JobID": key, "State": state, "Start": "None", "NodeList": "None assigned"}) == []


def test_a_job_that_was_refused_never_ran():
    (refused,) = jobs({"State": "FAILED", "Start": "1000", "End": "1000", "NodeList": "None assigned"})
    assert (refused.state, refused.attempts) == (facts.ENDED, ())


def test_line_breaks_in_accounts_forge_no_row():
    (job,) = jobs({"Account": "a\n22|COMPLETED\x1f"})
    assert job.key == "21"


def test_an_answer_that_breaks_off_gives_one_clear_sentence():
    with pytest.raises(
        ConnectorError, match="sacct: the answer ends in the middle of a row, or is not a table: '21@ab12@"
    ):
        read_records("21@ab12@COMPLETED@ab12@", TOKEN, 100)
