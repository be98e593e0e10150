"""Waiting jobs as an actuator reads and changes them, and the changes."""

from __future__ import annotations

from dataclasses import dataclass

from twin.moments import moment_utc

NICE, NOT_BEFORE, NODES = "nice", "not_before_ms", "nodes"
FIELDS = (NICE, NOT_BEFORE, NODES)
TITLES = {NICE: "nice", NOT_BEFORE: "begin time", NODES: "required nodes"}
Value = int | str | None


class ActuatorError(RuntimeError):
    """A cluster that refused a change or did not answer: one sentence with what would help."""


def shown(field: str, value: Value) -> str:
    """A value in messages: -300, 2026-11-22 14:20:00 UTC, edge1, none."""
    if value is None or value == "":
        return "none"
    if field == NOT_BEFORE:
        return moment_utc(int(value))
    return str(value)


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that waits, as the cluster has it now.

    priority       the cluster's own number, a higher one goes first; nice is already subtracted
    nice           what is subtracted from the priority
    not_before_ms  Unix ms before which the job does not start; None where it may start
    nodes          the nodes that the job must have, as the cluster prints them; "" = any
    held           True if somebody holds it
    single         False for a task of an array and a part of a heterogeneous job
    """

    key: str
    submitted_ms: int
    priority: int
    nice: int = 0
    not_before_ms: int | None = None
    nodes: str = ""
    node_count: int = 1
    queue: str = ""
    account: str = ""
    user: str = ""
    held: bool = False
    depends_on: str = ""
    single: bool = True

    def value(self, field: str) -> Value:
        """The value of one of FIELDS."""
        found: Value = getattr(self, field)
        return found


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one field of one waiting job. (key, submitted_ms) is its identity: a key may be used again."""

    key: str
    submitted_ms: int
    field: str
    before: Value
    after: Value

    def __post_init__(self) -> None:
        if self.field not in FIELDS:
            raise ValueError(f"field must be one of {', '.join(FIELDS)}, got {self.field!r}")

    def inverse(self) -> Change:
        """The change that undoes this one."""
        return Change(self.key, self.submitted_ms, self.field, self.after, self.before)
