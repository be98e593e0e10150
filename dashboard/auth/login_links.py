"""One-time links: the first person to open the link is logged in with the role of the link."""

from __future__ import annotations

import secrets
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.utils import timezone

from dashboard.auth.roles import OPERATOR, ROLES
from dashboard.models import LoginToken

LIFETIME = timedelta(hours=24)


def make_link(role: str = OPERATOR) -> str:
    """Path of a new link, valid once and for a day."""
    if role not in ROLES:
        raise ValueError(f"unknown role {role!r}; known: {', '.join(ROLES)}")
    LoginToken.objects.filter(created_at__lt=timezone.now() - LIFETIME).delete()
    token = secrets.token_urlsafe(32)
    LoginToken.objects.create(digest=_digest(token), role=role)
    return f"/login/{token}/"


def redeem(token: str) -> Any | None:
    """The user of an unused link, which is used up by this; None when it is unknown, used or too old."""
    now = timezone.now()
    fresh = LoginToken.objects.filter(digest=_digest(token), used_at__isnull=True, created_at__gt=now - LIFETIME)
    if not fresh.update(used_at=now):
        return None
    return account(LoginToken.objects.get(digest=_digest(token)).role)


def account(role: str) -> Any:
    """The account that links of this role log in to; it has no password."""
    user, created = get_user_model().objects.get_or_create(username=role)
    if created:
        user.set_unusable_password()
        user.save()
    user.groups.add(Group.objects.get_or_create(name=role)[0])
    return user


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()
