"""Packed logs: the batches of an ended run, joined to large ones and compressed.

A live run writes a batch for every few events. Once it has ended, nobody waits for them any more: joined and
compressed they take a fraction of the space, and reading them gives the same bytes per event. The field of the batches
(models/log.py) unpacks what it reads, so nothing else knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from scheduling.model.values import Event
from twin.eventlog.batch_codec import decode, encode
from twin.models import EventBatch, Run
from twin.models.log import compressed

EVENTS = 4_000  # of a packed batch: a page that repairs a gap reads whole batches
AFTER = timedelta(days=1)  # from the end of a run
RUNS = 20  # that one call packs at most


def pack_ended(after: timedelta = AFTER) -> int:
    """Number of runs packed now: the oldest ones that ended that long ago and were not packed."""
    ended = Run.objects.exclude(status__in=Run.ACTIVE).filter(packed_at=None, finished_at__lt=timezone.now() - after)
    runs = list(ended.order_by("finished_at").values_list("pk", flat=True)[:RUNS])
    for run_id in runs:
        pack(run_id)
    return len(runs)


def pack(run_id: int) -> None:
    """Packing of the log of a run that has ended. If it is interrupted, the next call continues."""
    done = 0
    while group := _group(run_id, done):
        with transaction.atomic():
            batches = list(EventBatch.objects.filter(pk__in=group).order_by("first_seq"))
            events = [event for batch in batches for event in decode(batch.payload)]
            first, *others = batches
            EventBatch.objects.filter(pk__in=[batch.pk for batch in others]).delete()
            first.last_seq, first.last_ms, first.payload = events[-1].seq, events[-1].at_ms, _packed(events)
            first.save(update_fields=["last_seq", "last_ms", "payload"])
            done = first.last_seq
    Run.objects.filter(pk=run_id).update(packed_at=timezone.now())


def _packed(events: list[Event]) -> bytes:
    return compressed(encode(events))


def _group(run_id: int, done: int) -> list[int]:
    """Keys of the next batches that become one: of at most EVENTS events, or one that is larger."""
    chosen: list[int] = []
    for pk, last in _extents(run_id, done):
        if chosen and last - done > EVENTS:
            break
        chosen.append(pk)
    return chosen


def _extents(run_id: int, done: int) -> Iterator[tuple[int, int]]:
    rows = EventBatch.objects.filter(run_id=run_id, first_seq__gt=done).order_by("first_seq")
    return rows.values_list("pk", "last_seq").iterator(chunk_size=500)
