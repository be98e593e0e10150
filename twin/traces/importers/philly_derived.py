"""Derived Philly CSV: `timestamp,duration,num_gpus,gpu_time,cluster` (seconds; local time, no zone; cluster = VC).

Rows are not sorted and have no id: the row number is the id, and equal rows are separate jobs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twin.traces.importers._shared.simulators import gpu_rules
from twin.traces.importing.drafts import Drafts, Read, ReadOptions, Skipped, Source
from twin.traces.uploads.tables import Table, closeness, header

FORMAT = "philly_derived"
TITLE = "Derived Philly CSV"
COLUMNS = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")
MAX_RUN_S = 100 * 366 * 86_400  # a century


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), COLUMNS)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the earliest imported row. A later file continues the row numbers."""
    skipped, rows = Skipped(), 0
    parts: list[np.ndarray] = []
    groups: list[np.ndarray] = []
    for source in sources:
        table = Table(source, COLUMNS, skipped, options)
        for portion in table.portions():
            stamp, seconds, gpus = (
                portion.milliseconds("timestamp"),
                portion.numbers("duration"),
                portion.numbers("num_gpus"),
            )
            good = portion.sift(skipped, (
                ("unreadable_timestamp", np.isnan(stamp), "timestamp"),
                ("unreadable_duration", np.isnan(seconds), "duration"),
                ("run_not_positive", seconds < 0.001, "duration"),
                ("run_too_long", seconds > MAX_RUN_S, "duration"),
                *gpu_rules(gpus, "num_gpus"),
            ))  # fmt: skip
            numbers = rows + portion.lines[good] - 1
            parts.append(np.stack([numbers, stamp[good], np.rint(seconds[good] * 1000), gpus[good]]).astype(np.int64))
            groups.append(np.array(portion.columns["cluster"], dtype=object)[good])
        rows += table.rows
    lines, stamps, run_ms, gpus = np.concatenate(parts, axis=1) if parts else np.empty((4, 0), dtype=np.int64)
    if not len(lines):
        raise skipped.nothing(sources[0].name, rows)
    order = np.argsort(stamps, kind="stable")
    first = int(stamps.min())
    drafts = Drafts(
        keys=lines[order], prefix="p", arrival_ms=stamps[order] - first, run_ms=run_ms[order], workers=gpus[order],
        demand=np.broadcast_to(np.array([1000, -1, -1, -1, -1]), (len(lines), 5)),
        origins={"arrival_ms": "trace", "requested_workers": "trace"}, known={"group": np.concatenate(groups)[order]},
    )  # fmt: skip
    notes = [
        f"{options.reading.first_note(first)}.",
        "One worker has 1 GPU; job pN is data row N.",
    ]
    return Read(rows, skipped, drafts=drafts, notes=notes)
