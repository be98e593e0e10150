"""manage.py connect: tests the connection to a real cluster and keeps it; the follower mirrors it from then on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from scheduling.kernel.parameters import parse_declared
from scheduling.model.values import ModelError
from twin.connectors.base import build, names
from twin.connectors.facts import ConnectorError, Found
from twin.management.commands.follow import pairs
from twin.management.headless import HeadlessCommand, positive
from twin.mirror.connecting import connections
from twin.mirror.sites import SiteRule


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
        connections.checked_name(options["name"])
        connector = build(options["connector"], pairs("--param", options["param"]))
        sites = parse_declared("--site", SiteRule, pairs("--site", options["site"]))
        try:
            found = connector.check()
        except ConnectorError as error:
            raise ModelError(str(error)) from error
        finally:
            connector.close()
        self._report_findings(found)
        if not found.well:
            raise ModelError(
                f"{options['name']}: the cluster cannot be followed yet; the lines above say what would help"
            )
        if options["test"]:
            return
        connections.create(options["name"], connector, sites, options["interval_ms"])
        self.report(f"{options['name']}: connected; `manage.py up` follows it")

    def _report_findings(self, found: Found) -> None:
        self.report(f"version {found.version or 'unknown'}")
        for finding in found.findings:
            mark = "ok" if finding.well else "missing" if finding.needed else "without"
            self.report(
                f"{mark:8}{finding.subject}: {finding.said}"
                + (f"; {finding.remedy}" if finding.remedy and not finding.well else "")
            )
