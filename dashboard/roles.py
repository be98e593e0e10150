"""Who may do what: viewers look, operators also upload, run and edit. Roles are Django groups; a superuser is both."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

VIEWER, OPERATOR = "viewer", "operator"
ROLES = (VIEWER, OPERATOR)


def is_operator(user: Any) -> bool:
    """Whether the user may change things."""
    return bool(user.is_authenticated and (user.is_superuser or user.groups.filter(name=OPERATOR).exists()))


def is_viewer(user: Any) -> bool:
    """Whether the user may look."""
    return bool(user.is_authenticated and (user.is_superuser or user.groups.filter(name__in=ROLES).exists()))


class ViewersLookOperatorsAct(BasePermission):
    """Safe methods for every role, the others for operators, but for those that a view names in `looks`: they change nothing."""

    message = "This needs the operator role; you are logged in as a viewer."

    def has_permission(self, request: Request, view: Any) -> bool:
        method = request.method or ""
        looks = method in SAFE_METHODS or method.lower() in getattr(view, "looks", ())
        return is_viewer(request.user) if looks else is_operator(request.user)
