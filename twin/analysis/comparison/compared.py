"""Comparison of runs that are read once and matched job by job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from scheduling.model.values import Cluster, Job, ModelError
from scheduling.reporting.metric_table import value_of
from scheduling.reporting.run_metrics import Packed
from twin.analysis.changed_jobs import changes
from twin.analysis.comparability import Basis, basis_of, kin, rankable, recorded
from twin.analysis.comparison import differences
from twin.analysis.comparison.breakdowns import breakdowns
from twin.analysis.comparison.decisions import Decisions, decisions_of
from twin.analysis.comparison.distributions import distributions
from twin.analysis.comparison.divergence import Divergence, first_divergence
from twin.analysis.comparison.metrics import metrics_of, slowdown, unknown
from twin.analysis.comparison.outcomes import FOREVER, Outcomes, believed, outcomes_of
from twin.eventlog.fold import BAR_FIELDS, RunState
from twin.files.stored_jobs import field_of
from twin.mirror.reached import reached_ms
from twin.models import Run
from twin.scenarios import store

STEP_MS = 10_000  # between two times that a followed cluster has reached: one comparison serves all requests of it
MAX_RUNS = 24  # in the table of metrics
MAX_IN_FULL = 6  # compared in full: the first ones
SLOWDOWN = "lanes.mean_slowdown"
NO_JOBS = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
NO_BARS = np.empty((0, len(BAR_FIELDS)), dtype=np.int64)


@dataclass(frozen=True)
class Side:
    """Run of a comparison, up to the time compared."""

    run_id: int
    clusters: Sequence[tuple[int, Cluster]]  # when each cluster began; one unless the run was edited on the way
    jobs: Sequence[Job]
    decisions: Decisions
    outcomes: Outcomes
    bars: np.ndarray  # those believed at the instant
    packed: Packed  # resources that servers run out of, by phase
    basis: Basis
    metrics: Mapping[str, Any]  # that the run keeps since its end; empty before

    @property
    def cluster(self) -> Cluster:
        """Cluster with the server indices of the log."""
        return self.clusters[-1][1]


def common_instant(runs: Sequence[Run]) -> int:
    """Time that all runs have reached: FOREVER if all have finished; runs without events do not count."""
    return min((_complete_ms(run) for run in runs if run.status != Run.FINISHED and run.last_seq), default=FOREVER)


def _complete_ms(run: Run) -> int:
    """Newest time up to which the log of a run has all events: a run can stop within an instant.

    For a run that was cancelled or has failed, the next event is no longer known, so its last instant is not counted.
    The log of a cluster that is followed has all events up to the newest poll, also while there are none.
    """
    if not run.mode_rules.simulated:
        return max(run.sim_ms, reached_ms(run) // STEP_MS * STEP_MS)
    within = run.next_event_ms in (None, run.sim_ms)
    return run.sim_ms - 1 if within else run.sim_ms


def side_of(run: Run, state: RunState, until_ms: int) -> Side:
    """Side of the comparison from the folded state of a run."""
    cluster, jobs = store.of_run(run)
    decisions = decisions_of(state, cluster)
    return Side(
        run.pk,
        store.clusters(run),
        jobs,
        decisions,
        outcomes_of(state, decisions, cluster, len(jobs), until_ms),
        believed(state, until_ms),
        store.packed_by_phase(run),
        basis_of(run),
        run.metrics or {},
    )


class Compared:
    """Up to MAX_IN_FULL sides; the first is the base. ModelError when they have no job in common."""

    def __init__(self, sides: Sequence[Side], until_ms: int = FOREVER) -> None:
        self.until_ms = until_ms
        self.rows = _matched([side.jobs for side in sides])  # of each side, [shared job] its index
        if not len(self.rows[0]) and not any(recorded(side.basis.models) for side in sides):
            names = ", ".join(str(side.run_id) for side in sides)
            raise ModelError(f"runs {names} have no common job ids; compare runs of the same trace")
        pairs = list(zip(sides, self.rows, strict=True))
        self.same_trace = [kin(side.basis, sides[0].basis) for side in sides]  # as the base
        base = sides[0]
        self.changes = [  # of each side against the base; None where metrics are not ranked anyway
            changes(base.jobs, side.jobs, (base.basis.slot_ms, side.basis.slot_ms))
            if rankable(side.basis, base.basis)
            else None
            for side in sides
        ]
        done = np.logical_and.reduce([side.outcomes.completed_ms[rows] >= 0 for side, rows in pairs])
        for change in self.changes:
            if change is not None:
                done &= ~change.work[self.rows[0]]
        self.metrics = [  # {key: value} of each side
            metrics_of(side.outcomes, side.bars, side.clusters, side.jobs, until_ms, rows[done], side.packed)
            | _slowdown(side, until_ms)
            | unknown(side.basis.models)
            for side, rows in pairs
        ]
        self.sides = [replace(side, bars=NO_BARS) for side in sides]  # nothing else needs them, and they are large

    @cached_property
    def distributions(self) -> list[dict[str, Any]]:
        return distributions(self._outcomes)

    @cached_property
    def breakdowns(self) -> dict[str, list[dict[str, Any]]]:
        def ranked(key: str) -> list[bool]:
            return [change is not None and change.ranked(key, common=True) for change in self.changes]

        base = (self.sides[0].jobs, self.rows[0])
        jobs = [  # as in the base, whatever edits change; jobs of another trace are other jobs
            base if alike else (side.jobs, own) for (side, own), alike in zip(self._pairs, self.same_trace, strict=True)
        ]
        return breakdowns(self._outcomes, jobs, ranked)

    @cached_property
    def kinds(self) -> list[np.ndarray]:
        """Kinds of difference from the base (differences.BIT) of each side, [shared job].

        Nothing for the base itself, nor for a run of another trace: there a job with the same id is another job.
        """
        base, rows = self.sides[0], self.rows[0]
        return [
            differences.kinds(base.outcomes, side.outcomes, (rows, own), self._from_ms(side))
            if alike and side is not base
            else np.zeros(len(rows), np.uint8)
            for (side, own), alike in zip(self._pairs, self.same_trace, strict=True)
        ]

    @cached_property
    def accounts(self) -> list[dict[str, int]]:
        """Accounts of the jobs that have arrived in each side or in the baseline: differences.account."""
        base, found = self.sides[0], []
        for (side, own), mask, alike in zip(self._pairs, self.kinds, self.same_trace, strict=True):
            rows = (self.rows[0], own) if alike else NO_JOBS
            pair = rows if len(self.sides) == 2 or not alike else _matched([base.jobs, side.jobs])
            found.append(differences.account(base.outcomes, side.outcomes, rows, (pair[0], pair[1]), mask))
        return found

    @cached_property
    def divergences(self) -> list[Divergence | None]:
        """First divergence of each side from the base; None also for a run of another trace.

        Where one is cut from a real cluster, from the cut on, without the jobs that ran then: it assigns them again.
        """
        return [
            self._divergence(side, rows) if alike and side is not self.sides[0] else None
            for (side, rows), alike in zip(self._pairs, self.same_trace, strict=True)
        ]

    def _divergence(self, side: Side, rows: np.ndarray) -> Divergence | None:
        base, from_ms = self.sides[0], self._from_ms(side)
        pair = ((base, self.rows[0]), (side, rows))
        starts = [one.outcomes.start_ms[own] for one, own in pair]
        ran = np.logical_or.reduce([(ms >= 0) & (ms < from_ms) for ms in starts])
        places = [_places(own[~ran], len(one.jobs), np.flatnonzero(~ran)) for one, own in pair]
        return first_divergence(base.decisions, side.decisions, (places[0], places[1]), self.until_ms, from_ms)

    def _from_ms(self, side: Side) -> int:
        """Time from which on the side can be compared with the base."""
        return max(side.basis.from_ms, self.sides[0].basis.from_ms)

    @property
    def _pairs(self) -> list[tuple[Side, np.ndarray]]:
        return list(zip(self.sides, self.rows, strict=True))

    @property
    def _outcomes(self) -> list[tuple[Outcomes, np.ndarray]]:
        return [(side.outcomes, rows) for side, rows in self._pairs]


def _slowdown(side: Side, until_ms: int) -> dict[str, float | None]:
    """Slowdown as stored with the run if the whole run is compared: its computation reads every job."""
    kept = value_of(side.metrics, SLOWDOWN)
    if until_ms == FOREVER and kept is not None and len(side.basis.models) == 1:
        return {SLOWDOWN: kept}
    return slowdown(side.outcomes, side.clusters, side.jobs, side.basis.models)


def _matched(lists: Sequence[Sequence[Job]]) -> list[np.ndarray]:
    """Indices, in each list, of the jobs that all lists have, in the order of the first list."""
    if all(jobs is lists[0] for jobs in lists):
        return [np.arange(len(lists[0]))] * len(lists)
    indexes = [{name: i for i, name in enumerate(field_of(jobs, "id"))} for jobs in lists]
    ids = [name for name in indexes[0] if all(name in index for index in indexes)]
    return [np.array([index[name] for name in ids], dtype=np.int64) for index in indexes]


def _places(rows: np.ndarray, jobs: int, positions: np.ndarray) -> np.ndarray:
    place = np.full(jobs, -1)
    place[rows] = positions
    return place
