"""Alerts: open ones, history, acknowledgement, and the state of evaluation and webhook."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.auth.visible import OfTeams, visible
from dashboard.readmodels import alerts
from scheduling.model.values import ModelError, shorten
from twin.alerts.acknowledging import acknowledge
from twin.alerts.base import sentence
from twin.alerts.webhook import outbox
from twin.models import Alert, AlertWork

OPEN, ENDED = "open", "ended"


class RuleTitle(serializers.CharField):
    """Title of a rule; its name if this version does not have the rule."""

    def to_representation(self, value: str) -> str:
        return alerts.title(value)


class AlertSerializer(serializers.ModelSerializer[Alert]):
    """An alert. began_ms: time in the log of its run; ending: cleared, unwatched, off, or empty while it is open."""

    title = RuleTitle(source="rule", read_only=True)
    sentence = serializers.SerializerMethodField()
    address = serializers.SerializerMethodField()
    acknowledged_by = serializers.SlugRelatedField[Any](
        slug_field="username", read_only=True, allow_null=True, help_text="Name of the account"
    )

    class Meta:
        model = Alert
        fields = (
            "id", "rule", "title", "level", "code", "sentence", "target", "subject", "values", "run", "address",
            "began_at", "began_ms", "ended_at", "ending", "acknowledged_by", "acknowledged_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_sentence(self, alert: Alert) -> str:
        """The finding in words."""
        return sentence(alert.rule, alert.code, alert.values)

    def get_address(self, alert: Alert) -> str:
        """Path of the page that shows more; empty without one."""
        return alerts.address(alert.rule, alert.target, alert.run_id, alert.values)


class WebhookSerializer(serializers.Serializer[Any]):
    """Delivery of notices. receiver: scheme and host, null without one; problem: what is wrong with the setting;
    error: that of the newest attempt."""

    receiver = serializers.CharField(allow_null=True)
    signed = serializers.BooleanField()
    problem = serializers.CharField()
    waiting = serializers.IntegerField()
    given_up = serializers.IntegerField()
    delivered_at = serializers.DateTimeField(allow_null=True)
    next_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField()


class AlertStatusSerializer(serializers.Serializer[Any]):
    """open: {level: unacknowledged alerts}. evaluated_at, seconds: time and duration of the newest evaluation;
    watched: its targets; left: those that it had no time for."""

    open = serializers.DictField(child=serializers.IntegerField())
    evaluated_at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    watched = serializers.IntegerField()
    left = serializers.IntegerField()
    webhook = WebhookSerializer()


@extend_schema_view(retrieve=extend_schema(description="One alert."))
class AlertViewSet(OfTeams, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Alert]):
    """Alerts, newest first; among open ones, serious ones come first."""

    queryset = Alert.objects.select_related("acknowledged_by")
    serializer_class = AlertSerializer
    lookup_value_regex = r"\d+"

    @extend_schema(
        parameters=[
            OpenApiParameter("state", str, description="open or ended; by default both"),
            OpenApiParameter("target", str, description="Target of the alert: `connection NAME` or `run NUMBER`"),
            OpenApiParameter("rule", str, description="Name of a rule"),
        ]
    )
    def list(self, request: Request) -> Response:
        """Alerts that are open, and those that ended in the last 90 days."""
        return super().list(request)

    def filter_queryset(self, queryset: QuerySet[Alert]) -> QuerySet[Alert]:
        asked = self.request.query_params if self.action == "list" else {}
        state = asked.get("state", "")
        if state not in ("", OPEN, ENDED):
            raise ModelError(f"state must be {OPEN} or {ENDED}, got {shorten(repr(state))}")
        if state:
            queryset = queryset.filter(ended_at__isnull=state == OPEN)
        queryset = queryset.order_by("-level", "-id") if state == OPEN else queryset.order_by("-id")
        return queryset.filter(**{name: asked[name] for name in ("target", "rule") if asked.get(name)})

    @extend_schema(request=None, responses=AlertSerializer)
    @action(detail=True, methods=["post"])
    def acknowledge(self, request: Request, pk: str) -> Response:
        """Acknowledges the alert: it is no longer counted, and stays open until its finding is absent."""
        return Response(self.get_serializer(acknowledge(self.get_object(), request.user)).data)

    @extend_schema(request=None, responses=AlertStatusSerializer, parameters=[])
    @action(detail=False, pagination_class=None)
    def status(self, request: Request) -> Response:
        """Number of open alerts, the newest evaluation, and the delivery of notices."""
        work = AlertWork.objects.filter(pk=1).first() or AlertWork()
        found = {name: getattr(work, name) for name in ("evaluated_at", "seconds", "watched", "left")}
        counts = alerts.open_counts(visible(Alert.objects.all(), request.user))
        return Response(AlertStatusSerializer(found | {"open": counts, "webhook": outbox.state()}).data)
