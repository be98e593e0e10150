"""Roles: viewers read, operators also upload, run and edit. Roles are Django groups; a superuser is both.

A request with a token has the role of the token's account, within the scopes of the token.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from dashboard.auth.bearer import BadToken
from dashboard.models import ApiToken

VIEWER, OPERATOR = "viewer", "operator"
ROLES = (VIEWER, OPERATOR)


def is_operator(user: Any) -> bool:
    """True if the user may change things."""
    return bool(user.is_authenticated and (user.is_superuser or user.groups.filter(name=OPERATOR).exists()))


def is_viewer(user: Any) -> bool:
    """True if the user may read."""
    return bool(user.is_authenticated and (user.is_superuser or user.groups.filter(name__in=ROLES).exists()))


def in_templates(request: HttpRequest) -> dict[str, Any]:
    """Template context with the role of the account and its limits in words, also for error pages."""
    user = getattr(request, "user", AnonymousUser())  # a request that is refused early has none
    if is_operator(user):
        return {"is_operator": True, "role": OPERATOR, "limits": ""}
    if is_viewer(user):
        return {"is_operator": False, "role": VIEWER, "limits": "view only"}
    return {"is_operator": False, "role": "none", "limits": "no role"}


class ViewersLookOperatorsAct(BasePermission):
    """Safe methods and those in a view's `read_only` for every role, the others for operators."""

    message = "This requires the operator role; you are logged in as a viewer."

    def has_permission(self, request: Request, view: Any) -> bool:
        method = request.method or ""
        read_only = method in SAFE_METHODS or method.lower() in getattr(view, "read_only", ())
        allowed = is_viewer(request.user) if read_only else is_operator(request.user)
        if isinstance(request.auth, ApiToken):
            self.message = _beyond(request.auth, read_only, allowed)
            return not self.message
        return allowed


class OperatorsOnly(BasePermission):
    """Operators, in a session: a token cannot make tokens."""

    message = "This requires the operator role in a session; a token is not enough."

    def has_permission(self, request: Request, view: Any) -> bool:
        return is_operator(request.user) and not isinstance(request.auth, ApiToken)


class Ingest(BasePermission):
    """Tokens with the scope of the source in the address."""

    def has_permission(self, request: Request, view: Any) -> bool:
        source, token = view.kwargs["source"], request.auth
        if not isinstance(token, ApiToken):
            raise BadToken(f"Events are posted with a token of the scope ingest:{source}: Authorization: Bearer TOKEN.")
        if f"ingest:{source}" not in token.scopes:
            self.message = (
                f"The token {token.name!r} has the scopes {', '.join(token.scopes)}; this source needs ingest:{source}."
            )
        elif not is_operator(request.user):
            self.message = f"The account of the token {token.name!r} no longer has the operator role."
        else:
            return True
        return False


def _beyond(token: ApiToken, read_only: bool, allowed: bool) -> str:
    """Reason why the token may not make the request; empty if it may."""
    needed = ("read", "operate") if read_only else ("operate",)
    if not set(needed) & set(token.scopes):
        return (
            f"The token {token.name!r} has the scopes {', '.join(token.scopes)}; this "
            f"request needs {' or '.join(needed)}."
        )
    return "" if allowed else f"The account of the token {token.name!r} no longer has the role for this."
