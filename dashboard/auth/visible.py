"""Visibility of objects: users see those of everybody and those of their teams; admins see all."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.http import Http404
from rest_framework.exceptions import ValidationError

from dashboard.auth.roles import ADMIN, has_role
from dashboard.http.number_field import IdField
from twin.models import (
    Alert,
    AlertRule,
    AuditEntry,
    ClusterSpec,
    Connection,
    Proposal,
    Run,
    Scenario,
    Sweep,
    Trace,
)
from twin.runs import deleted

AnyModel = TypeVar("AnyModel", bound=Model)
# the path from a model to its team
PATHS: dict[type[Model], str] = {
    Alert: "team",
    AlertRule: "team",
    AuditEntry: "team",
    ClusterSpec: "team",
    Connection: "team",
    Proposal: "connection__team",
    Run: "scenario__team",
    Scenario: "team",
    Sweep: "team",
    Trace: "team",
}
PEOPLE = ("account.", "team.")  # entries of the audit list that only admins see


class Missing(Http404):
    """The object that was asked for does not exist for this user; it is not always the one that the address names."""

    def __init__(self, sentence: str, wanted: object) -> None:
        super().__init__(sentence)
        self.wanted = wanted


def teams_of(user: Any) -> list[int] | None:
    """Numbers of the teams whose objects the user sees; None: all objects."""
    if has_role(user, ADMIN):
        return None
    return list(user.memberships.values_list("team_id", flat=True)) if user.is_authenticated else []


def visible(rows: QuerySet[AnyModel], user: Any) -> QuerySet[AnyModel]:
    """Rows that the user sees."""
    teams = teams_of(user)
    if teams is None:
        return rows
    path = PATHS[rows.model]
    own = Q(**{f"{path}__isnull": True}) | Q(**{f"{path}__in": teams})
    if rows.model is not AuditEntry:
        return rows.filter(own)
    found = rows.filter(own | Q(kept_by__in=teams))
    for start in PEOPLE:
        found = found.exclude(action__startswith=start)
    return found


def one(rows: QuerySet[AnyModel], user: Any, **which: Any) -> AnyModel:
    """The row with this number or name; 404 as if it did not exist where the user does not see it."""
    found = visible(rows, user).filter(**which).first()
    if found is None:
        raise Missing(f"No {rows.model.__name__} matches the given query.", next(iter(which.values())))
    return found


def what_was(noun: str, number: int | str, user: Any) -> deleted.Gone | None:
    """Description of a deleted object with this number or name, for those who saw it; None for any other."""
    return deleted.what_was(noun, number, visible(AuditEntry.objects.all(), user))


def source_refused(source: str, user: Any) -> str:
    """Reason why the user has no access to a source of events: a cluster of another team follows it; else empty."""
    following = Connection.objects.filter(connector="push", parameters__source=source)
    if following.exists() and not visible(following, user).exists():
        return f"the source {source} belongs to a cluster of another team; choose another name for the source"
    return ""


class OfTeams:
    """Mixin of viewsets: their rows are those that the user of the request sees."""

    request: Any

    def get_queryset(self) -> QuerySet[Any]:
        return visible(super().get_queryset(), self.request.user)  # type: ignore[misc]  # of the view


class VisibleRelated(IdField):
    """Field for the number of an object that the user of the request sees."""

    def get_queryset(self) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset()
        return visible(rows, self.context["request"].user)

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except ValidationError as error:
            if "does_not_exist" not in error.get_codes():
                raise
            noun = self.get_queryset().model._meta.model_name or ""
            was = what_was(noun, str(data), self.context["request"].user)
            if was is None:
                raise
            raise ValidationError(str(was), "does_not_exist") from error
