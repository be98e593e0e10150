"""Rules of alerts: list, add for a target, change, remove."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.alerts.alerts import RuleTitle
from dashboard.api.inputs.offered import offered_by
from dashboard.auth.visible import OfTeams, visible
from dashboard.http.body import body
from dashboard.http.known_fields import KnownFields
from dashboard.openapi.answers import answer
from dashboard.openapi.fields import ParametersField
from scheduling.kernel.parameters import describe
from scheduling.model.values import ModelError
from twin.alerts import stored_rules
from twin.alerts.base import MENU, Rule, build
from twin.models import AlertRule, Connection, Run


class AlertRuleSerializer(serializers.ModelSerializer[AlertRule]):
    """A rule. target: empty for all. clear_s: time for which a finding is absent before its alert ends.

    error: why it could not be checked the last time, or empty.
    """

    title = RuleTitle(source="rule", read_only=True)
    parameters = serializers.SerializerMethodField()
    created_by = serializers.SlugRelatedField[Any](
        slug_field="username", read_only=True, allow_null=True, help_text="Name of the account"
    )

    class Meta:
        model = AlertRule
        fields = (
            "id", "rule", "title", "target", "parameters", "level", "clear_s", "enabled", "error", "created_by",
            "created_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_parameters(self, rule: AlertRule) -> dict[str, Any]:
        """All thresholds; the stored ones if this version does not accept them."""
        try:
            return asdict(build(rule.rule, rule.parameters).parameters)
        except (ModelError, ValueError):
            return rule.parameters


class AlertRuleChangeSerializer(KnownFields):
    """Change of a rule; omitted fields keep their values."""

    parameters = ParametersField(required=False)
    level = serializers.CharField(max_length=60, required=False)
    clear_s = serializers.IntegerField(required=False)
    enabled = serializers.BooleanField(required=False)


class NewAlertRuleSerializer(AlertRuleChangeSerializer):
    """A rule for one target, which replaces the general rule of the same name for that target."""

    rule = serializers.CharField(max_length=60)
    target = serializers.CharField(max_length=80)


@extend_schema_view(
    list=extend_schema(description="Rules with their thresholds, by name and target."),
    retrieve=extend_schema(description="One rule with its thresholds."),
)
class AlertRuleViewSet(OfTeams, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[AlertRule]):
    """Rules of alerts."""

    queryset = AlertRule.objects.select_related("created_by")
    serializer_class = AlertRuleSerializer
    lookup_value_regex = r"\d+"

    def filter_queryset(self, queryset: QuerySet[AlertRule]) -> QuerySet[AlertRule]:
        return queryset.order_by("rule", "target")

    @extend_schema(request=NewAlertRuleSerializer, responses={201: AlertRuleSerializer})
    def create(self, request: Request) -> Response:
        """Adds a rule for a live cluster (`connection NAME`) or a run (`run NUMBER`)."""
        given = body(NewAlertRuleSerializer, request)
        user = request.user
        seen = visible(Connection.objects.all(), user), visible(Run.objects.all(), user)
        made = stored_rules.create(given, user, *seen)
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=AlertRuleChangeSerializer, responses=AlertRuleSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Changes thresholds, level or clear_s, or switches the rule on or off."""
        rule, given = self.get_object(), body(AlertRuleChangeSerializer, request)
        stored_rules.change(rule, given, request.user)
        return Response(self.get_serializer(rule).data)

    def destroy(self, request: Request, pk: str) -> Response:
        """Removes the rule of a target; the general one can only be switched off."""
        stored_rules.remove(self.get_object(), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={200: answer("AlertRuleKinds")})
    @action(detail=False, pagination_class=None)
    def kinds(self, request: Request) -> Response:
        """[{rule, title, summary, level, about, parameters, unavailable}] of all rules."""
        empty = {"summary": "", "level": "", "about": [], "parameters": []}
        return Response(offered_by(MENU, _kind, empty, key="rule"))


def _kind(cls: type[Rule]) -> dict[str, Any]:
    return {
        "title": cls.title, "summary": cls.summary, "level": cls.level, "about": cls.about,
        "parameters": describe(cls.Parameters),
    }  # fmt: skip
