"""Metrics of a shadow beside those of the real cluster in the same window. Definitions: reporting/metric_table.py.

Waits, completions and utility are those of the jobs that have ended in the real cluster. A difference is over the jobs
that have completed in both, so that a scheduler that rejects long jobs gains nothing by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from scheduling.model.bars import COUNT, END, ROLE, SERVER, START, WIDTH, Role
from scheduling.model.utility import duration_slots, utility_at
from scheduling.model.values import GPU, RESOURCES, Cluster, Job
from scheduling.reporting.run_metrics import jct_metrics, offered, shares
from twin.analysis.comparison.decisions import decisions_of
from twin.analysis.comparison.metrics import mean
from twin.analysis.comparison.outcomes import FOREVER, believed, outcomes_of
from twin.eventlog import stored_states
from twin.files.stored_jobs import field_of, sizes_of_jobs
from twin.infra.columns import pack, unpack
from twin.mirror.as_values import bars_of, job_of
from twin.mirror.whatif.cut import Part, end_ms
from twin.models import Run, ShadowSet
from twin.scenarios import store
from twin.studies.shadows.window import Window

HOUR_MS = 3_600_000
PAIRED = ("mean_wait_ms", "mean_jct_ms", "p95_jct_ms")  # differences are over the jobs completed in both
SHOWN = (*PAIRED, "utilization.gpu", "utilization.cpu", "gpu_hours", "total_utility", "completed", "rejected")
Metrics = dict[str, float | None]


@dataclass(frozen=True)
class History:
    """History of each job of a window, [job] in ms of the log; -1 where an event did not happen."""

    arrived_ms: np.ndarray  # in the window: a job that ran at its beginning arrives, and starts, then
    start_ms: np.ndarray
    completed_ms: np.ndarray  # of the jobs that ran and ended in the window: those that are scored
    utility: np.ndarray

    def times(self, of: np.ndarray) -> Metrics:
        """Metrics of waits and completions over the jobs in the mask."""
        return _times(self.arrived_ms, self.start_ms, self.completed_ms, of)

    def packed(self) -> bytes:
        """The arrays, for the database."""
        return pack({}, {name: getattr(self, name) for name in ARRAYS})

    @classmethod
    def of(cls, stored: ShadowSet) -> History:
        """History as `packed` has stored it with a set."""
        _, columns = unpack(bytes(stored.history))
        return cls(**{name: columns[name] for name in ARRAYS})


ARRAYS = tuple(part.name for part in fields(History))


def history_of(window: Window, jobs: Sequence[Job]) -> History:
    """History of the jobs in the window."""
    made, mirror = window.made, window.made.moment.mirror
    parts, slot_ms = made.cut.parts, made.cluster.slot_ms
    start = [_start_ms(part, window) for part in parts]
    ends = [end_ms(part.known, mirror) for part in parts]
    completed = [
        end if end is not None and end <= window.until_ms and first >= 0 else -1
        for end, first in zip(ends, start, strict=True)
    ]
    utility = [
        utility_at(job.utility, duration_slots(end, job.arrival_ms, slot_ms)) if end >= 0 else 0.0
        for job, end in zip(jobs, completed, strict=True)
    ]
    arrived = [part.arrival_ms for part in parts]
    columns = (np.array(column, dtype=np.int64) for column in (arrived, start, completed))
    return History(**dict(zip(ARRAYS, (*columns, np.array(utility)), strict=True)))


def real(window: Window, history: History) -> Metrics:
    """Metrics of the real cluster. GPUs and CPUs held are those that it reports, not the demands of the jobs."""
    parts, mirror = window.made.cut.parts, window.made.moment.mirror
    indices = {name: node.index for name, node in mirror.nodes.items()}
    rows = [
        bar
        for index, part in enumerate(parts)
        for bar in bars_of(index, part.known.fact, part.known.attempts, indices, mirror.epoch_ms)
    ]
    bars = np.array(rows, dtype=np.int64).reshape(-1, WIDTH)
    jobs = [
        job_of(
            part.known.name, replace(part.known.fact, attempts=part.known.attempts), part.arrival_ms, mirror.epoch_ms
        )
        for part in parts
    ]
    sizes = sizes_of_jobs(jobs)
    amounts = sizes.demands[bars[:, ROLE], sizes.of(bars)].astype(float)
    lasted = _within(bars, window.from_ms, window.until_ms)
    held = (lasted[:, None] * amounts).sum(axis=0)
    offers = offered(window.clusters, window.from_ms, window.until_ms)
    lost = _during_outages(bars, window.made.cluster, window.from_ms, window.until_ms)
    available = held - (lost[:, None] * amounts).sum(axis=0)
    done = history.completed_ms >= 0
    return {
        **history.times(done),
        **_use(held, available, offers, ("gpu", "cpu")),
        "total_utility": float(history.utility.sum()),
        "completed": int(done.sum()),
        "rejected": 0,
    }


def of_run(run: Run, of: ShadowSet) -> tuple[Metrics, Metrics, list[str]]:
    """(metrics of a finished shadow of the set, their differences to what happened, jobs that never started)."""
    assert of.from_ms is not None
    assert of.until_ms is not None
    history = History.of(of)
    cluster, jobs = store.of_run(run)
    state = stored_states.at(run.pk)
    found = outcomes_of(state, decisions_of(state, cluster), cluster, len(jobs), FOREVER)
    bars = believed(state, FOREVER)
    bars = bars[(bars[:, SERVER] >= 0) & (bars[:, ROLE] != Role.TRANSFER)]
    scored = history.completed_ms >= 0
    both = scored & (found.completed_ms >= 0)
    held_ms, held = _within(bars, of.from_ms, of.until_ms), np.zeros(len(RESOURCES))
    sizes = sizes_of_jobs(jobs)
    of_bars = sizes.of(bars)
    for role, demands in enumerate(sizes.demands):
        rows = bars[:, ROLE] == role
        held += np.bincount(of_bars[rows], weights=held_ms[rows], minlength=len(demands)) @ demands
    metrics = {
        **_times(found.arrived_ms, found.start_ms, found.completed_ms, both),
        **_use(held, held, offered([(0, cluster)], of.from_ms, of.until_ms), store.packed(run)),
        "total_utility": float(found.utility[scored].sum()),
        "completed": int(both.sum()),
        "rejected": int(found.rejected.sum()),
    }
    then = of.facts["real"] | history.times(both)
    ids = field_of(jobs, "id")
    never = [ids[job] for job in np.flatnonzero(found.start_ms < 0).tolist()]
    return metrics, {key: _less(metrics[key], then[key]) for key in SHOWN}, never


def _less(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _start_ms(part: Part, window: Window) -> int:
    """First start of the job in the window; -1 without one."""
    epoch_ms = window.made.moment.mirror.epoch_ms
    starts = [max(part.arrival_ms, attempt.started_ms - epoch_ms) for attempt in part.known.attempts
              if attempt.ended_ms is None or attempt.ended_ms - epoch_ms > part.arrival_ms]  # fmt: skip
    first = min(starts, default=-1)
    return first if first < window.until_ms else -1


def _times(arrived: np.ndarray, start: np.ndarray, completed: np.ndarray, of: np.ndarray) -> Metrics:
    waits = np.where(of & (start >= 0), start - arrived, np.nan)
    found = {"mean_wait_ms": mean(waits), **jct_metrics((completed - arrived)[of])}
    return {key: found[key] for key in PAIRED}


def _within(bars: np.ndarray, from_ms: int, until_ms: int) -> np.ndarray:
    """[bar] units x ms of it in the window."""
    length = np.minimum(bars[:, END], until_ms) - np.maximum(bars[:, START], from_ms)
    return np.maximum(0, length).astype(float) * bars[:, COUNT]


def _during_outages(bars: np.ndarray, cluster: Cluster, from_ms: int, until_ms: int) -> np.ndarray:
    """[bar] units x ms of it in the window while its server was unavailable."""
    lost = np.zeros(len(bars))
    for index, server in enumerate(cluster.servers):
        own = bars[:, SERVER] == index
        for begin, end in server.away:
            lost[own] += _within(bars[own], max(begin, from_ms), min(end, until_ms))
    return lost


def _use(held: np.ndarray, available: np.ndarray, of: np.ndarray, packed: Sequence[str]) -> Metrics:
    """Utilization in the window and GPU hours, for resources that the execution model counts.

    available: the part of what jobs held that was on available servers.
    """
    found = shares(available, of, packed)
    hours = None if found["gpu"] is None else float(held[GPU]) / 1_000 / HOUR_MS
    return {"utilization.gpu": found["gpu"], "utilization.cpu": found["cpu"], "gpu_hours": hours}
