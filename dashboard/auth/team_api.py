"""Teams: list, create, remove, members, and moves of objects. For admins in a session."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.auth import teams
from dashboard.auth.roles import AdminsOnly
from dashboard.http.body import body
from dashboard.http.field_sentences import choice_field
from dashboard.http.known_fields import KnownFields
from dashboard.http.known_query import KnownQuery
from dashboard.http.number_field import IdField
from dashboard.openapi.answers import answer
from twin.models import Membership, Team


class TeamSerializer(serializers.ModelSerializer[Team]):
    """A team. members: [{id, name, provided}], provided: by a group of the OpenID provider; owns: {kind: objects}."""

    members = serializers.SerializerMethodField()
    owns = serializers.SerializerMethodField()

    class Meta:
        model = Team
        fields = ("id", "name", "created_at", "members", "owns")

    @extend_schema_field({"type": "array", "items": answer("TeamMember")})
    def get_members(self, team: Team) -> list[dict[str, Any]]:
        """Members in the order in which they joined."""
        rows = Membership.objects.filter(team=team).select_related("user")
        return [{"id": row.user_id, "name": row.user.get_username(), "provided": row.provided} for row in rows]

    def get_owns(self, team: Team) -> dict[str, int]:
        """Number of objects of each kind, without those that no list shows."""
        return teams.owned(team)


class NewTeamSerializer(KnownFields):
    """Request for a team."""

    name = serializers.CharField(max_length=teams.MAX_NAME)


class MemberSerializer(KnownFields):
    """A member by the number of the account."""

    account = IdField(queryset=get_user_model().objects.all())


class MoveSerializer(KnownFields):
    """An object by kind and number (a connection: by name), and the number of its new team; null: everybody."""

    kind = choice_field(list(teams.MOVED_TYPES))
    key = serializers.CharField(max_length=80)
    team = IdField(queryset=Team.objects.all(), allow_null=True)


@extend_schema_view(retrieve=extend_schema(description="One team with its members."))
class TeamViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Team]):
    """Teams, by name."""

    queryset = Team.objects.all()
    serializer_class = TeamSerializer
    permission_classes = (AdminsOnly, KnownQuery)
    lookup_value_regex = r"\d+"

    def get_queryset(self) -> QuerySet[Team]:
        return super().get_queryset().order_by("name")

    @extend_schema(request=NewTeamSerializer, responses={201: TeamSerializer})
    def create(self, request: Request) -> Response:
        """Creates a team."""
        made = teams.create(body(NewTeamSerializer, request)["name"], request.user)
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Removes a team that owns nothing."""
        teams.remove(self.get_object(), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=MemberSerializer, responses=TeamSerializer)
    @action(detail=True, methods=["post"])
    def join(self, request: Request, pk: str) -> Response:
        """Adds a member."""
        team = self.get_object()
        teams.add(team, body(MemberSerializer, request)["account"], request.user)
        return Response(self.get_serializer(team).data)

    @extend_schema(request=MemberSerializer, responses=TeamSerializer)
    @action(detail=True, methods=["post"])
    def leave(self, request: Request, pk: str) -> Response:
        """Removes a member."""
        team = self.get_object()
        teams.take_out(team, body(MemberSerializer, request)["account"], request.user)
        return Response(self.get_serializer(team).data)

    @extend_schema(request=MoveSerializer, responses=MoveSerializer)
    @action(detail=False, methods=["post"], pagination_class=None)
    def move(self, request: Request) -> Response:
        """Moves an object, with all that depends on it, to a team or to everybody."""
        given = body(MoveSerializer, request)
        name = teams.move(given["kind"], given["key"], given["team"], request.user)
        return Response({**given, "team": given["team"] and given["team"].pk, "name": name})
