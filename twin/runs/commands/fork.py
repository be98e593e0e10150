"""Forks of runs: made, edited, promoted in place of their parent, discarded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from twin.infra.errors import Refused
from twin.mirror.whatif import forking, inputs
from twin.models import Run, Scenario
from twin.runs import runner
from twin.runs.commands.audit import audit
from twin.runs.commands.control import clock_of
from twin.runs.commands.end import cancel_all
from twin.runs.commands.remove import remove
from twin.runs.commands.start import new_run, start_run
from twin.scenarios import forks, store


class Conflict(Refused):
    """Refusal because the scenario has been changed in the meantime, in another window or by another user."""


def fork(run_id: int, at_ms: int | None, name: str, user: Any = None, *, reuse: bool = False) -> Scenario:
    """Scenario that continues from a time of the run (forks.py)."""
    with transaction.atomic():
        return _audited(forks.fork(run_id, at_ms, name, user, reuse=reuse), run_id, user)


def _audited(made: Scenario, run_id: int, user: Any) -> Scenario:
    audit(user, "run.fork", f"run {run_id}", {"scenario": made.pk, "at_ms": made.fork_ms})
    return made


def fork_and_start(
    run_id: int, at_ms: int | None, name: str, edits: Sequence[Any], start: bool, user: Any = None,
    options: Mapping[str, Any] | None = None, *, reuse: bool = False,
) -> tuple[Scenario, Run | None]:  # fmt: skip
    """A fork with edits of its own, and its run if it is to begin at once: all of it or nothing.

    reuse: see forks.fork. options: scheduler, parameters, durations, assumed_ms, arrivals of a cut of a live cluster
    (mirror/whatif).
    """
    run = Run.objects.select_related("scenario__cluster").filter(pk=run_id).first()
    by_cut = run is not None and run.mode_rules.forked_by_cut
    if options and not by_cut:
        raise Refused(
            f"{', '.join(options)}: only for cuts of a live cluster, and run {run_id} does not mirror one; omit "
            f"{'it' if len(options) == 1 else 'them'}; to change the scheduler, use the edit change_scheduler"
        )
    prepared = forking.prepared(run, at_ms, **(options or {})) if run is not None and by_cut else None
    with transaction.atomic():
        if prepared is None:
            scenario = fork(run_id, at_ms, name, user, reuse=reuse)
        else:
            scenario = _audited(forking.fork(*prepared, name, user), run_id, user)
        if edits:
            scenario = edit(scenario.pk, scenario.version, {"edits": [*scenario.edits, *edits]}, user)
        return scenario, start_run(scenario, user=user) if start else None


def edit(scenario_id: int, version: int, changes: dict[str, Any], user: Any = None) -> Scenario:
    """New name or edits, if the version is the newest; Conflict otherwise, and nothing is lost."""
    if "edits" in changes:  # slow checks run before the database is locked, and are cached
        store.check(Scenario.objects.get(pk=scenario_id), changes["edits"])
    with transaction.atomic():
        scenario = Scenario.objects.select_for_update().get(pk=scenario_id)
        if scenario.unlisted:
            raise Refused(f"scenario {scenario.pk} belongs to a sweep or to shadows and cannot be edited; fork its run")
        if scenario.version != version:
            raise Conflict(
                f"scenario {scenario.pk} has been changed: it is at version {scenario.version}, and your edits are "
                f"based on version {version}; apply them to the newest version"
            )
        if "edits" in changes:
            forks.check_edits(scenario, changes["edits"])
            store.check(scenario, changes["edits"])
            store.check_effects(scenario, changes["edits"], scenario.edits)
        before = {name: getattr(scenario, name) for name in changes}
        for name, value in changes.items():
            setattr(scenario, name, value)
        scenario.version += 1
        scenario.save(update_fields=[*changes, "version"])
        audit(
            user,
            "scenario.edit",
            f"scenario {scenario.pk}",
            {"version": scenario.version, "before": before, "after": changes},
        )
    return scenario


def promote(run: Run, user: Any = None) -> Run:
    """Promotion of a fork: it continues live, with the speed and clock of its parent, which is cancelled.

    Its edits are those of the run, even if the scenario was edited since.
    """
    with transaction.atomic():
        parent = Run.objects.select_for_update().filter(pk=run.parent_id or 0).first()
        if parent is None:
            raise Refused(f"run {run.pk} is not a fork of an existing run; only a fork can replace its parent")
        if parent.mode_rules.recorded:
            raise Refused(
                f"run {parent.pk}, the parent, mirrors a real cluster; no fork can replace it: keep or discard the fork"
            )
        if not parent.mode_rules.paced or parent.status not in Run.ACTIVE:
            raise Refused(f"run {parent.pk}, the parent, is not an active live run; keep or discard the fork")
        now = timezone.now()
        clock = clock_of(parent)
        made = new_run(run.scenario, run.edits, Run.LIVE, clock.speed or parent.clock_speed or 1.0, user)
        fields = {"clock_sim_ms": max(clock.now_ms(now), run.fork_ms or 0), "clock_wall": now}
        Run.objects.filter(pk=made.pk).update(**fields, wanted=parent.wanted)
        audit(user, "run.promote", f"run {run.pk}", {"in_place_of": parent.pk, "live": made.pk})
        cancel_all([parent], user)  # in the same step, so that no other fork is promoted
        transaction.on_commit(lambda: runner.enqueue(made.pk))
    made.refresh_from_db()
    runner.announce(made)
    return made


def discard(run: Run, user: Any = None) -> None:
    """Cancellation and removal of a fork, and of its scenario if it has no other run."""
    if run.fork_ms is None:
        raise Refused(f"run {run.pk} is not a fork; delete it after it has ended")
    with transaction.atomic():
        # its worker cannot write any more
        Run.objects.filter(pk=run.pk).update(epoch=F("epoch") + 1, wanted=Run.CANCELLED)
        remove(run, "run.discard", {"parent": run.parent_id}, user)
        if not run.scenario.runs.exists() and not run.scenario.sweeps.exists():
            audit(user, "scenario.delete", f"scenario {run.scenario_id}", {"name": run.scenario.name})
            run.scenario.delete()
            inputs.drop_unused(run.scenario.trace, run.scenario.cluster)
