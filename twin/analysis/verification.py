"""Verification of the log of a simulated run by rules that share no code with schedulers, kernel or metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from scheduling.verification.phases import verify_phases
from scheduling.verification.rules import Stage as Row
from twin.eventlog import event_log
from twin.files.cluster_json import cluster_to_dict
from twin.files.jobs_jsonl import job_to_dict
from twin.infra.errors import Refused
from twin.models import Run
from twin.scenarios import phase_rules, store
from twin.scenarios.edits import Stage


def problems_of_run(run: Run) -> list[str]:
    """Problems of the whole log, as sentences; Refused for a run that cannot be verified."""
    if run.mode_rules.inputs_in_log:
        raise Refused(f"run {run.pk} records a live cluster: its drift audit compares it with the cluster")
    if run.status != Run.FINISHED:
        raise Refused(f"run {run.pk} is {run.status}: only finished runs can be verified")
    stages = store.stages_of(run.scenario, run.edits)
    rows = [_row(stage, _execution(run, stage)) for stage in stages]
    return problems_of(rows, stages, map(orjson.loads, event_log.canonical(run.pk)))


def rows_of(stages: Sequence[Stage]) -> list[Row]:
    """Stages as plain rows, with the rules that their schedulers declare."""
    return [_row(stage, _declared(stage)) for stage in stages]


def problems_of(rows: Sequence[Row], stages: Sequence[Stage], events: Iterable[Any]) -> list[str]:
    """Problems of a log. rows: of the stages; events: as plain rows."""
    jobs = [job_to_dict(job) for job in stages[-1].state.jobs]
    return verify_phases(rows, jobs, events, len(stages[0].state.jobs))


def _row(stage: Stage, execution: Any) -> Row:
    state = stage.state
    return Row(stage.at_ms, cluster_to_dict(state.cluster), state.scheduler, dict(state.parameters), execution)


def _declared(stage: Stage) -> dict[str, Any]:
    return phase_rules.scheduler_of(stage.state).execution_on(stage.state.cluster)


def _execution(run: Run, stage: Stage) -> Any:
    """Rules of the stage; as the log states them where its scheduler cannot be used any more."""
    try:
        return _declared(stage)
    except (UnknownName, ModelError):
        return phase_rules.stated(run, stage.at_ms).get("execution")
