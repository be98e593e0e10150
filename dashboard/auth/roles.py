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
    """Test whether the user may change things."""
    return bool(user.is_authenticated and (user.is_superuser or user.groups.filter(name=OPERATOR).exists()))


def is_viewer(user: Any) -> bool:
    """Test whether the user may look."""
    return bool(user.is_authenticated and (user.is_superuser or user.groups.filter(name__in=ROLES).exists()))


def in_templates(request: HttpRequest) -> dict[str, Any]:
    """Template context with the account, also for error pages (settings.TEMPLATES)."""
    user = getattr(request, "user", AnonymousUser())  # a request that is refused early has none
    if is_operator(user):
        return {"is_operator": True, "role": OPERATOR}
    return {"is_operator": False, "role": VIEWER if is_viewer(user) else "no role"}


class ViewersLookOperatorsAct(BasePermission):
    """Safe methods for every role, the others for operators, but for those in a view's `looks`: they change nothing."""

    message = "This requires the operator role; you are logged in as a viewer."

    def has_permission(self, request: Request, view: Any) -> bool:
        method = request.method or ""
        looks = method in SAFE_METHODS or method.lower() in getattr(view, "looks", ())
        allowed = is_viewer(request.user) if looks else is_operator(request.user)
        if isinstance(request.auth, ApiToken):
            self.message = _beyond(request.auth, looks, allowed)
            return not self.message
        return allowed


class OperatorsOnly(BasePermission):
    """Operators, in a session: a token cannot make tokens."""

    message = "This requires the operator role, in a session of a person."

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


def _beyond(token: ApiToken, looks: bool, allowed: bool) -> str:
    """Why the request is more than the token may do; empty where it may."""
    needed = ("read", "operate") if looks else ("operate",)
    if not set(needed) & set(token.scopes):
        return (
            f"The token {token.name!r} has the scopes {', '.join(token.scopes)}; this "
            f"request needs {' or '.join(needed)}."
        )
    return "" if allowed else f"The account of the token {token.name!r} no longer has the role for this."
