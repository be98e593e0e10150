"""Times from which jobs of a live cluster could start: after their dependencies, begin times, holds and limits.

A replay takes them as they turned out, like durations. What a cluster gives as the reason of a waiting job says whether
the job competes for resources; a job that waits for anything else is not eligible.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from twin.eventlog import event_log
from twin.models import Run

COMPETING = frozenset({
    "", "None", "Priority", "Resources", "Prolog", "Cleaning", "NonZeroExitCode", "RaisedSignal", "NodeDown",
    "FrontEndDown", "SystemFailure", "Unschedulable", "SchedulerError", "Pending",
    "Nodes required for job are DOWN",  # "..., DRAINED or reserved for jobs in higher priority partitions"
})  # fmt: skip
Decided = tuple[int, int, str, str]  # (ms of the log, job, code of the decision, reason)


def eligible_ms(run: Run, from_ms: int, until_ms: int) -> dict[int, int]:
    """{job: ms of the log} of the jobs that could not start at once in this window; others are not in it.

    A job that cannot start in the window at all is eligible at until_ms.
    """
    lines = event_log.lines_of(run.pk, ("decided",), up_to_ms=until_ms)
    return _eligible((_decided(at_ms, data) for _, at_ms, _, data in lines), from_ms, until_ms)


def _decided(at_ms: int, data: dict[str, Any]) -> Decided:
    return at_ms, data["job"], data["code"], str(data.get("values", {}).get("reason") or "")


def _eligible(decisions: Iterable[Decided], from_ms: int, until_ms: int) -> dict[int, int]:
    found: dict[int, int] = {}
    blocked: set[int] = set()
    begun: set[int] = set()  # their first execution in the window has begun
    for at_ms, job, code, reason in decisions:
        if job in begun:
            continue
        if code == "held" or (code == "waits" and not _competes(reason)):
            blocked.add(job)
            continue
        if job in blocked:
            blocked.discard(job)
            found[job] = at_ms
        if code == "started":
            if at_ms >= from_ms:
                begun.add(job)
            else:
                found.pop(job, None)  # of an execution before the window
    found |= dict.fromkeys(blocked, until_ms)
    return {job: ms for job, ms in found.items() if ms > from_ms}


def _competes(reason: str) -> bool:
    """True if the job waits for resources only. Slurm writes details after a comma."""
    return reason.partition(",")[0].strip() in COMPETING
