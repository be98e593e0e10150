"""A job of the twin: one fact out of a job object, the objects below it and their pods."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from twin.connectors import facts
from twin.connectors._kubernetes.demands import NOTHING, Demand
from twin.connectors._kubernetes.fields import Owner
from twin.connectors._kubernetes.pods import PodRow
from twin.connectors._kubernetes.rows import JobRow, WorkloadRow
from twin.connectors.facts import Attempt, JobFact, Share

MAX_KEY = 180  # what the log keeps of a name
GRAVITY = (facts.NODE_FAIL, facts.PREEMPTED, facts.OUT_OF_MEMORY, facts.TIMEOUT, facts.FAILED, facts.REQUEUED)


@dataclass(slots=True)
class JobObjects:
    """Objects that belong to one job of the twin.

    root       its job object; None for a pod without one, and where only references to it are known
    reference  that reference
    below      job objects that the root owns
    """

    root: JobRow | None = None
    reference: Owner | None = None
    below: list[JobRow] = field(default_factory=list)
    pods: list[PodRow] = field(default_factory=list)
    workloads: list[WorkloadRow] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """True if it cannot run again: its object has ended or is gone; a pod of its own has ended."""
        if self.root is not None:
            return self.root.ended_ms is not None or self.root.gone_ms is not None
        return all(pod.ended_ms is not None for pod in self.pods)

    @property
    def ended(self) -> bool:
        """True if it has ended and holds no node any more."""
        return self.over and not any(pod.holds_node for pod in self.pods)


def key(kind: str, namespace: str, name: str) -> str:
    """Name of a twin job, namespace/kind/name; what is longer than a name may be keeps its beginning and a digest."""
    full = f"{namespace}/{kind.lower()}/{name}"
    if len(full) <= MAX_KEY:
        return full
    return f"{full[: MAX_KEY - 17]}~{hashlib.sha256(full.encode()).hexdigest()[:16]}"


def job_fact(objects: JobObjects) -> JobFact:
    """The twin job of these objects, as it is now."""
    root, pods = objects.root, objects.pods
    pods = sorted(pods, key=lambda pod: (pod.attempt or 0, pod.placed_ms or pod.created_ms, pod.name))
    some = pods[0] if pods else None
    attempts = _attempts(objects, pods)
    state = _state(objects, attempts)
    held, reason, message = _reason(objects, state)
    outcome, ended_ms = _end(objects, attempts) if state == facts.ENDED else ("", None)
    if outcome and attempts:
        attempts[-1] = replace(attempts[-1], outcome=outcome)
    count, demand = _asked(objects)
    if root is not None:
        name, namespace, submitted = key(root.kind, root.namespace, root.name), root.namespace, root.created_ms
        uid = root.uid
    else:
        assert some is not None, "there is neither a job object nor a pod of it"
        named = objects.reference or Owner("Pod", some.name, some.uid)
        name, namespace = key(named.kind, some.namespace, named.name), some.namespace
        submitted, uid = min(pod.created_ms for pod in pods), named.uid
    limits = [
        root.limit_ms if root else None,
        *(job.limit_ms for job in objects.below),
        *(pod.limit_ms for pod in pods),
    ]
    queues = [*(w.queue for w in objects.workloads), root.queue if root else "", *(pod.queue for pod in pods)]
    priorities = [*(w.priority for w in objects.workloads), *(pod.priority for pod in pods)]
    current = 1 if attempts and state in (facts.RUNNING, facts.ENDED) else 0
    return JobFact(
        key=name,
        submitted_ms=submitted,
        state=facts.HELD if held else state,
        reason=reason,
        message=message,
        outcome=outcome,
        restarts=max(len(attempts) - current, root.restarts if root else 0),
        attempts=tuple(attempts),
        complete_history=root is None and objects.reference is None,  # a pod by itself has one attempt
        nodes=max(count, 1),
        gpus=demand.gpus,
        cpus=demand.cpus,
        memory_mb=demand.memory_mb,
        limit_ms=next((limit for limit in limits if limit is not None), None),
        queue=next((queue for queue in queues if queue), ""),
        account=namespace,
        gang=f"{namespace}/{some.gang}" if some is not None and some.gang else None,
        priority=next((priority for priority in priorities if priority is not None), None),
        ended_ms=ended_ms,
        uid=uid,
    )


def _attempts(objects: JobObjects, pods: Sequence[PodRow]) -> list[Attempt]:
    """Executions of the job, each with one share a pod.

    A pod that is placed after all earlier ones have ended, one of them badly, begins a new one; while the pods of a job
    succeed one after another, it is the same.
    """
    groups: list[list[PodRow]] = []
    for pod in pods:
        if pod.placed_ms is None:
            continue
        if not groups or _is_next_attempt(groups[-1], pod):
            groups.append([])
        groups[-1].append(pod)
    attempts = [_attempt(objects, group, group is groups[-1]) for group in groups]
    return [_before(attempt, after) for attempt, after in zip_longest(attempts, attempts[1:])]


def _is_next_attempt(group: Sequence[PodRow], pod: PodRow) -> bool:
    if (pod.attempt or 0) != (group[-1].attempt or 0):
        return True
    ends = [earlier.ended_after_ms or earlier.ended_ms for earlier in group]
    ended = all(end is not None and end <= (pod.placed_ms or 0) for end in ends)
    return ended and any(earlier.outcome != facts.COMPLETED for earlier in group)


def _before(attempt: Attempt, after: Attempt | None) -> Attempt:
    """An attempt whose end was not seen, no longer than until the next one began."""
    if after is None or attempt.ended_after_ms is None or (attempt.ended_ms or 0) <= after.started_ms:
        return attempt
    ended_after = attempt.ended_after_ms if attempt.ended_after_ms < after.started_ms else None
    return replace(attempt, ended_ms=after.started_ms, ended_after_ms=ended_after)


def _attempt(objects: JobObjects, pods: Sequence[PodRow], last: bool) -> Attempt:
    started = min(pod.placed_ms or 0 for pod in pods)
    ended = ended_after = None
    outcome = ""
    if not any(pod.holds_node for pod in pods):
        outcome = _worst(objects, pods)
        going_on = (
            last and outcome == facts.COMPLETED and not objects.over and not (objects.root and objects.root.suspended)
        )
        if going_on:
            outcome = ""
        else:
            ended = max(pod.ended_ms or 0 for pod in pods)
            ended_after = next((pod.ended_after_ms for pod in pods if pod.ended_ms == ended), None)
    shares = (
        Share(
            node=pod.node,
            gpus=pod.demand.gpus,
            cpus=pod.demand.cpus,
            memory_mb=pod.demand.memory_mb,
            from_ms=pod.placed_ms if pod.placed_ms != started else None,
            until_ms=pod.ended_ms if pod.ended_ms != ended else None,
        )
        for pod in pods
    )
    return Attempt(started, ended, tuple(shares), outcome, None if ended_after == ended else ended_after)


def _worst(objects: JobObjects, pods: Sequence[PodRow]) -> str:
    """Outcome of an attempt whose pods have all ended; a pod that was taken away was preempted if its workload was."""
    taken = facts.PREEMPTED if any(workload.evicted for workload in objects.workloads) else facts.REQUEUED
    outcomes = {pod.outcome or taken for pod in pods}
    return next((outcome for outcome in GRAVITY if outcome in outcomes), facts.COMPLETED)


def _state(objects: JobObjects, attempts: Sequence[Attempt]) -> str:
    if any(pod.holds_node for pod in objects.pods):
        return facts.RUNNING
    if objects.over:
        return facts.ENDED
    return facts.RUNNING if attempts and attempts[-1].ended_ms is None else facts.WAITING


def _reason(objects: JobObjects, state: str) -> tuple[bool, str, str]:
    """(held, reason, message): what a job waits for, or how it ended."""
    root, pods = objects.root, objects.pods
    if state == facts.ENDED:
        if root is not None and root.outcome:
            failed = next((pod for pod in pods if pod.outcome not in ("", facts.COMPLETED)), None)
            return (
                False,
                root.reason,
                root.message or (failed.message if failed and root.outcome != facts.COMPLETED else ""),
            )
        if root is not None:
            return False, "Deleted", ""
        bad = next((pod for pod in pods if pod.outcome != facts.COMPLETED), None)
        return (False, bad.reason, bad.message) if bad else (False, "", "")
    open_pods = [pod for pod in pods if pod.ended_ms is None]
    if state == facts.RUNNING:
        if objects.over or (open_pods and all(pod.terminating for pod in open_pods)):
            return False, "Terminating", ""
        # those that wait come first
        order = sorted((pod for pod in open_pods if pod.reason), key=lambda pod: pod.holds_node)
        return (False, order[0].reason, order[0].message) if order else (False, "", "")
    queued = next((workload for workload in objects.workloads if workload.reason), None)
    if queued is not None:
        return queued.held, queued.reason, queued.message
    if root is not None and root.suspended and not objects.workloads:
        return True, "Suspended", ""
    waiting = next((pod for pod in open_pods if pod.reason), None)
    if waiting is not None:
        return waiting.held and not objects.workloads, waiting.reason, waiting.message
    return False, "", ""


def _end(objects: JobObjects, attempts: Sequence[Attempt]) -> tuple[str, int]:
    """(outcome, time) of a job that has ended."""
    root = objects.root
    ends = [pod.ended_ms for pod in objects.pods if pod.ended_ms is not None and pod.placed_ms is not None]
    if root is None:
        last = [*ends, *(pod.ended_ms for pod in objects.pods if pod.ended_ms is not None)]
        badly = [pod for pod in objects.pods if pod.outcome != facts.COMPLETED]
        outcomes = {pod.outcome or facts.CANCELLED for pod in badly}
        return next((o for o in (*GRAVITY, facts.CANCELLED) if o in outcomes), facts.COMPLETED), max(last)
    over = root.ended_ms if root.ended_ms is not None else root.gone_ms
    assert over is not None
    outcome = root.outcome or facts.CANCELLED
    if outcome == facts.FAILED and attempts and attempts[-1].outcome in GRAVITY[:3]:
        outcome = attempts[-1].outcome
    return outcome, max([over, *ends])


def _asked(objects: JobObjects) -> tuple[int, Demand]:
    """(pods, their requests together): of the job's templates, the objects below it, its workload, or its pods."""
    asking = [
        job
        for job in (objects.root, *objects.below)
        if job and job.pods and (job is objects.root or job.gone_ms is None)
    ]
    uids = {job.uid for job in asking}
    # an owner's templates include these
    jobs = [job for job in asking if job.owner is None or job.owner.uid not in uids]
    if jobs:
        return sum(job.pods for job in jobs), sum((job.demand for job in jobs), NOTHING)
    for workload in objects.workloads:
        if workload.pods:
            return workload.pods, workload.demand
    pods = [pod for pod in objects.pods if pod.ended_ms is None] or objects.pods
    return len(pods), sum((pod.demand for pod in pods), NOTHING)
