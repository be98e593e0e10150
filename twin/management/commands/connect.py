"""manage.py connect: tests the connection to a real cluster and keeps it; the follower mirrors it from then on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.core.validators import validate_slug
from django.db import IntegrityError
from django.forms import ValidationError

from scheduling.kernel.parameters import parse_declared
from scheduling.model.values import ModelError, shorten
from twin.connectors.base import build, names
from twin.connectors.facts import ConnectorError, Found
from twin.management.commands.follow import pairs
from twin.management.headless import HeadlessCommand, positive
from twin.mirror.sites import SiteRule
from twin.models import AuditEntry, Connection


class Command(HeadlessCommand):
    help = "Tests the connection to a real cluster and keeps it; from then on the twin follows the cluster."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("connector", help=f"one of {', '.join(names())}")
        parser.add_argument("--name", required=True, help="name of the cluster: letters, digits, hyphens, underscores")
        parser.add_argument(
            "--param", action="append", default=[], metavar="k=v", help="setting of the connector; repeatable"
        )
        parser.add_argument(
            "--site",
            action="append",
            default=[],
            metavar="k=v",
            help="rule of sites: edge_by, edge_pattern; repeatable",
        )
        parser.add_argument(
            "--interval-ms", type=positive, default=1_000, help="time between two looks, where the cluster is polled"
        )
        parser.add_argument("--test", action="store_true", help="only test the connection")

    def work(self, **options: Any) -> None:
        try:
            validate_slug(options["name"])
        except ValidationError as error:
            raise ModelError(
                f"--name must be letters, digits, hyphens and underscores, got {shorten(repr(options['name']))}"
            ) from error
        connector = build(options["connector"], pairs("--param", options["param"]))
        sites = parse_declared("--site", SiteRule, pairs("--site", options["site"]))
        try:
            found = connector.check()
        except ConnectorError as error:
            raise ModelError(str(error)) from error
        finally:
            connector.close()
        self._tell_found(found)
        if not found.well:
            raise ModelError(
                f"{options['name']}: the cluster cannot be followed yet; the lines above say what would help"
            )
        if options["test"]:
            return
        try:
            Connection.objects.create(
                name=options["name"], connector=options["connector"], parameters=asdict(connector.parameters),
                sites=asdict(sites), interval_ms=options["interval_ms"],
            )  # fmt: skip
        except IntegrityError as error:
            raise ModelError(
                f"--name {options['name']} is the name of another connection; choose another one"
            ) from error
        AuditEntry.objects.create(
            action="connection.create", subject=options["name"], detail={"connector": options["connector"]}
        )
        self.tell(f"{options['name']}: connected; `manage.py up` follows it")

    def _tell_found(self, found: Found) -> None:
        self.tell(f"version {found.version or 'unknown'}")
        for finding in found.findings:
            mark = "ok" if finding.well else "missing" if finding.needed else "without"
            self.tell(
                f"{mark:8}{finding.subject}: {finding.said}"
                + (f"; {finding.remedy}" if finding.remedy and not finding.well else "")
            )
