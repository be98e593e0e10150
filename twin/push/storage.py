"""Storage of posted events: rows in the order of their arrival, each event once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import BooleanField, Case, F, Max, When
from django.db.models.functions import Coalesce

from scheduling.model.values import ModelError
from twin.infra import pubsub
from twin.models import PushedEvent, PushSnapshot, PushSource
from twin.push.events import PushedFact, ReadFact, read

SOURCE = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
KEPT_MS = 30 * 86_400_000  # time for which a repeated event is recognized, and an ended job is kept
MAX_KEYS = 500  # of one query
COLUMNS = ("source_id", "seq", "digest", "key", "ends", "at_ms", "payload", "received_ms")
ON_POSTGRESQL = ("bigint", "bigint", "bytea", "text", "boolean", "bigint", "bytea", "bigint")


def check_source(name: str) -> str:
    """The name; ModelError where no source can have it."""
    if not SOURCE.fullmatch(name):
        raise ModelError(
            "a source must be named by 1 to 60 of the characters a-z, 0-9, _ and -, beginning with "
            f"a letter or digit; got {name[:80]!r}"
        )
    return name


def channel(source: str) -> str:
    """Channel of the frame bus that announces new events."""
    return f"twin:push:{source}"


def accept(source: str, facts: Sequence[PushedFact], now_ms: int) -> tuple[int, int]:
    """(number of new events, sequence number of the newest event of the source), after the new ones are stored."""
    if not facts:
        return 0, cursor(source)
    with transaction.atomic():
        row = locked(source)
        first = row.last_seq + 1
        rows = [(row.pk, seq, *fact, now_ms) for seq, fact in enumerate(facts, first)]
        added = _insert(rows)
        newest_ms = max(fact.at_ms for fact in facts)
        contact(source, now_ms)
        PushSource.objects.filter(pk=row.pk, event_ms__lt=newest_ms).update(event_ms=newest_ms)
        if added:
            move(row, len(rows))
    return added, row.last_seq


def contact(source: str, now_ms: int) -> None:
    """Record that the source has posted; one without events yet is not known."""
    PushSource.objects.filter(name=source).update(contact_ms=now_ms)


def locked(source: str) -> PushSource:
    """The row of the source, made at first use; nobody else gives sequence numbers until the transaction ends."""
    rows = PushSource.objects.select_for_update().filter(name=check_source(source))
    if (row := rows.first()) is None:
        PushSource.objects.get_or_create(name=source)
        row = rows.get()
    return row


def move(row: PushSource, count: int) -> None:
    """Reservation of n sequence numbers, which listeners are notified of; some may stay without an event."""
    row.last_seq += count
    PushSource.objects.filter(pk=row.pk).update(last_seq=row.last_seq)
    transaction.on_commit(partial(pubsub.publish, channel(row.name), {"seq": row.last_seq}))


def cursor(source: str) -> int:
    """Sequence number of the newest event; 0 where there is none."""
    return PushSource.objects.filter(name=source).values_list("last_seq", flat=True).first() or 0


def after(source_id: int, seq: int, limit: int) -> list[tuple[int, str, ReadFact]]:
    """(sequence number, key, event) of the next events after `seq`."""
    rows = PushedEvent.objects.filter(source_id=source_id, seq__gt=seq).order_by("seq")[:limit]
    return [
        (seq, key, read(at_ms, bytes(digest), bytes(payload)))
        for seq, key, at_ms, digest, payload in rows.values_list("seq", "key", "at_ms", "digest", "payload")
    ]


def of_keys(source_id: int, keys: Sequence[str]) -> dict[str, list[ReadFact]]:
    """All events of these jobs and nodes."""
    found: dict[str, list[ReadFact]] = {key: [] for key in keys}
    for first in range(0, len(keys), MAX_KEYS):
        rows = PushedEvent.objects.filter(source_id=source_id, key__in=keys[first : first + MAX_KEYS]).order_by()
        for key, at_ms, digest, payload in rows.values_list("key", "at_ms", "digest", "payload").iterator():
            found[key].append(read(at_ms, bytes(digest), bytes(payload)))
    return found


def open_keys(source_id: int, since_ms: int) -> list[str]:
    """Jobs and nodes that may still be there, and those with an event that came since that time."""
    end_ms = Coalesce(Max(Case(When(ends=True, then=F("at_ms")))), -1)
    rows = (
        PushedEvent.objects.filter(source_id=source_id)
        .order_by()
        .values("key")
        .annotate(end=end_ms, at=Max("at_ms"), came=Max("received_ms"))
    )
    is_open = Case(
        When(end__lt=F("at"), then=True),
        When(came__gte=since_ms, then=True),
        default=False,
        output_field=BooleanField(),
    )
    return list(rows.annotate(open=is_open).filter(open=True).values_list("key", flat=True))


def ended_between(source_id: int, since_ms: int, until_ms: int) -> Iterator[list[str]]:
    """Keys of jobs with an end in the interval, in portions."""
    rows = PushedEvent.objects.filter(source_id=source_id, ends=True, at_ms__gte=since_ms, at_ms__lt=until_ms)
    keys = list(rows.order_by("key").values_list("key", flat=True).distinct())
    for first in range(0, len(keys), MAX_KEYS):
        yield keys[first : first + MAX_KEYS]


def snapshot_times(source_id: int) -> dict[str, list[int]]:
    """{"jobs" | "nodes": times of the ended snapshots that cover them, in order}"""
    found: dict[str, list[int]] = {"jobs": [], "nodes": []}
    for at_ms, covers in (
        PushSnapshot.objects.filter(source_id=source_id, ended=True).order_by("at_ms").values_list("at_ms", "covers")
    ):
        for what in covers:
            found[what].append(at_ms)
    return found


def _insert(rows: Sequence[tuple[Any, ...]]) -> int:
    """Number of rows added: those whose digest is new."""
    table, names = PushedEvent._meta.db_table, ", ".join(COLUMNS)
    if connection.vendor == "postgresql":
        return _insert_arrays(f"INSERT INTO {table} ({names})", rows)
    marks = ", ".join(["%s"] * len(COLUMNS))
    with connection.cursor() as database:
        database.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING", rows)
        return database.rowcount


def _insert_arrays(insert: str, rows: Sequence[tuple[Any, ...]]) -> int:
    """Number of rows added on PostgreSQL, from one binary array a column: half the time of literals in the statement.

    A cursor of Django writes the values into the statement.
    """
    import psycopg  # installed where PostgreSQL is used

    arrays = ", ".join(f"%b::{kind}[]" for kind in ON_POSTGRESQL)
    columns = [list(column) for column in zip(*rows, strict=True)]
    connection.ensure_connection()
    with psycopg.Cursor(connection.connection) as database:
        database.execute(f"{insert} SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING".encode(), columns)
        return database.rowcount
