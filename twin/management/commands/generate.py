"""manage.py generate: a paper's workload as cluster.json and jobs.jsonl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from scheduling.colocation.workload import ARRIVALS, SUBSETS
from scheduling.model.measured_speed import trained_at
from scheduling.model.values import ModelError
from scheduling.reporting.quantities import counted
from scheduling.slotted.workload_pd_ors import MIXES
from scheduling.typed_workers.workload import HOUR_MS, PRESETS
from scheduling.workloads import HORIZON, PROFILES, SLOT_MS, generate
from twin.files.cluster_json import check_end, dump_cluster
from twin.files.jobs_jsonl import job_lines
from twin.files.outputs import writing
from twin.files.speed_json import load_speed
from twin.management.atomic_output import atomic_folder
from twin.management.headless import HeadlessCommand, natural, place, positive
from twin.management.speed_option import add_speed_argument
from twin.traces import importers
from twin.traces.replay import replayed

WRITTEN = ("cluster.json", "jobs.jsonl")
OPTIONS = {
    "pd-ors": ("mix", "spread", "kappa", "trace"),
    "a-online": ("preset", "workers", "span_hours", "load", "gang_share", "trace"),
    "harmony": ("subset", "process", "mean_minutes", "trace"),
}  # of one profile only


class Command(HeadlessCommand):
    help = "Generates a cluster and jobs from the ranges of a paper."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--profile", required=True, help=", ".join(PROFILES))
        parser.add_argument(
            "--variant", default="calibrated", help="calibrated (scale of the paper's figures) or literal"
        )
        parser.add_argument("--jobs", type=natural, required=True, help="number of jobs")
        parser.add_argument("--servers", type=positive, default=100, help="number of servers; default: 100")
        parser.add_argument("--seed", type=natural, required=True, help="random seed")
        parser.add_argument(
            "--horizon-slots",
            type=positive,
            help=f"horizon in slots; default: {HORIZON}; none for a-online and harmony",
        )
        parser.add_argument(
            "--slot-ms", type=positive, default=SLOT_MS, help=f"slot length in ms; default: {SLOT_MS:,}"
        )
        shared = parser.add_argument_group("pd-ors only")
        shared.add_argument(
            "--mix", choices=MIXES, help="percentages of time-insensitive, time-sensitive and time-critical jobs"
        )
        shared.add_argument(
            "--spread", type=float, help="sample capacities from 1 - spread to 1 + spread times the paper's"
        )
        shared.add_argument("--kappa", type=float, help="speedup of communication within one server")
        only = parser.add_argument_group("a-online only")
        only.add_argument(
            "--preset", choices=PRESETS, help="simulator (default) or testbed, which always has 8 servers"
        )
        only.add_argument("--workers", type=positive, help="workers per server, instead of 2 or 8 at random")
        only.add_argument(
            "--span-hours",
            type=float,
            help="time span of the arrivals; default: 3,288 h (simulator) or 240 h (testbed)",
        )
        only.add_argument(
            "--load",
            type=float,
            help="load factor: divides the time span of the arrivals, so 2 doubles the arrival rate",
        )
        only.add_argument("--gang-share", type=float, help="workers per gang as a share of the chunks; default: 0.5")
        groups = parser.add_argument_group("harmony only")
        groups.add_argument(
            "--subset",
            choices=SUBSETS,
            help="comp60 or comm60: the three quarters of jobs with the most computation or communication",
        )
        groups.add_argument(
            "--process",
            choices=ARRIVALS[:-1],
            help="arrival process; default: all at once; use --trace for the arrivals of a trace",
        )
        groups.add_argument("--mean-minutes", type=float, help="mean time between two arrivals")
        parser.add_argument(
            "--trace",
            type=place,
            help="trace whose arrivals are replayed (not for oasis); pd-ors also uses its classes; other fields are "
            "sampled",
        )
        add_speed_argument(parser)
        parser.add_argument("--out", type=place, required=True, help="folder for the files")

    def work(self, **options: Any) -> None:
        given = _given(options)
        if options["profile"] == "harmony":
            given = _arrival_process(given, options["seed"])
        elif options["profile"] == "pd-ors" and "trace" in given:
            given |= replayed(given.pop("trace"))
        elif "trace" in given:
            given["arrivals"] = _arrivals(given.pop("trace"), options["jobs"], options["seed"], given.pop("load", 1.0))
        with atomic_folder(options["out"], WRITTEN) as folder:
            cluster, jobs = generate(
                options["profile"], variant=options["variant"], num_jobs=options["jobs"],
                num_servers=options["servers"], seed=options["seed"], horizon_slots=options["horizon_slots"],
                slot_ms=options["slot_ms"], **given,
            )  # fmt: skip
            if options["speed"] is not None:
                speed = load_speed(options["speed"])
                jobs = [trained_at(job, speed) for job in jobs]
            with writing(folder / "cluster.json") as file:
                file.write(dump_cluster(check_end(cluster)))
            with writing(folder / "jobs.jsonl") as file:
                file.writelines(job_lines(jobs))
        self.report(f"{counted(len(jobs), 'job')} and {counted(len(cluster.servers), 'server')} in {options['out']}")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options of the profile that were given; ModelError when one is of another profile."""
    own = OPTIONS.get(options["profile"], ())
    for profile, names in OPTIONS.items():
        for name in names:
            if options[name] is not None and name not in own:
                raise ModelError(
                    f"--{name.replace('_', '-')} is an option of the profile {profile}, not of {options['profile']}"
                )
    return {name: options[name] for name in own if options[name] is not None}


def _arrival_process(given: dict[str, Any], seed: int) -> dict[str, Any]:
    """The options of harmony as its generator takes them."""
    process, trace = given.pop("process", None), given.pop("trace", None)
    if process is not None and trace is not None:
        raise ModelError("--process and --trace cannot be combined; use one of them")
    if trace is not None:
        given["timestamps"] = [float(job.arrival_ms) for job in importers.read(trace, seed=seed).jobs]
        process = "timestamps"
    if process not in (None, "all_at_once") and "mean_minutes" not in given:
        raise ModelError("--mean-minutes is required for this arrival process")
    return given | ({"arrivals": process} if process is not None else {})


def _arrivals(path: Path, count: int, seed: int, load: float) -> list[int]:
    """The arrivals of the first jobs of a trace, from its first on, in whole hours as in the paper."""
    if not load > 0:
        raise ModelError(f"load must be > 0, got {load:g}")
    times = [job.arrival_ms for job in importers.read(path, seed=seed, choice=importers.Choice(limit=count)).jobs]
    if len(times) < count:
        raise ModelError(f"{path.name} has {counted(len(times), 'job')}, but --jobs is {count:,}; request fewer jobs")
    return [int((ms - times[0]) / load) // HOUR_MS * HOUR_MS for ms in times]
