"""Moment of the real world from which the times of a comparison count."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from twin.models import Run
from twin.moments import moment

NOTE = "Times on this page count from the start of each run, because the runs begin at different moments."


def common_start(runs: Sequence[Run]) -> datetime | None:
    """Run.began_at of all runs; None where they differ, and where no run has one: times then count from 0."""
    starts = {run.began_at for run in runs}
    return starts.pop() if len(starts) == 1 else None


def differing_starts(runs: Sequence[Run]) -> bool:
    """True if the runs count their times from different moments, or some from none."""
    return len({run.began_at for run in runs}) > 1


def common_moment(runs: Sequence[Run], ms: int) -> str:
    """Time of the comparison as text: in UTC if all runs have one start."""
    return moment(ms) if differing_starts(runs) else runs[0].moment(ms)
