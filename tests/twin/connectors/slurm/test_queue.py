"""Jobs from squeue's rows: each case that a real Slurm has shown, and rows that are none."""

import pytest

from tests.twin.connectors.slurm.texts import NOW_S, TOKEN, VERSIONS, answer, read, recorded, running
from twin.connectors import facts
from twin.connectors._slurm.queue import Queue
from twin.connectors.facts import Attempt, ConnectorError, Share

NOW = NOW_S * 1000


def one(**columns):
    (fact,) = read(columns)
    return fact


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_queues_of_each_version_are_read(version):
    jobs = Queue(1000).read(recorded(version, "queue"), TOKEN, 1_795_340_000_000)
    by_size = {
        name: [job for job in jobs if job.key.startswith(f"{name}_")]
        for name in {job.key.split("_")[0] for job in jobs}
    }
    assert sorted(len(tasks) for tasks in by_size.values() if len(tasks) > 1) == [10, 134]
    assert {job.state for job in jobs} == {facts.WAITING, facts.HELD, facts.RUNNING, facts.ENDED}
    gang = [job for job in jobs if job.gang]
    assert [(job.key, job.gang, job.gpus) for job in gang] == [
        (gang[0].key, gang[0].key, 1),
        (gang[0].key[:-1] + "1", gang[0].key, 2),
    ]
    held = [job for job in jobs if job.state == facts.HELD and job.gpus]
    # --gpus-per-task=1 of 3 tasks, --gpus-per-node=1 on 2 nodes
    assert sorted((job.nodes, job.gpus) for job in held) == [(1, 3), (2, 2)]
    (by_job,) = [job for job in jobs if job.gpus == 3 and job.state == facts.RUNNING]
    assert (by_job.memory_mb, by_job.limit_ms) == (3000, 600_000)
    assert [job.depends_on for job in jobs if job.depends_on] == ["afterok:1(unfulfilled)"]


@pytest.mark.parametrize(
    ("version", "at_s", "starts"),
    [
        ("22.05", 1_795_340_000, {"5": 1_795_340_597_000, "6+0": 1_795_341_780_000, "6+1": 1_795_341_780_000}),
        ("24.11", 1_795_339_341, {"7": 1_795_339_937_000, "8+0": 1_795_341_180_000, "8+1": 1_795_341_180_000}),
        ("26.05", 1_795_340_150, {"5": 1_795_340_747_000, "6+0": 1_795_341_960_000, "6+1": 1_795_341_960_000}),
    ],
)
def test_expected_starts_of_each_version_are_unix_milliseconds(version, at_s, starts):
    queue = Queue(1000)
    for _ in range(2):  # also when the rows are known from the poll before
        queue.read(recorded(version, "queue"), TOKEN, at_s * 1000)
        assert queue.starts == starts


def test_a_start_is_expected_of_waiting_jobs_only_and_after_the_poll():
    queue, soon = Queue(1000), str(NOW_S + 60)
    rows = (
        {"JobArrayID": "54_[5-6%2]", "StartTime": soon},
        {"JobArrayID": "55", "StartTime": str(NOW_S - 1)},
        {"JobArrayID": "56", "StartTime": soon, "PriorityLong": "0", "Reason": "JobHeldUser"},
        running(JobArrayID="57"),
        running(JobArrayID="58", State="COMPLETING", RestartCnt="1", StartTime=soon, EndTime=str(NOW_S + 300)),
    )
    queue.read(answer(*rows), TOKEN, NOW)
    assert queue.starts == {"54_5": NOW + 60_000}
    queue.read(answer(*rows), TOKEN, NOW + 60_000)
    assert queue.starts == {}


def test_two_versions_or_more_are_recorded():
    assert len(VERSIONS) >= 2


def test_a_waiting_array_is_one_job_a_task_and_the_split_task_has_the_same_key():
    tasks = read({"JobArrayID": "54_[5-6%2]", "tres-per-node": "gres/gpu:1"}, running(JobArrayID="54_1"))
    assert [(job.key, job.state, job.gpus) for job in tasks] == [
        ("54_5", facts.WAITING, 1), ("54_6", facts.WAITING, 1), ("54_1", facts.RUNNING, 0),
    ]  # fmt: skip


def test_steps_of_an_array_count():
    assert [job.key for job in read({"JobArrayID": "7_[0-9:3,20]"})] == ["7_0", "7_3", "7_6", "7_9", "7_20"]


def test_a_bound_on_waiting_tasks_is_reported():
    queue = Queue(max_tasks=2)
    for _ in range(2):  # also when the row is known from the poll before
        jobs = queue.read(answer({"JobArrayID": "54_[1-5]"}), TOKEN, NOW)
        assert [job.key for job in jobs] == ["54_1", "54_2"]
        assert queue.left_out == "array 54 has 5 waiting tasks, of which the first 2 are shown"
    queue.read(answer({"JobArrayID": "54_[1-2]"}), TOKEN, NOW)
    assert queue.left_out == ""


def test_members_of_a_heterogeneous_job_are_a_gang():
    assert [(job.key, job.gang) for job in read({"JobArrayID": "55+0"}, {"JobArrayID": "55+1"})] == [
        ("55+0", "55+0"),
        ("55+1", "55+0"),
    ]


def test_a_running_job_holds_even_shares_until_more_is_known():
    job = one(**running(NodeList="edge[2-3]", **{"tres-alloc": "cpu=3,mem=4001M,node=2,gres/gpu=3"}, NumCPUs="3"))
    assert job.attempts == (Attempt(NOW - 60_000, None, (Share("edge2", 2, 2, 2001), Share("edge3", 1, 1, 2000))),)


def test_a_requeued_job_that_completes_waits_already():
    """Its start moves with the clock and its end is in the future, being those of the next attempt (seen on 22.05)."""
    job = one(**running(State="COMPLETING", RestartCnt="1", StartTime=str(NOW_S), EndTime=str(NOW_S + 300)))
    assert (job.state, job.restarts, job.attempts, job.reason) == (facts.WAITING, 1, (), "COMPLETING")
    preempted = one(**running(State="COMPLETING", RestartCnt="1", StartTime="N/A", EndTime="N/A"))
    assert (preempted.state, preempted.attempts) == (facts.WAITING, ())


def test_a_job_that_completes_still_holds_its_nodes():
    job = one(**running(State="COMPLETING", EndTime=str(NOW_S - 1)))
    assert (job.state, job.reason, job.attempts[0].ended_ms) == (facts.RUNNING, "COMPLETING", None)


def test_what_completing_means_is_asked_again_at_each_look():
    queue, text = Queue(10), answer(running(State="COMPLETING", EndTime=str(NOW_S + 10)))
    assert queue.read(text, TOKEN, NOW)[0].state == facts.WAITING
    assert queue.read(text, TOKEN, NOW + 60_000)[0].state == facts.RUNNING


@pytest.mark.parametrize(
    ("shown", "outcome"),
    [
        ("COMPLETED", facts.COMPLETED), ("FAILED", facts.FAILED), ("CANCELLED", facts.CANCELLED),
        ("TIMEOUT", facts.TIMEOUT), ("NODE_FAIL", facts.NODE_FAIL), ("OUT_OF_MEMORY", facts.OUT_OF_MEMORY),
        ("PREEMPTED", facts.PREEMPTED), ("BOOT_FAIL", facts.NODE_FAIL), ("DEADLINE", facts.TIMEOUT),
        ("REVOKED", facts.CANCELLED), ("LAUNCH_FAILED", facts.FAILED),
    ],
)  # fmt: skip
def test_ended_jobs_have_an_outcome_and_keep_the_reason(shown, outcome):
    job = one(**running(State=shown, EndTime=str(NOW_S - 5), Reason="NonZeroExitCode"))
    assert (job.state, job.outcome, job.reason, job.ended_ms) == (facts.ENDED, outcome, "NonZeroExitCode", NOW - 5000)
    assert (job.attempts[0].ended_ms, job.attempts[0].outcome) == (NOW - 5000, outcome)


def test_a_node_that_failed_leaves_its_name_and_no_count():
    job = one(**running(State="NODE_FAIL", Reason="NodeDown", NumNodes="0", NodeList="edge3", EndTime=str(NOW_S)))
    assert (job.nodes, job.attempts[0].shares[0].node) == (1, "edge3")


def test_a_job_that_was_cancelled_while_it_waited_has_no_attempt():
    job = one(State="CANCELLED", Reason="None", StartTime=str(NOW_S), EndTime=str(NOW_S))
    assert (job.attempts, job.ended_ms) == ((), NOW)


@pytest.mark.parametrize(
    ("shown", "reason", "state", "expected"),
    [
        ("PENDING", "JobHeldUser", facts.HELD, "JobHeldUser"), ("PENDING", "JobHeldAdmin", facts.HELD, "JobHeldAdmin"),
        ("PENDING", "DependencyNeverSatisfied", facts.WAITING, "DependencyNeverSatisfied"),
        ("PENDING", "BeginTime", facts.WAITING, "BeginTime"), ("PENDING", "None", facts.WAITING, ""),
        ("REQUEUE_HOLD", "None", facts.HELD, "REQUEUE_HOLD"), ("SPECIAL_EXIT", "None", facts.HELD, "SPECIAL_EXIT"),
        ("SUSPENDED", "None", facts.SUSPENDED, ""), ("STOPPED", "None", facts.SUSPENDED, "STOPPED"),
        ("CONFIGURING", "None", facts.RUNNING, "CONFIGURING"),
        ("A_STATE_OF_TOMORROW", "None", facts.RUNNING, "A_STATE_OF_TOMORROW"),
    ],
)  # fmt: skip
def test_states_that_do_not_end_a_job(shown, reason, state, expected):
    job = one(State=shown, Reason=reason)
    assert (job.state, job.reason, job.outcome) == (state, expected, "")


def test_a_reason_with_more_words_is_a_code_and_a_message():
    job = one(Reason="ReqNodeNotAvail, UnavailableNodes:edge2")
    assert (job.reason, job.message) == ("ReqNodeNotAvail", "UnavailableNodes:edge2")


@pytest.mark.parametrize(
    ("shown", "limit_ms"),
    [
        ("10:00", 600_000),
        ("1-02:00:00", 93_600_000),
        ("UNLIMITED", None),
        ("365-00:00:00", None),
        ("Partition_Limit", None),
        ("NOT_SET", None),
    ],
)
def test_limits(shown, limit_ms):
    assert one(TimeLimit=shown).limit_ms == limit_ms


@pytest.mark.parametrize(
    ("columns", "gpus"),
    [
        ({"tres-alloc": "cpu=1,mem=1G,node=2,gres/gpu=6,gres/gpu:a100=6"}, 6),
        ({"tres-per-node": "gres:gpu:2", "NumNodes": "3"}, 6),
        ({"tres-per-node": "gres/gpu:a100:2", "NumNodes": "3"}, 6),
        ({"tres-per-job": "gres:gpu:3", "NumNodes": "3"}, 3), ({"tres-per-task": "gres/gpu=2", "NumTasks": "4"}, 8),
        ({"tres-per-node": "gres/shard:4"}, 0), ({"tres-per-node": "gres:gpu:3090:2"}, 2),
        ({"tres-per-node": "gres:gpu"}, 1),
    ],
)  # fmt: skip
def test_gpus_as_asked_for_in_all_spellings(columns, gpus):
    assert one(**columns).gpus == gpus


def test_priority_queue_user_account_and_reservation_are_reported():
    job = one(Account="physics", Reservation="maint", PriorityLong="4294901759", Partition="low,high")
    assert (job.user, job.account, job.reservation, job.priority, job.queue) == (
        "ann",
        "physics",
        "maint",
        4_294_901_759,
        "low,high",
    )


def test_expected_starts_are_those_of_waiting_jobs():
    queue = Queue(10)
    rows = (
        {"JobArrayID": "54_[1-2]", "StartTime": str(NOW_S + 50)},
        running(JobArrayID="9"),
        {"JobArrayID": "8", "Reason": "JobHeldUser"},
    )
    queue.read(answer(*rows), TOKEN, NOW)
    assert queue.starts == {"54_1": NOW + 50_000}


def test_rows_that_did_not_change_are_not_read_again():
    queue = Queue(10)
    first = queue.read(answer({"JobArrayID": "1"}, {"JobArrayID": "2"}), TOKEN, NOW)
    other = answer({"JobArrayID": "1"}, {"JobArrayID": "2", "PriorityLong": "9"}).replace("@ab12", "@cd34")
    second = queue.read(other, type(TOKEN)("cd34"), NOW + 1000)
    assert second[0] is first[0]
    assert second[1].priority == 9


@pytest.mark.parametrize("hostile", ["\n", "\x1e", "\x1f", "@", "x@ab13@y", "\n77@ab12+ \n", "x\r\nJobId=9"])
def test_a_hostile_account_forges_no_row_and_no_column(hostile):
    jobs = read({"Account": f"a{hostile}b", "JobArrayID": "1"}, {"JobArrayID": "2"})
    assert [(job.key, job.user) for job in jobs] == [("1", "ann"), ("2", "ann")]


def test_separators_differ_from_call_to_call():
    separators = {type(TOKEN)().token for _ in range(20)}
    assert len(separators) == 20
    assert all(len(token) == 16 for token in separators)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "slurm_load_jobs error\n",
            "squeue: the answer ends in the middle of a row, or is not a table: 'slurm_load_jobs error'",
        ),
        (answer({})[:-40], "squeue: the answer ends in the middle of a row, or is not a table: '54@ab12@PENDING"),
        ("54@ab12@RUNNING@ab12+\n", "squeue: a row has 2 columns instead of 22: '54 RUNNING'"),
        (answer({"JobArrayID": "x"}), "job id 'x' cannot be read; expected 54, 54_1, 54_[5-6%2] or 55+0"),
        (answer({"SubmitTime": "2026-11-22T09:00:00"}), "time '2026-11-22T09:00:00' is not in Unix seconds"),
        (answer(running(NodeList="edge[1-")), "host list 'edge[1-' cannot be read at character 5"),
        (answer({"NumCPUs": "many"}), "amount 'many' cannot be read"),
    ],
)
def test_what_is_no_row_gives_one_clear_sentence(text, message):
    with pytest.raises(ConnectorError) as error:
        Queue(10).read(text, TOKEN, NOW)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
