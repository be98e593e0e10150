"""Rules of an execution model for the verifier; each model has its own `verifier.py`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scheduling.verification.replay import Outcome
from scheduling.verification.schema import AMOUNTS
from scheduling.verification.value_checks import Check

WORKER, PS, TRANSFER, SUSPENDED = range(4)  # roles of a bar of the log
CLOSE = 1e-9  # relative, for sums of floats
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of schedule.csv that is well formed."""

    job: str
    role: str
    server: str
    count: int
    start_ms: int
    end_ms: int
    chunk: str
    worker_slot: str
    group: str


@dataclass(frozen=True)
class Output:
    """A finished output as plain rows of the right shape, and what follows from its log."""

    cluster: Row  # with every key that may be left out
    jobs: Sequence[Row]
    bars: Mapping[str, Sequence[Bar]]  # of each job that has some, by its id
    decisions: Sequence[Row]
    log: Sequence[Row]
    outcome: Outcome  # the log, replayed
    done: Mapping[str, int]  # completion times by job id
    utilities: Mapping[str, float]  # of those jobs, recomputed
    execution: Row  # the rules that the files state
    summary: Row
    # rows of the files that only some models have, by their name without its ending
    more: Mapping[str, Sequence[Any] | None]


class Stage(NamedTuple):
    """Cluster, scheduler and rules from at_ms on, as plain rows."""

    at_ms: int
    cluster: Row
    scheduler: str
    parameters: Row
    execution: Row  # the rules by which jobs run


class Rules(ABC):
    """Rules of one execution model in addition to those of all runs. Stateless; they share no code with schedulers."""

    name: str  # as files state it
    roles: tuple[str, ...] = ("worker", "ps", "transfer")  # of bars
    states: Mapping[str, Check]  # what `execution` holds besides model, packs and final
    part: str | None = None  # of the metrics of summary.json: the part that only runs of this model have
    files: tuple[str, ...] = ()  # that an output of this model has besides those that all have

    def missing(self, execution: Row, parameters: Row) -> str | None:
        """Reason why a run of this model cannot be rechecked by what is stated, or None."""
        return None

    @abstractmethod
    def check(self, given: Output, problems: list[str]) -> None:
        """Problems by the rules of this model, appended."""

    def metrics(self, given: Output) -> dict[str, Any] | None:
        """Part of the metrics that only runs of this model have, recomputed; None where there is none."""
        return None

    def finishes(self, cluster: Row) -> bool:
        """True if a scheduler with final decisions completes every job that it admits on this cluster."""
        return cluster["horizon_slots"] is None  # a job that outlasts the horizon stays unfinished

    def check_stage(
        self, stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]
    ) -> None:
        """Check of bars in one phase of an edited run; servers are known, capacity is checked."""
        return

    def check_phases(
        self, stages: Sequence[Stage], jobs: Sequence[Row], log: Sequence[Row], problems: list[str]
    ) -> None:
        """Check of the log besides bars in the phases of this model, whatever the models of the other phases are."""
        return

    @abstractmethod
    def share_done(self, stage: Stage, job: Row, bars: Sequence[Sequence[int]]) -> float | None:
        """Share of the job's work that these bars do; None where the rows do not determine it."""


def same(given: Any, value: float, size: float = 0.0) -> bool:
    """True if a value of a file is that number, except for rounding of sums; size: of the terms of the sum."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return abs(given - value) <= CLOSE * max(1.0, abs(value), size)


def held_by(job: Row, role: str) -> list[int]:
    """Thousandths that a unit of a bar holds: a suspended worker everything but its CPUs, a transfer nothing."""
    if role != "suspended":
        return thousandths(job.get(role))
    return [0 if name == "cpu" else amount for name, amount in zip(AMOUNTS, thousandths(job["worker"]), strict=True)]


def thousandths(amounts: Row | None) -> list[int]:
    """Whole units with up to three decimals as exact integers, in the order of AMOUNTS."""
    return [round((amounts or {}).get(name, 0) * 1000) for name in AMOUNTS]
