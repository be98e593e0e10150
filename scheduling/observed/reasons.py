"""Sentences for decisions of a real cluster, from the codes of Slurm and Kubernetes."""

from __future__ import annotations

from scheduling.reporting.quantities import counted, duration
from scheduling.reporting.sentences import Sentences, Values

DESCRIPTIONS = {  # by the cluster's code
    "Priority": "jobs with a higher priority are ahead of it",
    "Resources": "the resources that it requests are not free",
    "Dependency": "it depends on another job that has not ended",
    "DependencyNeverSatisfied": "it depends on a job that did not end as required, so it will never start",
    "BeginTime": "its begin time is in the future",
    "JobHeldUser": "it is held by its user",
    "JobHeldAdmin": "it is held by an administrator",
    "JobHoldMaxRequeue": "it is held after too many requeues",
    "Reservation": "its reservation has not begun",
    "ReqNodeNotAvail": "a node that it requires is not available",
    "PartitionDown": "its queue is down",
    "PartitionInactive": "its queue accepts no jobs",
    "PartitionNodeLimit": "it requests more nodes than its queue allows",
    "PartitionTimeLimit": "it requests more time than its queue allows",
    "BadConstraints": "no node of the cluster satisfies its constraints",
    "Licenses": "a licence that it needs is in use",
    "NodeDown": "a node that it needs is down",
    "JobArrayTaskLimit": "its array has reached its limit of concurrent tasks",
    "QOSMaxJobsPerUserLimit": "its user has reached the job limit of its quality of service (QOS)",
    "AssocGrpGRES": "its account has reached its GPU limit",
    "AssocMaxJobsLimit": "its account has reached its job limit",
    "Unschedulable": "no node has the resources that it requests",
    "SchedulingGated": "it is held by a scheduling gate",
    "Suspended": "it was created suspended",
}


def _why(values: Values) -> str:
    """Reason of the cluster as text with its code; only the code if it is not in the table; empty without one."""
    code = str(values.get("reason") or "")
    description = DESCRIPTIONS.get(code, "")
    return f": {description} ({code})" if description else f": {code}" if code else ""


def _ended(values: Values) -> str:
    outcome = str(values.get("outcome") or "ended")
    label = {
        "completed": "Completed",
        "failed": "Failed",
        "cancelled": "Cancelled",
        "timeout": "Ended at its time limit",
        "node_fail": "Ended by the failure of a node",
        "out_of_memory": "Ended because it ran out of memory",
        "preempted": "Preempted by a job with a higher priority",
    }.get(outcome, "Ended")
    unseen = (
        " at an unknown time after the cluster last reported it" if "after_ms" in values or outcome == "lost" else ""
    )
    return f"{label}{unseen}{_why(values)}."


def _held(values: Values) -> str:
    """A hold is a reason to wait; the sentence states it once."""
    why = _why(values)
    return f"Waiting{why}." if ": it is held" in why else f"Waiting on hold{why}."


def _started(values: Values) -> str:
    waited = f" after waiting {duration(values['waited_ms'])}" if values.get("waited_ms") else ""
    return f"Started by the cluster{waited}."


OBSERVED = Sentences("observed", {
    "waits": lambda v: f"Waiting{_why(v)}.",
    "held": _held,
    "started": _started,
    "resumed": lambda v: "Resumed by the cluster.",
    "suspended": lambda v: f"Suspended by the cluster{_why(v)}.",
    "requeued": lambda v: f"Requeued for the {_nth(v['restarts'])} time{_why(v)}.",
    "ended": _ended,
    "withdrawn": lambda v: (
        f"Never started: {str(v.get('outcome') or 'cancelled').replace('_', ' ')} while it waited{_why(v)}."
    ),
    "continues": lambda v: f"Open when this run of the cluster ended; continues in run {v['run']}.",
    "still_open": lambda v: (
        f"Neither completed nor cancelled when following ended, after {counted(v['attempts'], 'attempt')}."
    ),
})  # fmt: skip


def _nth(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
