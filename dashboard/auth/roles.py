"""Roles, each with the rights of those before it: viewers read, operators upload, run and edit, approvers approve plans
that act on real clusters, admins manage accounts and teams.

A role is a Django group; an account in several groups has the highest role, and a superuser is an admin. A request
with a token has the role of the token's account, within the scopes of the token.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from dashboard.models import ApiToken

VIEWER, OPERATOR, APPROVER, ADMIN = ROLES = ("viewer", "operator", "approver", "admin")  # lowest first
LIMITS = {"": "no role", VIEWER: "view only"}  # in words, beside the name of the account


def role_of(user: Any) -> str:
    """The highest role of the account; empty without one."""
    if not user.is_authenticated:
        return ""
    if user.is_superuser:
        return ADMIN
    groups = {group.name for group in user.groups.all()}  # prefetched in lists of accounts
    return next((role for role in reversed(ROLES) if role in groups), "")


def has_role(user: Any, role: str) -> bool:
    """True if the account has this role or a higher one."""
    return role_of(user) in ROLES[ROLES.index(role) :]


def is_operator(user: Any) -> bool:
    """True if the user may change things."""
    return has_role(user, OPERATOR)


def is_viewer(user: Any) -> bool:
    """True if the user may read."""
    return has_role(user, VIEWER)


def require(user: Any, role: str, what: str) -> None:
    """Check of the user's role; PermissionDenied with a sentence about `what` if it is lower."""
    if not has_role(user, role):
        raise PermissionDenied(_lacking(user, role, what))


def in_templates(request: HttpRequest) -> dict[str, Any]:
    """Template context with the role of the account and its limits in words, also for error pages."""
    user = getattr(request, "user", AnonymousUser())  # a request that is refused early has none
    role = role_of(user)
    return {
        "is_operator": role in (OPERATOR, APPROVER, ADMIN),
        "is_approver": role in (APPROVER, ADMIN),
        "is_admin": role == ADMIN,
        "role": role or "none",
        "limits": LIMITS.get(role, ""),
    }


class RoleByMethod(BasePermission):
    """Safe methods and those in a view's `read_only` for every role, the others for operators.

    A viewset may name a higher role for some of its actions: needs = {"approve": APPROVER}.
    """

    message = "This requires the operator role; you are logged in as a viewer."

    def has_permission(self, request: Request, view: Any) -> bool:
        method = request.method or ""
        read_only = method in SAFE_METHODS or method.lower() in getattr(view, "read_only", ())
        needed = getattr(view, "needs", {}).get(getattr(view, "action", None), VIEWER if read_only else OPERATOR)
        allowed = has_role(request.user, needed)
        if isinstance(request.auth, ApiToken):
            self.message = _beyond(request.auth, read_only, allowed)
            return not self.message
        self.message = _lacking(request.user, needed, "This")
        return allowed


class RoleInSession(BasePermission):
    """Base permission: accounts with the role `needed` or a higher one, in a session."""

    needed = OPERATOR
    message = ""

    def has_permission(self, request: Request, view: Any) -> bool:
        if isinstance(request.auth, ApiToken):
            self.message = f"This requires the {self.needed} role in a session; a token is not enough."
            return False
        self.message = _lacking(request.user, self.needed, "This")
        return has_role(request.user, self.needed)


class AdminsOnly(RoleInSession):
    """Admins, in a session: a token cannot manage accounts."""

    needed = ADMIN


class OperatorsOnly(RoleInSession):
    """Operators, in a session: a token cannot make tokens."""


def _lacking(user: Any, role: str, what: str) -> str:
    held = role_of(user)
    article = "an" if held[:1] in "aeiou" else "a"
    return f"{what} requires the {role} role; you are logged in {f'as {article} {held}' if held else 'without a role'}."


def _beyond(token: ApiToken, read_only: bool, allowed: bool) -> str:
    """Reason why the token may not make the request; empty if it may."""
    needed = ("read", "operate") if read_only else ("operate",)
    if not set(needed) & set(token.scopes):
        return (
            f"The token {token.name!r} is limited to {', '.join(token.scopes)}; this "
            f"request needs {' or '.join(needed)}."
        )
    return "" if allowed else f"The account of the token {token.name!r} no longer has the role for this."
