"""The event log: batches of events in order, written under the run's newest epoch; the source of truth about a run.

Payload of a batch: ``columns.pack(lines, {"bars": int64 [n, 9]})`` where a line is ``[seq, at_ms, kind, data]``; the bars of
an event stand in the matrix, and its data says ``"bars": [first row, count]``. A batch with plans of lanes has the matrices
``lanes`` and ``jobs``, int64 [n, 3], too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from django.db import transaction

from scheduling.model import Event, Placement
from twin import collector
from twin.columns import pack, unpack
from twin.formats.outputs import event_line
from twin.models import Checkpoint, EventBatch, Run

BAR_COLUMNS = len(Placement._fields)
MOST_STATES, MOST_STATE_BYTES = 48, 64_000_000  # that are kept of a run
LANE_MATRICES = ("lanes", "jobs")  # of lanes_planned, beside its bars; int64 [n, 3]


class LeaseLost(RuntimeError):
    """Another task holds a newer epoch of the run: whatever this one computed is not to be written."""


def append(
    run_id: int, epoch: int, events: Sequence[Event], *, checkpoint: bytes | None = None, next_event_ms: int | None = None
) -> None:
    """Writes the events as one batch, moves the run's counters, and keeps the checkpoint of the state right after them.

    One transaction; LeaseLost when `epoch` is not the run's. Events that the log already has are dropped by number, so a
    replay after a crash adds nothing twice.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update().only("epoch", "last_seq").get(pk=run_id)
        if run.epoch != epoch:
            raise LeaseLost(f"run {run_id}: epoch {epoch} is over, the run is at epoch {run.epoch}")
        last_seq = run.last_seq
        fresh = [event for event in events if event.seq > last_seq] if events and events[0].seq <= last_seq else events
        moved: dict[str, Any] = {"next_event_ms": next_event_ms}
        if fresh:
            if fresh[0].seq != last_seq + 1:
                raise ValueError(f"run {run_id}: event {fresh[0].seq} cannot follow {last_seq}")
            EventBatch.objects.create(
                run_id=run_id, first_seq=fresh[0].seq, last_seq=fresh[-1].seq,
                first_ms=fresh[0].at_ms, last_ms=fresh[-1].at_ms, payload=encode(fresh),
            )  # fmt: skip
            moved |= {"last_seq": fresh[-1].seq, "sim_ms": fresh[-1].at_ms}
        Run.objects.filter(pk=run_id).update(**moved)
        if checkpoint is not None:
            seq = events[-1].seq if events else last_seq  # during a replay the state lags behind the log
            keep(run_id, seq, checkpoint)


def keep(run_id: int, seq: int, checkpoint: bytes) -> None:
    """Keeps the state right after event `seq`. When there are too many, every second of them goes: they stay evenly spread."""
    Checkpoint.objects.update_or_create(run_id=run_id, seq=seq, defaults={"payload": checkpoint})
    known = list(Checkpoint.objects.filter(run_id=run_id).values_list("seq", flat=True))
    if len(known) > max(2, min(MOST_STATES, MOST_STATE_BYTES // max(1, len(checkpoint)))):
        Checkpoint.objects.filter(run_id=run_id, seq__in=known[1::2]).delete()


def after(run_id: int, seq: int, *, limit: int | None = None) -> Iterator[list[Event]]:
    """The events behind `seq`, batch by batch; at most about `limit` events (whole batches)."""
    sent = 0
    batches = EventBatch.objects.filter(run_id=run_id, last_seq__gt=seq).order_by("last_seq")
    for payload in batches.values_list("payload", flat=True).iterator(chunk_size=20):
        events = decode(payload)
        if events[0].seq <= seq:
            events = [event for event in events if event.seq > seq]
        yield events
        sent += len(events)
        if limit is not None and sent >= limit:
            return


def canonical(run_id: int) -> Iterator[bytes]:
    """The log as lines of JSON, independent of how it was cut into batches: the content of events.jsonl."""
    for events in after(run_id, 0):
        for event in events:
            yield event_line(event)


def encode(events: Sequence[Event]) -> bytes:
    """Events as a payload."""
    lines: list[Any] = []
    plans: list[list[Placement] | np.ndarray] = []
    beside: dict[str, list[np.ndarray]] = {}
    rows = 0
    for event in events:
        data = event.data
        if event.kind == "planned" or event.kind == "lanes_planned":
            bars = data["bars"]
            plans.append(bars)
            data = {**data, "bars": (rows, len(bars))}
            rows += len(bars)
            if event.kind == "lanes_planned":
                for name in LANE_MATRICES:
                    parts = beside.setdefault(name, [])
                    data[name] = (sum(map(len, parts)), len(data[name]))
                    parts.append(event.data[name])
        lines.append((event.seq, event.at_ms, event.kind, data))
    if beside:
        matrix = np.concatenate([np.asarray(bars, dtype=np.int64).reshape(-1, BAR_COLUMNS) for bars in plans])
    else:
        flat = chain.from_iterable(chain.from_iterable(plans))
        matrix = np.fromiter(flat, dtype=np.int64, count=rows * BAR_COLUMNS).reshape(rows, BAR_COLUMNS)
    return pack(lines, {"bars": matrix} | {name: np.concatenate(parts) for name, parts in beside.items()})


def decode(payload: bytes | memoryview) -> list[Event]:
    """The inverse of `encode`."""
    events = []
    with collector.paused():
        lines, columns = unpack(payload)
        matrix = columns["bars"]
        bars = list(map(Placement._make, matrix.tolist())) if "lanes" not in columns else []
        for seq, at_ms, kind, data in lines:
            if kind == "planned":
                first, count = data["bars"]
                data["bars"] = bars[first : first + count] or list(map(Placement._make, matrix[first : first + count].tolist()))
            elif kind == "lanes_planned":
                first, count = data["bars"]
                data["bars"] = matrix[first : first + count]
                _with_lanes(data, columns)
            events.append(Event(seq, at_ms, kind, data))
    return events


def _with_lanes(data: dict[str, Any], columns: Mapping[str, np.ndarray]) -> None:
    """Puts the rows of the matrices into the data of a plan of lanes."""
    for name in LANE_MATRICES:
        first, count = data[name]
        data[name] = columns[name][first : first + count]


def lines_and_bars(
    run_id: int, seq: int = 0, up_to: int | None = None, up_to_ms: int | None = None
) -> Iterator[tuple[list[Any], np.ndarray]]:
    """Each batch behind `seq` as raw lines and its matrix of bars: what a fold over a long log reads, without objects."""
    batches = EventBatch.objects.filter(run_id=run_id, last_seq__gt=seq).order_by("last_seq")
    if up_to is not None:
        batches = batches.filter(first_seq__lte=up_to)
    if up_to_ms is not None:
        batches = batches.filter(first_ms__lte=up_to_ms)
    for payload in batches.values_list("payload", flat=True).iterator(chunk_size=20):
        with collector.paused():
            lines, columns = unpack(payload)
            if "lanes" in columns:
                for _, _, kind, data in lines:
                    if kind == "lanes_planned":
                        _with_lanes(data, columns)
        yield lines, columns["bars"]
