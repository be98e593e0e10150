"""Growth: limits of SQLite, which takes one write at a time (docs/operation.md)."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from twin.infra import database

MAX_OPERATORS = 20
MAX_WAIT_S = 0.25  # 95th percentile of the time of a write
ACTIVE = timedelta(days=30)  # since the last login
WRITERS = ("operator", "approver", "admin")  # groups whose members change things
REMEDY = "move the data to PostgreSQL with manage.py backup and restore (docs/operation.md)"


def limit() -> str:
    """The limit of SQLite that is passed, with its value; empty if none is, or with another database."""
    if connection.vendor != "sqlite":
        return ""
    if (wait_s := database.write_wait_s()) is not None and wait_s > MAX_WAIT_S:
        return f"a write takes {wait_s:.2f} s; SQLite is meant for at most {MAX_WAIT_S:g} s"
    if (operators := _operators()) > MAX_OPERATORS:
        days = ACTIVE.days
        return f"{operators} operators in {days} days; SQLite is meant for at most {MAX_OPERATORS}"
    return ""


def notice() -> str:
    """The same as a sentence for a page, with the remedy."""
    passed = limit()
    return f"The database has reached a limit: {passed}. Remedy: {REMEDY}." if passed else ""


def _operators() -> int:
    """Accounts with a role that changes things, which have logged in recently."""
    people = get_user_model().objects.filter(is_active=True, last_login__gte=timezone.now() - ACTIVE)
    return people.filter(Q(is_superuser=True) | Q(groups__name__in=WRITERS)).distinct().count()
