"""Meaning of the claims of a login: the name of the account, its role, and its teams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.conf import settings

from dashboard.auth.oidc.provider import LoginRefused
from dashboard.auth.roles import ROLES

MAX_SHOWN = 5  # groups in a message


class Person(NamedTuple):
    """User who logs in: subject and name at the provider, role and names of teams here."""

    subject: str
    name: str
    role: str
    teams: tuple[str, ...]


def person_of(claims: Mapping[str, Any]) -> Person:
    """User of the claims; LoginRefused if a claim is missing or no group gives a role."""
    subject, name = claims.get("sub"), claims.get(settings.OIDC_NAME_CLAIM)
    if not isinstance(subject, str) or not subject:
        raise LoginRefused("The provider sent no subject (claim sub) for this account.")
    if not isinstance(name, str) or not name.strip():
        raise LoginRefused(f"The provider sent no name (claim {settings.OIDC_NAME_CLAIM}, by OIDC_NAME_CLAIM).")
    groups = _groups(claims.get(settings.OIDC_GROUPS_CLAIM))
    roles = {settings.OIDC_ROLES[group] for group in groups if group in settings.OIDC_ROLES}
    role = next((role for role in reversed(ROLES) if role in roles), None)
    if role is None:
        shown = ", ".join(groups[:MAX_SHOWN]) + (" and others" if len(groups) > MAX_SHOWN else "")
        if not groups:
            raise LoginRefused("The provider sent no groups, so you have no role here; ask an admin.")
        raise LoginRefused(f"Your groups at the provider ({shown}) give you no role here; ask an admin.")
    teams = dict.fromkeys(settings.OIDC_TEAMS[group] for group in groups if group in settings.OIDC_TEAMS)
    return Person(subject, name.strip(), role, tuple(teams))


def _groups(found: Any) -> list[str]:
    """Groups as a list; providers send a list, or one text."""
    if isinstance(found, str):
        return found.split()
    return [group for group in found if isinstance(group, str)] if isinstance(found, list) else []
