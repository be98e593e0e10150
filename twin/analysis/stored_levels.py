"""Stored levels of detail of large runs, in the place of their folded states; a missing one is computed again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from django.db.models import Case, F, Q, QuerySet, Value, When

from twin.analysis import levels
from twin.analysis.thumbnail import PER_CENT, largest
from twin.eventlog import stored_states
from twin.eventlog.large_runs import all_large
from twin.infra.columns import unpack
from twin.infra.kept import KEPT
from twin.models import EventBatch, FoldedState, Run

VERSION = 1_000_003  # far from those of state_codec, in the same column; raised with each change of the levels
MAX_BEHIND_SHARE = 4  # of the stored events, before the levels of a run in progress are made again
MAX_EXACT_EVENTS = 50_000  # of the log that a window is folded from


class Stored(NamedTuple):
    """Levels of a run."""

    meta: dict[str, Any]
    columns: dict[str, np.ndarray]

    @property
    def raster(self) -> np.ndarray:
        """[row, column, scale] of the finest level."""
        return self.columns["raster"].reshape(len(self.meta["rows"]), -1, len(self.meta["scale"]))


def due() -> int | None:
    """The newest large run whose levels are to be made."""
    return all_due().order_by("-pk").values_list("pk", flat=True).first()


def all_due() -> QuerySet[Run]:
    """Large runs whose levels are to be made."""
    stored = Case(When(folded__version=VERSION, then=F("folded__seq")), default=Value(0))
    runs = Run.objects.filter(all_large()).annotate(stored=stored).filter(last_seq__gt=F("stored"))
    behind = Q(last_seq__gt=F("stored") + F("stored") / MAX_BEHIND_SHARE)
    return runs.filter(behind | ~Q(status__in=Run.ACTIVE))


def bring_up(run_id: int) -> None:
    """Levels up to the newest event, stored."""
    run = Run.objects.select_related("scenario").get(pk=run_id)
    stored_states.store(run_id, VERSION, run.last_seq, run.sim_ms, levels.build(run))


def of(run: Run) -> Stored | None:
    """Stored levels of a run; None before the first, or if its log cannot be folded."""
    row = FoldedState.objects.filter(run_id=run.pk, version=VERSION)
    seq = row.values_list("seq", flat=True).first()
    if seq is None:
        return None

    def read() -> Stored | None:
        payload = row.values_list("payload", flat=True).first()
        return Stored(*unpack(payload)) if payload else None

    return KEPT.get(("levels", run.pk, seq), read)


def given_up(run: Run) -> bool:
    """True if the levels of the whole log could not be computed."""
    return FoldedState.objects.filter(run_id=run.pk, version=VERSION, payload=b"", seq__gte=run.last_seq).exists()


def shares(found: Stored, from_ms: int, to_ms: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(edges, the two rasters of thumbnail.raster) of the finest intervals, or of means of those with capacity."""
    fine, raster = found.columns["edges"], found.raster
    first = int(np.clip(np.searchsorted(fine, from_ms, side="right") - 1, 0, len(fine) - 2))
    last = int(np.clip(np.searchsorted(fine, to_ms), first + 1, len(fine) - 1))
    chosen = np.unique(np.linspace(first, last, columns + 1).astype(np.int64))
    known = raster[:, :last] != levels.NONE
    sums = np.add.reduceat(np.where(known, raster[:, :last], 0), chosen[:-1], axis=1)
    counted = np.add.reduceat(known, chosen[:-1], axis=1, dtype=np.int64)
    means = -(-sums * PER_CENT // (np.maximum(counted, 1) * levels.FULL))
    return fine[chosen], *largest(np.where(counted > 0, means, -1))


def counts(found: Stored, name: str, edges: np.ndarray) -> list[int]:
    """Number of jobs whose time of this name is in each interval; the last one includes its end."""
    times = found.columns[name]
    return np.histogram(times[times >= 0], bins=edges)[0].tolist()


def listed(run: Run, found: Stored, from_ms: int, to_ms: int) -> np.ndarray | None:
    """[bar, BAR_FIELDS] of a window; None if it is too long to be read from the log for a page."""
    ahead = np.flatnonzero(found.columns["reach_ms"] > from_ms)
    after = int(found.columns["reach_seq"][ahead[0]]) if len(ahead) else run.last_seq
    batches = EventBatch.objects.filter(run_id=run.pk, first_ms__lte=to_ms).order_by("-last_seq")
    last = batches.values_list("last_seq", flat=True).first() or 0
    return levels.exact(run, after, from_ms, to_ms) if last - after <= MAX_EXACT_EVENTS else None
