"""Rules of each phase of a run: those of its scheduler, or, where that cannot be used any more, as the log states them.

A run is read, drawn and exported by its rules; only what simulates it needs the scheduler itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduling.colocation.execution import COLOCATION
from scheduling.kernel.execution_model import ExecutionModel
from scheduling.kernel.parameters import UnknownName
from scheduling.kernel.registry import Unavailable, build, names, obstacle, schedulers
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import RESOURCES, ModelError, shorten
from scheduling.observed.execution import OBSERVED
from scheduling.slotted.execution import SLOTTED
from scheduling.typed_workers.execution import TYPED_WORKERS
from twin.eventlog import event_log
from twin.models import Run
from twin.scenarios.edits import Stage
from twin.scenarios.edits.base import ScenarioState

MODELS: tuple[ExecutionModel, ...] = (SLOTTED, TYPED_WORKERS, COLOCATION, OBSERVED)
BY_NAME = {model.name: model for model in MODELS}


class PhaseRules(NamedTuple):
    """Rules of a phase, and its scheduler; without that, the reason why it cannot be used."""

    model: ExecutionModel
    packs: tuple[str, ...]  # limited resources
    training: str  # the training model of its jobs, or the execution model
    scheduler: BaseScheduler | None
    missing: str = ""


def scheduler_of(state: ScenarioState) -> BaseScheduler:
    """The scheduler with its parameters; UnknownName and ModelError name it and say why it cannot be used."""
    if reason := obstacle(state.scheduler):
        known = "" if state.scheduler in names() else f"; known: {', '.join(schedulers())}"
        raise Unavailable(reason + known)
    return build(state.scheduler, state.parameters)


def of_stages(run: Run, stages: Sequence[Stage]) -> list[PhaseRules]:
    """Rules of stages of the run, in their order."""
    return [_of_stage(run, stage) for stage in stages]


def stated(run: Run, at_ms: int) -> dict[str, Any]:
    """Data of the event with which the phase at a time began: scheduler, parameters, execution; empty before it."""
    *_, found = next(event_log.lines_of(run.pk, ("run_started",)), ({},))
    for _, _, _, data in event_log.lines_of(run.pk, ("edited",), up_to_ms=at_ms) if at_ms else ():
        found = data
    return found


def _of_stage(run: Run, stage: Stage) -> PhaseRules:
    state = stage.state
    try:
        scheduler = scheduler_of(state)
    except (UnknownName, ModelError) as error:  # it is not installed any more, or has other parameters
        missing = obstacle(state.scheduler) or str(error)
        return _as_stated(stated(run, stage.at_ms).get("execution", {}), state.scheduler, missing)
    model = scheduler.model
    training = model.training(scheduler, state.cluster)
    return PhaseRules(model, model.packs(scheduler, state.cluster), training, scheduler)


def _as_stated(execution: dict[str, Any], scheduler: str, missing: str) -> PhaseRules:
    """Rules by the log; a run without events has no bars, and the first logs, of slotted runs, state none."""
    stated_model = execution.get("model", SLOTTED.name)
    model = BY_NAME.get(stated_model)
    if model is None:  # of a newer version, or of a file that is not installed any more
        model = SLOTTED
        missing += (
            f". Its log states the unknown execution model {shorten(repr(stated_model))} "
            f"(known: {', '.join(BY_NAME)}); it is shown as {model.name}"
        )
    training = execution.get("training", stated_model) if execution else scheduler
    return PhaseRules(model, tuple(execution.get("packs", RESOURCES)), training, None, missing)
