"""Comparisons in full, of which the recent ones are cached in memory."""

from __future__ import annotations

from collections.abc import Sequence

from twin.analysis.comparison import MAX_IN_FULL, Compared, common_instant, side_of
from twin.eventlog.state_cache import Newest
from twin.infra.kept import KEPT
from twin.models import Run


def compared(runs: Sequence[Run]) -> Compared:
    """Comparison of the first MAX_IN_FULL runs, up to the time that all of these have reached."""
    in_full = runs[:MAX_IN_FULL]
    until_ms = common_instant(in_full)
    key = (until_ms, *((run.pk, run.last_seq, run.status) for run in in_full))
    return KEPT.get(("compared", key), lambda: _read(in_full, until_ms))


def forget() -> None:
    """Removal of all comparisons from the cache."""
    KEPT.clear("compared")


def _read(in_full: Sequence[Run], until_ms: int) -> Compared:
    sides = []
    for run in in_full:
        with Newest(run) as state:
            sides.append(side_of(run, state, until_ms))
    return Compared(sides, until_ms)
