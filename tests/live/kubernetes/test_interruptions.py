"""Interruptions of a real API server: no job ends, and nothing is lost."""

import random
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.live.kubernetes.builders import PODS, Watcher, bound, ms, placed_ms
from tests.live.kubernetes.cluster import until
from twin.connectors.facts import (
    CANCELLED,
    COMPLETED,
    ENDED,
    RUNNING,
    ConnectorError,
)

pytestmark = pytest.mark.slow


def test_what_was_deleted_while_nobody_watched_ended_between_the_two_polls(cluster, watcher):
    name = cluster.name("away")
    cluster.pod(name)
    watcher.job(f"default/pod/{name}", RUNNING)
    before = watcher.connector.snapshot()
    cluster.delete(f"{PODS}/{name}")
    unseen = cluster.name("unseen")
    cluster.pod(unseen)
    cluster.delete(f"{PODS}/{unseen}")
    after = watcher.connector.snapshot()
    (fact,) = after.jobs
    assert (fact.key, fact.state, fact.outcome) == (f"default/pod/{name}", ENDED, CANCELLED)
    assert fact.attempts[0].ended_after_ms == max(before.at_ms, fact.attempts[0].started_ms)
    assert fact.attempts[0].ended_after_ms <= fact.attempts[0].ended_ms <= after.at_ms
    assert watcher.connector.snapshot().jobs == (), "it is reported once"


def test_a_version_that_is_gone_leads_to_a_complete_poll(cluster, watcher):
    """The server says 410 inside a stream that began with HTTP 200."""
    name = cluster.name("old")
    cluster.pod(name)
    watcher.job(f"default/pod/{name}", RUNNING)
    watcher.connector.snapshot()
    cluster.pod(later := cluster.name("later"))  # a new server keeps no change from before its start
    bound(cluster, later)
    cluster.kill()
    cluster.start()
    cluster.delete(f"{PODS}/{name}")
    polls = watcher.complete_polls
    watcher.until(lambda watcher: watcher.complete_polls > polls, "a complete poll")
    fact = watcher.job(f"default/pod/{name}", ENDED)
    assert fact.outcome == CANCELLED
    assert watcher.job(f"default/pod/{later}", RUNNING)


def test_a_server_that_is_killed_ends_no_job(cluster, watcher):
    name = cluster.name("survivor")
    cluster.pod(name)
    running = watcher.job(f"default/pod/{name}", RUNNING)
    watcher.until(lambda watcher: watcher.jobs[running.key].reason == "", "its container runs")
    cluster.kill()
    with pytest.raises(ConnectorError, match=r"nothing listens on port|the connection failed"):
        watcher.until(lambda watcher: False, "the loss is reported")
    with pytest.raises(ConnectorError, match="nothing listens on port"):
        watcher.connector.snapshot()
    cluster.start()
    watcher.begin()
    assert watcher.jobs == {running.key: watcher.jobs[running.key]}
    assert watcher.jobs[running.key].state == RUNNING
    cluster.delete(f"{PODS}/{name}")
    assert watcher.job(running.key, ENDED).attempts[0].started_ms == running.attempts[0].started_ms


def test_a_server_that_hangs_is_noticed(cluster, connect):
    watcher = Watcher(connect(timeout_s=3))
    cluster.signal("api", signal.SIGSTOP)
    try:
        with pytest.raises(ConnectorError, match="no answer within 3 s"):
            watcher.until(lambda watcher: False, "the loss is reported")
        with pytest.raises(ConnectorError, match="no answer within 3 s"):
            watcher.connector.snapshot()
    finally:
        cluster.signal("api", signal.SIGCONT)
    until(lambda: cluster.answers("/version"), "it goes on")
    assert watcher.connector.snapshot().complete


def test_the_facts_of_many_pods_are_the_list_of_the_api_server(cluster, watcher):
    """60 pods for 16 GPUs, some deleted, with the API server killed twice in the midst: 0 differences, pod by pod."""
    rng = random.Random(1)
    prefix = cluster.name("many")
    names = [f"{prefix}-{i}" for i in range(60)]
    deleted, losses = set(), []

    def submit():
        for i, name in enumerate(names):
            cluster.pod(name, gpus=rng.choice((1, 1, 2, 4)), seconds=rng.choice((0, 1, 2)))
            if rng.random() < 0.2:
                deleted.add(victim := rng.choice(names[: i + 1]))
                if cluster.answers(f"{PODS}/{victim}"):
                    cluster.delete(f"{PODS}/{victim}")
            if i in (20, 40):
                cluster.kill()
                until(lambda i=i: len(losses) > i // 30, "the loss is reported")
                cluster.start()

    def all_ended():
        listed = cluster.ask(PODS)["items"]
        return len(listed) == 60 - len(deleted) and all(pod["status"]["phase"] == "Succeeded" for pod in listed)

    with ThreadPoolExecutor(1) as other:
        submitting = other.submit(submit)
        while not (submitting.done() and all_ended()):
            try:
                watcher.take(next(watcher.changes))
            except ConnectorError as error:
                losses.append(str(error))
                watcher.begin_again()
        submitting.result()
    keys = {f"default/pod/{name}" for name in names if name not in deleted}
    watcher.until(lambda watcher: all(watcher.jobs[key].state == ENDED for key in keys), "all ends are reported")
    for pod in cluster.ask(PODS)["items"]:
        fact = watcher.jobs[f"default/pod/{pod['metadata']['name']}"]
        ended = ms(pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"])
        assert (fact.submitted_ms, fact.outcome) == (ms(pod["metadata"]["creationTimestamp"]), COMPLETED)
        assert [(a.started_ms, a.ended_ms, [s.node for s in a.shares]) for a in fact.attempts] == [
            (placed_ms(pod), ended, [pod["spec"]["nodeName"]])
        ]
        keys.discard(fact.key)
    assert keys == set()
    assert {fact.state for key, fact in watcher.jobs.items() if key.rpartition("/")[2] in deleted} <= {ENDED}
    assert len(losses) == 2
