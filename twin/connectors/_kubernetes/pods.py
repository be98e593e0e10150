"""Pod rows: what is kept of a pod in memory, and the way there from an object of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import Any

from twin.connectors import facts
from twin.connectors._kubernetes.demands import NOTHING, Demand, Reader
from twin.connectors._kubernetes.fields import OUTCOMES, QUEUE_LABEL, Owner, conditions, created_ms, first, owner_of
from twin.connectors._kubernetes.quantities import line, unix_ms

GANG_LABELS = ("kueue.x-k8s.io/pod-group-name", "scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")
ATTEMPT_LABEL = "jobset.sigs.k8s.io/restart-attempt"
Containers = Sequence[Mapping[str, Any]]  # status.containerStatuses


@dataclass(frozen=True, slots=True)
class PodRow:
    """A pod. It holds its node from placed_ms to ended_ms.

    attempt  number of the restart it belongs to, where its labels say
    outcome  "" of a pod that was deleted before it ended, unless the cluster says why
    gone     it is no longer there; kept because it was part of its job
    """

    uid: str
    namespace: str
    name: str
    created_ms: int
    owner: Owner | None = None
    demand: Demand = NOTHING
    node: str = ""
    placed_ms: int | None = None
    ended_ms: int | None = None
    ended_after_ms: int | None = None
    outcome: str = ""
    reason: str = ""
    message: str = ""
    held: bool = False
    terminating: bool = False
    gang: str = ""
    queue: str = ""
    priority: int | None = None
    limit_ms: int | None = None
    attempt: int | None = None
    gone: bool = False

    @property
    def holds_node(self) -> bool:
        """True if it holds its share of a node now."""
        return bool(self.node) and self.ended_ms is None


def pod_row(obj: Mapping[str, Any], reader: Reader, seen_ms: int, before: PodRow | None = None) -> PodRow | None:
    """A pod that asks for GPUs or belongs to a job; None for others. `before`: the row so far, `seen_ms`: now."""
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    labels, owner, demand = meta.get("labels") or {}, owner_of(meta), reader.pod(spec)
    if owner is None and not demand.gpus:
        return None
    by_type, containers = conditions(status), status.get("containerStatuses") or ()
    terminating = bool(meta.get("deletionTimestamp"))
    created = created_ms(meta, seen_ms)
    placed = _placed(spec, status, by_type, before, max(seen_ms, created))
    ended = _ended(status, containers, before, seen_ms, terminating)
    held, reason, message = _reason(spec, status, by_type, containers)
    seconds, attempt = spec.get("activeDeadlineSeconds"), labels.get(ATTEMPT_LABEL, "")
    return PodRow(
        uid=meta["uid"],
        namespace=intern(meta.get("namespace") or ""),
        name=meta["name"],
        created_ms=created,
        owner=before.owner if before is not None and before.owner == owner else owner,  # one object for equal ones
        demand=before.demand if before is not None and before.demand == demand else demand,
        node=intern(spec.get("nodeName") or ""),
        placed_ms=None if placed is None else max(placed, created),
        ended_ms=None if ended is None else max(ended, placed or 0, created),
        outcome=_outcome(status, by_type, containers),
        reason=intern(line(reason, 60)),
        message=line(message),
        held=held,
        terminating=terminating,
        gang=next((labels[name] for name in GANG_LABELS if labels.get(name)), ""),
        queue=intern(labels.get(QUEUE_LABEL, "")),
        priority=spec.get("priority"),
        limit_ms=None if seconds is None else int(seconds) * 1000,
        attempt=int(attempt) if attempt.isdecimal() else None,
    )


def gone_pod(row: PodRow, after_ms: int | None, seen_ms: int) -> PodRow:
    """The row of a pod that is no longer there: since `seen_ms`, or since some time between `after_ms` and that."""
    if row.ended_ms is not None:
        return replace(row, gone=True)
    begun = row.placed_ms or row.created_ms
    ended = max(begun, _second(seen_ms) if after_ms is None else seen_ms)
    after = None if after_ms is None else min(max(after_ms, begun), ended)
    return replace(
        row, ended_ms=ended, ended_after_ms=after, gone=True, terminating=False, reason="Deleted", message=""
    )


def _placed(spec: Any, status: Any, by_type: Any, before: PodRow | None, seen_ms: int) -> int | None:
    """Time of the binding of the pod to its node; None while unbound."""
    if not spec.get("nodeName"):
        return None
    known = before.placed_ms if before is not None else None  # it identifies the attempt, and must not move
    scheduled = by_type.get("PodScheduled") or {}
    # "False" on a bound pod: the scheduler tried to bind it a second time, after an answer that was lost
    bound = unix_ms(scheduled.get("lastTransitionTime")) if scheduled.get("status") == "True" else None
    return first(known, bound, unix_ms(status.get("startTime")), seen_ms)


def _ended(status: Any, containers: Containers, before: PodRow | None, seen_ms: int, terminating: bool) -> int | None:
    """End of the last container; without one, the time when the end was first seen; None while the pod goes on."""
    ends = [unix_ms(_terminated(entry).get("finishedAt")) for entry in containers]
    known_ends = [end for end in ends if end is not None]
    if status.get("phase") in ("Succeeded", "Failed"):
        known = before.ended_ms if before is not None else None
        return max(known_ends) if known_ends else first(known, _second(seen_ms))
    return max(known_ends) if terminating and known_ends and len(known_ends) == len(ends) else None


def _reason(spec: Any, status: Any, by_type: Any, containers: Containers) -> tuple[bool, Any, Any]:
    """(held, reason, message): what the pod waits for, or how it failed."""
    if status.get("phase") == "Failed":
        failed = next((end for end in map(_terminated, containers) if end.get("exitCode")), {})
        return False, status.get("reason") or failed.get("reason"), status.get("message") or failed.get("message")
    if not spec.get("nodeName"):
        if spec.get("schedulingGates"):
            return True, "SchedulingGated", ", ".join(gate["name"] for gate in spec["schedulingGates"])
        scheduled = by_type.get("PodScheduled") or {}
        return False, scheduled.get("reason"), str(scheduled.get("message") or "").split(" preemption: ")[0]
    for entry in containers:
        waiting = (entry.get("state") or {}).get("waiting")
        if waiting:
            return False, waiting.get("reason"), waiting.get("message")
    return False, "ContainerCreating" if status.get("phase") == "Pending" else "", ""


def _outcome(status: Any, by_type: Any, containers: Containers) -> str:
    """Outcome of a pod; of a running one, the outcome it would have if it were deleted now."""
    phase = status.get("phase")
    if phase == "Succeeded":
        return facts.COMPLETED
    reasons = [status.get("reason"), (by_type.get("DisruptionTarget") or {}).get("reason")]
    if phase == "Failed":
        reasons += [_terminated(entry).get("reason") for entry in containers]
    known = next((OUTCOMES[reason] for reason in reasons if reason in OUTCOMES), "")
    return known or (facts.FAILED if phase == "Failed" else "")


def _terminated(container: Mapping[str, Any]) -> Mapping[str, Any]:
    return (container.get("state") or {}).get("terminated") or {}


def _second(ms: int) -> int:
    """A time in whole seconds, as the cluster states its own: a pod after another one must not begin earlier."""
    return ms // 1000 * 1000
