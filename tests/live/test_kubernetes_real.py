"""The Kubernetes connector against a real API server and scheduler: the facts are what the server's objects say."""

import random
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from tests.live.kubernetes_cluster import cluster_for_tests, reference, until
from twin.connectors import base
from twin.connectors.facts import (
    CANCELLED,
    COMPLETED,
    DOWN,
    DRAINED,
    DRAINING,
    ENDED,
    FAILED,
    HELD,
    RUNNING,
    UP,
    WAITING,
    ConnectorError,
    JobFact,
    Share,
)

pytestmark = pytest.mark.slow
PODS = "/api/v1/namespaces/default/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    yield from cluster_for_tests(tmp_path_factory.mktemp("kubernetes"))


@pytest.fixture(autouse=True)
def _all_pods_and_jobs_go(cluster):
    """Each test leaves the cluster as it found it."""
    yield
    for kind in (JOBS, PODS):
        for obj in cluster.ask(kind)["items"]:
            cluster.delete(f"{kind}/{obj['metadata']['name']}")
        until(lambda kind=kind: not cluster.ask(kind)["items"], "they are gone")


@pytest.fixture
def connect(cluster):
    opened = []

    def connect(**given):
        opened.append(base.build("kubernetes", cluster.parameters(**given)))
        return opened[-1]

    yield connect
    for connector in opened:
        connector.close()


class Looks:
    """All that a connector has reported: the newest fact of each job and node."""

    def __init__(self, connector):
        self.connector, self.jobs, self.nodes, self.whole = connector, {}, {}, 0
        self.begin_again()

    def begin_again(self):
        """As a follower does that has lost the cluster: it asks until there is an answer."""

        def begun():
            try:
                self.begin()
            except ConnectorError:
                return False
            return True

        until(begun, "the cluster is read again")

    def begin(self):
        self.take(self.connector.snapshot())
        self.changes = self.connector.changes()

    def take(self, look):
        self.jobs |= {fact.key: fact for fact in look.jobs}
        self.whole += not look.partial
        if look.nodes is not None:
            self.nodes = {fact.name: fact for fact in look.nodes}
        return look

    def until(self, holds, what):
        """Takes changes until it holds; the connector gives a sign of life when nothing changes."""
        return until(lambda: holds(self) or (self.take(next(self.changes)) and holds(self)), what)

    def job(self, key, state):
        self.until(lambda looks: key in looks.jobs and looks.jobs[key].state == state, f"{key} is {state}")
        return self.jobs[key]


@pytest.fixture
def looks(connect):
    return Looks(connect())


def ms(text):
    return int(datetime.fromisoformat(text).timestamp()) * 1000


def placed_ms(pod):
    return next(ms(c["lastTransitionTime"]) for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")


def set_pod(cluster, name, **status):
    cluster.ask(f"{PODS}/{name}/status", "PATCH", {"status": status})


def end_job(cluster, path, kind="Complete", **more):
    condition = {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", **more}
    cluster.ask(f"{path}/status", "PATCH", {"status": {"conditions": [condition]}})


def bound(cluster, name):
    return until(
        lambda: (pod := cluster.ask(f"{PODS}/{name}")) and pod["spec"].get("nodeName") and pod, f"{name} is bound"
    )


def test_a_pod_is_reported_as_the_api_server_has_it(cluster, looks):
    name = cluster.name("pod")
    created = cluster.pod(name, gpus=2, seconds=1, activeDeadlineSeconds=90, priority=None)
    fact = looks.job(f"default/pod/{name}", ENDED)
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
    assert looks.connector.snapshot().jobs == (fact,), "a list tells the same as the watch"


def test_what_does_not_fit_waits_with_the_words_of_the_scheduler(cluster, looks):
    name = cluster.name("large")
    cluster.pod(name, gpus=5)
    looks.until(
        lambda looks: looks.jobs.get(f"default/pod/{name}", JobFact("", 0, WAITING)).reason, "a reason is reported"
    )
    fact = looks.jobs[f"default/pod/{name}"]
    assert (fact.state, fact.reason) == (WAITING, "Unschedulable")
    assert fact.message == f"0/{len(looks.nodes)} nodes are available: {len(looks.nodes)} Insufficient nvidia.com/gpu."


def test_a_pod_without_gpus_and_without_a_job_is_not_reported(cluster, looks):
    idle, busy = cluster.name("idle"), cluster.name("busy")
    cluster.pod(idle, gpus=0)
    cluster.pod(busy)
    looks.job(f"default/pod/{busy}", RUNNING)
    assert f"default/pod/{idle}" not in looks.jobs


def test_the_pods_of_a_job_are_one_job_with_a_share_each(cluster, looks):
    name = cluster.name("train")
    job = cluster.job(name, pods=2, activeDeadlineSeconds=3600)
    assert looks.job(f"default/job/{name}", WAITING).gpus == 2
    pods = [cluster.pod(f"{name}-{i}", seconds=1, owner=job) for i in range(2)]
    placed = [bound(cluster, pod["metadata"]["name"]) for pod in pods]
    until(
        lambda: all(cluster.ask(f"{PODS}/{pod['metadata']['name']}")["status"]["phase"] == "Succeeded" for pod in pods),
        "both end",
    )
    end_job(cluster, f"{JOBS}/{name}")
    fact = looks.job(f"default/job/{name}", ENDED)
    assert (fact.submitted_ms, fact.limit_ms, fact.nodes) == (ms(job["metadata"]["creationTimestamp"]), 3_600_000, 2)
    assert (fact.outcome, fact.restarts, len(fact.attempts)) == (COMPLETED, 0, 1)
    assert sorted(share.node for share in fact.attempts[0].shares) == sorted(pod["spec"]["nodeName"] for pod in placed)
    assert [key for key in looks.jobs if name in key] == [f"default/job/{name}"], "its pods are no jobs of their own"


def test_a_new_pod_after_a_failure_is_a_second_attempt(cluster, looks):
    name = cluster.name("retry")
    job = cluster.job(name)
    cluster.pod(f"{name}-a", owner=job)
    looks.job(f"default/job/{name}", RUNNING)
    oom = {
        "terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-01-01T00:00:00Z", "finishedAt": None}
    }
    until(lambda: cluster.ask(f"{PODS}/{name}-a")["status"]["phase"] == "Running", "the first one runs")
    container = {"name": "c", "image": "x", "imageID": "x", "ready": False, "restartCount": 0, "state": oom}
    set_pod(cluster, f"{name}-a", phase="Failed", containerStatuses=[container])
    assert looks.job(f"default/job/{name}", WAITING).restarts == 1
    cluster.pod(f"{name}-b", owner=job)
    fact = looks.job(f"default/job/{name}", RUNNING)
    assert [attempt.outcome for attempt in fact.attempts] == ["out_of_memory", ""]
    assert fact.restarts == 1
    assert fact.attempts[0].started_ms <= fact.attempts[0].ended_ms <= fact.attempts[1].started_ms
    assert fact.attempts[1].ended_ms is None


def test_a_pod_that_was_bound_and_gone_between_two_looks_is_reported(cluster, looks):
    name = cluster.name("short")
    cluster.pod(name, gpus=3)
    pod = bound(cluster, name)
    cluster.delete(f"{PODS}/{name}")
    until(lambda: not cluster.answers(f"{PODS}/{name}"), "it is gone")
    fact = looks.job(f"default/pod/{name}", ENDED)
    assert fact.outcome == CANCELLED
    assert [(attempt.started_ms, attempt.shares[0].node) for attempt in fact.attempts] == [
        (placed_ms(pod), pod["spec"]["nodeName"])
    ]
    assert looks.connector.snapshot().jobs == ()


def test_a_deleted_job_ends_when_its_last_pod_has_gone(cluster, looks):
    name = cluster.name("deleted")
    job = cluster.job(name)
    cluster.pod(f"{name}-a", owner=job)
    looks.job(f"default/job/{name}", RUNNING)
    cluster.delete(f"{JOBS}/{name}")
    looks.until(lambda looks: looks.jobs[f"default/job/{name}"].reason == "Terminating", "it goes")
    assert looks.jobs[f"default/job/{name}"].state == RUNNING, "its pod still holds the node"
    cluster.delete(f"{PODS}/{name}-a")
    fact = looks.job(f"default/job/{name}", ENDED)
    assert (fact.outcome, fact.reason, fact.submitted_ms) == (
        CANCELLED,
        "Deleted",
        ms(job["metadata"]["creationTimestamp"]),
    )


def test_what_was_deleted_while_nobody_watched_ended_between_the_two_looks(cluster, looks):
    name = cluster.name("away")
    cluster.pod(name)
    looks.job(f"default/pod/{name}", RUNNING)
    before = looks.connector.snapshot()
    cluster.delete(f"{PODS}/{name}")
    unseen = cluster.name("unseen")
    cluster.pod(unseen)
    cluster.delete(f"{PODS}/{unseen}")
    after = looks.connector.snapshot()
    (fact,) = after.jobs
    assert (fact.key, fact.state, fact.outcome) == (f"default/pod/{name}", ENDED, CANCELLED)
    assert fact.attempts[0].ended_after_ms == max(before.at_ms, fact.attempts[0].started_ms)
    assert fact.attempts[0].ended_after_ms <= fact.attempts[0].ended_ms <= after.at_ms
    assert looks.connector.snapshot().jobs == (), "it is reported once"


def test_a_version_that_is_gone_leads_to_a_whole_look(cluster, looks):
    """The server says 410 inside a stream that began with HTTP 200."""
    name = cluster.name("old")
    cluster.pod(name)
    looks.job(f"default/pod/{name}", RUNNING)
    looks.connector.snapshot()
    cluster.pod(later := cluster.name("later"))  # a new server keeps no change from before its start
    bound(cluster, later)
    cluster.kill()
    cluster.start()
    cluster.delete(f"{PODS}/{name}")
    whole = looks.whole
    looks.until(lambda looks: looks.whole > whole, "a whole look")
    fact = looks.job(f"default/pod/{name}", ENDED)
    assert fact.outcome == CANCELLED
    assert looks.job(f"default/pod/{later}", RUNNING)


def test_a_server_that_is_killed_ends_no_job(cluster, looks):
    name = cluster.name("survivor")
    cluster.pod(name)
    running = looks.job(f"default/pod/{name}", RUNNING)
    looks.until(lambda looks: looks.jobs[running.key].reason == "", "its container runs")
    cluster.kill()
    with pytest.raises(ConnectorError, match=r"nothing listens at port|the connection failed"):
        looks.until(lambda looks: False, "the loss is reported")
    with pytest.raises(ConnectorError, match="nothing listens at port"):
        looks.connector.snapshot()
    cluster.start()
    looks.begin()
    assert looks.jobs == {running.key: looks.jobs[running.key]}
    assert looks.jobs[running.key].state == RUNNING
    cluster.delete(f"{PODS}/{name}")
    assert looks.job(running.key, ENDED).attempts[0].started_ms == running.attempts[0].started_ms


def test_a_server_that_hangs_is_noticed(cluster, connect):
    looks = Looks(connect(timeout_s=3))
    cluster.signal("api", signal.SIGSTOP)
    try:
        with pytest.raises(ConnectorError, match="no answer within 3 s"):
            looks.until(lambda looks: False, "the loss is reported")
        with pytest.raises(ConnectorError, match="no answer within 3 s"):
            looks.connector.snapshot()
    finally:
        cluster.signal("api", signal.SIGCONT)
    until(lambda: cluster.answers("/version"), "it goes on")
    assert looks.connector.snapshot().complete


def test_a_reader_is_refused_with_the_command_that_grants_it(cluster, connect):
    reader = connect(token_from=str(cluster.folder / "reader.token"))
    (rights,) = [finding for finding in reader.check().findings if not finding.well]
    assert rights.said == "the account may not list and watch pods, nodes, jobs.batch"
    assert rights.remedy == (
        "kubectl create clusterrole twin-reader --verb=get,list,watch --resource=pods,nodes,jobs.batch"
        " && kubectl create clusterrolebinding twin-reader --clusterrole=twin-reader --user=reader"
    )
    with pytest.raises(ConnectorError, match=r"has no right for /api/v1/pods.*grant it by kubectl create clusterrole"):
        reader.snapshot()


def test_the_manifest_of_the_docs_grants_enough_and_no_more(cluster, connect):
    page = (Path(__file__).resolve().parents[2] / "docs" / "connect-kubernetes.md").read_text()
    paths = {"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/edge-cloud-twin/serviceaccounts"}
    paths |= {
        kind: f"/apis/rbac.authorization.k8s.io/v1/{kind.lower()}s" for kind in ("ClusterRole", "ClusterRoleBinding")
    }
    for manifest in yaml.safe_load_all(page.split("```yaml")[1].split("```")[0]):
        cluster.ask(paths[manifest["kind"]], "POST", manifest)
    account = f"{paths['ServiceAccount']}/twin-reader"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
    token = cluster.ask(f"{account}/token", "POST", asked)["status"]["token"]
    (cluster.folder / "twin.token").write_text(f"{token}\n")
    reader = connect(token_from=str(cluster.folder / "twin.token"))
    until(lambda: reader.check().well, "the rights are there")
    assert {node.name for node in reader.snapshot().nodes} >= {"node1", "node4"}
    name = cluster.name("safe")
    cluster.pod(name)
    with pytest.raises(AssertionError, match=r"403.*twin-reader.* cannot delete resource"):
        cluster.ask(f"{PODS}/{name}", "DELETE", token=token)


def test_check_tells_the_version_and_the_clock(connect):
    found = connect().check()
    assert found.well
    assert found.version == "v1.20.2"
    assert abs(found.clock_offset_ms) < 1000
    assert "4 nodes with 16 GPUs" in [finding.said for finding in found.findings]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "https://no-such-host.invalid:6443"}, "the host name no-such-host.invalid is not known"),
        ({"url": "https://127.0.0.1:1"}, "nothing listens at port 1 of 127.0.0.1"),
        ({"ca_file": ""}, "its certificate does not fit the CA of the system"),
        ({"token_from": "$TWIN_WRONG_TOKEN"}, "the token of \\$TWIN_WRONG_TOKEN is not accepted"),
        ({"token_from": ""}, "it answers nobody without a token"),
    ],
)
def test_a_wrong_setting_is_one_clear_sentence(connect, monkeypatch, given, said):
    monkeypatch.setenv("TWIN_WRONG_TOKEN", "wrong")
    with pytest.raises(ConnectorError, match=said):
        connect(**given).check()


def test_a_cluster_without_jobs_and_one_without_gpus(cluster, connect):
    cluster.ask("/api/v1/namespaces", "POST", {"metadata": {"name": "empty"}})
    connector = connect(namespaces="empty", gpu_resources="amd.com/gpu")
    said = {finding.subject: finding for finding in connector.check().findings}
    assert said["jobs"].said == "there are no pods in empty yet"
    assert said["nodes"].said == "4 nodes without a GPU: jobs are shown by their CPUs"
    assert said["nodes"].remedy.endswith("nodes also offer nvidia.com/gpu")
    look = connector.snapshot()
    assert (look.jobs, {node.gpus for node in look.nodes}, {node.cpus for node in look.nodes}) == ((), {0}, {32})


def test_nodes_come_drain_and_go(cluster, looks):
    def states():
        return {name: (node.state, node.gpus, node.reason) for name, node in looks.nodes.items()}

    cluster.ask("/api/v1/nodes", "POST", {"metadata": {"name": "cpu-only", "labels": {"zone": "lab"}}})
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    amounts = {"cpu": "7500m", "memory": "16Gi", "pods": "10"}
    body = {"status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}}
    cluster.ask("/api/v1/nodes/cpu-only/status", "PATCH", body)
    taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    cluster.ask("/api/v1/nodes/cpu-only", "PATCH", {"spec": {"taints": taints}})
    looks.until(lambda looks: states().get("cpu-only") == (UP, 0, ""), "the new node is reported")
    assert (looks.nodes["cpu-only"].cpus, looks.nodes["cpu-only"].memory_mb) == (7, 16384)
    assert looks.nodes["cpu-only"].labels == {"zone": "lab", "taint:nvidia.com/gpu": "present:NoSchedule"}
    name = cluster.name("drained")
    cluster.pod(name, nodeSelector=None, gpus=1)
    node = looks.job(f"default/pod/{name}", RUNNING).attempts[0].shares[0].node
    cluster.ask(f"/api/v1/nodes/{node}", "PATCH", {"spec": {"unschedulable": True}})
    looks.until(lambda looks: states()[node] == (DRAINING, 4, "Cordoned"), "a node with a pod drains")
    cluster.delete(f"{PODS}/{name}")
    looks.until(lambda looks: states()[node] == (DRAINED, 4, "Cordoned"), "a node without one is drained")
    cluster.ask(f"/api/v1/nodes/{node}", "PATCH", {"spec": {"unschedulable": None, "taints": None}})
    looks.until(lambda looks: states()[node] == (UP, 4, ""), "it is back")
    lost = {**ready, "status": "Unknown", "reason": "NodeStatusUnknown"}
    cluster.ask("/api/v1/nodes/cpu-only/status", "PATCH", {"status": {"conditions": [lost]}})
    looks.until(lambda looks: states()["cpu-only"] == (DOWN, 0, "NodeStatusUnknown"), "a node that is lost is down")
    cluster.delete("/api/v1/nodes/cpu-only")
    looks.until(lambda looks: "cpu-only" not in looks.nodes, "a removed node is not reported")


@pytest.fixture
def kinds_of_kueue(cluster):
    cluster.define("kueue.x-k8s.io", "v1beta1", "Workload", "workloads")
    cluster.define("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
    yield
    for name in ("workloads.kueue.x-k8s.io", "jobsets.jobset.x-k8s.io"):
        if cluster.answers(f"{CRDS}/{name}"):
            cluster.delete(f"{CRDS}/{name}")


@pytest.mark.usefixtures("kinds_of_kueue")
def test_kueue_workloads_and_jobsets_and_what_becomes_of_a_kind_that_is_removed(cluster, connect):
    looks = Looks(connect())
    name = cluster.name("set")
    container = {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "2"}}}
    template = {"spec": {"parallelism": 2, "completions": 2, "template": {"spec": {"containers": [container]}}}}
    spec = {"suspend": True, "replicatedJobs": [{"name": "w", "replicas": 1, "template": template}]}
    sets, workloads = (
        "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets",
        "/apis/kueue.x-k8s.io/v1beta1/namespaces/default/workloads",
    )
    body = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name}, "spec": spec}
    jobset = cluster.ask(sets, "POST", body)
    key = f"default/jobset/{name}"
    fact = looks.job(key, HELD)
    assert (fact.reason, fact.gpus, fact.nodes) == ("Suspended", 4, 2)

    pending = {
        "type": "QuotaReserved",
        "status": "False",
        "reason": "Pending",
        "message": "insufficient quota for nvidia.com/gpu",
    }
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Workload",
        "spec": {"queueName": "team-a", "priority": 7},
    }
    workload |= {
        "metadata": {"name": name, "ownerReferences": [reference(jobset)]},
        "status": {"conditions": [pending]},
    }
    cluster.ask(workloads, "POST", workload)
    fact = looks.job(key, WAITING)
    assert (fact.reason, fact.message, fact.queue, fact.priority) == ("Pending", pending["message"], "team-a", 7)

    admitted = [{"type": kind, "status": "True", "reason": kind} for kind in ("QuotaReserved", "Admitted")]
    cluster.ask(f"{workloads}/{name}", "PATCH", {"status": {"conditions": admitted}})
    cluster.ask(f"{sets}/{name}", "PATCH", {"spec": {"suspend": False}})
    job = cluster.job(f"{name}-w-0", pods=2, gpus=2)
    meta = {"metadata": {"ownerReferences": [reference(jobset)]}}
    cluster.ask(f"{JOBS}/{name}-w-0", "PATCH", meta)
    for i in range(2):
        cluster.pod(f"{name}-w-0-{i}", gpus=2, owner=job)
    looks.until(
        lambda looks: len(looks.jobs[key].attempts[-1:]) == 1 and len(looks.jobs[key].attempts[0].shares) == 2,
        "both run",
    )
    fact = looks.jobs[key]
    assert (fact.state, fact.gpus, len(fact.attempts)) == (RUNNING, 4, 1)

    cluster.delete(f"{sets}/{name}")
    for i in range(2):
        cluster.delete(f"{PODS}/{name}-w-0-{i}")
    cluster.delete(f"{JOBS}/{name}-w-0")
    assert looks.job(key, ENDED).outcome == CANCELLED
    cluster.delete(f"{CRDS}/jobsets.jobset.x-k8s.io")
    until(lambda: not cluster.answers(sets), "jobsets are gone")
    with pytest.raises(ConnectorError, match="404"):
        looks.until(lambda looks: False, "a kind that is watched has gone")
    looks.begin()
    later = cluster.name("later")
    cluster.pod(later)
    assert looks.job(f"default/pod/{later}", RUNNING)


def test_the_facts_of_many_pods_are_the_list_of_the_api_server(cluster, looks):
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
                looks.take(next(looks.changes))
            except ConnectorError as error:
                losses.append(str(error))
                looks.begin_again()
        submitting.result()
    keys = {f"default/pod/{name}" for name in names if name not in deleted}
    looks.until(lambda looks: all(looks.jobs[key].state == ENDED for key in keys), "all ends are reported")
    for pod in cluster.ask(PODS)["items"]:
        fact = looks.jobs[f"default/pod/{pod['metadata']['name']}"]
        ended = ms(pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"])
        assert (fact.submitted_ms, fact.outcome) == (ms(pod["metadata"]["creationTimestamp"]), COMPLETED)
        assert [(a.started_ms, a.ended_ms, [s.node for s in a.shares]) for a in fact.attempts] == [
            (placed_ms(pod), ended, [pod["spec"]["nodeName"]])
        ]
        keys.discard(fact.key)
    assert keys == set()
    assert {fact.state for key, fact in looks.jobs.items() if key.rpartition("/")[2] in deleted} <= {ENDED}
    assert len(losses) == 2


def test_a_job_that_failed_tells_why(cluster, looks):
    name = cluster.name("failed")
    cluster.job(name)
    end_job(
        cluster,
        f"{JOBS}/{name}",
        "Failed",
        reason="BackoffLimitExceeded",
        message="Job has reached the specified backoff limit",
    )
    fact = looks.job(f"default/job/{name}", ENDED)
    assert (fact.outcome, fact.reason, fact.attempts) == (FAILED, "BackoffLimitExceeded", ())
    assert fact.message == "Job has reached the specified backoff limit"
