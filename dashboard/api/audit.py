"""Audit list, and the entries of the API's own actions (runs/commands writes those of runs)."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_date
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.auth.visible import OfTeams
from scheduling.model.values import ModelError
from twin.models import AuditEntry
from twin.runs import deleted

SEARCHED = ("subject", "detail__name", "detail__scenario")  # fields that ?q= searches


def record(user: Any, action: str, subject: Any) -> None:
    """One line of the audit list, e.g. record(user, "scenario.create", scenario)."""
    noun = action.partition(".")[0]
    AuditEntry.objects.create(user=user, action=action, subject=f"{noun} {subject.pk}", detail={"name": subject.name})


class AuditedDelete:
    """Delete action of a view set with its audit entry; `noun` is used in the entry."""

    noun: str
    request: Any

    def perform_destroy(self, instance: Any) -> None:
        with transaction.atomic():
            record(self.request.user, f"{self.noun}.delete", instance)
            instance.delete()


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """Audit entry. `user` is empty for commands and deleted accounts; `gone` describes a deleted subject."""

    user = serializers.CharField(source="user.username", default="", read_only=True)
    gone = serializers.SerializerMethodField()

    class Meta:
        model = AuditEntry
        fields = ("id", "at", "user", "action", "subject", "detail", "gone")

    def get_gone(self, entry: AuditEntry) -> str | None:
        """Description of the subject if it was deleted, else null."""
        was = self.context["missing"].get(entry.subject)
        return str(was) if was else None


class AuditViewSet(OfTeams, mixins.ListModelMixin, viewsets.GenericViewSet[AuditEntry]):
    """Audit entries; append-only."""

    queryset = AuditEntry.objects.select_related("user")
    serializer_class = AuditSerializer

    def get_serializer(self, *args: Any, **given: Any) -> Any:
        entries = args[0] if args else ()
        missing = {"missing": deleted.missing(entry.subject for entry in entries)}
        context = given.pop("context", None) or self.get_serializer_context()
        return AuditSerializer(*args, context=context | missing, **given)

    @extend_schema(
        parameters=[
            OpenApiParameter("user", str, description="Name of an account"),
            OpenApiParameter(
                "action", str, description="Action such as run.start, or its first part for all actions on runs: run"
            ),
            OpenApiParameter("q", str, description="Part of the subject or of its name"),
            OpenApiParameter("since", str, description="First day, YYYY-MM-DD, UTC"),
            OpenApiParameter("until", str, description="Last day, YYYY-MM-DD, UTC"),
        ]
    )
    def list(self, request: Request) -> Response:
        """Entries, newest first; `users` and `actions` are the filter values."""
        answer = super().list(request)
        everything = self.get_queryset().order_by()
        answer.data["users"] = sorted(everything.exclude(user=None).values_list("user__username", flat=True).distinct())
        answer.data["actions"] = sorted(everything.values_list("action", flat=True).distinct())
        return answer

    def filter_queryset(self, queryset: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        asked = {name: text.strip() for name, text in self.request.query_params.items()}
        if user := asked.get("user"):
            queryset = queryset.filter(user__username=user)
        if action := asked.get("action"):
            queryset = (
                queryset.filter(action=action) if "." in action else queryset.filter(action__startswith=f"{action}.")
            )
        if text := asked.get("q"):
            queryset = queryset.filter(reduce(or_, (Q(**{f"{field}__icontains": text}) for field in SEARCHED)))
        days: dict[str, Any] = {}
        for name, lookup in (("since", "at__date__gte"), ("until", "at__date__lte")):
            if text := asked.get(name):
                days[name] = _day(name, text)
                queryset = queryset.filter(**{lookup: days[name]})
        if len(days) == 2 and days["since"] > days["until"]:
            raise ModelError(f"since must not be after until, got {days['since']} and {days['until']}")
        return queryset


def _day(name: str, text: str) -> Any:
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise ModelError(f"{name} must be a day as YYYY-MM-DD, got {text!r}")
    return day
