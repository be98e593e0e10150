"""manage.py follow: mirrors a real cluster for a while, without a database, and writes the files of `simulate`."""

from __future__ import annotations

import re
import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from django.core.management.base import CommandParser

from scheduling.kernel.parameters import parse_declared
from scheduling.model.values import ModelError, shorten
from scheduling.observed.scheduler import ObservedScheduler
from scheduling.reporting.metrics import summarize
from scheduling.reporting.quantities import counted
from twin.connectors.base import build
from twin.connectors.facts import ConnectorError, Snapshot
from twin.connectors.recording import recorder
from twin.files.outputs import FILES, OutputWriter
from twin.files.samples_csv import NAME as SAMPLES
from twin.files.samples_csv import SamplesCsv
from twin.management.atomic_output import atomic_folder
from twin.management.connector_options import add_connector_arguments
from twin.management.headless import HeadlessCommand, pairs, place
from twin.management.sampler_options import add_sampler_arguments, built_sampler
from twin.mirror.as_values import EventData, server_name
from twin.mirror.differ import Mirror, epoch_of
from twin.mirror.following import Following
from twin.mirror.history import history_of
from twin.mirror.nodes.sites import SiteRule
from twin.mirror.sampling import Sampling

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Command(HeadlessCommand):
    help = "Mirrors a real cluster for a while and writes the files that simulate writes; verify rechecks them."

    def add_arguments(self, parser: CommandParser) -> None:
        add_connector_arguments(parser)
        add_sampler_arguments(parser)
        parser.add_argument("--name", default="cluster", help="name of the cluster in the files")
        parser.add_argument(
            "--for", dest="seconds", type=seconds, required=True, metavar="75s", help="duration: 75s, 10m, 8h or 1d"
        )
        parser.add_argument(
            "--interval",
            type=seconds,
            default=1.0,
            metavar="1s",
            help="time between two polls, for connectors that poll; default: 1s",
        )
        parser.add_argument("--out", type=place, required=True, help="folder for the files")
        parser.add_argument(
            "--record",
            type=place,
            metavar="FILE",
            help="write the polls to a new file, which the connector replay plays",
        )

    def work(self, **options: Any) -> None:
        connector = build(options["connector"], pairs("--param", options["param"]))
        sites = parse_declared("--site", SiteRule, pairs("--site", options["site"]))
        sampler = built_sampler(options)
        deadline = time.monotonic() + options["seconds"]

        def stopped(wait_s: float) -> bool:
            left = deadline - time.monotonic()
            if left > 0 and wait_s > 0:
                time.sleep(min(wait_s, left))
            return time.monotonic() >= deadline

        with ExitStack() as files:
            polled = recorder(files.enter_context(options["record"].open("xb"))) if options["record"] else no_recording
            folder = files.enter_context(atomic_folder(options["out"], (*FILES, SAMPLES)))
            sampling = None if sampler is None else Sampling(sampler)
            samples = SamplesCsv(folder / SAMPLES)
            try:
                mirror, following = self._follow(
                    connector, sites, options["interval"], stopped, sampling, samples, polled
                )
            except ConnectorError as error:
                raise ModelError(str(error)) from error
            finally:
                connector.close()
                if sampling is not None:
                    sampling.close()
            began = time.perf_counter()
            cluster, jobs, events = history_of(mirror, options["name"])
            writer = OutputWriter(folder, cluster, jobs)
            metrics = summarize(writer.passing(events), cluster, jobs)
            scheduler = ObservedScheduler()
            writer.finish({
                "scheduler": scheduler.name, "parameters": {}, "seed": 0, "execution": scheduler.execution_on(cluster),
                "metrics": metrics, "certificate": None, "decision_ms": None,
                "wall_s": round(time.perf_counter() - began, 3),
            })  # fmt: skip
        self.report(
            f"{options['name']}: {counted(len(mirror.nodes), 'node')}, {counted(metrics['jobs'], 'job')}, "
            f"{metrics['completed']:,} ended after running, {metrics['rejected']:,} ended without running, "
            f"{len(mirror.open):,} open; {counted(following.health.looks, 'poll')}; written to {options['out']}"
        )
        if following.health.error:
            self.report(f"{options['name']}: {following.health.error}")
        if sampling is not None:
            message = f"; {sampling.health.message}" if sampling.health.message else ""
            self.report(f"{options['name']}: {counted(samples.rows, 'sample')} of the use of nodes{message}")

    def _follow(
        self, connector: Any, sites: SiteRule, interval_s: float, stopped: Any, sampling: Sampling | None,
        samples: SamplesCsv, polled: Callable[[Snapshot], None],
    ) -> tuple[Mirror, Following]:  # fmt: skip
        first = connector.snapshot()
        mirror = Mirror(epoch_of(first), sites)

        def write(events: list[EventData], log_ms: int) -> None:
            for kind, data in events:
                if kind == "sampled":
                    samples.write(data, [server_name(node.fact.name) for node in mirror.nodes.values()])

        following = Following(
            connector, mirror, write, interval_s=interval_s, stopped=stopped, sampling=sampling, polled=polled
        )
        following.apply(first)
        following.run()
        if following.health.failing_since is None:
            following.apply(connector.snapshot())  # what ended during the last interval
        following.catch_up(mirror.epoch_ms)
        return mirror, following


def no_recording(snapshot: Snapshot) -> None:
    """Recorder that keeps nothing."""


def seconds(text: str) -> float:
    """A duration such as 75s, 10m, 8h or 1d."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if match is None or not 0 < (value := float(match[1]) * UNITS[match[2]]) <= 365 * UNITS["d"]:
        raise ArgumentTypeError(f"must be a duration such as 75s, 10m or 8h, at most 365d, got {shorten(repr(text))}")
    return value
