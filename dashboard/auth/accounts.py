"""Accounts of people: created, given a role, disabled and reset by admins. Each step is an entry of the audit list."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.auth.models import Group
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from dashboard.auth.roles import ROLES, role_of
from scheduling.model.values import ModelError, shorten
from twin.infra.errors import Refused
from twin.models import AuditEntry

MAX_NAME = 150  # characters, Django's limit


def create(name: str, role: str, by: Any) -> Any:
    """New account without a password; ModelError for a name that is not possible or taken."""
    users = get_user_model().objects
    name = get_user_model().normalize_username(name.strip())
    _check_name(name)
    _check_role(role)
    with transaction.atomic():
        if users.filter(username__iexact=name).exists():
            raise ModelError(f"name must be new; the account {name!r} already exists")
        made = users.create_user(name)  # its password is unusable
        _give(made, role)
        _record(by, "account.create", made, {"role": role})
    return made


def set_role(account: Any, role: str, by: Any) -> None:
    """Replacement of the role of the account; refused for one's own account, so that an admin always remains."""
    _check_role(role)
    with transaction.atomic():
        _not_own(account, by, "role")
        before = role_of(account)
        if before == role:
            return
        _give(account, role)
        _record(by, "account.role", account, {"from": before or "none", "to": role})


def set_active(account: Any, active: bool, by: Any) -> None:
    """State of the account from now on; a disabled one is logged out everywhere, and its tokens are refused."""
    with transaction.atomic():
        _not_own(account, by, "state")
        if account.is_active != active:
            account.is_active = active
            account.save(update_fields=["is_active"])
            if not active:
                _end_sessions(account)
            _record(by, "account.enable" if active else "account.disable", account, {})


def reset(account: Any, by: Any) -> str:
    """Path of a new link that sets a password. The present password and earlier links end, and so do all sessions."""
    if hasattr(account, "identity"):
        raise Refused(f"{account.get_username()} logs in through the OpenID provider, which also resets the password")
    with transaction.atomic():
        _not_own(account, by, "password")
        account.set_unusable_password()
        account.save(update_fields=["password"])
        _record(by, "account.reset", account, {})
    return password_link(account)


def password_link(account: Any) -> str:
    """Path with which the account's owner sets a password: once, within PASSWORD_RESET_TIMEOUT."""
    return reverse(
        "password-set",
        args=[urlsafe_base64_encode(force_bytes(account.pk)), default_token_generator.make_token(account)],
    )


def record_password(account: Any) -> None:
    """Entry of the audit list: the account's owner has set the password."""
    _record(account, "account.password", account, {})


def _end_sessions(account: Any) -> None:
    """End of all sessions of the account: one that is only refused would be valid again once the account is enabled."""
    own = [one.pk for one in Session.objects.all().iterator() if one.get_decoded().get(SESSION_KEY) == str(account.pk)]
    Session.objects.filter(pk__in=own).delete()


def _give(account: Any, role: str) -> None:
    """Membership in the group of the role alone; a superuser that gets another role is no longer a superuser."""
    account.groups.remove(*Group.objects.filter(name__in=ROLES))
    account.groups.add(Group.objects.get_or_create(name=role)[0])
    if account.is_superuser:
        account.is_superuser = False
        account.save(update_fields=["is_superuser"])


def _check_name(name: str) -> None:
    if name.lower() in ROLES:
        raise ModelError(f"name must not be {name!r}; this name is reserved for the login links of the role")
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError as error:
        raise ModelError(f"name must consist of letters, digits and @ . + - _, got {shorten(name)!r}") from error
    if len(name) > MAX_NAME:
        raise ModelError(f"name must have at most {MAX_NAME} characters, got {len(name):,}")


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise ModelError(f"role must be one of {', '.join(ROLES)}, got {shorten(role)!r}")


def _not_own(account: Any, by: Any, what: str) -> None:
    if account.pk == getattr(by, "pk", None):
        raise Refused(f"only another admin can change the {what} of your account")


def _record(by: Any, action: str, account: Any, detail: dict[str, Any]) -> None:
    AuditEntry.objects.create(
        user=by, action=action, subject=f"account {account.pk}", detail={"name": account.get_username(), **detail}
    )
