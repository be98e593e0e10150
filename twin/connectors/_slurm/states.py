"""States of Slurm's jobs and nodes in the words of twin.connectors.facts."""

from __future__ import annotations

from twin.connectors import facts

HELD_REASONS = {"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue"}
JOB_STATES = {
    "PENDING": facts.WAITING,
    "REQUEUED": facts.WAITING,
    "REQUEUE_FED": facts.WAITING,
    "EXPEDITING": facts.WAITING,
    "REQUEUE_HOLD": facts.HELD,
    "RESV_DEL_HOLD": facts.HELD,
    "SPECIAL_EXIT": facts.HELD,
    "RUNNING": facts.RUNNING,
    "COMPLETING": facts.RUNNING,  # it still holds its nodes
    "CONFIGURING": facts.RUNNING,  # its nodes boot
    "POWER_UP_NODE": facts.RUNNING,
    "RESIZING": facts.RUNNING,
    "SIGNALING": facts.RUNNING,
    "STAGE_OUT": facts.RUNNING,
    "UPDATE_DB": facts.RUNNING,
    "SUSPENDED": facts.SUSPENDED,
    "STOPPED": facts.SUSPENDED,
}
OUTCOMES = {  # states of ended jobs
    "COMPLETED": facts.COMPLETED,
    "FAILED": facts.FAILED,
    "LAUNCH_FAILED": facts.FAILED,
    "RECONFIG_FAIL": facts.FAILED,
    "CANCELLED": facts.CANCELLED,
    "REVOKED": facts.CANCELLED,  # another cluster of the federation started it
    "TIMEOUT": facts.TIMEOUT,
    "DEADLINE": facts.TIMEOUT,
    "NODE_FAIL": facts.NODE_FAIL,
    "BOOT_FAIL": facts.NODE_FAIL,
    "OUT_OF_MEMORY": facts.OUT_OF_MEMORY,
    "PREEMPTED": facts.PREEMPTED,
}
# another attempt may follow
AGAIN = {"REQUEUED": facts.REQUEUED, "NODE_FAIL": facts.NODE_FAIL, "PREEMPTED": facts.PREEMPTED}
PLAIN = {
    "PENDING",
    "RUNNING",
    "SUSPENDED",
    "COMPLETED",
    "FAILED",
    "CANCELLED",
    "TIMEOUT",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
}
BUSY = {"ALLOCATED", "MIXED", "COMPLETING"}
UNFIT = {"FAIL", "INVAL", "INVALID_REG", "BLOCKED"}  # takes no new jobs, as when drained


def job_state(shown: str, reason: str) -> tuple[str, str]:
    """(state, outcome) of a job; a state that is not known never ends a job."""
    if shown in OUTCOMES:
        return facts.ENDED, OUTCOMES[shown]
    state = JOB_STATES.get(shown, facts.RUNNING)
    return (facts.HELD if state == facts.WAITING and reason in HELD_REASONS else state), ""


def job_reason(shown: str, reason: str) -> str:
    """Slurm's reason; without one, a state that says more than ours."""
    return reason or ("" if shown in PLAIN else shown)


def node_state(shown: str) -> tuple[str, str]:
    """(state, what else it says) of a node, from e.g. MIXED+DRAIN, DOWN*+NOT_RESPONDING or IDLE+CLOUD+POWERED_DOWN."""
    base, *flags = shown.rstrip("*$~#!%@^-").split("+")
    if shown.split("+")[0].endswith("*") and "NOT_RESPONDING" not in flags:
        flags.append("NOT_RESPONDING")
    base = base.rstrip("*$~#!%@^-")
    more = "+".join(flag for flag in flags if flag != "DRAIN")
    if base in ("DOWN", "ERROR", "UNKNOWN", "FUTURE"):
        return facts.DOWN, more if base == "DOWN" else "+".join(filter(None, (base, more)))
    if "DRAIN" in flags or UNFIT & {base, *flags}:
        return (facts.DRAINING if base in BUSY or "COMPLETING" in flags else facts.DRAINED), more
    return facts.UP, more
