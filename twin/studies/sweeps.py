"""Sweeps: a scenario over a grid of values, and several seeds.

Every point is an ordinary run, so all workers share them. All points are made of the scenario as it was when the sweep
was started, also if it is edited meanwhile.

An axis is a parameter of the scheduler, or a field of one of the scenario's edits; there are one or two. `resume`
continues a sweep that was cancelled or has failed runs; finished runs stay.

The sweep and its points are stored at once, and their runs AT_ONCE in each transaction, so that nobody waits long for
the database. If the process ends in between, the ticker creates the other runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields
from itertools import product
from typing import Any

from django.db import connection, transaction

from scheduling.kernel.registry import parse_parameters, scheduler_class
from scheduling.model.values import ModelError, shorten
from scheduling.reporting.quantities import counted
from twin.infra.errors import Refused
from twin.models import Run, Scenario, Sweep, SweepPoint
from twin.moments import moment
from twin.runs import commands
from twin.scenarios import store
from twin.scenarios.edits import MENU
from twin.scenarios.forks import past_edits
from twin.studies import axis_titles

MAX_POINTS = 500  # runs of one sweep
MAX_AXES = 2
AT_ONCE = 10  # runs that are created in one transaction
PINNED = ("name", "version", "scheduler", "parameters", "edits", "parent_id", "fork_ms")  # fields of the scenario
EXAMPLE = 'for example {"parameter": "backfill", "values": [true, false]}'


def start(scenario: Scenario, name: str, axes: Sequence[Any], seeds: Sequence[int], user: Any = None) -> Sweep:
    """Points and queued runs; ModelError states the axis and the impossible value, and nothing is stored."""
    axes = [_axis(scenario, number, axis) for number, axis in enumerate(axes, start=1)]
    if not 1 <= len(axes) <= MAX_AXES:
        raise ModelError(f"a sweep has one or two axes, got {len(axes):,}")
    if len({column_of(axis) for axis in axes}) != len(axes):
        both = axis_titles.title(axes[0], scenario.scheduler)
        raise ModelError(f"the axes must differ, but both are “{both}”; change one of them")
    if len(set(seeds)) != len(seeds):
        raise ModelError(f"seeds: values must be distinct, got {shorten(str(list(seeds)))}")
    seeds = list(seeds) or [scenario.seed]
    count = len(seeds)
    for axis in axes:
        count *= len(axis["values"])
    if count > MAX_POINTS:
        raise ModelError(f"a sweep has at most {MAX_POINTS:,} points, got {count:,}; use fewer values or fewer seeds")
    places = list(product(*(range(len(axis["values"])) for axis in axes)))
    points = [(place, seed) for place in places for seed in seeds]
    for place, seed in points:
        _scenario(scenario, axes, place, seed, user)  # checked before anything is stored
    with transaction.atomic():
        sweep = Sweep(
            name=(name or f"{scenario.name}, sweep")[:200], scenario=scenario, axes=axes, seeds=seeds,
            pinned={name: getattr(scenario, name) for name in PINNED}, created_by=user,
        )  # fmt: skip
        sweep.settle(scenario.team_id)
        sweep.save()
        SweepPoint.objects.bulk_create(
            SweepPoint(sweep=sweep, place=list(place), seed=seed, pending=SweepPoint.WAITING) for place, seed in points
        )
        commands.audit(user, "sweep.start", f"sweep {sweep.pk}", {"scenario": scenario.name, "points": count})
    while _create_runs(sweep, user):
        pass
    return sweep


def create_waiting() -> int:
    """Some runs of a sweep whose process ended before it had created them; their number."""
    sweep = Sweep.objects.filter(points__pending=SweepPoint.WAITING).select_related("scenario", "created_by").first()
    return _create_runs(sweep, sweep.created_by) if sweep is not None else 0


def _create_runs(sweep: Sweep, user: Any) -> int:
    """Runs of at most AT_ONCE waiting points, in one transaction; their number, 0 when no point waits any more."""
    skip = connection.features.has_select_for_update_skip_locked  # others create runs of other points
    with transaction.atomic():
        waiting = sweep.points.select_for_update(skip_locked=skip, of=("self",) if skip else ())
        points = list(waiting.filter(pending=SweepPoint.WAITING)[:AT_ONCE])
        if not points:
            return 0
        for point, run in zip(
            points, commands.start_runs([_entered(sweep, point, user) for point in points], user), strict=True
        ):
            point.run, point.pending = run, ""
        SweepPoint.objects.bulk_update(points, ["run", "pending"])
    return len(points)


def _entered(sweep: Sweep, point: SweepPoint, user: Any) -> Scenario:
    """The scenario of a point: that of its run before, or a new one."""
    if point.run is not None:
        return point.run.scenario
    made = _scenario(_pinned(sweep), sweep.axes, point.place, point.seed, user)
    made.settle(sweep.team_id)
    made.save()
    return made


def _pinned(sweep: Sweep) -> Scenario:
    """The scenario as it was when the sweep was started; not stored."""
    found = copy(sweep.scenario)
    for name, value in sweep.pinned.items():
        setattr(found, name, value)
    return found


def edited(sweep: Sweep) -> str | None:
    """Sentence about edits of the scenario since the sweep was started; None without any."""
    now, then = sweep.scenario, _pinned(sweep)
    if all(getattr(now, name) == getattr(then, name) for name in PINNED if name not in ("name", "version")):
        return None
    return (
        f"The scenario was edited after this sweep was started: it is at version {now.version}. All points, also "
        f"resumed ones, use version {then.version}."
    )


def cancel(sweep: Sweep, user: Any = None) -> int:
    """Cancellation of the unfinished runs, also of those that are not created yet; their number."""
    with transaction.atomic():
        waiting = sweep.points.filter(pending=SweepPoint.WAITING).update(pending=SweepPoint.CANCELLED)
        runs = [
            point.run
            for point in sweep.points.select_related("run").filter(pending="")
            if point.run is not None and point.run.status in Run.ACTIVE
        ]
        count = commands.cancel_all(runs, user) + waiting
        commands.audit(user, "sweep.cancel", f"sweep {sweep.pk}", {"runs": count})
    return count


def resume(sweep: Sweep, user: Any = None) -> int:
    """A new run of each point that has none that is finished or under way; returns how many."""
    with transaction.atomic():
        open_points = [
            point.pk
            for point in sweep.points.select_related("run")
            if point.pending != SweepPoint.WAITING and status_of(point) in ("deleted", Run.CANCELLED, Run.FAILED)
        ]
        if sweep.points.filter(pk__in=open_points, run=None).exists():
            _check_axes(sweep)
        sweep.points.filter(pk__in=open_points).update(pending=SweepPoint.WAITING)
        commands.audit(user, "sweep.resume", f"sweep {sweep.pk}", {"runs": len(open_points)})
    while _create_runs(sweep, user):
        pass
    return len(open_points)


def delete(sweep: Sweep, user: Any = None) -> None:
    """Removal of the sweep with its runs and their scenarios; refused while runs are active."""
    points = list(sweep.points.select_related("run__scenario"))
    runs = [point.run for point in points if point.run is not None]
    busy = sum(status_of(point) in Run.ACTIVE for point in points)
    if busy:
        raise Refused(f"sweep {sweep.pk} has {counted(busy, 'unfinished run')}; cancel it before deleting it")
    with transaction.atomic():
        sweep_id = sweep.pk
        commands.audit(user, "sweep.delete", f"sweep {sweep_id}", {"name": sweep.name})
        own = {run.scenario_id for run in runs} - {sweep.scenario_id}
        sweep.delete()
        # those that were cancelled and run again, too
        every = Run.objects.filter(scenario_id__in=own).select_related("scenario")
        commands.delete_all(every, {"sweep": sweep_id}, user)
        left = Scenario.objects.filter(pk__in=own, runs=None)
        for number, name in left.values_list("pk", "name"):
            commands.audit(user, "scenario.delete", f"scenario {number}", {"name": name, "sweep": sweep_id})
        left.delete()


def status_of(point: SweepPoint) -> str:
    """Status of a point: that of its run; queued before it has one, deleted after."""
    if point.pending:
        return Run.QUEUED if point.pending == SweepPoint.WAITING else Run.CANCELLED
    return point.run.status if point.run is not None else "deleted"


def column_of(axis: Any) -> str:
    """Name of the axis in CSV files: the parameter, or the edit's number, verb and field."""
    return (
        axis["parameter"]
        if "parameter" in axis
        else f"edit {axis['edit']}: {axis['verb'].replace('_', ' ')}, {axis['field']}"
    )


def _axis(scenario: Scenario, number: int, given: Any) -> dict[str, Any]:
    """Checked axis; the error names an impossible value."""
    subject = f"axis {number}"
    if not isinstance(given, dict) or not isinstance(given.get("values"), list) or not given["values"]:
        raise ModelError(
            f"{subject}: must be an object with values, a non-empty list, got {shorten(str(given))}; {EXAMPLE}"
        )
    if ("parameter" in given) == ("edit" in given):
        raise ModelError(
            f"{subject}: must contain a parameter of the scheduler, or an edit and its field, got "
            f"{shorten(str(given))}; {EXAMPLE}"
        )
    values = list(given["values"])
    if len({str(value) for value in values}) != len(values):
        raise ModelError(f"{subject}: values must be distinct, got {shorten(str(values))}")
    if "parameter" in given:
        axis: dict[str, Any] = {"parameter": str(given["parameter"]), "values": values}
        cls = scheduler_class(scenario.scheduler)
        for value in values:
            parse_parameters(cls, scenario.parameters | {axis["parameter"]: value})
        return axis
    edit, name = given.get("edit"), given.get("field")
    if isinstance(edit, bool) or not isinstance(edit, int) or not 1 <= edit <= len(scenario.edits):
        have = (
            f"the scenario has {len(scenario.edits)}" if scenario.edits else "the scenario has no edits; add one first"
        )
        raise ModelError(f"{subject}: edit must be the number of one of the scenario's edits, got {edit!r}; {have}")
    verb = MENU.named(scenario.edits[edit - 1]["verb"])
    known = ["at_ms", *(field.name for field in fields(verb.Parameters))]
    if name not in known:
        raise ModelError(f"{subject}: field must be one of {', '.join(known)}, got {name!r}")
    return {"edit": edit, "verb": verb.name, "field": name, "values": values}


def _check_axes(sweep: Sweep) -> None:
    """Check that the edits that the sweep varies are known; Refused for sweeps from before they were stored."""
    edits = sweep.pinned["edits"]
    for axis in sweep.axes:
        if "edit" in axis and (len(edits) < axis["edit"] or edits[axis["edit"] - 1]["verb"] != axis["verb"]):
            raise Refused(
                f"sweep {sweep.pk}: some of its runs were deleted, and edit {axis['edit']} of its scenario is no "
                f"longer “{axis_titles.verb_title(axis)}”; start a new sweep of the scenario as it is now"
            )


def _scenario(scenario: Scenario, axes: Sequence[Any], place: Sequence[int], seed: int, user: Any) -> Scenario:
    """The scenario at one point, checked and not stored."""
    parameters, edits = dict(scenario.parameters), [dict(edit) for edit in scenario.edits]
    labels = []
    for axis, i in zip(axes, place, strict=True):
        value = axis["values"][i]
        if "parameter" in axis:
            parsed = parse_parameters(scheduler_class(scenario.scheduler), {axis["parameter"]: value})
            parameters[axis["parameter"]] = getattr(parsed, axis["parameter"])
        else:
            edits[axis["edit"] - 1][axis["field"]] = value
        labels.append(f"{axis_titles.word(axis, scenario.scheduler)} {_value_text(axis, scenario.scheduler, value)}")
    made = Scenario(
        name=f"{scenario.name[:120]}: {', '.join(labels)}, seed {seed}"[:200], cluster_id=scenario.cluster_id,
        trace_id=scenario.trace_id, scheduler=scenario.scheduler, parameters=parameters, seed=seed, edits=edits,
        created_by=user, unlisted=True,
    )  # fmt: skip
    if _same_past(scenario, made):
        made.parent, made.fork_ms = scenario.parent, scenario.fork_ms
    store.check(made, edits)
    return made


def _same_past(scenario: Scenario, made: Scenario) -> bool:
    """True if the point shares the log of the fork's parent; otherwise its past is computed from the beginning."""
    fork_ms = scenario.fork_ms
    if fork_ms is None or made.seed != scenario.seed:
        return False
    cls = scheduler_class(scenario.scheduler)
    if parse_parameters(cls, made.parameters) != parse_parameters(cls, scenario.parameters):
        return False
    return past_edits(made.edits, fork_ms) == past_edits(scenario.edits, fork_ms)


def _value_text(axis: Any, scheduler: str, value: Any) -> str:
    """Value of an axis in a name, with durations and choices as text."""
    is_time = str(axis.get("parameter") or axis["field"]).endswith("_ms") and isinstance(value, int)
    return moment(value) if is_time else axis_titles.choices(axis, scheduler).get(value, str(value))
