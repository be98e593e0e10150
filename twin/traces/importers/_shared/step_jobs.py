"""Jobs of Gavel and Shockwave traces: tab-separated rows without a header, each a job of some steps on some GPUs.

The row number is the id. A later file continues the row numbers as a new group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.traces.importers._shared.models import known_models
from twin.traces.importers._shared.simulators import ONE_GPU
from twin.traces.importing.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.lines import first_lines
from twin.traces.uploads.tables import Portion, Table

TYPE = re.compile(r"(.{1,100}?)(?: \(batch size (\d{1,9})\))?")
NUMBERS = ("row", "arrival ms", "run ms", "GPUs", "steps", "global batch")  # of each job, in this order
ReadPortion = Callable[[Portion, Skipped], tuple[NDArray[np.bool_], NDArray[np.float64], list[str]]]


class JobType(NamedTuple):
    """Model and batch size; "" and 0 where they are unreadable."""

    model: str
    batch: int


def typed(texts: Sequence[str]) -> dict[str, JobType]:
    """Each type of job, such as "LM (batch size 10)"."""
    found = {text: TYPE.fullmatch(text) for text in set(texts)}
    return {text: JobType(match[1], int(match[2] or 0)) if match else JobType("", 0) for text, match in found.items()}


def read_step_jobs(
    sources: Sequence[Source], options: ReadOptions, names: Mapping[int, Sequence[str]], used: Sequence[str], *,
    what: str, prefix: str, read_portion: ReadPortion, notes: Sequence[str],
) -> Read:  # fmt: skip
    """Rows to drafts; arrival counts from the first job.

    names: of the columns by their number; used: those that are read. what: the sentence of the refusal that says what
    a file has. read_portion: good rows, NUMBERS of every row, and the model of every row.
    """
    skipped, rows = Skipped(), 0
    parts: list[NDArray[np.float64]] = []
    models: list[str] = []
    groups: list[str] = []
    for source in sources:
        width = len((first_lines(source.head, 1) or [b""])[0].split(b"\t"))
        if width not in names:
            raise ImportRefused(f"{source.name}: line 1: {width} cells between tabs; {what}")
        table = Table(source, used, skipped, options, names=names[width], mark="\t")
        for portion in table.portions():
            good, numbers, types = read_portion(portion, skipped)
            numbers[0] += rows
            parts.append(numbers[:, good])
            models += [types[row] for row in np.flatnonzero(good).tolist()]
            groups += [safe_name(source.name)] * int(good.sum())
        rows += table.rows
    if not models:
        raise skipped.nothing(sources[0].name, rows)
    number, arrival, run, gpus, steps, batch = np.concatenate(parts, axis=1)
    order = np.argsort(arrival, kind="stable")
    arrival = np.rint(arrival[order]).astype(np.int64)
    known = {**known_models(models), "iterations": steps, "global_batch": batch}
    if len(sources) > 1:
        known["group"] = np.array(groups, dtype=object)
    drafts = Drafts(
        keys=number[order].astype(np.int64), prefix=prefix, arrival_ms=arrival - arrival[0],
        run_ms=np.maximum(1, np.rint(run[order])).astype(np.int64), workers=gpus[order].astype(np.int64),
        demand=np.broadcast_to(ONE_GPU, (len(order), 5)), known={name: column[order] for name, column in known.items()},
        origins={
            "arrival_ms": "trace", "requested_workers": "trace", "worker": "trace", "model": "trace",
            "gradient_mb": "derived", "iterations": "trace", "global_batch": "derived",
        },
    )  # fmt: skip
    return Read(rows, skipped, drafts=drafts, notes=list(notes))
