"""Packed logs: the batches of an ended run, joined to large ones and compressed.

A live run writes a batch for every few events. Once it has ended, nobody waits for them any more: joined and
compressed they take a fraction of the space, and reading them gives the same bytes per event. The field of the batches
(models/log.py) unpacks what it reads, so nothing else knows of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import BinaryField
from django.db.models.functions import Substr
from django.utils import timezone

from scheduling.model.values import Event
from twin.eventlog.batch_codec import decode, encode, log_of
from twin.models import EventBatch, Run
from twin.models.log import PACKED, compressed

log = logging.getLogger(__name__)
EVENTS = 4_000  # of a packed batch: a page that repairs a gap reads whole batches
AFTER = timedelta(days=1)  # from the end of a run
MAX_RUNS = 20  # that one call packs


def pack_ended(after: timedelta = AFTER) -> int:
    """Number of runs packed now: the oldest ones that ended that long ago and were not packed.

    A log that cannot be packed stays as it is and is not tried again, so that it does not hold up the others.
    """
    ended = Run.objects.exclude(status__in=Run.ACTIVE).filter(packed_at=None, finished_at__lt=timezone.now() - after)
    runs = list(ended.order_by("finished_at").values_list("pk", flat=True)[:MAX_RUNS])
    for run_id in runs:
        try:
            pack(run_id)
        except ValueError:
            log.exception("run %s: its log cannot be packed and stays as it is", run_id)
            _tried(run_id)
    return len(runs)


def pack(run_id: int) -> None:
    """Packing of the log of a run that has ended. If it is interrupted, the next call continues where it was."""
    done = 0
    while group := _group(run_id, done):
        if group.packed:
            done = group.last_seq
            continue
        with transaction.atomic():
            batches = list(EventBatch.objects.filter(pk__in=group.keys).order_by("first_seq"))
            with log_of(run_id):
                events = [event for batch in batches for event in decode(batch.payload)]
            first, *others = batches
            EventBatch.objects.filter(pk__in=[batch.pk for batch in others]).delete()
            first.last_seq, first.last_ms, first.payload = events[-1].seq, events[-1].at_ms, _packed(events)
            first.save(update_fields=["last_seq", "last_ms", "payload"])
            done = first.last_seq
    _tried(run_id)


def _tried(run_id: int) -> None:
    Run.objects.filter(pk=run_id).update(packed_at=timezone.now())


def _packed(events: list[Event]) -> bytes:
    return compressed(encode(events))


class _Group(NamedTuple):
    """Batches that become one. packed: it is one that was packed before."""

    keys: list[int]
    last_seq: int
    packed: bool


def _group(run_id: int, done: int) -> _Group | None:
    """The next group: of at most EVENTS events, or one batch that is larger; None at the end of the log."""
    keys: list[int] = []
    last_seq, packed = done, False
    for pk, last, begin in _extents(run_id, done):
        if keys and last - done > EVENTS:
            break
        packed = not keys and bytes(begin) == PACKED
        keys.append(pk)
        last_seq = last
    return _Group(keys, last_seq, packed) if keys else None


def _extents(run_id: int, done: int) -> Iterator[tuple[int, int, bytes]]:
    rows = EventBatch.objects.filter(run_id=run_id, first_seq__gt=done).order_by("first_seq")
    begin = Substr("payload", 1, len(PACKED), output_field=BinaryField())
    return rows.values_list("pk", "last_seq", begin).iterator(chunk_size=500)
