"""From objects of the Kubernetes API to twin jobs and nodes: demands, owners, attempts, states, reasons, outcomes."""

import pytest

from tests.twin.connectors.kubernetes.objects import (
    bound,
    ended,
    job,
    meta,
    node,
    pod,
    pod_spec,
    reference,
    time,
)
from tests.twin.connectors.kubernetes.world import World, at, share
from twin.connectors._kubernetes.demands import Demand, Reader
from twin.connectors._kubernetes.jobs import key
from twin.connectors.facts import (
    DOWN,
    DRAINED,
    DRAINING,
    HELD,
    RUNNING,
    UP,
    WAITING,
    Attempt,
)


@pytest.fixture
def world():
    return World()


# Demands.


@pytest.mark.parametrize(
    ("spec", "demand"),
    [
        (pod_spec(2), Demand(2, 1500, 2 << 30)),
        ({"containers": [{"resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}}, {}]}, Demand(0, 500, 0)),
        (
            {"containers": [{"resources": {"limits": {"nvidia.com/mig-1g.5gb": "2", "nvidia.com/gpu": 1}}}]},
            Demand(3, 0, 0),
        ),
        (
            {"containers": [{"resources": {"limits": {"example.com/gpu": "2"}}}], "overhead": {"cpu": "250m"}},
            Demand(0, 250, 0),
        ),
    ],
)
def test_what_a_pod_asks_for(spec, demand):
    assert Reader(["nvidia.com/gpu", "nvidia.com/mig-*"]).pod(spec) == demand


def test_an_init_container_counts_where_it_needs_more_and_a_sidecar_always():
    def asks(cpu, **more):
        return {"resources": {"requests": {"cpu": cpu}}, **more}

    sidecar = asks("1", restartPolicy="Always")
    assert Reader([]).pod({"initContainers": [asks("5")], "containers": [asks("2"), asks("1")]}).cpus == 5
    assert Reader([]).pod({"initContainers": [asks("2")], "containers": [asks("2"), asks("1")]}).cpus == 3
    assert Reader([]).pod({"initContainers": [sidecar, asks("4")], "containers": [asks("2")]}).cpus == 5
    assert Reader([]).pod({"initContainers": [sidecar], "containers": [asks("2")]}).cpus == 3


def test_a_training_operator_job_asks_for_all_its_replicas(world):
    replicas = {
        "Master": {"template": {"spec": pod_spec(1)}},
        "Worker": {"replicas": 3, "template": {"spec": pod_spec(2)}},
    }
    spec = {"pytorchReplicaSpecs": replicas, "runPolicy": {"activeDeadlineSeconds": 60, "suspend": True}}
    world.put({"kind": "PyTorchJob", "metadata": meta("bert"), "spec": spec, "status": {}})
    fact = world.job()
    assert (fact.key, fact.nodes, fact.gpus, fact.cpus, fact.memory_mb) == ("ml/pytorchjob/bert", 4, 7, 6, 8192)
    assert (fact.state, fact.reason, fact.limit_ms) == (HELD, "Suspended", 60_000)


def test_a_job_asks_for_as_many_pods_as_run_at_a_time(world):
    world.put(job("few", pods=8, completions=3))
    assert world.job().gpus == 3


# Keys and owners.


def test_a_key_is_namespace_kind_and_name_and_never_too_long():
    assert key("PyTorchJob", "ml", "bert") == "ml/pytorchjob/bert"
    first, second = key("Job", "ml", "x" * 253), key("Job", "ml", "x" * 252 + "y")
    assert len(first) == len(second) == 180
    assert first != second


def test_the_whole_chain_of_owners_is_one_job(world):
    trainjob = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": meta("llm"),
        "spec": {},
        "status": {},
    }
    replicated = [{"replicas": 2, "template": {"spec": {"parallelism": 1, "template": {"spec": pod_spec(1)}}}}]
    jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta("llm", trainjob)}
    jobset |= {"spec": {"replicatedJobs": replicated}, "status": {}}
    jobs = [job(f"llm-{i}", jobset) for i in range(2)]
    pods = [bound(pod(f"llm-{i}-a", jobs[i]), f"n{i}", 10 + i) for i in range(2)]
    world.put(*pods, *jobs, jobset, trainjob)
    fact = world.job()
    assert (fact.key, fact.gpus, fact.nodes, fact.state) == ("ml/trainjob/llm", 2, 2, RUNNING)
    assert fact.attempts == (Attempt(at(10), None, (share("n0"), share("n1", from_ms=at(11)))),)


def test_pods_of_a_group_without_a_job_are_a_gang(world):
    world.put(*(pod(f"g-{i}", labels={"kueue.x-k8s.io/pod-group-name": "g"}) for i in range(2)))
    facts, _ = world.store.changed()
    assert [(fact.key, fact.gang) for fact in facts] == [("ml/pod/g-0", "ml/g"), ("ml/pod/g-1", "ml/g")]


# States and reasons.


def test_scheduling_gates_and_suspension_hold_a_job(world):
    world.put(pod("gated", schedulingGates=[{"name": "site/approval"}]))
    fact = world.job()
    assert (fact.state, fact.reason, fact.message) == (HELD, "SchedulingGated", "site/approval")
    world.put(job("later", suspend=True))
    fact = world.job()
    assert (fact.state, fact.reason) == (HELD, "Suspended")


def test_the_words_of_the_scheduler_are_one_short_line(world):
    message = (
        "0/9 nodes are available:\n9 Insufficient nvidia.com/gpu.\x1b[2J preemption: 0/9 nodes are available: "
        + "x" * 900
    )
    waiting = pod("w")
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    waiting["status"]["conditions"] = [condition]
    world.put(waiting)
    fact = world.job()
    assert (fact.state, fact.reason) == (WAITING, "Unschedulable")
    assert fact.message == "0/9 nodes are available: 9 Insufficient nvidia.com/gpu. [2J"
    condition["message"] = "y" * 900
    world.put(waiting)
    assert len(world.job().message) == 200


def test_a_scheduler_that_fails_to_bind_a_bound_pod_again_does_not_move_its_start(world):
    refused = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "lastTransitionTime": time(40)}
    first = bound(pod("p"), "n1", 10, startTime=time(12))
    again = {**first, "status": {**first["status"], "conditions": [refused]}}
    world.put(first)
    world.job()
    world.put(again)
    assert [attempt.started_ms for attempt in world.job(every=True).attempts] == [at(10)]
    other = World()  # as after a restart of the follower
    other.put(again)
    fact = other.job()
    assert ([attempt.started_ms for attempt in fact.attempts], fact.complete_history) == ([at(12)], True)


@pytest.mark.parametrize(
    ("conditions", "active", "expected"),
    [
        ({}, True, (WAITING, "Pending", "")),
        (
            {"QuotaReserved": ("False", "Inadmissible", "no such queue")},
            True,
            (WAITING, "Inadmissible", "no such queue"),
        ),
        (
            {"QuotaReserved": ("True", "", "reserved"), "Admitted": ("False", "", "checks")},
            True,
            (WAITING, "QuotaReserved", "checks"),
        ),
        (
            {"QuotaReserved": ("False", "Pending", "no"), "Evicted": ("True", "Preempted", "by b")},
            True,
            (WAITING, "Evicted", "by b"),
        ),
        (
            {"Evicted": ("True", "Deactivated", "by an administrator")},
            False,
            (HELD, "Deactivated", "by an administrator"),
        ),
        ({"QuotaReserved": ("True", "", ""), "Admitted": ("True", "", "")}, True, (WAITING, "", "")),
    ],
)
def test_a_workload_of_kueue_tells_why_its_job_waits(world, conditions, active, expected):
    train = world.put(job("train", suspend=True))
    listed = [{"type": kind, "status": s, "reason": r, "message": m} for kind, (s, r, m) in conditions.items()]
    spec = {"queueName": "team", "priority": 5, "active": active}
    workload = {"kind": "Workload", "metadata": meta("w", train), "spec": spec, "status": {"conditions": listed}}
    world.put(workload)
    fact = world.job()
    assert (fact.state, fact.reason, fact.message) == expected
    assert (fact.queue, fact.priority) == ("team", 5)
    world.delete(workload)
    assert world.job().reason == "Suspended"


def test_a_bound_pod_holds_its_node_before_its_container_runs(world):
    pulling = bound(pod("w"), "n1", 20, "Pending")
    pulling["status"]["containerStatuses"] = [
        {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}
    ]
    world.put(pulling)
    fact = world.job()
    assert (fact.state, fact.reason, fact.message) == (RUNNING, "ImagePullBackOff", "no such image")
    assert fact.attempts == (Attempt(at(20), None, (share("n1"),)),)


def test_a_job_of_which_some_pods_wait_runs_and_says_what_they_wait_for(world):
    train = world.put(job("train", pods=2))
    second = pod("b", train)
    second["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "full"}
    ]
    world.put(bound(pod("a", train), "n1", 5, "Pending"), second)
    fact = world.job()
    assert (fact.state, fact.reason, fact.message, len(fact.attempts[0].shares)) == (
        RUNNING,
        "Unschedulable",
        "full",
        1,
    )


# Attempts.


# Outcomes.


def test_an_owner_is_the_one_that_manages_and_no_other():
    owner = job("train")
    named = pod("w", owner)
    named["metadata"]["ownerReferences"] = [{**reference(owner), "controller": False}]
    world = World()
    world.put(named)
    assert world.job().key == "ml/pod/w"


# Nodes.


@pytest.mark.parametrize(
    ("obj", "state", "reason"),
    [
        (node("n"), UP, ""),
        (node("n", ready="Unknown"), DOWN, "NodeStatusUnknown"),
        (node("n", unschedulable=True), DRAINED, "Cordoned"),
        (
            node("n", taints=[{"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}]),
            DRAINED,
            "disk-pressure",
        ),
        (node("n", taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]), UP, ""),
    ],
)
def test_the_state_of_a_node(world, obj, state, reason):
    world.put(obj)
    (fact,) = world.store.changed()[1]
    assert (fact.state, fact.reason, fact.gpus, fact.cpus, fact.memory_mb) == (state, reason, 4, 32, 131_072)


def test_a_cordoned_node_drains_until_its_last_pod_ends(world):
    running = bound(pod("w"), "n", 10)
    world.put(running, node("n", unschedulable=True))
    assert [fact.state for fact in world.store.changed()[1]] == [DRAINING]
    world.put(ended(running, 20))
    assert [fact.state for fact in world.store.changed()[1]] == [DRAINED]
    assert world.store.changed()[1] == ()
