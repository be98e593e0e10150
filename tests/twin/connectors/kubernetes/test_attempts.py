"""Attempts of jobs on Kubernetes: their pods over time, how they end, and jobs that are deleted or seen again."""

import pytest

from tests.twin.connectors.kubernetes.objects import (
    CREATED_MS,
    bound,
    ended,
    job,
    meta,
    over,
    pod,
    time,
)
from tests.twin.connectors.kubernetes.world import KIND, NOW, World, at, share
from twin.connectors._kubernetes.kinds import Source
from twin.connectors.facts import (
    CANCELLED,
    COMPLETED,
    ENDED,
    FAILED,
    NODE_FAIL,
    OUT_OF_MEMORY,
    PREEMPTED,
    REQUEUED,
    RUNNING,
    TIMEOUT,
    WAITING,
    Attempt,
)


@pytest.fixture
def world():
    return World()


def test_pods_that_join_and_leave_have_intervals_of_their_own(world):
    train = world.put(job("train", pods=2))
    early, late = bound(pod("a", train), "n1", 10), bound(pod("b", train), "n2", 15)
    world.put(early, late)
    world.put(ended(early, 30))
    assert world.job().attempts == (Attempt(at(10), None, (share("n1", until_ms=at(30)), share("n2", from_ms=at(15)))),)
    world.put(ended(late, 40), over(train, "Complete", 41))
    fact = world.job()
    assert fact.attempts == (
        Attempt(at(10), at(40), (share("n1", until_ms=at(30)), share("n2", from_ms=at(15))), COMPLETED),
    )
    assert (fact.state, fact.ended_ms, fact.restarts) == (ENDED, at(41), 0)


def test_while_the_pods_of_a_job_succeed_one_after_another_it_runs_on(world):
    train = world.put(job("train", pods=1, completions=2))
    world.put(ended(bound(pod("a", train), "n1", 10), 20))
    fact = world.job()
    assert (fact.state, fact.attempts[0].ended_ms, fact.attempts[0].shares) == (
        RUNNING,
        None,
        (share("n1", until_ms=at(20)),),
    )
    world.put(bound(pod("b", train), "n2", 25))
    assert len(world.job().attempts) == 1


def test_a_pod_after_a_failure_begins_another_attempt(world):
    train = world.put(job("train"))
    world.put(ended(bound(pod("a", train), "n1", 10), 20, "Failed", "Error"))
    fact = world.job()
    assert (fact.state, fact.restarts, [a.outcome for a in fact.attempts]) == (WAITING, 1, [FAILED])
    world.put(bound(pod("b", train), "n2", 20))
    fact = world.job()
    assert fact.attempts == (Attempt(at(10), at(20), (share("n1"),), FAILED), Attempt(at(20), None, (share("n2"),)))
    assert (fact.state, fact.restarts) == (RUNNING, 1)


def test_a_restarted_jobset_begins_another_attempt_though_old_pods_linger(world):
    jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta("s"), "spec": {}}
    world.put({**jobset, "status": {"restarts": 1}})
    world.put(
        *(
            bound(pod(f"p{i}", jobset, labels={"jobset.sigs.k8s.io/restart-attempt": str(i)}), "n1", 10 * i)
            for i in (0, 1)
        )
    )
    fact = world.job()
    assert [attempt.started_ms for attempt in fact.attempts] == [at(0), at(10)]
    assert fact.restarts == 1


def test_a_pod_that_is_taken_away_is_requeued_or_preempted(world):
    train = world.put(job("train"))
    first = world.put(bound(pod("a", train), "n1", 10))
    world.delete(first)
    assert [(a.outcome, a.ended_ms) for a in world.job().attempts] == [(REQUEUED, NOW - 500)], (
        "in whole seconds, as the cluster"
    )
    evicted = {"type": "Evicted", "status": "True", "reason": "Preempted"}
    world.put({"kind": "Workload", "metadata": meta("w", train), "spec": {}, "status": {"conditions": [evicted]}})
    assert [a.outcome for a in world.job().attempts] == [PREEMPTED]


def test_an_end_that_nobody_saw_is_not_later_than_the_next_beginning(world):
    train = world.put(job("train"))
    first = world.put(bound(pod("a", train), "n1", 10))
    world.put(bound(pod("b", train), "n2", 100))
    world.delete(first, after=at(60), at=at(200))
    fact = world.job()
    assert [(a.started_ms, a.ended_after_ms, a.ended_ms) for a in fact.attempts] == [
        (at(10), at(60), at(100)),
        (at(100), None, None),
    ]


def test_a_job_that_is_over_while_a_pod_holds_its_node_still_runs(world):
    train = world.put(job("train"))
    left = world.put(bound(pod("a", train), "n1", 10))
    world.put(over(train, "Complete", 20))
    fact = world.job()
    assert (fact.state, fact.reason) == (RUNNING, "Terminating")
    world.put(ended(left, 50))
    fact = world.job()
    assert (fact.state, fact.outcome, fact.ended_ms) == (ENDED, COMPLETED, at(50))


@pytest.mark.parametrize(
    ("phase", "reason", "status", "outcome"),
    [
        ("Succeeded", "Completed", {}, COMPLETED),
        ("Failed", "Error", {}, FAILED),
        ("Failed", "OOMKilled", {}, OUT_OF_MEMORY),
        ("Failed", "Error", {"reason": "DeadlineExceeded"}, TIMEOUT),
        ("Failed", "Error", {"reason": "NodeShutdown"}, NODE_FAIL),
        (
            "Failed",
            "Error",
            {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]},
            PREEMPTED,
        ),
    ],
)
def test_how_a_pod_ended(world, phase, reason, status, outcome):
    running = bound(pod("w"), "n1", 10)
    conditions = running["status"]["conditions"] + status.get("conditions", [])
    world.put(ended(running, 30, phase, reason, **{**status, "conditions": conditions}))
    fact = world.job()
    assert (fact.state, fact.outcome, fact.ended_ms, fact.attempts[0].outcome) == (ENDED, outcome, at(30), outcome)


@pytest.mark.parametrize(
    ("kind", "reason", "outcome"),
    [("Complete", "", COMPLETED), ("Failed", "BackoffLimitExceeded", FAILED), ("Failed", "DeadlineExceeded", TIMEOUT)],
)
def test_how_a_job_ended(world, kind, reason, outcome):
    train = world.put(job("train"))
    world.put(over(train, kind, 90, reason))
    fact = world.job()
    assert (fact.state, fact.outcome, fact.ended_ms, fact.reason, fact.attempts) == (ENDED, outcome, at(90), reason, ())


def test_a_job_that_failed_because_of_memory_says_so(world):
    train = world.put(job("train"))
    world.put(
        ended(bound(pod("a", train), "n1", 10), 20, "Failed", "OOMKilled"),
        over(train, "Failed", 21, "BackoffLimitExceeded"),
    )
    assert world.job().outcome == OUT_OF_MEMORY


def test_a_job_that_is_deleted_before_it_ran_has_no_attempt(world):
    train = world.put(job("train"))
    world.job()
    world.delete(train)
    fact = world.job()
    assert (fact.state, fact.outcome, fact.attempts, fact.ended_ms) == (ENDED, CANCELLED, (), NOW)
    assert world.store.changed(every=True) == ((), ())


def test_an_end_without_a_time_is_when_it_was_first_seen(world):
    running = bound(pod("w"), "n1", 10)
    failed = {**running, "status": {**running["status"], "phase": "Failed", "reason": "Evicted"}}
    world.put(failed, at=at(70) + 200)
    assert world.job().ended_ms == at(70)
    world.put({**failed, "metadata": {**failed["metadata"], "labels": {"x": "y"}}}, at=at(90))
    assert world.store.changed(every=True)[0][0].ended_ms == at(70)


def test_a_key_that_is_used_again_is_another_job(world):
    first = world.put(pod("w"))
    world.job()
    world.delete(first)
    assert world.job().submitted_ms == CREATED_MS
    again = pod("w")
    again["metadata"]["creationTimestamp"] = time(90)
    world.put(again)
    assert (world.job().submitted_ms, world.store.changed(every=True)[0][0].key) == (at(90), "ml/pod/w")


def test_the_uid_is_that_of_the_job_object_also_before_that_is_seen(world):
    """An owner reference of the pod names its Job, which keeps its identity when its oldest pod is gone."""
    owner = job("train")
    world.put(pod("train-1", owner=owner))
    (early,), _ = world.store.changed(every=True)
    world.put(owner)
    assert early.uid == world.job().uid == owner["metadata"]["uid"]


def test_what_a_list_does_not_have_is_gone_and_only_in_its_namespace(world):
    one, two = pod("one"), pod("two")
    two["metadata"]["namespace"] = "other"
    world.put(one, two)
    world.store.changed()
    world.store.replace(Source(KIND["Pod"], "", "ml"), [], at(10), NOW)
    assert (world.job().key, [fact.key for fact in world.store.changed(every=True)[0]]) == (
        "ml/pod/one",
        ["other/pod/two"],
    )
