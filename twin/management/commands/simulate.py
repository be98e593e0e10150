"""manage.py simulate: one scheduler on one cluster and one list of jobs, to files."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np
from django.core.management.base import CommandParser

from scheduling.certificates import certify, plain, problem
from scheduling.metrics import summarize
from scheduling.model import ModelError, shorten
from scheduling.registry import build
from scheduling.simulation import Simulation
from twin.formats.cluster_json import load_cluster
from twin.formats.groups_csv import NAME as GROUPS
from twin.formats.jobs_jsonl import load_jobs
from twin.formats.outputs import FILES, OutputWriter
from twin.importers.imports import cluster_with
from twin.management.headless import HeadlessCommand, natural, place, positive
from twin.management.whole import whole_folder

MOST_PRICED = 2_000_000  # slots x servers whose prices are looked at for the certificate


class Command(HeadlessCommand):
    help = "Simulates and writes cluster.json, jobs.jsonl, schedule.csv, decisions.jsonl, events.jsonl and summary.json; for groups groups.csv, too."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--cluster", type=place, required=True)
        parser.add_argument("--jobs", type=place, required=True)
        parser.add_argument("--scheduler", required=True)
        parser.add_argument(
            "--param", action="append", default=[], metavar="k=v", help="a parameter of the scheduler; may be given again"
        )
        parser.add_argument("--slot-ms", type=positive, help="another slot length than the cluster's")
        parser.add_argument("--horizon-slots", type=positive, help="another horizon than the cluster's")
        parser.add_argument("--seed", type=natural, required=True)
        parser.add_argument("--out", type=place, required=True)

    def work(self, **options: Any) -> None:
        with whole_folder(options["out"], (*FILES, GROUPS), [options["cluster"], options["jobs"]]) as folder:
            scheduler = build(options["scheduler"], _parameters(options["param"]))
            cluster = cluster_with(load_cluster(options["cluster"]), options["slot_ms"], options["horizon_slots"])
            with options["jobs"].open("rb") as file:
                jobs = load_jobs(file, options["jobs"].name)
            began = time.perf_counter()
            simulation = Simulation(cluster, jobs, scheduler, options["seed"])
            writer = OutputWriter(folder, cluster, jobs)
            metrics = summarize(writer.passing(simulation.events()), cluster, jobs)
            writer.finish({
                "scheduler": scheduler.name, "parameters": asdict(scheduler.parameters), "seed": options["seed"], "metrics": metrics,
                "certificate": _certificate(simulation, metrics["total_utility"]), "decision_ms": _percentiles(simulation.decision_seconds),
                "wall_s": round(time.perf_counter() - began, 3),
            })  # fmt: skip
        self.tell(
            f"{scheduler.title}: {metrics['jobs']} jobs, {metrics['completed']} completed, {metrics['rejected']} rejected, "
            f"total utility {metrics['total_utility']:.2f}; written to {options['out']}"
        )


def _certificate(simulation: Simulation, achieved: float) -> dict[str, Any] | None:
    """What share of the best possible total utility is proved; None for schedulers of other worlds."""
    cluster, jobs, scheduler = simulation.cluster, simulation.jobs, simulation.scheduler
    world = scheduler.model_on(cluster)
    if world is None:
        return None
    task = problem(
        cluster, jobs, range(len(jobs)), world, horizon=scheduler.horizon or -(-simulation.now_ms // cluster.slot_ms) or 1
    )
    prices = scheduler.prices(np.arange(task.slots)) if task.slots * len(cluster.servers) <= MOST_PRICED else None
    found = certify(task, achieved, prices)
    return plain(found) if found.bound > 0 else None


def _parameters(pairs: list[str]) -> dict[str, str]:
    given = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ModelError(f"--param must look like name=value, got {shorten(repr(pair))}")
        given[name] = value
    return given


def _percentiles(seconds: list[float]) -> dict[str, float] | None:
    if not seconds:
        return None
    p50, p95, most = (round(float(x) * 1000, 4) for x in np.percentile(seconds, [50, 95, 100]))
    return {"p50": p50, "p95": p95, "max": most}
