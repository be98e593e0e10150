"""Rules of alerts: list, add for a target, change, remove."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.http.known_fields import KnownFields
from dashboard.readmodels import alerts
from scheduling.kernel.parameters import describe
from scheduling.model.values import ModelError
from twin.alerts import stored_rules
from twin.alerts.base import build, names, rule_class
from twin.mirror.connecting.errors import FieldError
from twin.models import AlertRule


class AlertRuleSerializer(serializers.ModelSerializer[AlertRule]):
    """A rule. target: empty for everything. clear_s: time for which a finding is absent before its alert ends.

    error: why it could not be checked the last time, or empty.
    """

    title = serializers.SerializerMethodField()
    parameters = serializers.SerializerMethodField()
    created_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = AlertRule
        fields = (
            "id", "rule", "title", "target", "parameters", "level", "clear_s", "enabled", "error", "created_by",
            "created_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_title(self, rule: AlertRule) -> str:
        """Title of the rule; its name where this version has none of that name."""
        return alerts.title(rule.rule)

    def get_parameters(self, rule: AlertRule) -> dict[str, Any]:
        """All thresholds; those that were stored where this version cannot take them."""
        try:
            return asdict(build(rule.rule, rule.parameters).parameters)
        except (ModelError, ValueError):
            return rule.parameters


class AlertRuleChangeSerializer(KnownFields):
    """Change of a rule; what is left out keeps its value."""

    parameters = serializers.DictField(required=False)
    level = serializers.CharField(max_length=60, required=False)
    clear_s = serializers.IntegerField(required=False)
    enabled = serializers.BooleanField(required=False)


class NewAlertRuleSerializer(AlertRuleChangeSerializer):
    """A rule for one target, which replaces there the rule of the same name for everything."""

    rule = serializers.CharField(max_length=60)
    target = serializers.CharField(max_length=80)


class AlertRuleViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[AlertRule]):
    """Rules with their thresholds."""

    queryset = AlertRule.objects.select_related("created_by")
    serializer_class = AlertRuleSerializer
    lookup_value_regex = r"\d+"

    def filter_queryset(self, queryset: QuerySet[AlertRule]) -> QuerySet[AlertRule]:
        return queryset.order_by("rule", "target")

    @extend_schema(request=NewAlertRuleSerializer, responses={201: AlertRuleSerializer})
    def create(self, request: Request) -> Response:
        """Adds a rule for a followed cluster (`connection NAME`) or a run (`run NUMBER`)."""
        given = _given(NewAlertRuleSerializer, request)
        try:
            made = stored_rules.create(given, request.user)
        except FieldError as error:
            raise serializers.ValidationError({error.field: [str(error)]}) from error
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=AlertRuleChangeSerializer, responses=AlertRuleSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Other thresholds, another level, on or off."""
        rule, given = self.get_object(), _given(AlertRuleChangeSerializer, request)
        try:
            stored_rules.change(rule, given, request.user)
        except FieldError as error:
            raise serializers.ValidationError({error.field: [str(error)]}) from error
        return Response(self.get_serializer(rule).data)

    def destroy(self, request: Request, pk: str) -> Response:
        """Removes the rule of a target; the one for everything can only be switched off."""
        stored_rules.remove(self.get_object(), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses=OpenApiResponse(OpenApiTypes.OBJECT))
    @action(detail=False, pagination_class=None)
    def kinds(self, request: Request) -> Response:
        """[{rule, title, summary, level, about, parameters}] of all rules that there are."""
        found = [(name, rule_class(name)) for name in names()]
        return Response(
            [
                {
                    "rule": name, "title": cls.title, "summary": cls.summary, "level": cls.level, "about": cls.about,
                    "parameters": describe(cls.Parameters),
                }
                for name, cls in found
            ]
        )  # fmt: skip


def _given(form: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    read = form(data=request.data)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)
