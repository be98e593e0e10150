"""Chronus simulator trace: the columns of Tiresias and `user,expect_time_list,expect_value_list,best_effort,job_type`.

Times are **minutes**. `user` is a virtual cluster. `expect_time_list` is `105` or `65-105-145-185`, counted from the
submission: when the job is worth the values of `expect_value_list`; the first is its target. In jobs with best_effort 1
it is only filled in, and they have no target.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twin.traces.importers._shared.simulators import read_gangs, stray
from twin.traces.importing.drafts import Read, ReadOptions, Source
from twin.traces.uploads.tables import Portion, as_floats, closeness, header

FORMAT = "chronus"
TITLE = "Chronus simulator trace"
TIME_UNIT = "min"
NEEDED = (
    "job_id", "user", "num_gpu", "submit_time", "iterations", "model_name", "duration", "expect_time_list",
    "best_effort",
)  # fmt: skip
OWN = "expect_time_list"  # the column that no similar format has
OTHERS = ("interval", "expect_value_list", "job_type")  # which a file may have
MINUTE_MS = 60_000


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    cells = header(head)
    fits, why, share = closeness(cells, NEEDED)
    other = stray(cells, (*NEEDED, *OTHERS)) if fits else ""
    return fits and not other, other or why, share / 2 if other else share


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the first job."""
    notes = [
        "Times are minutes.",
        "The first of expect_time_list is the target of a job's utility; best-effort jobs have none.",
        "The column “user” names the virtual cluster, which is the queue.",
    ]
    return read_gangs(sources, options, NEEDED, MINUTE_MS, notes, group="user", target=_target)


def _target(portion: Portion) -> NDArray[np.float64]:
    first = as_floats([text.partition("-")[0] for text in portion.columns["expect_time_list"]])
    return np.where(portion.numbers("best_effort") == 1, np.nan, first)
