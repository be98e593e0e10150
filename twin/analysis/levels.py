"""Levels of detail of a large run: a raster of its allocation and a row for each job, made in one pass over the log.

Bars that are past go into the raster and are dropped, so the memory of the pass does not depend on their number.
Coarser levels are means of the finest one, whose shares are of the capacity of each phase for its time. Windows shorter
than its intervals are read from the log again: the levels state where in the log the bars of each time begin.
"""

from __future__ import annotations

import numpy as np

from scheduling.model.bars import END, JOB, ROLE, START
from scheduling.model.values import Cluster
from twin.analysis.situation import load
from twin.analysis.thumbnail import capacity_over, grouped, raster, used
from twin.eventlog.batch_codec import LINE_AT, LINE_SEQ, log_of
from twin.eventlog.event_log import lines_and_bars
from twin.eventlog.fold import BAR_FIELDS, DIED, JOB_FIELDS, NEVER, UTILITY, WORKER, RunState
from twin.eventlog.job_states import job_states
from twin.files.stored_jobs import part_of
from twin.infra.columns import pack
from twin.models import Run
from twin.scenarios import store

MAX_ROWS, COLUMNS = 128, 4_096  # of the finest level
SETTLE_BARS = 500_000  # bars that are folded before the past ones are dropped
FULL = 10_000  # a share of 1 in the raster
NONE = 2**16 - 1  # of what a group has no capacity of


class Levels:
    """The pass over a log."""

    def __init__(self, run: Run) -> None:
        self.run = run
        _, self.jobs = store.of_run(run)
        self.phases = store.clusters(run)
        self.cluster: Cluster = self.phases[-1][1]
        self.groups, self.rows = grouped(self.cluster.servers, MAX_ROWS)
        self.state = RunState()
        self.edges: np.ndarray | None = None  # of the intervals of the finest level
        self.used: np.ndarray | None = None  # [row, column, scale] amount times ms
        self.held: load.Held | None = None
        self.bars = 0  # that were not replaced
        self.ran: list[np.ndarray] = []  # a past bar of each job
        self.reach: list[tuple[int, int]] = []  # of each batch: event before it, latest end of its bars

    def read(self) -> None:
        """The whole log."""
        for lines, bars in lines_and_bars(self.run.pk, 0, self.run.last_seq):
            if self.edges is None:
                first = min(lines[0][LINE_AT], self.run.sim_ms)
                span = max(self.run.sim_ms - first, COLUMNS)
                self.edges = first + span * np.arange(COLUMNS + 1) // COLUMNS
            self.reach.append((lines[0][LINE_SEQ] - 1, int(bars[:, END].max(initial=lines[-1][LINE_AT]))))
            with log_of(self.run.pk):
                self.state.feed_raw(lines, bars)
            if self.state.bars.length > SETTLE_BARS:
                self._settle()
        self._settle()
        self._count(self.state.bars.rows)  # what still runs counts up to now

    def _settle(self) -> None:
        """The past bars, moved to the raster; no later plan can change them. Replaced ones are dropped."""
        state = self.state
        rows = state.bars.rows
        true = rows[:, DIED] == NEVER
        past = true & (rows[:, END] <= state.sim_ms)
        self._count(rows[past])
        kept = true & ~past
        number = np.where(kept, kept.cumsum() - 1, NEVER)
        left, state.bars = rows[kept], type(state.bars)(len(BAR_FIELDS))
        state.bars.add(len(left))[:] = left
        alive = ((key, [int(number[row]) for row in of if kept[row]]) for key, of in state.alive.items())
        state.alive = {key: of for key, of in alive if of}
        state.decided.length = state.planned.length = 0

    def _count(self, rows: np.ndarray) -> None:
        self.bars += len(rows)
        workers = rows[rows[:, ROLE] == WORKER]
        self.ran.append(workers[np.unique(workers[:, JOB], return_index=True)[1]])
        self.held = held_by(self.run, rows)
        self._add(self.held)

    def _add(self, held: load.Held) -> None:
        assert self.edges is not None, "the first batch has set it"
        found = used(held, self.groups, len(self.rows), self.edges)
        self.used = found if self.used is None else self.used + found

    def packed(self) -> bytes:
        """The levels as columns.pack."""
        state = self.state
        if self.held is None or self.edges is None or self.used is None:
            raise ValueError(f"run {self.run.pk} has no events")
        if self.held.measure == load.MACHINE:
            self._add(load.held(self.run, state, self.cluster, self.jobs, self.run.sim_ms, 0, load.OPEN))
        most = capacity_over(self.run, self.held, self.phases, self.groups, self.edges, self.run.sim_ms)
        shares = np.where(most > 0, np.minimum(self.used * FULL // np.maximum(most, 1), NONE - 1), NONE)
        ran = np.concatenate(self.ran)
        ran = ran[np.unique(ran[:, JOB], return_index=True)[1]]
        state.bars.add(len(ran))[:] = ran
        kinds, codes = _verdicts(state)
        words = {word: place for place, word in enumerate(sorted({*kinds, *codes} - {""}))}
        columns = {
            "raster": shares.astype(np.int64).ravel(),
            "edges": self.edges,
            "reach_seq": np.array([seq for seq, _ in self.reach], dtype=np.int64),
            "reach_ms": np.array([ms for _, ms in self.reach], dtype=np.int64),
            "state": job_states(state, state.sim_ms).astype(np.int64),
            "verdict": np.array([words.get(kind, NEVER) for kind in kinds], dtype=np.int64),
            "code": np.array([words.get(code, NEVER) for code in codes], dtype=np.int64),
            **{name: state.jobs.rows[:, i].astype(np.int64) for i, name in enumerate(JOB_FIELDS) if name != "utility"},
        }
        meta = {"seq": state.last_seq, "sim_ms": state.sim_ms, "finished": state.finished, "bars": self.bars,
                "rows": self.rows, "measure": self.held.measure, "scale": self.held.scale,
                "words": list(words)}  # fmt: skip
        utility = {"utility": state.jobs.rows[:, UTILITY].copy()}
        return pack(meta, columns | utility, compact=True)


def _verdicts(state: RunState) -> tuple[list[str], list[str]]:
    """Latest kind and code of each job's decisions, "" without one."""
    verdicts = [verdict or ("", "", "") for verdict in state.verdicts]
    return [kind for _, kind, _ in verdicts], [code for _, _, code in verdicts]


def build(run: Run) -> bytes:
    """Levels of a run up to its newest event."""
    levels = Levels(run)
    levels.read()
    return levels.packed()


def exact(run: Run, after: int, from_ms: int, to_ms: int) -> np.ndarray:
    """[bar, BAR_FIELDS] of a window, folded from the log after the event `after`; ends are at most that of the window.

    What was decided later may only change bars after the window.
    """
    state = RunState()
    state.last_seq = after
    for lines, bars in lines_and_bars(run.pk, after, run.last_seq, to_ms):
        with log_of(run.pk):
            state.feed_raw(lines, bars, run.last_seq, to_ms)
    rows = state.bars.rows
    rows = rows[(rows[:, DIED] == NEVER) & (rows[:, END] > from_ms) & (rows[:, START] < to_ms)]
    rows[:, END] = np.minimum(rows[:, END], to_ms)
    return rows


def held_by(run: Run, rows: np.ndarray) -> load.Held:
    """Amounts that bars hold; 0 where the measure is machines, which groups hold."""
    _, jobs = store.of_run(run)
    own, place = np.unique(rows[:, JOB], return_inverse=True)
    state = RunState()
    state.bars.add(len(rows))[:] = rows
    state.bars.rows[:, JOB] = place  # among these jobs: the others are not read
    return load.held(run, state, store.clusters(run)[-1][1], part_of(jobs, own), run.sim_ms, 0, load.OPEN)


def raster_of(run: Run, rows: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of a window's bars, as thumbnail.raster."""
    held = held_by(run, rows)
    phases = store.clusters(run)
    groups, _ = grouped(phases[-1][1].servers, MAX_ROWS)
    return raster(held, capacity_over(run, held, phases, groups, edges, run.sim_ms), groups, edges)
