"""Proved shares of the optimum that can be ranked: those relative to the same bound.

The bound of a run holds for every schedule of the same jobs on the same cluster by the same training. So runs that
agree in these are measured by the tightest of their bounds: the least upper bound on utility, the greatest lower bound
on times. Other shares are not ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduling.kernel.execution_model import COMPLETION, MAKESPAN, UTILITY
from scheduling.model.values import Cluster, Job
from twin.analysis.bounding_cluster import bounding
from twin.analysis.comparability import models_of
from twin.models import Run
from twin.scenarios import store

# what a certificate is about
ABOUT = {UTILITY: "total utility", COMPLETION: "total completion time", MAKESPAN: "makespan"}


class Share(NamedTuple):
    """Share of one run, its quantity and bound, and whether it can be ranked against the first run's."""

    ratio: float | None
    about: str | None
    ranked: bool


class _Claim(NamedTuple):
    """Quantity that the bound of a run covers."""

    about: str
    size: int  # jobs
    models: tuple[str, ...]
    cluster: Cluster
    jobs: Sequence[Job]

    def same(self, other: _Claim) -> bool:
        return self[:4] == other[:4] and (self.jobs is other.jobs or list(self.jobs) == list(other.jobs))


def shares(runs: Sequence[Run]) -> list[Share]:
    """Proved shares of the runs, compared with the first one. A run that is not finished has none."""
    base = _claim(runs[0])
    ranked = [base is not None and (run is runs[0] or _agrees(run, base)) for run in runs]
    group = [run for run, among in zip(runs, ranked, strict=True) if among]
    if len(group) < 2:
        return [_own(run, ranked=run is runs[0]) for run in runs]
    assert base is not None
    by = _tightest(group, base.about)
    return [
        _by(run, by, base.about) if among else _own(run, ranked=False) for run, among in zip(runs, ranked, strict=True)
    ]


def _claim(run: Run) -> _Claim | None:
    """Claim of a run; None if its certificate does not cover the run and all jobs or state its schedules."""
    proved = run.certificate or {}
    if run.status != Run.FINISHED or "bound" not in proved or proved.get("about") not in ABOUT:
        return None
    if (
        proved.get("left_out")
        or proved.get("seq") != run.last_seq
        or (proved["about"] == COMPLETION and "gangs" not in proved)
    ):
        return None
    stages = store.stages_of(run.scenario, run.edits)
    bounded_by = bounding(stages)
    if isinstance(bounded_by, str):
        return None
    return _Claim(proved["about"], proved["jobs"], models_of(run), bounded_by[1], stages[-1].state.jobs)


def _agrees(run: Run, base: _Claim) -> bool:
    claim = _claim(run)
    return claim is not None and claim.same(base)


def _tightest(group: Sequence[Run], about: str) -> Run:
    """Run with the tightest of the bounds that hold for the whole group."""
    gangs = any(run.certificate.get("gangs") for run in group)
    valid = [run for run in group if not gangs or run.certificate.get("gangs") or run.certificate["kind"] != "jct_iso"]
    best = min if about == UTILITY else max
    return best(valid, key=lambda run: run.certificate["bound"])


def _by(run: Run, by: Run, about: str) -> Share:
    achieved, bound = run.certificate["achieved"], by.certificate["bound"]
    over, under = (achieved, bound) if about == UTILITY else (bound, achieved)
    ratio = int(min(1.0, over / under) * 10_000) / 10_000 if under > 0 else None if about == UTILITY else 1.0
    return Share(ratio, f"{ABOUT[about]}, by the bound of run {by.pk}", True)


def _own(run: Run, ranked: bool) -> Share:
    proved: dict[str, Any] = run.certificate or {}
    if run.status != Run.FINISHED or proved.get("seq") != run.last_seq:  # of an earlier part of the run
        proved = {}
    about = proved.get("about", "")
    return Share(proved.get("ratio"), ABOUT.get(about, about) or None, ranked or proved.get("ratio") is None)
