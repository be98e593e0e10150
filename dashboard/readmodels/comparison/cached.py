"""Comparisons in full, of which the recent ones are cached in memory."""

from __future__ import annotations

from collections.abc import Sequence

from twin.analysis.comparison import MAX_DRAWN, Compared, common_instant, side_of
from twin.eventlog.state_cache import Newest
from twin.infra.kept import KEPT
from twin.models import Run


def compared(runs: Sequence[Run]) -> Compared:
    """Comparison of the first MAX_DRAWN runs, up to the time that all of these have reached."""
    drawn = runs[:MAX_DRAWN]
    until_ms = common_instant(drawn)
    key = (until_ms, *((run.pk, run.last_seq, run.status) for run in drawn))
    return KEPT.get(("compared", key), lambda: _read(drawn, until_ms))


def forget() -> None:
    """Removal of all comparisons from the cache."""
    KEPT.clear("compared")


def _read(drawn: Sequence[Run], until_ms: int) -> Compared:
    sides = []
    for run in drawn:
        with Newest(run) as state:
            sides.append(side_of(run, state, until_ms))
    return Compared(sides, until_ms)
