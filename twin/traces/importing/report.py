"""The report of an import: every row accounted for, every field with its origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scheduling.reporting.quantities import counted
from twin.files.job_table import MISSING, JobTable
from twin.traces.importing.choice import MAX_INT
from twin.traces.importing.drafts import Drafts, ImportRefused, Read, Source
from twin.traces.importing.plausible import doubts

YEAR_MS = 366 * 86_400_000
MAX_RUN_MS = 100 * YEAR_MS


class Origins:
    """{field: {trace | derived | drawn: jobs}}, counted table by table."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}

    def add(self, table: JobTable) -> None:
        """Addition of one more table."""
        if table.provenance is None:
            return
        found = Counter(table.provenance.codes.tolist())
        for code, jobs in found.items():
            if code != MISSING:
                for name, origin in table.provenance.words[code].items():
                    self.counts.setdefault(name, Counter())[origin] += jobs

    def plain(self) -> dict[str, dict[str, int]]:
        """Plain data, sorted."""
        return {name: dict(sorted(counter.items())) for name, counter in sorted(self.counts.items())}


def check_lines(files: Sequence[Source], rows: int, others: int) -> int:
    """The number of lines of the files; ImportRefused if a reader has lost one."""
    counts = [source.lines for source in files if source.lines is not None]
    lines = sum(counts) if len(counts) == len(files) else rows + others
    if lines != rows + others:
        names = ", ".join(source.name for source in files)
        raise ImportRefused(
            f"{names}: {counted(lines, 'line')}, but {counted(rows, 'row')} and {others:,} other lines were read; "
            "this is an error of the importer: report it with the file"
        )
    return lines


def in_unit(drafts: Drafts, factor: float) -> Drafts:
    """Jobs whose times are in another unit, `factor` times as long."""

    def scaled(column: np.ndarray) -> np.ndarray:
        return np.rint(column * factor).astype(np.int64)

    longest_ms, last_ms = (float(column.max()) * factor for column in (drafts.run_ms, drafts.arrival_ms))
    if longest_ms > MAX_RUN_MS or last_ms > MAX_INT:  # before any of them is an int64
        raise ImportRefused(
            f"in this unit a job runs for {longest_ms / YEAR_MS:,.0f} years and the arrivals span "
            f"{last_ms / YEAR_MS:,.0f}; select a smaller unit"
        )
    known = {
        name: np.where(column >= 0, np.maximum(1, np.rint(column * factor)), column)
        if name in ("limit_ms", "target_ms") else column
        for name, column in drafts.known.items()
    }  # fmt: skip
    run_ms = np.maximum(1, scaled(drafts.run_ms))
    return replace(drafts, arrival_ms=scaled(drafts.arrival_ms), run_ms=run_ms, known=known)


def build_report(
    formats: Sequence[str],
    reads: Sequence[Read],
    jobs: int,
    origins: Origins,
    outside_range: Counter[str],
    seed: int,
    slot_ms: int,
) -> dict[str, Any]:
    """rows = jobs and servers imported + outside the choice + merged + skipped, and the counts behind each."""
    rows = sum(read.rows for read in reads)
    skipped = sum(len(read.skipped) for read in reads)
    merged = sum(read.merged for read in reads)
    servers = sum(len(read.cluster.servers) for read in reads if read.cluster)
    drafted = sum(
        len(found) for read in reads if (found := read.drafts if read.drafts is not None else read.jobs) is not None
    )
    outside = drafted - jobs
    left = rows - drafted - merged - skipped  # rows of servers, of which one may be many servers
    if left < 0 or (left > 0 and not servers):
        raise ImportRefused(
            f"{counted(rows, 'row')} read, but {counted(drafted, 'job')}, {merged:,} merged and {skipped:,} skipped "
            "rows do not add up to that; this is an error of the importer: report it with the file"
        )
    parts = [f"{counted(rows, 'row')} read"]
    if drafted:
        parts.append(f"{counted(jobs, 'job')} imported")
    if servers:
        parts.append(f"{counted(servers, 'server')} imported")
    if merged:
        parts.append(f"{merged:,} merged into jobs or servers")
    if outside:
        parts.append(f"{outside:,} not selected")
    parts.append(f"{skipped:,} skipped")
    counts: Counter[str] = Counter()
    listed: list[dict[str, Any]] = []
    for read in reads:
        counts.update(read.skipped.counts)
        listed += read.skipped.listed
    return {
        "format": " + ".join(formats),
        "rows": rows,
        "imported": jobs + servers,
        "jobs": jobs,
        "servers": servers,
        "merged": merged,
        "not_selected": outside,
        "skipped": sorted(listed, key=lambda row: (row["file"], row["line"])),
        "skipped_counts": dict(counts),
        "provenance": origins.plain(),
        "outside_range": {name: count for name, count in sorted(outside_range.items()) if count},
        "notes": [note for read in reads for note in read.notes],
        "warnings": doubts(reads),
        "lines": sum(read.lines for read in reads),
        "seed": seed,
        "slot_ms": slot_ms,
        "summary": ", ".join(parts),
    }
