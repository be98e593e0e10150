"""Members of teams."""

from __future__ import annotations

from django.test import Client

from tests.dashboard.conftest import person
from twin.models import (
    Membership,
    Team,
)


def member(name: str, team: Team, role: str = "approver") -> Client:
    client = person(name, role)
    Membership.objects.create(team=team, user=client.user)
    return client
