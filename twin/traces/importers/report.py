"""The report of an import: every row accounted for, every field with its origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from twin.files.job_table import MISSING, JobTable
from twin.infra.counts import counted
from twin.traces.importers.drafts import Read


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


def build_report(
    formats: Sequence[str],
    reads: Sequence[Read],
    jobs: int,
    origins: Origins,
    clamped: Counter[str],
    seed: int,
    slot_ms: int,
) -> dict[str, Any]:
    """rows = jobs and machines imported + outside the choice + merged + skipped, and the counts behind each."""
    rows = sum(read.rows for read in reads)
    skipped = sum(len(read.skipped) for read in reads)
    merged = sum(read.merged for read in reads)
    machines = sum(len(read.cluster.servers) for read in reads if read.cluster)
    drafted = sum(
        len(found) for read in reads if (found := read.drafts if read.drafts is not None else read.jobs) is not None
    )
    outside = drafted - jobs
    parts = [f"{counted(rows, 'row')} read"]
    if drafted:
        parts.append(f"{counted(jobs, 'job')} imported")
    if machines:
        parts.append(f"{counted(machines, 'machine')} imported")
    if merged:
        parts.append(f"{merged:,} merged into jobs or machines")
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
        "imported": jobs + machines,
        "jobs": jobs,
        "machines": machines,
        "merged": merged,
        "outside_window": outside,
        "skipped": sorted(listed, key=lambda row: (row["file"], row["line"])),
        "skipped_counts": dict(counts),
        "provenance": origins.plain(),
        "clamped": {name: count for name, count in sorted(clamped.items()) if count},
        "notes": [note for read in reads for note in read.notes],
        "seed": seed,
        "slot_ms": slot_ms,
        "summary": ", ".join(parts),
    }
