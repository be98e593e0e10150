"""Decision of a scheduler: changes of plans from now on, and the reasons to log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from scheduling.model.bars import Placement


class Reason(NamedTuple):
    """Reason for a decision: a code and numbers, never a sentence (reporting/reasons.py writes the sentence)."""

    code: str
    values: Mapping[str, Any] = {}


class Verdict(NamedTuple):
    """Line of decisions.jsonl: a decision about a job and its reason.

    kind: admitted | rejected | started | preempted | displaced | moved | regrouped | ...
    """

    job: int
    kind: str
    reason: Reason


@dataclass(frozen=True, slots=True, eq=False)
class WorkerPlan:
    """Plan of some typed workers: their future bars, which replace their earlier plans (docs/decisions/0008).

    workers  int64 [worker, 3]: role, server, number; on the cloud, which has no fixed workers, the job takes the
             number's place
    bars     int64 [bar, 9]: in the order of Placement, each on one of these workers
    jobs     int64 [job, 3]: job, when its first worker starts, when its work is done; NONE where that is not planned
    """

    workers: np.ndarray
    bars: np.ndarray
    jobs: np.ndarray


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of a scheduler: changes of plans from now on.

    plan      {job index: every bar of that job from now on}; it *replaces the future* of the jobs it names
    finishes  {job index: ms at which the job's work is done under this plan}; a job without an entry is unfinished
    verdicts  decisions about jobs to log, in order; a verdict does not change the plan of its job
    wake_ms   call on_slot again at this time even if nothing else happens by then
    workers   plans of typed workers instead of plans of jobs, for schedulers whose jobs share workers
    alarm_ms  call on_alarm at exactly this time, after the arrivals of that instant; it replaces the alarm asked for
              before
    events    further events, (kind, data) each, that follow the plans: what bars cannot express, as Harmony's groups
    repriced  every price has changed, also where no plan has
    """

    plan: Mapping[int, list[Placement]] = field(default_factory=dict)
    finishes: Mapping[int, int] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
    wake_ms: int | None = None
    workers: WorkerPlan | None = None
    alarm_ms: int | None = None
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    repriced: bool = False


NOTHING = Decision()
