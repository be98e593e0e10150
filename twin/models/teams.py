"""Teams, and objects that belong to a team or to everybody."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from scheduling.model.values import ModelError


class Team(models.Model):
    """Users who see the objects of the team; objects without a team belong to everybody (dashboard/auth/visible.py)."""

    name = models.CharField(max_length=80, unique=True)
    members: models.ManyToManyField[Any, Membership] = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="teams"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]


class Membership(models.Model):
    """Member of a team. The first team that a user joined owns what the user creates."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    provided = models.BooleanField(default=False)  # by a group of the OpenID provider, which also ends it

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="member_once")]


def home_of(user: Any) -> int | None:
    """Team that owns new objects of the user that have no inputs; None: everybody."""
    if getattr(user, "pk", None) is None:
        return None
    return Membership.objects.filter(user=user.pk).values_list("team_id", flat=True).first()


class Owned(models.Model):
    """Base of objects with a team. A new one belongs to the team of its inputs, else to that of its creator."""

    team = models.ForeignKey(Team, null=True, on_delete=models.PROTECT, related_name="+")
    settled = False  # the maker has chosen the team, None included

    class Meta:
        abstract = True

    def settle(self, team_id: int | None) -> None:
        """Team of the object from now on, whatever the object is made of."""
        self.team_id, self.settled = team_id, True

    def made_of(self) -> list[Owned | None]:
        """Objects whose team it inherits."""
        return []

    def save(self, *args: Any, **given: Any) -> None:
        """Storage of the object; ModelError if it combines objects of different teams."""
        if self._state.adding and self.team_id is None and not self.settled:
            self.team_id = self._inherited()
        super().save(*args, **given)

    def _inherited(self) -> int | None:
        teams = {source.team_id for source in self.made_of() if source is not None and source.team_id is not None}
        if len(teams) > 1:
            names = " and ".join(Team.objects.filter(pk__in=teams).values_list("name", flat=True))
            raise ModelError(f"objects of different teams ({names}) cannot be combined; move one of them first")
        return teams.pop() if teams else home_of(getattr(self, "created_by", None))
