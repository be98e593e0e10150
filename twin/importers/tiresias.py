"""Tiresias simulator trace: `job_id,num_gpu,submit_time,iterations,model_name,duration,interval`, times in seconds.

`interval` is the gap to the next arrival and not needed. A file with the single column `duration` has no arrivals and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from twin.importers.drafts import Ask, ImportRefused, Read, Source
from twin.importers.simulators import read_gangs
from twin.importers.tables import closeness, header

FORMAT = "tiresias"
TITLE = "Tiresias simulator trace"
COLUMNS = ("job_id", "num_gpu", "submit_time", "iterations", "model_name", "duration")
OTHERS = ("iteration_time", "ddl")  # of Muri, where the same names count milliseconds, and of ElasticFlow


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header; a list of durations fits, so that it is refused by name."""
    cells = header(head)
    if cells == ["duration"]:
        return True, "the single column of a list of durations", 1.0
    other = [name for name in OTHERS if name in cells]
    fits, why, share = closeness(cells, COLUMNS)
    return fits and not other, f"the column {other[0]!r} is of another dialect" if other else why, share / 2 if other else share


def read(sources: Sequence[Source], ask: Ask) -> Read:
    """Rows to drafts; arrival counts from the first job."""
    for source in sources:
        if header(source.head) == ["duration"]:
            raise ImportRefused(
                f"{source.name}: line 1: the only column is duration: nothing says when the jobs arrive or how many GPUs they take; "
                f"a trace has the columns {','.join(COLUMNS)}"
            )
    return read_gangs(sources, ask, COLUMNS, 1000, "trace", ["Times are seconds."])
