"""The figures of a run at an instant, and what is better of each. At the end of a run they are those of scheduling/metrics.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from scheduling.metrics import offered, shares
from scheduling.model import RESOURCES, ZERO, Cluster, Job, Role
from twin.comparing.lives import JOB, ROLE, SERVER, STATES, Lives
from twin.state import BAR_FIELDS, END, START

COUNT = BAR_FIELDS.index("count")
HIGHER, LOWER = "higher", "lower"


@dataclass(frozen=True)
class Figure:
    """A row of the table. better: which way; None where neither is."""

    key: str
    title: str
    unit: str  # "", ms, share, x (a multiple)
    better: str | None
    help: str


FIGURES = (
    Figure("total_utility", "Total utility", "", HIGHER, "Sum over completed jobs of what their completion time is worth"),
    Figure("certificate_ratio", "Proved share of optimal", "share", HIGHER,
           "At least this share of the best total utility that any schedule of the same jobs could reach"),
    Figure("jobs", "Jobs arrived", "", None, "By the instant compared"),
    Figure("admitted", "Admitted", "", HIGHER, "Jobs whose first decision was to admit or start them"),
    Figure("rejected", "Rejected", "", LOWER, "Jobs that were turned away"),
    Figure("completed", "Completed", "", HIGHER, "Jobs whose work is done"),
    Figure("mean_jct_ms", "Mean JCT", "ms", LOWER, "Completion minus arrival, over this run's completed jobs"),
    Figure("median_jct_ms", "Median JCT", "ms", LOWER, "Half of the completed jobs took no longer"),
    Figure("p95_jct_ms", "95th percentile JCT", "ms", LOWER, "19 of 20 completed jobs took no longer"),
    Figure("common_jct_ms", "Mean JCT, jobs all completed", "ms", LOWER,
           "Only over the jobs that every run compared in full has completed: fair to runs that admit more"),
    Figure("mean_slowdown", "Mean slowdown", "x", LOWER, "JCT over the time in which the job had a worker; 1 = it never waited"),
    Figure("mean_wait_ms", "Mean wait", "ms", LOWER, "From arrival to the first worker, over jobs that have a start"),
    Figure("makespan_ms", "Makespan", "ms", LOWER, "From the first arrival to the last completion"),
    Figure("suspensions", "Suspensions", "", LOWER, "Gaps in which a job that had run held no worker"),
    Figure("preemptions", "Preemptions", "", LOWER, "Decisions that stopped a running job"),
    *(Figure(f"utilization.{name}", f"{title} allocated", "share", HIGHER, "Mean share of capacity held from the first arrival to the last bar")
      for name, title in zip(RESOURCES, ("GPU", "vCPU", "Memory", "Storage", "Bandwidth"), strict=True)),
    Figure("decision_p95_ms", "Time to decide, p95", "ms", LOWER, "Measured on this machine: 19 of 20 decisions took no longer"),
)  # fmt: skip


def figures(
    lives: Lives, bars: np.ndarray, worlds: Sequence[tuple[int, Cluster]], jobs: Sequence[Job], until_ms: int, common: np.ndarray
) -> dict[str, Any]:
    """{key: value or None} of what the log says.

    bars: those believed at the instant; common: indexes of the jobs that all runs have completed.
    """
    done = lives.completed_ms >= 0
    arrived = lives.arrived_ms >= 0
    refused = lives.states == STATES.index("rejected")
    jct = lives.jct_ms
    first_ms = int(lives.arrived_ms[arrived].min()) if arrived.any() else 0
    return {
        "total_utility": float(lives.utility.sum()) if any(job.utility is not None for job in jobs) else None,
        "jobs": int(arrived.sum()),
        "admitted": int(lives.admitted.sum()),
        "rejected": int(refused.sum()),
        "completed": int(done.sum()),
        "mean_jct_ms": mean(jct),
        "median_jct_ms": float(np.median(jct[done])) if done.any() else None,
        "p95_jct_ms": float(np.percentile(jct[done], 95)) if done.any() else None,
        "common_jct_ms": mean(jct[common]),
        "mean_slowdown": mean(lives.slowdown),
        "mean_wait_ms": mean(lives.wait_ms),
        "makespan_ms": int(lives.completed_ms.max()) - first_ms if done.any() else None,
        "suspensions": int(lives.suspensions.sum()),
        "preemptions": int(lives.preemptions.sum()),
        **{f"utilization.{name}": share for name, share in _utilization(bars, worlds, jobs, first_ms, until_ms).items()},
    }


def told_figures(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The same from the metrics that a finished run keeps, as far as they go."""
    plain = {figure.key: metrics.get(figure.key) for figure in FIGURES}
    return plain | {f"utilization.{name}": share for name, share in metrics.get("utilization", {}).items()}


def against(values: Sequence[float | None], better: str | None) -> list[dict[str, Any]]:
    """Each value against the first: {value, delta, relative, verdict: better | worse | same | None, best}."""
    known = [value for value in values if value is not None]
    best = None if better is None or len(set(known)) < 2 else (max if better == HIGHER else min)(known)
    base = values[0]
    told = []
    for value in values:
        delta = None if value is None or base is None else value - base
        relative = delta / abs(base) if delta is not None and base else None
        verdict = None
        if delta is not None and better is not None:
            verdict = "same" if delta == 0 else "better" if (delta > 0) == (better == HIGHER) else "worse"
        told.append(
            {
                "value": value,
                "delta": delta,
                "relative": relative,
                "verdict": verdict,
                "best": value is not None and value == best,
            }
        )
    return told


def mean(values: np.ndarray) -> float | None:
    """Of what is not NaN; None when there is nothing."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _utilization(
    bars: np.ndarray, worlds: Sequence[tuple[int, Cluster]], jobs: Sequence[Job], first_ms: int, until_ms: int
) -> dict[str, float | None]:
    """Share of capacity x time held from first_ms to the last end of a bar or the instant; an absent server has no capacity."""
    bars = bars[(bars[:, SERVER] >= 0) & (bars[:, ROLE] != Role.TRANSFER) & (bars[:, START] < until_ms)]
    if not len(bars):
        return dict.fromkeys(RESOURCES)
    end = np.minimum(bars[:, END], until_ms)
    last_ms = int(end.max())
    time = (bars[:, COUNT] * (end - bars[:, START])).astype(float)
    held = np.zeros(len(RESOURCES))
    for role in (Role.WORKER, Role.PS):
        of_role = bars[:, ROLE] == role
        per_job = np.bincount(bars[of_role, JOB], weights=time[of_role], minlength=len(jobs))
        held += per_job @ _demands(jobs, role)
    return shares(held, offered(worlds, first_ms, last_ms))


def _demands(jobs: Sequence[Job], role: Role) -> np.ndarray:
    """[job, resource]"""
    rows = ((job.worker if role == Role.WORKER else job.ps) or ZERO for job in jobs)
    return np.fromiter(chain.from_iterable(rows), dtype=float, count=len(jobs) * len(RESOURCES)).reshape(-1, len(RESOURCES))
