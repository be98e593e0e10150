"""Sets of shadows: request, cancel, remove; and the set of a window once it is cut."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from scheduling.kernel.registry import scheduler_class
from scheduling.model.training_models import training_model_of
from twin.infra.errors import Refused
from twin.mirror.connecting import condition
from twin.mirror.whatif.inputs import inputs_of, sentences
from twin.models import ClusterSpec, Connection, Run, Scenario, Shadow, ShadowSet, Trace
from twin.runs import commands
from twin.scenarios import store
from twin.studies.races import trained_by
from twin.studies.shadows import replays
from twin.studies.shadows.believed import believed, predictor_of
from twin.studies.shadows.entrants import entrants
from twin.studies.shadows.metrics import history_of, real
from twin.studies.shadows.window import Window, bounds, window_of

HOUR_MS = 3_600_000
DEFAULT_MS, MAX_MS = 6 * HOUR_MS, 7 * 24 * HOUR_MS
WHAT = {ShadowSet.SHADOWS: "shadows", ShadowSet.REPLAY: "replay"}
IS = {ShadowSet.SHADOWS: "are", ShadowSet.REPLAY: "is"}
UNDER_WAY = {
    ShadowSet.SHADOWS: "are being computed; wait until they are finished, or cancel them",
    ShadowSet.REPLAY: "is being computed; wait until it is finished, or cancel it",
}
ACTUAL, BELIEVED = "actual", "believed"  # durations; believed: as predicted at submission


def request(
    connection: Connection, length_ms: int = DEFAULT_MS, until_ms: int | None = None, user: Any = None, *,
    purpose: str = ShadowSet.SHADOWS, run: Run | None = None,
) -> ShadowSet:  # fmt: skip
    """A queued set; Refused where the window is outside of what is known, or one of this purpose is under way.

    run: a mirrored run of the connection (None: the newest).
    """
    if not 1_000 <= length_ms <= MAX_MS:
        raise Refused(f"the window must be 1 s to {MAX_MS // HOUR_MS} h long, got {length_ms:,} ms")
    run, until_ms, from_ms = bounds(connection, length_ms, until_ms, run)
    with transaction.atomic():
        Connection.objects.select_for_update().get(pk=connection.pk)
        active = connection.shadow_sets.filter(status__in=ShadowSet.ACTIVE, purpose=purpose).first()
        if active is not None and active.created_by is None and user is not None:
            end(active, ShadowSet.CANCELLED)  # one of the twin's own gives way
        elif active is not None:
            raise Refused(f"{WHAT[purpose]} of {connection.name} {UNDER_WAY[purpose]}")
        made = ShadowSet.objects.create(
            connection=connection, purpose=purpose, run=run, length_ms=length_ms, from_ms=from_ms, until_ms=until_ms,
            seq=run.last_seq, created_by=user if user is not None and user.pk else None,
        )  # fmt: skip
        if made.created_by is not None:
            detail = {"connection": connection.name, "hours": round(length_ms / HOUR_MS, 3)}
            commands.audit(user, f"{purpose}.start", f"connection {connection.name}", detail)
    return made


def cancel(connection: Connection, user: Any = None, *, purpose: str = ShadowSet.SHADOWS) -> ShadowSet:
    """End of the set under way; shadows that are finished stay."""
    with transaction.atomic():
        active = connection.shadow_sets.select_for_update().filter(status__in=ShadowSet.ACTIVE)
        found = active.filter(purpose=purpose).first()
        if found is None:
            raise Refused(f"no {WHAT[purpose]} of {connection.name} {IS[purpose]} being computed")
        end(found, ShadowSet.CANCELLED)
        commands.audit(user, f"{purpose}.cancel", f"connection {connection.name}", {"set": found.pk})
    return found


def end(of: ShadowSet, status: str, message: str = "") -> None:
    """The last status of a set. Its process ends when it finds its lease gone."""
    ShadowSet.objects.filter(pk=of.pk).update(
        status=status, message=message, finished_at=timezone.now(), owner="", lease_until=None
    )
    of.refresh_from_db()
    commands.end_quietly([shadow.run_id for shadow in of.shadows.all() if shadow.run_id is not None])


def prepare(of: ShadowSet) -> Window:
    """The cut of the window, stored with one shadow for each scheduler that can; Refused where none can."""
    replay = of.purpose == ShadowSet.REPLAY
    if replay:
        window, pause_ms, passes = replays.cut(of)
    else:
        window, pause_ms, passes = window_of(of.connection, of.length_ms, of.until_ms), 0, []
    table, cluster = window.made.table, window.made.cluster
    jobs = list(table.jobs())
    history = history_of(window, jobs)
    if replay:
        known = [replays.entrant(cluster, replays.constraints_of(of.connection), passes)]
    else:
        known = entrants(cluster, table)
    able = [entrant for entrant in known if not entrant.reason]
    if not able:
        raise Refused(f"no scheduler can run the window; the reason for {known[0].scheduler.title}: {known[0].reason}")
    with transaction.atomic():
        trace, spec = inputs_of(window.made)
        facts = {
            "slot_ms": cluster.slot_ms, "jobs": len(jobs), "scored": int((history.completed_ms >= 0).sum()),
            "real": real(window, history), "sentences": [*sentences(window.made), *window.sentences],
            "cannot": [{"scheduler": one.scheduler.name, "reason": one.reason} for one in known if one.reason],
            "cannot_believe": [
                {"scheduler": one.scheduler.name, "reason": one.cannot_believe} for one in able if one.cannot_believe
            ],
            "beliefs": None if replay else believed(window, predictor_of(of.connection)),
            "note": "" if replay else _away(of.connection),
        }  # fmt: skip
        if replay:
            facts |= {
                "arrives": replays.arrivals(window), "parameters": able[0].parameters,
                "pause_ms": pause_ms,
                "in_step": replays.in_step_of(window, able[0], jobs, replays.within_ms(of.connection)),
            }  # fmt: skip
        Shadow.objects.bulk_create(
            Shadow(set=of, scheduler=entrant.scheduler.name, durations=durations)
            for durations, own in ((ACTUAL, able), (BELIEVED, [one for one in able if not one.cannot_believe]))
            for entrant in own
            if not (replay and durations == BELIEVED)
        )
        ShadowSet.objects.filter(pk=of.pk).update(
            trace=trace,
            cluster=spec,
            from_ms=window.from_ms,
            until_ms=window.until_ms,
            facts=facts,
            history=history.packed(),
        )
    of.refresh_from_db()
    return window


def scenario_of(shadow: Shadow) -> Scenario:
    """The scenario of a shadow, which lists leave out."""
    of = shadow.set
    assert of.trace is not None
    assert of.cluster is not None
    cls = scheduler_class(shadow.scheduler)
    parameters = of.facts.get("parameters") or trained_by(cls, training_model_of(store.cluster_of(of.cluster.pk)))
    known = shadow.durations == BELIEVED
    made = Scenario(
        name=f"{of.connection.name}, {_role(of)} {cls.title}{', predicted run times' if known else ''}"[:200],
        cluster=of.cluster, trace=of.trace, scheduler=cls.name, parameters=parameters, unlisted=True,
        created_by=of.created_by, beliefs=of.facts["beliefs"] if known else None,
    )  # fmt: skip
    made.settle(of.connection.team_id)
    made.save()
    return made


def _role(of: ShadowSet) -> str:
    return "replay by" if of.purpose == ShadowSet.REPLAY else "shadow of"


def remove(sets: list[ShadowSet]) -> None:
    """Removal of sets with their runs, scenarios and cuts. Nothing is recorded: the twin makes and removes many."""
    for of in sets:
        runs = [shadow.run_id for shadow in of.shadows.all() if shadow.run_id is not None]
        trace, cluster = of.trace, of.cluster
        with transaction.atomic():
            scenarios = list(Scenario.objects.filter(runs__in=runs).values_list("pk", flat=True))
            of.delete()
            Run.objects.filter(pk__in=runs).delete()
            Scenario.objects.filter(pk__in=scenarios, runs=None, sweeps=None).delete()
            _drop(trace, cluster)


def _drop(trace: Trace | None, cluster: ClusterSpec | None) -> None:
    """Removal of a cut that nothing uses any more."""
    if trace is None or Scenario.objects.filter(trace=trace).exists() or ShadowSet.objects.filter(trace=trace).exists():
        return
    if cluster is not None and not Scenario.objects.filter(cluster=cluster).exists():
        cluster.delete()
    trace.delete()


def due(connection: Connection) -> bool:
    """True if the twin has to make the next set of a live cluster, in which something has happened since."""
    if not settings.SHADOWS_EVERY_S or connection.run is None:
        return False
    if condition.condition(connection).state != condition.FOLLOWING:
        return False
    last = connection.shadow_sets.filter(purpose=ShadowSet.SHADOWS).first()
    if last is None:
        return True
    later = timezone.now() - last.created_at >= timedelta(seconds=settings.SHADOWS_EVERY_S)
    return later and (last.run_id, last.seq) != (connection.run_id, connection.run.last_seq)


def _away(connection: Connection) -> str:
    """Reason why the window does not end now; empty while the cluster is followed."""
    found = condition.condition(connection)
    if found.state in (condition.FOLLOWING, condition.STARTING):
        return ""
    return f"The cluster is not followed now, so the window ends when it was last observed. {found.message}".strip()
