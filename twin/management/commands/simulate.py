"""manage.py simulate: one scheduler on one cluster and one list of jobs, to files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from django.core.management.base import CommandParser

from scheduling.kernel.execution_model import Outcome
from scheduling.kernel.realized_schedule import Futures
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.measured_speed import trained_at
from scheduling.model.values import Event
from scheduling.reporting.metrics import summarize
from scheduling.reporting.quantities import counted
from scheduling.run_times.beliefs import EXACT, beliefs, names
from twin.files.cluster_json import cluster_with, load_cluster
from twin.files.groups_csv import NAME as GROUPS
from twin.files.jobs_jsonl import load_jobs
from twin.files.outputs import FILES, OutputWriter
from twin.files.speed_json import load_speed
from twin.management.atomic_output import atomic_folder
from twin.management.headless import HeadlessCommand, natural, pairs, place, positive
from twin.management.speed_option import add_speed_argument

CERTIFICATE = ("kind", "achieved", "bound", "ratio", "edge_only")
MAX_PRICED = 2_000_000  # slots x servers whose prices are read for the certificate


class Command(HeadlessCommand):
    help = (
        "Runs a simulation and writes cluster.json, jobs.jsonl, schedule.csv, decisions.jsonl, events.jsonl and "
        "summary.json; for co-location also groups.csv."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--cluster", type=place, required=True, help="path of cluster.json")
        parser.add_argument("--jobs", type=place, required=True, help="path of jobs.jsonl")
        parser.add_argument("--scheduler", required=True, help="name of the scheduler, as in README.md")
        parser.add_argument(
            "--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of the scheduler; repeatable"
        )
        parser.add_argument("--slot-ms", type=positive, help="slot length in ms, instead of that of the cluster")
        parser.add_argument("--horizon-slots", type=positive, help="horizon in slots, instead of that of the cluster")
        parser.add_argument("--seed", type=natural, required=True, help="random seed")
        parser.add_argument(
            "--believe", default=EXACT, metavar="NAME",
            help=f"run times that the scheduler knows: {', '.join(names())}; default: {EXACT}",
        )  # fmt: skip
        add_speed_argument(parser)
        parser.add_argument("--out", type=place, required=True, help="folder for the files")

    def work(self, **options: Any) -> None:
        speed = None if options["speed"] is None else load_speed(options["speed"])
        with atomic_folder(options["out"], (*FILES, GROUPS), [options["cluster"], options["jobs"]]) as folder:
            scheduler = build(options["scheduler"], pairs("--param", options["param"]))
            cluster = cluster_with(load_cluster(options["cluster"]), options["slot_ms"], options["horizon_slots"])
            with options["jobs"].open("rb") as file:
                stated = load_jobs(file, options["jobs"].name)
            jobs = scheduler.model.as_used(stated if speed is None else [trained_at(job, speed) for job in stated])
            began = time.perf_counter()
            believed = beliefs(options["believe"])
            simulation = Simulation(cluster, jobs, scheduler, options["seed"], beliefs=believed)
            writer = OutputWriter(folder, cluster, jobs)
            played = Played()
            metrics = summarize(played.passing(writer.passing(simulation.events())), cluster, jobs)
            writer.finish({
                "scheduler": scheduler.name, "parameters": asdict(scheduler.parameters), "seed": options["seed"],
                "execution": scheduler.execution_on(cluster), "metrics": metrics,
                **({} if believed is None else {"beliefs": believed.name}),
                "certificate": _certificate(simulation, played, metrics["total_utility"] or 0.0),
                "decision_ms": _percentiles(simulation.decision_seconds),
                "wall_s": round(time.perf_counter() - began, 3),
            })  # fmt: skip
        utility = "" if metrics["total_utility"] is None else f", total utility {metrics['total_utility']:.2f}"
        completed, rejected = metrics["completed"], metrics["rejected"]
        self.report(
            f"{scheduler.title}: {counted(metrics['jobs'], 'job')}, {completed} completed, {rejected} rejected, "
            f"{metrics['jobs'] - completed - rejected} unfinished{utility}; written to {options['out']}"
        )


def _certificate(simulation: Simulation, played: Played, utility: float) -> dict[str, Any] | None:
    """Fields of CERTIFICATE of the best that is proved; None for schedulers about which nothing is claimed.

    edge_only: of runs that do not use the cloud.
    """
    cluster, jobs, scheduler = simulation.cluster, simulation.jobs, simulation.scheduler
    horizon = scheduler.horizon or -(-simulation.now_ms // cluster.slot_ms) or 1
    slots = cluster.horizon_slots or horizon
    priced = slots * len(cluster.servers) <= MAX_PRICED
    outcome = Outcome(range(len(jobs)), played.completions, utility, played.futures.matrix(), horizon)
    prices = scheduler.prices(np.arange(slots)) if priced else None
    made = scheduler.model.proof(scheduler, cluster, jobs, outcome, prices)
    if made is None or made[0].bound <= 0:
        return None
    return {name: made[1][name] for name in CERTIFICATE if name in made[1]}


class Played:
    """Data of the events, which pass once, that a certificate needs."""

    def __init__(self) -> None:
        self.completions: dict[int, int] = {}
        self.futures = Futures()

    def passing(self, events: Iterable[Event]) -> Iterator[Event]:
        """Events, passed on."""
        for event in events:
            if event.kind == "job_completed":
                self.completions[event.data["job"]] = event.at_ms
            elif event.kind == "plan_changed":
                self.futures.feed(event)
            yield event


def _percentiles(seconds: list[float]) -> dict[str, float] | None:
    if not seconds:
        return None
    p50, p95, most = (round(float(x) * 1000, 4) for x in np.percentile(seconds, [50, 95, 100]))
    return {"p50": p50, "p95": p95, "max": most}
