"""Who changed what: the entries of the verbs that the API itself carries out (those of runs are control's), and their list."""

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

from scheduling.model import ModelError
from twin.models import AuditEntry

SEARCHED = ("subject", "detail__name", "detail__scenario")  # what ?q= looks into


def record(user: Any, action: str, subject: Any) -> None:
    """One line of the audit list, e.g. record(user, "scenario.create", scenario)."""
    noun = action.partition(".")[0]
    AuditEntry.objects.create(user=user, action=action, subject=f"{noun} {subject.pk}", detail={"name": subject.name})


class AuditedDelete:
    """A view set's delete with its audit entry; `noun` is the entry's word."""

    noun: str
    request: Any

    def perform_destroy(self, instance: Any) -> None:
        with transaction.atomic():
            record(self.request.user, f"{self.noun}.delete", instance)
            instance.delete()


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """One change. `user` is empty when the account is gone, or a command did it."""

    user = serializers.CharField(source="user.username", default="", read_only=True)

    class Meta:
        model = AuditEntry
        fields = ("id", "at", "user", "action", "subject", "detail")


class AuditViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[AuditEntry]):
    """What was changed, by whom, when; entries are only ever added."""

    queryset = AuditEntry.objects.select_related("user")
    serializer_class = AuditSerializer

    @extend_schema(
        parameters=[
            OpenApiParameter("user", str, description="name of an account"),
            OpenApiParameter("action", str, description="e.g. run.start, or a noun for all of its verbs: run"),
            OpenApiParameter("q", str, description="part of the subject, or of the name of what was changed"),
            OpenApiParameter("since", str, description="first day, YYYY-MM-DD, UTC"),
            OpenApiParameter("until", str, description="last day, YYYY-MM-DD, UTC"),
        ]
    )
    def list(self, request: Request) -> Response:
        """The newest first; `users` and `actions` are what can be filtered by."""
        answer = super().list(request)
        everything = AuditEntry.objects.order_by()
        answer.data["users"] = sorted(everything.exclude(user=None).values_list("user__username", flat=True).distinct())
        answer.data["actions"] = sorted(everything.values_list("action", flat=True).distinct())
        return answer

    def filter_queryset(self, queryset: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        asked = {name: text.strip() for name, text in self.request.query_params.items()}
        if user := asked.get("user"):
            queryset = queryset.filter(user__username=user)
        if action := asked.get("action"):
            queryset = queryset.filter(action=action) if "." in action else queryset.filter(action__startswith=f"{action}.")
        if text := asked.get("q"):
            queryset = queryset.filter(reduce(or_, (Q(**{f"{field}__icontains": text}) for field in SEARCHED)))
        for name, lookup in (("since", "at__date__gte"), ("until", "at__date__lte")):
            if text := asked.get(name):
                queryset = queryset.filter(**{lookup: _day(name, text)})
        return queryset


def _day(name: str, text: str) -> Any:
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise ModelError(f"{name} must be a day as YYYY-MM-DD, got {text!r}")
    return day
