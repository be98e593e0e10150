"""Permissions of plans on a live cluster: its level, whose jobs a plan may change, and the stop of all plans."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.roles import APPROVER, require
from dashboard.auth.visible import one
from dashboard.http.body import body
from dashboard.http.known_fields import KnownFields
from dashboard.openapi.answer_fields import ActorField, LevelsField
from twin.acting import gates, rules
from twin.models import ActingRule, Connection


class ActingSerializer(serializers.Serializer[Any]):
    """level: 0 observe, 1 propose, 2 order, 3 place. queues, accounts: whose jobs a plan may change; empty: all.
    calibrated: plans need calibrated forecasts of the cluster.

    stopped: reason why plans are stopped, or empty. possible: reason why there can be no plan now, or empty.
    actor: {running, host, account, error} of the acting process.
    """

    level = serializers.IntegerField()
    queues = serializers.ListField(child=serializers.CharField())
    accounts = serializers.ListField(child=serializers.CharField())
    max_jobs = serializers.IntegerField()
    calibrated = serializers.BooleanField()
    stopped = serializers.CharField()
    stopped_by = serializers.CharField(allow_null=True)
    stopped_at = serializers.DateTimeField(allow_null=True)
    possible = serializers.CharField()
    levels = LevelsField(child=serializers.DictField())
    actor = ActorField()


class ActingChangeSerializer(KnownFields):
    """Change of the permissions; omitted fields keep their values. stopped: true stops all plans."""

    level = serializers.IntegerField(required=False)
    queues = serializers.ListField(child=serializers.CharField(max_length=200), required=False)
    accounts = serializers.ListField(child=serializers.CharField(max_length=200), required=False)
    max_jobs = serializers.IntegerField(required=False)
    calibrated = serializers.BooleanField(required=False)
    stopped = serializers.BooleanField(required=False)


class ActingView(APIView):
    """GET and PATCH /api/live/<name>/acting/"""

    @extend_schema(responses=ActingSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Permissions of plans, and the state of the acting process."""
        connection = one(Connection.objects.all(), request.user, name=name)
        return Response(described(connection, rules.of(connection)))

    @extend_schema(request=ActingChangeSerializer, responses=ActingSerializer)
    def patch(self, request: Request, name: str) -> Response:
        """Changes the permissions (by approvers), or stops all plans and undoes the changes of open ones."""
        connection = one(Connection.objects.all(), request.user, name=name)
        values = body(ActingChangeSerializer, request)
        stopped = values.pop("stopped", None)
        if values or stopped is False:  # whoever may act may also stop
            require(request.user, APPROVER, "Changing the permissions of plans")
        if values.get("level") and (why := gates.why_no_plans(connection)):
            raise serializers.ValidationError({"level": [f"level must be 0, got {values['level']}: {why}"]})
        try:
            if values:
                rules.change(connection, values, request.user)
        except ValueError as error:
            raise serializers.ValidationError({str(error).split()[0]: [str(error)]}) from error
        if stopped is not None:
            rules.stop(connection, stopped, request.user)
        return Response(described(connection, rules.of(connection)))


def described(connection: Connection, rule: ActingRule) -> dict[str, Any]:
    """The rule as ActingSerializer says."""
    running = rules.actor_running(rule)
    return {
        **{
            name: getattr(rule, name)
            for name in ("level", "queues", "accounts", "max_jobs", "calibrated", "stopped_at")
        },
        "stopped": rules.why_stopped(rule),
        "stopped_by": getattr(rule.stopped_by, "username", None),
        "possible": gates.why_no_proposal(connection, rule),
        "levels": [{"level": number} | level._asdict() for number, level in enumerate(rules.LEVELS)],
        "actor": {"running": running, **(rule.actor if running else {"host": "", "account": "", "error": ""})},
    }
