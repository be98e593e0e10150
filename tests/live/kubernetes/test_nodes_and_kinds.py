"""Nodes of a real cluster, and kinds of objects that are installed and removed."""

import pytest

from tests.live.kubernetes.builders import CRDS, JOBS, PODS, Watcher
from tests.live.kubernetes.cluster import reference, until
from twin.connectors.facts import (
    CANCELLED,
    DOWN,
    DRAINED,
    DRAINING,
    ENDED,
    HELD,
    RUNNING,
    UP,
    WAITING,
    ConnectorError,
)

pytestmark = pytest.mark.slow


def test_nodes_come_drain_and_go(cluster, watcher):
    def states():
        return {name: (node.state, node.gpus, node.reason) for name, node in watcher.nodes.items()}

    cluster.ask("/api/v1/nodes", "POST", {"metadata": {"name": "cpu-only", "labels": {"zone": "lab"}}})
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    amounts = {"cpu": "7500m", "memory": "16Gi", "pods": "10"}
    body = {"status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}}
    cluster.ask("/api/v1/nodes/cpu-only/status", "PATCH", body)
    taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    cluster.ask("/api/v1/nodes/cpu-only", "PATCH", {"spec": {"taints": taints}})
    watcher.until(lambda watcher: states().get("cpu-only") == (UP, 0, ""), "the new node is reported")
    assert (watcher.nodes["cpu-only"].cpus, watcher.nodes["cpu-only"].memory_mb) == (7, 16384)
    assert watcher.nodes["cpu-only"].labels == {"zone": "lab", "taint:nvidia.com/gpu": "present:NoSchedule"}
    name = cluster.name("drained")
    cluster.pod(name, nodeSelector=None, gpus=1)
    node = watcher.job(f"default/pod/{name}", RUNNING).attempts[0].shares[0].node
    cluster.ask(f"/api/v1/nodes/{node}", "PATCH", {"spec": {"unschedulable": True}})
    watcher.until(lambda watcher: states()[node] == (DRAINING, 4, "Cordoned"), "a node with a pod drains")
    cluster.delete(f"{PODS}/{name}")
    watcher.until(lambda watcher: states()[node] == (DRAINED, 4, "Cordoned"), "a node without one is drained")
    cluster.ask(f"/api/v1/nodes/{node}", "PATCH", {"spec": {"unschedulable": None, "taints": None}})
    watcher.until(lambda watcher: states()[node] == (UP, 4, ""), "it is back")
    lost = {**ready, "status": "Unknown", "reason": "NodeStatusUnknown"}
    cluster.ask("/api/v1/nodes/cpu-only/status", "PATCH", {"status": {"conditions": [lost]}})
    watcher.until(lambda watcher: states()["cpu-only"] == (DOWN, 0, "NodeStatusUnknown"), "a node that is lost is down")
    cluster.delete("/api/v1/nodes/cpu-only")
    watcher.until(lambda watcher: "cpu-only" not in watcher.nodes, "a removed node is not reported")


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
    watcher = Watcher(connect())
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
    fact = watcher.job(key, HELD)
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
    fact = watcher.job(key, WAITING)
    assert (fact.reason, fact.message, fact.queue, fact.priority) == ("Pending", pending["message"], "team-a", 7)

    admitted = [{"type": kind, "status": "True", "reason": kind} for kind in ("QuotaReserved", "Admitted")]
    cluster.ask(f"{workloads}/{name}", "PATCH", {"status": {"conditions": admitted}})
    cluster.ask(f"{sets}/{name}", "PATCH", {"spec": {"suspend": False}})
    job = cluster.job(f"{name}-w-0", pods=2, gpus=2)
    meta = {"metadata": {"ownerReferences": [reference(jobset)]}}
    cluster.ask(f"{JOBS}/{name}-w-0", "PATCH", meta)
    for i in range(2):
        cluster.pod(f"{name}-w-0-{i}", gpus=2, owner=job)
    watcher.until(
        lambda watcher: len(watcher.jobs[key].attempts[-1:]) == 1 and len(watcher.jobs[key].attempts[0].shares) == 2,
        "both run",
    )
    fact = watcher.jobs[key]
    assert (fact.state, fact.gpus, len(fact.attempts)) == (RUNNING, 4, 1)

    cluster.delete(f"{sets}/{name}")
    for i in range(2):
        cluster.delete(f"{PODS}/{name}-w-0-{i}")
    cluster.delete(f"{JOBS}/{name}-w-0")
    assert watcher.job(key, ENDED).outcome == CANCELLED
    cluster.delete(f"{CRDS}/jobsets.jobset.x-k8s.io")
    until(lambda: not cluster.answers(sets), "jobsets are gone")
    with pytest.raises(ConnectorError, match="404"):
        watcher.until(lambda watcher: False, "a kind that is watched has gone")
    watcher.begin()
    later = cluster.name("later")
    cluster.pod(later)
    assert watcher.job(f"default/pod/{later}", RUNNING)
