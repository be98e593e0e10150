"""Rule for the cells of a comparison that are ranked: those that measure the same as the baseline, of the same jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from twin.analysis.changed_jobs import Changes
from twin.analysis.measured_alike import Measured, difference


class Reasons(NamedTuple):
    """Rank of a cell or none, and the reason beside it where the notes on the comparison state none."""

    ranked: bool
    why: str | None = None


def reasons_of(
    key: str, runs: Sequence[Measured], values: Sequence[Mapping[str, Any]], changed: Sequence[Changes | None]
) -> list[Reasons]:
    """Reasons of each run, for a metric. changed: of its jobs against the first; None where no metric can be ranked."""
    found = []
    for run, row, change in zip(runs, values, changed, strict=True):
        if change is None or not change.ranked(key) or not row.get(f"{key}_ranked", True):
            found.append(Reasons(False, run.part(key)))
            continue
        why = difference(key, run, runs[0]) if row.get(key) is not None else None
        found.append(Reasons(why is None, why or run.part(key)))
    return found
