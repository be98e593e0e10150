"""Fields that objects of all kinds have: labels, owners, conditions, times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any

from twin.connectors import facts
from twin.connectors._kubernetes.kinds import JOB_KINDS
from twin.connectors._kubernetes.quantities import unix_ms

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
OUTCOMES = {  # by status.reason, by the reason of the condition DisruptionTarget, by that of a container or a job
    "DeadlineExceeded": facts.TIMEOUT,
    "OOMKilled": facts.OUT_OF_MEMORY,
    "Preempting": facts.PREEMPTED,
    "Preempted": facts.PREEMPTED,
    "PreemptionByScheduler": facts.PREEMPTED,
    "PreemptionByKubeScheduler": facts.PREEMPTED,
    "DeletionByTaintManager": facts.NODE_FAIL,
    "DeletionByPodGC": facts.NODE_FAIL,
    "NodeLost": facts.NODE_FAIL,
    "NodeShutdown": facts.NODE_FAIL,
    "Shutdown": facts.NODE_FAIL,
}


@dataclass(frozen=True, slots=True)
class Owner:
    """Reference to the job object that an object belongs to."""

    kind: str
    name: str
    uid: str


def owner_of(meta: Mapping[str, Any]) -> Owner | None:
    """The job object that manages this object, if any."""
    for entry in meta.get("ownerReferences") or ():
        if entry.get("controller") and (entry.get("apiVersion", "").rpartition("/")[0], entry.get("kind")) in JOB_KINDS:
            return Owner(intern(entry["kind"]), intern(entry["name"]), intern(entry["uid"]))
    return None


def conditions(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Conditions of a status by type."""
    return {entry["type"]: entry for entry in status.get("conditions") or ()}


def is_true(condition: Mapping[str, Any] | None) -> bool:
    """True if a condition exists and is true."""
    return (condition or {}).get("status") == "True"


def created_ms(meta: Mapping[str, Any], seen_ms: int) -> int:
    """Creation time of an object."""
    return first(unix_ms(meta.get("creationTimestamp")), seen_ms)


def first(*values: int | None) -> int:
    """The first value that is known."""
    return next(value for value in values if value is not None)
