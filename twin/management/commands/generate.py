"""manage.py generate: a paper's workload as cluster.json and jobs.jsonl."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from scheduling.workloads import HORIZON, PROFILES, SLOT_MS, generate
from twin.formats.cluster_json import check_end, dump_cluster
from twin.formats.jobs_jsonl import job_lines
from twin.formats.outputs import writing
from twin.management.headless import HeadlessCommand, natural, place, positive
from twin.management.whole import whole_folder

WRITTEN = ("cluster.json", "jobs.jsonl")


class Command(HeadlessCommand):
    help = "Draws a cluster and jobs from the ranges of a paper."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--profile", required=True, help=", ".join(PROFILES))
        parser.add_argument("--variant", default="calibrated", help="calibrated (scale of the paper's figures) or literal")
        parser.add_argument("--jobs", type=natural, required=True)
        parser.add_argument("--servers", type=positive, default=100)
        parser.add_argument("--seed", type=natural, required=True)
        parser.add_argument("--horizon-slots", type=positive, default=HORIZON)
        parser.add_argument("--slot-ms", type=positive, default=SLOT_MS)
        parser.add_argument("--out", type=place, required=True)

    def work(self, **options: Any) -> None:
        with whole_folder(options["out"], WRITTEN) as folder:
            cluster, jobs = generate(
                options["profile"], variant=options["variant"], num_jobs=options["jobs"], num_servers=options["servers"],
                seed=options["seed"], horizon_slots=options["horizon_slots"], slot_ms=options["slot_ms"],
            )  # fmt: skip
            with writing(folder / "cluster.json") as file:
                file.write(dump_cluster(check_end(cluster)))
            with writing(folder / "jobs.jsonl") as file:
                file.writelines(job_lines(jobs))
        self.tell(f"{len(jobs)} jobs and {len(cluster.servers)} servers in {options['out']}")
