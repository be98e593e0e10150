"""Snapshots that a source posts in steps: begin, parts, end. What is not in an ended snapshot is gone since its time.

The parts are statements about jobs and nodes at the time of the snapshot, and are stored as such as they come; the end
alone makes it complete. Each step may be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from django.db import transaction

from scheduling.model.values import ModelError
from scheduling.reporting.quantities import counted
from twin.models import PushSnapshot, PushSource
from twin.push import storage
from twin.push.bodies import MAX_EVENTS, TooMany
from twin.push.bodies.cloudevents import unix_ms
from twin.push.events import MAX_AHEAD_MS, PushedFact, digest_of, made
from twin.push.vocabulary import EventError, Name, SnapshotJob, SnapshotNode

MAX_PARTS = 10_000
SNAPSHOT_PARTS: list[Literal["jobs", "nodes"]] = ["jobs", "nodes"]


class Begin(msgspec.Struct, forbid_unknown_fields=True, tag_field="step", tag="begin"):
    """First step."""

    id: Name
    time: str
    covers: Annotated[list[Literal["jobs", "nodes"]], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=SNAPSHOT_PARTS.copy
    )


class Part(msgspec.Struct, forbid_unknown_fields=True, tag_field="step", tag="part"):
    """Some of the jobs and nodes; `part` counts from 0."""

    id: Name
    part: Annotated[int, msgspec.Meta(ge=0, lt=MAX_PARTS)]
    jobs: list[SnapshotJob] = []
    nodes: list[SnapshotNode] = []


class End(msgspec.Struct, forbid_unknown_fields=True, tag_field="step", tag="end"):
    """Last step, with the numbers of jobs and nodes in all parts."""

    id: Name
    jobs: int = 0
    nodes: int = 0


_decoder = msgspec.json.Decoder(Begin | Part | End)


def step(source: str, body: bytes, now_ms: int, count: Callable[[int], None]) -> dict[str, Any]:
    """Answer to one step of a snapshot; ModelError with one sentence if the step is not valid.

    count: called with the number of jobs and nodes before anything is stored
    """
    try:
        asked = _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ModelError(f"the step of the snapshot cannot be read: {error}") from None
    if isinstance(asked, Begin):
        return _begin(source, asked, now_ms)
    if isinstance(asked, Part):
        return _part(source, asked, now_ms, count)
    return _end(source, asked)


def _begin(source: str, asked: Begin, now_ms: int) -> dict[str, Any]:
    try:
        at_ms = unix_ms("time", asked.time)
    except EventError as error:
        raise ModelError(str(error)) from None
    if not 0 <= at_ms <= now_ms + MAX_AHEAD_MS:
        raise ModelError("time must not be before 1970 or more than 10 min ahead of this server's clock")
    covers = sorted(set(asked.covers))
    with transaction.atomic():
        row = storage.locked(source)
        found, _ = PushSnapshot.objects.get_or_create(
            source=row, name=asked.id, defaults={"at_ms": at_ms, "covers": covers}
        )
    if (found.at_ms, found.covers) != (at_ms, covers):
        raise ModelError(
            f"snapshot {asked.id!r} was begun with another time or other kinds; give each snapshot an id of its own"
        )
    return _payload(found)


def _part(source: str, asked: Part, now_ms: int, counted: Callable[[int], None]) -> dict[str, Any]:
    count = len(asked.jobs) + len(asked.nodes)
    if count > MAX_EVENTS:
        raise TooMany(f"The part has {count:,} jobs and nodes; send at most {MAX_EVENTS:,} in one part.")
    counted(count)
    found = _open(source, asked.id)
    for kind in SNAPSHOT_PARTS:
        if getattr(asked, kind) and kind not in found.covers:
            raise ModelError(
                f"snapshot {asked.id!r} covers {' and '.join(found.covers)}, but part {asked.part} has {kind}"
            )
    jobs = _facts("job.stated", "key", asked.jobs, found, now_ms)
    nodes = _facts("node.changed", "name", asked.nodes, found, now_ms)
    with transaction.atomic():
        storage.accept(source, [*jobs, *nodes], now_ms)
        found = PushSnapshot.objects.select_for_update().get(pk=found.pk)
        found.parts[str(asked.part)] = [len(jobs), len(nodes)]
        PushSnapshot.objects.filter(pk=found.pk).update(parts=found.parts)
    return _payload(found)


def _end(source: str, asked: End) -> dict[str, Any]:
    with transaction.atomic():
        row = storage.locked(source)
        found = PushSnapshot.objects.filter(source=row, name=asked.id).first()
        if found is None:
            raise ModelError(_unknown(asked.id))
        stated, received = (asked.jobs, asked.nodes), _counts(found)
        if stated != received:
            raise ModelError(
                f"snapshot {asked.id!r} ends with {counted(stated[0], 'job')} and {counted(stated[1], 'node')}, but "
                f"its parts hold {received[0]:,} and {received[1]:,}; send the missing parts, then end it"
            )
        if not found.ended:
            found.ended = True
            found.save(update_fields=["ended"])
            storage.move(row, 1)
    return _payload(found)


def _open(source: str, name: str) -> PushSnapshot:
    found = PushSnapshot.objects.filter(source__name=source, name=name).first()
    if found is None:
        raise ModelError(_unknown(name))
    if found.ended:
        raise ModelError(f"snapshot {name!r} has ended; begin another one")
    return found


def _unknown(name: str) -> str:
    return f"snapshot {name!r} was not begun; send the step begin first"


def _facts(
    type: str, naming: str, rows: Sequence[SnapshotJob | SnapshotNode], of: PushSnapshot, now_ms: int
) -> list[PushedFact]:
    """The statements of a part; ModelError names the first one that does not fit."""
    found = []
    for row in rows:
        data: Mapping[str, Any] = msgspec.to_builtins(row)
        name = data[naming]
        try:
            rest = {field: value for field, value in data.items() if field != naming}
            found.append(
                made(
                    type,
                    name,
                    of.at_ms,
                    digest_of("snapshot", of.name, type, name, str(data.get("submitted_ms", ""))),
                    rest,
                    now_ms,
                )
            )
        except EventError as error:
            raise ModelError(f"{type.partition('.')[0]} {name!r}: {error}") from None
    return found


def _counts(found: PushSnapshot) -> tuple[int, int]:
    return sum(part[0] for part in found.parts.values()), sum(part[1] for part in found.parts.values())


def _payload(found: PushSnapshot) -> dict[str, Any]:
    jobs, nodes = _counts(found)
    cursor = PushSource.objects.values_list("last_seq", flat=True).get(pk=found.source_id)
    return {
        "id": found.name,
        "parts": len(found.parts),
        "jobs": jobs,
        "nodes": nodes,
        "ended": found.ended,
        "cursor": cursor,
    }
