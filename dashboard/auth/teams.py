"""Teams: created and filled by admins, and objects moved between them. Each step is an entry of the audit list."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from dashboard.auth import moved_entries
from scheduling.model.values import ModelError, shorten
from scheduling.reporting.quantities import counted
from twin.infra.errors import Refused
from twin.models import (
    Alert,
    AlertRule,
    AuditEntry,
    ClusterSpec,
    Connection,
    Membership,
    Run,
    Scenario,
    ShadowSet,
    Sweep,
    Team,
    Trace,
)
from twin.models.run_modes import modes_where
from twin.scenarios import listed

MAX_NAME = 80
# what can be moved: a scenario with its runs, a cluster that is followed with all that was made for it
MOVED_TYPES: dict[str, Any] = {
    "trace": Trace,
    "cluster": ClusterSpec,
    "scenario": Scenario,
    "sweep": Sweep,
    "connection": Connection,
}


def create(name: str, by: Any) -> Team:
    """New team without members; ModelError for a name that is not possible or taken."""
    name = name.strip()
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise ModelError(f"name must have 1 to {MAX_NAME} printable characters, got {shorten(name)!r}")
    if Team.objects.filter(name__iexact=name).exists():
        raise ModelError(f"name must be new; the team {name!r} already exists")
    with transaction.atomic():
        made = Team.objects.create(name=name)
        _record(by, "team.create", made, {})
    return made


def owned(team: Team) -> dict[str, int]:
    """Number of objects of each kind that the lists of its members show."""
    counts = {}
    for noun, model in MOVED_TYPES.items():
        rows = model.objects.filter(team=team)
        if noun == "scenario":
            rows = listed.scenarios(rows)
        elif noun in ("trace", "cluster"):
            rows = listed.inputs(rows, noun)
        counts[noun] = rows.count()
    return counts


def remove(team: Team, by: Any) -> None:
    """Removal of a team that owns nothing and never did: entries of the audit list stay with their team."""
    texts = [counted(count, noun) for noun, count in owned(team).items() if count]
    if texts:
        raise Refused(f"team {team.name} owns {', '.join(texts)}; move them to another team first")
    if any(model.objects.filter(team=team).exists() for model in MOVED_TYPES.values()):
        raise Refused(f"team {team.name} has records of live clusters, which are kept; remove its members instead")
    entries = AuditEntry.objects.filter(Q(team=team) | Q(kept_by=team))
    if entries.exists() or any(model.objects.filter(team=team).exists() for model in (Alert, AlertRule)):
        raise Refused(f"team {team.name} has entries in the audit list, which are kept; remove its members instead")
    with transaction.atomic():
        _record(by, "team.delete", team, {})
        team.delete()


def add(team: Team, user: Any, by: Any, provided: bool = False) -> None:
    """New member; a second call has no effect. provided: by a group of the OpenID provider."""
    with transaction.atomic():
        if Membership.objects.get_or_create(team=team, user=user, defaults={"provided": provided})[1]:
            _record(by, "team.join", team, {"account": user.get_username()})


def take_out(team: Team, user: Any, by: Any) -> None:
    """Removal of a member; a second call has no effect."""
    with transaction.atomic():
        if Membership.objects.filter(team=team, user=user).delete()[0]:
            _record(by, "team.leave", team, {"account": user.get_username()})


def move(kind: str, key: str, team: Team | None, by: Any) -> str:
    """Move of an object, with all that depends on it, to a team, or to everybody (None); the name of the object.

    A trace or cluster cannot leave scenarios of another team behind: those are moved first.
    """
    field = "name" if kind == "connection" else "pk"
    if field == "pk" and not key.isdecimal():
        raise ModelError(f"a {kind} is identified by its number, got {shorten(key)!r}")
    with transaction.atomic():
        found: Any = MOVED_TYPES[kind].objects.filter(**{field: key}).first()
        if found is None:
            raise ModelError(f"{kind} {shorten(key)} does not exist")
        _check(kind, found, team)
        moved = [*_dependent(kind, found), MOVED_TYPES[kind].objects.filter(pk=found.pk)]
        for rows in moved:
            rows.update(team=team)
        moved_entries.move(moved, team)
        AuditEntry.objects.create(
            user=by, action="team.move", subject=f"{kind} {key}",
            detail={"name": found.name, "team": team.name if team else "everybody"},
        )  # fmt: skip
    return str(found.name)


def _check(kind: str, found: Any, team: Team | None) -> None:
    """Check that no object would refer to one that the team does not see; Refused otherwise."""
    if kind == "scenario":
        inputs = {"trace": found.trace, "cluster": found.cluster}
        hidden = [f"{noun} {one.pk}" for noun, one in inputs.items() if one.team_id not in (None, _pk(team))]
        if hidden:
            raise Refused(f"scenario {found.pk} uses {' and '.join(hidden)} of another team; move it first")
    elif kind in ("trace", "cluster") and team is not None:
        others = Scenario.objects.filter(**{kind: found}).exclude(team=team).values_list("pk", flat=True)
        if number := others.first():
            raise Refused(f"scenario {number} of another team or of everybody uses {kind} {found.pk}")
    elif kind == "sweep" and found.scenario.team_id not in (None, _pk(team)):
        raise Refused(f"sweep {found.pk} uses scenario {found.scenario_id} of another team; move it first")


def _dependent(kind: str, found: Any) -> list[QuerySet[Any]]:
    """Rows that follow the object into its new team."""
    if kind == "scenario":
        runs = [f"run {number}" for number in Run.objects.filter(scenario=found).values_list("pk", flat=True)]
        return [model.objects.filter(target__in=runs) for model in (Alert, AlertRule)]
    if kind == "sweep":
        return [Scenario.objects.filter(runs__points__sweep=found, unlisted=True)]
    if kind == "connection":
        target = f"connection {found.name}"
        shadows = ShadowSet.objects.filter(connection=found)
        own = {found.run.scenario_id} if found.run else set()
        own |= set(shadows.values_list("shadows__run__scenario", flat=True))
        own |= set(Scenario.objects.filter(trace__in=shadows.values("trace")).values_list("pk", flat=True))
        before = Run.objects.filter(
            mode__in=modes_where(simulated=False), created_by=found.created_by, scenario__name=found.name
        )
        own |= set(before.values_list("scenario", flat=True))
        scenarios = Scenario.objects.filter(pk__in=own - {None})
        return [
            Trace.objects.filter(pk__in=list(scenarios.values_list("trace", flat=True))),
            ClusterSpec.objects.filter(pk__in=list(scenarios.values_list("cluster", flat=True))),
            scenarios,
            *(model.objects.filter(target=target) for model in (Alert, AlertRule)),
        ]
    return []


def _pk(team: Team | None) -> int | None:
    return None if team is None else team.pk


def _record(by: Any, action: str, team: Team, detail: dict[str, Any]) -> None:
    AuditEntry.objects.create(user=by, action=action, subject=f"team {team.pk}", detail={"name": team.name, **detail})
