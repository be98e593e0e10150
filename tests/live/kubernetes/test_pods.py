"""Pods and jobs of a real cluster: the facts are those of the API server."""

import pytest

from tests.live.kubernetes.builders import JOBS, PODS, bound, end_job, ms, placed_ms, set_pod
from tests.live.kubernetes.cluster import until
from twin.connectors.facts import (
    CANCELLED,
    COMPLETED,
    ENDED,
    FAILED,
    RUNNING,
    WAITING,
    JobFact,
    Share,
)

pytestmark = pytest.mark.slow


def test_a_pod_is_reported_as_the_api_server_has_it(cluster, watcher):
    name = cluster.name("pod")
    created = cluster.pod(name, gpus=2, seconds=1, activeDeadlineSeconds=90, priority=None)
    fact = watcher.job(f"default/pod/{name}", ENDED)
    pod = cluster.ask(f"{PODS}/{name}")
    ended = ms(pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"])
    assert (fact.submitted_ms, fact.outcome, fact.ended_ms) == (
        ms(created["metadata"]["creationTimestamp"]),
        COMPLETED,
        ended,
    )
    (attempt,) = fact.attempts
    assert (attempt.started_ms, attempt.ended_ms, attempt.ended_after_ms) == (placed_ms(pod), ended, None)
    assert attempt.shares == (Share(pod["spec"]["nodeName"], gpus=2, cpus=1, memory_mb=1024),)
    assert (fact.gpus, fact.cpus, fact.memory_mb, fact.limit_ms, fact.restarts) == (2, 1, 1024, 90_000, 0)
    assert watcher.connector.snapshot().jobs == (fact,), "a list says the same as the watch"


def test_what_does_not_fit_waits_with_the_words_of_the_scheduler(cluster, watcher):
    name = cluster.name("large")
    cluster.pod(name, gpus=5)
    watcher.until(
        lambda watcher: watcher.jobs.get(f"default/pod/{name}", JobFact("", 0, WAITING)).reason, "a reason is reported"
    )
    fact = watcher.jobs[f"default/pod/{name}"]
    assert (fact.state, fact.reason) == (WAITING, "Unschedulable")
    assert (
        fact.message == f"0/{len(watcher.nodes)} nodes are available: {len(watcher.nodes)} Insufficient nvidia.com/gpu."
    )


def test_a_pod_without_gpus_and_without_a_job_is_not_reported(cluster, watcher):
    idle, busy = cluster.name("idle"), cluster.name("busy")
    cluster.pod(idle, gpus=0)
    cluster.pod(busy)
    watcher.job(f"default/pod/{busy}", RUNNING)
    assert f"default/pod/{idle}" not in watcher.jobs


def test_the_pods_of_a_job_are_one_job_with_a_share_each(cluster, watcher):
    name = cluster.name("train")
    job = cluster.job(name, pods=2, activeDeadlineSeconds=3600)
    assert watcher.job(f"default/job/{name}", WAITING).gpus == 2
    pods = [cluster.pod(f"{name}-{i}", seconds=1, owner=job) for i in range(2)]
    placed = [bound(cluster, pod["metadata"]["name"]) for pod in pods]
    until(
        lambda: all(cluster.ask(f"{PODS}/{pod['metadata']['name']}")["status"]["phase"] == "Succeeded" for pod in pods),
        "both end",
    )
    end_job(cluster, f"{JOBS}/{name}")
    fact = watcher.job(f"default/job/{name}", ENDED)
    assert (fact.submitted_ms, fact.limit_ms, fact.nodes) == (ms(job["metadata"]["creationTimestamp"]), 3_600_000, 2)
    assert (fact.outcome, fact.restarts, len(fact.attempts)) == (COMPLETED, 0, 1)
    assert sorted(share.node for share in fact.attempts[0].shares) == sorted(pod["spec"]["nodeName"] for pod in placed)
    assert [key for key in watcher.jobs if name in key] == [f"default/job/{name}"], "its pods are no jobs of their own"


def test_a_new_pod_after_a_failure_is_a_second_attempt(cluster, watcher):
    name = cluster.name("retry")
    job = cluster.job(name)
    cluster.pod(f"{name}-a", owner=job)
    watcher.job(f"default/job/{name}", RUNNING)
    oom = {
        "terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-01-01T00:00:00Z", "finishedAt": None}
    }
    until(lambda: cluster.ask(f"{PODS}/{name}-a")["status"]["phase"] == "Running", "the first one runs")
    container = {"name": "c", "image": "x", "imageID": "x", "ready": False, "restartCount": 0, "state": oom}
    set_pod(cluster, f"{name}-a", phase="Failed", containerStatuses=[container])
    assert watcher.job(f"default/job/{name}", WAITING).restarts == 1
    cluster.pod(f"{name}-b", owner=job)
    fact = watcher.job(f"default/job/{name}", RUNNING)
    assert [attempt.outcome for attempt in fact.attempts] == ["out_of_memory", ""]
    assert fact.restarts == 1
    assert fact.attempts[0].started_ms <= fact.attempts[0].ended_ms <= fact.attempts[1].started_ms
    assert fact.attempts[1].ended_ms is None


def test_a_pod_that_was_bound_and_gone_between_two_polls_is_reported(cluster, watcher):
    name = cluster.name("short")
    cluster.pod(name, gpus=3)
    pod = bound(cluster, name)
    cluster.delete(f"{PODS}/{name}")
    until(lambda: not cluster.answers(f"{PODS}/{name}"), "it is gone")
    fact = watcher.job(f"default/pod/{name}", ENDED)
    assert fact.outcome == CANCELLED
    assert [(attempt.started_ms, attempt.shares[0].node) for attempt in fact.attempts] == [
        (placed_ms(pod), pod["spec"]["nodeName"])
    ]
    assert watcher.connector.snapshot().jobs == ()


def test_a_deleted_job_ends_when_its_last_pod_has_gone(cluster, watcher):
    name = cluster.name("deleted")
    job = cluster.job(name)
    cluster.pod(f"{name}-a", owner=job)
    watcher.job(f"default/job/{name}", RUNNING)
    cluster.delete(f"{JOBS}/{name}")
    watcher.until(lambda watcher: watcher.jobs[f"default/job/{name}"].reason == "Terminating", "it goes")
    assert watcher.jobs[f"default/job/{name}"].state == RUNNING, "its pod still holds the node"
    cluster.delete(f"{PODS}/{name}-a")
    fact = watcher.job(f"default/job/{name}", ENDED)
    assert (fact.outcome, fact.reason, fact.submitted_ms) == (
        CANCELLED,
        "Deleted",
        ms(job["metadata"]["creationTimestamp"]),
    )


def test_a_job_that_failed_tells_why(cluster, watcher):
    name = cluster.name("failed")
    cluster.job(name)
    end_job(
        cluster,
        f"{JOBS}/{name}",
        "Failed",
        reason="BackoffLimitExceeded",
        message="Job has reached the specified backoff limit",
    )
    fact = watcher.job(f"default/job/{name}", ENDED)
    assert (fact.outcome, fact.reason, fact.attempts) == (FAILED, "BackoffLimitExceeded", ())
    assert fact.message == "Job has reached the specified backoff limit"
