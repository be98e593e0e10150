"""Tokens: made once, known by their hash, with scopes, an end and a revocation.

A token acts for the account that created it, and never has more rights than that account.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from dashboard.models import ApiToken
from scheduling.model.values import ModelError
from twin.models import AuditEntry
from twin.models.teams import home_of
from twin.push.storage import SOURCE

PREFIX = "twin_"  # prefix by which secret scanners find a leaked token
READ, OPERATE, INGEST = "read", "operate", "ingest:"
DEFAULT_DAYS, MAX_DAYS = 90, 3_650
MAX_NAME = 200


def create(
    name: str, scopes: Iterable[str], days: int | None, user: Any, *, on_host: bool = False
) -> tuple[ApiToken, str]:
    """New token of a user and its value, which is known only now.

    days: until it expires, None = never; on_host: a command on the host creates it, not the user.
    """
    name, chosen = name.strip(), sorted(set(scopes))
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise ModelError(f"name must have 1 to {MAX_NAME:,} printable characters, got {name[:60]!r}")
    if not chosen:
        raise ModelError(f"a token needs a scope: {READ}, {OPERATE}, or {INGEST}SOURCE")
    for scope in chosen:
        _check_scope(scope)
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise ModelError(f"days until the token expires must be 1 to {MAX_DAYS:,}, got {days:,}")
    value = PREFIX + secrets.token_urlsafe(32)
    expires_at = None if days is None else timezone.now() + timedelta(days=days)
    with transaction.atomic():
        token = ApiToken.objects.create(
            name=name, digest=_digest(value), scopes=chosen, created_by=user, expires_at=expires_at
        )
        _record(None if on_host else user, "token.create", token)
    return token, value


def revoke(token: ApiToken, user: Any) -> None:
    """Immediate revocation of the token; a second call has no effect."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            _record(user, "token.revoke", token)


def find(value: str) -> ApiToken | None:
    """The token with this value, also one that has ended."""
    return ApiToken.objects.select_related("created_by").filter(digest=_digest(value)).first()


def of_source(source: str) -> list[ApiToken]:
    """Accepted tokens that may post events of the source, the newest first."""
    scope = INGEST + source
    return [token for token in ApiToken.objects.all() if scope in token.scopes and not why_ended(token)]


def note_use(token: ApiToken) -> None:
    """Record of the use of a token, once in each minute of the clock: times of use are shown in minutes."""
    now = timezone.now()
    minute = now.replace(second=0, microsecond=0)
    stale = Q(last_used_at=None) | Q(last_used_at__lt=minute)
    if token.last_used_at is None or token.last_used_at < minute:
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)


def why_ended(token: ApiToken) -> str:
    """Reason why the token is no longer accepted; empty while it is."""
    if token.revoked_at is not None:
        return (
            f"The token {token.name!r} was revoked on {token.revoked_at:%Y-%m-%d}; an operator can create another one."
        )
    if token.expires_at is not None and token.expires_at <= timezone.now():
        return f"The token {token.name!r} expired on {token.expires_at:%Y-%m-%d}; an operator can create another one."
    return ""


def _check_scope(scope: str) -> None:
    if scope in (READ, OPERATE):
        return
    if not scope.startswith(INGEST) or not SOURCE.fullmatch(scope.removeprefix(INGEST)):
        raise ModelError(
            f"scope must be {READ}, {OPERATE} or {INGEST}SOURCE, with a source of 1 to 60 of the characters "
            f"a-z, 0-9, _ and -; got {scope[:80]!r}"
        )


def _record(user: Any, action: str, token: ApiToken) -> None:
    detail = {"name": token.name, "scopes": ", ".join(token.scopes)}
    owner = token.created_by
    if owner is not None and owner != user:
        detail["account"] = owner.get_username()
    entry = AuditEntry(user=user, action=action, subject=f"token {token.pk}", detail=detail)
    entry.settle(home_of(owner))
    entry.save()


def _digest(value: str) -> str:
    return sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
