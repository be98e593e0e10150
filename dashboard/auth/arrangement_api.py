"""The panels of the run page as an account has arranged them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.roles import RoleByMethod
from dashboard.http.body import body
from dashboard.http.known_fields import KnownFields
from dashboard.models import ApiToken, Arrangement

MAX_PANELS = 40  # in a list
PANEL = r"panel-[a-z0-9-]{1,40}"
NOT_A_PANEL = "A panel is the id of a section of the run page, such as panel-prices."


def _panels() -> serializers.ListField:
    names = serializers.RegexField(rf"\A{PANEL}\Z", max_length=60, error_messages={"invalid": NOT_A_PANEL})
    return serializers.ListField(child=names, max_length=MAX_PANELS)


class ArrangementSerializer(KnownFields):
    """Panels of the main and the side column, from top to bottom, and those that are hidden."""

    main = _panels()
    side = _panels()
    hidden = _panels()

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        """The lists; a panel has one place."""
        placed = [*given["main"], *given["side"]]
        twice = next((panel for place, panel in enumerate(placed) if panel in placed[:place]), None)
        if twice is not None:
            raise serializers.ValidationError({"side": [f"{twice} has two places; name each panel once."]})
        return given


class InSession(RoleByMethod):
    """The same in a session: a token has no page to arrange."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if isinstance(request.auth, ApiToken):
            self.message = "This requires a session; a token is not enough."
            return False
        return super().has_permission(request, view)


class ArrangementView(APIView):
    """Arrangement of the run page of the own account."""

    permission_classes = (InSession,)
    read_only = ("post",)  # it changes only how the own pages look

    @extend_schema(request=ArrangementSerializer, responses=ArrangementSerializer)
    def post(self, request: Request) -> Response:
        """Stores the arrangement of the run page for all browsers of the account."""
        panels = body(ArrangementSerializer, request)
        Arrangement.objects.update_or_create(user=request.user, defaults={"panels": panels})
        return Response(panels)


def arrangement_of(user: Any) -> dict[str, list[str]] | None:
    """The stored arrangement of the account, if any."""
    return Arrangement.objects.filter(user=user).values_list("panels", flat=True).first()
