"""Accounts of people: list, create, change role and state, reset the password. For admins in a session."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.auth import accounts
from dashboard.auth.roles import ROLES, AdminsOnly, role_of
from dashboard.http.body import body
from dashboard.http.field_sentences import choice_field
from dashboard.http.known_fields import KnownFields
from dashboard.http.known_query import KnownQuery


class AccountSerializer(serializers.Serializer[Any]):
    """An account. role: the highest, empty without one; login: how its owner logs in."""

    id = serializers.IntegerField()
    name = serializers.CharField(source="username")
    role = serializers.SerializerMethodField()
    active = serializers.BooleanField(source="is_active")
    login = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField(source="date_joined")
    last_login_at = serializers.DateTimeField(source="last_login", allow_null=True)

    def get_role(self, account: Any) -> str:
        """viewer, operator, approver, admin, or empty."""
        return role_of(account)

    def get_login(self, account: Any) -> str:
        """links: by the login links of a role; provider: by OpenID; password; none: no password is set yet."""
        if hasattr(account, "identity"):
            return "provider"
        if account.username in ROLES and not account.has_usable_password():
            return "links"
        return "password" if account.has_usable_password() else "none"


class NewAccountSerializer(KnownFields):
    """Request for an account."""

    name = serializers.CharField(max_length=accounts.MAX_NAME)
    role = choice_field(ROLES)


class AccountChangeSerializer(KnownFields):
    """Change of an account; omitted fields keep their values."""

    role = choice_field(ROLES, required=False)
    active = serializers.BooleanField(required=False)


class LinkedAccountSerializer(AccountSerializer):
    """Account with the path of a link for setting its password, which is shown only once."""

    link = serializers.CharField()


@extend_schema_view(list=extend_schema(description="Accounts, by name."))
class AccountViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Any]):
    """Accounts of people."""

    queryset = get_user_model().objects.order_by("username")
    serializer_class = AccountSerializer
    permission_classes = (AdminsOnly, KnownQuery)
    lookup_value_regex = r"\d+"

    def get_queryset(self) -> QuerySet[Any]:
        return super().get_queryset().select_related("identity").prefetch_related("groups")

    @extend_schema(request=NewAccountSerializer, responses={201: LinkedAccountSerializer})
    def create(self, request: Request) -> Response:
        """Creates an account; only this answer contains its link."""
        made = accounts.create(**body(NewAccountSerializer, request), by=request.user)
        return self._linked(made.pk, accounts.password_link(made), status.HTTP_201_CREATED)

    @extend_schema(request=AccountChangeSerializer, responses=AccountSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Changes the role or the state of an account."""
        account, given = self.get_object(), body(AccountChangeSerializer, request)
        if "role" in given:
            accounts.set_role(account, given["role"], request.user)
        if "active" in given:
            accounts.set_active(account, given["active"], request.user)
        return Response(AccountSerializer(self._again(account.pk)).data)

    @extend_schema(request=None, responses=LinkedAccountSerializer)
    @action(detail=True, methods=["post"])
    def reset(self, request: Request, pk: str) -> Response:
        """Invalidates the password and the sessions of an account, and creates a link for setting a new password."""
        account = self.get_object()
        return self._linked(account.pk, accounts.reset(account, request.user), status.HTTP_200_OK)

    def _again(self, pk: int) -> Any:
        return self.get_queryset().get(pk=pk)

    def _linked(self, pk: int, link: str, code: int) -> Response:
        answer = Response(dict(AccountSerializer(self._again(pk)).data) | {"link": link}, status=code)
        answer["Cache-Control"] = "no-store"
        return answer
