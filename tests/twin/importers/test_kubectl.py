"""Pods and nodes as kubectl prints them."""

import json

import pytest

from tests.twin.importers.reading import is_accounted, listed, read_texts
from twin.traces.importers import ImportRefused, kubectl


def pod(name, begun="00:00:10", ended="01:00:10", gpus="1", owner="", phase="Succeeded", **meta):
    status = {"phase": phase, "startTime": f"2026-11-22T{begun}Z"} if begun else {"phase": "Pending"}
    if ended:
        done = {"terminated": {"finishedAt": f"2026-11-22T{ended}Z", "exitCode": int(phase == "Failed")}}
        status["containerStatuses"] = [{"state": done}]
    owners = [{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": owner, "controller": True}]
    requests = {"cpu": "500m", "memory": "16Gi"} | ({"nvidia.com/gpu": gpus} if gpus else {})
    return {
        "kind": "Pod", "status": status,
        "metadata": {"name": name, "namespace": "ml", "uid": name, "creationTimestamp": "2026-11-22T00:00:00Z",
                     "ownerReferences": owners if owner else []} | meta,
        "spec": {"containers": [{"resources": {"requests": requests}}]} | ({"nodeName": "n1"} if begun else {}),
    }  # fmt: skip


def node(name, **status):
    offer = {"cpu": "64", "memory": "256Gi", "nvidia.com/gpu": "8"}
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": offer} | status}


def found(*items):
    return read_texts(kubectl, json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=1))


def jobs(read):
    drafts = read.drafts
    columns = zip(drafts.arrival_ms.tolist(), drafts.run_ms.tolist(), drafts.workers.tolist(), strict=True)
    return dict(zip(drafts.keys, columns, strict=True))


def test_pods_of_one_owner_are_a_gang():
    read = found(pod("a-0", owner="a"), pod("a-1", owner="a", gpus="2"), pod("alone", begun="00:30:00"))
    assert jobs(read) == {"ml/job/a": (0, 3_600_000, 3), "ml/pod/alone": (0, 1_810_000, 1)}
    assert read.drafts.demand[0, :3].tolist() == [1000, 333, round(2 * 16 * 2**30 / 1e6 / 3)]
    assert read.merged == 1
    assert is_accounted(read)


def test_pods_with_the_label_of_a_gang_are_one_job():
    label = {"labels": {"scheduling.x-k8s.io/pod-group": "g"}}
    assert jobs(found(pod("w0", **label), pod("w1", **label))) == {"ml/g": (0, 3_600_000, 2)}


def test_a_restart_is_another_attempt_of_the_same_job():
    """10 minutes, then half an hour."""
    failed = pod("a-0", owner="a", ended="00:10:10", phase="Failed")
    again = pod("a-1", owner="a", begun="00:20:00", ended="00:50:00")
    assert jobs(found(failed, again)) == {"ml/job/a": (0, 40 * 60_000, 1)}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (pod("x", ended="", phase="Running"), "no_end"), (pod("x", begun="", ended=""), "no_start"),
        (pod("x", gpus=""), "no_gpu"),
        ({"kind": "Service", "metadata": {"name": "x"}}, "not_a_pod_or_node"), ({"kind": "Pod"}, "unreadable_cell"),
        (7, "not_a_pod_or_node"), (pod("a"), "duplicate_id"), (pod("x", gpus="many"), "unreadable_cell"),
        (pod("x", begun="soon"), "unreadable_cell"), (node("cloud"), "unreadable_name"),
        (node("n", allocatable={"cpu": "1e99"}), "unreadable_cell"),
    ],
)  # fmt: skip
def test_other_objects_are_skipped(item, reason):
    read = found(pod("a"), item)
    assert [found_reason for _, _, found_reason in listed(read)] == [reason]
    assert (len(read.drafts), read.rows) == (1, 2)
    assert is_accounted(read)


def test_nodes_are_servers():
    read = found(node("n1"), node("n2"), node("n1"), pod("a"))
    assert [(server.name, server.capacity[:3]) for server in read.cluster.servers] == [
        ("n1", (8000, 64_000, 274_877)), ("n2", (8000, 64_000, 274_877)),
    ]  # fmt: skip
    assert read.rows == len(read.drafts) + read.merged + len(read.skipped) == 4
    assert found(node("n1")).drafts is None


def test_two_lists_one_after_the_other_are_read_and_garbage_is_refused():
    """As of `kubectl get pods -o json; kubectl get nodes -o json` into one file."""
    lists = [json.dumps({"apiVersion": "v1", "items": [item], "kind": "List"}) for item in (pod("a"), node("n1"))]
    read = read_texts(kubectl, "\n".join(lists))
    assert (len(read.drafts), len(read.cluster.servers)) == (1, 1)
    with pytest.raises(ImportRefused, match="line 3: an object with the key 'items' is expected"):
        read_texts(kubectl, "\n".join([*lists, "x"]))
    with pytest.raises(ImportRefused, match="0 rows read, no pod or node found"):
        found()


def test_a_list_of_pods_names_its_kind_once():
    bare = {name: value for name, value in pod("a").items() if name != "kind"}
    text = json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [bare]})
    assert kubectl.sniff(text.encode())[0]
    assert jobs(read_texts(kubectl, text)) == {"ml/pod/a": (0, 3_600_000, 1)}
