"""Compaction: what ended, or was replaced, longer ago than events are kept is deleted, so that storage has a bound."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
from django.db import transaction
from django.db.models import Max

from twin.connectors.facts import ENDED
from twin.models import PushedEvent, PushSnapshot, PushSource
from twin.push import fold, storage
from twin.push.events import JOB, NODE

MAX_ROWS = 50_000  # the oldest rows of a source, which one call reads


def compact(now_ms: int) -> int:
    """Number of rows deleted: the old ones of all sources."""
    before_ms = now_ms - storage.KEPT_MS
    removed = 0
    for source in PushSource.objects.all():
        for keys in _old_keys(source, before_ms):
            with transaction.atomic():  # a short one for each portion: senders wait for it
                removed += _jobs(source, [key for key in keys if key[0] == JOB], before_ms)
                removed += sum(_node(source, key, before_ms) for key in keys if key[0] == NODE)
        removed += _snapshots(source, before_ms)
    return removed


def _old_keys(source: PushSource, before_ms: int) -> Iterator[list[str]]:
    """Jobs and nodes with old events, in portions."""
    oldest = PushedEvent.objects.filter(source=source).order_by("seq").values_list("key", "received_ms")[:MAX_ROWS]
    keys = sorted({key for key, received_ms in oldest if received_ms < before_ms})
    for first in range(0, len(keys), storage.MAX_KEYS):
        yield keys[first : first + storage.MAX_KEYS]


def _jobs(source: PushSource, keys: list[str], before_ms: int) -> int:
    """Jobs that have ended, or were never shown, without an event since."""
    rows = PushedEvent.objects.filter(source=source, key__in=keys).order_by().values("key")
    quiet = list(rows.annotate(came=Max("received_ms")).filter(came__lt=before_ms).values_list("key", flat=True))
    snapshots = storage.snapshot_times(source.pk)["jobs"]
    over = [
        key
        for key, events in storage.of_keys(source.pk, quiet).items()
        if all(job.state == ENDED for job in fold.jobs(key[1:], events, snapshots))
    ]
    return PushedEvent.objects.filter(source=source, key__in=over).delete()[0]


def _node(source: PushSource, key: str, before_ms: int) -> int:
    """The old events of a node become one, which states all that they stated."""
    old = PushedEvent.objects.filter(source=source, key=key, received_ms__lt=before_ms)
    digests = {bytes(digest) for digest in old.values_list("digest", flat=True)}
    ordered = sorted(event for event in storage.of_keys(source.pk, [key])[key] if event.digest in digests)
    if len(ordered) < 2:
        return 0
    newest, stated = ordered[-1], fold.node_fields(ordered)
    if stated is not None:
        times = {"since_ms": fold.state_since(ordered), "capacity_since_ms": fold.capacity_since(ordered)}
        stated |= {name: at_ms for name, at_ms in times.items() if at_ms is not None}
    payload = orjson.dumps(["node.removed" if stated is None else "node.changed", newest.sequence, stated or {}])
    old.filter(digest=newest.digest).update(payload=payload)
    return old.exclude(digest=newest.digest).delete()[0]


def _snapshots(source: PushSource, before_ms: int) -> int:
    """Snapshots that a later one has replaced, and those that were never ended."""
    of_source = PushSnapshot.objects.filter(source=source)
    newest: dict[str, int] = {}
    for pk, covers in of_source.filter(ended=True).order_by("at_ms").values_list("pk", "covers"):
        newest |= dict.fromkeys(covers, pk)
    return of_source.filter(at_ms__lt=before_ms).exclude(pk__in=newest.values()).delete()[0]
