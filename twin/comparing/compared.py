"""The comparison itself: runs read once, matched job by job, and asked for what the page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from scheduling.model import Cluster, Job, ModelError
from twin import scenarios
from twin.comparing import decisions, differences
from twin.comparing.decisions import Decisions
from twin.comparing.distributions import distributions
from twin.comparing.divergence import Parting, first_parting
from twin.comparing.figures import figures
from twin.comparing.groups import groups
from twin.comparing.lives import FOREVER, Lives, believed, lives_of
from twin.models import Run
from twin.state import BAR_FIELDS, RunState

MOST_RUNS = 24  # in the table of figures
MOST_DRAWN = 6  # compared in full: the first ones
NO_BARS = np.empty((0, len(BAR_FIELDS)), dtype=np.int64)


@dataclass(frozen=True)
class Side:
    """One run of a comparison, up to the instant compared."""

    run_id: int
    worlds: Sequence[tuple[int, Cluster]]  # when each cluster began; one unless the run was edited on the way
    jobs: Sequence[Job]
    decisions: Decisions
    lives: Lives
    bars: np.ndarray  # those believed at the instant

    @property
    def cluster(self) -> Cluster:
        """With the numbers that servers have in the log."""
        return self.worlds[-1][1]


def common_instant(runs: Sequence[Run]) -> int:
    """The instant that all have reached: FOREVER when all are finished; a run without an event holds nobody back."""
    return min((run.sim_ms for run in runs if run.status != Run.FINISHED and run.last_seq), default=FOREVER)


def side_of(run: Run, state: RunState, until_ms: int) -> Side:
    """Reads a run: its state as folded, and its decisions from the log."""
    cluster, jobs = scenarios.of_run(run)
    told = decisions.read(run.pk, cluster, state.last_seq)
    return Side(
        run.pk,
        scenarios.clusters(run),
        jobs,
        told,
        lives_of(state, told, cluster, len(jobs), until_ms),
        believed(state, until_ms),
    )


class Compared:
    """Two to MOST_DRAWN sides; the first is the base. ModelError when they have no job in common."""

    def __init__(self, sides: Sequence[Side], until_ms: int = FOREVER) -> None:
        self.until_ms = until_ms
        self.rows = _matched([side.jobs for side in sides])  # of each side, [shared job] its index
        if not len(self.rows[0]):
            names = ", ".join(str(side.run_id) for side in sides)
            raise ModelError(f"runs {names} have no job in common, by id; runs of the same trace can be compared")
        pairs = list(zip(sides, self.rows, strict=True))
        done = np.logical_and.reduce([side.lives.completed_ms[rows] >= 0 for side, rows in pairs])
        self.figures = [  # {key: value} of each side
            figures(side.lives, side.bars, side.worlds, side.jobs, until_ms, rows[done]) for side, rows in pairs
        ]
        self.sides = [replace(side, bars=NO_BARS) for side in sides]  # nothing else needs them, and they are large

    @cached_property
    def distributions(self) -> list[dict[str, Any]]:
        return distributions(self._lives)

    @cached_property
    def groups(self) -> dict[str, list[dict[str, Any]]]:
        base = self.sides[0]
        return groups(self._lives, [base.jobs[i] for i in self.rows[0].tolist()])

    @cached_property
    def kinds(self) -> list[np.ndarray]:
        """Of each side, [shared job] the kinds of its difference to the base (differences.BIT); nothing for the base itself."""
        base, rows = self.sides[0], self.rows[0]
        return [
            differences.kinds(base.lives, side.lives, (rows, own)) if side is not base else np.zeros(len(rows), dtype=np.uint8)
            for side, own in self._pairs
        ]

    @cached_property
    def partings(self) -> list[Parting | None]:
        """Of each side, where it first parts from the base."""
        places = [_places(rows, len(side.jobs)) for side, rows in self._pairs]
        base = self.sides[0]
        return [
            None if side is base else first_parting(base.decisions, side.decisions, (places[0], place), self.until_ms)
            for side, place in zip(self.sides, places, strict=True)
        ]

    @property
    def _pairs(self) -> list[tuple[Side, np.ndarray]]:
        return list(zip(self.sides, self.rows, strict=True))

    @property
    def _lives(self) -> list[tuple[Lives, np.ndarray]]:
        return [(side.lives, rows) for side, rows in self._pairs]


def _matched(lists: Sequence[Sequence[Job]]) -> list[np.ndarray]:
    """Of each list, the indexes of the jobs that all have, in the order of the first list."""
    if all(jobs is lists[0] for jobs in lists):
        return [np.arange(len(lists[0]))] * len(lists)
    indexes = [{job.id: i for i, job in enumerate(jobs)} for jobs in lists]
    ids = [job.id for job in lists[0] if all(job.id in index for index in indexes)]
    return [np.array([index[name] for name in ids], dtype=np.int64) for index in indexes]


def _places(rows: np.ndarray, jobs: int) -> np.ndarray:
    place = np.full(jobs, -1)
    place[rows] = np.arange(len(rows))
    return place
