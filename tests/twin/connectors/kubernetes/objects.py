"""Objects of a Kubernetes API, as small as they may be."""

from __future__ import annotations

import itertools
from typing import Any

_uids = itertools.count(1)
CREATED = "2026-11-22T09:00:00Z"
CREATED_MS = 1_795_338_000_000


def time(seconds: int) -> str:
    """So many seconds after CREATED, at most an hour."""
    return f"2026-11-22T09:{seconds // 60:02}:{seconds % 60:02}Z"


def meta(name: str, owner: Any = None, **more: Any) -> dict[str, Any]:
    """Metadata of an object, managed by `owner`."""
    references = {} if owner is None else {"ownerReferences": [reference(owner)]}
    return {
        "name": name,
        "namespace": "ml",
        "uid": f"uid-{next(_uids)}",
        "creationTimestamp": CREATED,
        **references,
        **more,
    }


def reference(owner: Any) -> dict[str, Any]:
    """A reference to the object that manages another."""
    of = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": of["name"],
        "uid": of["uid"],
        "controller": True,
    }


def pod_spec(gpus: int = 1, **more: Any) -> dict[str, Any]:
    """Spec of a pod with one container."""
    resources = {"requests": {"cpu": "1500m", "memory": "2Gi"}, "limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}
    return {"containers": [{"name": "c", "resources": resources}], **more}


def pod(name: str, owner: Any = None, gpus: int = 1, labels: Any = None, **more: Any) -> dict[str, Any]:
    """A pod that has not been bound."""
    return {
        "metadata": meta(name, owner, labels=labels or {}),
        "spec": pod_spec(gpus, **more),
        "status": {"phase": "Pending"},
    }


def bound(obj: Any, node: str, at: int, phase: str = "Running", **status: Any) -> dict[str, Any]:
    """The pod on a node, since `at` seconds."""
    placed = {"type": "PodScheduled", "status": "True", "lastTransitionTime": time(at)}
    meta = dict(obj["metadata"])
    return {
        "metadata": meta,
        "spec": {**obj["spec"], "nodeName": node},
        "status": {"phase": phase, "conditions": [placed], **status},
    }


def ended(obj: Any, at: int, phase: str = "Succeeded", why: str = "Completed", **status: Any) -> dict[str, Any]:
    """The pod with its container ended at `at` seconds."""
    end = {"exitCode": 0 if phase == "Succeeded" else 1, "reason": why, "startedAt": CREATED, "finishedAt": time(at)}
    states = [{"name": "c", "state": {"terminated": end}}]
    new = {**obj["status"], "phase": phase, "containerStatuses": states, **status}
    return {"metadata": dict(obj["metadata"]), "spec": obj["spec"], "status": new}


def job(name: str, owner: Any = None, pods: int = 1, gpus: int = 1, **spec: Any) -> dict[str, Any]:
    """A Job."""
    template = {"spec": pod_spec(gpus)}
    body = {"parallelism": pods, "completions": pods, "template": template, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta(name, owner), "spec": body, "status": {}}


def over(obj: Any, kind: str, at: int, reason: str = "") -> dict[str, Any]:
    """The job object with a condition that ends it."""
    condition = {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": time(at)}
    return {**obj, "metadata": dict(obj["metadata"]), "status": {"conditions": [condition]}}


def node(name: str, gpus: int = 4, ready: str = "True", **spec: Any) -> dict[str, Any]:
    """A node of 32 CPUs and 128 GiB."""
    offer = {"cpu": "32", "memory": "128Gi", "nvidia.com/gpu": str(gpus)}
    condition = {"type": "Ready", "status": ready, "reason": "KubeletReady" if ready == "True" else "NodeStatusUnknown"}
    return {"metadata": {"name": name}, "spec": spec, "status": {"allocatable": offer, "conditions": [condition]}}
