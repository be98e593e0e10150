"""What-if from a real cluster: a scenario cut from a mirrored run at a moment, which any scheduler can go on with.

The scenario has its own cluster and trace, on the time axis of the mirror: a moment of the cut is the same moment of
the real cluster. Nothing happens in it before the cut. docs/decisions says why the jobs are not kept on their nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling.kernel.parameters import parse_declared
from scheduling.kernel.registry import build
from twin.infra.errors import Refused
from twin.mirror.whatif.cut import Choice
from twin.mirror.whatif.inputs import inputs_of
from twin.mirror.whatif.moments import Made, made, moment_of
from twin.models import Run, Scenario

SCHEDULER, PARAMETERS = "fifo", {"backfill": True}  # the nearest to what real clusters do


def prepared(
    run: Run, at_ms: int | None, scheduler: str = "", parameters: Mapping[str, Any] | None = None, **choice: Any
) -> tuple[Made, str, dict[str, Any]]:
    """(cut, scheduler, parameters) of a fork that is not stored yet; UnknownName, ModelError, Refused: not possible."""
    if scheduler:
        given = dict(parameters or {})
    else:
        scheduler, given = SCHEDULER, PARAMETERS | dict(parameters or {})
    chosen = parse_declared(f"cut of run {run.pk}", Choice, choice)
    built = build(scheduler, given)
    found = made(moment_of(run, at_ms), chosen)
    if not len(found.table):
        raise Refused(
            f"run {run.pk} has no job that runs or waits at {run.moment(found.cut.at_ms)}; choose another time, "
            "or include the arrivals that followed"
        )
    built.check(found.cluster)
    return found, scheduler, given


def fork(found: Made, scheduler: str, parameters: dict[str, Any], name: str, user: Any = None) -> Scenario:
    """The scenario of a prepared fork; a cut that is there already is used again."""
    run, at_ms = found.moment.run, found.cut.at_ms
    trace, spec = inputs_of(found)
    return Scenario.objects.create(
        name=(name or f"{run.scenario.name}, cut of run {run.pk} at {run.moment(at_ms)}")[:200],
        cluster=spec,
        trace=trace,
        scheduler=scheduler,
        parameters=parameters,
        parent=run,
        fork_ms=at_ms,
        created_by=user,
    )
