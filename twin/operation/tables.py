"""Tables of the installation as rows of plain values, read in one snapshot and written into any database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.color import no_style
from django.db import connection, connections, models, transaction

CHUNK = 200  # rows that are read at a time; one row of a log can hold some hundred kB
MADE_BY_MIGRATIONS = {"contenttypes.ContentType", "auth.Permission"}  # every database has its own
# sessions and leases belong to running processes; roles are groups, not single permissions
NOT_KEPT = {"sessions.Session", "twin.TaskLease", "auth.Group_permissions", "auth.User_user_permissions"}
SNAPSHOT = "snapshot"  # alias of the connection that reads


def kept() -> list[type[models.Model]]:
    """Models whose rows belong to an archive, in the order of their names."""
    found = {model._meta.label: model for model in apps.get_models(include_auto_created=True)}
    left_out = MADE_BY_MIGRATIONS | NOT_KEPT
    return [model for label, model in sorted(found.items()) if label not in left_out and model._meta.managed]


def columns(model: type[models.Model]) -> list[str]:
    """Names of the columns of a table, foreign keys as their ids."""
    return [field.attname for field in model._meta.concrete_fields]


@contextmanager
def snapshot() -> Iterator[str]:
    """Alias of a connection whose queries all see the state of one instant, while others write."""
    options = dict(settings.DATABASES["default"].get("OPTIONS", {}))
    if connection.vendor == "sqlite":
        options["transaction_mode"] = "DEFERRED"  # reads without the lock that writers need
    elif connection.vendor == "postgresql":
        from psycopg import IsolationLevel

        options["isolation_level"] = IsolationLevel.REPEATABLE_READ
    connections.databases[SNAPSHOT] = {**connections.databases["default"], "OPTIONS": options}
    try:
        with transaction.atomic(using=SNAPSHOT):
            yield SNAPSHOT
    finally:
        connections[SNAPSHOT].close()
        del connections[SNAPSHOT]
        del connections.databases[SNAPSHOT]


def rows(model: type[models.Model], alias: str) -> Iterator[list[Any]]:
    """Rows of a table by primary key, in the order of `columns`."""
    found = model._base_manager.using(alias).order_by("pk").values_list(*columns(model))
    for row in found.iterator(chunk_size=CHUNK):
        yield [bytes(value) if isinstance(value, memoryview) else value for value in row]


def insert(model: type[models.Model], names: Sequence[str], found: Sequence[Sequence[Any]]) -> None:
    """New rows with these values, primary keys and times included."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    made = []
    for row in found:
        made.append(model(**dict(zip(names, row, strict=True))))
    manager: Any = model._base_manager  # `raw` keeps times that are otherwise set on creation
    manager._insert(made, fields=[fields[name] for name in names], using="default", raw=True)


def continue_numbers(written: Sequence[type[models.Model]]) -> None:
    """Next primary keys after the ones that were inserted, where the database counts apart from the rows."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(written)):
            cursor.execute(statement)
