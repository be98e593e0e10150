"""Engine: a run's simulation in a worker, restored from memory, or from a checkpoint and replay."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Event
from twin.infra import gc_control
from twin.infra.columns import pack_state, unpack_state
from twin.models import Checkpoint, Run
from twin.scenarios import store

BATCH_EVENTS = 1_000
BATCH_S = 0.05
STRIDE = 20  # events between two checks of the wall clock
CHECKPOINT_S = 0.5
CHECKPOINT_EVENTS = 20_000
CHECKPOINT_SHARE = 10  # a checkpoint may cost a tenth of the time
MAX_KEPT = 2  # simulations that a worker process keeps in memory between slices


class Diverged(RuntimeError):
    """Error: the replay of a run does not reach the end of its log, since the code or the scenario has changed."""


class SchedulerFailed(RuntimeError):
    """Error of a file or connection that the scheduler itself uses; one of writing its events is repeated later."""


@contextmanager
def simulating() -> Iterator[None]:
    """Code of the scheduler: its OSError becomes SchedulerFailed."""
    try:
        yield
    except OSError as error:
        raise SchedulerFailed(f"{type(error).__name__}: {error}") from error


@dataclass
class Engine:
    """A simulation right after event `seq`."""

    simulation: Simulation
    seq: int = 0
    decisions: list[float] = field(default_factory=list)  # seconds that each hook took
    saved: float = field(default_factory=time.monotonic)  # when the last checkpoint was made
    unsaved: int = 0  # events since then
    cost: float = 0.0  # seconds that the last checkpoint took
    setup_s: float = 0.0  # processor time that bringing it to the end of the log took

    def batch(self, limit_ms: int | None) -> list[Event]:
        """Next events up to `limit_ms`: about BATCH_EVENTS events or BATCH_S of work; the last instant may be
        incomplete.
        """
        until = time.monotonic() + BATCH_S
        events: list[Event] = []
        with gc_control.paused(), simulating():
            while len(events) < BATCH_EVENTS:
                some = self.simulation.run_until(limit_ms, STRIDE)
                events += some
                if not some or time.monotonic() > until:
                    break
        self._published(events)
        return events

    def step(self) -> list[Event]:
        """All events of the next instant that has some; empty at the end."""
        events: list[Event] = []
        with simulating():
            while (at_ms := self.simulation.next_ms) is not None and (not events or at_ms == events[-1].at_ms):
                events += self.simulation.run_until(at_ms)
        self._published(events)
        return events

    @property
    def next_ms(self) -> int | None:
        """Time of the next event; None at the end."""
        return self.simulation.next_ms

    @property
    def due(self) -> bool:
        """True if a checkpoint is worth its cost."""
        pause = max(CHECKPOINT_S, self.cost * CHECKPOINT_SHARE)
        return self.unsaved > 0 and (self.unsaved >= CHECKPOINT_EVENTS or time.monotonic() - self.saved >= pause)

    def checkpoint(self) -> bytes:
        """State as bytes."""
        began = time.monotonic()
        with simulating():
            state = self.simulation.state()
        payload = pack_state({"simulation": state, "decisions": np.array(self.decisions)})
        self.saved, self.unsaved = time.monotonic(), 0
        self.cost = self.saved - began
        return payload

    def restore(self, payload: bytes | memoryview, seq: int) -> None:
        """The inverse of `checkpoint`."""
        state = unpack_state(payload)
        with simulating():
            self.simulation.restore(state["simulation"])
        self.decisions, self.seq = state["decisions"].tolist(), seq

    def catch_up(self, run: Run) -> None:
        """Replay of the part of the log that this engine has not seen; the events are identical."""
        while self.seq < run.last_seq:
            with gc_control.paused(), simulating():
                events = self.simulation.run_until(run.sim_ms, min(BATCH_EVENTS, run.last_seq - self.seq))
            self._published(events)
            if not events:
                raise Diverged(
                    f"the log ends at event {run.last_seq:,} ({run.moment(run.sim_ms)}), but a replay "
                    f"of the scenario at event {self.seq:,}: "
                    "the scheduler or the scenario has changed since this run started; start a new run"
                )

    def _published(self, events: list[Event]) -> None:
        if events:
            self.seq = events[-1].seq
            self.unsaved += len(events)
        self.decisions += self.simulation.decision_seconds
        self.simulation.decision_seconds.clear()


_kept: OrderedDict[int, Engine] = OrderedDict()


def find(run: Run) -> Engine:
    """The engine at the end of the run's log; it is the caller's until it is given back with `keep`."""
    engine = _kept.pop(run.pk, None)
    checkpoint = newest_state(run)
    if engine is None or engine.seq > run.last_seq or (checkpoint is not None and checkpoint.seq > engine.seq):
        began = time.process_time()
        with simulating():
            simulation = store.simulation(run)
        engine = at_end(run, simulation, checkpoint)
        engine.setup_s = time.process_time() - began
        return engine
    engine.catch_up(run)
    return engine


def at_end(run: Run, simulation: Simulation, checkpoint: Checkpoint | None = None) -> Engine:
    """New simulation of the run, or of one with other later stages, brought to the end of the run's log."""
    engine = Engine(simulation)
    checkpoint = checkpoint or newest_state(run)
    if checkpoint is not None:
        checkpoint.refresh_from_db()
        engine.restore(checkpoint.payload, checkpoint.seq)
    gc_control.spare()
    engine.catch_up(run)
    return engine


def newest_state(run: Run) -> Checkpoint | None:
    """The newest state that is kept of the run, without its payload."""
    return Checkpoint.objects.filter(run=run, seq__lte=run.last_seq).defer("payload").first()


def keep(run: Run, engine: Engine) -> None:
    """Storage of the engine for the run's next slice in this process."""
    _kept[run.pk] = engine
    while len(_kept) > MAX_KEPT:
        _kept.popitem(last=False)


def forget() -> None:
    """Removal of all engines: the next slice starts from the log."""
    _kept.clear()


def percentiles(seconds: list[float]) -> dict[str, Any]:
    """Statistics of the hooks' wall times, in ms."""
    if not seconds:
        return {}
    p50, p95, most = (float(x) * 1000 for x in np.percentile(seconds, [50, 95, 100]))
    return {"p50": round(p50, 4), "p95": round(p95, 4), "max": round(most, 4), "count": len(seconds)}
