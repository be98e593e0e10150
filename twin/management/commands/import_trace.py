"""manage.py import_trace: a cluster trace as cluster.json (if it lists machines) and jobs.jsonl (if it lists jobs)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandParser

from twin.files.cluster_json import cluster_with, dump_cluster
from twin.files.jobs_jsonl import job_lines
from twin.files.outputs import writing
from twin.management.atomic_output import atomic_folder
from twin.management.headless import HeadlessCommand, natural, place, positive
from twin.traces import importers
from twin.traces.importers import Choice, Reading, Upload
from twin.traces.importing.imports import ImportResult
from twin.traces.importing.reading import CPU_JOBS, UNITS
from twin.traces.mappings import file as mapping_file
from twin.traces.synthesis import SLOT_MS

WRITTEN = ("cluster.json", "jobs.jsonl", "report.json", "skipped.csv")


class Command(HeadlessCommand):
    help = "Imports a trace and reports every row in report.json."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=place, nargs="+", help="files of one trace: plain text, Parquet, .gz, .zip or .tar.gz"
        )
        parser.add_argument(
            "--format",
            default="auto",
            help="format of the files, as in docs/traces.md; default: detected from their content",
        )
        parser.add_argument(
            "--limit", type=positive, help="maximum number of jobs; the first ones by arrival are imported"
        )
        parser.add_argument("--sample", type=positive, help="size of a random sample of the jobs")
        parser.add_argument(
            "--queue",
            "--group",
            dest="group",
            action="append",
            default=[],
            help="queue (virtual cluster, partition) to import; repeatable; default: all",
        )
        parser.add_argument("--rate", type=float, default=1.0, help="factor of the arrival rate; 2 doubles it")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help="column of a CSV file for a field, or a setting of the mapping; repeatable",
        )
        parser.add_argument("--mapping", type=place, help="file with a column mapping, as saved by the import page")
        parser.add_argument("--time-unit", choices=tuple(UNITS), help="unit of the times that are numbers")
        parser.add_argument("--time-zone", help="time zone of dates that state none, such as Europe/Berlin")
        parser.add_argument(
            "--cpu-jobs",
            choices=CPU_JOBS,
            help="keep or skip jobs without GPUs in accounting records; default: keep them if most jobs have none",
        )
        parser.add_argument(
            "--from-ms",
            "--from",
            type=natural,
            help="start of the time window of arrivals, in ms from the start of the trace",
        )
        parser.add_argument(
            "--to-ms",
            "--to",
            type=positive,
            help="end of the time window of arrivals, in ms from the start of the trace",
        )
        parser.add_argument(
            "--slot-ms",
            type=positive,
            help=f"slot length in ms, of the cluster and of fields that are sampled in slots; default: {SLOT_MS:,}",
        )
        parser.add_argument("--horizon-slots", type=positive, help="horizon of the cluster, in slots")
        parser.add_argument("--seed", type=natural, required=True, help="random seed of sampled fields")
        parser.add_argument("--out", type=place, required=True, help="folder for the files")

    def work(self, **options: Any) -> None:
        paths: list[Path] = options["file"]
        choice = Choice(
            tuple(options["group"]),
            options["from_ms"],
            options["to_ms"],
            options["sample"],
            options["limit"],
            options["rate"],
        )
        with atomic_folder(options["out"], WRITTEN, paths) as folder:
            result = _read(
                [Upload(path) for path in paths], format=options["format"],
                mapping=_mapping(options["map"], options["mapping"]), choice=choice, seed=options["seed"],
                slot_ms=options["slot_ms"], reading=_reading(options),
            )  # fmt: skip
            self._write(folder, result, options)
        self.report(f"{', '.join(path.name for path in paths)} ({result.format}): {result.summary}")
        for warning in result.report["warnings"]:
            self.report(f"warning: {warning}")

    def _write(self, folder: Path, result: ImportResult, options: dict[str, Any]) -> None:
        if result.cluster is not None:
            cluster = cluster_with(result.cluster, options["slot_ms"], options["horizon_slots"])
            with writing(folder / "cluster.json") as file:
                file.write(dump_cluster(cluster))
        if result.jobs:
            with writing(folder / "jobs.jsonl") as file:
                file.writelines(job_lines(result.jobs))
        with writing(folder / "report.json") as file:
            file.write(orjson.dumps(result.report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        with writing(folder / "skipped.csv") as file:
            file.write(gzip.decompress(result.skipped_csv))


def _read(*arguments: Any, **options: Any) -> ImportResult:
    """The import; a format that is not clear can be stated by an option."""
    try:
        return importers.read(*arguments, **options)
    except importers.Unclear as unclear:
        raise importers.ImportRefused(f"{unclear}{unclear.remedy}") from unclear


def _reading(options: dict[str, Any]) -> Reading:
    try:
        return Reading.of(options)
    except ValueError as error:
        raise importers.ImportRefused(str(error)) from error


def _mapping(given: list[str], saved: Path | None) -> dict[str, str] | None:
    """Mapping of a file, changed by that of the options."""
    found = {} if saved is None else mapping_file.loads(saved.read_bytes(), saved.name)
    pairs = [text.partition("=") for text in given]
    wrong = next((name for name, mark, column in pairs if not (name and mark and column)), None)
    if wrong is not None:
        raise importers.ImportRefused(f"--map must be FIELD=COLUMN, got {wrong!r}")
    return {**found, **{name: column for name, _, column in pairs}} or None
