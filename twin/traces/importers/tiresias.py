"""Tiresias simulator trace: `job_id,num_gpu,submit_time,iterations,model_name,duration,interval`, times in seconds.

`interval` is the gap to the next arrival and not needed. A file with the single column `duration` has no arrivals and
is refused. Chronus and Muri have these columns too, with times in minutes and milliseconds: their files are refused.
One with other columns is read in seconds only if the user selects this format.
"""

from __future__ import annotations

from collections.abc import Sequence

from twin.traces.importers import chronus, muri
from twin.traces.importers._shared.simulators import read_gangs, stray
from twin.traces.importing.drafts import ImportRefused, Read, ReadOptions, Source
from twin.traces.uploads.tables import closeness, header

FORMAT = "tiresias"
TITLE = "Tiresias simulator trace"
TIME_UNIT = "s"
COLUMNS = ("job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration")
OTHERS = ("interval",)  # which a file may have
UNITS = {"min": "minutes", "ms": "milliseconds"}


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header; a list of durations fits, so that it is refused by name."""
    cells = header(head)
    if cells == ["duration"]:
        return True, "the single column of a list of durations", 1.0
    fits, why, share = closeness(cells, COLUMNS)
    other = stray(cells, (*COLUMNS, *OTHERS)) if fits else ""
    return fits and not other, other or why, share / 2 if other else share


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the first job."""
    for source in sources:
        cells = header(source.head)
        if cells == ["duration"]:
            raise ImportRefused(
                f"{source.name}: line 1: the only column is duration: arrivals and GPUs of the jobs are missing; "
                f"a trace has the columns {','.join(COLUMNS)}"
            )
        for other, column in ((chronus, chronus.OWN), (muri, muri.OWN)):
            if column in cells:
                raise ImportRefused(
                    f"{source.name}: line 1: the column {column!r} belongs to the format {other.TITLE}, whose times "
                    f"are {UNITS[other.TIME_UNIT]}; this format would read them as seconds. Select "
                    f"{other.TITLE}, or let the format be detected."
                )
    return read_gangs(sources, options, COLUMNS, 1000, ["Times are seconds."])
