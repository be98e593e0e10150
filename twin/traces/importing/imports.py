"""Import of uploaded files to jobs and a cluster, with a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scheduling.model.values import Cluster, ModelError
from twin.files.job_table import JobTable
from twin.files.packed_jobs import PackedJobs
from twin.traces import synthesis
from twin.traces.importing.choice import Choice
from twin.traces.importing.chosen_jobs import PREVIEW, FirstJobs, chosen_jobs
from twin.traces.importing.drafts import ImportRefused, Skipped
from twin.traces.importing.parsing import Part, named_refusal, parse, part_of, ticking
from twin.traces.importing.reading import AS_STATED, Reading
from twin.traces.importing.report import Origins, build_report
from twin.traces.uploads.openfile import Upload


@dataclass
class ImportResult:
    """Result of an import: jobs sorted by arrival, the machines if the source lists them, the report."""

    jobs: PackedJobs
    cluster: Cluster | None
    report: dict[str, Any]
    skipped_csv: bytes  # gzipped
    preview: list[dict[str, Any]]
    format: str
    summary: str


def read(
    uploads: Path | Sequence[Upload], *, filename: str = "", format: str = "auto",
    mapping: Mapping[str, Any] | None = None, choice: Choice | None = None, seed: int = 0, slot_ms: int | None = None,
    reading: Reading = AS_STATED, progress: Callable[[float], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False, parsed: list[Part] | None = None,
) -> ImportResult:  # fmt: skip
    """Import of the files of one upload. ImportRefused states the reason in one sentence; nothing is imported in part.

    slot_ms: slot length that sampled fields and the cluster use (synthesis.SLOT_MS when None); mapping: see
    mapped_csv.py; parsed: what `parse` has made of the same files with the same options.
    """
    choice = choice or Choice()
    parts = parsed or parse(
        uploads, filename, format, mapping, seed, slot_ms, reading, part_of(progress, 0, 0.6), cancelled
    )
    slot, name = slot_ms or synthesis.SLOT_MS, parts[0].file
    origins, outside_range, preview = Origins(), Counter[str](), FirstJobs(PREVIEW)
    tables = chosen_jobs(parts, choice, seed, slot, ticking(part_of(progress, 0.6, 1), cancelled), outside_range)
    try:
        jobs = PackedJobs.of(_watched(tables, origins, preview))
    except (ImportRefused, ModelError) as error:
        raise named_refusal(name, error) from error
    reads = [part.read for part in parts]
    cluster = next((read.cluster for read in reads if read.cluster), None)
    report = build_report([part.format for part in parts], reads, jobs.count, origins, outside_range, seed, slot)
    if not jobs.count and cluster is None:
        raise ImportRefused(f"{name}: no jobs remain to import: {report['summary']}")
    progress(1.0)
    skipped = Skipped.joined([read.skipped for read in reads])
    return ImportResult(jobs, cluster, report, skipped, preview.rows, report["format"], report["summary"])


def _watched(tables: Iterator[JobTable], origins: Origins, preview: FirstJobs) -> Iterator[JobTable]:
    def watched(table: JobTable) -> JobTable:
        origins.add(table)
        preview.add(table)
        return table

    return map(watched, tables)  # keeps no table until the next one is made
