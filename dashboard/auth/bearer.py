"""Authentication of machines by `Authorization: Bearer`, without session and CSRF token."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from dashboard.auth import tokens
from dashboard.models import ApiToken


class BadToken(APIException):
    """Error: the token is not accepted."""

    status_code = 401
    default_code = "not_authenticated"
    auth_header = 'Bearer realm="api"'


class BearerAuthentication(BaseAuthentication):
    """Authentication by the token's account; requests without the header are left to the next class."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        value = self.value_of(request.META.get("HTTP_AUTHORIZATION", ""))
        if value is None:
            return None
        token = tokens.find(value)
        if token is None:
            raise BadToken("The token is unknown; operators create tokens on the page Tokens.")
        if why := tokens.why_ended(token):
            raise BadToken(why)
        user: Any = token.created_by
        if not user.is_active:
            raise BadToken(f"The account of the token {token.name!r} is not active.")
        tokens.note_use(token)
        user.through_token = token.name  # recorded in the audit list (AuditEntry.save)
        return user, token

    def value_of(self, header: str) -> str | None:
        """The token in the header; None without one."""
        scheme, _, value = header.partition(" ")
        return value.strip() if scheme.lower() == "bearer" else None


class BearerOrBasicAuthentication(BearerAuthentication):
    """Bearer authentication that also accepts Basic: some senders only take a URL (http://any:TOKEN@host/)."""

    def value_of(self, header: str) -> str | None:
        scheme, _, value = header.partition(" ")
        if scheme.lower() != "basic":
            return super().value_of(header)
        try:
            return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
