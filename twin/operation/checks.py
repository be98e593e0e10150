"""Checks of an installation, for `manage.py doctor`: each names what is wrong, and what to do about it."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from kombu import Connection as BrokerConnection

import experiments
from scheduling import run_times
from scheduling.kernel.menus import Menu
from scheduling.kernel.registry import names, unavailable
from scheduling.reporting.quantities import counted
from twin.actuators import base as actuators
from twin.alerts import base as alerts
from twin.connectors import base as connectors
from twin.infra import broker, database, disk, pubsub
from twin.models import Run
from twin.operation import growth
from twin.processes import heartbeat
from twin.push import bodies
from twin.samplers import base as samplers
from twin.scenarios import edits
from twin.studies.gallery import starting
from twin.traces.importing import formats

MAX_SKEW_S = 1.0  # between clocks; leases of runs last some seconds
MIN_FREE = 2**30  # bytes of the data folder below which a warning is due
PIN = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[\w+\])?==(\S+)")
ONLINE = ("frame bus", "broker", "clocks", "processes")  # subjects that need running processes
MENUS: tuple[Menu[Any], ...] = (
    run_times.MENU, formats.MENU, edits.MENU, starting.MENU, alerts.MENU, connectors.MENU, samplers.MENU,
    actuators.MENU, bodies.MENU, experiments.MENU,
)  # fmt: skip
OK, WARNING, FAULT = "ok", "warning", "fault"


@dataclass(frozen=True)
class Finding:
    """Result of one check; `remedy` says what to do unless all is well."""

    subject: str
    level: str
    text: str
    remedy: str = ""


def findings() -> Iterator[Finding]:
    """Results of all checks in order; a check that fails is itself a fault."""
    for check in CHECKS:
        try:
            yield check()
        except Exception as error:  # the others still tell what they find
            name = check.__name__.replace("_", " ")
            yield Finding(
                name,
                FAULT,
                f"the check failed: {type(error).__name__}: {error}",
                "correct what the error states, and check again",
            )


def python() -> Finding:
    """Version of Python, which bin/prepare has checked."""
    return Finding("Python", OK, ".".join(map(str, sys.version_info[:3])))


def packages() -> Finding:
    """Installed packages against their pinned versions; those for traces only where they are used."""
    file = "requirements-tracing.txt" if settings.TRACES_ENDPOINT else "requirements.txt"
    wrong, pins = [], 0
    for line in [
        line
        for name in dict.fromkeys(("requirements.txt", file))
        for line in (settings.BASE_DIR / name).read_text().splitlines()
    ]:
        if not (pin := PIN.match(line)):
            continue
        pins += 1
        try:
            installed = version(pin[1])
        except PackageNotFoundError:
            installed = "missing"
        if installed != pin[2]:
            wrong.append(f"{pin[1]} {installed} instead of {pin[2]}")
    if wrong:
        return Finding("packages", FAULT, "; ".join(wrong), f"run bin/prepare {file}")
    return Finding("packages", OK, f"{counted(pins, 'package')} as in {file}")


def folders() -> Finding:
    """Folders of data and uploads: a file can be written."""
    for folder in (settings.VAR_DIR, settings.UPLOAD_DIR):
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            what = f"{folder}: {error.strerror}"
            return Finding("folders", FAULT, what, "give this account write access, or set TWIN_VAR_DIR or UPLOAD_DIR")
    return Finding("folders", OK, f"{settings.VAR_DIR}, {settings.UPLOAD_DIR}")


def disk_space() -> Finding:
    """Free space of the data folder."""
    found = os.statvfs(settings.VAR_DIR)
    free = found.f_bavail * found.f_frsize
    text = f"{free / 2**30:,.1f} GiB free"
    remedy = "free some space, or remove old runs with manage.py prune"
    if full := disk.full():
        return Finding("disk", FAULT, full, remedy)
    return Finding("disk", *(WARNING, text, remedy) if free < MIN_FREE else (OK, text))


def database_writes() -> Finding:
    """Finding about writes to the database."""
    name = f"{connection.vendor} {settings.DATABASES['default']['NAME']}"
    error = database.fault()
    if error and not _has_tables():
        return Finding("database", OK, f"{name}, without tables")  # what to do is said of the migrations
    if error:
        text = " ".join(str(error).split())
        return Finding("database", FAULT, f"{name}: {text}", "start the server, or correct DATABASE_URL")
    if limit := growth.limit():
        return Finding("database", WARNING, f"{name}: {limit}", growth.REMEDY)
    return Finding("database", OK, name)


def _has_tables() -> bool:
    """False for a database that can be read and is empty."""
    try:
        return Run._meta.db_table in connection.introspection.table_names()
    except DatabaseError:
        return True


def migrations() -> Finding:
    """Migrations that are not applied, and those of a newer version."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    unknown = sorted(set(executor.loader.applied_migrations) - set(executor.loader.graph.nodes))
    ours = [f"{app} {name}" for app, name in unknown if app in ("twin", "dashboard")]
    if ours:
        text = f"the database is from a newer version ({', '.join(ours[:3])})"
        return Finding("migrations", FAULT, text, "install the version that wrote it, or restore a backup")
    if plan:
        names = ", ".join(f"{migration.app_label} {migration.name}" for migration, _ in plan[:3])
        text = f"{counted(len(plan), 'migration')} not applied: {names}"
        return Finding("migrations", FAULT, text, "make a backup, then run manage.py migrate")
    return Finding("migrations", OK, f"{len(executor.loader.applied_migrations)} applied")


def frame_bus() -> Finding:
    """Redis that carries frames and heartbeats."""
    if not settings.LAYER_URL:
        return Finding("frame bus", FAULT, "it is not running", "start the twin with bin/up, or set LAYER_URL")
    try:
        pubsub.client().ping()
    except (redis.RedisError, OSError) as error:
        return Finding("frame bus", FAULT, f"it does not answer: {error}", "start the server, or correct LAYER_URL")
    return Finding("frame bus", OK, "it answers")


def task_broker() -> Finding:
    """Broker of tasks."""
    if not settings.BROKER_URL:
        return Finding("broker", FAULT, "it is not running", "start the twin with bin/up, or set BROKER_URL")
    try:
        with BrokerConnection(settings.BROKER_URL, connect_timeout=2) as found:
            found.ensure_connection(max_retries=1, timeout=2)
    except Exception as error:  # each transport has its own
        return Finding("broker", FAULT, f"it does not answer: {error}", "start the server, or correct BROKER_URL")
    return Finding("broker", OK, "it answers")


def clocks() -> Finding:
    """Clock of this host against those of the database server and of the frame bus."""
    offsets = {}
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
            offsets["database"] = float(cursor.fetchone()[0]) - time.time()
    if settings.LAYER_URL:
        seconds, microseconds = pubsub.client().time()
        offsets["frame bus"] = seconds + microseconds / 1e6 - time.time()
    text = ", ".join(f"{name} {offset:+.3f} s" for name, offset in offsets.items()) or "no other clock to compare with"
    if any(abs(offset) > MAX_SKEW_S for offset in offsets.values()):
        return Finding("clocks", FAULT, text, "synchronize the hosts, for example with chrony")
    return Finding("clocks", OK, text)


def processes() -> Finding:
    """Heartbeats of the processes that the twin needs."""
    known = heartbeat.processes() or []
    needed = (heartbeat.WEB, *heartbeat.WORKERS.values(), heartbeat.TICKER)
    missing = [kind for kind in needed if not any(one.kind == kind and one.answers for one in known)]
    trouble = [one.trouble for one in known if one.trouble]
    if missing or trouble:
        text = "; ".join([*(f"no {kind} answers" for kind in missing), *trouble])
        return Finding("processes", FAULT, text, "start them: bin/up, or the commands of docs/operation.md")
    return Finding("processes", OK, f"all {len(known)} answer")


def extensions() -> Finding:
    """Files that offer something by name, such as schedulers and formats of traces; others go on without them."""
    wrong = [f"scheduler {name!r} is not available: {reason}" for name, reason in unavailable().items()]
    wrong += [sentence for menu in MENUS for sentence in menu.refusals()]
    if wrong:
        return Finding(
            "extensions", WARNING, "; ".join(wrong), "correct the files or remove them, then restart the twin"
        )
    return Finding("extensions", OK, f"{counted(len(names()) + sum(len(one.names()) for one in MENUS), 'name')}")


def secrets() -> Finding:
    """Settings that protect the pages."""
    hosts = settings.ALLOWED_HOSTS
    public = any(host not in ("localhost", "127.0.0.1", "[::1]") for host in hosts)
    if settings.DEBUG:
        return Finding("security", FAULT, "DEBUG is set: error pages show code and settings", "unset DEBUG")
    if public and not settings.HTTPS:
        text = f"the twin is reached as {', '.join(hosts)} without TLS"
        return Finding("security", WARNING, text, "put a TLS proxy in front of it and set HTTPS=true")
    return Finding("security", OK, f"hosts {', '.join(hosts)}")


CHECKS: tuple[Callable[[], Finding], ...] = (
    python, packages, extensions, folders, disk_space, database_writes, migrations, frame_bus, task_broker, clocks,
    processes, secrets,
)  # fmt: skip


def find_embedded() -> None:
    """Settings of the broker that `bin/up` has started on this host, unless others are given."""
    if settings.BROKER_URL or settings.LAYER_URL:
        return
    path = broker.socket_path(settings.VAR_DIR)
    if path.exists():
        settings.BROKER_URL, settings.LAYER_URL = f"redis+socket://{path}", f"unix://{path}"
