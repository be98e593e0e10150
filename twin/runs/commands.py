"""Commands of operators: start, pause, resume, cancel, pace, step, delete; each adds an audit entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from twin.infra import pubsub
from twin.infra.errors import Refused
from twin.mirror.whatif import forking, inputs
from twin.models import AuditEntry, Run, Scenario, Trace
from twin.runs import deleted, runner, scheduler_history
from twin.runs.clock import MAX_SPEED, Clock
from twin.scenarios import forks, store


class Conflict(Refused):
    """Refusal because the scenario has been changed in the meantime, in another window or by another user."""


def start_run(scenario: Scenario, mode: str = Run.BATCH, speed: float = 3600.0, user: Any = None) -> Run:
    """Queues a run. `speed` (live): ms of the cluster's time in each ms."""
    with transaction.atomic():
        run = _new_run(scenario, scenario.edits, mode, speed, user)
        transaction.on_commit(lambda: _begin(run))
    return run


def start_runs(entered: Sequence[Scenario], user: Any = None) -> list[Run]:
    """Queues a batch run of each scenario, all at once: the workers share them."""
    with transaction.atomic():
        runs = [_new_run(scenario, scenario.edits, Run.BATCH, 0, user) for scenario in entered]
        transaction.on_commit(lambda: runner.enqueue_all([run.pk for run in runs]))
        transaction.on_commit(lambda: _announce_all(runs))
    return runs


def _begin(run: Run) -> None:
    """Announcement of a stored run, before its worker announces it: whoever hears of it can read it."""
    runner.announce(run)
    runner.enqueue(run.pk)


def _new_run(scenario: Scenario, edits: Sequence[Any], mode: str, speed: float, user: Any) -> Run:
    if mode not in (Run.BATCH, Run.LIVE):
        raise Refused(f"mode must be batch or live, got {mode!r}")
    if mode == Run.LIVE:
        _check_speed(speed)
    if scenario.trace.status != Trace.READY:
        raise Refused(f"trace {scenario.trace.name} is {scenario.trace.status}, not ready")
    # An unknown name, a value out of range or a cluster too large for the scheduler fails here.
    store.check(scenario, edits)
    run = Run.objects.create(
        scenario=scenario,
        edits=edits,
        mode=mode,
        created_by=user,
        clock_wall=timezone.now(),
        clock_speed=speed if mode == Run.LIVE else 0,
    )
    if scenario.fork_ms is not None:
        _inherit(run, scenario)
    scheduler = scheduler_history.words(scheduler_history.in_order(scenario.scheduler, edits))
    audit(user, "run.start", f"run {run.pk}", {"scenario": scenario.name, "scheduler": scheduler, "mode": mode})
    return run


def _inherit(run: Run, scenario: Scenario) -> None:
    """Start of a fork with its parent's log; without a parent its past is computed again."""
    parent = scenario.parent
    assert scenario.fork_ms is not None
    if parent is not None:
        forks.inherit(run, parent, scenario.fork_ms)
    if run.mode == Run.LIVE:
        Run.objects.filter(pk=run.pk).update(clock_sim_ms=scenario.fork_ms)
        run.clock_sim_ms = scenario.fork_ms


def fork(run_id: int, at_ms: int | None, name: str, user: Any = None) -> Scenario:
    """Scenario that continues from a time of the run (forks.py)."""
    with transaction.atomic():
        return _audited(forks.fork(run_id, at_ms, name, user), run_id, user)


def _audited(made: Scenario, run_id: int, user: Any) -> Scenario:
    audit(user, "run.fork", f"run {run_id}", {"scenario": made.pk, "at_ms": made.fork_ms})
    return made


def fork_and_start(
    run_id: int, at_ms: int | None, name: str, edits: Sequence[Any], start: bool, user: Any = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Scenario, Run | None]:  # fmt: skip
    """A fork with edits of its own, and its run if it is to begin at once: all of it or nothing.

    options: scheduler, parameters, durations, assumed_ms, arrivals of a fork of a mirrored run (mirror/whatif).
    """
    run = Run.objects.select_related("scenario__cluster").filter(pk=run_id).first()
    mirrored = run is not None and run.mode == Run.MIRROR
    if options and not mirrored:
        raise Refused(
            f"{', '.join(options)}: only for forks of a run that mirrors a real cluster, and run {run_id} is not one; "
            "use the edit change_scheduler"
        )
    prepared = forking.prepared(run, at_ms, **(options or {})) if run is not None and mirrored else None
    with transaction.atomic():
        if prepared is None:
            scenario = fork(run_id, at_ms, name, user)
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
        if parent.mode == Run.MIRROR:
            raise Refused(
                f"run {parent.pk}, the parent, mirrors a real cluster; no fork can replace it: keep or discard the fork"
            )
        if parent.mode != Run.LIVE or parent.status not in Run.ACTIVE:
            raise Refused(f"run {parent.pk}, the parent, is not an active live run; keep or discard the fork")
        now = timezone.now()
        clock = clock_of(parent)
        made = _new_run(run.scenario, run.edits, Run.LIVE, clock.speed or parent.clock_speed or 1.0, user)
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
        _remove(run, "run.discard", {"parent": run.parent_id}, user)
        if not run.scenario.runs.exists() and not run.scenario.sweeps.exists():
            audit(user, "scenario.delete", f"scenario {run.scenario_id}", {"name": run.scenario.name})
            run.scenario.delete()
            inputs.drop_unused(run.scenario.trace, run.scenario.cluster)


def pause(run: Run, user: Any = None) -> Run:
    """Pause after the current batch; the clock of a live run stops."""
    _simulated(run, "pause")
    _active(run, "pause")
    if run.wanted == Run.PAUSED:
        return run
    now = timezone.now()
    clock = clock_of(run)
    return _want(run, Run.PAUSED, user, "run.pause", clock_sim_ms=clock.now_ms(now), clock_wall=now)


def resume(run: Run, user: Any = None) -> Run:
    """Continuation after a pause."""
    _simulated(run, "resume")
    _active(run, "resume")
    if run.wanted == Run.RUNNING and run.status != Run.PAUSED:
        return run
    fields: dict[str, Any] = {"clock_wall": timezone.now(), "message": ""}
    if run.status == Run.PAUSED:
        fields |= {"status": Run.QUEUED, "held_since": None}
    return _want(run, Run.RUNNING, user, "run.resume", **fields)


def cancel(run: Run, user: Any = None) -> Run:
    """Permanent end of the run, at once, whatever its worker does; its log stays."""
    _simulated(run, "cancel")
    _active(run, "cancel")
    if not cancel_all([run], user):
        _active(run, "cancel")  # it has ended since it was read
    run.refresh_from_db()
    return run


def cancel_all(runs: Sequence[Run], user: Any = None) -> int:
    """Cancellation of the active ones among them, all at once; their number. Having ended meanwhile is no error."""
    with transaction.atomic():
        active = (
            Run.objects.select_for_update(of=("self",)).select_related("scenario__trace").filter(status__in=Run.ACTIVE)
        )
        going = list(active.filter(pk__in=[run.pk for run in runs]))
        # A new epoch takes the run from its worker: its next write is refused, its process freed (lease.Heartbeat).
        Run.objects.filter(pk__in=[run.pk for run in going]).update(
            status=Run.CANCELLED, wanted=Run.CANCELLED, message="", finished_at=timezone.now(), end_ms=F("sim_ms"),
            next_event_ms=None, epoch=F("epoch") + 1, lease_until=None, lease_owner="", held_since=None,
        )  # fmt: skip
        for run in going:
            audit(user, "run.cancel", f"run {run.pk}", {})
        transaction.on_commit(lambda: _announce_all(going))
    return len(going)


def _announce_all(runs: Sequence[Run]) -> None:
    for run in runs:
        run.refresh_from_db()
        runner.announce(run)


def request_certificate(run_id: int, user: Any = None) -> None:
    """Request for a certificate of the run's present log."""
    from twin.analysis import certificate_task

    if not certificate_task.request(run_id):
        raise Refused(f"a certificate of run {run_id} is being computed; wait for it, or cancel it")
    audit(user, "certificate.request", f"run {run_id}", {})


def cancel_certificate(run_id: int, user: Any = None) -> None:
    """End of the computation of the run's certificate; it is repeated later if the run continues."""
    from twin.analysis import certificate_task

    if not certificate_task.cancel(run_id):
        raise Refused(f"no certificate of run {run_id} is being computed")
    audit(user, "certificate.cancel", f"run {run_id}", {})


def set_speed(run: Run, speed: float, user: Any = None) -> Run:
    """Paces a live run at `speed` ms a ms from this moment on."""
    _simulated(run, "set the speed of")
    _live(run, "speed")
    _active(run, "set the speed of")
    _check_speed(speed)
    now = timezone.now()
    clock = clock_of(run).with_speed(speed, now)
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(clock_sim_ms=clock.sim_ms, clock_wall=clock.wall, clock_speed=clock.speed)
        audit(user, "run.speed", f"run {run.pk}", {"speed": speed})
    return _told(run)


def step(run: Run, user: Any = None) -> Run:
    """Move of a paused live run's clock to its next event, which happens; the run stays paused."""
    _simulated(run, "step")
    _live(run, "step")
    _active(run, "step")
    if run.wanted != Run.PAUSED:
        raise Refused("pause the run before stepping it")
    if run.status != Run.PAUSED:
        raise Refused("the run is still pausing; try again later")
    if not runner.enqueue_step(run.pk):
        raise Refused("the broker does not answer; try again later")
    audit(user, "run.step", f"run {run.pk}", {})
    return _told(run)


def delete(run: Run, user: Any = None) -> None:
    """Removal of a run that has ended, with its log."""
    if run.status in Run.ACTIVE:
        _simulated(run, "delete")
    if run.status in Run.ACTIVE:
        raise Refused(f"run {run.pk} is {run.status}; cancel it before deleting it")
    with transaction.atomic():
        _remove(run, "run.delete", {}, user)


def delete_all(runs: QuerySet[Run], detail: dict[str, Any], user: Any = None) -> None:
    """Removal of these runs with their logs; each has its own entry in the audit list, because each had a page."""
    numbers = [run.pk for run in runs]
    for run in runs:
        _audit_removal(run, "run.delete", detail, user)
    runs.delete()
    _tell_deleted(numbers)


def _remove(run: Run, action: str, detail: dict[str, Any], user: Any) -> None:
    """Removal of the run with its log, published to its readers."""
    _audit_removal(run, action, detail, user)
    number = run.pk
    run.delete()
    _tell_deleted([number])


def _audit_removal(run: Run, action: str, detail: dict[str, Any], user: Any) -> None:
    of = {"scenario": run.scenario.name, "scheduler": scheduler_history.words(scheduler_history.of_run(run))}
    audit(user, action, f"run {run.pk}", of | detail)


def _tell_deleted(numbers: Sequence[int]) -> None:
    """Publication of the removal of these runs after the transaction."""

    def tell() -> None:
        for number in numbers:
            if (was := deleted.what_was("run", number)) is not None:
                pubsub.deleted(number, str(was))

    transaction.on_commit(tell)


def start_import(trace: Trace, user: Any = None) -> Trace:
    """Queues a complete upload for the scan or the import, by its stage."""
    _queue(trace, {"stage": trace.stage})
    audit(user, "trace.upload", f"trace {trace.pk}", {"name": trace.name})
    return trace


def choose(trace: Trace, stage: str, changes: dict[str, Any], user: Any = None) -> Trace:
    """Import of a scanned upload, or another scan with other options."""
    with transaction.atomic():
        standing = Trace.objects.select_for_update().only("status").get(pk=trace.pk)
        if standing.status != Trace.SCANNED:
            raise Refused(
                f"trace {trace.name} is {standing.status}; only an upload in the state scanned can be imported"
            )
        audit(user, f"trace.{stage}", f"trace {trace.pk}", changes.get("options", {}))
        return _queue(trace, {**changes, "stage": stage})


def _queue(trace: Trace, changes: dict[str, Any]) -> Trace:
    from twin.traces import import_task

    Trace.objects.filter(pk=trace.pk).update(
        **changes, status=Trace.QUEUED, progress=0, message="", touched_at=timezone.now()
    )
    transaction.on_commit(lambda: import_task.enqueue(trace.pk))
    trace.refresh_from_db()
    import_task.publish(trace)
    return trace


def cancel_import(trace: Trace, user: Any = None) -> Trace:
    """Cancellation of an import; nothing of it stays."""
    from twin.traces import import_task

    changed = Trace.objects.filter(pk=trace.pk, status__in=(*Trace.BUSY, Trace.SCANNED)).update(
        status=Trace.CANCELLED, message="cancelled"
    )
    if not changed:
        trace.refresh_from_db()
        raise Refused(f"trace {trace.name} is {trace.status}; only an import in progress can be cancelled")
    audit(user, "trace.cancel", f"trace {trace.pk}", {})
    trace.refresh_from_db()
    import_task.drop_upload(trace)
    import_task.publish(trace)
    return trace


def clock_of(run: Run) -> Clock:
    """Clock as stored; that of a paused run does not advance."""
    moving = run.wanted == Run.RUNNING and run.status != Run.PAUSED
    return Clock(run.clock_sim_ms, run.clock_wall or timezone.now(), run.clock_speed if moving else 0.0)


def _active(run: Run, verb: str) -> None:
    run.refresh_from_db()
    if run.status not in Run.ACTIVE:
        raise Refused(f"cannot {verb} run {run.pk}: it is {run.status}")


def _simulated(run: Run, verb: str) -> None:
    """Refusal for a run that mirrors a real cluster; one that no connection follows any more can be cancelled."""
    if run.mode != Run.MIRROR or run.status not in Run.ACTIVE:
        return
    connection = run.connections.first()
    if connection is not None:
        name = connection.name
        raise Refused(f"cannot {verb} run {run.pk}: it mirrors the cluster {name}; pause following on /live/{name}/")
    if verb != "cancel":
        raise Refused(f"cannot {verb} run {run.pk}: no connection follows its cluster any more; cancel the run")


def _live(run: Run, verb: str) -> None:
    if run.mode != Run.LIVE:
        raise Refused(f"{verb} applies to live runs only; run {run.pk} is a batch run")


def _check_speed(speed: float) -> None:
    if not 0 < speed <= MAX_SPEED:
        raise Refused(
            f"speed must be above 0 and at most {MAX_SPEED:g} ms per ms, got {speed!r}; pause the run to stop it"
        )


def _want(run: Run, wanted: str, user: Any, action: str, **fields: Any) -> Run:
    with transaction.atomic():
        if not Run.objects.filter(pk=run.pk, status__in=Run.ACTIVE).update(wanted=wanted, **fields):
            _active(run, action.partition(".")[2])  # it has ended since it was read
        audit(user, action, f"run {run.pk}", {})
    runner.enqueue(run.pk)
    return _told(run)


def _told(run: Run) -> Run:
    """Current run, after the publication of its status."""
    run.refresh_from_db()
    runner.announce(run)
    return run


def audit(user: Any, action: str, subject: str, detail: dict[str, Any]) -> None:
    """Entry of the audit list."""
    known = user if user is not None and getattr(user, "pk", None) else None
    AuditEntry.objects.create(user=known, action=action, subject=subject, detail=detail)
