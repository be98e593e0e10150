"""Reasons why two runs with the same jobs measure a metric in different ways, so that it is not ranked.

Comparisons and sweeps share them. Jobs that differ are the concern of changed_jobs.py.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from twin.analysis.covered_phases import covered
from twin.files.stored_jobs import field_of
from twin.models import Run
from twin.scenarios import phase_rules, store
from twin.scenarios.edits import Stage

OF_TIMES_ALONE = ("lanes.mean_slowdown", "lanes.median_slowdown", "lanes.p95_slowdown")
UPLOADS = ("upload_ms", "cloud_upload_ms")


class Measured:
    """Run with the parts of it that metrics cover."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.covers = covered(run)

    def part(self, key: str) -> str | None:
        """Part of the run that a metric covers, as text; None for the whole run."""
        return self.covers[key].text if key in self.covers else None


def difference(key: str, one: Measured, first: Measured) -> str | None:
    """Reason why the values of a metric of two runs of one trace are not ranked, or None."""
    if key in OF_TIMES_ALONE and not same_times_alone(one.run, first.run):
        return f"a job alone takes a different time than in run {first.run.pk}"
    own, other = (measured.covers.get(key) for measured in (one, first))
    if (own and own.spans) != (other and other.spans):
        return one.part(key) or f"whole run; run {first.run.pk} {first.part(key)}"
    return None


def same_times_alone(run: Run, other: Run) -> bool:
    """True if each job of two runs of one trace takes the same time alone, on the cluster in which it arrives."""
    (_, jobs), (_, others) = store.of_run(run), store.of_run(other)
    if jobs is not others and any(field_of(jobs, name) != field_of(others, name) for name in UPLOADS):
        return False
    stages, other_stages = (store.stages_of(one.scenario, one.edits) for one in (run, other))
    arrived_ms = np.unique(np.array(field_of(jobs, "arrival_ms"), dtype=np.int64))
    pairs = zip(*(_phase_at([s.at_ms for s in own], arrived_ms) for own in (stages, other_stages)), strict=True)
    return all(
        stages[mine].state.cluster is other_stages[yours].state.cluster
        or _alone_on(run, stages[mine]) == _alone_on(other, other_stages[yours])
        for mine, yours in set(pairs)
    )


def _alone_on(run: Run, stage: Stage) -> Hashable:
    (rules,) = phase_rules.of_stages(run, [stage])
    return rules.model.alone_on(stage.at_ms, stage.state.cluster)


def _phase_at(begins: list[int], at_ms: np.ndarray) -> list[int]:
    """[time] number of the phase at each time."""
    found: list[int] = np.maximum(0, np.searchsorted(begins, at_ms, side="right") - 1).tolist()
    return found
