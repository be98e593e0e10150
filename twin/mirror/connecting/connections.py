"""Connections to real clusters: create, change, pause, follow, remove. Each is an entry of the audit list."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from django.db import IntegrityError, transaction

from scheduling.kernel.parameters import UnknownName, parse_declared
from scheduling.model.values import ModelError, shorten
from twin.connectors.base import Connector, build, connector_class
from twin.connectors.facts import ConnectorError
from twin.infra.errors import Refused
from twin.mirror import borders
from twin.mirror.connecting.errors import FieldError
from twin.mirror.nodes.sites import SiteRule
from twin.mirror.stored import sites_of
from twin.models import AuditEntry, Connection, Proposal
from twin.runs import lease, runner
from twin.samplers.base import Sampler

RESERVED = ("connect", "test", "sites")  # words of addresses
MIN_INTERVAL_MS, MAX_INTERVAL_MS = 200, 600_000


def checked_name(name: str) -> str:
    """The name, which is a part of addresses; FieldError where it cannot be."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        rule = "must have 1 to 60 letters, digits, hyphens and underscores"
        raise FieldError("name", f"name {rule}, got {shorten(repr(name))}")
    if name in RESERVED:
        raise FieldError("name", f"name must not be {name!r}, which is a part of an address; choose another one")
    return name


def checked_connector(name: str, given: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> Connector:
    """The connector with these parameters, as somebody without a shell on this host may choose them.

    before: the parameters of the connection until now, which may stay as they are.
    """
    try:
        declared = connector_class(name).Parameters
    except UnknownName as error:
        raise FieldError("connector", str(error)) from error
    for key, value in given.items():
        try:
            parse_declared(f"connector {name}", declared, {key: value})
        except (ModelError, UnknownName) as error:
            raise FieldError(f"parameters.{key}", str(error)) from error
    known = [one.name for one in fields(declared)]
    try:
        connector = build(name, given)
    except (ModelError, UnknownName, ConnectorError) as error:
        named = next((key for key in known if re.search(rf"\b{key}\b", str(error))), None)
        raise FieldError(f"parameters.{named}" if named else "parameters", str(error)) from error
    reason = connector.unsafe()
    key = reason.partition(" ")[0]
    if reason and (before or {}).get(key) != getattr(connector.parameters, key):
        connector.close()
        raise FieldError(f"parameters.{key}", reason)
    return connector


def checked_sites(given: Mapping[str, Any]) -> SiteRule:
    """The rule; FieldError names the field."""
    for key, value in given.items():
        try:
            parse_declared("sites", SiteRule, {key: value})
        except (ModelError, UnknownName) as error:
            raise FieldError(f"sites.{key}", str(error)) from error
    return parse_declared("sites", SiteRule, given)


def checked_interval(interval_ms: int) -> int:
    """The interval; FieldError where it is out of range."""
    if not MIN_INTERVAL_MS <= interval_ms <= MAX_INTERVAL_MS:
        rule = f"must be {MIN_INTERVAL_MS:,} to {MAX_INTERVAL_MS:,} ms"
        raise FieldError("interval_ms", f"interval_ms {rule}, got {interval_ms:,}")
    return interval_ms


def create(
    name: str, connector: Connector, sites: SiteRule, interval_ms: int, user: Any = None,
    sampler: Sampler | None = None,
) -> Connection:  # fmt: skip
    """A connection that is followed from now on."""
    try:
        with transaction.atomic():
            made = Connection.objects.create(
                name=checked_name(name), connector=connector.name, parameters=asdict(connector.parameters),
                sites=asdict(sites), interval_ms=checked_interval(interval_ms), created_by=user,
                **_stored_sampler(sampler),
            )  # fmt: skip
            _record(user, "create", made, {"connector": made.connector})
    except IntegrityError as error:
        raise FieldError("name", f"{name} is the name of another connection; choose another one") from error
    return made


def change(
    connection: Connection, connector: Connector, sites: SiteRule, interval_ms: int, user: Any = None,
    sampler: Sampler | None = None,
) -> Connection:  # fmt: skip
    """Change of the settings; the follower restarts with them, and the run continues.

    Another site rule is written at the next poll as a change of the servers (docs/decisions/0016).
    """
    parameters, rule = asdict(connector.parameters), asdict(sites)
    before = asdict(connector.Parameters()) | connection.parameters | asdict(sites_of(connection))
    changed = [key for key, value in sorted(parameters.items()) if before[key] != value]
    changed += [key for key, value in rule.items() if before[key] != value]
    if checked_interval(interval_ms) != connection.interval_ms:
        changed.append("interval_ms")
    stored_sampler = _stored_sampler(sampler)
    changed += [key for key, value in stored_sampler.items() if getattr(connection, key) != value]
    if changed:
        with transaction.atomic():
            connection.parameters, connection.sites, connection.interval_ms = parameters, rule, interval_ms
            for key, value in stored_sampler.items():
                setattr(connection, key, value)
            connection.save(update_fields=["parameters", "sites", "interval_ms", *stored_sampler])
            _record(user, "change", connection, {"changed": ", ".join(changed)})
    return connection


def _stored_sampler(sampler: Sampler | None) -> dict[str, Any]:
    if sampler is None:
        return {"sampler": "", "sampler_parameters": {}}
    return {"sampler": sampler.name, "sampler_parameters": asdict(sampler.parameters)}


def pause(connection: Connection, user: Any = None) -> Connection:
    """The follower leaves the cluster alone; its run stays as it is."""
    return _want(connection, Connection.PAUSED, "pause", user)


def follow(connection: Connection, user: Any = None) -> Connection:
    """The follower goes on; what it did not see is a gap of the run."""
    if connection.wanted == Connection.PAUSED:  # no follower writes its health now
        connection.health = {**connection.health, "failing_since": None, "error": "", "resumed_at": time.time()}
        connection.save(update_fields=["health"])
    return _want(connection, Connection.FOLLOWING, "follow", user)


def remove(connection: Connection, user: Any = None) -> None:
    """The connection goes, its run ends and is kept; a follower that still has the run writes nothing more.

    Refused while a plan has changed jobs of the cluster: its journal would go too.
    """
    if plan := connection.proposals.filter(status__in=Proposal.OPEN).first():
        raise Refused(f"plan {plan.pk} is {plan.status} on {connection.name}; undo it before you remove the connection")
    run = None if connection.run_id is None else lease.take(connection.run_id, simulated=False, force=True)
    if run is None:
        _delete(connection, user)
        return
    with lease.Heartbeat(run):
        ending = borders.Ending(connection, run)
    with transaction.atomic():
        ending.write()
        _delete(connection, user)
    run.refresh_from_db()
    runner.announce(run)


def _delete(connection: Connection, user: Any) -> None:
    with transaction.atomic():
        _record(user, "delete", connection, {"connector": connection.connector})
        connection.delete()


def record_test(name: str, connector: str, user: Any) -> None:
    """Entry of a test: it has this host ask another one. name: of a stored connection, else empty."""
    subject = f"connection {name}" if name else "connection that is not stored"
    AuditEntry.objects.create(user=user, action="connection.test", subject=subject, detail={"connector": connector})


def _want(connection: Connection, wanted: str, verb: str, user: Any) -> Connection:
    with transaction.atomic():
        if Connection.objects.filter(pk=connection.pk).exclude(wanted=wanted).update(wanted=wanted):
            _record(user, verb, connection, {})
    connection.wanted = wanted
    return connection


def _record(user: Any, verb: str, connection: Connection, detail: dict[str, Any]) -> None:
    AuditEntry.objects.create(
        user=user,
        action=f"connection.{verb}",
        subject=f"connection {connection.name}",
        detail={"name": connection.name, **detail},
    )
