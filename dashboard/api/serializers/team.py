"""Team of an object, as the API states it."""

from __future__ import annotations

from rest_framework import serializers


class TeamField(serializers.CharField):
    """Name of the team of an object; null for everybody."""

    def __init__(self, source: str = "team.name") -> None:
        super().__init__(source=source, read_only=True, default=None, allow_null=True)
