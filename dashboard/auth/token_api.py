"""Tokens: list, create, revoke. For operators in a session; others' tokens for admins."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.auth import tokens
from dashboard.auth.roles import ADMIN, OperatorsOnly, has_role
from dashboard.auth.visible import source_refused
from dashboard.http.body import body
from dashboard.http.known_fields import KnownFields
from dashboard.http.known_query import KnownQuery
from dashboard.models import ApiToken
from scheduling.model.values import ModelError


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """Token without its value; ended: the reason why it is no longer accepted."""

    created_by = serializers.CharField(source="created_by.username", read_only=True)
    ended = serializers.SerializerMethodField()

    class Meta:
        model = ApiToken
        fields: tuple[str, ...] = (
            "id",
            "name",
            "scopes",
            "created_by",
            "created_at",
            "expires_at",
            "revoked_at",
            "last_used_at",
            "ended",
        )

    def get_ended(self, token: ApiToken) -> str:
        """Reason why the token is no longer accepted; empty while it is."""
        return tokens.why_ended(token)


class NewTokenSerializer(KnownFields):
    """Request for a token; days: time until it expires; null: never."""

    name = serializers.CharField(max_length=tokens.MAX_NAME)
    scopes = serializers.ListField(child=serializers.CharField(max_length=80), min_length=1, max_length=20)
    days = serializers.IntegerField(
        min_value=1, max_value=tokens.MAX_DAYS, allow_null=True, default=tokens.DEFAULT_DAYS
    )


class MadeTokenSerializer(TokenSerializer):
    """New token with its value, which is shown only once."""

    value = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "value")


class TokenViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[ApiToken]):
    """Tokens with which scripts and clusters use the API."""

    queryset = ApiToken.objects.select_related("created_by")
    serializer_class = TokenSerializer
    permission_classes = (OperatorsOnly, KnownQuery)
    lookup_value_regex = r"\d+"

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Tokens that act for the account; for an admin, those of all accounts."""
        found = super().get_queryset()
        return found if has_role(self.request.user, ADMIN) else found.filter(created_by=self.request.user.pk)

    @extend_schema(request=NewTokenSerializer, responses={201: MadeTokenSerializer})
    def create(self, request: Request) -> Response:
        """Creates a token; only this answer contains its value."""
        given = body(NewTokenSerializer, request)
        for scope in given["scopes"]:
            _, ingest, source = scope.rpartition(tokens.INGEST)
            if ingest and (why := source_refused(source, request.user)):
                raise ModelError(why)
        token, value = tokens.create(**given, user=request.user)
        answer = Response(dict(self.get_serializer(token).data) | {"value": value}, status=status.HTTP_201_CREATED)
        answer["Cache-Control"] = "no-store"
        return answer

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        """Revokes a token immediately."""
        token = self.get_object()
        tokens.revoke(token, request.user)
        token.refresh_from_db()
        return Response(self.get_serializer(token).data)
