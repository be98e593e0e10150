"""Vocabulary of push: the types of events about jobs and nodes, and what the data of each may hold.

An event states a fact at the time it carries. It needs to say only what it knows: for each field the newest statement
holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from twin.connectors.facts import JOB_STATES, NODE_STATES, OUTCOMES, REQUEUED

MAX_TEXT, MAX_NUMBER = 200, 2**53
MAX_AMOUNT = 10**9  # GPUs, CPUs or MB of a job or node, as of the servers of a scenario
MAX_SHARES, MAX_ATTEMPTS, MAX_GPUS, MAX_LABELS = 10_000, 1_000, 1_024, 200
MAX_VALUE = 80  # characters of a value in a message
STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
PRINTABLE = r"^[^\x00-\x1f\x7f]*$"  # also for what a page shows and PostgreSQL stores

Text = Annotated[str, Meta(max_length=MAX_TEXT, pattern=PRINTABLE)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT, pattern=PRINTABLE)]
Count = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Amount = Annotated[int, Meta(ge=0, le=MAX_AMOUNT)]
Nodes = Annotated[int, Meta(ge=1, le=MAX_NUMBER)]
Ms = Annotated[int, Meta(ge=0, le=MAX_NUMBER, description="Unix milliseconds")]
Priority = Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
JobState = Literal["waiting", "held", "running", "suspended", "ended"]
Outcome = Literal[
    "completed", "failed", "cancelled", "timeout", "node_fail", "out_of_memory", "preempted", "requeued", "lost"
]  # fmt: skip
NodeState = Literal["up", "draining", "drained", "down"]


class _Data(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of the data of an event; a field that the event does not state is UNSET."""


class ShareData(_Data, kw_only=True):
    """Part of a node that a job holds while it runs."""

    node: Name
    gpus: Amount = 0
    cpus: Amount = 0
    memory_mb: Amount = 0
    gpu_ids: Annotated[list[Annotated[int, Meta(ge=0, lt=MAX_GPUS)]], Meta(max_length=MAX_GPUS)] = []
    from_ms: Ms | None = None
    until_ms: Ms | None = None


class AttemptData(_Data, kw_only=True):
    """One execution of a job."""

    started_ms: Ms
    ended_ms: Ms | None = None
    shares: Annotated[list[ShareData], Meta(max_length=MAX_SHARES)] = []
    outcome: Outcome | Literal[""] = ""
    ended_after_ms: Ms | None = None


class JobData(_Data):
    """Fields of any event about a job: its submission and its requests."""

    submitted_ms: Ms | UnsetType = UNSET
    reason: Text | UnsetType = UNSET
    message: Text | UnsetType = UNSET
    nodes: Nodes | UnsetType = UNSET
    gpus: Amount | UnsetType = UNSET
    cpus: Amount | UnsetType = UNSET
    memory_mb: Amount | UnsetType = UNSET
    limit_ms: Count | None | UnsetType = UNSET
    queue: Text | UnsetType = UNSET
    user: Text | UnsetType = UNSET
    account: Text | UnsetType = UNSET
    gang: Name | None | UnsetType = UNSET
    priority: Priority | None | UnsetType = UNSET
    depends_on: Text | UnsetType = UNSET
    reservation: Text | UnsetType = UNSET


class StartData(JobData):
    """Fields of job.started: those of any job event, and the shares that the job holds."""

    shares: Annotated[list[ShareData], Meta(max_length=MAX_SHARES)] = []


class RequeueData(JobData):
    """Fields of job.requeued: those of any job event, and the outcome of the execution."""

    outcome: Outcome = "requeued"


class EndData(JobData, kw_only=True):
    """Fields of job.ended: those of any job event, and the outcome."""

    outcome: Outcome


class JobStatement(JobData, kw_only=True):
    """Complete state of a job at one time, as in a snapshot or an accounting record."""

    state: JobState
    outcome: Outcome | Literal[""] = ""
    restarts: Count | UnsetType = UNSET
    attempts: Annotated[list[AttemptData], Meta(max_length=MAX_ATTEMPTS)] = []
    complete_history: bool = False
    ended_ms: Ms | None = None


class NodeData(_Data):
    """Fields of an event about a node."""

    state: NodeState | UnsetType = UNSET
    reason: Text | UnsetType = UNSET
    gpus: Amount | UnsetType = UNSET
    cpus: Amount | UnsetType = UNSET
    memory_mb: Amount | UnsetType = UNSET
    queues: Annotated[list[Name], Meta(max_length=MAX_LABELS)] | UnsetType = UNSET
    labels: Annotated[dict[Name, Text], Meta(max_length=MAX_LABELS)] | UnsetType = UNSET


class NodeRemoval(_Data):
    """Fields of node.removed: none."""


class SnapshotJob(JobStatement, kw_only=True):
    """A job of a snapshot."""

    key: Name
    submitted_ms: Ms


class SnapshotNode(NodeData, kw_only=True):
    """A node of a snapshot."""

    name: Name


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of event: the structure of its data, and what it states, in one sentence."""

    data: type[msgspec.Struct]
    about: str


# In the order in which events of the same millisecond happened.
EVENT_TYPES: Mapping[str, EventType] = {
    "job.submitted": EventType(JobData, "The job was submitted at the time of the event."),
    "job.changed": EventType(JobData, "A request, the priority or the reason of the job changed."),
    "job.held": EventType(JobData, "The waiting job was put on hold."),
    "job.released": EventType(JobData, "The hold was removed; the job waits again."),
    "job.requeued": EventType(RequeueData, "The execution ended before the job did; the job waits again."),
    "job.started": EventType(StartData, "An execution of the job began on the nodes of `shares`."),
    "job.suspended": EventType(JobData, "The execution was suspended; the job keeps its shares."),
    "job.resumed": EventType(JobData, "The suspended execution continues, from the event's time on."),
    "job.ended": EventType(EndData, "The job ended with `outcome`, with or without having run."),
    "job.stated": EventType(
        JobStatement, "The full state of the job at the time of the event; `attempts` lists its executions."
    ),
    "node.changed": EventType(NodeData, "The node has the stated fields; an unknown node is added by it."),
    "node.removed": EventType(NodeRemoval, "The node no longer belongs to the cluster."),
}
RANKS = {name: rank for rank, name in enumerate(EVENT_TYPES)}
_decoders = {name: msgspec.json.Decoder(kind.data) for name, kind in EVENT_TYPES.items()}


class EventError(ValueError):
    """An event that is refused: one sentence."""


def check_type(name: str) -> None:
    """EventError lists the types that are known."""
    if name not in EVENT_TYPES:
        raise EventError(f"unknown event type {name[:MAX_TEXT]!r}; known: {', '.join(EVENT_TYPES)}")


def checked(name: str, data: bytes) -> bytes:
    """The data of an event of a known type, as it came; EventError names the field that does not fit."""
    try:
        _decoders[name].decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise EventError(f"data of {name}: {sentence(error, EVENT_TYPES[name].data, data)}") from None
    return data


def encoded(name: str, data: Mapping[str, Any]) -> bytes:
    """The data of an event that a body's reader made, as JSON; EventError as of `checked`."""
    try:
        return msgspec.json.encode(msgspec.convert(data, EVENT_TYPES[name].data))
    except msgspec.ValidationError as error:
        raise EventError(f"data of {name}: {sentence(error, EVENT_TYPES[name].data, data)}") from None


def sentence(error: Exception, kind: type[msgspec.Struct], given: Any = None) -> str:
    """The message of a decoder, with the known fields or words where one is unknown, or with the value.

    given: what was decoded, JSON as bytes or plain data.
    """
    text = str(error)
    message, at, path = text.partition(" - at ")
    if "unknown field" in message and not at:
        return f"{text}; known: {', '.join(kind.__struct_fields__) or 'none'}"
    field = path.strip("`").rpartition(".")[2]
    if message.startswith("Invalid enum value"):
        words = OUTCOMES if field == "outcome" else NODE_STATES if kind is NodeData else JOB_STATES
        return f"{text}; known: {', '.join(words)}"
    value = _value(given, path.strip("`")) if at and not path.endswith("]`") else ""
    return f"{text}{': ' if ', got ' in message else ', got '}{value}" if value else text


def _value(given: Any, path: str) -> str:
    """The value at a path of a decoder, such as $.shares[0].gpus, as JSON of at most 80 characters; else empty."""
    try:
        value = msgspec.json.decode(given) if isinstance(given, bytes) else given
    except (msgspec.DecodeError, RecursionError):  # it ends after the value, and not as JSON does
        return ""
    for key, place in STEP.findall(path):
        value = value[int(place)] if place else value[key]
    found = msgspec.json.encode(value).decode()
    return found if len(found) <= MAX_VALUE else f"{found[: MAX_VALUE - 1]}…"


def schemas(ref_template: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """({type: JSON schema of its data}, {name: schema that these refer to})"""
    kinds = [kind.data for kind in EVENT_TYPES.values()]
    given, components = msgspec.json.schema_components([*kinds, SnapshotJob, SnapshotNode], ref_template=ref_template)
    return dict(zip(EVENT_TYPES, given, strict=False)), components


assert set(JOB_STATES) == set(get_args(JobState))
assert set(NODE_STATES) == set(get_args(NodeState))
assert set(OUTCOMES) == set(get_args(Outcome))
assert RequeueData().outcome == REQUEUED
