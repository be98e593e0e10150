"""Events that Ray exports by RAY_DASHBOARD_AGGREGATOR_AGENT_EVENTS_EXPORT_ADDR: nodes, driver jobs and tasks.

A task is a job of the twin, of the account of its driver job; a driver job is a job without resources. Calls of actors'
methods have no definition of the kind that is read, so no event submits them and they are not shown.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from twin.connectors.facts import COMPLETED, DOWN, DRAINING, FAILED, UP
from twin.push.bodies.cloudevents import unix_ms
from twin.push.events import PushedFact, digest_of, made
from twin.push.vocabulary import MAX_TEXT, EventError

TITLE = "Ray event export"
MEDIA_TYPES: tuple[str, ...] = ()
HEX = re.compile(r"[0-9a-f]*")
DRIVER = "DRIVER_TASK"  # the driver's own, which its driver job stands for
Statement = tuple[str, str, int, dict[str, Any]]  # type, subject, time, data


def fits(item: dict[str, Any]) -> bool:
    """True if the object is an event of Ray."""
    return bool(_of(item, "event_type")) and "type" not in item


def read(item: dict[str, Any], now_ms: int) -> list[PushedFact]:
    """Events from an object; none for types that are not about nodes, driver jobs and tasks."""
    type = str(_of(item, "event_type"))
    statements = READERS.get(type)
    if statements is None:
        return []
    field = type.lower()
    content = _of(item, field)
    if not isinstance(content, Mapping):
        raise EventError(f"a Ray event of the type {type} must have the field {_camel(field)}")
    at_ms, name = unix_ms("timestamp", item.get("timestamp")), str(_of(item, "event_id"))
    return [
        made(type, subject, when_ms, digest_of(TITLE, name, str(index)), data, now_ms)
        for index, (type, subject, when_ms, data) in enumerate(statements(content, at_ms))
    ]


def _node_definition(node: Mapping[str, Any], at_ms: int) -> Iterator[Statement]:
    labels = {str(key)[:MAX_TEXT]: _text(value) for key, value in (node.get("labels") or {}).items() if key}
    yield "node.changed", _id(node, "node_id"), at_ms, {"labels": {**labels, "ip": _text(_of(node, "node_ip_address"))}}


def _node_lifecycle(node: Mapping[str, Any], at_ms: int) -> Iterator[Statement]:
    name = _id(node, "node_id")
    for state, when_ms, step in _transitions(node):
        death = _of(step, "death_info") or {}
        reason = _text(_of(death, "reason_message") or death.get("reason"))
        if state == "DEAD" and death.get("reason") == "EXPECTED_TERMINATION":
            yield "node.removed", name, when_ms, {}
        elif state in ("DEAD", "DRAINING"):
            yield "node.changed", name, when_ms, {"state": DOWN if state == "DEAD" else DRAINING, "reason": reason}
        else:
            yield "node.changed", name, when_ms, {"state": UP, **_amounts(step.get("resources"))}


def _task_definition(task: Mapping[str, Any], at_ms: int) -> Iterator[Statement]:
    if _of(task, "task_type") != DRIVER:
        type = "job.changed" if _of(task, "task_attempt") else "job.submitted"
        data = {"account": _id(task, "job_id"), **_amounts(_of(task, "required_resources"))}
        yield type, _id(task, "task_id"), at_ms, data


def _task_lifecycle(task: Mapping[str, Any], at_ms: int) -> Iterator[Statement]:
    name, node = _id(task, "task_id"), _id(task, "node_id")
    error = _of(task, "ray_error_info") or {}
    for state, when_ms, _ in _transitions(task):
        if state == "PENDING_ARGS_AVAIL" and _of(task, "task_attempt"):
            yield "job.requeued", name, when_ms, {"outcome": FAILED}
        elif state == "RUNNING":
            yield "job.started", name, when_ms, {"shares": [{"node": node}] if node else []}
        elif state == "FINISHED":
            yield "job.ended", name, when_ms, {"outcome": COMPLETED}
        elif state == "FAILED":
            yield "job.ended", name, when_ms, {"outcome": FAILED, "reason": _text(_of(error, "error_type"))}
        elif state.startswith("PENDING"):
            yield "job.changed", name, when_ms, {"reason": _text(state)}


def _driver_definition(job: Mapping[str, Any], at_ms: int) -> Iterator[Statement]:
    yield "job.changed", _id(job, "job_id"), at_ms, {"account": _id(job, "job_id")}


def _driver_lifecycle(job: Mapping[str, Any], at_ms: int) -> Iterator[Statement]:
    name = _id(job, "job_id")
    for state, when_ms, step in _transitions(job):
        if state == "CREATED":
            yield "job.submitted", name, when_ms, {}
            yield "job.started", name, when_ms, {}
        elif state == "FINISHED":
            yield "job.ended", name, when_ms, {"outcome": FAILED if _of(step, "exit_code") else COMPLETED}


READERS = {
    "NODE_DEFINITION_EVENT": _node_definition,
    "NODE_LIFECYCLE_EVENT": _node_lifecycle,
    "TASK_DEFINITION_EVENT": _task_definition,
    "TASK_LIFECYCLE_EVENT": _task_lifecycle,
    "DRIVER_JOB_DEFINITION_EVENT": _driver_definition,
    "DRIVER_JOB_LIFECYCLE_EVENT": _driver_lifecycle,
}


def _transitions(content: Mapping[str, Any]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for step in _of(content, "state_transitions") or []:
        if not isinstance(step, Mapping):
            raise EventError(f"stateTransitions must hold objects, got {str(step)[:60]!r}")
        yield str(step.get("state", "")), unix_ms("timestamp of a state", step.get("timestamp")), step


def _amounts(resources: Any) -> dict[str, int]:
    """Whole CPUs and GPUs and memory in MiB; a part of a GPU counts as one."""
    if not isinstance(resources, Mapping):
        return {}
    found = {}
    for name, field, scale in (("CPU", "cpus", 1), ("GPU", "gpus", 1), ("memory", "memory_mb", 2**20)):
        amount = resources.get(name, 0)
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise EventError(f"resources have {name} = {str(amount)[:60]!r}, which is not a number")
        found[field] = math.ceil(amount / scale)
    return found


def _id(content: Mapping[str, Any], field: str) -> str:
    """An id as Ray's own tools print it, in hexadecimal digits; it is posted in those or in base64."""
    text = str(_of(content, field) or "")
    if HEX.fullmatch(text):
        return text
    try:
        return base64.b64decode(text, validate=True).hex()
    except ValueError:
        raise EventError(f"{_camel(field)} must be in base64 or hexadecimal digits, got {text[:60]!r}") from None


def _text(value: Any) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in str(value or "")[:MAX_TEXT])


def _of(content: Mapping[str, Any], field: str) -> Any:
    """A field under either of the two spellings that Ray can be set to."""
    return content.get(_camel(field), content.get(field))


def _camel(field: str) -> str:
    first, *rest = field.split("_")
    return first + "".join(word.title() for word in rest)
