"""The Kubernetes connector on a small API server that lists, watches, forgets and breaks as the real one does."""

import json
import threading
import time
from pathlib import Path

import pytest

from tests.twin.connectors.kubernetes.fake_api_server import JOBS, NODES, PODS, FakeApiServer
from tests.twin.connectors.kubernetes.objects import CREATED_MS, bound, ended, job, node, over, pod
from tests.twin.runtime.stack import wait_until
from twin.connectors import base
from twin.connectors.facts import (
    CANCELLED,
    COMPLETED,
    ENDED,
    RUNNING,
    WAITING,
    Attempt,
    ConnectorError,
    NodeFact,
    Share,
)

RECORDED = Path(__file__).resolve().parents[3] / "fixtures" / "live" / "kubernetes"
MAX_WAIT_S = 20


@pytest.fixture
def server():
    server = FakeApiServer()
    yield server
    server.close()


@pytest.fixture
def connect(server):
    opened = []

    def connect(**given):
        opened.append(base.build("kubernetes", {"url": server.url, **given}))
        return opened[-1]

    yield connect
    for connector in opened:
        connector.close()


@pytest.fixture
def connector(connect):
    return connect()


def recorded(name):
    return (RECORDED / name).read_text()


def follow(changes, holds):
    """The reported facts, newest last, until one of them holds."""
    end, reported = time.monotonic() + MAX_WAIT_S, []
    while not any(holds(fact) for fact in reported):
        assert time.monotonic() < end, reported
        reported += next(changes).jobs
    return reported


def test_it_is_in_the_list_of_connectors():
    assert "kubernetes" in base.names()
    assert base.connector_class("kubernetes").title == "Kubernetes"


def test_recorded_lists_of_the_real_server_give_exact_facts(server, connector):
    for path, name in ((NODES, "nodes.json"), (PODS, "pods.json")):
        server.answers[path] = (200, recorded(name))
    snapshot = connector.snapshot()
    labels = {"nvidia.com/gpu.product": "A100"}
    assert snapshot.nodes == tuple(
        NodeFact(name, "draining" if name == "edge1" else "drained", "not-ready", 4, 8, 16_384, labels=labels)
        for name in ("edge1", "edge2")
    )
    placed = 1_795_307_300_000
    first, second = snapshot.jobs
    assert (first.key, first.submitted_ms, first.state, first.outcome) == ("default/pod/w0", placed, ENDED, COMPLETED)
    assert first.attempts[0].shares == (Share("edge1", 1, 1, 0),)
    assert (second.key, second.state, second.priority, second.account) == ("default/pod/w2", RUNNING, 0, "default")
    assert second.attempts == (Attempt(placed, None, (Share("edge1", 1, 1, 0),)),)
    assert snapshot.complete
    assert not snapshot.partial


def test_a_recorded_watch_of_the_real_server_tells_each_pod(server, connector):
    assert connector.snapshot().jobs == ()
    changes = connector.changes()
    for line in recorded("pods-watch.jsonl").splitlines():
        server.play(PODS, line)
    reported = follow(changes, lambda fact: fact.key == "default/pod/w1" and fact.state == ENDED)
    newest = {fact.key: (fact.state, fact.outcome, [a.shares[0].node for a in fact.attempts]) for fact in reported}
    assert newest == {
        "default/pod/w0": (ENDED, COMPLETED, ["edge1"]),
        "default/pod/w1": (ENDED, CANCELLED, ["edge2"]),
        "default/pod/w2": (RUNNING, "", ["edge1"]),
    }


def test_a_list_in_pages_is_whole(server, connector, monkeypatch):
    monkeypatch.setattr("twin.connectors.kubernetes.PAGE", 3)
    for i in range(7):
        server.put(PODS, pod(f"w{i}"))
    assert [fact.key for fact in connector.snapshot().jobs] == [f"ml/pod/w{i}" for i in range(7)]
    assert len([path for path in server.asked if path.startswith(f"{PODS}?limit=3")]) == 3


def test_a_list_whose_pages_expire_is_begun_again_and_ends_no_job(server, connector, monkeypatch):
    monkeypatch.setattr("twin.connectors.kubernetes.PAGE", 3)
    for i in range(7):
        server.put(PODS, pod(f"w{i}"))
    connector.snapshot()
    server.pages_that_expire = 2
    assert {fact.state for fact in connector.snapshot().jobs} == {WAITING}
    server.pages_that_expire = 9
    with pytest.raises(ConnectorError, match="410: The provided continue parameter is too old"):
        connector.snapshot()


def test_a_version_that_is_gone_is_answered_in_the_stream_and_leads_to_a_whole_look(server, connector):
    first = server.put(PODS, pod("stays"))
    server.put(PODS, pod("goes"))
    connector.snapshot()
    server.delete(PODS, "goes")
    server.put(PODS, bound(first, "n1", 30))
    server.compact()
    snapshot = next(snapshot for snapshot in connector.changes() if any(fact.state == ENDED for fact in snapshot.jobs))
    assert not snapshot.partial
    assert snapshot.nodes == ()
    assert [(fact.key, fact.state) for fact in snapshot.jobs] == [("ml/pod/goes", ENDED), ("ml/pod/stays", RUNNING)]


def test_the_recorded_410_leads_to_a_whole_look(server, connector):
    connector.snapshot()
    changes = connector.changes()
    server.put(PODS, pod("w"))
    follow(changes, lambda fact: fact.key == "ml/pod/w")
    server.play(PODS, recorded("410-in-stream.jsonl"))
    snapshot = next(snapshot for snapshot in changes if snapshot.jobs)
    assert not snapshot.partial
    assert [fact.key for fact in snapshot.jobs] == ["ml/pod/w"]


def test_a_server_that_always_forgets_is_left_to_the_pauses_of_the_follower(server, connector):
    connector.snapshot()
    server.oldest = 10**9
    with pytest.raises(ConnectorError, match="no longer knows the list of"):
        list(connector.changes())


def test_a_watch_that_breaks_goes_on_where_it_was(server, connector):
    connector.snapshot()
    changes = connector.changes()
    server.put(PODS, pod("before"))
    reported = follow(changes, lambda fact: fact.key == "ml/pod/before")
    server.cut()
    server.put(PODS, pod("after"))
    reported += follow(changes, lambda fact: fact.key == "ml/pod/after")
    assert [fact.key for fact in reported] == ["ml/pod/before", "ml/pod/after"], "each is reported once"


def test_it_resumes_at_the_version_of_a_bookmark(server, connector):
    connector.snapshot()
    changes = connector.changes()
    server.put(JOBS, job("first"))
    follow(changes, lambda fact: fact.key == "ml/job/first")
    server.bookmark(JOBS)
    bookmarked = str(server.version)
    server.put(PODS, pod("later"))
    follow(changes, lambda fact: fact.key == "ml/pod/later")
    wait_until(
        lambda: any(getattr(thread, "_version", None) == bookmarked for thread in threading.enumerate()),
        "the watch of jobs has read the bookmark",
    )
    server.oldest = server.version - 1  # the version of the bookmark is the oldest one that is known
    server.objects[JOBS].clear()  # a new list would end the job
    server.cut()
    server.put(JOBS, job("second"))
    reported = follow(changes, lambda fact: fact.key == "ml/job/second")
    assert "ml/job/first" not in [fact.key for fact in reported if fact.state == ENDED]


def test_a_pod_that_comes_before_its_job_waits_for_it(server, connector):
    connector.snapshot()
    changes = connector.changes()
    train = job("train")
    server.put(PODS, bound(pod("train-a", train), "n1", 60))
    server.put(PODS, pod("other"))
    reported = follow(changes, lambda fact: fact.key == "ml/pod/other")
    assert [fact.key for fact in reported] == ["ml/pod/other"]
    server.put(JOBS, train)
    (fact,) = follow(changes, lambda fact: fact.key == "ml/job/train")
    assert (fact.state, fact.submitted_ms) == (RUNNING, CREATED_MS)


def test_a_pod_whose_job_never_comes_is_reported_after_a_while(server, connector, monkeypatch):
    monkeypatch.setattr("twin.connectors._kubernetes.store.MAX_OWNER_WAIT_S", 0.3)
    connector.snapshot()
    changes = connector.changes()
    server.put(PODS, bound(pod("train-a", job("train")), "n1", 60))
    (fact,) = follow(changes, lambda fact: fact.key == "ml/job/train")
    assert fact.state == RUNNING


def test_a_pod_that_was_bound_and_gone_in_one_batch_is_reported(server, connector):
    connector.snapshot()
    changes = connector.changes()
    short = server.put(PODS, pod("short"))
    server.put(PODS, bound(short, "n1", 30))
    server.delete(PODS, "short")
    reported = follow(changes, lambda fact: fact.state == ENDED)
    assert (reported[-1].outcome, reported[-1].attempts[0].started_ms) == (CANCELLED, CREATED_MS + 30_000)


def test_a_snapshot_between_changes_restarts_the_watches(server, connector):
    connector.snapshot()
    changes = connector.changes()
    server.put(PODS, pod("one"))
    follow(changes, lambda fact: fact.key == "ml/pod/one")
    server.put(PODS, pod("two"))
    assert [fact.key for fact in connector.snapshot().jobs] == ["ml/pod/one", "ml/pod/two"]
    server.put(PODS, pod("three"))
    assert [fact.key for fact in follow(changes, lambda fact: fact.key == "ml/pod/three")] == ["ml/pod/three"]


def test_objects_that_are_of_no_interest_are_not_reported_nor_kept(server, connector):
    server.put(PODS, pod("web", gpus=0))
    server.put(
        PODS,
        pod("daemon", {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "uid": "d"}}, gpus=0),
    )
    server.put(
        PODS,
        pod("w", {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "v", "uid": "v"}}),
    )
    assert [fact.key for fact in connector.snapshot().jobs] == ["ml/pod/w"], "a Job of another group is no batch Job"
    assert len(connector._store._pods) == 1


def test_what_has_gone_is_kept_no_longer(server, connector, monkeypatch):
    monkeypatch.setattr("twin.connectors._kubernetes.store.MAX_LATE_S", 0.0)
    monkeypatch.setattr("twin.connectors._kubernetes.store.MAX_OWNER_WAIT_S", 0.1)
    connector.snapshot()
    changes = connector.changes()
    for i in range(20):
        train = server.put(JOBS, job(f"train-{i}"))
        server.put(PODS, ended(bound(pod(f"train-{i}-a", train), "n1", 5), 9))
        server.put(JOBS, over(train, "Complete", 9))
        server.delete(JOBS, f"train-{i}")
        server.delete(PODS, f"train-{i}-a")
    reported = follow(changes, lambda fact: fact.key == "ml/job/train-19" and fact.state == ENDED)
    assert {fact.outcome for fact in reported if fact.state == ENDED} == {COMPLETED}
    store, i = connector._store, 0
    while store._pods.keys() | store._jobs.keys() | store._below.keys() | store._wait_until.keys() | store._gone.keys():
        assert i < 1_000
        changes.send(None)
        server.put(NODES, node(f"n{(i := i + 1)}"))  # anything that makes a poll


def test_the_last_words_of_a_pod_belong_to_its_job_though_that_has_gone(server, connector):
    connector.snapshot()
    changes = connector.changes()
    train = server.put(JOBS, job("train"))
    server.put(JOBS, over(train, "Complete", 9))
    server.delete(JOBS, "train")
    follow(changes, lambda fact: fact.key == "ml/job/train" and fact.state == ENDED)
    late = pod("train-a", train)
    late["metadata"]["creationTimestamp"] = "2026-11-22T09:00:04Z"
    server.put(PODS, ended(bound(late, "n1", 5), 9))
    reported = follow(changes, lambda fact: fact.key == "ml/job/train" and bool(fact.attempts))
    assert {(fact.submitted_ms, fact.state, fact.outcome) for fact in reported} == {(CREATED_MS, ENDED, COMPLETED)}


def test_one_object_that_cannot_be_read_stops_nothing(server, connector, caplog):
    server.put(PODS, pod("good"))
    bad = pod("bad")
    bad["spec"]["containers"] = [{"resources": {"limits": {"nvidia.com/gpu": "many"}}}]
    server.put(PODS, bad)
    assert [fact.key for fact in connector.snapshot().jobs] == ["ml/pod/good"]
    assert "pods ml/bad is left out: a quantity must be a number" in caplog.text


@pytest.mark.parametrize(
    ("path", "answer", "message"),
    [
        ("/version", (200, "<html>Welcome</html>"), "is not a Kubernetes API: its answer to /version is not JSON"),
        ("/version", (200, "{}"), "is not a Kubernetes API: it does not report its version"),
        ("/version", (404, "not found"), "the answer to /version is 404: not found"),
        ("/version", (503, '{"message": "apiserver is shutting\\ndown"}'), "is 503: apiserver is shutting down"),
    ],
)
def test_what_is_no_api_server_is_one_clear_sentence(server, connector, path, answer, message):
    server.answers[path] = answer
    with pytest.raises(ConnectorError, match=message):
        connector.check()


def test_a_server_that_starts_is_not_believed(server, connector):
    """It answers as if kinds that are installed were not, which would end their jobs."""
    server.put(JOBS, job("train"))
    connector.snapshot()
    server.answers["/readyz"] = (500, "[-]poststarthook/crd-informer-synced failed")
    with pytest.raises(ConnectorError, match=r"the server is not ready \(500\)"):
        connector.snapshot()


def test_a_recorded_refusal_names_the_account_and_the_command(server, connect, monkeypatch):
    monkeypatch.setenv("TWIN_TOKEN", "anything")
    connector = connect(token_from="$TWIN_TOKEN")
    refused, unknown = [(code, json.dumps(body)) for code, body in json.loads(recorded("403-401.json"))]
    server.answers[PODS] = refused
    with pytest.raises(
        ConnectorError, match=r"cannot list resource .* --resource=pods,nodes,jobs\.batch .* --user=reader"
    ):
        connector.snapshot()
    server.answers[PODS] = unknown
    with pytest.raises(ConnectorError, match=r"the token of \$TWIN_TOKEN is not accepted"):
        connector.snapshot()


def test_a_stream_that_sends_no_events_is_lost(server, connector):
    connector.snapshot()
    changes = connector.changes()
    server.put(PODS, pod("w"))
    follow(changes, lambda fact: fact.key == "ml/pod/w")
    server.play(PODS, '{"verb": "ADDED"}')
    with pytest.raises(ConnectorError, match="sent something that is not an event"):
        next(changes)


def test_signs_of_life_are_empty_looks_that_asked_the_server(server, connector, monkeypatch):
    monkeypatch.setattr("twin.connectors.kubernetes.SIGN_OF_LIFE_S", 0.1)
    connector.snapshot()
    server.asked.clear()
    snapshot = next(connector.changes())
    assert (snapshot.partial, snapshot.jobs, snapshot.nodes) == (True, (), None)
    assert "/version" in server.asked


def test_a_kind_that_is_installed_later_is_read_without_a_restart(server, connector, monkeypatch):
    monkeypatch.setattr("twin.connectors.kubernetes.SIGN_OF_LIFE_S", 0.1)
    monkeypatch.setattr("twin.connectors.kubernetes.KINDS_S", 0.1)
    jobs = server.groups.pop("batch")
    connector.snapshot()
    changes = connector.changes()
    train = job("train")
    server.put(JOBS, train)
    server.groups["batch"] = jobs
    (fact,) = follow(changes, lambda fact: fact.key == "ml/job/train")
    assert fact.state == WAITING
    server.put(PODS, bound(pod("train-a", train), "n1", 60))
    assert follow(changes, lambda fact: fact.state == RUNNING)[-1].key == "ml/job/train"


def test_only_the_namespaces_that_are_asked_for_are_read(server, connect):
    server.put("/api/v1/namespaces/ml/pods", pod("w"))
    snapshot = connect(namespaces="ml, other").snapshot()
    assert [fact.key for fact in snapshot.jobs] == ["ml/pod/w"]
    asked = {path.split("?")[0] for path in server.asked if "limit" in path}
    assert asked == {NODES} | {
        f"/{of}/namespaces/{name}/{kind}"
        for name in ("ml", "other")
        for of, kind in (("api/v1", "pods"), ("apis/batch/v1", "jobs"))
    }


def test_nodes_are_all_reported_when_one_changes(server, connector):
    for name in ("n1", "n2"):
        server.put(NODES, node(name))
    connector.snapshot()
    changes = connector.changes()
    server.put(NODES, node("n2", unschedulable=True))
    snapshot = next(snapshot for snapshot in changes if snapshot.nodes)
    assert [(fact.name, fact.state, fact.reason) for fact in snapshot.nodes] == [
        ("n1", "up", ""),
        ("n2", "drained", "Cordoned"),
    ]
    assert snapshot.partial
    server.delete(NODES, "n1")
    assert [fact.name for fact in next(snapshot for snapshot in changes if snapshot.nodes).nodes] == ["n2"]


def test_the_cost_is_reported(connector):
    connector.snapshot()
    assert connector.cost()["calls"] > 3
