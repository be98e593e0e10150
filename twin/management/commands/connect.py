"""manage.py connect: tests the connection to a real cluster and keeps it; the follower mirrors it from then on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandParser

from scheduling.kernel.parameters import parse_declared
from scheduling.model.values import ModelError
from scheduling.reporting.quantities import counted
from twin.connectors.base import Connector, build
from twin.connectors.facts import ConnectorError, Found
from twin.management.connector_options import add_connector_arguments
from twin.management.headless import HeadlessCommand, pairs, positive
from twin.management.sampler_options import add_sampler_arguments, built_sampler, sampler_given
from twin.mirror import stored
from twin.mirror.connecting import connections
from twin.mirror.nodes.sites import SiteRule
from twin.models import Connection
from twin.samplers.base import Sampler
from twin.samplers.base import build as build_sampler
from twin.samplers.facts import occupancy_of

INTERVAL_MS = 1_000


class Command(HeadlessCommand):
    help = "Tests the connection to a real cluster and stores it; from then on the twin follows the cluster."

    def add_arguments(self, parser: CommandParser) -> None:
        add_connector_arguments(parser)
        add_sampler_arguments(parser)
        parser.add_argument("--name", required=True, help="name of the cluster: letters, digits, hyphens, underscores")
        parser.add_argument(
            "--interval-ms",
            type=positive,
            help="time between two polls, for connectors that do not report changes themselves; slurm has its own, "
            f"such as --param interval_ms=5000; default: {INTERVAL_MS}",
        )
        parser.add_argument("--test", action="store_true", help="only test the connection")
        parser.add_argument(
            "--change",
            action="store_true",
            help="change the stored connection of that name; options that are not given keep their values",
        )

    def work(self, **options: Any) -> None:
        name = connections.checked_name(options["name"])
        given, sites = pairs("--param", options["param"]), pairs("--site", options["site"])
        before = _stored(name, options["connector"]) if options["change"] else None
        connector = build(options["connector"], {**before.parameters, **given} if before else given)
        rule = parse_declared("--site", SiteRule, {**before.sites, **sites} if before else sites)
        sampler = self._sampler(options, before)
        if before is None or given or options["test"] or sampler_given(options):
            self._test(name, connector, sampler)  # sites and interval need no answer of the cluster
        connector.close()
        if options["test"]:
            return
        if before is None:
            connections.create(name, connector, rule, options["interval_ms"] or INTERVAL_MS, sampler=sampler)
            self.report(f"{name}: connected; `manage.py up` follows it")
            return
        connections.change(before, connector, rule, options["interval_ms"] or before.interval_ms, sampler=sampler)
        counts = Counter(rule.site(node) for node in stored.nodes_of(before))
        self.report(f"{name}: changed; {counted(counts['edge'], 'node')} at the edge, {counts['cloud']:,} in the cloud")

    def _sampler(self, options: dict[str, Any], before: Connection | None) -> Sampler | None:
        """The sampler by the options; without any, that of the connection until now."""
        if before is None or options["sampler"] is not None or not before.sampler:
            return built_sampler(options)
        given = pairs("--sampler-param", options["sampler_param"])
        return build_sampler(before.sampler, {**before.sampler_parameters, **given})

    def _test(self, name: str, connector: Connector, sampler: Sampler | None) -> None:
        try:
            found = connector.check()
            if found.well and sampler is not None:
                samples = sampler.check(occupancy_of(connector.snapshot()))
                found = replace(found, findings=(*found.findings, *samples))
        except ConnectorError as error:
            raise ModelError(str(error)) from error
        finally:
            connector.close()
        self._report_findings(found)
        if not found.well:
            raise ModelError(f"{name}: the cluster cannot be followed yet; the lines above state the remedies")

    def _report_findings(self, found: Found) -> None:
        self.report(f"version {found.version or 'unknown'}")
        for finding in found.findings:
            mark = "ok" if finding.well else "missing" if finding.needed else "without"
            self.report(
                f"{mark:8}{finding.subject}: {finding.message}"
                + (f"; {finding.remedy}" if finding.remedy and not finding.well else "")
            )


def _stored(name: str, connector: str) -> Connection:
    found = Connection.objects.filter(name=name).first()
    if found is None:
        known = ", ".join(Connection.objects.values_list("name", flat=True)[:20]) or "none"
        raise ModelError(f"no cluster is connected under the name {name}; known: {known}")
    if found.connector != connector:
        raise ModelError(f"{name} is followed by {found.connector}, not {connector}; remove it and connect it again")
    return found
