"""The event log: batches of events in order, written under the run's newest epoch; the source of truth about a run.

batch_codec.py says what a batch is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from scheduling.model.values import Event
from twin.eventlog.batch_codec import LINE_AT, LINE_SEQ, Line, decode, encode, log_of, read, read_kinds
from twin.files.outputs import event_line
from twin.infra import gc_control
from twin.models import Checkpoint, EventBatch, Run

SLICE_EVENTS = 5_000  # read at once for a file
MAX_STATES, MAX_STATE_BYTES = 48, 64_000_000  # checkpoints per run


class LeaseLost(RuntimeError):
    """Refusal of a write because another task holds a newer epoch of the run."""


def append(
    run_id: int,
    epoch: int,
    events: Sequence[Event],
    *,
    checkpoint: bytes | None = None,
    next_event_ms: int | None = None,
) -> bytes | None:
    """Batch of the events, with the counters of the run and the checkpoint of the state right after them.

    Returns the batch as it is stored and sent to browsers, None when nothing is new. One transaction; LeaseLost when
    `epoch` is not the run's. Events that the log already has are dropped by number, so a replay after a crash adds
    nothing twice.
    """
    payload = None
    with transaction.atomic():
        run = Run.objects.select_for_update().only("epoch", "last_seq").get(pk=run_id)
        if run.epoch != epoch:
            raise LeaseLost(f"run {run_id}: lease epoch {epoch} has ended; the run is at lease epoch {run.epoch}")
        last_seq = run.last_seq
        fresh = [event for event in events if event.seq > last_seq] if events and events[0].seq <= last_seq else events
        moved: dict[str, Any] = {"next_event_ms": next_event_ms}
        if fresh:
            if fresh[0].seq != last_seq + 1:
                raise ValueError(f"run {run_id}: event {fresh[0].seq} cannot follow {last_seq}")
            payload = encode(fresh)
            EventBatch.objects.create(
                run_id=run_id, first_seq=fresh[0].seq, last_seq=fresh[-1].seq,
                first_ms=fresh[0].at_ms, last_ms=fresh[-1].at_ms, payload=payload,
            )  # fmt: skip
            moved |= {"last_seq": fresh[-1].seq, "sim_ms": fresh[-1].at_ms, "progressed_at": timezone.now()}
        Run.objects.filter(pk=run_id).update(**moved)
        if checkpoint is not None:
            seq = events[-1].seq if events else last_seq  # during a replay the state lags behind the log
            keep(run_id, seq, checkpoint)
    return payload


def keep(run_id: int, seq: int, checkpoint: bytes) -> None:
    """Checkpoint of the state right after event `seq`. Of too many, every second is removed: evenly spaced."""
    Checkpoint.objects.update_or_create(run_id=run_id, seq=seq, defaults={"payload": checkpoint})
    known = list(Checkpoint.objects.filter(run_id=run_id).values_list("seq", flat=True))
    if len(known) > max(2, min(MAX_STATES, MAX_STATE_BYTES // max(1, len(checkpoint)))):
        Checkpoint.objects.filter(run_id=run_id, seq__in=known[1::2]).delete()


def after(run_id: int, seq: int, *, limit: int | None = None) -> Iterator[list[Event]]:
    """The events after `seq`, batch by batch; at most about `limit` events (whole batches)."""
    sent = 0
    batches = EventBatch.objects.filter(run_id=run_id, last_seq__gt=seq).order_by("last_seq")
    for payload in batches.values_list("payload", flat=True).iterator(chunk_size=20):
        with log_of(run_id):
            events = decode(payload)
        if events[0].seq <= seq:
            events = [event for event in events if event.seq > seq]
        yield events
        sent += len(events)
        if limit is not None and sent >= limit:
            return


def canonical(run_id: int, last_seq: int | None = None) -> Iterator[bytes]:
    """The log as lines of JSON, independent of how it was cut into batches: the content of events.jsonl.

    Up to the event `last_seq`. In slices, so that a slow reader holds no read transaction open.
    """
    seq = 0
    while events := [event for batch in after(run_id, seq, limit=SLICE_EVENTS) for event in batch]:
        for event in events:
            if last_seq is not None and event.seq > last_seq:
                return
            yield event_line(event)
        seq = events[-1].seq


def stored_after(run_id: int, seq: int, count: int) -> list[tuple[int, bytes]]:
    """(last seq, bytes) of the next `count` batches that hold events after `seq`, as browsers read them."""
    batches = EventBatch.objects.filter(run_id=run_id, last_seq__gt=seq).order_by("last_seq")
    return [(last, bytes(payload)) for last, payload in batches.values_list("last_seq", "payload")[:count]]


def lines_and_bars(
    run_id: int, seq: int = 0, up_to: int | None = None, up_to_ms: int | None = None
) -> Iterator[tuple[list[Line], np.ndarray]]:
    """Batches after `seq` as batch_codec.read gives them: what a fold over a long log reads."""
    for payload in _payloads(run_id, seq, up_to, up_to_ms):
        with gc_control.paused(), log_of(run_id):
            batch = read(payload)
        yield batch


def lines_of(run_id: int, kinds: Collection[str], seq: int = 0, up_to_ms: int | None = None) -> Iterator[Line]:
    """The events of some kinds after `seq`, up to an instant; much faster than `lines_and_bars`.

    Not of plans and samples.
    """
    for payload in _payloads(run_id, seq, None, up_to_ms):
        with gc_control.paused(), log_of(run_id):
            lines = read_kinds(payload, kinds)
        yield from (line for line in lines if line[LINE_SEQ] > seq and (up_to_ms is None or line[LINE_AT] <= up_to_ms))


def line_at(run_id: int, seq: int, kinds: Collection[str]) -> Line | None:
    """The event `seq`, if it is of one of the kinds; reads only its batch."""
    batches = EventBatch.objects.filter(run_id=run_id, last_seq__gte=seq).order_by("last_seq")
    payload = batches.values_list("payload", flat=True).first()
    with log_of(run_id):
        lines = read_kinds(payload, kinds) if payload is not None else []
    return next((line for line in lines if line[LINE_SEQ] == seq), None)


def _payloads(run_id: int, seq: int, up_to: int | None, up_to_ms: int | None) -> Iterator[bytes]:
    batches = EventBatch.objects.filter(run_id=run_id, last_seq__gt=seq).order_by("last_seq")
    if up_to is not None:
        batches = batches.filter(first_seq__lte=up_to)
    if up_to_ms is not None:
        batches = batches.filter(first_ms__lte=up_to_ms)
    return batches.values_list("payload", flat=True).iterator(chunk_size=20)
