"""Rows of jobs, workloads and nodes: what is kept of them in memory, and the way there from an object of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any

from twin.connectors import facts
from twin.connectors._kubernetes.demands import NOTHING, Demand, Reader
from twin.connectors._kubernetes.fields import (
    OUTCOMES,
    QUEUE_LABEL,
    Owner,
    conditions,
    created_ms,
    first,
    is_true,
    owner_of,
)
from twin.connectors._kubernetes.kinds import Kind
from twin.connectors._kubernetes.quantities import line, unix_ms

COMPLETE, FAILED = ("Complete", "Completed", "Succeeded"), ("Failed",)  # conditions of jobs of all kinds
NODE_LABELS_LEFT_OUT = "feature.node.kubernetes.io/"  # hundreds a node, of its hardware


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job object of any kind: Job, JobSet, PyTorchJob ...

    pods, demand  what its templates ask for in total; 0 pods where it has none
    gone_ms       when it was deleted, kept as long as pods of it are there
    """

    uid: str
    kind: str
    namespace: str
    name: str
    created_ms: int
    owner: Owner | None = None
    suspended: bool = False
    limit_ms: int | None = None
    pods: int = 0
    demand: Demand = NOTHING
    queue: str = ""
    restarts: int = 0
    ended_ms: int | None = None
    outcome: str = ""
    reason: str = ""
    message: str = ""
    gone_ms: int | None = None


@dataclass(frozen=True, slots=True)
class WorkloadRow:
    """A Workload of Kueue: the place of a job in a queue.

    reason  why it waits, "" once it is admitted
    """

    uid: str
    namespace: str
    owners: tuple[str, ...]
    queue: str = ""
    priority: int | None = None
    held: bool = False
    evicted: bool = False
    reason: str = ""
    message: str = ""
    pods: int = 0
    demand: Demand = NOTHING


def job_row(obj: Mapping[str, Any], kind: Kind, reader: Reader, seen_ms: int) -> JobRow:
    """A job object of any kind."""
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    policy = spec.get("runPolicy") or {}
    by_type = conditions(status)
    over = next((by_type[name] for name in (*FAILED, *COMPLETE) if is_true(by_type.get(name))), None)
    ended, outcome, created = None, "", created_ms(meta, seen_ms)
    if over is not None:
        ended = first(unix_ms(status.get("completionTime")), unix_ms(over.get("lastTransitionTime")), seen_ms)
        outcome = facts.COMPLETED if over["type"] in COMPLETE else OUTCOMES.get(str(over.get("reason")), facts.FAILED)
    templates = list(_templates(spec))
    limits = [spec.get("activeDeadlineSeconds"), policy.get("activeDeadlineSeconds")]
    limits += [pod.get("activeDeadlineSeconds") for _, pod in templates]
    seconds = next((value for value in limits if value is not None), None)
    return JobRow(
        uid=meta["uid"],
        kind=kind.name,
        namespace=intern(meta.get("namespace") or ""),
        name=meta["name"],
        created_ms=created,
        owner=owner_of(meta),
        suspended=bool(spec.get("suspend") or policy.get("suspend")),
        limit_ms=None if seconds is None else int(seconds) * 1000,
        pods=sum(count for count, _ in templates),
        demand=sum((reader.pod(pod) * count for count, pod in templates), NOTHING),
        queue=intern((meta.get("labels") or {}).get(QUEUE_LABEL, "")),
        restarts=int(status.get("restarts") or 0),
        ended_ms=None if ended is None else max(ended, created),
        outcome=outcome,
        reason=intern(line((over or {}).get("reason"), 60)) if outcome != facts.COMPLETED else "",
        message=line((over or {}).get("message")) if outcome != facts.COMPLETED else "",
    )


def workload_row(obj: Mapping[str, Any], reader: Reader) -> WorkloadRow:
    """A Workload of Kueue."""
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    sets = [
        (int(entry.get("count") or 0), (entry.get("template") or {}).get("spec") or {})
        for entry in spec.get("podSets") or ()
    ]
    by_type = conditions(status)
    admitted, evicted, quota = (by_type.get(name) or {} for name in ("Admitted", "Evicted", "QuotaReserved"))
    held = spec.get("active") is False
    if held:
        reason, message = "Deactivated", evicted.get("message")
    elif is_true(admitted):
        reason, message = "", None
    elif is_true(quota):
        reason, message = "QuotaReserved", admitted.get("message") or quota.get("message")
    elif is_true(evicted):
        reason, message = "Evicted", evicted.get("message")
    else:
        reason, message = line(quota.get("reason"), 60) or "Pending", quota.get("message")
    return WorkloadRow(
        uid=meta["uid"],
        namespace=intern(meta.get("namespace") or ""),
        owners=tuple(entry["uid"] for entry in meta.get("ownerReferences") or ()),
        queue=intern(spec.get("queueName") or ""),
        priority=spec.get("priority"),
        held=held,
        evicted=is_true(evicted),
        reason=intern(reason),
        message=line(message),
        pods=sum(count for count, _ in sets),
        demand=sum((reader.pod(pod) * count for count, pod in sets), NOTHING),
    )


def node_fact(obj: Mapping[str, Any], reader: Reader) -> facts.NodeFact:
    """A node; one that takes no new pods is draining here, and drained once no pod of a job is on it."""
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    offer = reader.amount(status.get("allocatable") or status.get("capacity"))
    ready = conditions(status).get("Ready") or {}
    taints = [taint for taint in spec.get("taints") or () if taint.get("effect") in ("NoSchedule", "NoExecute")]
    faults = [taint["key"] for taint in taints if taint["key"].startswith("node.kubernetes.io/")]
    if not is_true(ready):
        state, reason = facts.DOWN, line(ready.get("reason"), 60) or "NotReady"
    elif spec.get("unschedulable"):
        state, reason = facts.DRAINING, "Cordoned"
    elif faults:
        state, reason = facts.DRAINING, line(faults[0].removeprefix("node.kubernetes.io/"), 60)
    else:
        state, reason = facts.UP, ""
    labels = {k: v for k, v in (meta.get("labels") or {}).items() if not k.startswith(NODE_LABELS_LEFT_OUT)}
    labels |= {f"taint:{t['key']}": f"{t.get('value', '')}:{t['effect']}" for t in taints if t["key"] not in faults}
    return facts.NodeFact(meta["name"], state, reason, offer.gpus, offer.cpus, offer.memory_mb, labels=labels)


def _templates(spec: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(number of pods at a time, spec of a pod) of each template of a job, whatever its kind."""
    for entry in spec.get("replicatedJobs") or ():  # JobSet
        for count, pod in _templates((entry.get("template") or {}).get("spec") or {}):
            yield _count(entry.get("replicas")) * count, pod
    for name, replicas in spec.items():
        if name.endswith("ReplicaSpecs"):  # Kubeflow
            for entry in (replicas or {}).values():
                yield _count(entry.get("replicas")), (entry.get("template") or {}).get("spec") or {}
    template = spec.get("template") or {}
    if "spec" in template:  # Job
        count = _count(spec.get("parallelism"))
        yield (min(count, int(spec["completions"])) if spec.get("completions") is not None else count), template["spec"]


def _count(number: Any) -> int:
    return 1 if number is None else int(number)
