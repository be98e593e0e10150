"""Muri trace: Tiresias' columns and `batch_size,iteration_time,resource_time_0..2,priority`, in **milliseconds**.

Recognized by `iteration_time`. The duration is taken as given (iterations x iteration_time is close to it, not
equal); `interval` is not the gap between arrivals in most rows and is not used.
"""

from __future__ import annotations

from collections.abc import Sequence

from twin.traces.importers._shared.simulators import read_gangs
from twin.traces.importing.drafts import Read, ReadOptions, Source
from twin.traces.uploads.tables import closeness, header, positions

FORMAT = "muri"
TITLE = "Muri simulator trace"
TIME_UNIT = "ms"
OWN = "iteration_time"  # the column that no similar format has
NEEDED = ("job_id", "num_gpu", "submit_time", "iterations", "model_name", "batch_size", "duration")


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), (*NEEDED, OWN))


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the first job. A row may end before `iteration_time`, which is not read."""
    for source in sources:
        positions(source, (*NEEDED, OWN), header(source.head))
    return read_gangs(
        sources, options, NEEDED, 1, ["Times are milliseconds, because the column iteration_time is present."]
    )
