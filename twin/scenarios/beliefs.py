"""Beliefs of a stored scenario: the run times that its scheduler knows instead of the true work (decisions/0021)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.kernel.beliefs.belief import Beliefs
from scheduling.kernel.beliefs.knowledge import Knowledge
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Cluster, Job
from scheduling.run_times.beliefs import Recorded
from twin.infra.errors import Refused
from twin.models import Run, Scenario


def of_scenario(scenario: Scenario) -> Beliefs | None:
    """The beliefs of its runs; None for the true work."""
    stored: dict[str, Any] | None = scenario.beliefs
    return None if stored is None else Recorded(stored["name"], stored["believed_ms"])


def stated(scenario: Scenario) -> dict[str, str]:
    """{beliefs: name} for summaries; empty for the true work."""
    return {} if scenario.beliefs is None else {"beliefs": scenario.beliefs["name"]}


def start(scheduler: BaseScheduler, cluster: Cluster, jobs: Sequence[Job], scenario: Scenario, arrived: int) -> None:
    """Start of a scheduler with what it knows of the jobs when `arrived` of them have arrived."""
    beliefs, rng = of_scenario(scenario), np.random.default_rng(scenario.seed)
    if beliefs is None:
        scheduler.start(cluster, scheduler.known_jobs(jobs, arrived), rng)
        return
    knowledge = Knowledge(beliefs, scheduler, cluster, list(jobs))
    known = list(scheduler.known_jobs(knowledge.records, arrived))
    scheduler.start(cluster, known, rng)
    for job in range(arrived):
        knowledge.submit(job)
        known[job] = knowledge.records[job]
        scheduler.record_changed(job)


def refuse(run: Run, what: str) -> None:
    """Check that the run has no beliefs; Refused otherwise."""
    if run.scenario.beliefs is not None:
        raise Refused(
            f"run {run.pk} uses predicted run times and cannot be {what}; choose the shadow of the same "
            "scheduler with the actual durations"
        )
