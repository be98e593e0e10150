"""Proved shares of the optimum that can be ranked: those relative to the same bound.

The bound of a run holds for every schedule of the same jobs on the same cluster by the same training. So runs that
agree in these are measured by the tightest of their bounds: the least upper bound on utility, the greatest lower bound
on times. Other shares are not ranked. Runs that all use servers only, without the unlimited cloud, are measured by
bounds on such schedules, which are greater.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduling.kernel.execution_model import COMPLETION, MAKESPAN, UTILITY
from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import Cluster, Job, ModelError
from twin.analysis.bounding_cluster import bounding
from twin.analysis.comparability import models_of
from twin.models import Run
from twin.scenarios import store

# what a certificate is about
ABOUT = {UTILITY: "total utility", COMPLETION: "total completion time", MAKESPAN: "makespan"}


class Share(NamedTuple):
    """Share of one run, its quantity and bound, and whether it can be ranked against the first run's.

    why: the reason for a missing share, or for one that is not ranked.
    """

    ratio: float | None
    about: str | None
    ranked: bool
    why: str | None = None


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
    if len(group) < 2 or base is None:
        return [_own(run, runs[0], base) for run in runs]
    by = _tightest(group, base.about)
    return [
        _by(run, by, base.about) if among else _own(run, runs[0], base) for run, among in zip(runs, ranked, strict=True)
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
    try:
        bounded_by = bounding(stages)
    except (UnknownName, ModelError):  # a scheduler that is not installed any more
        return None
    if isinstance(bounded_by, str):
        return None
    return _Claim(proved["about"], proved["jobs"], models_of(run), bounded_by[1], stages[-1].state.jobs)


def _agrees(run: Run, base: _Claim) -> bool:
    claim = _claim(run)
    return claim is not None and claim.same(base)


class _Bound(NamedTuple):
    """Bound of one run that holds for the whole group."""

    run: int
    value: float
    scope: str  # which schedules it is about, where not all


def _tightest(group: Sequence[Run], about: str) -> _Bound:
    """Tightest of the bounds that hold for the whole group."""
    edge_only = all("edge_only" in run.certificate for run in group)
    gangs = any(run.certificate.get("gangs") for run in group)
    valid = []
    for run in group:
        proved = run.certificate["edge_only"] if edge_only else run.certificate
        if not gangs or run.certificate.get("gangs") or proved["kind"] != "jct_iso":
            scope = " of schedules without the unlimited cloud" if edge_only else ""
            valid.append(_Bound(run.pk, proved["bound"], scope))
    best = min if about == UTILITY else max
    return best(valid, key=lambda bound: bound.value)


def _by(run: Run, by: _Bound, about: str) -> Share:
    achieved, bound = run.certificate["achieved"], by.value
    over, under = (achieved, bound) if about == UTILITY else (bound, achieved)
    ratio = int(min(1.0, over / under) * 10_000) / 10_000 if under > 0 else None if about == UTILITY else 1.0
    return Share(ratio, f"{ABOUT[about]}{by.scope}, by the bound of run {by.run}", True)


def _own(run: Run, first: Run, base: _Claim | None) -> Share:
    """Share by the run's own bound; only that of the first run is ranked, against itself."""
    proved: dict[str, Any] = run.whole_certificate if run.status == Run.FINISHED else {}
    about, ratio = proved.get("about", ""), proved.get("ratio")
    what = ABOUT.get(about, about) or None
    if ratio is None:
        return Share(None, what, True, _why_none(run) if run.status == Run.FINISHED else None)
    if run is first:
        return Share(ratio, what, True)
    if base is None:
        return Share(ratio, what, False, _why_no_base(first))
    return Share(ratio, what, False, f"its bound does not hold for run {first.pk}")


def _why_no_base(first: Run) -> str:
    """Reason why no share is compared with that of the first run."""
    proved: dict[str, Any] = first.whole_certificate if first.status == Run.FINISHED else {}
    if proved.get("ratio") is None:
        return f"run {first.pk} has no proved share to compare with"
    if proved.get("left_out"):
        return f"the proved share of run {first.pk} does not cover all its jobs"
    return f"the bound of run {first.pk} holds only for that run"


def _why_none(run: Run) -> str:
    """Reason why a finished run has no proved share of the optimum."""
    stages = store.stages_of(run.scenario, run.edits)
    try:
        bounded_by = bounding(stages)
        claimed = isinstance(bounded_by, str) or bounded_by[0].model.claim(*bounded_by)
    except (UnknownName, ModelError) as error:  # a scheduler that is not installed any more
        return f"no bound: {error}"
    if isinstance(bounded_by, str):
        return f"no bound: {bounded_by}"
    if not claimed:
        return f"no bound exists for {bounded_by[0].title}"
    if run.certified_seq < run.last_seq:
        return "certificate not computed yet"
    return str(run.certificate.get("why") or "the certificate states no share")
